//===- TesseraToCPU.cpp - Fragments and kernels on the CPU ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fragments        vectors, a subgroup having one lane     (FragmentToVector)
//   gpu.func         func.func with its context
//   gpu.thread_id..  loads from the context
//   gpu.barrier      a call: the runtime runs the threads as fibers
//   gpu.printf       a call
//   cf.assert        a branch, and a call that ends the launch
//
// For a chip that emulates another, a thread is a lane, and collective
// operations of lanes are calls as well: Emulation.cpp. So are shuffles and
// the vendors' ops for lanes on the host's own chips.
//
//===----------------------------------------------------------------------===//

#include "ByteDots.h"

#include "Conversion/FragmentToVector.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/VendorOps.h"
#include "Emulation.h"
#include "TargetInfo/Emulation.h"
#include "TargetInfo/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTTESSERATOCPU
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-tessera-to-cpu"

using namespace mlir;
using namespace mlir::tessera;

static constexpr llvm::StringLiteral barrierName = "tessera_cpu_barrier";
static constexpr llvm::StringLiteral printName = "tessera_cpu_print";
static constexpr llvm::StringLiteral assertName = "tessera_cpu_assert";

//===----------------------------------------------------------------------===//
// The gpu dialect
//===----------------------------------------------------------------------===//

namespace {

/// The first of the fields of tessera_workgroup that have one value for each
/// dimension.
enum Field { BlockId = 0, GridDim = 3, BlockDim = 6, ThreadId = 9 };

/// A pattern that reads the context of a workgroup.
template <typename Op> struct ContextPattern : OpRewritePattern<Op> {
  ContextPattern(MLIRContext *context, Value workgroup)
      : OpRewritePattern<Op>(context), workgroup(workgroup) {}

  /// Reads a field, of 8 bytes.
  Value read(OpBuilder &builder, Location loc, Field first,
             gpu::Dimension dimension) const {
    Type i64 = builder.getI64Type();
    int32_t index = first + static_cast<int32_t>(dimension);
    Value address = LLVM::GEPOp::create(
        builder, loc, workgroup.getType(), i64, workgroup,
        ArrayRef<LLVM::GEPArg>{index}, LLVM::GEPNoWrapFlags::inbounds);
    Value value = LLVM::LoadOp::create(builder, loc, i64, address,
                                       /*alignment=*/8, /*isVolatile=*/false,
                                       /*isNonTemporal=*/false,
                                       /*isInvariant=*/true);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  }

  Value workgroup;
};

/// Replaces a query by the field of its dimension.
template <typename Op, Field first> struct FieldPattern : ContextPattern<Op> {
  using ContextPattern<Op>::ContextPattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, this->read(rewriter, op.getLoc(), first, op.getDimension()));
    return success();
  }
};

struct GlobalIdPattern : ContextPattern<gpu::GlobalIdOp> {
  using ContextPattern::ContextPattern;
  LogicalResult matchAndRewrite(gpu::GlobalIdOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    gpu::Dimension d = op.getDimension();
    Value block = read(rewriter, loc, BlockId, d);
    Value size = read(rewriter, loc, BlockDim, d);
    Value thread = read(rewriter, loc, ThreadId, d);
    Value first = arith::MulIOp::create(rewriter, loc, block, size);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, first, thread);
    return success();
  }
};

/// A barrier is a call: the runtime runs the threads as fibers. A lone thread
/// needs none, and a call would write its fragments to the stack.
struct BarrierPattern : ContextPattern<gpu::BarrierOp> {
  BarrierPattern(MLIRContext *context, Value workgroup, bool isAlone)
      : ContextPattern(context, workgroup), isAlone(isAlone) {}

  LogicalResult matchAndRewrite(gpu::BarrierOp op,
                                PatternRewriter &rewriter) const override {
    if (isAlone) {
      rewriter.eraseOp(op);
      return success();
    }
    rewriter.replaceOpWithNewOp<func::CallOp>(op, barrierName, TypeRange(),
                                              ValueRange{workgroup});
    return success();
  }

  /// Whether the workgroup is known to have one thread.
  bool isAlone;
};

