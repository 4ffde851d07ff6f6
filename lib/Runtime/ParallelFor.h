//===- ParallelFor.h - Independent work on several threads ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_PARALLELFOR_H
#define TESSERA_LIB_RUNTIME_PARALLELFOR_H

#include <cstddef>
#include <functional>

namespace tessera::runtime {

/// Calls `body` with each index below `count`, on at most `threads` threads,
/// and returns when all calls have returned. The calling thread is one of them,
/// and the only one if no other can be started. For work of milliseconds: the
/// threads are started each time.
void parallelFor(size_t count, unsigned threads,
                 const std::function<void(size_t)> &body);

/// The processors that this process may use, at least one.
unsigned countProcessors();

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_PARALLELFOR_H
