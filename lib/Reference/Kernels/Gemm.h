//===- Gemm.h - Matmuls of doubles --------------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_KERNELS_GEMM_H
#define LIB_REFERENCE_KERNELS_GEMM_H

#include "llvm/Support/Compiler.h"

#include <cstdint>

namespace mlir::tessera::reference {

/// A matrix scattered in memory: element (r, c) is at rows[r] + columns[c].
struct GatheredMatrix {
  /// One of the two.
  const double *floats = nullptr;
  const int64_t *integers = nullptr;
  const int64_t *rows = nullptr;
  const int64_t *columns = nullptr;
  /// The bits of an integer that are used; the bits above are dropped.
  uint64_t mask = ~uint64_t(0);
  /// Then subtracted.
  int64_t zeroPoint = 0;
  /// Converts a float to a factor; null for the identity.
  double (*convert)(const void *context, double value) = nullptr;
  const void *context = nullptr;

  double get(int64_t row, int64_t column) const {
    return getAt(rows[row] + columns[column]);
  }
  int64_t getInteger(int64_t row, int64_t column) const {
    return getIntegerAt(rows[row] + columns[column]);
  }
  /// The factor at an address, which is within the storage.
  LLVM_ATTRIBUTE_ALWAYS_INLINE double getAt(int64_t address) const {
    double value =
        floats ? floats[address] : static_cast<double>(getIntegerAt(address));
    return convert ? convert(context, value) : value;
  }
  LLVM_ATTRIBUTE_ALWAYS_INLINE int64_t getIntegerAt(int64_t address) const {
    return static_cast<int64_t>(static_cast<uint64_t>(integers[address]) &
                                mask) -
           zeroPoint;
  }
};

/// The largest tile that is computed at once.
inline constexpr int64_t gemmTileRows = 192;
inline constexpr int64_t gemmTileColumns = 480;

/// result[i][j] = sum over k of a(row + i, k) * b(k, column + j), for a tile of
/// at most that size. The result is dense, and so is `peak`, the largest
/// absolute value of the partial sums after each few hundred terms (it may be
/// null).
void multiplyTile(const GatheredMatrix &a, const GatheredMatrix &b, int64_t row,
                  int64_t rows, int64_t column, int64_t columns, int64_t length,
                  double *result, double *peak = nullptr);

/// The same for integers, modulo 2 to the 64.
void multiplyTile(const GatheredMatrix &a, const GatheredMatrix &b, int64_t row,
                  int64_t rows, int64_t column, int64_t columns, int64_t length,
                  int64_t *result);

/// result[i][j] += sum over k of a[i][k] * b[k][j], all of them dense; and the
/// same sum of the absolute values, unless `magnitude` is null.
void multiplyDense(const double *a, const double *b, double *result,
                   double *magnitude, int64_t rows, int64_t columns,
                   int64_t length);
void multiplyDense(const int64_t *a, const int64_t *b, int64_t *result,
                   int64_t rows, int64_t columns, int64_t length);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_KERNELS_GEMM_H
