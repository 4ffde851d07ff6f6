//===- PairColumns.h - Tiles of adjacent columns as one ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LANEMATMULTOTESSERA_PAIRCOLUMNS_H
#define LIB_CONVERSION_LANEMATMULTOTESSERA_PAIRCOLUMNS_H

#include "Tiles.h"

namespace mlir::tessera {

/// The instruction of `chip` for fragments of the tiles of `matmul`, with this
/// number of columns. Null if there is none.
const MatrixInstruction *findFragmentInstruction(const Chip &chip,
                                                 const TileMatmul &matmul,
                                                 int64_t cols);

/// The precision of the fragments' matmul.
Precision getPrecision(const TileMatmul &matmul);

/// Joins pairs of matmuls with the same left operand and adjacent columns, and
/// all that is computed from them, where the matrix unit of `chip` needs twice
/// as many columns as the tiles have.
void pairColumns(TileMatching &matching, LaneForms &forms, const Chip &chip);

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LANEMATMULTOTESSERA_PAIRCOLUMNS_H
