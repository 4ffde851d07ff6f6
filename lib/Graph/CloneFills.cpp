//===- CloneFills.cpp - One filled tensor for each op that writes it ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/Statistic.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERACLONEFILLS
#include "Graph/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-clone-fills"

STATISTIC(numFills, "Number of fills added for destinations");

using namespace mlir;

/// Clones the fill for all of its uses as a destination but the last.
static void cloneFill(linalg::FillOp fill) {
  auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
  if (!empty || fill->getNumResults() != 1 || fill->hasOneUse())
    return;
  SmallVector<OpOperand *> destinations;
  for (OpOperand &use : fill->getUses())
    if (auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
        op && op.isDpsInit(&use))
      destinations.push_back(&use);
  for (OpOperand *use : destinations) {
    if (fill->hasOneUse())
      return;
    OpBuilder b(use->getOwner());
    IRMapping mapping;
    b.clone(*empty, mapping);
    use->set(b.clone(*fill, mapping)->getResult(0));
    ++numFills;
  }
}

namespace {
struct CloneFillsPass
    : public tessera::impl::TesseraCloneFillsBase<CloneFillsPass> {
  void runOnOperation() override {
    SmallVector<linalg::FillOp> fills;
    getOperation().walk([&](linalg::FillOp fill) { fills.push_back(fill); });
    for (linalg::FillOp fill : fills)
      cloneFill(fill);
  }
};
} // namespace
