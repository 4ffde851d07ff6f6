//===- LiftConstants.cpp - Large constants by their contents --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph/Constants.h"
#include "Graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/Statistic.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERALIFTCONSTANTS
#include "Graph/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-lift-constants"

STATISTIC(numLiftedConstants, "Number of constants lifted");

using namespace mlir;

namespace {

struct LiftConstantsPass
    : public tessera::impl::TesseraLiftConstantsBase<LiftConstantsPass> {
  void runOnOperation() override {
    WalkResult result =
        getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
          if (isa<gpu::GPUModuleOp, gpu::LaunchOp>(op))
            return WalkResult::skip();
          if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
            if (isa<RankedTensorType>(constant.getType()))
              return lift(op, constant.getValue(), [&](Attribute lifted) {
                constant.setValueAttr(cast<TypedAttr>(lifted));
              });
          } else if (auto global = dyn_cast<memref::GlobalOp>(op)) {
            if (global.getConstant() &&
                global.getType().getLayout().isIdentity())
              return lift(op, global.getInitialValueAttr(),
                          [&](Attribute lifted) {
                            global.setInitialValueAttr(lifted);
                          });
          }
          return WalkResult::advance();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  /// Replaces the elements of a constant, if they are many.
  static WalkResult lift(Operation *op, Attribute elements,
                         function_ref<void(Attribute)> replace) {
    if (DenseResourceElementsAttr lifted = tessera::liftConstant(elements)) {
      replace(lifted);
      ++numLiftedConstants;
      return WalkResult::advance();
    }
    auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(elements);
    if (!resource || tessera::getConstantHash(resource).empty())
      return WalkResult::advance();
    op->emitError() << "the resource '" << resource.getRawHandle().getKey()
                    << "' has other contents than its name states, which is "
                       "the hash of a constant; rename it";
    return WalkResult::interrupt();
  }
};

} // namespace
