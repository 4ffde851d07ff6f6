//===- KernelsToSPIRV.cpp - Kernels of scalars to spirv.module ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   gpu.func           spirv.func, entry point and execution mode
//   gpu.thread_id..    built-in variables
//   parameters         the function's, of those that are read  (OpenCL)
//   gpu.barrier        spirv.ControlBarrier, with what the memory model asks
//                      for
//   gpu.shuffle        spirv.GroupNonUniformShuffle
//   arith, math, scf   upstream's patterns
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Spirv.h"
#include "Target/KernelFacts.h"
#include "TargetInfo/Chip.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/IndexToSPIRV/IndexToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/UBToSPIRV/UBToSPIRV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTKERNELSTOSPIRV
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

/// All capabilities that a kernel may need: without a capability here,
/// upstream's type conversion changes types silently. The capabilities that are
/// used are determined afterwards.
static spirv::TargetEnvAttr getTargetEnv(MLIRContext *context,
                                         const Flavour &flavour) {
  using C = spirv::Capability;
  using E = spirv::Extension;
  SmallVector<C> capabilities = {C::Matrix,
                                 C::Int8,
                                 C::Int16,
                                 C::Int64,
                                 C::Float16,
                                 C::Float64,
                                 C::GroupNonUniform,
                                 C::GroupNonUniformShuffle,
                                 C::GroupNonUniformShuffleRelative,
                                 C::AtomicFloat32AddEXT,
                                 C::AtomicFloat64AddEXT,
                                 C::Int64Atomics,
                                 C::CooperativeMatrixKHR,
                                 C::BFloat16TypeKHR,
                                 C::BFloat16CooperativeMatrixKHR};
  SmallVector<E> extensions = {E::SPV_KHR_cooperative_matrix,
                               E::SPV_EXT_shader_atomic_float_add,
                               E::SPV_KHR_bfloat16};
  if (flavour.isKernel) {
    capabilities.append({C::Kernel, C::Addresses, C::Vector16,
                         C::SubgroupDispatch, C::Linkage,
                         C::TensorFloat32RoundingINTEL});
    extensions.push_back(E::SPV_INTEL_tensor_float32_conversion);
  } else {
    capabilities.append(
        {C::Shader, C::StorageBuffer16BitAccess, C::StorageBuffer8BitAccess,
         C::UniformAndStorageBuffer8BitAccess, C::StoragePushConstant8,
         C::StoragePushConstant16, C::StorageUniform16,
         C::SignedZeroInfNanPreserve, C::PhysicalStorageBufferAddresses,
         C::VulkanMemoryModel, C::VulkanMemoryModelDeviceScope});
    extensions.append({E::SPV_KHR_storage_buffer_storage_class,
                       E::SPV_KHR_16bit_storage, E::SPV_KHR_8bit_storage,
                       E::SPV_KHR_physical_storage_buffer,
                       E::SPV_KHR_vulkan_memory_model});
  }
  auto triple = spirv::VerCapExtAttr::get(spirv::Version::V_1_6, capabilities,
                                          extensions, context);
  return spirv::TargetEnvAttr::get(
      triple, spirv::getDefaultResourceLimits(context), flavour.api);
}

//===----------------------------------------------------------------------===//
// The gpu dialect
//===----------------------------------------------------------------------===//

namespace {

/// Replaces queries of a thread's position, by scalars of the index type.
class Builtins {
public:
  Builtins(spirv::FuncOp function, ArrayRef<int32_t> block, const Chip &chip)
      : function(function), block(block), chip(chip),
        flavour(*getFlavour(chip.target)), b(function.getContext()) {}
  LogicalResult run();

private:
  Value read(Operation *op, spirv::BuiltIn builtin, unsigned dimension) {
    // Numbers of three components have the width of an address with OpenCL, and
    // those of one component never.
    bool isNumber = builtin == spirv::BuiltIn::LocalInvocationId ||
                    builtin == spirv::BuiltIn::WorkgroupId ||
                    builtin == spirv::BuiltIn::NumWorkgroups;
    Type word = b.getIntegerType(isNumber ? flavour.numberBits : 32);
    Value vector = spirv::getBuiltinVariableValue(op, builtin, word, b);
    Value value = vector;
    if (isa<VectorType>(vector.getType()))
      value = spirv::CompositeExtractOp::create(b, op->getLoc(), vector,
                                                {int32_t(dimension)});
    return arith::IndexCastUIOp::create(b, op->getLoc(), b.getIndexType(),
                                        value);
  }
  Value readThread(Operation *op, gpu::Dimension dimension);
  /// The linear id over all threads of the workgroup, x first.
  Value readLinearThread(Operation *op);

