//===- PlaceTensorMaps.cpp - Tensor maps as parameters of kernels ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Runtime/TensorMap.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_PLACETENSORMAPS
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-place-tensor-maps"

STATISTIC(numPlacedMaps, "Number of tensor maps made parameters of kernels");

using namespace mlir;
using namespace mlir::tessera;

static constexpr llvm::StringLiteral symbolName = "symbol";

/// The type that the driver's CUtensorMap has in a kernel's parameters.
static Type getMapType(MLIRContext *context) {
  return LLVM::LLVMArrayType::get(IntegerType::get(context, 8),
                                  ::tessera::runtime::tensorMapBytes);
}

/// A `__grid_constant__` parameter: its address may be taken without a copy.
static DictionaryAttr getParameterAttrs(MLIRContext *context) {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(LLVM::LLVMDialect::getByValAttrName(),
                            TypeAttr::get(getMapType(context))),
       builder.getNamedAttr(
           LLVM::LLVMDialect::getAlignAttrName(),
           builder.getI64IntegerAttr(::tessera::runtime::tensorMapAlignment)),
       builder.getNamedAttr(NVVM::NVVMDialect::getGridConstantAttrName(),
                            builder.getUnitAttr())});
}

namespace {

struct PlaceTensorMapsPass
    : public mlir::tessera::impl::PlaceTensorMapsBase<PlaceTensorMapsPass> {
  void runOnOperation() override {
    gpu::GPUModuleOp kernels = getOperation();
    SymbolTable symbols(kernels);
    llvm::SetVector<Operation *> placed;
    for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
      if (failed(place(kernel, symbols, placed)))
        return signalPassFailure();
    if (placed.empty())
      return;
    if (failed(checkUnused(kernels, symbols, placed)))
      return signalPassFailure();
    for (Operation *global : placed)
      symbols.erase(global);
  }

  /// Gives the kernel a parameter for each map that has a symbol, and adds the
  /// globals to `placed`.
  static LogicalResult place(LLVM::LLVMFuncOp kernel, SymbolTable &symbols,
                             llvm::SetVector<Operation *> &placed) {
    auto maps = kernel->getAttrOfType<ArrayAttr>(
        TesseraDialect::TensorMapsAttrHelper::getNameStr());
    if (!maps)
      return success();
    llvm::DenseMap<StringRef, unsigned> parameters;
    SmallVector<Attribute> rest;
    for (Attribute entry : maps) {
      auto map = cast<DictionaryAttr>(entry);
      auto symbol = map.getAs<FlatSymbolRefAttr>(symbolName);
      if (symbol) {
        FailureOr<LLVM::GlobalOp> global = find(kernel, symbol, symbols);
        if (failed(global))
          return failure();
        LDBG() << kernel.getName() << ": " << symbol << " is parameter "
               << kernel.getNumArguments();
        ++numPlacedMaps;
        placed.insert(*global);
        parameters.try_emplace(symbol.getValue(), kernel.getNumArguments());
        addParameter(kernel);
      }
      NamedAttrList others(map);
      others.erase(symbolName);
      rest.push_back(others.getDictionary(kernel.getContext()));
    }
    kernel->setAttr(TesseraDialect::TensorMapsAttrHelper::getNameStr(),
                    ArrayAttr::get(kernel.getContext(), rest));
    kernel.walk([&](LLVM::AddressOfOp address) {
      auto found = parameters.find(address.getGlobalName());
      if (found == parameters.end())
        return;
      address.replaceAllUsesWith(kernel.getArgument(found->second));
      address.erase();
    });
    return success();
  }

  /// The global that represents a map.
  static FailureOr<LLVM::GlobalOp>
  find(LLVM::LLVMFuncOp kernel, FlatSymbolRefAttr name, SymbolTable &symbols) {
    auto global = symbols.lookup<LLVM::GlobalOp>(name.getAttr());
    Type type = getMapType(kernel.getContext());
    if (global && global.getGlobalType() == type && global.getAddrSpace() == 0)
      return global;
    return kernel.emitError()
           << "tensor map " << name << " must be an llvm.mlir.global of "
           << type << ", in address space 0 of the kernel's module";
  }

  static void addParameter(LLVM::LLVMFuncOp kernel) {
    MLIRContext *context = kernel.getContext();
    unsigned count = kernel.getNumArguments();
    Type pointer = LLVM::LLVMPointerType::get(context);
    LLVM::LLVMFunctionType type = kernel.getFunctionType();
    SmallVector<Type> types(type.getParams());
    types.push_back(pointer);
    function_interface_impl::insertFunctionArguments(
        kernel, {count}, {pointer}, {getParameterAttrs(context)},
        {kernel.getLoc()}, count,
        LLVM::LLVMFunctionType::get(type.getReturnType(), types));
  }

  /// A map's address is known in the kernels that list it only.
  static LogicalResult checkUnused(gpu::GPUModuleOp kernels,
                                   SymbolTable &symbols,
                                   const llvm::SetVector<Operation *> &placed) {
    WalkResult result =
        kernels.walk([&](LLVM::AddressOfOp address) {
          Operation *global = symbols.lookup(address.getGlobalName());
          if (!global || !placed.contains(global))
            return WalkResult::advance();
          address.emitError()
              << "tensor map @" << address.getGlobalName()
              << " belongs to a kernel, but this function is not the one that "
                 "lists it in "
              << TesseraDialect::TensorMapsAttrHelper::getNameStr()
              << ": pass the address to the function as an argument";
          return WalkResult::interrupt();
        });
    return failure(result.wasInterrupted());
  }
};

} // namespace
