//===- SchedulingGroups.cpp - The order of reads and matmuls --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By default, LLVM's scheduler places the read of a fragment from LDS right
// before the matmul that uses it, and waits; with a preference for parallelism,
// it reads far ahead and uses half as many registers again. Groups
// (`llvm.amdgcn.sched.group.barrier`) specify the issue order of the
// instructions before them:
//
//   some reads;  a matmul, a read;  a matmul, a read;  ...
//
// so that the latency of each read is hidden by a few matmuls. The first reads
// are a third, or as many as leave one for each of three quarters of the
// matmuls (docs/benchmarks/amd-static.md shows the resulting loops). Steps of
// many matmuls, which are those of large tiles, have several matmuls between
// two reads: registers could not hold all fragments of a step.
//
// Operands of 8-bit floats with K = 128 take so many registers that each is
// read shortly before its first use. The matmuls are then in blocks, and the
// groups follow from the reads that each matmul needs.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

/// The kinds of instructions, as the intrinsic has them (LLVM, "User Guide for
/// AMDGPU Backend", llvm.amdgcn.sched.group.barrier).
static constexpr int32_t matrixKind = 0x8, ldsReadKind = 0x100;

/// The smallest number of matmuls for which an order is specified.
static constexpr int64_t leastMatmuls = 4;

/// The largest number of matmuls between which reads are issued as early as
/// possible.
static constexpr int64_t mostEarlyMatmuls = 32;

/// Where reads are late: the number of matmuls between a read and the first one
/// that uses it, which hide its latency, and the most reads between two
/// matmuls.
static constexpr int64_t readAhead = 8, mostReadsBetween = 1;

/// Whether `op` ends a scheduling region.
static bool endsRegion(Operation *op) {
  return op->getNumRegions() != 0 ||
         isa<gpu::BarrierOp, amdgpu::LDSBarrierOp, amdgpu::SchedBarrierOp,
             ROCDL::SBarrierOp>(op);
}

/// Twice the instructions that `op` is, if it reads LDS: two reads of a word,
/// or of two, are one (ds_read2_b32, ds_read2_b64).
static int64_t countHalfReads(Operation *op) {
  if (isa<amdgpu::TransposeLoadOp>(op))
    return 2;
  Value memory;
  if (auto load = dyn_cast<vector::LoadOp>(op))
    memory = load.getBase();
  else if (auto load = dyn_cast<memref::LoadOp>(op))
    memory = load.getMemRef();
  if (!memory || !isWorkgroupMemory(cast<MemRefType>(memory.getType())))
    return 0;
  Type type = op->getResult(0).getType();
  int64_t bits = getElementBits(getElementTypeOrSelf(type));
  if (auto vector = dyn_cast<VectorType>(type))
    bits *= vector.getNumElements();
  return bits <= 64 ? 1 : 2;
}

static bool isMatmul(Operation &op) {
  return isa<amdgpu::MFMAOp, amdgpu::ScaledMFMAOp>(op);
}

/// The most registers of the reads of a region that may be live at the same
/// time.
static constexpr int64_t mostReadRegisters = 64;

/// Whether the reads before `end`, back to the region before, should be moved
/// to their uses: few matmuls use many registers of operands, as those of 8-bit
/// floats with K = 128. LLVM takes the reads of a group in the order of the
/// program, so that all of them would be live before the first matmul.
static bool needsLateReads(Operation &end) {
  int64_t matmuls = 0, registers = 0;
  for (Operation *op = &end; op && !endsRegion(op); op = op->getPrevNode()) {
    if (isMatmul(*op)) {
      ++matmuls;
    } else if (countHalfReads(op) != 0) {
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      registers += type ? type.getNumElements() *
                              getElementBits(type.getElementType()) / 32
                        : 1;
    }
  }
  return matmuls > 0 && registers > mostReadRegisters &&
         registers >= 2 * matmuls;
}

namespace {

/// The order of the ops of a block while ops move down to others. After each
/// move, MLIR would renumber the whole block for the next comparison.
class BlockOrder {
public:
  explicit BlockOrder(Block &block) {
    for (Operation &op : block)
      places[&op].number = static_cast<int64_t>(places.size());
  }

