//===- SeparateFills.cpp - A fill for each initial value ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph/Passes.h"
#include "Loader.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/Statistic.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERASEPARATEFILLS
#include "Graph/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-separate-fills"

STATISTIC(numSeparatedFills, "Number of fills added for initial values");

using namespace mlir;

namespace {

struct SeparateFillsPass
    : public tessera::impl::TesseraSeparateFillsBase<SeparateFillsPass> {
  void runOnOperation() override {
    if (!tessera::hasLiftedConstants(getOperation()))
      return;
    SmallVector<linalg::FillOp> fills;
    getOperation()->walk([&](linalg::FillOp fill) {
      if (fill.hasPureTensorSemantics() &&
          fill.getDpsInitOperand(0)->get().getDefiningOp<tensor::EmptyOp>())
        fills.push_back(fill);
    });
    for (linalg::FillOp fill : fills) {
      auto isOverwritten = [](OpOperand &use) {
        auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
        return user && user.isDpsInit(&use);
      };
      // One can have the fill that there is, if nothing reads that.
      bool isFree = llvm::all_of(fill->getResult(0).getUses(), isOverwritten);
      for (OpOperand &use :
           llvm::make_early_inc_range(fill->getResult(0).getUses())) {
        Operation *user = use.getOwner();
        if (!isOverwritten(use) || user->getBlock() != fill->getBlock() ||
            std::exchange(isFree, false))
          continue;
        OpBuilder builder(user);
        Operation *empty =
            builder.clone(*fill.getDpsInitOperand(0)->get().getDefiningOp());
        Operation *own = builder.clone(*fill);
        own->setOperand(1, empty->getResult(0));
        use.set(own->getResult(0));
        ++numSeparatedFills;
      }
    }
  }
};

} // namespace
