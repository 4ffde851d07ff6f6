//===- LargeBuffer.cpp - Memory for the contents of files -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/LargeBuffer.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

using namespace tessera::runtime;

static constexpr size_t hugePageBytes = size_t(2) << 20;

std::shared_ptr<char> tessera::runtime::allocateLargeBuffer(size_t bytes) {
  constexpr size_t alignment = 256;
  if (bytes > SIZE_MAX - 2 * hugePageBytes)
    return nullptr;
  if (bytes < hugePageBytes) {
    size_t rounded = (bytes / alignment + 1) * alignment;
    return std::shared_ptr<char>(
        static_cast<char *>(std::aligned_alloc(alignment, rounded)),
        [](char *memory) { std::free(memory); });
  }
  // Pages without an access take no memory.
  size_t mapped = bytes + hugePageBytes;
  void *base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
  if (base == MAP_FAILED)
    return nullptr;
  auto address = reinterpret_cast<uintptr_t>(base);
  char *memory =
      static_cast<char *>(base) + (hugePageBytes - address % hugePageBytes);
  // A system without huge pages has the small ones.
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return std::shared_ptr<char>(
      memory, [base, mapped](char *) { munmap(base, mapped); });
}
