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

/// Specifies an order for `lastMatmul` and the ops before it, with the given
/// numbers of matmuls and reads, if that is beneficial.
static void orderRegion(Operation *lastMatmul, int64_t matmuls, int64_t reads) {
  if (matmuls < leastMatmuls || reads == 0)
    return;
  OpBuilder builder(lastMatmul->getContext());
  builder.setInsertionPointAfter(lastMatmul);
  auto group = [&](int32_t kind, int64_t count) {
    ROCDL::SchedGroupBarrier::create(builder, lastMatmul->getLoc(), kind,
                                     static_cast<int32_t>(count),
                                     /*groupId=*/0);
  };
  int64_t first = std::max({reads / 3, reads - matmuls * 3 / 4, int64_t(1)});
  int64_t between =
      matmuls > mostEarlyMatmuls ? std::max(matmuls / reads, int64_t(1)) : 1;
  group(ldsReadKind, first);
  for (int64_t read = first; read < reads; ++read) {
    group(matrixKind, between);
    group(ldsReadKind, 1);
  }
  group(matrixKind, matmuls);
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
         registers > 2 * matmuls;
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

void mlir::tessera::orderMatmuls(Operation *kernel) {
  kernel->walk([](Block *block) {
    sinkReads(*block);
    Operation *lastMatmul = nullptr;
    int64_t matmuls = 0, halfReads = 0;
    auto finish = [&] {
      orderRegion(lastMatmul, matmuls, llvm::divideCeil(halfReads, 2));
      lastMatmul = nullptr;
      matmuls = halfReads = 0;
    };
    for (Operation &op : *block) {
      if (endsRegion(&op)) {
        finish();
      } else if (isa<amdgpu::MFMAOp>(op)) {
        lastMatmul = &op;
        ++matmuls;
      } else {
        halfReads += countHalfReads(&op);
      }
    }
    finish();
  });
}
