//===- LaunchToRuntime.cpp - Host code to LLVM ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/PackedCall.h"
#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Graph/Constants.h"
#include "Runtime/RunnerFunctions.h"
#include "Runtime/Session.h"
#include "Runtime/TensorMap.h"
#include "TensorMaps.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTLAUNCHTORUNTIME
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-launch-to-runtime"

STATISTIC(numConvertedLaunches,
          "Number of launches converted to calls of the runtime");

using namespace mlir;
using namespace mlir::tessera;

static constexpr llvm::StringLiteral launchName = "tessera_rt_launch";
static constexpr llvm::StringLiteral constantName = "tessera_rt_constant";
static constexpr llvm::StringLiteral dataName = "tessera_rt_data";
static constexpr llvm::StringLiteral reportName = "tessera_rt_report";
static constexpr llvm::StringLiteral readName = "tessera_rt_read";
static constexpr llvm::StringLiteral allocateName = "tessera_rt_alloc_array";
static constexpr llvm::StringLiteral allocateSharedName =
    "tessera_rt_alloc_shared";
static constexpr llvm::StringLiteral shareName = "tessera_rt_share";
static constexpr llvm::StringLiteral checkpointValueName =
    "tessera_rt_checkpoint_value";
static constexpr llvm::StringLiteral toDeviceName = "tessera_rt_to_device";
static constexpr llvm::StringLiteral hostAccessName = "tessera_rt_host_access";
static constexpr llvm::StringLiteral exportName = "tessera_rt_export";
static constexpr llvm::StringLiteral endEntryName = "tessera_rt_end_entry";

/// Where the buffers of a program are.
enum class Buffers {
  /// Host code only passes them on.
  OfDevice,
  /// Host code accesses them, in the memory of the device.
  OfHost,
  /// Host code accesses them, and the device has a copy.
  OnBothSides,
};

/// Calls a function of the runtime. Null if another symbol has its name.
static LLVM::CallOp callRuntime(Location loc, StringRef name,
                                ValueRange operands, Type result,
                                ModuleOp module, OpBuilder &builder) {
  FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
      builder, module, name, llvm::to_vector(operands.getTypes()), result);
  return succeeded(callee)
             ? LLVM::CallOp::create(builder, loc, *callee, operands)
             : LLVM::CallOp();
}