/// A C string in a constant of the module.
Value getText(Location loc, StringRef text, gpu::GPUModuleOp module,
              PatternRewriter &rewriter) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  std::string name;
  unsigned count = 0;
  do
    name = "kernel_text_" + std::to_string(count++);
  while (module.lookupSymbol(name));
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        rewriter, loc,
        LLVM::LLVMArrayType::get(rewriter.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        rewriter.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(rewriter, loc, global);
}

/// An assertion that fails is a call, which ends the launch.
struct AssertPattern : ContextPattern<cf::AssertOp> {
  using ContextPattern::ContextPattern;
  LogicalResult matchAndRewrite(cf::AssertOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto module = op->getParentOfType<gpu::GPUModuleOp>();
    std::string message = op.getMsg().str();
    if (auto file = loc->findInstanceOf<FileLineColLoc>())
      message += (" at " + file.getFilename().getValue() + ":" +
                  Twine(file.getLine()) + ":" + Twine(file.getColumn()))
                     .str();
    Value fails = arith::XOrIOp::create(
        rewriter, loc, op.getArg(),
        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true)));
    auto branch = scf::IfOp::create(rewriter, loc, fails);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value text = getText(loc, message, module, rewriter);
    func::CallOp::create(rewriter, loc, assertName, TypeRange(),
                         ValueRange{workgroup, text});
    rewriter.eraseOp(op);
    return success();
  }
};

/// gpu.printf is a call with its operands as 64 bits in an array.
struct PrintfPattern : ContextPattern<gpu::PrintfOp> {
  using ContextPattern::ContextPattern;

  LogicalResult matchAndRewrite(gpu::PrintfOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto module = op->getParentOfType<gpu::GPUModuleOp>();
    Type i64 = rewriter.getI64Type(), pointer = workgroup.getType();
    std::string types;
    for (Type type : op.getArgs().getTypes()) {
      if (!type.isIntOrIndexOrFloat() ||
          (!type.isIndex() && type.getIntOrFloatBitWidth() > 64))
        return failure();
      types += isa<FloatType>(type) ? 'f' : 'i';
    }
    Value count = LLVM::ConstantOp::create(
        rewriter, loc, i64,
        rewriter.getI64IntegerAttr(std::max<size_t>(types.size(), 1)));
    Value saved = LLVM::StackSaveOp::create(rewriter, loc, pointer);
    Value array = LLVM::AllocaOp::create(rewriter, loc, pointer, i64, count);
    for (auto [i, value] : llvm::enumerate(op.getArgs())) {
      Type type = value.getType();
      Value bits = value;
      if (type.isIndex()) {
        bits = arith::IndexCastOp::create(rewriter, loc, i64, value);
      } else if (isa<FloatType>(type)) {
        if (!type.isF64())
          bits = arith::ExtFOp::create(rewriter, loc, rewriter.getF64Type(),
                                       value);
        bits = arith::BitcastOp::create(rewriter, loc, i64, bits);
      } else if (!type.isInteger(64)) {
        // As C promotes it.
        bits =
            type.isInteger(1)
                ? arith::ExtUIOp::create(rewriter, loc, i64, value).getResult()
                : arith::ExtSIOp::create(rewriter, loc, i64, value).getResult();
      }
      Value slot =
          LLVM::GEPOp::create(rewriter, loc, pointer, i64, array,
                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
      LLVM::StoreOp::create(rewriter, loc, bits, slot);
    }
    Value text = getText(loc, op.getFormat(), module, rewriter);
    Value kinds = getText(loc, types, module, rewriter);
    func::CallOp::create(rewriter, loc, printName, TypeRange(),
                         ValueRange{workgroup, text, kinds, array});
    LLVM::StackRestoreOp::create(rewriter, loc, saved);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnPattern : OpRewritePattern<gpu::ReturnOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(gpu::ReturnOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op);
    return success();
  }
};

/// Workgroup memory is a parameter of the function.
struct WorkgroupMemoryPattern : OpRewritePattern<gpu::DynamicSharedMemoryOp> {
  WorkgroupMemoryPattern(MLIRContext *context, Value memory)
      : OpRewritePattern(context), memory(memory) {}
  LogicalResult matchAndRewrite(gpu::DynamicSharedMemoryOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, memory);
    return success();
  }

