//===- Progress.h - Progress reports of a run ---------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_PROGRESS_H
#define TUNING_RUN_PROGRESS_H

#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstddef>
#include <string>

namespace tessera::tuning {

/// Counts of a run.
struct Counts {
  size_t made = 0, pruned = 0, compiled = 0, failed = 0, measured = 0;
  /// Tasks whose leaders are compared, once the search is over, and those of
  /// them that have been.
  size_t toCompare = 0, compared = 0;
};

/// On a terminal one line that changes; elsewhere a line now and then.
class Progress {
public:
  Progress(llvm::raw_ostream &os, bool isTerminal);
  ~Progress();

  /// A line that stays.
  void say(const std::string &line);
  /// The state; shown when it is time. `best` describes the progress.
  void update(const Counts &counts, const std::string &best,
              double secondsLeft);

private:
  void clear();

  using Clock = std::chrono::steady_clock;
  llvm::raw_ostream &os;
  bool isTerminal;
  bool isShown = false;
  Clock::time_point last;
};

} // namespace tessera::tuning

#endif // TUNING_RUN_PROGRESS_H
