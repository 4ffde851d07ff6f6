//===- Checksum.h - Checksums of files ----------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CHECKSUM_H
#define TESSERA_LIB_RUNTIME_CHECKSUM_H

#include <cstdint>
#include <string_view>

namespace tessera::runtime {

/// FNV-1a of 64 bits (RFC 9923), which finds damage, not malice.
inline uint64_t getChecksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CHECKSUM_H
