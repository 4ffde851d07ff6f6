//===- RunReport.cpp - The results of a tuning run ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/RunReport.h"

#include "Tuning/Run/FinalComparison.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace tessera::tuning;
namespace json = llvm::json;

static std::string formatTime(double median, double low, double high,
                              double warm = 0) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.4f ms (%.4f to %.4f", median, low, high);
  if (warm > 0)
    os << llvm::format("; with warm caches %.4f", warm);
  os << ")";
  return text;
}

static std::string formatTime(const tuning::Record &record) {
  return formatTime(record.median, record.low, record.high, record.warmMedian);
}

/// The result of one task, as text and JSON. Adds to the logarithms of the
/// ratios.
static json::Object report(const TaskState &state, llvm::raw_ostream &os,
                           double &logOwn, double &logLibrary, unsigned &owns,
                           unsigned &libraries) {
  const Task &task = *state.task;
  os << task.text.description;
  if (task.count > 1)
    os << ", " << task.count << " times";
  if (!task.location.empty())
    os << ", " << task.location;
  os << "\n";
  json::Object object{{"task", task.text.key},
                      {"description", task.text.description},
                      {"count", task.count},
                      {"candidates", static_cast<int64_t>(state.begun)},
                      {"error", state.failure}};
  if (!state.failure.empty()) {
    os << "  given up: " << state.failure << "\n";
    return object;
  }
  if (!state.winner && !state.leaders.empty()) {
    const TaskState::Leader &best = state.leaders.front();
    os << llvm::format("  %.4f ms in the search, by ", best.time) << best.chosen
       << "; there was no final comparison\n";
    return object;
  }
  if (!state.winner) {
    os << "  " << state.begun << " candidates, none measured\n";
    return object;
  }
  const tuning::Record &winner = *state.winner;
  double rate = task.text.operations / (winner.median * 1e-3);
  os << "  " << formatTime(winner)
     << llvm::format(", %.1f TFLOP/s, ", rate / 1e12);
  if (winner.schedule.empty())
    os << "by the compiler's own choice: " << winner.chosen << "\n";
  else
    os << "by " << winner.schedule << "\n";
  object["schedule"] = winner.schedule;
  object["chosen"] = winner.chosen;
  object["median_ms"] = winner.median;
  object["low_ms"] = winner.low;
  object["high_ms"] = winner.high;
  if (winner.warmMedian > 0)
    object["warm_ms"] = winner.warmMedian;
  if (state.own) {
    double ratio = getOwnRatio(state);
    if (!winner.schedule.empty())
      os << "  the compiler's own choice: " << formatTime(*state.own)
         << llvm::format(", %.3f times as long", ratio)
         << (isComparedWarm(state) ? " in the geometric mean\n" : "\n");
    object["own_ms"] = state.own->median;
    if (state.own->warmMedian > 0)
      object["own_warm_ms"] = state.own->warmMedian;
    object["own_ratio"] = ratio;
    logOwn += std::log(ratio);
    ++owns;
  }
  if (state.baseline) {
    double ratio = state.baseline->median / winner.median;
    os << "  " << state.baseline->library << ": "
       << formatTime(state.baseline->median, state.baseline->low,
                     state.baseline->high)
       << llvm::format("; tuned reaches %.3f of its rate\n", ratio);
    object["library"] = state.baseline->library;
    object["library_ms"] = state.baseline->median;
    object["library_ratio"] = ratio;
    logLibrary += std::log(ratio);
    ++libraries;
  } else if (!state.libraryError.empty()) {
    os << "  no library: " << state.libraryError << "\n";
    object["library_error"] = state.libraryError;
  }
  return object;
}

json::Object tessera::tuning::reportRun(const Tuner &tuner,
                                        llvm::raw_ostream &os) {
  double logOwn = 0, logLibrary = 0;
  unsigned owns = 0, libraries = 0;
  json::Array list;
  for (const TaskState &state : tuner.getStates()) {
    list.push_back(report(state, os, logOwn, logLibrary, owns, libraries));
  }
  const Counts &counts = tuner.getCounts();
  const tuning::Environment &environment = tuner.getEnvironment();
  os << counts.made << " candidates, " << counts.compiled << " compiled, "
     << counts.measured << " measured, " << counts.failed << " failed";
  if (tuner.getCompileRate() > 0)
    os << llvm::format("; %.1f compiled a second", tuner.getCompileRate());
  os << "\n";
  json::Object root{{"tasks", std::move(list)},
                    {"device", environment.device},
                    {"driver", environment.driver},
                    {"candidates", static_cast<int64_t>(counts.made)},
                    {"compiled", static_cast<int64_t>(counts.compiled)},
                    {"measured", static_cast<int64_t>(counts.measured)},
                    {"failed", static_cast<int64_t>(counts.failed)},
                    {"compiled_per_s", tuner.getCompileRate()}};
  if (owns > 0) {
    double mean = std::exp(logOwn / owns);
    os << llvm::format("geometric mean over %u tasks: %.3f times the rate of "
                       "the compiler's own choices",
                       owns, mean);
    root["own_ratio"] = mean;
    if (libraries > 0) {
      double libraryMean = std::exp(logLibrary / libraries);
      os << llvm::format(", %.3f times the library's (%u tasks)", libraryMean,
                         libraries);
      root["library_ratio"] = libraryMean;
    }
    os << "\n";
  }
  return root;
}

json::Object tessera::tuning::reportReplay(const Tuner &tuner,
                                           llvm::raw_ostream &os) {
  json::Array list;
  unsigned slower = 0;
  for (const TaskState &state : tuner.getStates()) {
    os << state.task->text.description << "\n";
    json::Object object{{"task", state.task->text.key},
                        {"description", state.task->text.description},
                        {"error", state.failure}};
    if (!state.failure.empty()) {
      os << "  given up: " << state.failure << "\n";
    }
    json::Array schedules;
    for (const tuning::Record &record : state.compared) {
      auto recorded = state.recorded.find(record.schedule);
      double before = recorded == state.recorded.end() ? 0 : recorded->second;
      bool isSlower = before > 0 && record.low > 1.1 * before;
      slower += isSlower;
      os << "  " << formatTime(record);
      if (before > 0)
        os << llvm::format(", %.3f times the recorded %.4f ms%s",
                           record.median / before, before,
                           isSlower ? ": SLOWER" : "");
      os << " by "
         << (record.schedule.empty()
                 ? "the compiler's own choice: " + record.chosen
                 : record.schedule)
         << "\n";
      schedules.push_back(json::Object{{"schedule", record.schedule},
                                       {"median_ms", record.median},
                                       {"warm_ms", record.warmMedian},
                                       {"recorded_ms", before}});
    }
    object["schedules"] = std::move(schedules);
    list.push_back(std::move(object));
  }
  const Counts &counts = tuner.getCounts();
  os << counts.made << " candidates, " << counts.measured
     << " correct and measured, " << counts.failed << " failed";
  if (slower)
    os << "; " << slower << " more than a tenth slower than recorded";
  os << "\n";
  return json::Object{{"tasks", std::move(list)},
                      {"measured", static_cast<int64_t>(counts.measured)},
                      {"failed", static_cast<int64_t>(counts.failed)},
                      {"slower", slower}};
}
