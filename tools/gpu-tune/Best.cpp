//===- Best.cpp - gpu-tune best -------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Driver/ScheduleDatabase.h"
#include "Report/TaskText.h"

using namespace tessera::tuning;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

static constexpr const char bestHelp[] =
    R"(gpu-tune best --db=FILE [--chip=CHIP] [--task=KEY] [--json|--tsv [--gain=N]]

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
  --gain=N      --tsv: only schedules that were at least N times as fast as the
                compiler's own choice in their final comparison, where the
                confidence intervals do not overlap; default: all
  --source=TEXT --tsv: replaces FILE in the origins
)";

static llvm::Error parseGain(StringRef value, double &gain) {
  if (value.getAsDouble(gain) || !(gain >= 1))
    return llvm::createStringError("--gain must be a factor of at least 1, "
                                   "not '" +
                                   value + "'");
  return llvm::Error::success();
}

int tessera::tuning::runBest(ArrayRef<StringRef> args) {
  std::string path;
  TaskId task;
  bool json = false, tsv = false;
  RecordFilter filter;
  Arguments arguments(bestHelp);
  arguments.addRequiredText("--db", path);
  arguments.addText("--chip", task.chip);
  arguments.addText("--task", task.key);
  arguments.addFlag("--json", json);
  arguments.addFlag("--tsv", tsv);
  arguments.addValue(
      "--gain", [&](StringRef value) { return parseGain(value, filter.gain); });
  arguments.addText("--source", filter.source);
  if (std::optional<int> status = parse(arguments, args, "--db"))
    return *status;
  if (json && tsv)
    return fail(Exit::Usage,
                "--json and --tsv are mutually exclusive: remove one");
  if (!tsv && (filter.gain > 0 || !filter.source.empty()))
    return fail(Exit::Usage, "--gain and --source require --tsv");
  auto database = Database::open(path, Database::Mode::Read);
  if (!database)
    return fail(database.takeError());
  if (llvm::Error error = resolve(**database, path, task))
    return fail(std::move(error));
  auto failEmpty = [&](StringRef what) {
    return fail(Exit::Failed, "'" + path + "' does not contain " + what +
                                  " of task '" + task.key + "' on chip '" +
                                  task.chip + "'");
  };
  if (tsv) {
    // The schedules that --schedule-db would select.
    std::string why;
    std::vector<std::string> notes;
    auto tuned = readScheduleDatabase(path, filter, notes, why);
    if (!tuned)
      return fail(Exit::Failed, why);
    std::string lines = formatTunedSchedules(*tuned, task);
    if (lines.empty())
      return filter.gain > 0
                 ? fail(Exit::Failed, "'" + path +
                                          "' does not contain schedules that "
                                          "were faster by this gain")
                 : failEmpty("times");
    llvm::outs() << "# Key, schedule, origin (gpu-tune best --tsv).\n" << lines;
    return int(Exit::Done);
  }
  llvm::Expected<std::vector<Summary>> summaries =
      summarize(**database, task, /*run=*/0);
  if (!summaries)
    return fail(summaries.takeError());
  if (summaries->empty())
    return failEmpty("records");
  if (json)
    printSummariesJSON(*summaries, llvm::outs());
  else
    for (const Summary &summary : *summaries)
      printSummary(summary, llvm::outs());
  return int(Exit::Done);
}
