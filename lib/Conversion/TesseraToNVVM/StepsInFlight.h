//===- StepsInFlight.h - Matmuls in flight across steps ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warpgroup that waits for a step's matmul before it waits for the next
// step's tiles leaves the matrix unit idle in between, unless another warpgroup
// has work for it. So it issues the next step's matmul first:
//
//   wait for step 0's tiles, issue its matmul
//   wait for step 1's tiles, issue its matmul, wait for step 0's matmul,
//     and release step 0's slots
//   ...
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_STEPSINFLIGHT_H
#define CONVERSION_TESSERATONVVM_STEPSINFLIGHT_H

#include "Target/NVIDIA/BulkCopies.h"

namespace mlir::tessera {

/// The matmul of the one step of `loop` whose instructions may still be in
/// flight when those of the next iteration are issued: its operands are loaded
/// in that step, and its sums are carried to the next iteration without other
/// uses. Null if there is none, if the rings have too few slots for one that is
/// kept longer, or if there are enough other warpgroups. `threads`: the threads
/// of the workgroup, without those that copy.
MmaOp findMatmulInFlight(scf::ForOp loop, const StagingPlan &plan,
                         const Chip &chip, int64_t threads);

/// Waits after `loop` for the last iteration's matmul, whose sums are result
/// `number` of the loop.
void awaitMatmul(scf::ForOp loop, unsigned number);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_STEPSINFLIGHT_H
