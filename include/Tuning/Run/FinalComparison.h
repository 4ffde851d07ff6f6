//===- FinalComparison.h - The leaders, measured together -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The messages of the final comparison of a task, and its winner: the request
// names the compiler's own choice and the leaders, which a measure worker then
// runs in turns with the vendor's library.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_FINALCOMPARISON_H
#define TUNING_RUN_FINALCOMPARISON_H

#include "Tuning/Cluster/Channel.h"
#include "Tuning/Run/TaskQueue.h"

namespace tessera::tuning {

/// The result of one candidate in the final comparison.
struct FinalResult {
  /// The position among the task's leaders; absent for the compiler's own
  /// choice.
  std::optional<size_t> leader;
  tuning::Outcome outcome = tuning::Outcome::NotRun;
  std::string error;
  /// With cold caches, and with warm ones.
  std::vector<double> times, warmTimes;
};

struct FinalAnswer {
  std::vector<FinalResult> results;
  int64_t clockBefore = 0, clockAfter = 0;
  std::string library, libraryError;
  std::vector<double> libraryTimes;

  /// Whether the device's clock changed by more than a twentieth.
  bool hasClockMoved() const;
};

/// Asks for the comparison of the compiler's own choice with `leaders` leaders
/// at most.
Message makeFinalRequest(const TaskState &state, unsigned leaders,
                         double seconds);

/// Parses the answer for a task with so many leaders. Results for others are
/// dropped.
FinalAnswer parseFinalAnswer(const llvm::json::Object &head, size_t leaders);

/// Whether all that was compared has times with warm caches, which then count
/// too (`getComparedTime`).
bool isComparedWarm(const TaskState &state);
/// Selects the winner of what was compared.
void selectWinner(TaskState &state);
/// The time of the compiler's own choice by that of the winner, as
/// `selectWinner` compares them: at least 1. Both were compared.
double getOwnRatio(const TaskState &state);

/// The numbers of a list.
std::vector<double> getTimes(const llvm::json::Array *list);

} // namespace tessera::tuning

#endif // TUNING_RUN_FINALCOMPARISON_H
