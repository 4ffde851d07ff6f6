//===- Run.cpp - gpu-tune run ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "RunCommandLine.h"
#include "Tuning/Cluster/Agent.h"
#include "Tuning/Cluster/Cluster.h"
#include "Tuning/Cluster/Key.h"
#include "Tuning/Cluster/Mpi.h"
#include "Tuning/Run/RunReport.h"
#include "Tuning/Run/SearchValues.h"

#include "Runtime/OutputFile.h"
#include "Support/Interrupt.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <random>
#include <unistd.h>

using namespace tune;
using mlir::ArrayRef;
using mlir::StringRef;
namespace json = llvm::json;
using ::tessera::support::handleInterrupts;
using ::tessera::support::InterruptHandling;

/// Exit statuses, as those of gpu-runner.
static constexpr int failedStatus = 1, usageStatus = 2, wrongStatus = 3,
                     noDeviceStatus = 77;

static int fail(llvm::Error error, int status) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return status;
}

/// `run` and `space` begin with the tasks, and how the space is edited.
static std::optional<int> prepare(const RunOptions &options,
                                  mlir::MLIRContext &context,
                                  std::vector<Task> &tasks,
                                  tuning::SpaceConfig &config) {
  compiler::prepareContext(context);
  context.printOpOnDiagnostic(false);
  if (!options.config.empty()) {
    llvm::Expected<tuning::SpaceConfig> read =
        tuning::readSpaceConfig(options.config);
    if (!read)
      return fail(read.takeError(), usageStatus);
    config = std::move(*read);
    for (const std::string &warning : config.warnings)
      llvm::errs() << "warning: " << warning << "\n";
  }
  mlir::FailureOr<std::vector<Task>> found =
      collectTasks(options.work, options.compile, context, llvm::errs());
  if (failed(found))
    return failedStatus;
  tasks = std::move(*found);
  if (tasks.empty()) {
    llvm::errs() << "error: nothing to tune\n";
    return failedStatus;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// run
//===----------------------------------------------------------------------===//

/// Prints where other hosts find the run, and leaves it in a file with the key.
static llvm::Expected<std::unique_ptr<Cluster>>
listenForHosts(RunOptions &options) {
  if (options.key.empty())
    if (llvm::Error error = makeKey().moveInto(options.key))
      return std::move(error);
  llvm::Expected<std::unique_ptr<Cluster>> cluster =
      Cluster::create(*options.listen, options.key);
  if (!cluster)
    return cluster.takeError();
  llvm::errs() << "other hosts join with: gpu-tune join ";
  if (options.joinFile.empty()) {
    llvm::errs() << (*cluster)->getPlaces() << " --key-file=FILE\n";
    return cluster;
  }
  llvm::errs() << "--join-file=" << options.joinFile << " ("
               << (*cluster)->getPlaces() << ")\n";
  runtime::Status status = runtime::writePrivateFile(
      options.joinFile, {(*cluster)->getPlaces(), "\n", options.key, "\n"});
  if (!status.ok())
    return llvm::createStringError(status.message());
  return cluster;
}

/// Rank 0, or the only process.
static int tuneFirst(ArrayRef<StringRef> arguments, RunOptions options,
                     std::optional<Ranks> ranks) {
  int status = 0;
  options.hasRanks = ranks.has_value();
  if (!parseRunOptions(arguments, RunCommand::Run, options, status))
    return status;
  // The other ranks may be on other hosts.
  if (ranks && !options.listen)
    options.listen = "*";
  std::unique_ptr<Cluster> cluster;
  if (options.listen) {
    llvm::Expected<std::unique_ptr<Cluster>> made = listenForHosts(options);
    if (!made)
      return fail(made.takeError(), failedStatus);
    cluster = std::move(*made);
  }
  if (ranks)
    // MPI does not encrypt: a key that all ranks have is not sent.
    ranks->announce(cluster->getPlaces() + "\n" +
                    (options.isOwnKey ? "" : options.key));
  mlir::MLIRContext context;
  std::vector<Task> tasks;
  tuning::SpaceConfig config;
  if (std::optional<int> end = prepare(options, context, tasks, config))
    return *end;
  if (config.points)
    options.trials = std::min(options.trials.value_or(SIZE_MAX),
                              static_cast<size_t>(*config.points));
  options.slowest = config.slowest.value_or(options.slowest);
  auto database =
      tuning::Database::open(options.db, tuning::Database::Mode::Write);
  if (!database)
    return fail(database.takeError(), failedStatus);
  std::string command = "gpu-tune run";
  for (StringRef argument : arguments)
    command += " " + argument.str();
  std::string settings;
  llvm::raw_string_ostream(settings) << json::Value(
      json::Object{{"seed", static_cast<int64_t>(options.seed)},
                   {"budget", options.budget.value_or(0)},
                   {"trials", static_cast<int64_t>(options.trials.value_or(0))},
                   {"jobs", options.jobs},
                   {"timeout", options.timeout}});
  llvm::Expected<int64_t> run = (*database)->beginRun(command, settings);
  if (!run)
    return fail(run.takeError(), failedStatus);

  llvm::errs() << tasks.size() << (tasks.size() == 1 ? " task" : " tasks")
               << " for " << options.compile.target << ":"
               << options.compile.chip << ", " << options.jobs
               << (options.jobs == 1 ? " compile worker" : " compile workers");
  if (options.devices.empty())
    llvm::errs() << "; nothing is measured"
                 << (options.listen ? " here: " : ": ") << options.noDevice;
  llvm::errs() << "\n";
  Progress progress(llvm::errs(), isatty(STDERR_FILENO));
  Tuner tuner(
      options, tasks,
      [&](tuning::SpaceValues &values) { applyConfig(config, values); },
      **database, *run, progress);
  if (cluster)
    tuner.setCluster(*cluster);
  handleInterrupts(InterruptHandling::First);
  bool isGood = tuner.run();

  llvm::raw_ostream &os = options.json ? llvm::errs() : llvm::outs();
  json::Object root = reportRun(tuner, os);
  root["run"] = *run;
  root["db"] = options.db;
  unsigned lost = llvm::count_if(tuner.getStates(), [](const TaskState &state) {
    return !state.failure.empty();
  });
  os << "records: run " << *run << " in " << options.db << "\n";
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(root)))
                 << "\n";
  if (!isGood)
    return failedStatus;
  if (!tuner.hasMeasured()) {
    llvm::errs() << "note: nothing was measured: " << options.noDevice
                 << (cluster ? ", and no measuring host has joined" : "")
                 << "\n";
    return noDeviceStatus;
  }
  return lost > 0 ? wrongStatus : 0;
}

