//===- Types.h - Element types, sizes, and what values can be ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUZZ_TYPES_H
#define FUZZ_TYPES_H

#include "Fuzz/Rng.h"

#include <string>
#include <type_traits>
#include <vector>

namespace fuzz {

enum class Element { F16, BF16, F32, F64, E4M3, E5M2, I4, I8, I32, Index };

struct ElementInfo {
  const char *name;
  bool isFloat;
  int bytes;
  /// Bits of the significand, or of an integer's magnitude.
  int precision;
  /// The largest finite number.
  double largest;
  /// The largest magnitude that `--arg=int` gives.
  double filled;
};

const ElementInfo &getInfo(Element element);
inline bool isFloat(Element element) { return getInfo(element).isFloat; }

/// Known properties of a value: its magnitude is at most `bound`, it is a
/// multiple of 2^`grid`, and, where `exact` is set, no order of the operations
/// that made it rounds anywhere.
struct Range {
  double bound = 0;
  int grid = 0;
  bool exact = true;
};

/// The range, as a value of that type: not exact any more if it has too many
/// bits or is too large.
Range asElement(Element element, Range range, int precision = 0);
/// The range of a sum of `count` terms.
Range getTermSum(Element accumulator, Element operand, const Range &a,
                 const Range &b, double count);
Range add(Element element, const Range &a, const Range &b);
Range multiply(Element element, const Range &a, const Range &b);
Range unite(const Range &a, const Range &b);

/// A dimension of a tensor.
struct Dim {
  int64_t size = 1;
  bool isDynamic = false;
};
using Dims = std::vector<Dim>;

int64_t countElements(const Dims &dims);

/// 1, primes, powers of two and their neighbours, multiples of 8; at most
/// `most`. Zero where that is allowed, seldom.
int64_t pickSize(Rng &rng, int64_t most, bool allowZero = true);
/// Sizes that multiply to at most `budget`.
std::vector<int64_t> pickSizes(Rng &rng, size_t count, int64_t budget,
                               int64_t most = 300);
std::vector<size_t> pickPermutation(Rng &rng, size_t count);

/// "affine_map<(d0, d1, d2) -> (d0, d2)>".
std::string formatMap(size_t loops, const std::vector<size_t> &results);
/// "1, 2, 3".
template <typename T> std::string join(const std::vector<T> &values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    text += i ? ", " : "";
    if constexpr (std::is_same_v<T, std::string>)
      text += values[i];
    else
      text += std::to_string(values[i]);
  }
  return text;
}

} // namespace fuzz

#endif // FUZZ_TYPES_H
