//===- RowGroups.cpp - Row reductions with what surrounds them ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToGPU/RowGroups.h"
#include "Conversion/LinalgToGPU/InitialFill.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::tessera;

/// A single workgroup computes at most so many columns of a row, unless there
/// are so many rows: nearly as many as a large GPU has SMs.
static constexpr int64_t mostColumns = 8192, manyRows = 96;

Value mlir::tessera::getMemoryRoot(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

Operation *mlir::tessera::getCombiner(linalg::LinalgOp op, unsigned i) {
  SmallVector<Operation *, 4> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), i, combiners) ||
      combiners.size() != 1)
    return nullptr;
  Operation *combiner = combiners.front();
  std::optional<TypedAttr> identity = arith::getNeutralElement(combiner);
  if (!linalg::getCombinerOpKind(combiner) || !identity ||
      !combiner->getResult(0).getType().isIntOrFloat())
    return nullptr;
  return combiner;
}

//===----------------------------------------------------------------------===//
// Ops of a group
//===----------------------------------------------------------------------===//

/// The loops of several iterations; nothing if one is dynamic or empty.
static std::optional<SmallVector<unsigned>> getLongLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (ShapedType::isDynamic(extent) || extent == 0)
      return std::nullopt;
    if (extent != 1)
      loops.push_back(static_cast<unsigned>(loop));
  }
  return loops;
}

RowLoops mlir::tessera::getRowLoops(linalg::LinalgOp op,
                                    const RowGroup &group) {
  RowLoops loops;
  loops.rows = *getLongLoops(op);
  int64_t points = 1;
  for (unsigned loop : loops.rows)
    points *= op.getStaticLoopRanges()[loop];
  // Rows have several columns.
  if (points != group.rows)
    loops.column = loops.rows.pop_back_val();
  return loops;
}

RowAccess mlir::tessera::getRowAccess(OpOperand &operand,
                                      const RowLoops &loops) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || !type.getLayout().isIdentity())
    return RowAccess::Other;
  SmallVector<unsigned> used;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [expr, size] : llvm::zip_equal(
           op.getMatchingIndexingMap(&operand).getResults(), type.getShape())) {
    if (size == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || extents[dim.getPosition()] != size)
      return RowAccess::Other;
    used.push_back(dim.getPosition());
  }
  if (used == loops.rows)
    return RowAccess::Row;
  if (loops.column && !used.empty() && used.back() == *loops.column &&
      ArrayRef(used).drop_back() == ArrayRef(loops.rows))
    return RowAccess::Element;
  return RowAccess::Other;
}

/// Whether all values of the body are computed from its arguments. Ops that
/// pack operands are kernels with a purpose of their own.
static bool isPlainBody(linalg::LinalgOp op) {
  return op.hasPureBufferSemantics() &&
         !op->hasAttr(TesseraDialect::PackingAttrHelper::getNameStr()) &&
         op->getNumRegions() == 1 && op.getBlock() && !op.hasIndexSemantics() &&
         op.getBlock()->getNumArguments() == op->getNumOperands() &&
         llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) {
                        return inner.getNumRegions() == 0 && isPure(&inner);
                      });
}

namespace {
/// The search for one group.
class Search {
public:
  explicit Search(const DenseSet<Operation *> &fills) : fills(fills) {}

  /// Makes a group around a reduction; false if it is not one of rows.
  bool start(linalg::LinalgOp op);
  void extend();
  const RowGroup &getGroup() const { return group; }

private:
  bool mayJoin(linalg::LinalgOp op);
  /// Whether the op may stay between two of a group.
  bool isTransparent(Operation *op) const;
  void join(linalg::LinalgOp op, bool isFirst);

  const DenseSet<Operation *> &fills;
  RowGroup group;
  /// The extents of the loops over rows.
  SmallVector<int64_t> rowExtents;
  /// Memory that the group writes, and how; and that it reads.
  DenseMap<Value, RowAccess> written;
  DenseMap<Value, SmallVector<RowAccess, 2>> read;
};
} // namespace