/// The address of `text` as a C string, in a constant of that name.
static Value getText(Location loc, StringRef symbol, StringRef text,
                     ModuleOp module, OpBuilder &builder) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    std::string bytes = text.str();
    bytes.push_back('\0');
    global = LLVM::GlobalOp::create(
        builder, loc,
        LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
        builder.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

namespace {

/// gpu.launch_func to tessera_rt_launch.
struct LaunchPattern : ConvertOpToLLVMPattern<gpu::LaunchFuncOp> {
  LaunchPattern(const LLVMTypeConverter &converter, Buffers buffers)
      : ConvertOpToLLVMPattern(converter), buffers(buffers) {}

  /// The device's address for one of the host, of any address space.
  static FailureOr<Value> moveToDevice(Value host, LLVM::LLVMPointerType type,
                                       Location loc, ModuleOp module,
                                       ConversionPatternRewriter &rewriter) {
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
    bool isCast = type != pointer;
    if (isCast)
      host = LLVM::AddrSpaceCastOp::create(rewriter, loc, pointer, host);
    auto call = callRuntime(loc, toDeviceName, host, pointer, module, rewriter);
    if (!call)
      return failure();
    Value device = call.getResult();
    if (isCast)
      device = LLVM::AddrSpaceCastOp::create(rewriter, loc, type, device);
    return device;
  }

  /// The operands as the kernel gets them.
  FailureOr<SmallVector<Value>>
  getKernelOperands(gpu::LaunchFuncOp op, OpAdaptor adaptor, ModuleOp module,
                    ConversionPatternRewriter &rewriter) const {
    SmallVector<Value> operands(adaptor.getKernelOperands());
    if (buffers != Buffers::OnBothSides)
      return operands;
    for (auto [value, converted] :
         llvm::zip_equal(op.getKernelOperands(), operands)) {
      // A pointer that host code computed, as from the address of a buffer.
      if (auto type = dyn_cast<LLVM::LLVMPointerType>(value.getType())) {
        FailureOr<Value> moved =
            moveToDevice(converted, type, op.getLoc(), module, rewriter);
        if (failed(moved))
          return failure();
        converted = *moved;
      }
      if (!isa<MemRefType>(value.getType()))
        continue;
      MemRefDescriptor descriptor(converted);
      Value aligned = descriptor.alignedPtr(rewriter, op.getLoc());
      FailureOr<Value> moved =
          moveToDevice(aligned, cast<LLVM::LLVMPointerType>(aligned.getType()),
                       op.getLoc(), module, rewriter);
      if (failed(moved))
        return failure();
      descriptor.setAllocatedPtr(rewriter, op.getLoc(), *moved);
      descriptor.setAlignedPtr(rewriter, op.getLoc(), *moved);
      converted = descriptor;
    }
    return operands;
  }

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getAsyncToken() || !op.getAsyncDependencies().empty())
      return op.emitError() << "asynchronous launches are not supported: "
                               "remove the token (launches run in order)";
    if (op.hasClusterSize())
      return op.emitError() << "launches in clusters are not supported: remove "
                               "the cluster size";
    Location loc = op.getLoc();
    auto module = op->getParentOfType<ModuleOp>();
    Type i64 = rewriter.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc, i64,
                                      rewriter.getI64IntegerAttr(value));
    };

    FailureOr<SmallVector<Value>> kernelOperands =
        getKernelOperands(op, adaptor, module, rewriter);
    if (failed(kernelOperands))
      return rewriter.notifyMatchFailure(
          op, "another symbol has the name of a function of the runtime");
    SmallVector<Value> arguments = getTypeConverter()->promoteOperands(
        loc, op.getKernelOperands(), *kernelOperands, rewriter,
        /*useBarePtrCallConv=*/false);
    if (auto taken = op->getAttrOfType<DenseI64ArrayAttr>(
            TesseraDialect::TakenArgumentsAttrHelper::getNameStr())) {
      SmallVector<Value> all;
      all.swap(arguments);
      for (int64_t position : taken.asArrayRef()) {
        if (position < 0 || position >= static_cast<int64_t>(all.size()))
          return op.emitError()
                 << TesseraDialect::TakenArgumentsAttrHelper::getNameStr()
                 << " contains argument " << position
                 << ", but the number of arguments is " << all.size();
        arguments.push_back(all[position]);
      }
    }
    int64_t count = arguments.size() + countTensorMaps(op);
    auto allocate = [&](Type type) -> Value {
      return LLVM::AllocaOp::create(rewriter, loc, pointer, type,
                                    constant(std::max<int64_t>(count, 1)));
    };
    DataLayout layout(module);
    // The stack slots are released after this launch, even in a loop.
    Value saved = LLVM::StackSaveOp::create(rewriter, loc, pointer);
    Value array = allocate(pointer), sizes = allocate(i64);
    int32_t next = 0;
    auto append = [&](Value slot, int64_t bytes) {
      LLVM::GEPArg index(next);
      Value position =
          LLVM::GEPOp::create(rewriter, loc, pointer, pointer, array, index);
      LLVM::StoreOp::create(rewriter, loc, slot, position);
      Value size =
          LLVM::GEPOp::create(rewriter, loc, pointer, i64, sizes, index);
      LLVM::StoreOp::create(rewriter, loc, constant(bytes), size);
      ++next;
    };
    for (Value argument : arguments) {
      Value slot = LLVM::AllocaOp::create(rewriter, loc, pointer,
                                          argument.getType(), constant(1));
      LLVM::StoreOp::create(rewriter, loc, argument, slot);
      append(slot, layout.getTypeSize(argument.getType()).getFixedValue());
    }
    FailureOr<SmallVector<Value>> maps =
        makeTensorMaps(op, *kernelOperands, rewriter);
    if (failed(maps))
      return rewriter.notifyMatchFailure(op, "no tensor maps");
    for (Value map : *maps)
      append(map, ::tessera::runtime::tensorMapBytes);

    int64_t bytes = 0;
    if (auto packed = op->getAttrOfType<IntegerAttr>(
            TesseraDialect::WorkgroupBytesAttrHelper::getNameStr()))
      bytes = packed.getInt();
    Value dynamicBytes = constant(bytes);
    if (Value more = adaptor.getDynamicSharedMemorySize())
      dynamicBytes =
          LLVM::AddOp::create(rewriter, loc, dynamicBytes,
                              LLVM::ZExtOp::create(rewriter, loc, i64, more));

    Value threads = adaptor.getBlockSizeX();
    if (auto more = op->getAttrOfType<IntegerAttr>(
            TesseraDialect::ProducerThreadsAttrHelper::getNameStr()))
      threads =
          LLVM::AddOp::create(rewriter, loc, threads, constant(more.getInt()));
    std::string kernel = op.getKernelName().getValue().str();
    Value name =
        getText(loc, "__tessera_name_" + kernel, kernel, module, rewriter);
    SmallVector<Value> operands{name,
                                adaptor.getGridSizeX(),
                                adaptor.getGridSizeY(),
                                adaptor.getGridSizeZ(),
                                threads,
                                adaptor.getBlockSizeY(),
                                adaptor.getBlockSizeZ(),
                                dynamicBytes,
                                constant(count),
                                array,
                                sizes};
    SmallVector<Type> types;
    for (Value operand : operands)
      types.push_back(operand.getType());
    FailureOr<LLVM::LLVMFuncOp> callee =
        LLVM::lookupOrCreateFn(rewriter, module, launchName, types,
                               LLVM::LLVMVoidType::get(rewriter.getContext()));
    if (failed(callee))
      return rewriter.notifyMatchFailure(
          op, "another symbol has the name of a function of the runtime");
    LDBG() << loc << ": " << kernel << " with " << count << " arguments";
    ++numConvertedLaunches;
    LLVM::CallOp::create(rewriter, loc, *callee, operands);
    LLVM::StackRestoreOp::create(rewriter, loc, saved);
    rewriter.eraseOp(op);
    return success();
  }