/// Any other rank: an agent, with what of the command line is for one. Rank 0
/// judges the rest of it.
static int tuneAsAgent(ArrayRef<StringRef> arguments, const Launch &launch,
                       Ranks ranks) {
  JoinOptions options;
  options.jobs = countCoresOf(launch);
  // Rank 0 may have to read programs first.
  options.wait = 60;
  options.ignoresInterrupt = true;
  bool isWrong = false;
  std::string keyFile;
  for (StringRef argument : arguments) {
    auto [name, value] = argument.split('=');
    if (name == "--jobs")
      isWrong |= value.getAsInteger(10, options.jobs);
    else if (name == "--measurers")
      isWrong |= value.getAsInteger(10, options.measurers);
    else if (name == "--devices")
      isWrong |= !parseDevices(value, options);
    else if (name == "--key-file")
      keyFile = value.str();
  }
  std::string heard = ranks.hear();
  auto [places, key] = StringRef(heard).split('\n');
  // The failure was already reported.
  if (isWrong || places.empty())
    return 0;
  llvm::SmallVector<StringRef> list;
  places.split(list, ',');
  for (StringRef place : list)
    options.places.push_back(place.str());
  options.key = key.str();
  if (options.key.empty()) {
    llvm::Expected<std::string> own = readKey(keyFile);
    if (!own)
      return fail(own.takeError(), failedStatus);
    if (own->empty())
      return fail(llvm::createStringError(
                      llvm::Twine("rank 0 has a key but this rank does not: "
                                  "set on all ranks the variable ") +
                      keyVariable + " (mpirun -x), or --key-file=FILE"),
                  failedStatus);
    options.key = *own;
  }
  handleInterrupts(InterruptHandling::First);
  return joinRun(options, llvm::errs()) ? 0 : failedStatus;
}

int tune::runTune(ArrayRef<StringRef> arguments) {
  RunOptions options;
  std::optional<Launch> launch = findLaunch();
  if (!launch)
    return tuneFirst(arguments, options, std::nullopt);
  llvm::Expected<std::optional<Ranks>> ranks = Ranks::create(*launch);
  if (!ranks)
    return fail(ranks.takeError(), failedStatus);
  if (*ranks && (*ranks)->getRank() > 0)
    return tuneAsAgent(arguments, *launch, std::move(**ranks));
  options.cores = countCoresOf(*launch);
  return tuneFirst(arguments, options, std::move(*ranks));
}

//===----------------------------------------------------------------------===//
// replay
//===----------------------------------------------------------------------===//