  spirv::FuncOp function;
  ArrayRef<int32_t> block;
  const Chip &chip;
  const Flavour &flavour;
  OpBuilder b;
};

} // namespace

Value Builtins::readThread(Operation *op, gpu::Dimension dimension) {
  auto d = static_cast<unsigned>(dimension);
  if (block[d] == 1)
    return arith::ConstantIndexOp::create(b, op->getLoc(), 0);
  // How threads form subgroups is the device's business.
  if (d == 0 && block[1] == 1 && block[2] == 1 && chip.hasLanes() &&
      block[0] % chip.subgroupSize == 0) {
    Value subgroup = read(op, spirv::BuiltIn::SubgroupId, 0);
    Value lane = read(op, spirv::BuiltIn::SubgroupLocalInvocationId, 0);
    Value size =
        arith::ConstantIndexOp::create(b, op->getLoc(), chip.subgroupSize);
    Value first = arith::MulIOp::create(b, op->getLoc(), subgroup, size);
    return arith::AddIOp::create(b, op->getLoc(), first, lane);
  }
  return read(op, spirv::BuiltIn::LocalInvocationId, d);
}

Value Builtins::readLinearThread(Operation *op) {
  Value thread = readThread(op, gpu::Dimension::z);
  for (gpu::Dimension d : {gpu::Dimension::y, gpu::Dimension::x}) {
    Value extent = arith::ConstantIndexOp::create(
        b, op->getLoc(), block[static_cast<unsigned>(d)]);
    thread = b.createOrFold<arith::MulIOp>(op->getLoc(), thread, extent);
    thread =
        b.createOrFold<arith::AddIOp>(op->getLoc(), thread, readThread(op, d));
  }
  return thread;
}

LogicalResult Builtins::run() {
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (!isa_and_nonnull<gpu::GPUDialect>(op->getDialect()))
      return WalkResult::advance();
    b.setInsertionPoint(op);
    Location loc = op->getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    Value value;
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
      value = readThread(op, id.getDimension());
    } else if (auto id = dyn_cast<gpu::BlockIdOp>(op)) {
      value = read(op, spirv::BuiltIn::WorkgroupId,
                   static_cast<unsigned>(id.getDimension()));
    } else if (auto id = dyn_cast<gpu::GridDimOp>(op)) {
      value = read(op, spirv::BuiltIn::NumWorkgroups,
                   static_cast<unsigned>(id.getDimension()));
    } else if (auto id = dyn_cast<gpu::BlockDimOp>(op)) {
      value = constant(block[static_cast<unsigned>(id.getDimension())]);
    } else if (auto id = dyn_cast<gpu::GlobalIdOp>(op)) {
      auto d = static_cast<unsigned>(id.getDimension());
      Value group = read(op, spirv::BuiltIn::WorkgroupId, d);
      value = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, group, constant(block[d])),
          readThread(op, id.getDimension()));
    } else if (isa<gpu::LaneIdOp>(op)) {
      value = chip.hasLanes()
                  ? read(op, spirv::BuiltIn::SubgroupLocalInvocationId, 0)
                  : constant(0);
    } else if (isa<gpu::SubgroupIdOp>(op)) {
      value = chip.hasLanes() ? read(op, spirv::BuiltIn::SubgroupId, 0)
                              : readLinearThread(op);
    } else if (isa<gpu::SubgroupSizeOp>(op)) {
      value = constant(chip.subgroupSize);
    } else if (isa<gpu::BarrierOp>(op)) {
      emitBarrier(b, loc, spirv::Scope::Workgroup, flavour);
      op->erase();
      return WalkResult::advance();
    } else if (isa<gpu::ReturnOp>(op)) {
      spirv::ReturnOp::create(b, loc);
      op->erase();
      return WalkResult::advance();
    } else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
      auto scope =
          spirv::ScopeAttr::get(b.getContext(), spirv::Scope::Subgroup);
      Value data = shuffle.getValue(), by = shuffle.getOffset(), moved;
      switch (shuffle.getMode()) {
      case gpu::ShuffleMode::IDX:
        moved =
            spirv::GroupNonUniformShuffleOp::create(b, loc, scope, data, by);
        break;
      case gpu::ShuffleMode::XOR:
        moved =
            spirv::GroupNonUniformShuffleXorOp::create(b, loc, scope, data, by);
        break;
      case gpu::ShuffleMode::UP:
        moved =
            spirv::GroupNonUniformShuffleUpOp::create(b, loc, scope, data, by);
        break;
      case gpu::ShuffleMode::DOWN:
        moved = spirv::GroupNonUniformShuffleDownOp::create(b, loc, scope, data,
                                                            by);
        break;
      }
      if (!shuffle.getValid().use_empty()) {
        op->emitError() << "target " << flavour.target
                        << " does not support the `valid` result of a shuffle";
        return WalkResult::interrupt();
      }
      shuffle.getShuffleResult().replaceAllUsesWith(moved);
      op->erase();
      return WalkResult::advance();
    } else {
      op->emitError() << "target " << flavour.target << " does not support "
                      << op->getName();
      return WalkResult::interrupt();
    }
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void mlir::tessera::emitBarrier(OpBuilder &builder, Location loc,
                                spirv::Scope scope, const Flavour &flavour,
                                bool ordersGlobal) {
  using S = spirv::MemorySemantics;
  auto semantics = S::AcquireRelease | S::WorkgroupMemory;
  if (ordersGlobal)
    semantics = semantics | flavour.globalSemantics;
  if (flavour.saysVisible)
    semantics = semantics | S::MakeAvailable | S::MakeVisible;
  spirv::ControlBarrierOp::create(builder, loc, scope, scope, semantics);
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

namespace {

/// A function of f16 or f32 that upstream's patterns lack.
template <typename Op, typename SpirvOp>
struct FunctionPattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<SpirvOp>(op, adaptor.getOperand());
    return success();
  }
};

