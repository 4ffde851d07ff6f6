//===- ReadBytes.h - Structures in bytes from outside -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_READBYTES_H
#define LIB_RUNTIME_READBYTES_H

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tessera::runtime {

/// Copies a structure from an offset; false if it is not within the bytes.
template <typename T>
bool readAt(std::string_view bytes, uint64_t offset, T &value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

} // namespace tessera::runtime

#endif // LIB_RUNTIME_READBYTES_H
