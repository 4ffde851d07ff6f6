//===- Worker.h - Workgroups, one after the other ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CPU_WORKER_H
#define TESSERA_LIB_RUNTIME_CPU_WORKER_H

#include "Fiber.h"
#include "Runtime/CpuKernel.h"
#include "Runtime/Device.h"
#include "ThreadPool.h"

#include <array>
#include <atomic>
#include <mutex>

namespace tessera::runtime {

/// The state that the workers of a launch share.
struct Job {
  const LaunchRequest *request = nullptr;
  tessera_cpu_kernel kernel = nullptr;
  bool checking = false;
  int64_t threads = 1;
  /// Workgroups that a worker takes at a time.
  int64_t chunk = 1;
  std::atomic<bool> stop{false};

  std::mutex mutex;
  Status error;

  void fail(StatusCode code, std::string message) {
    std::lock_guard<std::mutex> lock(mutex);
    if (error.ok())
      error = Status(code, std::move(message));
    stop = true;
  }
};

/// The workgroups that one worker takes first, in order; later, other workers
/// take those that are left. Numbers from `next` to `end` count the workgroups
/// of the box whose x coordinates are from `first` to `first + width`, x
/// fastest, then y, which is below `height`.
struct Share {
  int64_t first = 0, width = 1, height = 1, end = 0;
  std::atomic<int64_t> next{0};

  /// Share `number` of `count` shares of a grid. Kernels of a network read what
  /// the kernel before wrote at the same positions, so each worker has the same
  /// part of the x coordinates in each launch, and finds these data in its own
  /// cache. A grid of fewer columns than rows is divided by the linear number
  /// of its workgroups.
  void divide(const int64_t (&grid)[3], unsigned number, unsigned count);

  /// The x, y and z of workgroup `number`.
  std::array<int64_t, 3> getWorkgroup(int64_t number) const {
    return {first + number % width, number / width % height,
            number / width / height};
  }
};

struct Thread;

/// The state that one worker keeps between launches. It is written for each
/// workgroup, so two workers do not share a cache line.
class alignas(cacheLineBytes) Worker {
public:
  Worker();
  ~Worker();

  /// Runs workgroups of `job`, first those of this worker's share, then those
  /// of the others, until all have begun or one has failed.
  void run(Job &job, const std::vector<std::unique_ptr<Worker>> &workers,
           unsigned self, unsigned count);

  FiberSet fibers;
  Share share;

private:
  bool reserveArena(size_t bytes);
  /// Sets the threads up to run workgroups of `job`.
  void prepareThreads(Job &job, const tessera_workgroup &workgroup);
  void runShare(Job &job, Share &share);
  void runWorkgroup(Job &job, std::array<int64_t, 3> id);
  /// All threads of a workgroup as fibers, from barrier to barrier.
  void runThreads(Job &job);
  /// Lets the lanes that have come to a meeting do what they met for. False,
  /// and the launch has failed, if one of them cannot come.
  bool holdMeetings(Job &job);
  bool holdMeeting(Job &job, size_t first, size_t end);

  std::vector<std::unique_ptr<Thread>> threads;
  /// Threads that are to run to where they wait, or end.
  std::vector<uint32_t> runnable;
  /// The data that the lanes of a meeting contributed.
  std::vector<const void *> a, b;
  std::vector<void *> acc;
  std::vector<int64_t> values;
  unsigned char *arena = nullptr;
  size_t arenaBytes = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CPU_WORKER_H
