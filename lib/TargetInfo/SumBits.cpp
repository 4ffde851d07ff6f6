//===- SumBits.cpp - Precision of sums in matrix units --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/SumBits.h"

using namespace mlir::tessera;

int mlir::tessera::findSumBits(const MatrixInstruction &row) {
  // NVIDIA's instructions for 8-bit floats align all terms and the accumulator
  // to the largest of them, and truncate bits below its 14 most significant
  // ones.
  llvm::StringRef name = row.name;
  bool isAligned = name.starts_with("mma.") || name.starts_with("wgmma.") ||
                   name.starts_with("tcgen05.");
  bool isFloat8 = llvm::StringRef(row.aType).starts_with("f8");
  return row.fewBits || (isAligned && isFloat8) ? 14 : 0;
}
