//===- Gemm.cpp - Matmuls of doubles --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The usual scheme: both matrices are packed into panels as wide as the
// register tile, and a kernel accumulates one register tile over a piece of the
// reduction. On x86 with AVX2 and FMA there is a larger register tile.
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace mlir::tessera::reference;

namespace {

using Vector = double __attribute__((vector_size(32)));
/// How far the reduction goes between packings.
constexpr int64_t depth = 256;

template <int rows, int vectors>
__attribute__((always_inline)) inline void
accumulate(int64_t length, const double *a, const double *b, double *tile) {
  Vector sums[rows][vectors] = {};
  for (int64_t k = 0; k < length; ++k) {
    Vector right[vectors];
    for (int v = 0; v < vectors; ++v)
      std::memcpy(&right[v], b + 4 * v, sizeof(Vector));
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v)
        sums[r][v] += a[r] * right[v];
    a += rows;
    b += 4 * vectors;
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      std::memcpy(tile + (r * vectors + v) * 4, &sums[r][v], sizeof(Vector));
}

struct Kernel {
  int64_t rows, columns;
  void (*run)(int64_t length, const double *a, const double *b, double *tile);
};

void runBaseline(int64_t length, const double *a, const double *b,
                 double *tile) {
  accumulate<4, 1>(length, a, b, tile);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void
runAvx2(int64_t length, const double *a, const double *b, double *tile) {
  accumulate<6, 2>(length, a, b, tile);
}
#endif

const Kernel &getKernel() {
  static const Kernel kernel = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return Kernel{6, 8, runAvx2};
#endif
    return Kernel{4, 4, runBaseline};
  }();
  return kernel;
}

} // namespace

void mlir::tessera::reference::multiplyTile(const GatheredMatrix &a,
                                            const GatheredMatrix &b,
                                            int64_t row, int64_t rows,
                                            int64_t column, int64_t columns,
                                            int64_t length, double *result,
                                            double *peak) {
  const Kernel &kernel = getKernel();
  int64_t mr = kernel.rows, nr = kernel.columns;
  int64_t rowPanels = (rows + mr - 1) / mr;
  int64_t columnPanels = (columns + nr - 1) / nr;
  std::vector<double> left(rowPanels * mr * depth);
  std::vector<double> right(columnPanels * nr * depth);
  std::vector<double> tile(mr * nr);
  std::fill_n(result, rows * columns, 0.0);
  if (peak)
    std::fill_n(peak, rows * columns, 0.0);
  for (int64_t start = 0; start < length; start += depth) {
    int64_t count = std::min(depth, length - start);
    for (int64_t panel = 0; panel < rowPanels; ++panel)
      for (int64_t i = 0; i < mr; ++i) {
        int64_t r = panel * mr + i;
        double *to = left.data() + panel * mr * count + i;
        for (int64_t k = 0; k < count; ++k)
          to[k * mr] = r < rows ? a.get(row + r, start + k) : 0.0;
      }
    for (int64_t panel = 0; panel < columnPanels; ++panel)
      for (int64_t k = 0; k < count; ++k) {
        double *to = right.data() + (panel * count + k) * nr;
        for (int64_t j = 0; j < nr; ++j) {
          int64_t c = panel * nr + j;
          to[j] = c < columns ? b.get(start + k, column + c) : 0.0;
        }
      }
    for (int64_t n = 0; n < columnPanels; ++n)
      for (int64_t m = 0; m < rowPanels; ++m) {
        kernel.run(count, left.data() + m * mr * count,
                   right.data() + n * nr * count, tile.data());
        int64_t height = std::min(mr, rows - m * mr);
        int64_t width = std::min(nr, columns - n * nr);
        for (int64_t i = 0; i < height; ++i)
          for (int64_t j = 0; j < width; ++j)
            result[(m * mr + i) * columns + n * nr + j] += tile[i * nr + j];
      }
    for (int64_t i = 0; peak && i < rows * columns; ++i)
      peak[i] = std::max(peak[i], std::fabs(result[i]));
  }
}

void mlir::tessera::reference::multiplyTile(const GatheredMatrix &a,
                                            const GatheredMatrix &b,
                                            int64_t row, int64_t rows,
                                            int64_t column, int64_t columns,
                                            int64_t length, int64_t *result) {
  std::vector<int64_t> left(rows * depth), right(columns * depth);
  std::fill_n(result, rows * columns, 0);
  for (int64_t start = 0; start < length; start += depth) {
    int64_t count = std::min(depth, length - start);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < count; ++k)
        left[i * count + k] = a.getInteger(row + i, start + k);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t j = 0; j < columns; ++j)
        right[k * columns + j] = b.getInteger(start + k, column + j);
    multiplyDense(left.data(), right.data(), result, rows, columns, count);
  }
}

void mlir::tessera::reference::multiplyDense(const double *a, const double *b,
                                             double *result, double *magnitude,
                                             int64_t rows, int64_t columns,
                                             int64_t length) {
  for (int64_t i = 0; i < rows; ++i) {
    double *sums = result + i * columns;
    for (int64_t k = 0; k < length; ++k) {
      double factor = a[i * length + k];
      const double *others = b + k * columns;
      for (int64_t j = 0; j < columns; ++j)
        sums[j] += factor * others[j];
    }
    if (!magnitude)
      continue;
    double *totals = magnitude + i * columns;
    for (int64_t k = 0; k < length; ++k) {
      double factor = std::fabs(a[i * length + k]);
      const double *others = b + k * columns;
      for (int64_t j = 0; j < columns; ++j)
        totals[j] += factor * std::fabs(others[j]);
    }
  }
}

void mlir::tessera::reference::multiplyDense(const int64_t *a, const int64_t *b,
                                             int64_t *result, int64_t rows,
                                             int64_t columns, int64_t length) {
  for (int64_t i = 0; i < rows; ++i) {
    int64_t *sums = result + i * columns;
    for (int64_t k = 0; k < length; ++k) {
      uint64_t factor = static_cast<uint64_t>(a[i * length + k]);
      const int64_t *others = b + k * columns;
      for (int64_t j = 0; j < columns; ++j)
        sums[j] =
            static_cast<int64_t>(static_cast<uint64_t>(sums[j]) +
                                 factor * static_cast<uint64_t>(others[j]));
    }
  }
}
