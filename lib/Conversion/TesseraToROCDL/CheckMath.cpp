//===- CheckMath.cpp - Rejects functions without code ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device library (OCML) is not used. For f32, MLIR has polynomials or LLVM
// has instructions for all functions, composed of one another below; for f64
// only for those that need neither tables nor series.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

/// Whether LLVM makes code for the function of f64.
static bool existsForF64(Operation *op) {
  return isa<math::AbsFOp, math::Atan2Op, math::CeilOp, math::CopySignOp,
             math::FloorOp, math::FmaOp, math::FPowIOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::PowFOp,
             math::RoundOp, math::RoundEvenOp, math::RsqrtOp, math::SqrtOp,
             math::TruncOp>(op);
}

LogicalResult mlir::tessera::checkMath(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
        !getElementTypeOrSelf(op->getOperand(0).getType()).isF64() ||
        existsForF64(op))
      return WalkResult::advance();
    op->emitError() << "target hip does not support " << op->getName()
                    << " of f64; compute it in f32";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  RewritePatternSet patterns(root->getContext());
  math::populateExpansionPatterns(
      patterns, {"sinh", "cosh", "tan", "asinh", "acosh", "atanh"});
  walkAndApplyPatterns(root, std::move(patterns));
  return success();
}
