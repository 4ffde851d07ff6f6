//===- WireReader.h - The protobuf wire format ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef IMPORT_ONNX_WIREREADER_H
#define IMPORT_ONNX_WIREREADER_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace mlir::tessera::onnx {

/// A field of a message.
struct WireField {
  enum Kind { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  uint32_t number = 0;
  Kind kind = Varint;
  /// The number, unless the kind is Bytes.
  uint64_t value = 0;
  /// A message, a string or packed numbers.
  llvm::StringRef bytes;

  /// Appends a repeated integer, packed or not. False if it is malformed.
  bool appendTo(std::vector<int64_t> &values) const;
  /// Appends a repeated float, packed or not.
  bool appendTo(std::vector<float> &values) const;
  float getFloat() const {
    auto bits = static_cast<uint32_t>(value);
    float number;
    std::memcpy(&number, &bits, sizeof(number));
    return number;
  }
};

/// Reads the fields of one message. It neither copies nor recurses; the caller
/// reads a nested message by a reader of the field's bytes.
class WireReader {
public:
  explicit WireReader(llvm::StringRef bytes) : rest(bytes) {}

  /// Reads the next field. False at the end, and after an error.
  bool next(WireField &field);
  /// The error; null without one.
  const char *getError() const { return error; }
  /// Where it is.
  const char *getPosition() const { return rest.data(); }

  /// Removes a varint from the front of `bytes`. False if it does not end
  /// within ten bytes, or has more than 64 bits.
  static bool takeVarint(llvm::StringRef &bytes, uint64_t &value);

private:
  bool fail(const char *message) {
    error = message;
    return false;
  }

  llvm::StringRef rest;
  const char *error = nullptr;
};

} // namespace mlir::tessera::onnx

#endif // IMPORT_ONNX_WIREREADER_H
