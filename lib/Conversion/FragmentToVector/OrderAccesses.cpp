//===- OrderAccesses.cpp - Barriers of a subgroup between accesses --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the portable program, a tessera.load reads its whole fragment before a
// later tessera.store writes. This does not hold for individual lanes: a lane
// that is ahead of another may store elements that the other has yet to load,
// and lanes do not synchronize if each of them computes the matmul in between
// on its own.
//
//   %a = tessera.load %m[..]                 %a = tessera.load %m[..]
//   %d = tessera.mma %a, %b, %c       ->     %d = tessera.mma %a, %b, %c
//   tessera.store %d, %m[..]                 the target's subgroup barrier
//                                            tessera.store %d, %m[..]
//
// The accesses since the last barrier are followed along the control flow. An
// access that may touch elements of one of these, where one of the two writes,
// gets a barrier before it, except where each lane accesses the same elements
// both times.
//
//===----------------------------------------------------------------------===//

#include "Conversion/FragmentToVector.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// An access to memory by an op, together with the other lanes of its subgroup.
struct Access {
  Value memory;
  ValueRange indices;
  /// The fragment; null for a vector.
  FragmentType type;
  bool writes = false, addsAtomically = false;
  bool transpose = false, swizzled = false;
};

/// Bytes of workgroup memory that a view shows.
struct Bytes {
  int64_t first, last;
};

class AccessOrder {
public:
  /// In a kernel that the compiler tiled, only updates in place of replicated
  /// elements lack a barrier.
  AccessOrder(gpu::GPUFuncOp kernel, const FragmentTarget &target, bool isTiled)
      : kernel(kernel), target(target), isTiled(isTiled), aliases(kernel) {}

  /// Emits the barriers.
  void run();

private:
  using Pending = llvm::SmallSetVector<Operation *, 8>;

  void visit(Region &region, Pending &pending);
  void visit(Operation *op, Pending &pending);
  bool mayConflict(const Access &first, const Access &second);
  bool mayAlias(Value first, Value second);
  bool isSameForEachLane(const Access &first, const Access &second) const;
  bool isReplicated(const Access &access) const;
  bool isDisjoint(const Access &first, const Access &second);

  gpu::GPUFuncOp kernel;
  const FragmentTarget &target;
  bool isTiled;
  AliasAnalysis aliases;
  /// The ops that need a barrier before them.
  llvm::SmallSetVector<Operation *, 8> ordered;
  /// The remaining number of index comparisons that are affordable; after
  /// these, accesses to one memory are assumed to overlap.
  int64_t comparisons = 1000;
};

} // namespace

/// None for an op that does not access memory as a subgroup.
static std::optional<Access> getAccess(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    Access access{load.getMemory(), load.getIndices(),
                  load.getResult().getType()};
    access.transpose = load.getTranspose();
    access.swizzled = load.getSwizzled();
    return access;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    Access access{store.getMemory(), store.getIndices(),
                  store.getValue().getType()};
    access.writes = true;
    access.addsAtomically = store.getAtomicAdd();
    access.transpose = store.getTranspose();
    access.swizzled = store.getSwizzled();
    return access;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    if (isa<MemRefType>(broadcast.getSource().getType()))
      return Access{broadcast.getSource(), {}, {}};
  return std::nullopt;
}

/// The bytes of a view that starts at a constant offset; none for others.
static std::optional<Bytes> getBytes(Value memory) {
  auto view = memory.getDefiningOp<memref::ViewOp>();
  if (!view || !view.getType().hasStaticShape())
    return std::nullopt;
  std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
  if (!shift)
    return std::nullopt;
  Type element = view.getType().getElementType();
  return Bytes{
      *shift,
      *shift +
          (view.getType().getNumElements() * getElementBits(element) + 7) / 8};
}

/// The memory that `memory` is a view of, up to views at constant bytes.
static Value getRoot(Value memory) {
  while (!getBytes(memory)) {
    auto view = memory.getDefiningOp<ViewLikeOpInterface>();
    if (!view || view.getViewDest() != memory)
      return memory;
    memory = view.getViewSource();
  }
  return memory;
}

bool AccessOrder::mayAlias(Value first, Value second) {
  auto firstType = cast<MemRefType>(first.getType()),
       secondType = cast<MemRefType>(second.getType());
  if (isWorkgroupMemory(firstType) != isWorkgroupMemory(secondType))
    return false;
  first = getRoot(first);
  second = getRoot(second);
  if (first == second)
    return true;
  if (std::optional<Bytes> a = getBytes(first), b = getBytes(second); a && b)
    return a->first < b->last && b->first < a->last;
  // Each attribution of workgroup memory is a buffer of its own.
  if (isWorkgroupMemory(firstType) && isa<BlockArgument>(first) &&
      isa<BlockArgument>(second))
    return false;
  return !aliases.alias(first, second).isNo();
}

bool AccessOrder::isSameForEachLane(const Access &first,
                                    const Access &second) const {
  if (first.memory != second.memory || !first.type ||
      first.type != second.type || first.transpose != second.transpose ||
      first.swizzled != second.swizzled ||
      !llvm::equal(first.indices, second.indices))
    return false;
  // The lane that has an element must be the only one that does.
  FailureOr<TileLayout> layout = getTileLayout(target.chip, first.type);
  return succeeded(layout) && !layout->inMemory &&
         layout->map.getReplicatedLaneBits() == 0;
}

