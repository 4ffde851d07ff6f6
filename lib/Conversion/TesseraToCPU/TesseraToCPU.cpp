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
//
// For a chip that emulates another, a thread is a lane, and collective
// operations of lanes are calls as well: Emulation.cpp.
//
//===----------------------------------------------------------------------===//

#include "Conversion/FragmentToVector.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Emulation.h"
#include "MathLibrary.h"
#include "TargetInfo/Emulation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTTESSERATOCPU
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

static constexpr llvm::StringLiteral barrierName = "tessera_cpu_barrier";

namespace {

struct ConvertTesseraToCPUPass
    : public tessera::impl::ConvertTesseraToCPUBase<ConvertTesseraToCPUPass> {
  using ConvertTesseraToCPUBase::ConvertTesseraToCPUBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    FailureOr<const Chip *> found = getChip(module, "cpu", chip);
    if (failed(found) || failed(convertFragments(module, **found)) ||
        failed(convertToMathLibrary(module)))
      return signalPassFailure();
    dropMemorySpaces(module);
    for (auto kernel : llvm::to_vector(module.getOps<gpu::GPUFuncOp>()))
      if (failed(convertKernel(kernel)))
        return signalPassFailure();
  }

  LogicalResult convertFragments(gpu::GPUModuleOp module, const Chip &chip) {
    if (!isEmulated(chip))
      return convertFragmentsToVectors(module, FragmentTarget(chip),
                                       directCopies);
    EmulationSymbols symbols;
    for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
      EmulatedTarget target(chip, kernel, symbols);
      orderAccesses(kernel, target);
      if (failed(convertFragmentsToVectors(kernel, target, directCopies)) ||
          failed(target.convertLaneOps()))
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

  /// Reads field `index` (8 bytes each) of the context.
  static Value emitField(OpBuilder &builder, Location loc, Value context,
                         int32_t index) {
    Type i64 = builder.getI64Type();
    Value address = LLVM::GEPOp::create(builder, loc, context.getType(), i64,
                                        context, ArrayRef<LLVM::GEPArg>{index},
                                        LLVM::GEPNoWrapFlags::inbounds);
    Value value = LLVM::LoadOp::create(builder, loc, i64, address,
                                       /*alignment=*/8, /*isVolatile=*/false,
                                       /*isNonTemporal=*/false,
                                       /*isInvariant=*/true);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
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

    // Fields of tessera_workgroup, in order.
    enum { BlockId = 0, GridDim = 3, BlockDim = 6, ThreadId = 9 };
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      builder.setInsertionPoint(op);
      auto replace = [&](Value value) {
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
        return WalkResult::advance();
      };
      auto field = [&](int32_t first, gpu::Dimension dimension) {
        return replace(emitField(builder, op->getLoc(), context,
                                 first + static_cast<int32_t>(dimension)));
      };
      if (auto id = dyn_cast<gpu::BlockIdOp>(op))
        return field(BlockId, id.getDimension());
      if (auto id = dyn_cast<gpu::GridDimOp>(op))
        return field(GridDim, id.getDimension());
      if (auto id = dyn_cast<gpu::BlockDimOp>(op))
        return field(BlockDim, id.getDimension());
      if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
        return field(ThreadId, id.getDimension());
      if (auto id = dyn_cast<gpu::GlobalIdOp>(op)) {
        int32_t d = static_cast<int32_t>(id.getDimension());
        Value block = emitField(builder, op->getLoc(), context, BlockId + d);
        Value size = emitField(builder, op->getLoc(), context, BlockDim + d);
        Value thread = emitField(builder, op->getLoc(), context, ThreadId + d);
        Value first = arith::MulIOp::create(builder, op->getLoc(), block, size);
        return replace(
            arith::AddIOp::create(builder, op->getLoc(), first, thread));
      }
      if (isa<gpu::DynamicSharedMemoryOp>(op))
        return replace(memory);
      if (isa<gpu::BarrierOp>(op)) {
        func::CallOp::create(builder, op->getLoc(), barrierName, TypeRange(),
                             ValueRange{context});
        op->erase();
        return WalkResult::advance();
      }
      if (isa<gpu::ReturnOp>(op)) {
        func::ReturnOp::create(builder, op->getLoc());
        op->erase();
        return WalkResult::advance();
      }
      if (isa_and_nonnull<gpu::GPUDialect>(op->getDialect())) {
        op->emitError() << "target cpu does not support " << op->getName();
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    kernel.erase();

    gpu::GPUModuleOp module = getOperation();
    if (!module.lookupSymbol(barrierName)) {
      builder.setInsertionPointToStart(module.getBody());
      auto barrier = func::FuncOp::create(
          builder, loc, barrierName, builder.getFunctionType({pointer}, {}));
      barrier.setPrivate();
    }
    return success();
  }
};

} // namespace
