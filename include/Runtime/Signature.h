//===- Signature.h - Arguments and results of an entry -----*- C++ -*------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_SIGNATURE_H
#define TESSERA_RUNTIME_SIGNATURE_H

#include "Runtime/HostArray.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

/// An argument or a result of an entry point.
struct Slot {
  enum Kind : int { Scalar, Tensor, MemRef };
  Kind kind = Scalar;
  ElementType element = ElementType::F32;
  /// -1 for dynamic dimensions; empty for a scalar, and for an array of rank 0.
  std::vector<int64_t> shape;
  /// Whether it is a memref argument that the program may write: an output.
  bool mayWrite = false;
  /// The type as the program prints it: "tensor<?x64xf16>".
  std::string text;
  /// The name of an input or output of a model, and the names of dynamic
  /// dimensions, one per dimension; both may be empty.
  std::string name;
  std::vector<std::string> symbols;
  /// Whether a model declares the integers unsigned. The program's type
  /// has no sign.
  bool isUnsigned = false;

  bool isBuffer() const { return kind != Scalar; }
  const std::string &str() const { return text; }
};

/// The signature of an entry point.
struct Signature {
  std::string name;
  std::vector<Slot> arguments, results;
};

/// Words of 8 bytes of an array's descriptor: allocated and aligned pointer,
/// offset, sizes and strides.
inline size_t countWords(const Slot &slot) {
  return slot.isBuffer() ? 3 + 2 * slot.shape.size() : 1;
}

/// The layout in which an entry point stores its results: consecutive, each at
/// its natural alignment; the descriptor of an array consists of 8-byte words.
struct ResultLayout {
  explicit ResultLayout(const std::vector<Slot> &results);
  /// The offset of each result in bytes.
  std::vector<size_t> offsets;
  /// The size of all results in bytes.
  size_t bytes = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_SIGNATURE_H
