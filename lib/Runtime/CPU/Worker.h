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

#include <atomic>
#include <mutex>

namespace tessera::runtime {

/// The state that the workers of a launch share.
struct Job {
  const LaunchRequest *request = nullptr;
  tessera_cpu_kernel kernel = nullptr;
  bool checking = false;
  int64_t threads = 1;
  int64_t workgroups = 0;
  int64_t chunk = 1;
  std::atomic<int64_t> next{0};
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

struct Thread;

/// The state that one worker keeps between launches.
class Worker {
public:
  Worker();
  ~Worker();

  /// Takes workgroups of `job` until there are no more, or one has failed.
  void run(Job &job);

  FiberSet fibers;

private:
  bool reserveArena(size_t bytes);
  void runWorkgroup(Job &job, const tessera_workgroup &workgroup);
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
