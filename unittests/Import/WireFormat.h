//===- WireFormat.h - Messages of protobuf for tests ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without LLVM: tests of the C API use it too.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_IMPORT_WIREFORMAT_H
#define TESSERA_UNITTESTS_IMPORT_WIREFORMAT_H

#include <cstdint>
#include <string>

namespace tessera::wire {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7)
    bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}
/// A field that is a number.
inline std::string integer(uint32_t field, uint64_t value) {
  return varint(field << 3) + varint(value);
}
/// A field that is a message, a string or packed numbers.
inline std::string data(uint32_t field, const std::string &bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

} // namespace tessera::wire

#endif // TESSERA_UNITTESTS_IMPORT_WIREFORMAT_H
