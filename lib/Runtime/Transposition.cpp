//===- Transposition.cpp - Constants with permuted dimensions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Constants.h"

#include <cstring>

using namespace tessera::runtime;

/// More dimensions do not occur.
static constexpr size_t mostDimensions = 8;
static constexpr int64_t mostElementBytes = 16;

bool tessera::runtime::canTranspose(const Transposition &transposition,
                                    size_t bytes) {
  const auto &[source, shape, permutation, elementBytes] = transposition;
  size_t rank = shape.size();
  if (rank == 0 || rank > mostDimensions || permutation.size() != rank ||
      elementBytes < 1 || elementBytes > mostElementBytes)
    return false;
  bool isUsed[mostDimensions] = {};
  for (int64_t dim : permutation) {
    if (dim < 0 || static_cast<size_t>(dim) >= rank || isUsed[dim])
      return false;
    isUsed[dim] = true;
  }
  int64_t size = elementBytes;
  for (int64_t extent : shape)
    if (extent < 1 || __builtin_mul_overflow(size, extent, &size))
      return false;
  return static_cast<size_t>(size) == bytes;
}

/// Copies elements of `Size` bytes, or of `size` for 0, whose number is known
/// when the loop is compiled.
template <size_t Size>
static void copyElements(const char *from, const std::vector<int64_t> &shape,
                         const std::vector<int64_t> &steps, size_t size,
                         char *to) {
  size_t bytes = Size ? Size : size, last = shape.size() - 1;
  std::vector<int64_t> index(shape.size(), 0);
  for (;;) {
    const char *element = from;
    for (int64_t i = 0; i < shape[last];
         ++i, to += bytes, element += steps[last])
      std::memcpy(to, element, bytes);
    size_t d = last;
    for (;;) {
      if (d-- == 0)
        return;
      from += steps[d];
      if (++index[d] < shape[d])
        break;
      from -= steps[d] * shape[d];
      index[d] = 0;
    }
  }
}

std::string tessera::runtime::transpose(std::string_view bytes,
                                        const Transposition &transposition) {
  const auto &[source, shape, permutation, elementBytes] = transposition;
  std::vector<int64_t> strides(shape.size()), sizes, steps;
  int64_t stride = elementBytes;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  for (int64_t dim : permutation) {
    sizes.push_back(shape[static_cast<size_t>(dim)]);
    steps.push_back(strides[static_cast<size_t>(dim)]);
  }
  std::string result(bytes.size(), '\0');
  auto copy = elementBytes == 1   ? copyElements<1>
              : elementBytes == 2 ? copyElements<2>
              : elementBytes == 4 ? copyElements<4>
              : elementBytes == 8 ? copyElements<8>
                                  : copyElements<0>;
  copy(bytes.data(), sizes, steps, static_cast<size_t>(elementBytes),
       result.data());
  return result;
}
