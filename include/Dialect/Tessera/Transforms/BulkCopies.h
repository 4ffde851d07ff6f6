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

/// The copies of one step in a kernel of a group of subgroups, as
/// `tessera-promote-tiles` leaves them: barrier, copies, barrier, and what
/// reads the tiles.
struct StagingStep {
  /// Copies to workgroup memory; what they write belongs to the step alone.
  SmallVector<CopyOp> copies;
  gpu::BarrierOp before, after;
  /// The loops that the step stands in, outermost first: of the kernel's top
  /// level, each in the body of the one before.
  SmallVector<scf::ForOp> loops;
  /// Copies that take other workgroup memory to the outside, each behind a
  /// barrier of its own.
  SmallVector<CopyOp> outputs;
  /// Copies from the outside to memory that `outputs` are from, before what is
  /// made there; a barrier stands behind them.
  SmallVector<CopyOp> inputs;
};

/// The one step of `kernel`, a gpu.launch or gpu.func of so many threads, whose
/// tiles the bulk copy engine of `chip` can bring, by a subgroup of its own, to
/// as many slots as `stages` says. Otherwise nothing, and `why` says what is in
/// the way; it stays empty where the kernel has no copies to workgroup memory.
std::optional<StagingStep> matchBulkStep(Operation *kernel, int64_t stages,
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
