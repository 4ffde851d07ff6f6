//===- SumBits.h - What matrix units keep of a sum --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TARGET_SUMBITS_H
#define DIALECT_TESSERA_TARGET_SUMBITS_H

#include "Dialect/Tessera/Target/Chip.h"

namespace mlir::tessera {

/// The significand bits that an instruction keeps of a sum of products, where
/// that are fewer bits than its accumulator has; else 0.
int findSumBits(const MatrixInstruction &row);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_SUMBITS_H
