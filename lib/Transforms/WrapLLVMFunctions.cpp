//===- WrapLLVMFunctions.cpp - Entry points in the LLVM dialect -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/Statistic.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAWRAPLLVMFUNCTIONS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-wrap-llvm-functions"

STATISTIC(numWrappedFunctions,
          "Number of functions of the LLVM dialect that got a caller");

using namespace mlir;

/// Whether a `func.func` can stand for `function` as an entry point.
static bool canBeEntry(LLVM::LLVMFuncOp function) {
  LLVM::LLVMFunctionType type = function.getFunctionType();
  return !function.isExternal() && function.isPublic() &&
         function.getLinkage() == LLVM::Linkage::External && !type.isVarArg() &&
         type.getNumParams() == 0 &&
         (isa<LLVM::LLVMVoidType>(type.getReturnType()) ||
          type.getReturnType().isIntOrFloat());
}

namespace {

struct WrapLLVMFunctionsPass
    : public tessera::impl::TesseraWrapLLVMFunctionsBase<
          WrapLLVMFunctionsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
          return !function.isExternal();
        }))
      return;
    SymbolTable symbols(module);
    for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>()))
      if (canBeEntry(function) && failed(wrap(function, symbols)))
        return signalPassFailure();
  }

private:
  LogicalResult wrap(LLVM::LLVMFuncOp function, SymbolTable &symbols) {
    std::string name = function.getName().str();
    std::string inner = name + "_llvm";
    while (symbols.lookup(inner))
      inner += "_";
    if (failed(symbols.rename(function, inner)))
      return function.emitError() << "cannot rename this function";
    ImplicitLocOpBuilder builder(function.getLoc(), function->getContext());
    builder.setInsertionPointAfter(function);
    SmallVector<Type> results;
    if (Type type = function.getFunctionType().getReturnType();
        !isa<LLVM::LLVMVoidType>(type))
      results.push_back(type);
    auto wrapper = func::FuncOp::create(
        builder, name, builder.getFunctionType(/*inputs=*/{}, results));
    builder.setInsertionPointToStart(wrapper.addEntryBlock());
    auto call = LLVM::CallOp::create(builder, function, ValueRange());
    func::ReturnOp::create(builder, call->getResults());
    ++numWrappedFunctions;
    return success();
  }
};

} // namespace
