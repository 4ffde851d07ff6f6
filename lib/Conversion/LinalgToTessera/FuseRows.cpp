//===- FuseRows.cpp - Reductions of rows into tessera.contract ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul and the ops on its rows form a diamond; softmax is an example:
//
//    matmul --+--> max over n --+
//             |                 v
//             +------------> exp(x - max) --+--> sum over n --+
//                                           |                 v
//                                           +--------------> e / sum -->
//
// It becomes one epilogue if all paths from the matmul meet again in one
// result, and a subgroup's tile holds whole rows.
//
//===----------------------------------------------------------------------===//

#include "ContractionBody.h"
#include "Conversion/LinalgToTessera.h"
#include "Elementwise.h"
#include "FuseConsumers.h"

#include "Scheduling/Schedule.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-linalg-to-tessera"

STATISTIC(numFusedRowChains,
          "Number of chains of row reductions fused into epilogues");

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// The ops after a contraction that its epilogue could absorb.
class RowConsumers {
public:
  explicit RowConsumers(ContractOp op)
      : op(op), contraction(op.getResult()), rowDims(op.getDims().n) {
    maps[contraction] = op.getMap(2);
    collect();
  }

  /// Those that the one at `index` depends on, in order, and itself: empty
  /// where no rows are reduced, or another result is used elsewhere.
  SmallVector<Consumer> getClosed(size_t index) const;
  size_t size() const { return found.size(); }

private:
  void collect();
  bool add(linalg::LinalgOp consumer);
  bool findLoops(Consumer &consumer) const;
  bool reducesRows(const Consumer &consumer) const;

  ContractOp op;
  Value contraction;
  SmallVector<unsigned> rowDims;
  /// The result of the contraction and those of the consumers found, as
  /// elements of the contraction.
  DenseMap<Value, AffineMap> maps;
  SmallVector<Consumer> found;
};
} // namespace

