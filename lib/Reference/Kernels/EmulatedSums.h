//===- EmulatedSums.h - Sums of products as a unit rounds them --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_KERNELS_EMULATEDSUMS_H
#define LIB_REFERENCE_KERNELS_EMULATEDSUMS_H

#include "Gemm.h"

namespace mlir::tessera::reference {

/// A matrix unit, as far as it rounds sums.
struct EmulatedUnit {
  /// Significand bits of the accumulator.
  int bits = 24;
  /// Whether the unit aligns the terms and the accumulator to the largest of
  /// them and truncates them to `bits`. Otherwise it rounds the accumulator to
  /// nearest after each addition.
  bool isAligned = false;
  /// The number of terms of one addition.
  int64_t width = 16;
  /// Whether the sum starts with the last term.
  bool isReversed = false;
  /// The terms from `skipBegin` to before `skipEnd` are zero.
  int64_t skipBegin = 0, skipEnd = 0;
};

/// result[i][j] += sum over k of a(row + i, k) * b(k, column + j), rounded as
/// the unit rounds it, for a tile of at most `gemmTileRows` x
/// `gemmTileColumns`. The result is dense.
void emulateTile(const EmulatedUnit &unit, const GatheredMatrix &a,
                 const GatheredMatrix &b, int64_t row, int64_t rows,
                 int64_t column, int64_t columns, int64_t length,
                 double *result);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_KERNELS_EMULATEDSUMS_H
