//===- LaunchToRuntime.cpp - Host code to LLVM ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/PackedCall.h"
#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Graph/Constants.h"
#include "Runtime/TensorMap.h"
#include "TensorMaps.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringMap.h"
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
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

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

    SmallVector<Value> arguments = getTypeConverter()->promoteOperands(
        loc, op.getKernelOperands(), adaptor.getKernelOperands(), rewriter,
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
        makeTensorMaps(op, adaptor.getKernelOperands(), rewriter);
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
               llvm::StringMap<std::string> &texts, PatternBenefit benefit)
      : Base(converter, benefit), texts(texts) {}

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
    FailureOr<LLVM::LLVMFuncOp> callee =
        LLVM::lookupOrCreateFn(rewriter, module, allocateName,
                               {i64, i64, pointer, i64, pointer}, pointer);
    if (failed(callee))
      return rewriter.notifyMatchFailure(
          op, "another symbol has the name of a function of the runtime");
    Value memory =
        LLVM::CallOp::create(rewriter, loc, *callee, operands).getResult();
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
};

/// memref.get_global to a copy of it on the device. Constants that are data
/// beside the host code have numbers.
struct ConstantPattern : ConvertOpToLLVMPattern<memref::GetGlobalOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

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
    int64_t bits =
        type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    Value bytes = LLVM::ConstantOp::create(
        rewriter, loc, i64,
        rewriter.getI64IntegerAttr(type.getNumElements() *
                                   llvm::divideCeil(bits, 8)));
    FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
        rewriter, module, number ? dataName : constantName,
        {which.getType(), i64}, pointer);
    if (failed(callee))
      return rewriter.notifyMatchFailure(
          op, "another symbol has the name of a function of the runtime");
    Value device =
        LLVM::CallOp::create(rewriter, loc, *callee, ValueRange{which, bytes})
            .getResult();
    rewriter.replaceOp(op,
                       {MemRefDescriptor::fromStaticShape(
                           rewriter, loc, *getTypeConverter(), type, device)});
    return success();
  }
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
    if (failed(checkHost(module)))
      return signalPassFailure();
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
    if (failed(reportAsserts(module)))
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
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    patterns.add<LaunchPattern>(converter);
    patterns.add<ConstantPattern>(converter, /*benefit=*/2);
    patterns.add<ReadPattern>(converter, /*benefit=*/2);
    llvm::StringMap<std::string> arrayTexts;
    patterns.add<AllocPattern<memref::AllocOp>, AllocPattern<memref::AllocaOp>>(
        converter, arrayTexts,
        /*benefit=*/2);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>()))
      if (!function.isExternal())
        pack(function);
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

  /// Rejects host code that accesses buffers in device memory.
  LogicalResult checkHost(ModuleOp module) {
    WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      auto load = dyn_cast<memref::LoadOp>(op);
      if (load && isScalar(load.getMemRefType()))
        return WalkResult::advance();
      if (separateMemory &&
          isa<memref::LoadOp, memref::StoreOp, memref::CopyOp>(op)) {
        op->emitError() << "host code accesses a buffer in device memory: "
                           "access it in a kernel, or pass the value as a "
                           "scalar argument";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// `__tessera_f(ptr)`, which the runner calls.
  void pack(LLVM::LLVMFuncOp function) {
    OpBuilder builder(function);
    Location loc = function.getLoc();
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
    auto call = LLVM::CallOp::create(builder, loc, function, arguments);
    if (call.getNumResults()) {
      Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, array,
                                       ArrayRef<LLVM::GEPArg>{int32_t(count)});
      Value address = LLVM::LoadOp::create(builder, loc, pointer, slot);
      LLVM::StoreOp::create(builder, loc, call.getResult(), address);
    }
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }
};

} // namespace
