//===- WorkerPool.h - The processes that work for a run ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_WORKERPOOL_H
#define TUNING_RUN_WORKERPOOL_H

#include "Tuning/Cluster/WorkerProcess.h"
#include "Tuning/Run/TaskQueue.h"

#include <chrono>
#include <functional>
#include <list>
#include <poll.h>

namespace tessera::tuning {

using Clock = std::chrono::steady_clock;

/// The slot of a worker: the process in it may die, and be started again.
struct WorkerSlot {
  /// The host's number in the cluster; 0 is this one.
  int host = 0;
  std::unique_ptr<WorkerProcess> child;
  std::optional<Pending> work;
  Clock::time_point since;
  /// Since when its connection has ended without its host reporting how it
  /// died.
  std::optional<Clock::time_point> dying;
  /// How often it was started without coming to be of use.
  unsigned failures = 0;
  bool isRemoved = false;

  /// Null while it must not be sent anything.
  Channel *getChannel() {
    return child && !dying && !isRemoved ? child->getChannel() : nullptr;
  }
};

/// The slot of a process that compiles.
struct Compiler : WorkerSlot {
  /// Tasks whose programs it has.
  std::set<size_t> known;
};

/// The slot of a process that measures.
struct Measurer : WorkerSlot {
  enum State { Starting, Idle, Opening, Loading, Loaded, Going, Comparing };
  int ordinal = 0;
  /// By which its device is known among all hosts.
  std::string identity;
  tuning::Environment environment;
  State state = Starting;
  std::set<size_t> open;
  /// Tasks for which it has been asked to evaluate the reference.
  std::set<size_t> checking;
  /// The task that it is processing (`Opening`, `Comparing`).
  size_t task = 0;
};

/// Seconds that a worker has to start, to compile, to load, to open a task; and
/// for the final comparison of a task.
constexpr double startLimit = 90, compileLimit = 90, loadLimit = 60,
                 openLimit = 300, finalSeconds = 2.0, leastFinalSeconds = 0.1;
/// Seconds that a host has to report how a process of it ended.
constexpr double dyingLimit = 30;

/// Starts a worker process on a host with a command line. Null, and the reason
/// in `why`, if it cannot be started.
using StartWorker = std::function<std::unique_ptr<WorkerProcess>(
    int host, const std::vector<std::string> &arguments, std::string &why)>;

/// The workers of a run. It starts them, receives what they send, and finds
/// those that take too long; the caller decides what to do then.
class WorkerPool {
public:
  /// `candidateLimit`: seconds that a candidate may run.
  WorkerPool(StartWorker start, double candidateLimit)
      : startWorker(std::move(start)), candidateLimit(candidateLimit) {}
  /// Ends all workers at once: a driver takes long to end a process that has a
  /// device open.
  ~WorkerPool();

  std::list<Compiler> compilers;
  std::list<Measurer> measurers;

  /// Starts a process anew in its place. False, and the reason in `why`, if it
  /// cannot be started.
  bool start(Compiler &compiler, std::string &why);
  /// The same. `fault` is a planted fault, for tests; empty for none.
  bool start(Measurer &measurer, const std::string &target,
             const std::string &fault, std::string &why);

  /// Whether some worker measures on the device right now.
  bool isBusy(const std::string &identity) const;
  /// Whether some worker is for the device.
  bool hasWorker(const std::string &identity) const;
  /// Whether another worker has a task open, or is opening it.
  bool isOpenElsewhere(const Measurer &measurer, size_t task);
  /// Whether some worker has a candidate for its device.
  bool isMeasuring() const;

  /// Ends all compilers, and forgets what they have in hand.
  void stopCompilers(std::vector<TaskState> &states);
  /// Removes the slots that are marked for it.
  void removeEnded();

  void addFiles(std::vector<pollfd> &files, bool withCompilers = true);

  /// Passes all messages that have come to `handle`. A worker whose connection
  /// has ended is passed to `hangUp`, one whose host has reported its end to
  /// `lose`. Each of them may start the worker anew, or mark it as removed;
  /// messages of its former process are then dropped.
  template <typename Worker>
  static void serve(std::list<Worker> &workers,
                    llvm::function_ref<void(Worker &, Message)> handle,
                    llvm::function_ref<void(Worker &)> hangUp,
                    llvm::function_ref<void(Worker &)> lose);

  /// Whether a worker has taken too long by `now`. One that is dying or not
  /// started is not late.
  bool isLate(const Compiler &compiler, Clock::time_point now) const;
  bool isLate(const Measurer &measurer, Clock::time_point now) const;
  /// Whether the host of a dying worker has taken too long to report its end.
  static bool isOverdue(const WorkerSlot &slot, Clock::time_point now);

private:
  StartWorker startWorker;
  double candidateLimit;
};

template <typename Worker>
void WorkerPool::serve(std::list<Worker> &workers,
                       llvm::function_ref<void(Worker &, Message)> handle,
                       llvm::function_ref<void(Worker &)> hangUp,
                       llvm::function_ref<void(Worker &)> lose) {
  for (Worker &worker : workers) {
    if (Channel *channel = worker.getChannel()) {
      bool isThere = channel->take();
      WorkerProcess *child = worker.child.get();
      while (worker.child.get() == child && !worker.isRemoved) {
        std::optional<Message> message = channel->next();
        if (!message)
          break;
        handle(worker, std::move(*message));
      }
      if (!isThere && worker.child.get() == child && !worker.isRemoved)
        hangUp(worker);
    } else if (worker.child && !worker.isRemoved && worker.child->getEnd()) {
      lose(worker);
    }
  }
}

} // namespace tessera::tuning

#endif // TUNING_RUN_WORKERPOOL_H
