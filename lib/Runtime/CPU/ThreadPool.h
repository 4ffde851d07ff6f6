//===- ThreadPool.h - Persistent threads of the CPU device ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H
#define TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::runtime {

/// Threads that wait for work. The thread that calls `run` works too, as
/// number 0.
class ThreadPool {
public:
  using Work = void (*)(void *argument, unsigned worker);

  /// Starts `count - 1` threads, or fewer if the system rejects the request.
  /// While held, one looks for work for `longestSpin` before it sleeps: waking
  /// it takes 5 to 50 microseconds.
  explicit ThreadPool(unsigned count, std::chrono::microseconds longestSpin =
                                          std::chrono::microseconds(50));
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Workers, the caller of `run` included.
  unsigned size() const;

  /// Calls `work(argument, w)` for each w below `workers`, in parallel, and
  /// waits for all of them. `workers` is between 1 and `size()`.
  void run(unsigned workers, Work work, void *argument);

  /// Between these calls, threads without work look for some before they sleep.
  void hold() { isHeld.store(true, std::memory_order_relaxed); }
  void release() { isHeld.store(false, std::memory_order_relaxed); }

  /// How often a sleeping thread was given work.
  uint64_t countWakes() const { return wakes; }

private:
  class Signal;
  struct Worker;
  static void *threadMain(void *worker);

  std::chrono::microseconds longestSpin;
  std::vector<std::unique_ptr<Worker>> threads;
  std::unique_ptr<Signal> end;
  Work work = nullptr;
  void *argument = nullptr;
  std::atomic<bool> isHeld = false;
  /// Threads that are at work.
  std::atomic<unsigned> pending = 0;
  uint64_t wakes = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H