  bool isBefore(Operation *a, Operation *b) const {
    const Place *left = &places.at(a), *right = &places.at(b);
    // The ops below the same one, if there is one.
    while (left->depth > right->depth) {
      if (left->next == b)
        return true;
      left = &places.at(left->next);
    }
    while (right->depth > left->depth) {
      if (right->next == a)
        return false;
      right = &places.at(right->next);
    }
    while (left->next != right->next) {
      left = &places.at(left->next);
      right = &places.at(right->next);
    }
    return left->number < right->number;
  }

  /// Moves `op`, to which nothing has moved, before `next` and before all that
  /// has moved there.
  void move(Operation *op, Operation *next) {
    Operation *front = next;
    while (Operation *last = places.at(front).last)
      front = last;
    op->moveBefore(front);
    Place &target = places.at(next);
    target.last = op;
    places[op] = {next, nullptr, target.depth + 1, --target.count, 0};
  }

private:
  struct Place {
    /// The op that this one moved to; null for one that did not move.
    Operation *next = nullptr;
    /// The last op that moved to this one; null if none did.
    Operation *last = nullptr;
    int64_t depth = 0;
    /// Among those with the same `next`: smaller for those before.
    int64_t number = 0;
    /// The number of the last op that moved here.
    int64_t count = 0;
  };
  DenseMap<Operation *, Place> places;
};

} // namespace

/// Moves reads of LDS, and what computes on the elements read, down to their
/// first use, in regions that need it.
static void sinkReads(Block &block) {
  if (llvm::none_of(block, isMatmul))
    return;
  BlockOrder order(block);
  Operation *regionEnd = nullptr;
  bool isLate = false, isRegion = false;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    bool ends = endsRegion(&op);
    if (!ends && !isRegion)
      isLate = needsLateReads(op);
    isRegion = !ends;
    // Other threads write only beyond a barrier.
    if (ends || isa<vector::StoreOp, memref::StoreOp>(op))
      regionEnd = &op;
    if (!isLate || ends)
      continue;
    bool isOfRead =
        isPure(&op) && op.getNumRegions() == 0 && op.getNumResults() == 1 &&
        isa<VectorType>(op.getResult(0).getType()) && !isMatmul(op) &&
        llvm::any_of(op.getOperandTypes(),
                     [](Type type) { return isa<VectorType>(type); });
    if ((countHalfReads(&op) == 0 && !isOfRead) || op.use_empty())
      continue;
    Operation *first = nullptr;
    for (Operation *user : op.getUsers()) {
      Operation *inBlock = block.findAncestorOpInBlock(*user);
      if (inBlock && (!first || order.isBefore(inBlock, first)))
        first = inBlock;
    }
    if (!first || (regionEnd && !order.isBefore(first, regionEnd)))
      continue;
    order.move(&op, first);
  }
}

/// The operands of a and of b of a block of matmuls. One of b is twice as many
/// reads where they transpose.
static constexpr int64_t blockRows = 4, blockColumns = 2;

/// Reorders the matmuls of a region with late reads by blocks:
///
///   a 0 to 3, b 0 and 1;  a 0 to 3, b 2 and 3;  ...  b 6 and 7;
///   a 4 to 7, b 6 and 7;  a 4 to 7, b 4 and 5;  ...
///
/// A whole row would need all of b before its last matmul. A block needs what
/// it adds to the one before, which is read meanwhile. Its outer loop is over
/// the operands that it adds.
static void blockMatmuls(ArrayRef<Operation *> matmuls) {
  struct Place {
    int64_t blockRow, blockColumn, outer, inner;
    Operation *op;
  };
  llvm::SmallMapVector<Value, int64_t, 16> rows, columns;
  SmallVector<Place> places;
  Operation *last = matmuls.back();
  for (Operation *op : matmuls) {
    auto matmul = dyn_cast<amdgpu::MFMAOp>(op);
    // Sums stay in order.
    if (!matmul || llvm::any_of(op->getUsers(), [&](Operation *user) {
          return user->getBlock() == op->getBlock() &&
                 (user == last || user->isBeforeInBlock(last));
        }))
      return;
    auto number = [](auto &map, Value value) {
      return map.insert({value, static_cast<int64_t>(map.size())})
          .first->second;
    };
    int64_t row = number(rows, matmul.getSourceA()),
            column = number(columns, matmul.getSourceB());
    Place place{row / blockRows, column / blockColumns, row % blockRows,
                column % blockColumns, op};
    if (place.blockRow % 2)
      place.blockColumn = -place.blockColumn;
    else if (place.blockColumn)
      std::swap(place.outer, place.inner);
    places.push_back(place);
  }
  llvm::stable_sort(places, [](const Place &a, const Place &b) {
    return std::tie(a.blockRow, a.blockColumn, a.outer, a.inner) <
           std::tie(b.blockRow, b.blockColumn, b.outer, b.inner);
  });
  Operation *end = last->getNextNode();
  for (const Place &place : places)
    place.op->moveBefore(end);
}

