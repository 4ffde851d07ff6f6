//===- WorkSubmitter.h - How a run's work is queued -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run queues its launches one by one, or records them and submits them as one
// graph of the driver's. The graph is kept from run to run. Host code runs each
// time, so a graph is never launched with anything but the launches of the run:
// steps whose arguments differ from the last run's are updated, and a run with
// other kernels does not use the graph.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_WORKSUBMITTER_H
#define TESSERA_LIB_RUNTIME_WORKSUBMITTER_H

#include "Runtime/LaunchStatistics.h"
#include "WorkList.h"

#include <optional>

namespace tessera::runtime {

class RecordedRun;

/// The graph of runs that repeat: those of one plan, in one queue. A graph
/// cannot be updated by one thread while another one launches it, but runs of
/// an executable do not overlap.
class KeptGraph {
public:
  explicit KeptGraph(Device &device) : device(device) {}
  ~KeptGraph() { drop(); }
  KeptGraph(const KeptGraph &) = delete;
  KeptGraph &operator=(const KeptGraph &) = delete;

private:
  friend class WorkSubmitter;
  void drop();
  /// For changes of the graph.
  void forgetRecord() { record = nullptr; }

  Device &device;
  WorkGraph *graph = nullptr;
  /// Whether there was a run before.
  bool hasRun = false;
  /// Runs whose kernels were not those of the graph.
  unsigned misses = 0;
  /// Why no graph is made any more.
  DirectReason obstacle = DirectReason::None;
  /// The recorded run whose steps the graph has at present; null for others.
  const RecordedRun *record = nullptr;
};

class WorkSubmitter {
public:
  explicit WorkSubmitter(Device &device) : device(device) {}

  /// Begins a run, in a queue of the caller's or in the current one. It is
  /// expected to have `steps` launches and copies. `newKept` is null where
  /// nothing can be kept.
  void begin(KeptGraph *newKept, LaunchMode newMode, size_t steps,
             const std::optional<void *> &newQueue);
  /// Begins a run whose work is queued one by one, for a reason.
  void beginDirect(DirectReason reason, const std::optional<void *> &newQueue);
  /// Queues or records a launch. The errors of `Device::launchKernel`.
  Status launch(LoadedKernel &kernel, const LaunchRequest &request);
  /// Likewise a copy on the device.
  Status copy(void *to, const void *from, size_t bytes);
  /// Queues what was recorded, since host code waits for it, and the rest of
  /// the run one by one.
  Status flush();
  /// Submits what was recorded.
  Status submit();
  /// Forgets what was recorded.
  void cancel();

  /// Adds the launches of this run, which are queued one by one, to a list.
  /// Called after `begin`.
  void listLaunches(WorkList &list) { listed = &list; }
  /// Whether all steps of the run are in the list.
  bool hasListed() const { return listed && listed->size() == numSteps; }
  /// Notes that the graph of this run, which was submitted, has its steps.
  void setRecord(const RecordedRun &record);
  /// Submits the work of an earlier run again. Returns false, and has done
  /// nothing, if the graph has other steps by now or cannot be launched.
  bool repeat(const RecordedRun &record, LaunchMode newMode, void *queue,
              Status &status);

  const LaunchStatistics &getStatistics() const { return statistics; }
  /// The launches and copies of the last run.
  size_t countSteps() const { return numSteps; }

private:
  Status queue(LoadedKernel &kernel, const LaunchRequest &request);
  Status queueCopy(void *to, const void *from, size_t bytes);
  /// Queues one by one what was recorded, and records no more.
  Status queueAll(DirectReason reason);
  /// Makes the graph of the work.
  Status makeGraph();
  Status launchGraph();

  Device &device;
  KeptGraph *kept = nullptr;
  LaunchMode mode = LaunchMode::Direct;
  std::optional<void *> target;
  bool isRecording = false;
  size_t numSteps = 0;
  WorkList *listed = nullptr;
  /// The kernel that the run queued last, and the size of its grid; null if it
  /// has queued none, or something else since.
  const LoadedKernel *previous = nullptr;
  int64_t previousWorkgroups = 0;
  WorkList work;
  LaunchStatistics statistics;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_WORKSUBMITTER_H