private:
  Buffers buffers;
};

/// memref.alloc and memref.alloca to tessera_rt_alloc_array, which checks the
/// sizes: upstream's lowering multiplies them modulo 2^64. The stack is not in
/// the device's memory, so that its buffers last until the end of the run.
template <typename AllocOp>
struct AllocPattern : ConvertOpToLLVMPattern<AllocOp> {
  using Base = ConvertOpToLLVMPattern<AllocOp>;
  using Base::createMemRefDescriptor;
  using Base::getMemRefDescriptorSizes;
  using Base::getTypeConverter;
  using Base::isConvertibleAndHasIdentityMaps;
  using OpAdaptor = typename Base::OpAdaptor;

  AllocPattern(const LLVMTypeConverter &converter,
               llvm::StringMap<std::string> &texts, Buffers buffers,
               PatternBenefit benefit)
      : Base(converter, benefit), texts(texts), buffers(buffers) {}

  LogicalResult
  matchAndRewrite(AllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemRefType type = op.getType();
    Type element = getTypeConverter()->convertType(type.getElementType());
    if (!element || !isConvertibleAndHasIdentityMaps(type))
      return rewriter.notifyMatchFailure(
          op, "memref with a layout other than the identity");
    auto module = op->template getParentOfType<ModuleOp>();
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
    Type i64 = rewriter.getI64Type();
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc, i64,
                                      rewriter.getI64IntegerAttr(value));
    };
    SmallVector<Value> sizes, strides;
    Value total;
    getMemRefDescriptorSizes(loc, type, adaptor.getDynamicSizes(), rewriter,
                             sizes, strides, total, /*sizeInBytes=*/false);

    // The stack slots are released after this call, even in a loop.
    Value saved = LLVM::StackSaveOp::create(rewriter, loc, pointer);
    Value array =
        LLVM::AllocaOp::create(rewriter, loc, pointer, i64,
                               constant(std::max<int64_t>(sizes.size(), 1)));
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      Value slot = LLVM::GEPOp::create(
          rewriter, loc, pointer, i64, array,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(dim)});
      LLVM::StoreOp::create(rewriter, loc, size, slot);
    }
    auto alignment = static_cast<int64_t>(op.getAlignment().value_or(1));
    auto bytes = static_cast<int64_t>(
        DataLayout(module).getTypeSize(element).getFixedValue());
    std::string name;
    llvm::raw_string_ostream(name) << type.getElementType();
    if (auto position = loc->findInstanceOf<FileLineColLoc>())
      llvm::raw_string_ostream(name)
          << " at " << position.getFilename().getValue() << ":"
          << position.getLine() << ":" << position.getColumn();
    SmallVector<Value> operands{
        constant(alignment), constant(sizes.size()), array, constant(bytes),
        getText(loc, getSymbol(name), name, module, rewriter)};
    bool isShared = buffers != Buffers::OfDevice;
    if (isShared)
      operands.insert(operands.begin(),
                      constant(buffers == Buffers::OnBothSides));
    auto call = callRuntime(loc, isShared ? allocateSharedName : allocateName,
                            operands, pointer, module, rewriter);
    if (!call)
      return rewriter.notifyMatchFailure(
          op, "another symbol has the name of a function of the runtime");
    Value memory = call.getResult();
    LLVM::StackRestoreOp::create(rewriter, loc, saved);
    Value descriptor = createMemRefDescriptor(loc, type, memory, memory, sizes,
                                              strides, rewriter);
    rewriter.replaceOp(op, descriptor);
    return success();
  }