namespace {
/// The ops between two barriers.
struct SchedulingRegion {
  SmallVector<Operation *> matmuls;
  /// Half reads before each matmul.
  SmallVector<int64_t> readsBefore;
  int64_t halfReads = 0;
  bool isLate = false;
};
} // namespace

static SmallVector<SchedulingRegion> findRegions(Block &block) {
  SmallVector<SchedulingRegion> regions(1);
  for (Operation &op : block) {
    SchedulingRegion &region = regions.back();
    if (endsRegion(&op)) {
      region.isLate = op.getPrevNode() && needsLateReads(*op.getPrevNode());
      regions.emplace_back();
    } else if (isMatmul(op)) {
      region.matmuls.push_back(&op);
      region.readsBefore.push_back(region.halfReads);
    } else {
      region.halfReads += countHalfReads(&op);
    }
  }
  regions.back().isLate = !block.empty() && needsLateReads(block.back());
  return regions;
}

/// Specifies an order for the matmuls and reads of `region`, if that is
/// beneficial.
static void orderRegion(const SchedulingRegion &region) {
  int64_t matmuls = static_cast<int64_t>(region.matmuls.size()),
          reads = llvm::divideCeil(region.halfReads, 2);
  if (matmuls < leastMatmuls || reads == 0 ||
      !llvm::all_of(region.matmuls, llvm::IsaPred<amdgpu::MFMAOp>))
    return;
  Operation *last = region.matmuls.back();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  auto group = [&](int32_t kind, int64_t count) {
    if (count > 0)
      ROCDL::SchedGroupBarrier::create(builder, last->getLoc(), kind,
                                       static_cast<int32_t>(count),
                                       /*groupId=*/0);
  };
  if (!region.isLate) {
    int64_t first = std::max({reads / 3, reads - matmuls * 3 / 4, int64_t(1)});
    int64_t between =
        matmuls > mostEarlyMatmuls ? std::max(matmuls / reads, int64_t(1)) : 1;
    group(ldsReadKind, first);
    for (int64_t read = first; read < reads; ++read) {
      group(matrixKind, between);
      group(ldsReadKind, 1);
    }
    group(matrixKind, matmuls);
    return;
  }
  // As many reads before each matmul as those after it need, a few ahead.
  SmallVector<int64_t> before(matmuls);
  for (int64_t i = matmuls - 1, next = reads; i >= 0; --i) {
    int64_t ahead = std::min(i + readAhead, matmuls - 1);
    next =
        std::max((region.readsBefore[ahead] + 1) / 2, next - mostReadsBetween);
    before[i] = next;
  }
  group(ldsReadKind, before[0]);
  int64_t pending = 0;
  for (int64_t i = 0; i + 1 < matmuls; ++i) {
    ++pending;
    if (before[i + 1] == before[i])
      continue;
    group(matrixKind, pending);
    group(ldsReadKind, before[i + 1] - before[i]);
    pending = 0;
  }
  group(matrixKind, pending + 1);
}

void mlir::tessera::orderMatmuls(Operation *kernel) {
  kernel->walk([](Block *block) {
    for (const SchedulingRegion &region : findRegions(*block))
      if (region.isLate)
        blockMatmuls(region.matmuls);
    sinkReads(*block);
    for (const SchedulingRegion &region : findRegions(*block))
      orderRegion(region);
  });
}
