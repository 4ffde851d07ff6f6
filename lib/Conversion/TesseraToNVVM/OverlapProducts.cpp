//===- OverlapProducts.cpp - Products that something runs beside ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of a warpgroup are asynchronous: registers of theirs may be
// touched once they have been waited for. Where element-wise work stands
// between a product and the first use of its result, or a product that runs
// beside such work, the wait goes there.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Target/Chip.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_OVERLAPPRODUCTS
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

/// Whether `op` is computed by asynchronous instructions, all of them at once.
static bool isAsynchronous(MmaOp op, const Chip &chip) {
  auto name = op->getAttrOfType<StringAttr>(getInstructionAttrName());
  const MatrixInstruction *row =
      name ? chip.findInstruction(name.getValue()) : nullptr;
  return row && row->subgroups > 1 && !row->sumsApart(op.getPrecision());
}

/// The first op of the product's block that its result is used in.
static Operation *findFirstUse(MmaOp op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *at = op->getBlock()->findAncestorOpInBlock(*user);
    if (!at)
      return nullptr;
    if (!first || at->isBeforeInBlock(first))
      first = at;
  }
  return first;
}

/// Whether `value` is used by `first`, of the same block, or further down.
static bool isUsedFrom(Value value, Operation *first) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *at = first->getBlock()->findAncestorOpInBlock(*user);
    return at && !at->isBeforeInBlock(first);
  });
}

static void overlap(MmaOp op, const Chip &chip) {
  if (!isAsynchronous(op, chip))
    return;
  Operation *first = findFirstUse(op);
  if (!first)
    return;
  int64_t pending = 0;
  bool isBeside = false;
  for (Operation *next = op->getNextNode(); next != first;
       next = next->getNextNode()) {
    // What synchronizes or branches does not run beside.
    if (isa<gpu::BarrierOp>(next) ||
        (next->getNumRegions() && !isa<MapOp>(next))) {
      first = next;
      break;
    }
    auto product = dyn_cast<MmaOp>(next);
    if (product && isAsynchronous(product, chip))
      ++pending;
    isBeside |= isa<MapOp, ReduceOp, ConvertOp>(next) ||
                (product && product->hasAttr(getOverlappedAttrName()));
  }
  if (!isBeside)
    return;
  OpBuilder builder(first);
  SmallVector<Value> kept;
  // What comes from memory is no register.
  if (!op.getA().getDefiningOp<LoadOp>())
    kept.push_back(op.getA());
  // What is computed beside it is not to move behind the wait, where LLVM would
  // have it to save registers.
  for (Operation *next = op->getNextNode(); next != first;
       next = next->getNextNode())
    if (isa<MapOp, ReduceOp, ConvertOp>(next) &&
        isUsedFrom(next->getResult(0), first))
      kept.push_back(next->getResult(0));
  auto await = AwaitOp::create(builder, op.getLoc(), op.getResult().getType(),
                               op.getResult(), kept, pending);
  op.getResult().replaceAllUsesExcept(await.getResult(), await);
  op->setAttr(getOverlappedAttrName(), builder.getUnitAttr());
}

namespace {
struct OverlapProductsPass
    : public mlir::tessera::impl::OverlapProductsBase<OverlapProductsPass> {
  using OverlapProductsBase::OverlapProductsBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "cuda", chip);
    if (failed(found))
      return signalPassFailure();
    SmallVector<MmaOp> products;
    getOperation().walk([&](MmaOp op) { products.push_back(op); });
    // The last ones first: a product runs beside one that is not waited for.
    for (MmaOp op : llvm::reverse(products))
      overlap(op, **found);
  }
};
} // namespace