/// Whether several lanes hold each element of an accumulator.
bool AccessOrder::isReplicated(const Access &access) const {
  if (!access.type || access.type.getRole() != Role::Acc)
    return false;
  FailureOr<TileLayout> layout = getTileLayout(target.chip, access.type);
  return succeeded(layout) && !layout->inMemory &&
         layout->map.getReplicatedLaneBits() != 0;
}

/// How many elements an access covers along its last two dimensions.
static std::array<int64_t, 2> getExtent(const Access &access) {
  std::array<int64_t, 2> extent{access.type.getRows(), access.type.getCols()};
  if (access.transpose)
    std::swap(extent[0], extent[1]);
  return extent;
}

/// Whether constant indices show that two accesses to one memory share no
/// element.
static bool isDisjointByConstants(const Access &first, const Access &second) {
  size_t rank = first.indices.size();
  for (size_t d = 0; d < rank; ++d) {
    std::optional<int64_t> a = getConstantIntValue(first.indices[d]),
                           b = getConstantIntValue(second.indices[d]);
    bool isInner = d + 2 >= rank;
    int64_t ofFirst = isInner ? getExtent(first)[d + 2 - rank] : 1,
            ofSecond = isInner ? getExtent(second)[d + 2 - rank] : 1;
    if (a && b && (*a + ofFirst <= *b || *b + ofSecond <= *a))
      return true;
  }
  return false;
}

bool AccessOrder::isDisjoint(const Access &first, const Access &second) {
  if (first.memory != second.memory || !first.type || !second.type ||
      first.swizzled != second.swizzled)
    return false;
  if (isDisjointByConstants(first, second))
    return true;
  if (comparisons-- <= 0)
    return false;
  Builder builder(kernel.getContext());
  auto getSlice = [&](const Access &access) {
    SmallVector<OpFoldResult> offsets(access.indices.begin(),
                                      access.indices.end()),
        sizes(offsets.size(), builder.getIndexAttr(1));
    std::array<int64_t, 2> extent = getExtent(access);
    sizes[sizes.size() - 2] = builder.getIndexAttr(extent[0]);
    sizes.back() = builder.getIndexAttr(extent[1]);
    return HyperrectangularSlice(offsets, sizes);
  };
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      kernel.getContext(), getSlice(first), getSlice(second));
  return succeeded(overlap) && !*overlap;
}

bool AccessOrder::mayConflict(const Access &first, const Access &second) {
  if ((!first.writes && !second.writes) ||
      (first.addsAtomically && second.addsAtomically) ||
      !mayAlias(first.memory, second.memory))
    return false;
  if (isTiled && (first.writes || !isReplicated(first)))
    return false;
  return !isSameForEachLane(first, second) && !isDisjoint(first, second);
}

void AccessOrder::visit(Operation *op, Pending &pending) {
  if (isa<gpu::BarrierOp>(op)) {
    pending.clear();
    return;
  }
  if (std::optional<Access> access = getAccess(op)) {
    if (!ordered.contains(op) && llvm::any_of(pending, [&](Operation *earlier) {
          return mayConflict(*getAccess(earlier), *access);
        }))
      ordered.insert(op);
    if (ordered.contains(op))
      pending.clear();
    pending.insert(op);
    return;
  }
  if (op->getNumRegions() == 0)
    return;
  // The pending accesses at the end of an iteration are pending in the next
  // one.
  Pending all = pending;
  size_t before;
  do {
    before = all.size();
    Pending found = all;
    for (Region &region : op->getRegions()) {
      Pending inner = isa<LoopLikeOpInterface>(op) ? found : pending;
      visit(region, inner);
      all.insert_range(inner);
    }
  } while (isa<LoopLikeOpInterface>(op) && all.size() != before);
  pending = std::move(all);
}

void AccessOrder::visit(Region &region, Pending &pending) {
  if (region.empty())
    return;
  if (region.hasOneBlock()) {
    for (Operation &op : region.front())
      visit(&op, pending);
    return;
  }
  // Each block once for each set of accesses that it is entered with; the sets
  // only grow.
  llvm::DenseMap<Block *, Pending> entered;
  SmallVector<Block *> work{&region.front()};
  entered[&region.front()] = pending;
  Pending left;
  while (!work.empty()) {
    Block *block = work.pop_back_val();
    Pending state = entered[block];
    for (Operation &op : *block)
      visit(&op, state);
    if (block->hasNoSuccessors())
      left.insert_range(state);
    for (Block *next : block->getSuccessors()) {
      auto [found, isNew] = entered.try_emplace(next);
      size_t before = found->second.size();
      found->second.insert_range(state);
      if (isNew || found->second.size() != before)
        work.push_back(next);
    }
  }
  pending = std::move(left);
}

void AccessOrder::run() {
  Pending pending;
  visit(kernel.getBody(), pending);
  for (Operation *op : ordered) {
    OpBuilder builder(op);
    target.emitSubgroupBarrier(builder, op->getLoc());
  }
}

/// Whether the compiler tiled this kernel. Such a kernel has the barriers that
/// it needs, except where the epilogue of a small matmul updates its output:
/// if each lane computes the whole tile, a lane may load an element that
/// another lane has updated.
static bool isTiled(gpu::GPUFuncOp kernel) {
  return getFragmentGroup(kernel) > 1 ||
         isa_and_present<ScheduleAttr>(getKernelSchedule(kernel));
}

void mlir::tessera::orderAccesses(Operation *root,
                                  const FragmentTarget &target) {
  if (!target.chip.hasLanes())
    return;
  root->walk([&](gpu::GPUFuncOp kernel) {
    AccessOrder(kernel, target, isTiled(kernel)).run();
    return WalkResult::skip();
  });
}
