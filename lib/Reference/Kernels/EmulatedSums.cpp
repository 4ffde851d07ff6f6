//===- EmulatedSums.cpp - Sums of products as a unit rounds them ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four columns are summed at a time, one in each lane of a vector. The pieces
// of the reduction are packed as in Gemm.cpp. This file is compiled without
// contraction to fused multiply-adds, which `roundTo` does not survive.
//
//===----------------------------------------------------------------------===//

#include "EmulatedSums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace mlir::tessera::reference;

namespace {

using Vector = double __attribute__((vector_size(32)));
using Bits = int64_t __attribute__((vector_size(32)));
using Narrow = int32_t __attribute__((vector_size(16)));

/// How far the reduction goes between packings: a multiple of each width.
constexpr int64_t depth = 256;
constexpr int64_t lanes = 4;

__attribute__((always_inline)) inline Vector load(const double *from) {
  Vector value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// The accumulator plus `count` terms, rounded to nearest once. `splitter` is 2
/// to the number of dropped bits, plus 1.
__attribute__((always_inline)) inline Vector
addRounded(Vector sum, const double *a, const double *b, int64_t count,
           double splitter) {
  for (int64_t k = 0; k < count; ++k)
    sum += a[k] * load(b + k * lanes);
  // Veltkamp's splitting.
  Vector scaled = splitter * sum;
  return scaled - (scaled - sum);
}

/// The accumulator plus `count` terms, all of them aligned to the largest and
/// truncated.
__attribute__((always_inline)) inline Vector
addAligned(Vector sum, const double *a, const double *b, int64_t count,
           int bits) {
  constexpr int64_t magnitude = INT64_MAX;
  // Zeros are aligned to a tiny number.
  Vector largest = {0x1p-900, 0x1p-900, 0x1p-900, 0x1p-900};
  auto note = [&](Vector value) {
    Vector absolute = (Vector)((Bits)value & magnitude);
    largest = absolute > largest ? absolute : largest;
  };
  note(sum);
  for (int64_t k = 0; k < count; ++k)
    note(a[k] * load(b + k * lanes));
  // Powers of two, by their exponents: the largest has `bits` before the point.
  Bits exponent = (Bits)largest >> 52;
  Vector scale = (Vector)((2046 + bits - 1 - exponent) << 52);
  Vector inverse = (Vector)((exponent - (bits - 1)) << 52);
  Narrow total = __builtin_convertvector(sum * scale, Narrow);
  for (int64_t k = 0; k < count; ++k)
    total +=
        __builtin_convertvector(a[k] * load(b + k * lanes) * scale, Narrow);
  Vector result = __builtin_convertvector(total, Vector) * inverse;
  int64_t kept = -(int64_t(1) << (53 - bits));
  return (Vector)((Bits)result & kept);
}

/// Adds a packed piece to the sums of some rows, four columns each.
__attribute__((always_inline)) inline void
addPiece(const EmulatedUnit &unit, int64_t rows, int64_t count,
         const double *left, const double *right, double *sums,
         int64_t stride) {
  double splitter = std::ldexp(1.0, 53 - unit.bits) + 1;
  for (int64_t i = 0; i < rows; ++i) {
    const double *a = left + i * count;
    Vector sum = load(sums + i * stride);
    for (int64_t k = 0; k < count; k += unit.width) {
      int64_t length = std::min(unit.width, count - k);
      sum = unit.isAligned
                ? addAligned(sum, a + k, right + k * lanes, length, unit.bits)
                : addRounded(sum, a + k, right + k * lanes, length, splitter);
    }
    std::memcpy(sums + i * stride, &sum, sizeof(sum));
  }
}

using AddPiece = void (*)(const EmulatedUnit &, int64_t, int64_t,
                          const double *, const double *, double *, int64_t);

void addPieceBaseline(const EmulatedUnit &unit, int64_t rows, int64_t count,
                      const double *left, const double *right, double *sums,
                      int64_t stride) {
  addPiece(unit, rows, count, left, right, sums, stride);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void
addPieceAvx2(const EmulatedUnit &unit, int64_t rows, int64_t count,
             const double *left, const double *right, double *sums,
             int64_t stride) {
  addPiece(unit, rows, count, left, right, sums, stride);
}
#endif

AddPiece getAddPiece() {
#if defined(__x86_64__)
  static const bool hasAvx2 = __builtin_cpu_supports("avx2");
  if (hasAvx2)
    return addPieceAvx2;
#endif
  return addPieceBaseline;
}

} // namespace

void mlir::tessera::reference::emulateTile(const EmulatedUnit &unit,
                                           const GatheredMatrix &a,
                                           const GatheredMatrix &b, int64_t row,
                                           int64_t rows, int64_t column,
                                           int64_t columns, int64_t length,
                                           double *result) {
  AddPiece add = getAddPiece();
  int64_t panels = (columns + lanes - 1) / lanes, stride = panels * lanes;
  std::vector<double> left(rows * depth), right(panels * lanes * depth);
  std::vector<double> sums(rows * stride, 0.0);
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(result + i * columns, columns, sums.data() + i * stride);
  for (int64_t start = 0; start < length; start += depth) {
    int64_t count = std::min(depth, length - start);
    auto at = [&](int64_t k) {
      return unit.isReversed ? length - 1 - (start + k) : start + k;
    };
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < count; ++k)
        left[i * count + k] = at(k) >= unit.skipBegin && at(k) < unit.skipEnd
                                  ? 0.0
                                  : a.get(row + i, at(k));
    for (int64_t panel = 0; panel < panels; ++panel)
      for (int64_t k = 0; k < count; ++k)
        for (int64_t lane = 0; lane < lanes; ++lane) {
          int64_t j = panel * lanes + lane;
          right[(panel * count + k) * lanes + lane] =
              j < columns ? b.get(at(k), column + j) : 0.0;
        }
    for (int64_t panel = 0; panel < panels; ++panel)
      add(unit, rows, count, left.data(), right.data() + panel * count * lanes,
          sums.data() + panel * lanes, stride);
  }
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(sums.data() + i * stride, columns, result + i * columns);
}
