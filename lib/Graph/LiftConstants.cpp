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
    getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<gpu::GPUModuleOp, gpu::LaunchOp>(op))
        return WalkResult::skip();
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        if (isa<RankedTensorType>(constant.getType()))
          if (auto lifted = tessera::liftConstant(constant.getValue())) {
            constant.setValueAttr(cast<TypedAttr>(lifted));
            ++numLiftedConstants;
          }
      } else if (auto global = dyn_cast<memref::GlobalOp>(op)) {
        if (global.getConstant() && global.getType().getLayout().isIdentity())
          if (auto lifted =
                  tessera::liftConstant(global.getInitialValueAttr())) {
            global.setInitialValueAttr(lifted);
            ++numLiftedConstants;
          }
      }
      return WalkResult::advance();
    });
  }
};

} // namespace