bool Search::start(linalg::LinalgOp op) {
  SmallVector<unsigned> reduction;
  op.getReductionDims(reduction);
  std::optional<SmallVector<unsigned>> loops = getLongLoops(op);
  if (reduction.empty() || !isPlainBody(op) || !loops || loops->empty() ||
      loops->back() != reduction.back())
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  group.columns = extents[loops->back()];
  for (unsigned loop : ArrayRef(*loops).drop_back()) {
    rowExtents.push_back(extents[loop]);
    group.rows *= extents[loop];
  }
  if ((group.columns > mostColumns && group.rows < manyRows) || !mayJoin(op))
    return false;
  join(op, /*isFirst=*/false);
  return true;
}

bool Search::mayJoin(linalg::LinalgOp op) {
  std::optional<SmallVector<unsigned>> loops = getLongLoops(op);
  if (!isPlainBody(op) || !loops)
    return false;
  bool isOfRows = loops->size() == rowExtents.size();
  if (!isOfRows && loops->size() != rowExtents.size() + 1)
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (auto [loop, extent] : llvm::zip(*loops, rowExtents))
    if (extents[loop] != extent || kinds[loop] != utils::IteratorType::parallel)
      return false;
  if (!isOfRows && extents[loops->back()] != group.columns)
    return false;
  // Other threads share reductions whose rows are not contiguous better.
  if (isOfRows && llvm::none_of(read, [](const auto &memory) {
        return llvm::is_contained(memory.second, RowAccess::Element);
      }))
    return false;
  bool reduces =
      !isOfRows && kinds[loops->back()] == utils::IteratorType::reduction;
  if (!reduces && op.getNumReductionLoops() != 0)
    return false;

  RowLoops where = getRowLoops(op, group);
  SmallVector<Operation *> combiners;
  for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value root = getMemoryRoot(output.get());
    RowAccess access = getRowAccess(output, where);
    bool isOneOfRow = reduces || isOfRows;
    if (access != (isOneOfRow ? RowAccess::Row : RowAccess::Element) ||
        !root.getDefiningOp<memref::AllocOp>() ||
        isPacked(getElementTypeOrSelf(root.getType())))
      return false;
    // Elements may lie elsewhere in a part of the memory.
    if (cast<MemRefType>(root.getType()).getNumElements() !=
        (isOneOfRow ? group.rows : group.rows * group.columns))
      return false;
    auto before = written.find(root);
    if (before != written.end() && before->second != access)
      return false;
    // One thread of a team stores an element of the row, while others may still
    // read the element before.
    if (isOfRows && before == written.end() &&
        (read.contains(root) ||
         !op.getMatchingBlockArgument(&output).use_empty()))
      return false;
    if (llvm::any_of(read.lookup(root),
                     [&](RowAccess other) { return other != access; }))
      return false;
    if (!reduces)
      continue;
    Operation *combiner = getCombiner(op, static_cast<unsigned>(i));
    if (!combiner || !combiner->hasOneUse() ||
        llvm::is_contained(combiners, combiner))
      return false;
    combiners.push_back(combiner);
  }
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value root = getMemoryRoot(input->get());
    auto before = written.find(root);
    bool isOutput = llvm::any_of(op.getDpsInits(), [&](Value output) {
      return getMemoryRoot(output) == root;
    });
    RowAccess access = getRowAccess(*input, where);
    if (before != written.end() && before->second != access)
      return false;
    if (isOutput && access != RowAccess::Element &&
        !(isOfRows && before != written.end()))
      return false;
  }
  return true;
}

void Search::join(linalg::LinalgOp op, bool isFirst) {
  RowLoops where = getRowLoops(op, group);
  for (OpOperand *input : op.getDpsInputOperands())
    read[getMemoryRoot(input->get())].push_back(getRowAccess(*input, where));
  for (OpOperand &output : op.getDpsInitsMutable())
    written[getMemoryRoot(output.get())] = getRowAccess(output, where);
  group.ops.insert(isFirst ? group.ops.begin() : group.ops.end(), op);
}

bool Search::isTransparent(Operation *op) const {
  if (isa<memref::DeallocOp, memref::AllocOp>(op) || fills.contains(op))
    return true;
  return isPure(op) && op->getNumRegions() == 0;
}

