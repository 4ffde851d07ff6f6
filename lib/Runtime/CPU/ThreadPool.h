//===- ThreadPool.h - Persistent threads of the CPU device ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H
#define TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H

#include <memory>
#include <vector>

namespace tessera::runtime {

/// Threads that wait for work. The thread that calls `run` works too, as
/// number 0.
class ThreadPool {
public:
  using Work = void (*)(void *argument, unsigned worker);

  /// Starts `count - 1` threads, or fewer if the system rejects the request.
  explicit ThreadPool(unsigned count);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Workers, the caller of `run` included.
  unsigned size() const;

  /// Calls `work(argument, w)` for each w below `workers`, in parallel, and
  /// waits for all of them. `workers` is between 1 and `size()`.
  void run(unsigned workers, Work work, void *argument);

private:
  struct Worker;
  static void *threadMain(void *worker);

  std::vector<std::unique_ptr<Worker>> threads;
  Work work = nullptr;
  void *argument = nullptr;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H
