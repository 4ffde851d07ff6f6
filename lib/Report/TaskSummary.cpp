//===- TaskSummary.cpp - The best of each task, beside others -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TaskSummary.h"

#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <set>
#include <tuple>

using namespace tessera::tuning;
using namespace mlir::tessera::tuning;

StringRef tessera::tuning::describe(Nearness nearness) {
  switch (nearness) {
  case Nearness::Comparison:
    return "in the same comparison";
  case Nearness::Run:
    return "in the same run";
  case Nearness::Environment:
    return "in another run";
  }
  llvm_unreachable("an unknown proximity");
}

StringRef tessera::tuning::getSchedule(const Record &record) {
  return record.schedule.empty() ? record.chosen : record.schedule;
}

bool tessera::tuning::areComparable(const Environment &a, const Environment &b,
                                    bool withBuild) {
  return a.device == b.device && a.driver == b.driver && a.host == b.host &&
         a.features == b.features && (!withBuild || a.build == b.build);
}

/// `time` is the other's.
template <typename T>
static Speedup compare(const Record &best, const T &other) {
  Speedup speedup;
  speedup.ratio = other.median / best.median;
  speedup.low = best.high > 0 ? other.low / best.high : 0;
  speedup.high = best.low > 0 ? other.high / best.low : speedup.ratio;
  return speedup;
}

/// The compiler's own choice, and the library, beside the best one.
static void findOthers(Summary &summary) {
  const Record &best = *summary.best;
  if (!best.schedule.empty())
    for (const Record &record : summary.records) {
      if (!record.schedule.empty() || record.outcome != Outcome::Measured ||
          !areComparable(record.environment, best.environment, true))
        continue;
      Nearness nearness =
          record.run != best.run || best.run == 0 ? Nearness::Environment
          : record.isFinal != best.isFinal        ? Nearness::Run
                                                  : Nearness::Comparison;
      // Among equally near ones, the latest.
      if (summary.own && nearness > summary.ownNearness)
        continue;
      summary.own = record;
      summary.ownNearness = nearness;
      summary.overOwn = compare(best, record);
    }
  for (const Baseline &baseline : summary.baselines) {
    if (!areComparable(baseline.environment, best.environment, false))
      continue;
    Nearness nearness = baseline.run != best.run || best.run == 0
                            ? Nearness::Environment
                        : best.isFinal ? Nearness::Comparison
                                       : Nearness::Run;
    if (summary.library && (nearness > summary.libraryNearness ||
                            (nearness == summary.libraryNearness &&
                             baseline.median >= summary.library->median)))
      continue;
    summary.library = baseline;
    summary.libraryNearness = nearness;
    summary.overLibrary = compare(best, baseline);
  }
}

llvm::Expected<std::vector<Summary>>
tessera::tuning::summarize(Database &database, const TaskId &task,
                           int64_t run) {
  std::vector<TaskText> tasks;
  std::vector<Record> records;
  std::vector<Baseline> baselines;
  if (llvm::Error error = database.transact([&]() -> llvm::Error {
        if (llvm::Error error = database.getTasks().moveInto(tasks))
          return error;
        if (llvm::Error error = database.getRecords(task).moveInto(records))
          return error;
        return database.getBaselines(task).moveInto(baselines);
      }))
    return std::move(error);

  std::vector<Summary> summaries;
  for (const TaskText &text : tasks) {
    // By target, chip and device.
    std::map<std::tuple<std::string, std::string, std::string>, Summary> groups;
    auto get = [&](const auto &entry) -> Summary & {
      const TaskId &id = entry.task;
      const std::string &device = entry.environment.device;
      Summary &summary = groups[{id.target, id.chip, device}];
      summary.text = text;
      summary.task = id;
      summary.device = device;
      return summary;
    };
    for (const Record &record : records)
      if (record.task.key == text.key && (run == 0 || record.run == run)) {
        Summary &summary = get(record);
        summary.records.push_back(record);
        ++summary.outcomes[record.outcome];
      }
    for (const Baseline &baseline : baselines)
      if (baseline.task.key == text.key && (run == 0 || baseline.run == run))
        get(baseline).baselines.push_back(baseline);
    for (auto &[group, summary] : groups) {
      if (const Record *best = pickBest(summary.records, ""))
        summary.best = *best;
      if (summary.best)
        findOthers(summary);
      summaries.push_back(std::move(summary));
    }
  }
  return summaries;
}

llvm::Error tessera::tuning::resolve(Database &database, StringRef path,
                                     TaskId &task) {
  llvm::Expected<std::vector<Record>> records = database.getRecords({});
  if (!records)
    return records.takeError();
  if (records->empty())
    return llvm::createStringError("'" + path +
                                   "' does not contain records; add them with "
                                   "gpu-tune run or gpu-tune import");
  std::set<std::string> keys, chips;
  for (const Record &record : *records) {
    keys.insert(record.task.key);
    chips.insert(record.task.chip);
    chips.insert(record.task.target + ":" + record.task.chip);
  }
  auto check = [&](StringRef what, const std::string &name,
                   const std::set<std::string> &known) -> llvm::Error {
    if (name.empty() || known.count(name))
      return llvm::Error::success();
    llvm::SmallVector<StringRef> names(known.begin(), known.end());
    return llvm::createStringError("'" + path +
                                   "' does not contain records of " + what +
                                   " '" + name + "': " + suggest(name, names));
  };
  if (llvm::Error error = check("task", task.key, keys))
    return error;
  if (llvm::Error error = check("chip", task.chip, chips))
    return error;
  if (auto [target, chip] = StringRef(task.chip).split(':'); !chip.empty()) {
    // Chips of the CPU may have a colon by themselves.
    bool isWhole = llvm::any_of(*records, [&](const Record &record) {
      return record.task.chip == task.chip;
    });
    if (!isWhole) {
      std::string name = chip.str();
      task.target = target.str();
      task.chip = name;
    }
  }
  return llvm::Error::success();
}

std::string tessera::tuning::formatLocation(const Summary &summary) {
  std::string text = summary.task.target + ":" + summary.task.chip;
  return summary.device.empty() ? text : text + ", " + summary.device;
}

llvm::Expected<std::vector<Run>>
tessera::tuning::findRuns(Database &database, StringRef path,
                          std::optional<int64_t> run) {
  llvm::Expected<std::vector<Run>> runs = database.getRuns();
  if (!runs || !run)
    return runs;
  std::vector<std::string> numbers;
  for (const Run &known : *runs)
    numbers.push_back(std::to_string(known.number));
  llvm::erase_if(*runs, [&](const Run &known) { return known.number != *run; });
  if (!runs->empty())
    return runs;
  return llvm::createStringError(
      "'" + path + "' does not contain run " + llvm::Twine(*run) + ": " +
      (numbers.empty() ? "it has no runs"
                       : "expected one of " + llvm::join(numbers, ", ")));
}

double tessera::tuning::getRate(const TaskText &text, double time) {
  return time > 0 ? text.operations / (time * 1e-3) : 0;
}

std::string tessera::tuning::formatRate(double rate) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  for (; rate >= 1000 && prefix + 1 < std::size(prefixes); ++prefix)
    rate /= 1000;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(rate >= 99.95   ? "%.0f"
                                                 : rate >= 9.995 ? "%.1f"
                                                                 : "%.2f",
                                                 rate)
                                 << " " << prefixes[prefix] << "FLOP/s";
  return text;
}

std::string tessera::tuning::formatTime(double milliseconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g ms", milliseconds);
  return text;
}
