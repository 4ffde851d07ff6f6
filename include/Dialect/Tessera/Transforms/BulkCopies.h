//===- BulkCopies.h - What a bulk copy engine takes -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_BULKCOPIES_H
#define DIALECT_TESSERA_TRANSFORMS_BULKCOPIES_H

#include "Dialect/Tessera/Target/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tessera {

/// Copies to workgroup memory that stand between two barriers, in a kernel of
/// a group of subgroups, as `tessera-promote-tiles` leaves them: barrier,
/// copies, barrier, and further down what reads the tiles. A barrier may be the
/// one behind a step and the one before the next.
struct StagingStep {
  SmallVector<CopyOp> copies;
  gpu::BarrierOp before, after;
};

/// Tiles that the same steps bring: they come and go together.
struct TileSet {
  SmallVector<Value> memories;
  /// How many of each are in flight.
  int64_t slots;
};

/// All copies of a kernel from memory to workgroup memory. What they write is
/// read by loads alone.
struct StagingPlan {
  /// In the order of the program, in loops of the kernel or in none.
  SmallVector<StagingStep> steps;
  SmallVector<TileSet> tiles;
  /// Which step brings what a load reads.
  llvm::DenseMap<LoadOp, size_t> suppliers;
  /// Copies that take other workgroup memory to the outside, each behind a
  /// barrier of its own.
  SmallVector<CopyOp> outputs;
  /// Copies from the outside to memory that `outputs` are from, before what is
  /// made there; a barrier stands behind them.
  SmallVector<CopyOp> inputs;

  /// Whether `op` is a loop around a step.
  bool isStagingLoop(Operation *op) const;
};

/// The steps of `kernel`, a gpu.launch or gpu.func of so many threads, whose
/// tiles the bulk copy engine of `chip` can bring, by a subgroup of its own, to
/// as many slots as `stages` says; tiles that are brought in outer loops have
/// one. Otherwise nothing, and `why` says what is in the way; it stays empty
/// where the kernel has no copies to workgroup memory.
std::optional<StagingPlan> matchBulkSteps(Operation *kernel, int64_t stages,
                                          int64_t threads, const Chip &chip,
                                          std::string &why);

/// Registers of a thread that an instruction of several subgroups takes besides
/// its accumulators: with fewer, ptxas refuses the kernel (C7602).
constexpr int64_t registersBesideAccumulators = 26;

/// How many threads are added to a workgroup of so many, of which one issues
/// its copies: a subgroup, or as many as can hand their registers over where
/// the others have more than one such group. With `carries`, a second subgroup
/// is among them, which brings and takes what is no step's.
int64_t countProducerThreads(int64_t threads, const Chip &chip,
                             bool carries = false);

/// Rows and columns of what one bulk copy brings of a swizzled tile of `shape`,
/// of which each of `parts` workgroups brings as much: some of its panels, or
/// some rows of all. Nothing if there are no such parts.
std::optional<std::array<int64_t, 2>> getSharedBox(std::array<int64_t, 2> shape,
                                                   int64_t bits, int64_t parts);

/// Why a copy between memory and workgroup memory is no business of the engine.
/// Empty: it is one.
std::string explainNotBulk(CopyOp op, const Chip &chip);
std::string explainNotBulk(AsyncCopyOp op, const Chip &chip);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_BULKCOPIES_H
