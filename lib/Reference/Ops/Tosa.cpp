//===- Tosa.cpp - Programs in TOSA ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's lowering defines the meaning of a TOSA program: its linalg form is
// evaluated.
//
//===----------------------------------------------------------------------===//

#include "../Entry.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::tessera::reference;

static bool hasTosa(func::FuncOp entry) {
  return entry
      .walk([](Operation *op) {
        return isa_and_present<tosa::TosaDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

Source::Source(func::FuncOp original) : entry(original) {
  if (!hasTosa(original))
    return;
  entry = {};
  auto module = dyn_cast_or_null<ModuleOp>(original->getParentOp());
  if (!module || module->getParentOp())
    return;
  copy = module.clone();
  PassManager pm(module.getContext());
  tosa::addTosaToLinalgPasses(pm, TosaToLinalgOptions(),
                              TosaToLinalgNamedOptions(),
                              /*validationOptions=*/std::nullopt);
  pm.addNestedPass<func::FuncOp>(createTosaToArithPass());
  pm.addNestedPass<func::FuncOp>(createTosaToTensorPass());
  pm.addNestedPass<func::FuncOp>(createTosaToSCFPass());
  if (succeeded(pm.run(*copy)))
    entry = copy->lookupSymbol<func::FuncOp>(original.getName());
}
