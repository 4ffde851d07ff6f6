//===- TaskQueue.h - The tasks of a run and their candidates ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_TASKQUEUE_H
#define TUNING_RUN_TASKQUEUE_H

#include "Tuning/Run/CandidateSource.h"
#include "Tuning/Run/RunOptions.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>
#include <map>
#include <set>
#include <vector>

namespace tessera::tuning {

/// One candidate on its way.
struct Pending {
  int64_t id = 0;
  size_t task = 0;
  /// Absent for the compiler's own choice.
  std::optional<Point> point;
  /// As text; empty likewise.
  std::string schedule;
  /// The compiled candidate.
  std::string chosen, bundle;
  double compileTime = 0, expected = 0;
  /// Hosts that disconnected while they processed it.
  unsigned hostsLost = 0;
};

/// One task and how far it is.
struct TaskState {
  Task *task = nullptr;
  std::unique_ptr<CandidateSource> source;
  /// The bundle of the compiler's own choice, with which workers open the task.
  std::string ownBundle, ownChoice;
  double ownTime = 0;
  /// The checksum of its outputs, as the first worker computed them.
  std::string checksum;
  /// The reference has been asked, and agreed.
  bool isAsked = false, isChecked = false;
  /// Why the task is given up; empty if it is not.
  std::string failure;
  /// The failure is that of what candidates are compared with.
  bool isOwnWrong = false;
  /// Compiled, and waiting for a worker.
  std::deque<Pending> ready;
  /// The fastest, with their bundles.
  struct Leader {
    std::string schedule, chosen, bundle;
    double time;
    std::optional<Point> point;
  };
  std::vector<Leader> leaders;
  /// Candidates begun, and those in hand.
  size_t begun = 0, inHand = 0;
  bool isOwnBegun = false, isFinalBegun = false, isDone = false;
  /// Schedules that earlier builds measured, to be tried first.
  std::deque<Point> hints;
  /// The outcome.
  std::optional<tuning::Record> winner, own;
  std::optional<tuning::Baseline> baseline;
  std::string libraryError;
  /// All of the final comparison; and by the schedule what earlier runs
  /// recorded.
  std::vector<tuning::Record> compared;
  std::map<std::string, double> recorded;
};

/// Candidates of each task that are tried before the budget is shared by what
/// is expected of them.
constexpr size_t firstCandidates = 24;

/// Decides which candidate is compiled next, and which one is measured next.
class TaskQueue {
public:
  /// The options outlive the queue.
  explicit TaskQueue(const RunOptions &options) : options(options) {}

  std::vector<TaskState> states;

  /// The next candidate to compile: one that was given back, or a new one.
  /// Absent if no task has one, or if `mostWaiting` compiled candidates wait
  /// for a device; without the limit, nothing is measured.
  std::optional<Pending> propose(std::optional<size_t> mostWaiting);
  /// Returns a candidate that was not compiled, for `propose`.
  void giveBack(Pending work) { returned.push_back(std::move(work)); }

  /// Queues a compiled candidate for a device.
  void addReady(Pending work);
  /// The task that an idle device measures next: that of the compiler's own
  /// choice first, then one that the worker has open, then the fullest. A
  /// single candidate is left to a worker that has its task open. Absent if no
  /// candidate waits.
  std::optional<size_t>
  pick(const std::set<size_t> &open,
       llvm::function_ref<bool(size_t)> isOpenElsewhere) const;
  /// The first waiting candidate of a task that has one.
  Pending takeReady(size_t task);

  /// Forgets the candidates that wait for a device or a compiler. A task
  /// without any measured candidate keeps those for a device if
  /// `keepsUnmeasured`.
  void dropWaiting(bool keepsUnmeasured);
  /// Gives up a task. Returns false if it was given up before.
  bool giveUp(size_t task, const std::string &why);

  size_t countInHand() const;
  /// New candidates so far.
  size_t countMade() const { return made; }
  /// Whether all tasks are done or given up.
  bool isOver() const;

private:
  std::optional<Pending> proposeFor(size_t task);

  const RunOptions &options;
  /// Compiled by hosts that disconnected before they were done.
  std::deque<Pending> returned;
  int64_t nextId = 1;
  size_t made = 0;
};

} // namespace tessera::tuning

#endif // TUNING_RUN_TASKQUEUE_H
