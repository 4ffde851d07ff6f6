//===- RandomChoice.h - Random choices --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_RANDOMCHOICE_H
#define LIB_REFERENCE_RANDOMCHOICE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <random>

namespace mlir::tessera::reference {

/// At most `count` numbers from `begin` to `end` (exclusive), in order: both
/// ends, and one from each of as many equal parts as are left.
inline SmallVector<int64_t> pickSample(int64_t begin, int64_t end,
                                       int64_t count, uint64_t seed) {
  SmallVector<int64_t> sample;
  int64_t size = end - begin;
  if (count >= size) {
    for (int64_t i = begin; i < end; ++i)
      sample.push_back(i);
    return sample;
  }
  if (count <= 0)
    return sample;
  std::mt19937_64 generator(seed);
  sample.push_back(end - 1);
  if (count > 1)
    sample.push_back(begin);
  int64_t inner = size - 2, parts = count - 2;
  for (int64_t part = 0; part < parts; ++part) {
    int64_t first = inner * part / parts, last = inner * (part + 1) / parts;
    uint64_t choices = static_cast<uint64_t>(last - first);
    sample.push_back(begin + 1 + first +
                     static_cast<int64_t>(generator() % choices));
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_RANDOMCHOICE_H
