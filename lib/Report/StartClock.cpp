//===- StartClock.cpp - How long a program takes to start -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/StartClock.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace tessera::execution;

static double milliseconds(std::chrono::steady_clock::time_point from,
                           std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

void StartClock::done(const char *step) {
  auto now = std::chrono::steady_clock::now();
  if (trace) {
    runtime::TraceEvent event;
    event.name = step;
    event.category = "step";
    event.track = trace->getTrack();
    event.start = trace->toTime(last);
    event.duration = trace->toTime(now) - event.start;
    trace->add(std::move(event));
  }
  steps.emplace_back(step, milliseconds(last, now));
  last = now;
}

void StartClock::report(
    const std::optional<std::chrono::steady_clock::time_point> &end, bool print,
    Report &report) const {
  if (!end)
    return;
  double total = milliseconds(begin, *end);
  llvm::json::Object object;
  if (print)
    report.text() << llvm::format("first launch: after %.1f ms", total);
  for (auto [i, step] : llvm::enumerate(steps)) {
    object[step.first] = toJSON(step.second);
    if (print)
      report.text() << (i == 0 ? ": " : ", ") << step.first << " "
                    << llvm::format("%.1f", step.second);
  }
  if (print)
    report.text() << "\n";
  report.root["first_launch_ms"] = toJSON(total);
  report.root["start"] = std::move(object);
}
