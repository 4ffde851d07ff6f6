//===- Types.cpp - Element types, sizes, and what values can be -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Types.h"

#include <algorithm>
#include <cmath>

using namespace fuzz;

const ElementInfo &fuzz::getInfo(Element element) {
  static const ElementInfo infos[] = {
      {"f16", true, 2, 11, 65504, 3},
      {"bf16", true, 2, 8, 3e38, 3},
      {"f32", true, 4, 24, 3e38, 3},
      {"f64", true, 8, 53, 1e308, 3},
      {"f8E4M3FN", true, 1, 4, 448, 3},
      {"f8E5M2", true, 1, 3, 57344, 3},
      {"i4", false, 1, 3, 7, 8},
      {"i8", false, 1, 7, 127, 8},
      {"i32", false, 4, 31, 2147483647.0, 8},
      // The reference counts in double precision.
      {"index", false, 8, 53, 9e15, 8},
  };
  return infos[static_cast<size_t>(element)];
}

Range fuzz::asElement(Element element, Range range, int precision) {
  const ElementInfo &info = getInfo(element);
  if (precision == 0)
    precision = info.precision;
  if (!info.isFloat) {
    // Integers wrap around.
    range.bound = std::min(range.bound, info.largest + 1);
    range.grid = std::max(range.grid, 0);
    return range;
  }
  if (range.bound > info.largest ||
      std::ldexp(range.bound, -range.grid) > std::ldexp(1.0, precision))
    range.exact = false;
  return range;
}

Range fuzz::multiply(Element element, const Range &a, const Range &b) {
  return asElement(element,
                   {a.bound * b.bound, a.grid + b.grid, a.exact && b.exact});
}

Range fuzz::add(Element element, const Range &a, const Range &b) {
  return asElement(element, {a.bound + b.bound, std::min(a.grid, b.grid),
                             a.exact && b.exact});
}

Range fuzz::unite(const Range &a, const Range &b) {
  return {std::max(a.bound, b.bound), std::min(a.grid, b.grid),
          a.exact && b.exact};
}

Range fuzz::getTermSum(Element accumulator, Element operand, const Range &a,
                       const Range &b, double count) {
  // Matrix units sum 8-bit floats with fewer bits than f32 has.
  bool isNarrow = isFloat(operand) && getInfo(operand).bytes == 1 &&
                  accumulator == Element::F32;
  return asElement(accumulator,
                   {a.bound * b.bound * std::max(count, 1.0), a.grid + b.grid,
                    a.exact && b.exact},
                   isNarrow ? 13 : 0);
}

int64_t fuzz::countElements(const Dims &dims) {
  int64_t count = 1;
  for (const Dim &dim : dims)
    count *= dim.size;
  return count;
}

int64_t fuzz::pickSize(Rng &rng, int64_t most, bool allowZero) {
  if (allowZero && rng.below(1000) < 8)
    return 0;
  for (;;) {
    int64_t size = 1;
    switch (rng.below(6)) {
    case 0:
      size = rng.pick({1, 1, 2, 3});
      break;
    case 1:
      size = rng.pick({2,  3,  5,  7,  11, 13, 17,  19,  23,  29,  31, 37,
                       43, 53, 61, 67, 83, 97, 113, 127, 131, 197, 251});
      break;
    case 2:
      size = int64_t(1) << rng.between(1, 8);
      break;
    case 3: {
      size = int64_t(1) << rng.between(2, 8);
      size += rng.chance(50) ? 1 : -1;
      break;
    }
    case 4:
      size = 8 * rng.between(1, 24);
      break;
    default:
      size = rng.between(1, std::max<int64_t>(most, 1));
    }
    if (size <= std::max<int64_t>(most, 1))
      return size;
  }
}

/// The largest number whose power is at most `value`; std::pow differs from one
/// system to the next.
static int64_t getRoot(int64_t value, size_t exponent) {
  for (int64_t root = 1;; ++root) {
    int64_t power = 1;
    for (size_t i = 0; i < exponent && power <= value; ++i)
      power *= root + 1;
    if (power > value || exponent == 0 || root == 4096)
      return root;
  }
}

std::vector<int64_t> fuzz::pickSizes(Rng &rng, size_t count, int64_t budget,
                                     int64_t most) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < count; ++i) {
    // An equal part of what is left for each, give or take a factor.
    int64_t share = getRoot(budget, count - i);
    share *= i + 1 < count ? rng.pick({1, 2, 4}) : 1;
    int64_t limit = std::max<int64_t>(1, std::min({share, most, budget}));
    int64_t size = pickSize(rng, limit);
    sizes.push_back(size);
    budget /= std::max<int64_t>(size, 1);
  }
  rng.shuffle(sizes);
  return sizes;
}

std::vector<size_t> fuzz::pickPermutation(Rng &rng, size_t count) {
  std::vector<size_t> permutation(count);
  for (size_t i = 0; i < count; ++i)
    permutation[i] = i;
  rng.shuffle(permutation);
  return permutation;
}

std::string fuzz::formatMap(size_t loops, const std::vector<size_t> &results) {
  std::vector<std::string> dims, exprs;
  for (size_t i = 0; i < loops; ++i)
    dims.push_back("d" + std::to_string(i));
  for (size_t result : results)
    exprs.push_back("d" + std::to_string(result));
  return "affine_map<(" + join(dims) + ") -> (" + join(exprs) + ")>";
}