private:
  /// The symbol of a text: one for each, numbered in the order of their first
  /// use.
  std::string getSymbol(StringRef text) const {
    auto [entry, isNew] = texts.try_emplace(text);
    if (isNew)
      entry->second = "__tessera_array_" + std::to_string(texts.size() - 1);
    return entry->second;
  }

  llvm::StringMap<std::string> &texts;
  Buffers buffers;
};

/// The bits of an element of a buffer.
static int64_t getBits(Type element) {
  if (element.isIndex())
    return 64;
  if (auto number = dyn_cast<ComplexType>(element))
    return 2 * getBits(number.getElementType());
  if (auto vector = dyn_cast<VectorType>(element))
    return vector.getNumElements() * getBits(vector.getElementType());
  return element.getIntOrFloatBitWidth();
}

/// memref.get_global to a copy of it on the device. Constants that are data
/// beside the host code have numbers.
struct ConstantPattern : ConvertOpToLLVMPattern<memref::GetGlobalOp> {
  ConstantPattern(const LLVMTypeConverter &converter, Buffers buffers,
                  const llvm::StringSet<> &constants, PatternBenefit benefit)
      : ConvertOpToLLVMPattern(converter, benefit), buffers(buffers),
        constants(constants) {}

  LogicalResult
  matchAndRewrite(memref::GetGlobalOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getType());
    auto module = op->getParentOfType<ModuleOp>();
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
    Type i64 = rewriter.getI64Type();
    std::optional<int64_t> number = getDataNumber(op.getName());
    Value which =
        number ? LLVM::ConstantOp::create(rewriter, loc, i64,
                                          rewriter.getI64IntegerAttr(*number))
                     .getResult()
               : LLVM::AddressOfOp::create(rewriter, loc, pointer, op.getName())
                     .getResult();
    int64_t bits = getBits(type.getElementType());
    Value bytes = LLVM::ConstantOp::create(
        rewriter, loc, i64,
        rewriter.getI64IntegerAttr(type.getNumElements() *
                                   llvm::divideCeil(bits, 8)));
    bool isOnBothSides = buffers == Buffers::OnBothSides;
    Value memory = which;
    if (number || !isOnBothSides) {
      auto call = callRuntime(loc, number ? dataName : constantName,
                              {which, bytes}, pointer, module, rewriter);
      if (!call)
        return rewriter.notifyMatchFailure(
            op, "another symbol has the name of a function of the runtime");
      memory = call.getResult();
    }
    if (isOnBothSides) {
      using ::tessera::runtime::SharedKind;
      SharedKind kind = number ? SharedKind::Device
                        : constants.contains(op.getName())
                            ? SharedKind::Constant
                            : SharedKind::Variable;
      Value kindValue = LLVM::ConstantOp::create(
          rewriter, loc, i64,
          rewriter.getI64IntegerAttr(static_cast<int64_t>(kind)));
      auto call = callRuntime(loc, shareName, {memory, bytes, kindValue},
                              pointer, module, rewriter);
      if (!call)
        return rewriter.notifyMatchFailure(
            op, "another symbol has the name of a function of the runtime");
      memory = call.getResult();
    }
    rewriter.replaceOp(op,
                       {MemRefDescriptor::fromStaticShape(
                           rewriter, loc, *getTypeConverter(), type, memory)});
    return success();
  }