void Search::extend() {
  // Forward, with what reads a result of the group.
  for (Operation *op = group.ops.back()->getNextNode(); op;
       op = op->getNextNode()) {
    if (isTransparent(op))
      continue;
    auto next = dyn_cast<linalg::LinalgOp>(op);
    if (!next || !llvm::any_of(next.getDpsInputs(), [&](Value input) {
          return written.contains(getMemoryRoot(input));
        }))
      break;
    if (!mayJoin(next))
      break;
    join(next, /*isFirst=*/false);
  }
  // Backward, with what the group reads.
  for (Operation *op = group.ops.front()->getPrevNode(); op;
       op = op->getPrevNode()) {
    if (isTransparent(op))
      continue;
    auto before = dyn_cast<linalg::LinalgOp>(op);
    if (!before || before.getNumReductionLoops() != 0 ||
        !llvm::any_of(before.getDpsInits(), [&](Value output) {
          return read.contains(getMemoryRoot(output));
        }))
      break;
    if (!mayJoin(before))
      break;
    join(before, /*isFirst=*/true);
  }
}

//===----------------------------------------------------------------------===//
// Groups of a block
//===----------------------------------------------------------------------===//

/// Makes the ops of the group and their fills adjacent.
static void gather(const RowGroup &group, const DenseSet<Operation *> &fills) {
  Operation *first = group.ops.front(), *last = group.ops.back();
  DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  Operation *end = last;
  for (Operation *op = first->getNextNode(); op != last;) {
    Operation *next = op->getNextNode();
    if (isa<memref::DeallocOp>(op)) {
      op->moveAfter(end);
      end = op;
    } else if (!members.contains(op) && !fills.contains(op)) {
      op->moveBefore(first);
    }
    op = next;
  }
}

/// Whether all accesses of `memory`, also through views, are by `members`.
static bool isAccessedOnlyBy(Value memory,
                             const DenseSet<Operation *> &members) {
  return llvm::all_of(memory.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return llvm::all_of(user->getResults(), [&](Value view) {
        return isAccessedOnlyBy(view, members);
      });
    return isa<memref::DeallocOp>(user) || members.contains(user);
  });
}

/// The memory that only ops of the group, and the fills of their outputs,
/// access, and that none of them reads before another one wrote it.
static SmallVector<Value> findInner(const RowGroup &group) {
  DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  llvm::SetVector<Value> written;
  DenseSet<Value> readFirst;
  for (linalg::LinalgOp op : group.ops) {
    bool reduces = op.getNumReductionLoops() != 0;
    auto noteRead = [&](Value memory) {
      if (!written.contains(memory))
        readFirst.insert(memory);
    };
    for (OpOperand *input : op.getDpsInputOperands())
      noteRead(getMemoryRoot(input->get()));
    for (OpOperand &output : op.getDpsInitsMutable()) {
      linalg::FillOp fill = reduces ? findInitialFill(op, output) : nullptr;
      if (fill)
        members.insert(fill);
      else if (!op.getMatchingBlockArgument(&output).use_empty())
        noteRead(getMemoryRoot(output.get()));
    }
    for (Value output : op.getDpsInits())
      written.insert(getMemoryRoot(output));
  }
  SmallVector<Value> inner;
  for (Value memory : written)
    if (memory.getDefiningOp<memref::AllocOp>() &&
        !readFirst.contains(memory) && isAccessedOnlyBy(memory, members))
      inner.push_back(memory);
  return inner;
}

SmallVector<RowGroup> mlir::tessera::gatherRowGroups(Block &block) {
  // Fills that are part of the kernel of a reduction.
  DenseSet<Operation *> fills;
  for (auto op : block.getOps<linalg::LinalgOp>())
    if (op.hasPureBufferSemantics() && op.getNumReductionLoops() != 0)
      for (OpOperand &output : op.getDpsInitsMutable())
        if (linalg::FillOp fill = findInitialFill(op, output))
          fills.insert(fill);
  SmallVector<RowGroup> groups;
  DenseSet<Operation *> members;
  for (auto op : block.getOps<linalg::LinalgOp>()) {
    if (members.contains(op))
      continue;
    Search search(fills);
    if (!search.start(op))
      continue;
    search.extend();
    const RowGroup &group = search.getGroup();
    if (group.ops.size() < 2 ||
        llvm::any_of(group.ops, [&](linalg::LinalgOp member) {
          return members.contains(member);
        }))
      continue;
    members.insert(group.ops.begin(), group.ops.end());
    groups.push_back(group);
    groups.back().inner = findInner(group);
  }
  for (const RowGroup &group : groups)
    gather(group, fills);
  return groups;
}
