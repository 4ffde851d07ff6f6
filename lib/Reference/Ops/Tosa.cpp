//===- Tosa.cpp - Programs in TOSA ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's lowering defines the meaning of a TOSA program, and of Winograd
// transforms: the linalg form is evaluated.
//
//===----------------------------------------------------------------------===//

#include "../Entry.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tessera::reference;

/// Whether there are ops that are evaluated as what upstream lowers them to.
static bool needsLowering(func::FuncOp entry) {
  return entry
      .walk([](Operation *op) {
        return isa_and_present<tosa::TosaDialect>(op->getDialect()) ||
                       isa<linalg::WinogradFilterTransformOp,
                           linalg::WinogradInputTransformOp,
                           linalg::WinogradOutputTransformOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Upstream's passes do not lower this op: a loop over the updates.
static void expandScatter(tosa::ScatterOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Value indices = op.getIndices(), input = op.getInput();
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  SmallVector<Value> ends;
  for (int64_t dim = 0; dim < 2; ++dim)
    ends.push_back(tensor::DimOp::create(builder, input, dim));
  OpFoldResult channels =
      tensor::getMixedSize(builder, op.getLoc(), input, /*dim=*/2);
  OpFoldResult unit = builder.getIndexAttr(1), none = builder.getIndexAttr(0);
  scf::LoopNest nest = scf::buildLoopNest(
      builder, op.getLoc(), {zero, zero}, ends, {one, one}, op.getValuesIn(),
      [&](OpBuilder &b, Location loc, ValueRange at,
          ValueRange carried) -> scf::ValueVector {
        Value row = tensor::ExtractOp::create(b, loc, indices, at);
        row = arith::IndexCastOp::create(b, loc, b.getIndexType(), row);
        SmallVector<OpFoldResult> sizes = {unit, unit, channels},
                                  strides = {unit, unit, unit};
        Value update = tensor::ExtractSliceOp::create(
            b, loc, input, ArrayRef<OpFoldResult>{at[0], at[1], none}, sizes,
            strides);
        return {tensor::InsertSliceOp::create(
            b, loc, update, carried[0],
            ArrayRef<OpFoldResult>{at[0], row, none}, sizes, strides)};
      });
  op.replaceAllUsesWith(nest.results[0]);
  op.erase();
}

/// Erases the functions that `entry` does not reach: upstream's passes may
/// reject them.
static LogicalResult keepReachable(ModuleOp module, StringRef entry) {
  for (auto function : module.getOps<func::FuncOp>())
    function.setVisibility(function.getName() == entry
                               ? SymbolTable::Visibility::Public
                               : SymbolTable::Visibility::Private);
  PassManager pm(module.getContext());
  pm.addPass(createSymbolDCEPass());
  return pm.run(module);
}

Source::Source(func::FuncOp original) : entry(original) {
  if (!needsLowering(original))
    return;
  entry = {};
  auto module = dyn_cast_or_null<ModuleOp>(original->getParentOp());
  if (!module || module->getParentOp())
    return;
  copy = module.clone();
  if (failed(keepReachable(*copy, original.getName())))
    return;
  copy->walk(expandScatter);
  RewritePatternSet winograd(module.getContext());
  linalg::populateDecomposeWinogradOpsPatterns(winograd);
  if (failed(applyPatternsGreedily(*copy, std::move(winograd))))
    return;
  PassManager pm(module.getContext());
  // The passes to linalg reject the regions of control flow.
  pm.addNestedPass<func::FuncOp>(createTosaToSCFPass());
  tosa::addTosaToLinalgPasses(pm, TosaToLinalgOptions(),
                              TosaToLinalgNamedOptions(),
                              /*validationOptions=*/std::nullopt);
  TosaToArithPassOptions scaling;
  scaling.includeApplyRescale = true;
  pm.addNestedPass<func::FuncOp>(createTosaToArithPass(scaling));
  pm.addNestedPass<func::FuncOp>(createTosaToTensorPass());
  if (succeeded(pm.run(*copy)))
    entry = copy->lookupSymbol<func::FuncOp>(original.getName());
}
