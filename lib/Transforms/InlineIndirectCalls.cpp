//===- InlineIndirectCalls.cpp - Calls of functions that are values -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled code contains no call through a pointer, since it could reach any
// address. Upstream's inliner finds the function of most such calls: a function
// that takes others as arguments is called with constants.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAINLINEINDIRECTCALLS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-inline-indirect-calls"

using namespace mlir;
using namespace mlir::tessera;

namespace {
struct InlineIndirectCallsPass
    : public tessera::impl::TesseraInlineIndirectCallsBase<
          InlineIndirectCallsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(createInlinerPass());
    if (failed(runPipeline(pm, module)))
      return signalPassFailure();
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (llvm::any_of(function.getArgumentTypes(),
                       llvm::IsaPred<FunctionType>) &&
          SymbolTable::symbolKnownUseEmpty(function, module)) {
        LDBG() << function.getName() << ": each of its calls is inlined";
        function.erase();
      }
    module.walk([&](func::CallIndirectOp call) {
      call.emitOpError() << "must call a function that is known when the "
                            "program is compiled";
      signalPassFailure();
    });
  }
};
} // namespace
