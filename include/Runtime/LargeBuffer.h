//===- LargeBuffer.h - Memory for the contents of files ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_LARGEBUFFER_H
#define TESSERA_RUNTIME_LARGEBUFFER_H

#include <cstddef>
#include <memory>

namespace tessera::runtime {

/// Memory of `bytes` bytes with undefined contents, aligned to at least 256
/// bytes. Large buffers ask the system for huge pages, because the first access
/// to each small page costs more than the copy of its contents. Null if the
/// system has no memory left.
std::shared_ptr<char> allocateLargeBuffer(size_t bytes);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_LARGEBUFFER_H