private:
  Buffers buffers;
  const llvm::StringSet<> &constants;
};

/// Whether a memref is on the stack of the host.
static bool isOnStack(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory.getDefiningOp<memref::AllocaOp>() != nullptr;
}

/// Whether host code may read the only element of the memref.
static bool isScalar(MemRefType type) {
  return type.hasStaticShape() && type.getNumElements() == 1 &&
         type.getElementType().isIntOrIndexOrFloat();
}

/// memref.load of a scalar in device memory to tessera_rt_read.
struct ReadPattern : ConvertOpToLLVMPattern<memref::LoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (isOnStack(op.getMemRef()) || !isScalar(type))
      return rewriter.notifyMatchFailure(op, "not a scalar of the device");
    Location loc = op.getLoc();
    auto module = op->getParentOfType<ModuleOp>();
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
    Type i64 = rewriter.getI64Type();
    Type element = getTypeConverter()->convertType(type.getElementType());
    FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
        rewriter, module, readName, {pointer, pointer, i64},
        LLVM::LLVMVoidType::get(rewriter.getContext()));
    if (failed(callee))
      return rewriter.notifyMatchFailure(
          op, "another symbol has the name of a function of the runtime");
    auto constant = [&](int64_t value) {
      return LLVM::ConstantOp::create(rewriter, loc, i64,
                                      rewriter.getI64IntegerAttr(value));
    };
    auto bytes = static_cast<int64_t>(
        DataLayout(module).getTypeSize(element).getFixedValue());
    // The stack slot is released after this read, even in a loop.
    Value saved = LLVM::StackSaveOp::create(rewriter, loc, pointer);
    Value slot =
        LLVM::AllocaOp::create(rewriter, loc, pointer, element, constant(1));
    Value address = getStridedElementPtr(
        rewriter, loc, type, adaptor.getMemref(), adaptor.getIndices());
    LLVM::CallOp::create(rewriter, loc, *callee,
                         ValueRange{slot, address, constant(bytes)});
    Value value = LLVM::LoadOp::create(rewriter, loc, element, slot);
    LLVM::StackRestoreOp::create(rewriter, loc, saved);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct ConvertLaunchToRuntimePass
    : public mlir::tessera::impl::ConvertLaunchToRuntimeBase<
          ConvertLaunchToRuntimePass> {
  using ConvertLaunchToRuntimeBase::ConvertLaunchToRuntimeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    SmallVector<Operation *> accesses = findAccesses(module);
    if (planned && !accesses.empty()) {
      accesses.front()->emitError()
          << "host code accesses a buffer or prints, which a bundle does not "
             "support: do so in a kernel, or run the program from its source";
      return signalPassFailure();
    }
    Buffers buffers = accesses.empty() ? Buffers::OfDevice
                      : separateMemory ? Buffers::OnBothSides
                                       : Buffers::OfHost;
    if (buffers == Buffers::OnBothSides) {
      for (Operation *access : accesses)
        if (failed(precedeAccess(access, module)))
          return signalPassFailure();
      passDeviceAddresses(module);
    }
    llvm::StringSet<> constants;
    for (auto global : module.getOps<memref::GlobalOp>())
      if (global.getConstant())
        constants.insert(global.getName());
    llvm::DenseMap<StringAttr, FunctionType> entries;
    for (auto function : module.getOps<func::FuncOp>())
      entries[function.getNameAttr()] = function.getFunctionType();
    // The attributes of its kernel that a launch needs.
    module.walk([&](gpu::LaunchFuncOp launch) {
      if (Operation *kernel = SymbolTable::lookupNearestSymbolFrom(
              launch, launch.getKernelAttr()))
        for (StringRef name :
             {TesseraDialect::WorkgroupBytesAttrHelper::getNameStr(),
              TesseraDialect::TensorMapsAttrHelper::getNameStr(),
              TesseraDialect::ProducerThreadsAttrHelper::getNameStr(),
              TesseraDialect::TakenArgumentsAttrHelper::getNameStr()})
          if (Attribute value = kernel->getAttr(name))
            launch->setAttr(name, value);
    });
    for (auto kernels : llvm::to_vector(module.getOps<gpu::GPUModuleOp>()))
      kernels.erase();
    // The runtime has what they stand for.
    for (auto global : llvm::to_vector(module.getOps<memref::GlobalOp>()))
      if (getDataNumber(global.getName()))
        global.erase();
    if (failed(reportAsserts(module)) || failed(lowerVectors(module)) ||
        failed(lowerParallelLoops(module)))
      return signalPassFailure();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());

    LowerToLLVMOptions options(context);
    options.useGenericFunctions = true;
    LLVMTypeConverter converter(context, options);
    converter.addTypeAttributeConversion(
        [](BaseMemRefType type, gpu::AddressSpaceAttr) -> Attribute {
          return IntegerAttr::get(IntegerType::get(type.getContext(), 64), 0);
        });
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateComplexToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    patterns.add<LaunchPattern>(converter, buffers);
    patterns.add<ConstantPattern>(converter, buffers, constants, /*benefit=*/2);
    if (buffers == Buffers::OfDevice)
      patterns.add<ReadPattern>(converter, /*benefit=*/2);
    llvm::StringMap<std::string> arrayTexts;
    patterns.add<AllocPattern<memref::AllocOp>, AllocPattern<memref::AllocaOp>>(
        converter, arrayTexts, buffers,
        /*benefit=*/2);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>()))
      if (!function.isExternal())
        pack(function, buffers == Buffers::OnBothSides
                           ? entries.lookup(function.getNameAttr())
                           : FunctionType());
  }

  /// Lowers vector ops that have no counterpart in LLVM, as upstream's
  /// `convert-vector-to-llvm` does first.
  LogicalResult lowerVectors(ModuleOp module) {
    WalkResult vectors = module.walk([](Operation *op) {
      return isa_and_present<vector::VectorDialect>(op->getDialect())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!vectors.wasInterrupted())
      return success();
    RewritePatternSet patterns(&getContext());
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorInterleaveLoweringPatterns(patterns);
    vector::populateVectorBitCastLoweringPatterns(patterns);
    vector::populateVectorScanLoweringPatterns(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    vector::populateVectorGatherLoweringPatterns(patterns);
    vector::populateVectorShuffleLoweringPatterns(patterns);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorMaskMaterializationPatterns(
        patterns, /*force32BitVectorIndices=*/false);
    vector::populateVectorRankReducingFMAPattern(patterns);
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    vector::populateVectorToElementsUnrollPatterns(patterns);
    return applyPatternsGreedily(module, std::move(patterns));
  }

  /// Lowers control flow with parallel loops, which become sequential. The full
  /// conversion would reject the terminators of the loops that they become.
  LogicalResult lowerParallelLoops(ModuleOp module) {
    WalkResult loops = module.walk([](Operation *op) {
      return isa<scf::ParallelOp, scf::ForallOp>(op) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
    });
    if (!loops.wasInterrupted())
      return success();
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target
        .addIllegalOp<scf::ForallOp, scf::ForOp, scf::IfOp, scf::IndexSwitchOp,
                      scf::ParallelOp, scf::WhileOp, scf::ExecuteRegionOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(module, target, std::move(patterns));
  }

  /// A failed assertion is the session's error. Host code continues to its end,
  /// since it launches nothing and receives no memory from then on.
  LogicalResult reportAsserts(ModuleOp module) {
    SmallVector<cf::AssertOp> asserts;
    module.walk([&](cf::AssertOp op) { asserts.push_back(op); });
    OpBuilder builder(&getContext());
    for (auto [i, op] : llvm::enumerate(asserts)) {
      Location loc = op.getLoc();
      builder.setInsertionPoint(op);
      Value holds = op.getArg();
      Value fails = arith::XOrIOp::create(
          builder, loc, holds,
          arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
      auto branch = scf::IfOp::create(builder, loc, fails);
      builder.setInsertionPointToStart(branch.thenBlock());
      FailureOr<LLVM::LLVMFuncOp> callee =
          LLVM::lookupOrCreateFn(builder, module, reportName,
                                 {LLVM::LLVMPointerType::get(&getContext())},
                                 LLVM::LLVMVoidType::get(&getContext()));
      if (failed(callee))
        return failure();
      Value text =
          getText(loc, "__tessera_check_" + std::to_string(i),
                  "assertion failed: " + op.getMsg().str(), module, builder);
      LLVM::CallOp::create(builder, loc, *callee, ValueRange{text});
      op.erase();
    }
    return success();
  }

  /// The ops of host code that access buffers or print, other than loads of
  /// scalars, for which the runtime has a function.
  SmallVector<Operation *> findAccesses(ModuleOp module) {
    SmallVector<Operation *> accesses, scalars;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      auto load = dyn_cast<memref::LoadOp>(op);
      if (load && isScalar(load.getMemRefType()))
        scalars.push_back(op);
      else if (isAccess(op))
        accesses.push_back(op);
      return WalkResult::advance();
    });
    if (!accesses.empty())
      llvm::append_range(accesses, scalars);
    return accesses;
  }

  static bool isAccess(Operation *op) {
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      auto callee =
          dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
      return callee && callee.isExternal() && !isForeign(callee);
    }
    if (isa<vector::PrintOp>(op))
      return true;
    if (isa<gpu::LaunchFuncOp, memref::GetGlobalOp>(op) ||
        op->getNumRegions() != 0)
      return false;
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    return effects &&
           (effects.hasEffect<MemoryEffects::Read>() ||
            effects.hasEffect<MemoryEffects::Write>()) &&
           !isa<cf::AssertOp>(op);
  }

  /// Whether a function without a body is not one of upstream's runners.
  static bool isForeign(FunctionOpInterface function) {
    return !::tessera::runtime::findRunnerFunction(function.getName()) &&
           !::tessera::runtime::findRunnerFunction(
               (::tessera::runtime::cInterfacePrefix + function.getName())
                   .str());
  }

  /// Makes the memory that an op accesses current on the host.
  static LogicalResult precedeAccess(Operation *op, ModuleOp module) {
    // Functions that print do so themselves.
    if (isa<CallOpInterface>(op))
      return success();
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto pointer = LLVM::LLVMPointerType::get(op->getContext());
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value memory = operand.get();
      bool isMemRef = isa<MemRefType>(memory.getType());
      if (!effects ||
          (!isMemRef && !isa<LLVM::LLVMPointerType>(memory.getType())))
        continue;
      SmallVector<MemoryEffects::EffectInstance> instances;
      effects.getEffects(instances);
      bool isRead = false, isWrite = false;
      for (const MemoryEffects::EffectInstance &instance : instances)
        if (!instance.getValue() || instance.getValue() == memory) {
          isRead |= isa<MemoryEffects::Read>(instance.getEffect());
          isWrite |= isa<MemoryEffects::Write>(instance.getEffect());
        }
      if (!isRead && !isWrite)
        continue;
      Value address = memory;
      if (isMemRef) {
        address = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc,
                                                                 memory);
        address = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                             address);
        address = LLVM::IntToPtrOp::create(builder, loc, pointer, address);
      }
      Value write =
          LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                   builder.getI64IntegerAttr(isWrite ? 1 : 0));
      if (!callRuntime(loc, hostAccessName, {address, write},
                       LLVM::LLVMVoidType::get(op->getContext()), module,
                       builder))
        return op->emitError()
               << "another symbol has the name '" << hostAccessName << "'";
    }
    return success();
  }

  /// Checkpoints get the addresses of buffers on the device.
  static void passDeviceAddresses(ModuleOp module) {
    auto pointer = LLVM::LLVMPointerType::get(module.getContext());
    module.walk([&](func::CallOp call) {
      if (call.getCallee() != checkpointValueName)
        return;
      auto cast = call.getOperand(0).getDefiningOp<arith::IndexCastOp>();
      if (!cast ||
          !cast.getIn().getDefiningOp<memref::ExtractAlignedPointerAsIndexOp>())
        return;
      OpBuilder builder(call);
      Location loc = call.getLoc();
      Value host =
          LLVM::IntToPtrOp::create(builder, loc, pointer, call.getOperand(0));
      if (auto device =
              callRuntime(loc, toDeviceName, host, pointer, module, builder))
        call.setOperand(0, LLVM::PtrToIntOp::create(builder, loc,
                                                    builder.getI64Type(),
                                                    device.getResult()));
    });
  }

  /// The arguments of an entry point are in device memory: replaces them by
  /// what host code accesses.
  void shareArguments(FunctionType type, SmallVectorImpl<Value> &arguments,
                      Location loc, ModuleOp module, OpBuilder &builder) {
    Type i64 = builder.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc, i64,
                                      builder.getI64IntegerAttr(value));
    };
    size_t next = 0;
    for (Type input : type.getInputs()) {
      auto memref = dyn_cast<MemRefType>(input);
      if (!memref) {
        ++next;
        continue;
      }
      // Two pointers, the offset, the sizes and the strides of a dense array.
      Value count = constant(1);
      for (int64_t dim = 0; dim < memref.getRank(); ++dim)
        count =
            LLVM::MulOp::create(builder, loc, count, arguments[next + 3 + dim]);
      int64_t bits = getBits(memref.getElementType());
      Value bytes = LLVM::LShrOp::create(
          builder, loc,
          LLVM::AddOp::create(
              builder, loc,
              LLVM::MulOp::create(builder, loc, count, constant(bits)),
              constant(7)),
          constant(3));
      using ::tessera::runtime::SharedKind;
      Value kind = constant(static_cast<int64_t>(SharedKind::Device));
      auto call =
          callRuntime(loc, shareName, {arguments[next + 1], bytes, kind},
                      pointer, module, builder);
      arguments[next] = arguments[next + 1] = call.getResult();
      next += 3 + 2 * memref.getRank();
    }
  }

  /// The results of an entry point with the addresses of device memory.
  Value exportResults(FunctionType type, Value result, Location loc,
                      ModuleOp module, OpBuilder &builder) {
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto exportAt = [&](ArrayRef<int64_t> path) {
      SmallVector<int64_t> allocated(path), aligned(path);
      allocated.push_back(0);
      aligned.push_back(1);
      Value address =
          LLVM::ExtractValueOp::create(builder, loc, result, aligned);
      auto call =
          callRuntime(loc, exportName, address, pointer, module, builder);
      for (ArrayRef<int64_t> position : {allocated, aligned})
        result = LLVM::InsertValueOp::create(builder, loc, result,
                                             call.getResult(), position);
    };
    for (auto [i, output] : llvm::enumerate(type.getResults()))
      if (isa<MemRefType>(output)) {
        if (type.getNumResults() == 1)
          exportAt({});
        else
          exportAt(static_cast<int64_t>(i));
      }
    return result;
  }

  /// `__tessera_f(ptr)`, which the runner calls. `shared` is the type of the
  /// function if it accesses buffers that have a copy on the device; else null.
  void pack(LLVM::LLVMFuncOp function, FunctionType shared) {
    OpBuilder builder(function);
    Location loc = function.getLoc();
    auto module = function->getParentOfType<ModuleOp>();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    builder.setInsertionPointAfter(function);
    auto wrapper = LLVM::LLVMFuncOp::create(
        builder, loc, getPackedName(function.getName()),
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                    {pointer}));
    builder.setInsertionPointToStart(wrapper.addEntryBlock(builder));
    Value array = wrapper.getArgument(0);
    unsigned count = function.getNumArguments();
    SmallVector<Value> arguments =
        unpackArguments(builder, loc, function, array, count);
    if (shared)
      shareArguments(shared, arguments, loc, module, builder);
    auto call = LLVM::CallOp::create(builder, loc, function, arguments);
    if (call.getNumResults()) {
      Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, array,
                                       ArrayRef<LLVM::GEPArg>{int32_t(count)});
      Value address = LLVM::LoadOp::create(builder, loc, pointer, slot);
      Value result = call.getResult();
      if (shared)
        result = exportResults(shared, result, loc, module, builder);
      LLVM::StoreOp::create(builder, loc, result, address);
    }
    if (shared)
      (void)callRuntime(loc, endEntryName, {},
                        LLVM::LLVMVoidType::get(&getContext()), module,
                        builder);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }
};

} // namespace
