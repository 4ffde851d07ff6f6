//===- TransformScript.cpp - A program's own transforms -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransformScript.h"

#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Transforms/Passes.h"
#include <mutex>

using namespace mlir;
using namespace mlir::tessera;

/// Erases the sequences of `module`, and the modules that hold nothing else.
static void eraseScript(ModuleOp module) {
  SmallVector<Operation *> dead;
  module.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isa<transform::NamedSequenceOp>(op))
      dead.push_back(op);
  });
  for (Operation *op : dead)
    op->erase();
  dead.clear();
  module.walk([&](ModuleOp nested) {
    bool wasScript = static_cast<bool>(nested->removeAttr(
        transform::TransformDialect::kWithNamedSequenceAttrName));
    if (wasScript && nested != module && nested.getBody()->empty())
      dead.push_back(nested);
  });
  for (Operation *op : dead)
    op->erase();
}

bool mlir::tessera::hasTransformScript(ModuleOp module) {
  WalkResult found = module.walk<WalkOrder::PreOrder>([](ModuleOp nested) {
    return nested->hasAttr(
               transform::TransformDialect::kWithNamedSequenceAttrName)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Registers the passes that `transform.apply_registered_pass` may name.
static void registerScriptPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerTransformsPasses();
    bufferization::registerBufferizationPasses();
    bufferization::registerBufferizationPipelines();
  });
}

LogicalResult mlir::tessera::runTransformScript(ModuleOp module) {
  registerScriptPasses();
  bool hasEntry = false;
  module.walk([&](transform::NamedSequenceOp sequence) {
    hasEntry |= sequence.getSymName() ==
                transform::TransformDialect::kTransformEntryPointSymbolName;
  });
  if (hasEntry) {
    transform::TransformOpInterface entry =
        transform::detail::findTransformEntryPoint(module, ModuleOp());
    if (!entry ||
        failed(transform::applyTransformNamedSequence(
            module, entry, /*transformModule=*/ModuleOp(),
            transform::TransformOptions().enableExpensiveChecks(false))))
      return failure();
  }
  eraseScript(module);
  return success();
}
