//===- RunOptions.h - How a run of the tuner goes ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_RUNOPTIONS_H
#define TUNING_RUN_RUNOPTIONS_H

#include "Driver/Compiler.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::tuning {

/// Where the candidates of a task come from: a search of its space; the
/// schedules that the compiler's model compares, with others at random; or
/// these and changes of the fastest one so far.
enum class CandidateKind { Search, Ranked, Guided };

/// The op of a task: a contraction, an attention, or a window that threads
/// compute.
enum class TaskKind { Matmul, Attention, Window };

/// `gpu-tune run`, `gpu-tune space` and `gpu-tune replay`.
struct RunOptions {
  std::vector<std::string> work;
  /// The size of the open first dimensions of models' inputs.
  std::optional<int64_t> batch;
  /// Target and chip; the other fields as they are by default.
  mlir::tessera::CompileOptions compile;
  /// The numbers of the devices that measure. Empty where there is none.
  std::vector<int> devices;
  /// No process of another host's agent measures on them (`--devices=own`).
  bool isOwn = false;
  /// Why there is none.
  std::string noDevice;
  std::string config, db;
  /// Seconds, or candidates of each task; at least one of them is there.
  std::optional<double> budget;
  std::optional<size_t> trials;
  /// Only so many tasks, those with the largest part of their programs' time.
  std::optional<size_t> tasks;
  /// Only tasks of which the database has no measured candidate.
  bool untuned = false;
  /// Only tasks of these kinds; empty for all.
  std::vector<TaskKind> kinds;
  /// Processes that compile, and for each device those that load and measure.
  unsigned jobs = 1, measurers = 2;
  /// A candidate that takes so many times the best so far is not timed with
  /// care.
  double slowest = 2;
  /// Seconds after which a candidate is taken to hang.
  double timeout = 20;
  uint64_t seed = 1;
  CandidateKind candidates = CandidateKind::Search;
  /// Leaders that are measured again together.
  unsigned leaders = 5;
  /// How tasks share the budget: each task's part of the time of all, or the
  /// same for all.
  bool weighByTime = true;
  bool json = false;
  /// `space --exact`.
  bool exact = false;
  /// `replay`: recorded schedules of each task, the fastest, that are measured
  /// again, and nothing else; and the task, if it is one.
  std::optional<size_t> replay;
  std::string task;
  /// A launcher has started other ranks, which join this one.
  bool hasRanks = false;
  /// Where other hosts are listened for; absent: they are not.
  std::optional<std::string> listen;
  /// The file in which the addresses and the key are left.
  std::string joinFile;
  /// The key by which hosts authenticate; empty until one is generated.
  std::string key;
  /// Whether it is the user's, who gives it to the other hosts.
  bool isOwnKey = false;
  /// For tests: a planted fault, see `runMeasureWorker`.
  std::string fault;
};

} // namespace tessera::tuning

#endif // TUNING_RUN_RUNOPTIONS_H
