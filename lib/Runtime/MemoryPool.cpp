//===- MemoryPool.cpp - Caching allocator of a device ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryPool.h"

#include <algorithm>

using namespace tessera::runtime;

size_t MemoryPool::sizeClass(size_t bytes) {
  constexpr size_t granule = 256;
  if (bytes > SIZE_MAX / 2)
    return 0;
  bytes = std::max<size_t>(bytes, 1);
  // Steps of an eighth of the power of two below, of 2 MiB at most.
  constexpr size_t largestStep = 2 << 20;
  size_t step = granule;
  while (step <= bytes / 16 && step < largestStep)
    step *= 2;
  return (bytes + step - 1) / step * step;
}

void *MemoryPool::take(size_t sizeClass) {
  auto it = cached.find(sizeClass);
  if (it == cached.end() || it->second.empty())
    return nullptr;
  void *ptr = it->second.back();
  it->second.pop_back();
  blocks.emplace(ptr, sizeClass);
  stats.cachedBytes -= sizeClass;
  stats.liveBytes += sizeClass;
  ++stats.reuses;
  return ptr;
}

void MemoryPool::add(void *ptr, size_t sizeClass) {
  blocks.emplace(ptr, sizeClass);
  stats.liveBytes += sizeClass;
  stats.peakBytes =
      std::max(stats.peakBytes, stats.liveBytes + stats.cachedBytes);
  ++stats.backendAllocations;
}

bool MemoryPool::release(void *ptr) {
  auto it = blocks.find(ptr);
  if (it == blocks.end())
    return false;
  cached[it->second].push_back(ptr);
  stats.liveBytes -= it->second;
  stats.cachedBytes += it->second;
  blocks.erase(it);
  return true;
}
