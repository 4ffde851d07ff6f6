//===- SpaceReport.cpp - The sizes of spaces of schedules -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduling/WindowTask.h"
#include "Tuning/MachineModel.h"
#include "Tuning/Run/RunCommands.h"
#include "Tuning/Run/SearchValues.h"
#include "Tuning/Search.h"
#include "Tuning/WindowSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <random>

using namespace tessera::tuning;
namespace json = llvm::json;

/// Points that are visited before the count becomes an estimate.
static constexpr size_t mostCounted = 300'000;

/// The number of tilings that the search times with care: those whose estimate
/// is within `slowest` times the best one's.
static size_t countPromising(const tuning::ScheduleSpace &space,
                             const tuning::MachineModel &machine,
                             double slowest) {
  std::vector<double> estimates;
  for (const auto &core : space.getCores())
    estimates.push_back(machine.estimate(core));
  if (estimates.empty())
    return 0;
  double least = *llvm::min_element(estimates);
  return static_cast<size_t>(llvm::count_if(
      estimates, [&](double estimate) { return estimate <= slowest * least; }));
}

/// The same for a window.
static json::Object countWindowSpace(Task &task, const compiler::Chip &chip,
                                     llvm::raw_ostream &os) {
  tuning::WindowSpace space(*task.program, chip);
  auto print = [&](size_t count, const llvm::Twine &what) {
    os << llvm::format("  %14zu ", count) << what << "\n";
  };
  os << task.text.description << " (" << task.text.key << ") on " << chip.name
     << "\n";
  print(space.countCombinations(), "combinations");
  json::Object removed;
  for (const auto &[why, points] : space.getRemoved()) {
    print(points, "removed by " + why);
    removed[why] = static_cast<int64_t>(points);
  }
  auto legal = static_cast<int64_t>(space.getSchedules().size());
  print(space.getSchedules().size(), "legal");
  return json::Object{
      {"task", task.text.key},
      {"description", task.text.description},
      {"combinations", static_cast<int64_t>(space.countCombinations())},
      {"removed", std::move(removed)},
      {"legal", legal},
      {"is_estimate", false}};
}

/// Prints the size of a task's space; returns the same for --json.
static json::Object countSpace(Task &task, const compiler::Chip &chip,
                               const RunOptions &options,
                               const tuning::SpaceConfig &config,
                               llvm::raw_ostream &os) {
  mlir::Operation *op = task.getOp();
  if (compiler::getWindowOp(op))
    return countWindowSpace(task, chip, os);
  tuning::SpaceValues values = tuning::getDefaultValues(op, chip);
  applyConfig(config, values);
  tuning::ScheduleSpace space(*task.program, chip, values);
  tuning::MachineModel machine(op, chip);
  std::mt19937_64 random(options.seed);
  tuning::ScheduleSpace::Count count =
      space.count(options.exact ? SIZE_MAX : mostCounted, random);
  tuning::SearchOptions search;
  size_t tilings = space.getCores().size(),
         promising = countPromising(space, machine, search.slowest);
  os << task.text.description << " (" << task.text.key << ") on " << chip.name
     << "\n"
     << llvm::format("  %14.0f combinations\n", count.all);
  json::Object removed;
  for (const auto &[why, points] : count.removed) {
    os << llvm::format("  %14.0f removed by ", points) << why << "\n";
    removed[why] = points;
  }
  os << llvm::format("  %14.0f legal%s\n", count.legal,
                     count.isEstimate ? " (options were tried on a part of "
                                        "the tilings; these are estimates)"
                                      : "");
  if (tilings)
    os << llvm::format("  %14.0f of them within %g times the best tiling by "
                       "the machine model\n",
                       count.legal * static_cast<double>(promising) /
                           static_cast<double>(tilings),
                       search.slowest);
  return json::Object{{"task", task.text.key},
                      {"description", task.text.description},
                      {"combinations", count.all},
                      {"removed", std::move(removed)},
                      {"legal", count.legal},
                      {"tilings", static_cast<int64_t>(tilings)},
                      {"promising_tilings", static_cast<int64_t>(promising)},
                      {"is_estimate", count.isEstimate}};
}

RunEnd tessera::tuning::countSpaces(const RunOptions &options,
                                    const RunConsole &console) {
  mlir::MLIRContext context;
  std::vector<Task> tasks;
  tuning::SpaceConfig config;
  if (std::optional<RunEnd> end =
          collectWork(options, context, tasks, config, console.messages))
    return *end;
  const compiler::Chip &chip = *compiler::findChip(
      compiler::getChipTarget(options.compile.target), options.compile.chip);
  json::Array list;
  for (Task &task : tasks)
    list.push_back(
        countSpace(task, chip, options, config,
                   options.json ? console.messages : console.output));
  if (options.json)
    console.output << llvm::formatv("{0:2}", json::Value(json::Object{
                                                 {"tasks", std::move(list)}}))
                   << "\n";
  return RunEnd::Done;
}
