//===- CallMathLibrary.cpp - Functions that LLVM has no instruction for ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's C library has these functions with full precision. Functions with
// polynomials in f32 (erf, cbrt) are kept, since those are vectorized.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERACALLMATHLIBRARY
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-call-math-library"

using namespace mlir;

namespace {

struct CallMathLibraryPass
    : public tessera::impl::TesseraCallMathLibraryBase<CallMathLibraryPass> {
  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    // The polynomials for these are not precise enough, or do not exist.
    target.addIllegalOp<math::AtanOp, math::AcoshOp, math::AsinhOp,
                        math::AtanhOp>();
    target.addDynamicallyLegalOp<math::ErfOp, math::ErfcOp, math::CbrtOp>(
        [](Operation *op) {
          return !getElementTypeOrSelf(op->getResult(0).getType()).isF64();
        });
    LDBG() << "in " << getOperation()->getName() << " at "
           << getOperation()->getLoc();
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
