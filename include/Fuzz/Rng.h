//===- Rng.h - Random choices that are the same everywhere ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUZZ_RNG_H
#define FUZZ_RNG_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace fuzz {

/// splitmix64 (Steele, Lea and Flood 2014), and choices made of it. The
/// distributions of the standard library differ between implementations; these
/// do not. Call it once in an expression: C++ leaves the order of evaluation of
/// arguments and of operands of `+` open.
class Rng {
public:
  Rng(uint64_t seed, uint64_t index) : state(seed) {
    // Mixed in between, so that neighbouring seeds and indices share nothing.
    state = next() ^ (index * 0xD1B54A32D192ED03u);
    next();
  }

  uint64_t next() {
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// 0 to `count` - 1; `count` is 1 or more and has at most 32 bits.
  int64_t below(int64_t count) {
    return static_cast<int64_t>((next() >> 32) * static_cast<uint64_t>(count) >>
                                32);
  }

  int64_t between(int64_t least, int64_t greatest) {
    return least + below(greatest - least + 1);
  }

  bool chance(int percent) { return below(100) < percent; }

  template <typename T> T pick(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }
  template <typename T> const T &pick(const std::vector<T> &values) {
    return values[static_cast<size_t>(
        below(static_cast<int64_t>(values.size())))];
  }
  template <typename T, size_t size> const T &pick(const T (&values)[size]) {
    return values[below(static_cast<int64_t>(size))];
  }

  template <typename T> void shuffle(std::vector<T> &values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1],
                values[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  }

private:
  uint64_t state;
};

} // namespace fuzz

#endif // FUZZ_RNG_H
