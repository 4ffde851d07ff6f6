//===- SumBits.h - Precision of sums in matrix units ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_SUMBITS_H
#define TARGETINFO_SUMBITS_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The number of significand bits that an instruction keeps of a sum of
/// products, if it is smaller than that of its accumulator; otherwise 0.
int findSumBits(const MatrixInstruction &row);

} // namespace mlir::tessera

#endif // TARGETINFO_SUMBITS_H
