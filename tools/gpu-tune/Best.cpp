//===- Best.cpp - The best schedule of each task --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Commands.h"
#include "Report/TaskSummary.h"

#include "Driver/TunedSchedules.h"
#include "Tuning/Interchange.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace tune;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

static constexpr const char help[] =
    R"(gpu-tune best --db=FILE [--chip=CHIP] [--task=KEY] [--json|--tsv]

Prints the best schedule for each task, chip and device, as the attribute of a linalg
op; its time with its 95 % confidence interval and its rate; and how many
times as fast it is as the compiler's own choice and as the vendor's library,
as measured on the same device, driver and host.

  --chip=CHIP   only for this chip: sm_90a, or cuda:sm_90a
  --task=KEY    only for this task
  --json        prints one JSON object
  --tsv         lines for lib/Driver/Tuned/TARGET-CHIP.tsv, the records that come
                with the compiler: key, schedule (empty for the compiler's own
                choice), origin
)";

/// "0.1725 ms (0.1721 to 0.173)".
template <typename T> static std::string formatTime(const T &entry) {
  std::string text = formatTime(entry.median);
  llvm::raw_string_ostream(text)
      << llvm::format(" (%.4g to %.4g)", entry.low, entry.high);
  return text;
}

static void printSpeedup(const Speedup &speedup, StringRef other,
                         const std::string &time, Nearness nearness) {
  llvm::outs() << llvm::format("  %.3f times as fast as ", speedup.ratio)
               << other << " (at least "
               << llvm::format("%.3f, at most %.3f), ", speedup.low,
                               speedup.high)
               << "which took " << time;
  // Anything but the same comparison is worth to know.
  if (nearness != Nearness::Comparison)
    llvm::outs() << ", " << describe(nearness);
  llvm::outs() << "\n";
}

static void printOutcomes(const Summary &summary) {
  llvm::outs() << "  " << summary.records.size() << " tried";
  for (auto [outcome, count] : summary.outcomes)
    llvm::outs() << ", " << count << " " << getOutcomeName(outcome);
  llvm::outs() << "\n";
}

static void print(const Summary &summary) {
  llvm::outs() << summary.text.description << " (" << summary.task.key
               << ") on " << formatLocation(summary) << "\n";
  if (!summary.best) {
    llvm::outs() << "  no schedule was measured\n";
    printOutcomes(summary);
    return;
  }
  const Record &best = *summary.best;
  StringRef schedule = getSchedule(best);
  if (schedule.empty())
    llvm::outs() << "  the compiler's own choice, which was not recorded\n";
  else
    llvm::outs() << "  tessera.schedule = " << schedule << "\n";
  llvm::outs() << "  " << formatTime(best);
  if (double rate = getRate(summary.text, best.median))
    llvm::outs() << ", " << formatRate(rate);
  llvm::outs() << (best.isFinal ? ", of the final comparison"
                                : ", of the search")
               << "\n";
  if (best.schedule.empty())
    llvm::outs() << "  it is the compiler's own choice\n";
  else if (summary.own)
    printSpeedup(summary.overOwn, "the compiler's own choice",
                 formatTime(*summary.own), summary.ownNearness);
  else
    llvm::outs() << "  the compiler's own choice was not measured there\n";
  if (summary.library)
    printSpeedup(summary.overLibrary, summary.library->library,
                 formatTime(*summary.library), summary.libraryNearness);
  else
    llvm::outs() << "  no library was measured there\n";
  const Environment &environment = best.environment;
  llvm::outs() << "  " << best.when;
  if (!environment.driver.empty())
    llvm::outs() << ", driver " << environment.driver;
  if (!environment.compiler.empty())
    llvm::outs() << ", " << environment.compiler;
  llvm::outs() << "\n";
  printOutcomes(summary);
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

static void write(llvm::json::OStream &os, const Summary &summary) {
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

/// Prints the schedules that --schedule-db would select, in the format of the
/// compiler's own files have it.
static int printTsv(const std::string &path, const TaskId &task) {
  std::string why;
  std::shared_ptr<const TunedSchedules> tuned = readScheduleDatabase(path, why);
  if (!tuned)
    return fail(Exit::Failed, why);
  std::string lines;
  for (const TunedSchedule &one : tuned->schedules)
    if ((task.chip.empty() || one.chip == task.chip) &&
        (task.target.empty() || one.target == task.target) &&
        (task.key.empty() || one.key == task.key))
      lines += one.key + "\t" + one.schedule + "\t" + one.origin + "\n";
  if (lines.empty())
    return fail(Exit::Failed, "'" + path +
                                  "' does not contain times of task '" +
                                  task.key + "' on chip '" + task.chip + "'");
  llvm::outs() << "# Key, schedule, origin (gpu-tune best --tsv).\n" << lines;
  return int(Exit::Done);
}

int tune::runBest(ArrayRef<StringRef> args) {
  std::string path;
  TaskId task;
  bool json = false, tsv = false;
  Arguments arguments(help);
  arguments.addRequiredText("--db", path);
  arguments.addText("--chip", task.chip);
  arguments.addText("--task", task.key);
  arguments.addFlag("--json", json);
  arguments.addFlag("--tsv", tsv);
  if (std::optional<int> status = arguments.parse(args))
    return *status;
  if (!arguments.getFiles().empty())
    return fail(Exit::Usage,
                "best does not accept a file other than --db, but '" +
                    arguments.getFiles().front() + "' was given");
  if (json && tsv)
    return fail(Exit::Usage,
                "--json and --tsv are mutually exclusive: remove one");
  auto database = Database::open(path, Database::Mode::Read);
  if (!database)
    return fail(database.takeError());
  if (llvm::Error error = resolve(**database, path, task))
    return fail(std::move(error));
  if (tsv)
    return printTsv(path, task);
  llvm::Expected<std::vector<Summary>> summaries =
      summarize(**database, task, /*run=*/0);
  if (!summaries)
    return fail(summaries.takeError());
  if (summaries->empty())
    return fail(Exit::Failed, "'" + path +
                                  "' does not contain records of task '" +
                                  task.key + "' on chip '" + task.chip + "'");
  if (!json) {
    for (const Summary &summary : *summaries)
      print(summary);
    return int(Exit::Done);
  }
  llvm::json::OStream os(llvm::outs(), /*IndentSize=*/2);
  os.object([&] {
    os.attributeArray("tasks", [&] {
      for (const Summary &summary : *summaries)
        os.object([&] { write(os, summary); });
    });
  });
  os.flush();
  llvm::outs() << "\n";
  return int(Exit::Done);
}
