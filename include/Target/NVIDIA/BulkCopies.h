//===- BulkCopies.h - Kernels with bulk copies (TMA) ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_NVIDIA_BULKCOPIES_H
#define TARGET_NVIDIA_BULKCOPIES_H

#include "TargetInfo/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tessera {

/// Copies to workgroup memory between two barriers, in a kernel of a group of
/// subgroups, as `tessera-promote-tiles` leaves them: barrier, copies, barrier,
/// followed by the readers of the tiles. The barrier after a step may be the
/// barrier before the next one.
struct StagingStep {
  SmallVector<CopyOp> copies;
  gpu::BarrierOp before, after;
};

/// Tiles that are loaded by the same steps, and have the same lifetime.
struct TileSet {
  SmallVector<Value> memories;
  /// The number of slots of each tile, that is of copies in flight.
  int64_t slots;
};

/// All copies of a kernel from memory to workgroup memory, whose targets are
/// only read by loads.
struct StagingPlan {
  /// The steps in program order, inside or outside of loops of the kernel.
  SmallVector<StagingStep> steps;
  SmallVector<TileSet> tiles;
  /// The index of the step that loads the tile which a load reads.
  llvm::DenseMap<LoadOp, size_t> suppliers;
  /// Copies of other workgroup memory to global memory, each after a barrier of
  /// its own.
  SmallVector<CopyOp> outputs;
  /// Copies from global memory to the memory that `outputs` read, before the
  /// results are stored there; a barrier follows them.
  SmallVector<CopyOp> inputs;

  /// Whether `op` is a loop around a step.
  bool isStagingLoop(Operation *op) const;
};

/// Whether `op` stages a tile: it copies to workgroup memory, whose content is
/// not copied on from there.
bool isStagingCopy(CopyOp op);

/// The steps of `kernel`, a gpu.launch or gpu.func of `threads` threads, if TMA
/// of `chip` can load their tiles, issued by a dedicated subgroup, to `stages`
/// slots; tiles that are loaded in outer loops have one slot. Otherwise empty,
/// with the reason in `why`; the reason stays empty if the kernel has no copies
/// to workgroup memory.
std::optional<StagingPlan> matchBulkSteps(Operation *kernel, int64_t stages,
                                          int64_t threads, const Chip &chip,
                                          std::string &why);

/// Bytes of workgroup memory of `kernel` with all slots, and with the barriers.
int64_t countWorkgroupBytes(Operation *kernel, const StagingPlan &plan);

/// The number of registers of a thread that an instruction of several subgroups
/// needs in addition to its accumulators: with fewer, ptxas rejects the kernel
/// (C7602).
constexpr int64_t registersBesideAccumulators = 26;

/// The registers that matmuls need besides their accumulators: addresses,
/// slots, and loop counters. ptxas uses 40 for the largest tiles.
constexpr int64_t registersOfSteps = 48;

/// The number of threads that are added to a workgroup of `threads` threads,
/// one of which issues its copies: a subgroup, or the smallest group that can
/// release registers, if the other threads form more than one such group. With
/// `carries`, the added threads include a second subgroup, which copies the
/// epilogue's tiles.
int64_t countProducerThreads(int64_t threads, const Chip &chip,
                             bool carries = false);

/// The registers of each thread of a workgroup some of whose threads copy.
struct RegisterShares {
  /// All threads have `first` at the start of the kernel. A copying thread
  /// keeps `least`, and each of the others then has `taken`: more than `first`
  /// if the copying threads can release registers.
  int64_t first, least, taken;

  bool areShifted() const { return taken > first; }
};

/// The registers that a copying thread needs beyond the least number of the
/// chip: in clusters, if a second subgroup copies the epilogue's tiles, and if
/// the steps of several rings are in loops in loops.
constexpr int64_t reserveOfClusters = 16, reserveOfCarriers = 8,
                  reserveOfRings = 16;

/// The shares of `threads` threads beside `producers` copying threads, each of
/// which needs `reserve` registers beyond the least number of the chip.
RegisterShares shareRegisters(int64_t threads, int64_t producers,
                              int64_t reserve, const Chip &chip);

/// The rows and columns of one bulk copy of a swizzled tile of `shape` that
/// `parts` workgroups load in equal parts: some of its panels, or some rows of
/// all panels. Empty if there are no such parts.
std::optional<std::array<int64_t, 2>> getSharedBox(std::array<int64_t, 2> shape,
                                                   int64_t bits, int64_t parts);

/// The reason why TMA does not perform a copy between memory and workgroup
/// memory. Empty if it does.
std::string explainNotBulk(CopyOp op, const Chip &chip);
std::string explainNotBulk(AsyncCopyOp op, const Chip &chip);

} // namespace mlir::tessera

#endif // TARGET_NVIDIA_BULKCOPIES_H
