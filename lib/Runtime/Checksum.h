//===- Checksum.h - Checksums of files ----------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CHECKSUM_H
#define TESSERA_LIB_RUNTIME_CHECKSUM_H

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tessera::runtime {

/// FNV-1a of 64 bits (RFC 9923), which finds damage, not malice.
inline uint64_t getChecksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

/// A checksum of many bytes: FNV-1a of words of 8 bytes in four lanes.
inline uint64_t getFastChecksum(std::string_view bytes) {
  constexpr uint64_t prime = 0x100000001b3;
  uint64_t lanes[4] = {0xcbf29ce484222325, 0x9ce484222325cbf2,
                       0x84222325cbf29ce4, 0x2325cbf29ce48422};
  uint64_t words[4];
  constexpr size_t step = sizeof(words);
  for (; bytes.size() >= step; bytes.remove_prefix(step)) {
    std::memcpy(words, bytes.data(), step);
    for (int lane = 0; lane < 4; ++lane)
      lanes[lane] = (lanes[lane] ^ words[lane]) * prime;
  }
  uint64_t hash = getChecksum(bytes);
  for (uint64_t lane : lanes)
    hash = (hash ^ lane ^ (lane >> 32)) * prime;
  return hash;
}

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CHECKSUM_H
