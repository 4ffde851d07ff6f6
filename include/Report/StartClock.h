//===- StartClock.h - How long a program takes to start ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_STARTCLOCK_H
#define REPORT_STARTCLOCK_H

#include "Execution/Report.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::execution {

/// Records how long each step up to the first launch takes.
class StartClock {
public:
  /// With a trace, each step becomes an event of it.
  explicit StartClock(runtime::Trace *trace) : trace(trace) {}

  /// A step ends, and the next one begins.
  void done(const char *step);

  /// Adds the steps to the JSON object, and prints them if `print` is set:
  /// "first launch: after 20.3 ms: read 1.2, ...". Does neither if there was no
  /// launch.
  void report(const std::optional<std::chrono::steady_clock::time_point> &end,
              bool print, Report &report) const;

private:
  using Time = std::chrono::steady_clock::time_point;

  runtime::Trace *trace;
  Time begin = std::chrono::steady_clock::now(), last = begin;
  std::vector<std::pair<const char *, double>> steps;
};

} // namespace tessera::execution

#endif // REPORT_STARTCLOCK_H