int tune::runReplay(ArrayRef<StringRef> arguments) {
  RunOptions options;
  int status = 0;
  if (!parseRunOptions(arguments, RunCommand::Replay, options, status))
    return status;
  mlir::MLIRContext context;
  compiler::prepareContext(context);
  context.printOpOnDiagnostic(false);
  auto database =
      tuning::Database::open(options.db, tuning::Database::Mode::Write);
  if (!database)
    return fail(database.takeError(), failedStatus);
  mlir::FailureOr<std::vector<Task>> tasks = readTasks(
      **database, options.task, options.compile, context, llvm::errs());
  if (failed(tasks))
    return failedStatus;
  if (tasks->empty()) {
    llvm::errs() << "error: " << options.db << " does not contain records for "
                 << options.compile.target << ":" << options.compile.chip
                 << (options.task.empty() ? "" : " of task " + options.task)
                 << "; gpu-tune best --db=" << options.db
                 << " lists its records\n";
    return failedStatus;
  }
  std::string command = "gpu-tune replay";
  for (StringRef argument : arguments)
    command += " " + argument.str();
  llvm::Expected<int64_t> run = (*database)->beginRun(command, "{}");
  if (!run)
    return fail(run.takeError(), failedStatus);
  Progress progress(llvm::errs(), isatty(STDERR_FILENO));
  Tuner tuner(
      options, *tasks, [](tuning::SpaceValues &) {}, **database, *run,
      progress);
  handleInterrupts(InterruptHandling::First);
  bool isGood = tuner.run();

  llvm::raw_ostream &os = options.json ? llvm::errs() : llvm::outs();
  json::Object root = reportReplay(tuner, os);
  root["run"] = *run;
  os << "records: run " << *run << " in " << options.db << "\n";
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(root)))
                 << "\n";
  if (!isGood)
    return failedStatus;
  bool isLost = llvm::any_of(tuner.getStates(), [](const TaskState &state) {
    return !state.failure.empty();
  });
  return isLost || tuner.getCounts().failed ? wrongStatus : 0;
}

//===----------------------------------------------------------------------===//
// space
//===----------------------------------------------------------------------===//

/// Points that are visited before the count becomes an estimate.
static constexpr size_t mostCounted = 300'000;

int tune::runSpace(ArrayRef<StringRef> arguments) {
  RunOptions options;
  int status = 0;
  if (!parseRunOptions(arguments, RunCommand::Space, options, status))
    return status;
  mlir::MLIRContext context;
  std::vector<Task> tasks;
  tuning::SpaceConfig config;
  if (std::optional<int> end = prepare(options, context, tasks, config))
    return *end;
  const compiler::Chip &chip = *compiler::findChip(
      compiler::getChipTarget(options.compile.target), options.compile.chip);
  llvm::raw_ostream &os = options.json ? llvm::errs() : llvm::outs();
  json::Array list;
  for (Task &task : tasks) {
    mlir::Operation *op = task.getOp();
    tuning::SpaceValues values = tuning::getDefaultValues(op, chip);
    applyConfig(config, values);
    tuning::ScheduleSpace space(*task.program, chip, values);
    tuning::MachineModel machine(op, chip);
    std::mt19937_64 random(options.seed);
    tuning::ScheduleSpace::Count count =
        space.count(options.exact ? SIZE_MAX : mostCounted, random);
    // Estimates of the machine model for the legal points.
    tuning::SearchOptions search;
    size_t promising = 0, looked = 0;
    double least = INFINITY;
    std::vector<double> estimates;
    for (const auto &core : space.getCores())
      estimates.push_back(machine.estimate(core));
    for (double estimate : estimates)
      least = std::min(least, estimate);
    for (double estimate : estimates) {
      ++looked;
      promising += estimate <= search.slowest * least;
    }
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
    if (looked)
      os << llvm::format("  %14.0f of them within %g times the best tiling by "
                         "the machine model\n",
                         count.legal * static_cast<double>(promising) /
                             static_cast<double>(looked),
                         search.slowest);
    list.push_back(
        json::Object{{"task", task.text.key},
                     {"description", task.text.description},
                     {"combinations", count.all},
                     {"removed", std::move(removed)},
                     {"legal", count.legal},
                     {"tilings", static_cast<int64_t>(space.getCores().size())},
                     {"promising_tilings", static_cast<int64_t>(promising)},
                     {"is_estimate", count.isEstimate}});
  }
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}", json::Value(json::Object{
                                               {"tasks", std::move(list)}}))
                 << "\n";
  return 0;
}
