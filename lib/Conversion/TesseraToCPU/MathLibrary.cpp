//===- MathLibrary.cpp - Functions that LLVM has no instruction for -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's C library has these functions with full precision. Functions with
// polynomials in f32 (erf, cbrt) are kept, since those are vectorized.
//
//===----------------------------------------------------------------------===//

#include "MathLibrary.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

LogicalResult mlir::tessera::convertToMathLibrary(Operation *root) {
  ConversionTarget target(*root->getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  // The polynomials for these are not precise enough, or do not exist.
  target.addIllegalOp<math::AtanOp, math::AcoshOp, math::AsinhOp,
                      math::AtanhOp>();
  target.addDynamicallyLegalOp<math::ErfOp, math::ErfcOp, math::CbrtOp>(
      [](Operation *op) {
        return !getElementTypeOrSelf(op->getResult(0).getType()).isF64();
      });
  RewritePatternSet patterns(root->getContext());
  populateMathToLibmConversionPatterns(patterns);
  return applyPartialConversion(root, target, std::move(patterns));
}