/// Finds the dimension of the contraction that each loop is, from the reads of
/// the contraction and of results.
bool RowConsumers::findLoops(Consumer &consumer) const {
  linalg::LinalgOp consumed = consumer.op;
  consumer.dims.assign(consumed.getNumLoops(), Consumer::noDim);
  for (OpOperand &operand : consumed->getOpOperands()) {
    auto known = maps.find(operand.get());
    if (known == maps.end() ||
        (!consumer.reduction &&
         !consumed.payloadUsesValueFromOperand(&operand)))
      continue;
    if (consumer.reduction && consumed.isDpsInit(&operand))
      return false;
    AffineMap map = consumed.getMatchingIndexingMap(&operand);
    for (auto [r, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      auto dim = dyn_cast<AffineDimExpr>(known->second.getResult(r));
      if (!loop && dim && getStaticExtent(op, dim.getPosition()) != 1)
        return false;
      if (!loop || !dim)
        continue;
      unsigned &position = consumer.dims[loop.getPosition()];
      if (position != Consumer::noDim && position != dim.getPosition())
        return false;
      position = dim.getPosition();
    }
  }
  SmallVector<int64_t> extents = consumed.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = consumed.getIteratorTypesArray();
  llvm::SmallSet<unsigned, 8> distinct;
  for (auto [dim, extent, kind] : llvm::zip(consumer.dims, extents, kinds))
    if (dim == Consumer::noDim
            ? extent != 1 || kind == utils::IteratorType::reduction
            : !distinct.insert(dim).second)
      return false;
  return true;
}

/// Whether the reduction runs over all of N, and nothing else.
bool RowConsumers::reducesRows(const Consumer &consumer) const {
  linalg::LinalgOp consumed = consumer.op;
  DenseSet<unsigned> reduced;
  for (auto [loop, kind] : llvm::enumerate(consumed.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      reduced.insert(consumer.dims[loop]);
  return llvm::all_of(
             reduced,
             [&](unsigned d) { return llvm::is_contained(rowDims, d); }) &&
         llvm::all_of(rowDims, [&](unsigned d) {
           return reduced.contains(d) || getStaticExtent(op, d) == 1;
         });
}

/// Whether `operand` is known to have extent 1 where a loop is none of the
/// contraction's dimensions.
static bool canSlice(const Consumer &consumer, OpOperand &operand) {
  linalg::LinalgOp consumed = consumer.op;
  auto type = dyn_cast<ShapedType>(operand.get().getType());
  if (!type)
    return true;
  AffineMap map = consumed.getMatchingIndexingMap(&operand);
  for (auto [r, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (loop && consumer.dims[loop.getPosition()] == Consumer::noDim &&
        type.getDimSize(r) != 1)
      return false;
  }
  return true;
}

bool RowConsumers::add(linalg::LinalgOp consumer) {
  if (!consumer.hasPureTensorSemantics())
    return false;
  Consumer candidate{consumer, {}, matchRowReduction(consumer)};
  if (!candidate.reduction && !isElementwise(consumer))
    return false;
  if (!canBeOutput(getElementTypeOrSelf(candidate.getResult().getType())) ||
      !findLoops(candidate) || (candidate.reduction && !reducesRows(candidate)))
    return false;
  for (OpOperand &operand : consumer->getOpOperands())
    if (!maps.count(operand.get()) &&
        (!canBeExtra(consumer, operand) || !canSlice(candidate, operand)))
      return false;
  maps[candidate.getResult()] = candidate.getMap(*consumer.getDpsInitOperand(0),
                                                 op.getMap(2).getNumDims());
  found.push_back(std::move(candidate));
  return true;
}

void RowConsumers::collect() {
  llvm::SetVector<Operation *> pending;
  DenseSet<Operation *> seen;
  auto addUsers = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (user->getBlock() == op->getBlock() && isa<linalg::LinalgOp>(user) &&
          seen.insert(user).second)
        pending.insert(user);
  };
  addUsers(contraction);
  // In the order of the block, so that operands are visited before their users.
  while (!pending.empty()) {
    Operation *first =
        *llvm::min_element(pending, [](Operation *a, Operation *b) {
          return a->isBeforeInBlock(b);
        });
    pending.remove(first);
    if (add(cast<linalg::LinalgOp>(first)))
      addUsers(found.back().getResult());
  }
}

SmallVector<Consumer> RowConsumers::getClosed(size_t index) const {
  DenseSet<Operation *> members;
  SmallVector<Consumer> chain;
  bool hasReduction = false;
  for (size_t i = index + 1; i-- > 0;) {
    const Consumer &consumer = found[i];
    if (i != index &&
        llvm::none_of(consumer.getResult().getUsers(),
                      [&](Operation *user) { return members.contains(user); }))
      continue;
    members.insert(consumer.op);
    chain.push_back(consumer);
    hasReduction |= consumer.reduction.has_value();
  }
  std::reverse(chain.begin(), chain.end());
  auto isInside = [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return members.contains(user);
    });
  };
  // The result must be the output itself.
  AffineMap map = maps.lookup(found[index].getResult());
  bool closed = hasReduction && isInside(contraction) &&
                llvm::all_of(map.getResults(), [](AffineExpr expr) {
                  return isa<AffineDimExpr>(expr);
                });
  for (const Consumer &consumer : ArrayRef(chain).drop_back())
    closed &= isInside(consumer.getResult());
  return closed ? chain : SmallVector<Consumer>();
}

/// Whether one subgroup can hold whole rows of `op`: one N dimension, besides
/// others of extent 1, of a contraction of matrices.
static bool hasRows(ContractOp op) {
  unsigned count = llvm::count_if(
      op.getDims().n, [&](unsigned d) { return getStaticExtent(op, d) != 1; });
  return count == 1 && getStaticExtents(op, getMatrixForm(op))[0] != 1;
}

namespace {
struct FuseRows : public OpRewritePattern<ContractOp> {
  FuseRows(MLIRContext *context, const Chip &chip)
      : OpRewritePattern(context), chip(chip) {}

  LogicalResult matchAndRewrite(ContractOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getResult() || op.getResult().use_empty() || !hasRows(op) ||
        !canReduceRows(op, chip))
      return rewriter.notifyMatchFailure(
          op, "a subgroup cannot hold whole rows of it, or it is not used");
    RowConsumers consumers(op);
    for (size_t i = consumers.size(); i-- > 0;) {
      SmallVector<Consumer> chain = consumers.getClosed(i);
      if (chain.empty())
        continue;
      LDBG() << op.getLoc() << ": fuses " << chain.size()
             << " consumers with reductions of rows";
      ++numFusedRowChains;
      fuseConsumers(op, chain, rewriter);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no chain of consumers along rows");
  }

private:
  const Chip &chip;
};
} // namespace

void mlir::tessera::populateFuseRowsPatterns(RewritePatternSet &patterns,
                                             const Chip &chip) {
  patterns.add<FuseRows>(patterns.getContext(), chip);
}
