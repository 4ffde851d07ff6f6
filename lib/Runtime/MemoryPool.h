//===- MemoryPool.h - Caching allocator of a device -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps freed blocks in lists by size class, so that a program that allocates
// the same temporaries in each run goes to the driver only in the first. All
// work on a device is in order, so a freed block can be handed out again while
// kernels that use it are still queued: its next user is queued after them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_MEMORYPOOL_H
#define TESSERA_LIB_RUNTIME_MEMORYPOOL_H

#include "Runtime/Device.h"

#include <unordered_map>
#include <vector>

namespace tessera::runtime {

class MemoryPool {
public:
  /// The bytes reserved for a request: a multiple of 256, at most an eighth
  /// more than asked for (beyond the first 2 KiB), and at most 2 MiB more. 0
  /// when no such size exists.
  static size_t sizeClass(size_t bytes);

  /// A cached block of the class, or null.
  void *take(size_t sizeClass);
  /// Notes a block that the backend gave as live.
  void add(void *ptr, size_t sizeClass);
  /// Moves a live block to the cache; false when it is not live.
  bool release(void *ptr);
  /// Empties the cache, or with `live` everything, into `drop(ptr)`.
  template <typename Drop> void clear(bool live, Drop drop) {
    for (auto &entry : cached)
      for (void *ptr : entry.second)
        drop(ptr);
    cached.clear();
    stats.cachedBytes = 0;
    if (!live)
      return;
    for (auto &entry : blocks)
      drop(entry.first);
    blocks.clear();
    stats.liveBytes = 0;
  }

  const MemoryStats &statistics() const { return stats; }

private:
  std::unordered_map<size_t, std::vector<void *>> cached;
  std::unordered_map<void *, size_t> blocks;
  MemoryStats stats;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_MEMORYPOOL_H
