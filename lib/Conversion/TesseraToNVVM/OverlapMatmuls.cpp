//===- OverlapMatmuls.cpp - Matmuls that overlap other work ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions of a warpgroup are asynchronous: their registers may be
// accessed only after a wait. If there is element-wise work between a matmul
// and the first use of its result, or another matmul that can overlap with such
// work, the wait is placed before that use.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_OVERLAPMATMULS
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-overlap-matmuls"

STATISTIC(numOverlappedMatmuls,
          "Number of asynchronous matmuls that overlap with other work");

using namespace mlir;
using namespace mlir::tessera;

/// Whether `op` is computed by asynchronous instructions, all of them at once.
static bool isAsynchronous(MmaOp op, const Chip &chip) {
  auto name = op->getAttrOfType<StringAttr>(
      TesseraDialect::InstructionAttrHelper::getNameStr());
  const MatrixInstruction *row =
      name ? chip.findInstruction(name.getValue()) : nullptr;
  return row && row->subgroups > 1 && !row->sumsApart(op.getPrecision());
}

/// The first op in the block of `op` that uses its result.
static Operation *findFirstUse(Operation *op) {
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

/// Moves a conversion of the matmul's result down to its first use. Sums of
/// instructions of different widths have the same registers, but different
/// types: such a conversion is not work, and it must not end the overlap.
static void sinkConversion(MmaOp op) {
  auto convert =
      op->hasOneUse() ? dyn_cast<ConvertOp>(*op->user_begin()) : ConvertOp();
  if (!convert || convert->getBlock() != op->getBlock() ||
      cast<FragmentType>(convert.getType()).getElementType() !=
          cast<FragmentType>(op.getType()).getElementType())
    return;
  if (Operation *first = findFirstUse(convert))
    convert->moveBefore(first);
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
  sinkConversion(op);
  Operation *first = findFirstUse(op);
  if (!first) {
    LDBG() << op.getLoc() << ": not overlapped: used outside of its block";
    return;
  }
  int64_t pending = 0;
  bool isBeside = false;
  for (Operation *next = op->getNextNode(); next != first;
       next = next->getNextNode()) {
    // Ops that synchronize or branch end the overlap.
    if (isa<gpu::BarrierOp>(next) ||
        (next->getNumRegions() && !isa<MapOp>(next))) {
      first = next;
      break;
    }
    auto matmul = dyn_cast<MmaOp>(next);
    if (matmul && isAsynchronous(matmul, chip))
      ++pending;
    isBeside |=
        isa<MapOp, ReduceOp, ConvertOp>(next) ||
        (matmul &&
         matmul->hasAttr(TesseraDialect::OverlappedAttrHelper::getNameStr()));
  }
  if (!isBeside) {
    LDBG() << op.getLoc() << ": not overlapped: no work before its first use";
    return;
  }
  OpBuilder builder(first);
  SmallVector<Value> kept;
  // An operand in memory does not occupy registers.
  if (!op.getA().getDefiningOp<LoadOp>())
    kept.push_back(op.getA());
  // Overlapped computations must not move after the wait, where LLVM would
  // place them to save registers.
  for (Operation *next = op->getNextNode(); next != first;
       next = next->getNextNode())
    if (isa<MapOp, ReduceOp, ConvertOp>(next) &&
        isUsedFrom(next->getResult(0), first))
      kept.push_back(next->getResult(0));
  LDBG() << op.getLoc() << ": overlapped, with " << pending
         << " later matmuls in flight and " << kept.size() << " values kept";
  ++numOverlappedMatmuls;
  auto await = AwaitOp::create(builder, op.getLoc(), op.getResult().getType(),
                               op.getResult(), kept, pending);
  op.getResult().replaceAllUsesExcept(await.getResult(), await);
  op->setAttr(TesseraDialect::OverlappedAttrHelper::getNameStr(),
              builder.getUnitAttr());
}

namespace {
struct OverlapMatmulsPass
    : public mlir::tessera::impl::OverlapMatmulsBase<OverlapMatmulsPass> {
  using OverlapMatmulsBase::OverlapMatmulsBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "cuda");
    if (failed(found))
      return signalPassFailure();
    SmallVector<MmaOp> matmuls;
    getOperation().walk([&](MmaOp op) { matmuls.push_back(op); });
    // The last ones first: a matmul can overlap with another one that is not
    // waited for yet.
    for (MmaOp op : llvm::reverse(matmuls))
      overlap(op, **found);
  }
};
} // namespace