/// trunc(x) = floor(|x|), with the sign of x.
struct TruncPattern : OpConversionPattern<math::TruncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(math::TruncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value magnitude = math::AbsFOp::create(rewriter, loc, adaptor.getOperand());
    rewriter.replaceOpWithNewOp<math::CopySignOp>(
        op, math::FloorOp::create(rewriter, loc, magnitude),
        adaptor.getOperand());
    return success();
  }
};

struct ConvertKernelsToSPIRVPass
    : public tessera::impl::ConvertKernelsToSPIRVBase<
          ConvertKernelsToSPIRVPass> {
  using ConvertKernelsToSPIRVBase::ConvertKernelsToSPIRVBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    FailureOr<const Chip *> found = getSpirvChip(module, target, chip);
    if (failed(found))
      return signalPassFailure();
    const Flavour &flavour = *getFlavour((*found)->target);
    for (auto kernel : llvm::to_vector(module.getOps<gpu::GPUFuncOp>()))
      if (!kernel.isKernel()) {
        kernel.emitError() << "target " << target
                           << " does not support calls: inline the function";
        return signalPassFailure();
      }
    OpBuilder b(&getContext());
    b.setInsertionPointToEnd(module.getBody());
    auto result = spirv::ModuleOp::create(b, module.getLoc(),
                                          flavour.addressing, flavour.memory);
    spirv::TargetEnvAttr env = getTargetEnv(&getContext(), flavour);
    result->setAttr(spirv::getTargetEnvAttrName(), env);
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      // A function here is one that is imported.
      if (isa<spirv::GlobalVariableOp, spirv::FuncOp>(op))
        op.moveBefore(result.getBody(), result.getBody()->end());
      else if (&op != result.getOperation() && !isa<gpu::GPUFuncOp>(op)) {
        InFlightDiagnostic diagnostic = op.emitError();
        diagnostic << "target " << target << " does not support ";
        if (auto function = dyn_cast<FunctionOpInterface>(op))
          diagnostic << "calls in kernels, and '" << function.getName()
                     << "' cannot be inlined: it calls itself, or has no body";
        else
          diagnostic << op.getName() << " in a kernel's module";
        return signalPassFailure();
      }
    }
    for (auto kernel : llvm::to_vector(module.getOps<gpu::GPUFuncOp>())) {
      narrowDivisions(kernel, /*trustsWide=*/flavour.isKernel);
      if (failed(addKernel(kernel, result, **found)))
        return signalPassFailure();
    }
    guardLoops(result);
    if (failed(convertBodies(result, env, flavour)))
      return signalPassFailure();
    separateContinues(result);
    if (!flavour.isKernel)
      keepArithmetic(result);
    keepNans(result, **found);
    addInterfaces(result, flavour);
    if (failed(setRequirements(result, flavour)))
      return signalPassFailure();
  }

  LogicalResult addKernel(gpu::GPUFuncOp kernel, spirv::ModuleOp module,
                          const Chip &chip) {
    OpBuilder b(&getContext());
    b.setInsertionPointToEnd(module.getBody());
    std::optional<ArrayRef<int32_t>> known = kernel.getKnownBlockSize();
    if (!known)
      return kernel.emitError()
             << "target " << target
             << " requires a constant workgroup size: launch the kernel with "
                "constants";
    SmallVector<int32_t> block(*known);
    int64_t threads = int64_t(block[0]) * block[1] * block[2];
    if (threads > chip.maxThreads)
      return kernel.emitError()
             << "the workgroup has " << threads << " threads, but " << chip.name
             << " supports at most " << chip.maxThreads;
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(
            TesseraDialect::WorkgroupBytesAttrHelper::getNameStr());
        bytes &&
        bytes.getInt() > chip.workgroupMemoryBytes + getScratchBytes(chip))
      return kernel.emitError()
             << "the kernel needs " << bytes.getInt()
             << " bytes of workgroup memory, but " << chip.name << " has "
             << chip.workgroupMemoryBytes + getScratchBytes(chip)
             << ": use a smaller block tile or fewer stages";
    if (failed(checkTypes(kernel, chip)))
      return failure();
    SmallVector<Value> fields = takeFields(kernel);
    SmallVector<Type> types = llvm::to_vector(TypeRange(ValueRange(fields)));
    auto function =
        spirv::FuncOp::create(b, kernel.getLoc(), kernel.getName(),
                              FunctionType::get(&getContext(), types, {}));
    setFacts(kernel, function, fields);
    function.getBody().takeBody(kernel.getBody());
    Block &body = function.getBody().front();
    unsigned unused = body.getNumArguments();
    for (Value field : fields) {
      field.replaceAllUsesWith(
          body.addArgument(field.getType(), field.getLoc()));
      if (Operation *cast = field.getDefiningOp())
        cast->erase();
    }
    body.eraseArguments(0, unused);
    // Launches are verified against it, and look up the kernel's requirements.
    Block &stub = kernel.getBody().emplaceBlock();
    for (Type type : kernel.getFunctionType().getInputs())
      stub.addArgument(type, kernel.getLoc());
    b.setInsertionPointToStart(&stub);
    gpu::ReturnOp::create(b, kernel.getLoc());
    if (failed(Builtins(function, block, chip).run()))
      return failure();
    // Variables of a function must come first.
    Block &entry = function.getBody().front();
    for (auto variable : llvm::to_vector(entry.getOps<spirv::VariableOp>()))
      variable->moveBefore(&entry, entry.begin());
    b.setInsertionPointToEnd(module.getBody());
    spirv::ExecutionModeOp::create(b, kernel.getLoc(), function,
                                   spirv::ExecutionMode::LocalSize, block);
    if (getFlavour(chip.target)->isKernel && chip.hasLanes())
      spirv::ExecutionModeOp::create(b, kernel.getLoc(), function,
                                     spirv::ExecutionMode::SubgroupSize,
                                     {static_cast<int32_t>(chip.subgroupSize)});
    return success();
  }

  /// Functions that GLSL.std.450 has of 16 and 32 bits alone (its
  /// specification, sections of Sin to Log2).
  static bool isNarrowFunction(Operation *op) {
    return isa<math::SinOp, math::CosOp, math::TanOp, math::AsinOp,
               math::AcosOp, math::AtanOp, math::SinhOp, math::CoshOp,
               math::TanhOp, math::AsinhOp, math::AcoshOp, math::AtanhOp,
               math::Atan2Op, math::PowFOp, math::ExpOp, math::Exp2Op,
               math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op,
               math::Log1pOp>(op);
  }

  /// On a device without f64, the driver would reject the kernel.
  LogicalResult checkTypes(gpu::GPUFuncOp kernel, const Chip &chip) {
    bool isKernel = getFlavour(chip.target)->isKernel;
    auto isMissing = [&](Type type) {
      return getElementTypeOrSelf(type).isF64() && !chip.hasF64;
    };
    WalkResult result = kernel.walk([&](Operation *op) {
      if (!isKernel && isNarrowFunction(op) &&
          getElementTypeOrSelf(op->getResult(0)).isF64()) {
        op->emitError() << "SPIR-V does not support " << op->getName()
                        << " of f64; compute it in f32";
        return WalkResult::interrupt();
      }
      if (llvm::none_of(op->getResultTypes(), isMissing))
        return WalkResult::advance();
      op->emitError() << chip.name
                      << " does not support f64 arithmetic; compute in f32";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Records the facts of `function`, which has these parameters, in the module
  /// (Target/KernelFacts.h).
  static void setFacts(gpu::GPUFuncOp kernel, spirv::FuncOp function,
                       ArrayRef<Value> fields) {
    if (Attribute registers =
            kernel->getAttr(TesseraDialect::RegistersAttrHelper::getNameStr()))
      function->setAttr(TesseraDialect::RegistersAttrHelper::getNameStr(),
                        registers);
    // The alignments, by the index of a buffer's address among the launch's
    // arguments.
    llvm::DenseMap<int64_t, int64_t> alignments;
    int64_t next = 0;
    for (auto [i, type] :
         llvm::enumerate(kernel.getFunctionType().getInputs())) {
      auto memory = dyn_cast<MemRefType>(type);
      if (auto alignment = kernel.getArgAttrOfType<IntegerAttr>(
              static_cast<unsigned>(i),
              TesseraDialect::AlignmentAttrHelper::getNameStr()))
        alignments[next + 1] = alignment.getInt();
      next += memory ? 3 + 2 * memory.getRank() : 1;
    }
    if (alignments.empty())
      return;
    SmallVector<int64_t> ofParameters;
    for (Value field : fields) {
      Operation *cast = field.getDefiningOp();
      auto place = cast ? cast->getAttrOfType<IntegerAttr>(
                              TesseraDialect::FieldAttrHelper::getNameStr())
                        : IntegerAttr();
      ofParameters.push_back(place ? alignments.lookup(place.getInt()) : 0);
    }
    function->setAttr(
        TesseraDialect::ParameterAlignmentsAttrHelper::getNameStr(),
        DenseI64ArrayAttr::get(kernel.getContext(), ofParameters));
  }

  /// The launch arguments that the kernel reads, in their order: placeholders
  /// for fields, and scalars that need none. The kernel keeps a list of their
  /// indices.
  SmallVector<Value> takeFields(gpu::GPUFuncOp kernel) {
    SmallVector<std::pair<int64_t, Value>> fields;
    kernel.walk([&](UnrealizedConversionCastOp op) {
      auto place = op->getAttrOfType<IntegerAttr>(
          TesseraDialect::FieldAttrHelper::getNameStr());
      if (!place)
        return;
      if (op->use_empty())
        op.erase();
      else
        fields.emplace_back(place.getInt(), op.getResult(0));
    });
    // A cast from a type to itself is folded away.
    int64_t next = 0;
    for (BlockArgument argument : kernel.getBody().getArguments().take_front(
             kernel.getFunctionType().getNumInputs())) {
      auto memory = dyn_cast<MemRefType>(argument.getType());
      bool isRead = llvm::any_of(argument.getUsers(), [](Operation *user) {
        return !user->hasAttr(TesseraDialect::FieldAttrHelper::getNameStr());
      });
      if (!memory && isRead)
        fields.emplace_back(next, argument);
      next += memory ? 3 + 2 * memory.getRank() : 1;
    }
    llvm::stable_sort(
        fields, [](const auto &l, const auto &r) { return l.first < r.first; });
    if (getFlavour(target)->isKernel)
      kernel->setAttr(
          TesseraDialect::TakenArgumentsAttrHelper::getNameStr(),
          DenseI64ArrayAttr::get(
              &getContext(), llvm::map_to_vector(fields, [](const auto &field) {
                return field.first;
              })));
    return llvm::map_to_vector(fields,
                               [](const auto &field) { return field.second; });
  }

  /// Upstream's loops do not set their results if they have no iterations:
  /// loops that may have none are guarded by a branch.
  static void guardLoops(Operation *root) {
    SmallVector<scf::ForOp> loops;
    root->walk([&](scf::ForOp loop) {
      std::optional<APInt> trips = loop.getStaticTripCount();
      if (loop.getNumResults() && (!trips || trips->isZero()))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      OpBuilder b(loop);
      Location loc = loop.getLoc();
      auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                             : arith::CmpIPredicate::slt;
      Value runs = arith::CmpIOp::create(
          b, loc, predicate, loop.getLowerBound(), loop.getUpperBound());
      auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), runs,
                                      /*withElseRegion=*/true);
      loop.replaceAllUsesWith(branch.getResults());
      b.setInsertionPointToEnd(&branch.getElseRegion().front());
      scf::YieldOp::create(b, loc, loop.getInitArgs());
      Block &then = branch.getThenRegion().front();
      loop->moveBefore(&then, then.end());
      b.setInsertionPointToEnd(&then);
      scf::YieldOp::create(b, loc, loop.getResults());
    }
  }

  /// Upstream's loops have their bodies, with all barriers and branches, in the
  /// continue construct, unlike loops of other front ends. This moves the body
  /// before it; the continue construct is only the back edge.
  static void separateContinues(Operation *root) {
    root->walk([](spirv::LoopOp loop) {
      Block *body = loop.getContinueBlock();
      // Drivers unroll it beyond the capacity of their instruction cache.
      if (!body->getOps<spirv::KHRCooperativeMatrixMulAddOp>().empty())
        loop.setLoopControl(spirv::LoopControl::DontUnroll);
      body->splitBlock(body->getTerminator());
      OpBuilder b = OpBuilder::atBlockEnd(body);
      spirv::BranchOp::create(b, loop.getLoc(), body->getNextNode());
    });
  }

  /// Vulkan's implementations may rearrange arithmetic by the rules of real
  /// numbers, including sums of products, unless it has NoContraction (Vulkan
  /// specification, "Precision and Operation of SPIR-V Instructions"). A
  /// two-step argument reduction would then be merged into one step, and exp
  /// wrong by 100 units in the last place. OpenCL permits only the contraction
  /// of a multiplication and an addition.
  static void keepArithmetic(Operation *root) {
    root->walk([](Operation *op) {
      if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp,
              spirv::GLFmaOp>(op))
        op->setAttr("no_contraction", UnitAttr::get(op->getContext()));
    });
  }

  /// Whether `function` has arithmetic, comparisons or math functions on floats
  /// of `bits` bits; matmuls do not count.
  static bool computesWith(spirv::FuncOp function, unsigned bits) {
    return function
        .walk([&](Operation *op) {
          if (!isPure(op) ||
              isa<spirv::BitcastOp, spirv::CompositeConstructOp,
                  spirv::CompositeExtractOp, spirv::CompositeInsertOp>(op))
            return WalkResult::advance();
          bool found = llvm::any_of(op->getOperandTypes(), [&](Type type) {
            Type element = getElementTypeOrSelf(type);
            return isa<FloatType, VectorType>(type) &&
                   isa<FloatType>(element) &&
                   element.getIntOrFloatBitWidth() == bits;
          });
          return found ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Requests that NaNs, infinities and signed zeros of the float types of a
  /// kernel be preserved, if a device of `chip` supports this: otherwise its
  /// compiler may replace a comparison and a select by a maximum that drops
  /// NaNs.
  static void keepNans(spirv::ModuleOp module, const Chip &chip) {
    OpBuilder b(module.getContext());
    b.setInsertionPointToEnd(module.getBody());
    for (auto function : llvm::to_vector(module.getOps<spirv::FuncOp>()))
      for (unsigned bits : chip.keptNans)
        if (!function.isExternal() && computesWith(function, bits))
          spirv::ExecutionModeOp::create(
              b, function.getLoc(), function,
              spirv::ExecutionMode::SignedZeroInfNanPreserve,
              {static_cast<int32_t>(bits)});
  }

  LogicalResult convertBodies(spirv::ModuleOp module, spirv::TargetEnvAttr env,
                              const Flavour &flavour) {
    MLIRContext *context = &getContext();
    SPIRVConversionOptions options;
    options.use64bitIndex = true;
    options.emulateLT32BitScalarTypes = false;
    SPIRVTypeConverter converter(env, options);
    std::unique_ptr<ConversionTarget> target = SPIRVConversionTarget::get(env);
    target->addLegalOp<UnrealizedConversionCastOp>();
    RewritePatternSet patterns(context);
    ScfToSPIRVContext scfContext;
    arith::populateArithToSPIRVPatterns(converter, patterns);
    populateMathToSPIRVPatterns(converter, patterns);
    populateSCFToSPIRVPatterns(converter, scfContext, patterns);
    index::populateIndexToSPIRVPatterns(converter, patterns);
    if (flavour.isKernel)
      populateKernelMath(converter, patterns);
    else
      patterns.add<FunctionPattern<math::Exp2Op, spirv::GLExp2Op>,
                   FunctionPattern<math::Log2Op, spirv::GLLog2Op>>(converter,
                                                                   context);
    patterns.add<TruncPattern>(converter, context);
    ub::populateUBToSPIRVConversionPatterns(converter, patterns);
    return applyFullConversion(module, *target, std::move(patterns));
  }

  /// Whether a kernel requests registers, for which SPIR-V 1.4 has a
  /// decoration.
  static bool hasRequest(spirv::ModuleOp module) {
    return llvm::any_of(
        module.getOps<spirv::FuncOp>(), [](spirv::FuncOp function) {
          return function->hasAttr(
              TesseraDialect::RegistersAttrHelper::getNameStr());
        });
  }

  /// From SPIR-V 1.4 on, an entry point lists all variables that it uses; in
  /// earlier versions, as OpenCL requires, it lists its inputs.
  static void addInterfaces(spirv::ModuleOp module, const Flavour &flavour) {
    OpBuilder b(module.getContext());
    for (auto function : llvm::to_vector(module.getOps<spirv::FuncOp>())) {
      if (function.isExternal())
        continue;
      llvm::SetVector<Attribute> variables;
      function.walk([&](spirv::AddressOfOp op) {
        auto type = cast<spirv::PointerType>(op.getType());
        // From SPIR-V 1.4 on all that is used.
        if (flavour.isKernel && !hasRequest(module) &&
            type.getStorageClass() != spirv::StorageClass::Input)
          return;
        variables.insert(SymbolRefAttr::get(op.getContext(), op.getVariable()));
      });
      b.setInsertionPointAfter(function);
      spirv::EntryPointOp::create(b, function.getLoc(), flavour.execution,
                                  function, variables.getArrayRef());
    }
  }

  /// The capabilities and extensions that the module needs; upstream sees most
  /// of them.
  LogicalResult setRequirements(spirv::ModuleOp module,
                                const Flavour &flavour) {
    PassManager pm(&getContext(), spirv::ModuleOp::getOperationName());
    pm.addPass(spirv::createSPIRVUpdateVCEPass());
    if (failed(runPipeline(pm, module)))
      return failure();
    spirv::VerCapExtAttr triple = *module.getVceTriple();
    llvm::SetVector<spirv::Capability> capabilities;
    llvm::SetVector<spirv::Extension> extensions;
    for (spirv::Capability capability : triple.getCapabilities())
      capabilities.insert(capability);
    for (spirv::Extension extension : triple.getExtensions())
      extensions.insert(extension);
    using C = spirv::Capability;
    capabilities.insert(C::Int64);
    if (flavour.isKernel) {
      // Buffers are pointers to bytes.
      for (C capability : {C::Kernel, C::Addresses, C::Int8})
        capabilities.insert(capability);
    } else {
      capabilities.insert(C::Shader);
      capabilities.insert(C::VulkanMemoryModel);
      capabilities.insert(C::PhysicalStorageBufferAddresses);
      extensions.insert(spirv::Extension::SPV_KHR_vulkan_memory_model);
      extensions.insert(spirv::Extension::SPV_KHR_physical_storage_buffer);
      // Upstream requests its predecessor, which Vulkan 1.3 does not accept.
      extensions.remove(spirv::Extension::SPV_EXT_physical_storage_buffer);
    }
    auto add = [&](Type type, bool memory) {
      if (type.isInteger(8)) {
        capabilities.insert(C::Int8);
        if (memory)
          capabilities.insert(C::StorageBuffer8BitAccess);
      } else if (type.isInteger(16) || type.isF16()) {
        capabilities.insert(type.isF16() ? C::Float16 : C::Int16);
        if (memory)
          capabilities.insert(C::StorageBuffer16BitAccess);
      } else if (type.isF64()) {
        capabilities.insert(C::Float64);
      } else if (type.isBF16()) {
        // Matrices only (LowerMemory, ScalarizeVectors).
        capabilities.insert(C::BFloat16TypeKHR);
        capabilities.insert(C::BFloat16CooperativeMatrixKHR);
        extensions.insert(spirv::Extension::SPV_KHR_bfloat16);
      }
    };
    module.walk([&](Operation *op) {
      if (auto scope = op->getAttrOfType<spirv::ScopeAttr>("memory_scope");
          scope && scope.getValue() == spirv::Scope::Device &&
          !flavour.isKernel)
        capabilities.insert(C::VulkanMemoryModelDeviceScope);
      if (auto variable = dyn_cast<spirv::GlobalVariableOp>(op)) {
        if (auto builtin = variable->getAttrOfType<StringAttr>("built_in");
            !flavour.isKernel && builtin &&
            builtin.getValue().starts_with("Subgroup"))
          capabilities.insert(C::GroupNonUniform);
        auto pointer = cast<spirv::PointerType>(variable.getType());
        if (auto array = dyn_cast<spirv::ArrayType>(pointer.getPointeeType()))
          add(array.getElementType(), false);
      }
      for (Type type : op->getResultTypes()) {
        if (auto pointer = dyn_cast<spirv::PointerType>(type)) {
          Type pointee = pointer.getPointeeType();
          if (auto whole = dyn_cast<spirv::StructType>(pointee))
            if (auto array =
                    dyn_cast<spirv::RuntimeArrayType>(whole.getElementType(0)))
              pointee = array.getElementType();
          if (pointee.isIntOrFloat())
            add(pointee, pointer.getStorageClass() ==
                             spirv::StorageClass::PhysicalStorageBuffer);
        } else if (auto matrix = dyn_cast<spirv::CooperativeMatrixType>(type)) {
          add(matrix.getElementType(), false);
        } else {
          add(getElementTypeOrSelf(type), false);
        }
      }
    });
    module.walk([&](spirv::ExecutionModeOp mode) {
      if (mode.getExecutionMode() == spirv::ExecutionMode::SubgroupSize)
        capabilities.insert(C::SubgroupDispatch);
      if (mode.getExecutionMode() ==
          spirv::ExecutionMode::SignedZeroInfNanPreserve)
        capabilities.insert(C::SignedZeroInfNanPreserve);
    });
    // Upstream marks arithmetic that does not wrap, which requires SPIR-V 1.4
    // or an extension that a driver may lack.
    if (flavour.isKernel)
      module.walk([](Operation *op) {
        op->removeAttr("no_signed_wrap");
        op->removeAttr("no_unsigned_wrap");
      });
    // It is implied, and drivers may not know it.
    capabilities.remove(C::DeviceEnqueue);
    if (capabilities.contains(C::StorageBuffer8BitAccess))
      extensions.insert(spirv::Extension::SPV_KHR_8bit_storage);
    if (capabilities.contains(C::StorageBuffer16BitAccess))
      extensions.insert(spirv::Extension::SPV_KHR_16bit_storage);
    // Drivers of OpenCL accept the oldest version most widely; OpenCL 2.2 has
    // 1.2.
    spirv::Version version =
        flavour.isKernel ? std::max(triple.getVersion(), spirv::Version::V_1_2)
                         : spirv::Version::V_1_6;
    if (hasRequest(module))
      version = std::max(version, spirv::Version::V_1_4);
    module.setVceTripleAttr(
        spirv::VerCapExtAttr::get(version, capabilities.getArrayRef(),
                                  extensions.getArrayRef(), &getContext()));
    module->removeAttr(spirv::getTargetEnvAttrName());
    return success();
  }
};

} // namespace
