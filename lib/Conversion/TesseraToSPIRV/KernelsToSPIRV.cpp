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
#include "Kernels.h"
#include "Target/KernelFacts.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTKERNELSTOSPIRV
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-convert-kernels-to-spirv"

using namespace mlir;
using namespace mlir::tessera;

namespace {

struct ConvertKernelsToSPIRVPass
    : public tessera::impl::ConvertKernelsToSPIRVBase<
          ConvertKernelsToSPIRVPass> {
  using ConvertKernelsToSPIRVBase::ConvertKernelsToSPIRVBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    FailureOr<const Chip *> found = getSpirvChip(module);
    if (failed(found))
      return signalPassFailure();
    const SpirvEnvironment &environment =
        *getSpirvEnvironment((*found)->target);
    for (auto kernel : llvm::to_vector(module.getOps<gpu::GPUFuncOp>()))
      if (!kernel.isKernel()) {
        kernel.emitError() << "target " << environment.target
                           << " does not support calls: inline the function";
        return signalPassFailure();
      }
    OpBuilder b(&getContext());
    b.setInsertionPointToEnd(module.getBody());
    auto result = spirv::ModuleOp::create(
        b, module.getLoc(), environment.addressing, environment.memory);
    spirv::TargetEnvAttr env = getTargetEnv(&getContext(), environment);
    result->setAttr(spirv::getTargetEnvAttrName(), env);
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      // A function here is one that is imported.
      if (isa<spirv::GlobalVariableOp, spirv::FuncOp>(op))
        op.moveBefore(result.getBody(), result.getBody()->end());
      else if (&op != result.getOperation() && !isa<gpu::GPUFuncOp>(op)) {
        InFlightDiagnostic diagnostic = op.emitError();
        diagnostic << "target " << environment.target << " does not support ";
        if (auto function = dyn_cast<FunctionOpInterface>(op))
          diagnostic << "calls in kernels, and '" << function.getName()
                     << "' cannot be inlined: it calls itself, or has no body";
        else
          diagnostic << op.getName() << " in a kernel's module";
        return signalPassFailure();
      }
    }
    for (auto kernel : llvm::to_vector(module.getOps<gpu::GPUFuncOp>())) {
      LDBG() << kernel.getName() << ": for " << (*found)->name;
      expandExactArithmetic(kernel,
                            /*trustsRemainders=*/environment.isKernel);
      if (!environment.isKernel)
        joinMaxima(kernel);
      narrowDivisions(kernel, /*trustsWide=*/environment.isKernel);
      if (failed(addKernel(kernel, result, **found)))
        return signalPassFailure();
    }
    guardLoops(result);
    if (failed(convertBodies(result, env, environment)))
      return signalPassFailure();
    separateContinues(result);
    if (!environment.isKernel)
      keepArithmetic(result);
    keepNans(result, **found);
    addInterfaces(result, environment);
    if (failed(setRequirements(result, environment,
                               [&](OpPassManager &passes, Operation *op) {
                                 return runPipeline(passes, op);
                               })))
      return signalPassFailure();
  }

  LogicalResult addKernel(gpu::GPUFuncOp kernel, spirv::ModuleOp module,
                          const Chip &chip) {
    OpBuilder b(&getContext());
    b.setInsertionPointToEnd(module.getBody());
    std::optional<ArrayRef<int32_t>> known = kernel.getKnownBlockSize();
    if (!known)
      return kernel.emitError()
             << "target " << chip.target
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
    SmallVector<Value> fields = takeFields(kernel, chip);
    SmallVector<Type> types;
    if (getSpirvEnvironment(chip.target)->isKernel)
      llvm::append_range(types, TypeRange(ValueRange(fields)));
    else
      readParameters(kernel, module, fields);
    auto function =
        spirv::FuncOp::create(b, kernel.getLoc(), kernel.getName(),
                              FunctionType::get(&getContext(), types, {}));
    setFacts(kernel, function, fields);
    function.getBody().takeBody(kernel.getBody());
    Block &body = function.getBody().front();
    unsigned unused = body.getNumArguments();
    for (auto [field, type] : llvm::zip(fields, types))
      field.replaceAllUsesWith(body.addArgument(type, field.getLoc()));
    for (Value field : fields)
      if (Operation *cast = field.getDefiningOp())
        cast->erase();
    body.eraseArguments(0, unused);
    // Launches are verified against it, and look up the kernel's requirements.
    Block &stub = kernel.getBody().emplaceBlock();
    for (Type type : kernel.getFunctionType().getInputs())
      stub.addArgument(type, kernel.getLoc());
    b.setInsertionPointToStart(&stub);
    gpu::ReturnOp::create(b, kernel.getLoc());
    if (failed(convertGpuOps(function, block, chip)))
      return failure();
    // Variables of a function must come first.
    Block &entry = function.getBody().front();
    for (auto variable : llvm::to_vector(entry.getOps<spirv::VariableOp>()))
      variable->moveBefore(&entry, entry.begin());
    b.setInsertionPointToEnd(module.getBody());
    spirv::ExecutionModeOp::create(b, kernel.getLoc(), function,
                                   spirv::ExecutionMode::LocalSize, block);
    if (getSpirvEnvironment(chip.target)->isKernel && chip.hasLanes())
      spirv::ExecutionModeOp::create(b, kernel.getLoc(), function,
                                     spirv::ExecutionMode::SubgroupSize,
                                     {static_cast<int32_t>(chip.subgroupSize)});
    return success();
  }

  /// The value of `type` in the low bytes of `word`.
  static Value narrowWord(ImplicitLocOpBuilder &b, Value word, Type type) {
    if (type.isIndex())
      return arith::IndexCastOp::create(b, type, word);
    unsigned bits = type.getIntOrFloatBitWidth();
    if (type.isF16()) {
      // Less than 32 bits would need integers of 16.
      Value low = arith::TruncIOp::create(b, b.getI32Type(), word);
      Value pair = spirv::BitcastOp::create(b, VectorType::get(2, type), low);
      return spirv::CompositeExtractOp::create(b, pair, ArrayRef<int32_t>{0});
    }
    if (bits < 64)
      word = arith::TruncIOp::create(b, b.getIntegerType(bits), word);
    return isa<FloatType>(type)
               ? arith::BitcastOp::create(b, type, word).getResult()
               : word;
  }

  /// Replaces `fields`, the arguments of a launch of a kernel for Vulkan, by
  /// its push constants if they fit, and else by reads of the memory whose
  /// address is the push constant.
  static void readParameters(gpu::GPUFuncOp kernel, spirv::ModuleOp module,
                             ArrayRef<Value> fields) {
    if (fields.empty())
      return;
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
    Type word = b.getI64Type();
    auto count = static_cast<unsigned>(fields.size());
    bool fits = count <= maxPushedParameters;
    std::string name =
        fits ? (paramsName + Twine(count)).str() : paramsName.str();
    auto variable = module.lookupSymbol<spirv::GlobalVariableOp>(name);
    if (!variable) {
      b.setInsertionPointToStart(module.getBody());
      Type content = fits ? Type(spirv::ArrayType::get(word, count, 8)) : word;
      variable = spirv::GlobalVariableOp::create(
          b,
          spirv::PointerType::get(spirv::StructType::get({content}, {0}),
                                  spirv::StorageClass::PushConstant),
          name);
    }
    b.setInsertionPointToStart(&kernel.getBody().front());
    Value pointer = spirv::AddressOfOp::create(b, variable);
    auto number = [&](unsigned value) -> Value {
      return spirv::ConstantOp::create(b, b.getI32Type(),
                                       b.getI32IntegerAttr(value));
    };
    auto readPushed = [&](ValueRange at) -> Value {
      return spirv::LoadOp::create(
          b, spirv::AccessChainOp::create(b, pointer, at));
    };
    Value block = fits ? Value() : readPushed(number(0));
    for (auto [i, field] : llvm::enumerate(fields)) {
      Value read;
      if (fits) {
        read = readPushed({number(0), number(static_cast<unsigned>(i))});
      } else {
        Value offset =
            arith::ConstantIntOp::create(b, static_cast<int64_t>(8 * i), 64);
        Value address = arith::AddIOp::create(b, block, offset);
        Value from = spirv::ConvertUToPtrOp::create(
            b,
            spirv::PointerType::get(word,
                                    spirv::StorageClass::PhysicalStorageBuffer),
            address);
        read = spirv::LoadOp::create(
            b, from,
            spirv::MemoryAccessAttr::get(b.getContext(),
                                         spirv::MemoryAccess::Aligned),
            b.getI32IntegerAttr(8));
      }
      Value(field).replaceAllUsesWith(narrowWord(b, read, field.getType()));
    }
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
    bool isKernel = getSpirvEnvironment(chip.target)->isKernel;
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
      auto position = cast ? cast->getAttrOfType<IntegerAttr>(
                                 TesseraDialect::FieldAttrHelper::getNameStr())
                           : IntegerAttr();
      ofParameters.push_back(position ? alignments.lookup(position.getInt())
                                      : 0);
    }
    function->setAttr(
        TesseraDialect::ParameterAlignmentsAttrHelper::getNameStr(),
        DenseI64ArrayAttr::get(kernel.getContext(), ofParameters));
  }

  /// The launch arguments that the kernel reads, in their order: placeholders
  /// for fields, and scalars that need none. The kernel keeps a list of their
  /// indices.
  SmallVector<Value> takeFields(gpu::GPUFuncOp kernel, const Chip &chip) {
    SmallVector<std::pair<int64_t, Value>> fields;
    kernel.walk([&](UnrealizedConversionCastOp op) {
      auto position = op->getAttrOfType<IntegerAttr>(
          TesseraDialect::FieldAttrHelper::getNameStr());
      if (!position)
        return;
      if (op->use_empty())
        op.erase();
      else
        fields.emplace_back(position.getInt(), op.getResult(0));
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
    kernel->setAttr(
        TesseraDialect::TakenArgumentsAttrHelper::getNameStr(),
        DenseI64ArrayAttr::get(&getContext(),
                               llvm::map_to_vector(fields, [](const auto &f) {
                                 return f.first;
                               })));
    return llvm::map_to_vector(fields,
                               [](const auto &field) { return field.second; });
  }
};

} // namespace
