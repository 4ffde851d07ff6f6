//===- StepsInFlight.h - Products that go on from step to step --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warpgroup that waits for a step's product before it looks for the next
// step's tiles leaves the matrix unit idle in between, unless another warpgroup
// has something for it. So it issues the next step's first:
//
//   wait for step 0's tiles, issue its product
//   wait for step 1's tiles, issue its product, wait for step 0's product,
//     and say that step 0's slots are empty
//   ...
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_STEPSINFLIGHT_H
#define CONVERSION_TESSERATONVVM_STEPSINFLIGHT_H

#include "Dialect/Tessera/Transforms/BulkCopies.h"

namespace mlir::tessera {

/// The product of the one step of `loop` whose instructions may still run when
/// the next turn's are issued: what they read comes with that step, and their
/// sums go on to the next turn and are touched by nothing else. Null if there
/// is none, if the rings have too few slots for one that is kept longer, or if
/// there are enough other warpgroups.
/// `threads`: of the workgroup, without those that copy.
MmaOp findProductInFlight(scf::ForOp loop, const StagingPlan &plan,
                          const Chip &chip, int64_t threads);

/// Waits behind `loop` for the last turn's product, whose sums are result
/// `number` of it.
void awaitProduct(scf::ForOp loop, unsigned number);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_STEPSINFLIGHT_H