  Value memory;
};

} // namespace

/// Converts the ops of the gpu dialect in a function with these parameters.
static LogicalResult convertGpuOps(func::FuncOp function, Value workgroup,
                                   Value memory, bool isAlone) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  patterns.add<FieldPattern<gpu::BlockIdOp, BlockId>,
               FieldPattern<gpu::GridDimOp, GridDim>,
               FieldPattern<gpu::BlockDimOp, BlockDim>,
               FieldPattern<gpu::ThreadIdOp, ThreadId>, GlobalIdPattern,
               AssertPattern, PrintfPattern>(context, workgroup);
  patterns.add<BarrierPattern>(context, workgroup, isAlone);
  patterns.add<WorkgroupMemoryPattern>(context, memory);
  patterns.add<ReturnPattern>(context);
  walkAndApplyPatterns(function, std::move(patterns));
  WalkResult result = function.walk([](Operation *op) {
    if (isa_and_nonnull<gpu::GPUDialect>(op->getDialect())) {
      op->emitError() << "target cpu does not support " << op->getName();
      return WalkResult::interrupt();
    }
    // Those that the CPU executes lane by lane are converted.
    if (const TargetInfo *owner =
            findDialectOwner(op->getName().getDialectNamespace())) {
      op->emitOpError() << "is supported by target " << owner->name
                        << " only; the CPU does not execute it";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

/// The host's own chips, whose lanes have a stack and vectors.
class HostTarget : public FragmentTarget {
public:
  using FragmentTarget::FragmentTarget;

  bool canGather() const override { return true; }

  SmallVector<Value> emitMatmul(OpBuilder &builder, Location loc,
                                const MatrixInstruction &row, MmaOp op,
                                ValueRange a, ValueRange b,
                                ValueRange acc) const override {
    if (!row.dotProduct)
      return {};
    return emitByteDots(builder, loc, row, op, a, b, acc);
  }

  Value getLocalArray(OpBuilder &builder, Operation *op, unsigned slot,
                      MemRefType type) const override {
    auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
    if (!kernel)
      return {};
    Value &array = arrays[{kernel, slot, type}];
    if (!array) {
      int64_t size = type.getNumElements() * type.getElementTypeBitWidth() / 8;
      int64_t &used = bytes[kernel];
      if (used + size > mostBytes)
        return {};
      used += size;
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&kernel.getBody().front());
      constexpr int64_t alignment = 64;
      array = memref::AllocaOp::create(builder, kernel.getLoc(), type,
                                       builder.getI64IntegerAttr(alignment));
    }
    return array;
  }

private:
  /// Half of a fiber's stack (FiberSet::stackBytes).
  static constexpr int64_t mostBytes = 128 << 10;

  mutable DenseMap<std::tuple<Operation *, unsigned, Type>, Value> arrays;
  /// The bytes of each kernel's arrays.
  mutable DenseMap<Operation *, int64_t> bytes;
};

struct ConvertTesseraToCPUPass
    : public mlir::tessera::impl::ConvertTesseraToCPUBase<
          ConvertTesseraToCPUPass> {
  using ConvertTesseraToCPUBase::ConvertTesseraToCPUBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    FailureOr<const Chip *> found = getChip(module);
    if (failed(found))
      return signalPassFailure();
    if ((*found)->hasLanes() && !isEmulated(**found)) {
      module.emitError() << "a thread of the CPU has no lanes, but the module "
                            "is compiled for "
                         << (*found)->target << ":" << (*found)->name;
      return signalPassFailure();
    }
    if (failed(convertFragments(module, **found)))
      return signalPassFailure();
    dropMemorySpaces(module);
    for (auto kernel : llvm::to_vector(module.getOps<gpu::GPUFuncOp>()))
      if (failed(convertKernel(kernel)))
        return signalPassFailure();
  }

  LogicalResult convertFragments(gpu::GPUModuleOp module, const Chip &chip) {
    LDBG() << module.getName() << ": "
           << (isEmulated(chip) ? "emulates " : "for ") << chip.name;
    EmulationSymbols symbols;
    if (!isEmulated(chip)) {
      for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
        WalkResult found = kernel.walk([](Operation *op) {
          return isVendorLaneOp(op) || isa<gpu::ShuffleOp>(op)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        });
        if (!found.wasInterrupted())
          continue;
        EmulatedTarget target(chip, kernel, symbols);
        if (failed(target.convertLaneOps()) ||
            failed(target.convertVendorOps()))
          return failure();
      }
      symbols.declare(module);
      return convertFragmentsToVectors(module, HostTarget(chip), flags);
    }
    for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
      EmulatedTarget target(chip, kernel, symbols);
      orderAccesses(kernel, target);
      if (failed(convertFragmentsToVectors(kernel, target, flags)) ||
          failed(target.convertLaneOps()) || failed(target.convertVendorOps()))
        return failure();
      target.checkAccesses();
    }
    symbols.declare(module);
    return success();
  }

  static void dropMemorySpaces(Operation *root) {
    AttrTypeReplacer replacer;
    replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
      if (!type.getMemorySpace())
        return std::nullopt;
      return MemRefType::get(type.getShape(), type.getElementType(),
                             type.getLayout());
    });
    replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    // Casts between spaces have become the identity.
    root->walk([](memref::MemorySpaceCastOp op) {
      op.getResult().replaceAllUsesWith(op.getSource());
      op.erase();
    });
  }

  LogicalResult convertKernel(gpu::GPUFuncOp kernel) {
    OpBuilder builder(kernel);
    Location loc = kernel.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    SmallVector<Type> inputs(kernel.getFunctionType().getInputs());
    inputs.append({pointer, bytes});
    auto function = func::FuncOp::create(builder, loc, kernel.getName(),
                                         builder.getFunctionType(inputs, {}));
    function->setAttr(TesseraDialect::KernelAttrHelper::getNameStr(),
                      builder.getUnitAttr());
    // The launch still refers to it as a kernel.
    function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                      builder.getUnitAttr());
    if (Attribute bytes = kernel->getAttr(
            TesseraDialect::WorkgroupBytesAttrHelper::getNameStr()))
      function->setAttr(TesseraDialect::WorkgroupBytesAttrHelper::getNameStr(),
                        bytes);
    function.getBody().takeBody(kernel.getBody());
    Block &entry = function.getBody().front();
    if (entry.getNumArguments() != inputs.size() - 2)
      return kernel.emitError() << "attributions must be packed first: run "
                                   "tessera-pack-workgroup-memory";
    Value context = entry.addArgument(pointer, loc);
    Value memory = entry.addArgument(bytes, loc);
    EmulatedTarget::setContext(function, context);

    bool prints = false, asserts = false;
    function.walk([&](Operation *op) {
      prints |= isa<gpu::PrintfOp>(op);
      asserts |= isa<cf::AssertOp>(op);
    });
    std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
    bool isAlone =
        block && llvm::all_of(*block, [](int32_t size) { return size == 1; });
    if (failed(convertGpuOps(function, context, memory, isAlone)))
      return failure();
    kernel.erase();

    gpu::GPUModuleOp module = getOperation();
    if (!module.lookupSymbol(barrierName)) {
      builder.setInsertionPointToStart(module.getBody());
      auto barrier = func::FuncOp::create(
          builder, loc, barrierName, builder.getFunctionType({pointer}, {}));
      barrier.setPrivate();
    }
    if (prints && !module.lookupSymbol(printName)) {
      builder.setInsertionPointToStart(module.getBody());
      auto print = func::FuncOp::create(
          builder, loc, printName,
          builder.getFunctionType({pointer, pointer, pointer, pointer}, {}));
      print.setPrivate();
    }
    if (asserts && !module.lookupSymbol(assertName)) {
      builder.setInsertionPointToStart(module.getBody());
      auto report =
          func::FuncOp::create(builder, loc, assertName,
                               builder.getFunctionType({pointer, pointer}, {}));
      report.setPrivate();
    }
    return success();
  }
};

} // namespace
