//===- Run.cpp - gpu-tune run ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "Cluster.h"
#include "Join.h"
#include "Key.h"
#include "Mpi.h"
#include "RunOptions.h"
#include "Tuner.h"
#include "Values.h"

#include "Runtime/OutputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <random>

using namespace tune;
using mlir::ArrayRef;
using mlir::StringRef;
namespace json = llvm::json;

/// Exit statuses, as those of gpu-runner.
static constexpr int failedStatus = 1, usageStatus = 2, wrongStatus = 3,
                     noDeviceStatus = 77;

static int fail(llvm::Error error, int status) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return status;
}

/// The first step of `run` and `space`: reads the tasks, and the configuration
/// of the space.
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
  }
  mlir::FailureOr<std::vector<Task>> found =
      collectTasks(options.work, options.compile, context);
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

static std::string formatTime(double median, double low, double high) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.4f ms (%.4f to %.4f)", median, low, high);
  return text;
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
  if (!task.place.empty())
    os << ", " << task.place;
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
  if (!state.winner) {
    os << "  " << state.begun << " candidates, none measured\n";
    return object;
  }
  const tuning::Record &winner = *state.winner;
  double rate = task.text.operations / (winner.median * 1e-3);
  os << "  " << formatTime(winner.median, winner.low, winner.high)
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
  if (state.own && !winner.schedule.empty()) {
    double ratio = state.own->median / winner.median;
    os << "  the compiler's own choice: "
       << formatTime(state.own->median, state.own->low, state.own->high)
       << llvm::format(", %.3f times as long\n", ratio);
  }
  if (state.own) {
    double ratio = state.own->median / winner.median;
    object["own_ms"] = state.own->median;
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
    ranks->tell(cluster->getPlaces() + "\n" +
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
  Tuner tuner(
      options, tasks,
      [&](tuning::SpaceValues &values) { applyConfig(config, values); },
      **database, *run);
  if (cluster)
    tuner.setCluster(*cluster);
  bool isGood = tuner.run();

  llvm::raw_ostream &os = options.json ? llvm::errs() : llvm::outs();
  double logOwn = 0, logLibrary = 0;
  unsigned owns = 0, libraries = 0, lost = 0;
  json::Array list;
  for (const TaskState &state : tuner.getStates()) {
    list.push_back(report(state, os, logOwn, logLibrary, owns, libraries));
    lost += !state.failure.empty();
  }
  const Counts &counts = tuner.getCounts();
  const tuning::Environment &environment = tuner.getEnvironment();
  os << counts.made << " candidates, " << counts.compiled << " compiled, "
     << counts.measured << " measured, " << counts.failed << " failed";
  if (tuner.getCompileRate() > 0)
    os << llvm::format("; %.1f compiled a second", tuner.getCompileRate());
  os << "\n";
  json::Object root{{"tasks", std::move(list)},
                    {"run", *run},
                    {"db", options.db},
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
  return joinRun(options);
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
  mlir::FailureOr<std::vector<Task>> tasks =
      readTasks(**database, options.task, options.compile, context);
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
  Tuner tuner(options, *tasks, [](tuning::SpaceValues &) {}, **database, *run);
  bool isGood = tuner.run();

  llvm::raw_ostream &os = options.json ? llvm::errs() : llvm::outs();
  json::Array list;
  unsigned lost = 0, slower = 0;
  for (const TaskState &state : tuner.getStates()) {
    os << state.task->text.description << "\n";
    json::Object object{{"task", state.task->text.key},
                        {"description", state.task->text.description},
                        {"error", state.failure}};
    if (!state.failure.empty()) {
      os << "  given up: " << state.failure << "\n";
      ++lost;
    }
    json::Array schedules;
    for (const tuning::Record &record : state.compared) {
      auto recorded = state.recorded.find(record.schedule);
      double before = recorded == state.recorded.end() ? 0 : recorded->second;
      bool isSlower = before > 0 && record.low > 1.1 * before;
      slower += isSlower;
      os << "  " << formatTime(record.median, record.low, record.high);
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
  os << "\nrecords: run " << *run << " in " << options.db << "\n";
  if (options.json)
    llvm::outs() << llvm::formatv(
                        "{0:2}",
                        json::Value(json::Object{
                            {"tasks", std::move(list)},
                            {"run", *run},
                            {"measured", static_cast<int64_t>(counts.measured)},
                            {"failed", static_cast<int64_t>(counts.failed)},
                            {"slower", slower}}))
                 << "\n";
  if (!isGood)
    return failedStatus;
  return lost || counts.failed ? wrongStatus : 0;
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
