//===- TaskSummary.h - The best of each task, beside others -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_TASKSUMMARY_H
#define REPORT_TASKSUMMARY_H

#include "Tuning/Database.h"

#include <map>

namespace tessera::tuning {

namespace tuning = mlir::tessera::tuning;

using llvm::StringRef;

/// How many times as fast the best one is: by the medians, and at least and at
/// most by their confidence intervals.
struct Speedup {
  double ratio = 0, low = 0, high = 0;
};

/// How near two times were taken. Only those of one device, driver, host and
/// build of the compiler are compared at all.
enum class Nearness {
  /// Both in the final comparison of one run, or both of its search.
  Comparison,
  Run,
  Environment,
};

/// "in the same comparison", "in the same run", "in another run".
StringRef describe(Nearness nearness);

/// The records of a task on a device, summarized.
struct Summary {
  tuning::TaskText text;
  tuning::TaskId task;
  /// As its driver names it; empty where none did.
  std::string device;
  /// The oldest first.
  std::vector<tuning::Record> records;
  std::vector<tuning::Baseline> baselines;
  /// Number of `records` per outcome.
  std::map<tuning::Outcome, size_t> outcomes;

  /// As `Database::getBest` chooses it; absent if nothing was measured.
  std::optional<tuning::Record> best;
  /// The compiler's own choice, the nearest to the best one in time; absent if
  /// it was not measured there, or is the best one.
  std::optional<tuning::Record> own;
  Nearness ownNearness = Nearness::Environment;
  Speedup overOwn;
  /// The fastest library of the nearest run; absent likewise.
  std::optional<tuning::Baseline> library;
  Nearness libraryNearness = Nearness::Environment;
  Speedup overLibrary;
};

/// Whether two times may be compared. `withBuild`: only code of one build
/// of the compiler.
bool areComparable(const tuning::Environment &a, const tuning::Environment &b,
                   bool withBuild);

/// One for each task, chip and device with records, in the order of the tasks;
/// only the task `task.key` if that is not empty, and likewise for target and
/// chip. Only records of the run `run` if that is not 0.
llvm::Expected<std::vector<Summary>>
summarize(tuning::Database &database, const tuning::TaskId &task, int64_t run);

/// Checks the tasks that a user names against the database: an error has the
/// nearest names to it. Fills in the target where `chip` is "target:chip".
llvm::Error resolve(tuning::Database &database, StringRef path,
                    tuning::TaskId &task);

/// The runs of a database, or the one with a number. An error lists the numbers
/// if there is none with it.
llvm::Expected<std::vector<tuning::Run>> findRuns(tuning::Database &database,
                                                  StringRef path,
                                                  std::optional<int64_t> run);

/// Operations of the task in a second, 0 where they are not known; `time` in
/// milliseconds.
double getRate(const tuning::TaskText &text, double time);

/// "797 TFLOP/s", "12.3 GFLOP/s".
std::string formatRate(double rate);
/// Four digits: "0.1725 ms".
std::string formatTime(double milliseconds);
/// "cuda:sm_90a, NVIDIA H200".
std::string formatLocation(const Summary &summary);
/// The schedule of a record: the given one, or the compiler's choice.
StringRef getSchedule(const tuning::Record &record);

} // namespace tessera::tuning

#endif // REPORT_TASKSUMMARY_H
