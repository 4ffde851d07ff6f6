//===- TaskText.cpp - The best of each task, as text ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TaskText.h"

#include "Report/ScheduleText.h"
#include "Tuning/Interchange.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace tessera::tuning;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

/// "0.1725 ms (0.1721 to 0.173)".
template <typename T> static std::string formatInterval(const T &entry) {
  std::string text = formatTime(entry.median);
  llvm::raw_string_ostream(text)
      << llvm::format(" (%.4g to %.4g)", entry.low, entry.high);
  return text;
}

static void printSpeedup(const Speedup &speedup, StringRef other,
                         const std::string &time, Nearness nearness,
                         llvm::raw_ostream &os) {
  os << llvm::format("  %.3f times as fast as ", speedup.ratio) << other
     << " (at least "
     << llvm::format("%.3f, at most %.3f), ", speedup.low, speedup.high)
     << "which took " << time;
  // Anything but the same comparison is worth to know.
  if (nearness != Nearness::Comparison)
    os << ", " << describe(nearness);
  os << "\n";
}

static void printOutcomes(const Summary &summary, llvm::raw_ostream &os) {
  os << "  " << summary.records.size() << " tried";
  for (auto [outcome, count] : summary.outcomes)
    os << ", " << count << " " << getOutcomeName(outcome);
  os << "\n";
}

void tessera::tuning::printSummary(const Summary &summary,
                                   llvm::raw_ostream &os) {
  os << summary.text.description << " (" << summary.task.key << ") on "
     << formatLocation(summary) << "\n";
  if (!summary.best) {
    os << "  no schedule was measured\n";
    printOutcomes(summary, os);
    return;
  }
  const Record &best = *summary.best;
  StringRef schedule = getSchedule(best);
  if (schedule.empty())
    os << "  the compiler's own choice, which was not recorded\n";
  else
    os << "  " << getScheduleName(schedule) << " = " << schedule << "\n";
  os << "  " << formatInterval(best);
  if (double rate = getRate(summary.text, best.median))
    os << ", " << formatRate(rate);
  os << (best.isFinal ? ", of the final comparison" : ", of the search")
     << "\n";
  if (best.schedule.empty())
    os << "  it is the compiler's own choice\n";
  else if (summary.own)
    printSpeedup(summary.overOwn, "the compiler's own choice",
                 formatInterval(*summary.own), summary.ownNearness, os);
  else
    os << "  the compiler's own choice was not measured there\n";
  if (summary.library)
    printSpeedup(summary.overLibrary, summary.library->library,
                 formatInterval(*summary.library), summary.libraryNearness, os);
  else
    os << "  no library was measured there\n";
  const Environment &environment = best.environment;
  os << "  " << best.when;
  if (!environment.driver.empty())
    os << ", driver " << environment.driver;
  if (!environment.compiler.empty())
    os << ", " << environment.compiler;
  os << "\n";
  printOutcomes(summary, os);
}

static void writeSpeedup(llvm::json::OStream &os, const Speedup &speedup,
                         Nearness nearness) {
  os.attribute("ratio", speedup.ratio);
  os.attribute("ratio_low", speedup.low);
  os.attribute("ratio_high", speedup.high);
  os.attribute("nearness", nearness == Nearness::Comparison ? "comparison"
                           : nearness == Nearness::Run      ? "run"
                                                            : "environment");
}

static void writeSummary(llvm::json::OStream &os, const Summary &summary) {
  os.attribute("task", summary.task.key);
  os.attribute("description", summary.text.description);
  os.attribute("target", summary.task.target);
  os.attribute("chip", summary.task.chip);
  os.attribute("device", summary.device);
  os.attributeObject("outcomes", [&] {
    for (auto [outcome, count] : summary.outcomes)
      os.attribute(getOutcomeName(outcome), int64_t(count));
  });
  if (!summary.best) {
    os.attribute("best", nullptr);
    return;
  }
  os.attribute("schedule", getSchedule(*summary.best));
  double rate = getRate(summary.text, summary.best->median);
  os.attribute("flops", rate > 0 ? llvm::json::Value(rate) : nullptr);
  os.attributeObject("best", [&] { writeFields(os, *summary.best); });
  if (!summary.own)
    os.attribute("own", nullptr);
  else
    os.attributeObject("own", [&] {
      writeSpeedup(os, summary.overOwn, summary.ownNearness);
      os.attributeObject("record", [&] { writeFields(os, *summary.own); });
    });
  if (!summary.library)
    os.attribute("library", nullptr);
  else
    os.attributeObject("library", [&] {
      writeSpeedup(os, summary.overLibrary, summary.libraryNearness);
      os.attributeObject("baseline",
                         [&] { writeFields(os, *summary.library); });
    });
}

void tessera::tuning::printSummariesJSON(llvm::ArrayRef<Summary> summaries,
                                         llvm::raw_ostream &stream) {
  llvm::json::OStream os(stream, /*IndentSize=*/2);
  os.object([&] {
    os.attributeArray("tasks", [&] {
      for (const Summary &summary : summaries)
        os.object([&] { writeSummary(os, summary); });
    });
  });
  os.flush();
  stream << "\n";
}

std::string tessera::tuning::formatTunedSchedules(const TunedSchedules &tuned,
                                                  const TaskId &task) {
  auto matches = [](const std::string &wanted, const std::string &given) {
    return wanted.empty() || wanted == given;
  };
  std::string lines;
  for (const TunedSchedule &one : tuned.schedules)
    if (matches(task.chip, one.chip) && matches(task.target, one.target) &&
        matches(task.key, one.key))
      lines += one.key + "\t" + one.schedule + "\t" + one.origin + "\n";
  return lines;
}
