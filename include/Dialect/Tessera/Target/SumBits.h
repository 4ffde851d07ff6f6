//===- SumBits.h - Precision of sums in matrix units ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TARGET_SUMBITS_H
#define DIALECT_TESSERA_TARGET_SUMBITS_H

#include "Dialect/Tessera/Target/Chip.h"

namespace mlir::tessera {

/// The number of significand bits that an instruction keeps of a sum of
/// products, if it is smaller than that of its accumulator; otherwise 0.
int findSumBits(const MatrixInstruction &row);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_SUMBITS_H
