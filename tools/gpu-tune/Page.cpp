//===- Page.cpp - gpu-tune report -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Report/TuningPage.h"
#include "Runtime/OutputFile.h"

using namespace tessera::tuning;
using namespace mlir::tessera::tuning;

static constexpr const char reportHelp[] =
    R"(gpu-tune report --db=FILE -o PAGE.html [--run=N] [--chip=CHIP] [--task=KEY]

Writes one self-contained page. For each task, chip and device it shows the best
schedule beside the compiler's own choice and the library, the best time so far
over the candidates, the times along each parameter of the schedules, the
roofline, what failed and why, the device's clocks, and where it was measured.

  -o PAGE.html  output file
  --run=N       only for this run
  --chip=CHIP   only for this chip: sm_90a, or cuda:sm_90a
  --task=KEY    only for this task
)";

int tessera::tuning::runReport(ArrayRef<StringRef> args) {
  std::string path, output;
  TaskId task;
  std::optional<int64_t> run;
  Arguments arguments(reportHelp);
  arguments.addRequiredText("--db", path);
  arguments.addRequiredText("-o", output);
  arguments.addNumber("--run", run);
  arguments.addText("--chip", task.chip);
  arguments.addText("--task", task.key);
  if (std::optional<int> status = parse(arguments, args, "--db and -o"))
    return *status;
  auto database = Database::open(path, Database::Mode::Read);
  if (!database)
    return fail(database.takeError());
  if (llvm::Error error = resolve(**database, path, task))
    return fail(std::move(error));
  llvm::Expected<std::vector<Run>> runs = findRuns(**database, path, run);
  if (!runs)
    return fail(runs.takeError());
  llvm::Expected<std::vector<Summary>> summaries =
      summarize(**database, task, run.value_or(0));
  if (!summaries)
    return fail(summaries.takeError());
  std::string ofRun = run ? "run " + std::to_string(*run) : "";
  if (summaries->empty())
    return fail(Exit::Failed, "'" + path +
                                  "' does not contain records that match" +
                                  (run ? ", of " + ofRun : ""));
  std::string title = "Tuning: " + path + (run ? ", " + ofRun : "");
  auto status = tessera::runtime::writeFile(
      output, {writeTuningPage(title, *summaries, *runs)});
  return status.ok() ? int(Exit::Done) : fail(Exit::Failed, status.message());
}
