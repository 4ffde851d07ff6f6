//===- Best.cpp - gpu-tune best -------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Report/TaskText.h"

using namespace tessera::tuning;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

static constexpr const char bestHelp[] =
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

int tessera::tuning::runBest(ArrayRef<StringRef> args) {
  std::string path;
  TaskId task;
  bool json = false, tsv = false;
  Arguments arguments(bestHelp);
  arguments.addRequiredText("--db", path);
  arguments.addText("--chip", task.chip);
  arguments.addText("--task", task.key);
  arguments.addFlag("--json", json);
  arguments.addFlag("--tsv", tsv);
  if (std::optional<int> status = parse(arguments, args, "--db"))
    return *status;
  if (json && tsv)
    return fail(Exit::Usage,
                "--json and --tsv are mutually exclusive: remove one");
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
    auto tuned = readScheduleDatabase(path, why);
    if (!tuned)
      return fail(Exit::Failed, why);
    std::string lines = formatTunedSchedules(*tuned, task);
    if (lines.empty())
      return failEmpty("times");
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
