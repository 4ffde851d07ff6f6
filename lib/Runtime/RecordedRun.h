//===- RecordedRun.h - The launches of a run, to repeat them ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launches of a run follow from its operands, the memory of its results and
// its workspace, unless host code accesses memory. A run that equals an earlier
// one in all of these repeats the launches of that one and does not execute
// host code. Host code and the functions that it calls are hundreds of cache
// lines of instructions, which the driver evicts between two runs.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_RECORDEDRUN_H
#define TESSERA_LIB_RUNTIME_RECORDEDRUN_H

#include "RunPlan.h"
#include "Runtime/Executable.h"
#include "WorkList.h"

#include <array>

namespace tessera::runtime {

/// How an operand is compared.
struct OperandShape {
  size_t rank = 0;
  /// Bytes of a scalar; 0 for an array.
  size_t scalarBytes = 0;
};

/// The operands, the workspace and the mode of a run.
struct RunInputs {
  const std::vector<OperandShape> &shapes;
  const std::vector<Operand> &operands;
  const void *workspace;
  LaunchMode mode;
};

/// One run. At first it has its key only; a second run with the same key
/// records the launches.
class RecordedRun {
public:
  /// A launch, whose arguments the run owns.
  struct Launch {
    LoadedKernel *kernel;
    LaunchRequest request;
  };

  /// Keeps what a run of a plan depends on, in place of all that the object
  /// has.
  void setKey(const RunInputs &inputs, const RunPlan &plan,
              const std::vector<void *> &newResults);
  /// Whether a run has these inputs. False for operands that are not in memory
  /// of the device.
  bool hasInputs(const RunInputs &inputs) const;
  bool hasResults(const std::vector<void *> &other) const {
    return results == other;
  }
  /// Drops all.
  void clear();

  /// Keeps the launches of a list, or the graph that has them.
  void keepLaunches(WorkList &&list, DirectReason newReason, int64_t units);
  void keepGraph(KeptGraph &newGraph) { graph = &newGraph; }
  bool isComplete() const { return graph || !launches.empty(); }

  const std::vector<RunPlan::Result> &getResults() const { return planned; }
  size_t getWorkspaceBytes() const { return workspaceBytes; }
  /// Null for launches one by one.
  KeptGraph *getGraph() const { return graph; }
  const std::vector<Launch> &getLaunches() const { return launches; }
  DirectReason getReason() const { return reason; }
  uint64_t getOverlaps() const { return overlaps; }

private:
  /// The mode and the workspace; the address of each array, a word for which of
  /// sizes and strides are given, and these; the value of each scalar.
  std::vector<uint64_t> key;
  std::vector<void *> results;
  /// The plan that these are of; plans begin with number 1.
  uint64_t planNumber = 0;
  std::vector<RunPlan::Result> planned;
  size_t workspaceBytes = 0;
  KeptGraph *graph = nullptr;
  WorkList work;
  std::vector<Launch> launches;
  std::vector<void *> arguments;
  DirectReason reason = DirectReason::None;
  uint64_t overlaps = 0;
};

/// The runs of one queue that may come again.
class RecordedRuns {
public:
  /// An allocator returns some addresses in turns, and operands such as the
  /// weights of layers come again.
  static constexpr size_t most = 8;

  /// A run with the same inputs, or null. With `results`, also with the same
  /// memory of results.
  RecordedRun *find(const RunInputs &inputs,
                    const std::vector<void *> *results = nullptr);
  /// The run for another key: it takes the place of the oldest.
  RecordedRun &add();
  /// Drops the runs that have a graph. Called before it is destroyed.
  void forget(const KeptGraph *graph);

private:
  std::array<RecordedRun, most> runs;
  size_t next = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_RECORDEDRUN_H
