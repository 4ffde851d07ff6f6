//===- ThreadPool.h - Persistent threads of the CPU device ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H
#define TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::runtime {

/// Data that different threads write must not share this many bytes. A core
/// fetches two adjacent lines of 64 bytes.
inline constexpr size_t cacheLineBytes = 128;

/// Threads that wait for work. The thread that calls `run` works too, as
/// number 0.
class ThreadPool {
public:
  using Work = void (*)(void *argument, unsigned worker);

  /// Whether `run` requires a call for each worker, or uses only those workers
  /// that are awake in time.
  enum class Attendance { Optional, Required };

  /// Starts `count - 1` threads, or fewer if the system rejects the request.
  /// A thread whose last work was given while the pool was held looks for work
  /// for `longestSpin` before it sleeps: waking it takes 5 to 50 microseconds.
  explicit ThreadPool(unsigned count, std::chrono::microseconds longestSpin =
                                          std::chrono::microseconds(50));
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Workers, the caller of `run` included.
  unsigned size() const;

  /// Calls `work(argument, w)` for w = 0 in this thread and for other w below
  /// `workers` in parallel, at most once for each, and waits for these calls.
  /// With optional attendance, a worker that is not awake when the call for
  /// w = 0 returns is left out. `workers` is between 1 and `size()`.
  void run(unsigned workers, Work work, void *argument,
           Attendance attendance = Attendance::Optional);

  /// Between these calls, threads without work look for some before they sleep.
  void hold() { isHeld.store(true, std::memory_order_relaxed); }
  void release() { isHeld.store(false, std::memory_order_relaxed); }

  /// How often a sleeping thread was given work.
  uint64_t countWakes() const { return wakes; }

private:
  class Sleeper;
  struct Worker;
  static void *threadMain(void *worker);
  /// Whether `condition` becomes true before `longestSpin` has passed.
  template <typename Condition>
  bool spinUntil(const Condition &condition) const;
  /// Adds a worker to the job of the ticket `seen`, unless it has been closed.
  bool join(uint64_t seen, unsigned worker);

  std::chrono::microseconds longestSpin;
  std::vector<std::unique_ptr<Worker>> threads;
  std::unique_ptr<Sleeper> caller;
  Work work = nullptr;
  void *argument = nullptr;
  std::atomic<bool> isHeld = false;
  uint64_t wakes = 0;
  /// The current job. It and the number below it are written by several
  /// threads.
  alignas(cacheLineBytes) std::atomic<uint64_t> ticket = 0;
  /// Workers that have joined the current job and have ended it.
  alignas(cacheLineBytes) std::atomic<unsigned> finished = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CPU_THREADPOOL_H
