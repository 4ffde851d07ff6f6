//===- RunCommands.cpp - Commands that measure schedules ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/RunCommands.h"

#include "Support/Interrupt.h"
#include "Tuning/Cluster/Cluster.h"
#include "Tuning/Cluster/JoinFile.h"
#include "Tuning/Cluster/Key.h"
#include "Tuning/Run/RunReport.h"
#include "Tuning/Run/SearchValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera::tuning;
using llvm::StringRef;
namespace json = llvm::json;
using ::tessera::support::handleInterrupts;
using ::tessera::support::InterruptHandling;

static RunEnd fail(llvm::Error error, RunEnd end, llvm::raw_ostream &messages) {
  messages << "error: " << llvm::toString(std::move(error)) << "\n";
  return end;
}

static TaskKind getKind(const Task &task) {
  mlir::Operation *op = task.getOp();
  if (mlir::isa<compiler::AttentionOp>(op))
    return TaskKind::Attention;
  return mlir::isa<compiler::ContractOp>(op) ? TaskKind::Matmul
                                             : TaskKind::Window;
}

std::optional<RunEnd> tessera::tuning::collectWork(
    const RunOptions &options, mlir::MLIRContext &context,
    std::vector<Task> &tasks, tuning::SpaceConfig &config,
    llvm::raw_ostream &messages) {
  compiler::prepareContext(context);
  context.printOpOnDiagnostic(false);
  if (!options.config.empty()) {
    llvm::Expected<tuning::SpaceConfig> read =
        tuning::readSpaceConfig(options.config);
    if (!read)
      return fail(read.takeError(), RunEnd::Usage, messages);
    config = std::move(*read);
    for (const std::string &warning : config.warnings)
      messages << "warning: " << warning << "\n";
  }
  mlir::FailureOr<std::vector<Task>> found = collectTasks(
      options.work, options.batch, options.compile, context, messages);
  if (failed(found))
    return RunEnd::Failed;
  tasks = std::move(*found);
  size_t all = tasks.size();
  if (!options.kinds.empty())
    llvm::erase_if(tasks, [&](const Task &task) {
      return !llvm::is_contained(options.kinds, getKind(task));
    });
  if (tasks.size() < all)
    messages << "note: --kinds leaves out " << all - tasks.size() << " of "
             << all << " tasks\n";
  if (tasks.empty()) {
    messages << "error: nothing to tune\n";
    return RunEnd::Failed;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// run
//===----------------------------------------------------------------------===//

/// Prints where other hosts find the run, and leaves it in a file with the key.
static llvm::Expected<std::unique_ptr<Cluster>>
listenForHosts(RunOptions &options, llvm::raw_ostream &messages) {
  if (options.key.empty())
    if (llvm::Error error = makeKey().moveInto(options.key))
      return std::move(error);
  llvm::Expected<std::unique_ptr<Cluster>> cluster =
      Cluster::create(*options.listen, options.key);
  if (!cluster)
    return cluster.takeError();
  messages << "other hosts join with: gpu-tune join ";
  if (options.joinFile.empty()) {
    messages << (*cluster)->getAddresses() << " --key-file=FILE\n";
    return cluster;
  }
  messages << "--join-file=" << options.joinFile << " ("
           << (*cluster)->getAddresses() << ")\n";
  if (llvm::Error error = writeJoinFile(
          options.joinFile, (*cluster)->getAddresses(), options.key))
    return std::move(error);
  return cluster;
}

/// Keeps the tasks that the options ask for: those of which the database has no
/// measured candidate, and of these the ones with the largest part of the time,
/// as recorded in the database or else by the roofline.
static llvm::Error chooseTasks(const RunOptions &options,
                               tuning::Database &database,
                               std::vector<Task> &tasks,
                               llvm::raw_ostream &messages) {
  // A kernel takes this long even if it does nothing.
  constexpr double leastTime = 0.002;
  std::string target = compiler::getChipTarget(options.compile.target).str();
  llvm::Expected<std::vector<tuning::Record>> records =
      database.getRecords({"", target, options.compile.chip});
  if (!records)
    return records.takeError();
  llvm::StringMap<double> recorded;
  llvm::StringSet<> tuned;
  for (const tuning::Record &record : *records) {
    bool isMeasured = record.outcome == tuning::Outcome::Measured;
    // A candidate that was given up as slow was measured as far as needed.
    if (!record.schedule.empty() &&
        (isMeasured || record.outcome == tuning::Outcome::Slow))
      tuned.insert(record.task.key);
    if (!isMeasured)
      continue;
    auto [position, isNew] =
        recorded.try_emplace(record.task.key, record.median);
    if (!isNew)
      position->second = std::min(position->second, record.median);
  }
  size_t all = tasks.size();
  if (options.untuned)
    llvm::erase_if(
        tasks, [&](const Task &task) { return tuned.contains(task.text.key); });
  if (tasks.size() < all)
    messages << "note: --untuned leaves out " << all - tasks.size() << " of "
             << all << " tasks\n";
  if (!options.tasks)
    return llvm::Error::success();
  size_t left = tasks.size();
  double part = keepLargest(tasks, *options.tasks, [&](const Task &task) {
    auto found = recorded.find(task.text.key);
    return found == recorded.end() ? std::max(task.roof, leastTime)
                                   : found->second;
  });
  if (tasks.size() < left)
    messages << "note: --tasks=" << *options.tasks << " leaves out "
             << left - tasks.size() << " of " << left
             << " tasks; it keeps those with " << llvm::formatv("{0:P0}", part)
             << " of the estimated time\n";
  return llvm::Error::success();
}

/// Prints the JSON object of a command.
static void printObject(json::Object root, llvm::raw_ostream &os) {
  os << llvm::formatv("{0:2}", json::Value(std::move(root))) << "\n";
}

RunEnd tessera::tuning::tuneTasks(RunOptions options, StringRef command,
                                  Ranks *ranks, const RunConsole &console) {
  llvm::raw_ostream &messages = console.messages;
  // The other ranks may be on other hosts.
  if (ranks && !options.listen)
    options.listen = "*";
  std::unique_ptr<Cluster> cluster;
  if (options.listen) {
    llvm::Expected<std::unique_ptr<Cluster>> made =
        listenForHosts(options, messages);
    if (!made)
      return fail(made.takeError(), RunEnd::Failed, messages);
    cluster = std::move(*made);
  }
  if (ranks)
    // MPI does not encrypt: a key that all ranks have is not sent.
    ranks->announce(cluster->getAddresses() + "\n" +
                    (options.isOwnKey ? "" : options.key));
  mlir::MLIRContext context;
  std::vector<Task> tasks;
  tuning::SpaceConfig config;
  if (std::optional<RunEnd> end =
          collectWork(options, context, tasks, config, messages))
    return *end;
  if (config.points)
    options.trials = std::min(options.trials.value_or(SIZE_MAX),
                              static_cast<size_t>(*config.points));
  options.slowest = config.slowest.value_or(options.slowest);
  auto database =
      tuning::Database::open(options.db, tuning::Database::Mode::Write);
  if (!database)
    return fail(database.takeError(), RunEnd::Failed, messages);
  if (options.tasks || options.untuned)
    if (llvm::Error error = chooseTasks(options, **database, tasks, messages))
      return fail(std::move(error), RunEnd::Failed, messages);
  if (tasks.empty()) {
    messages << "note: all tasks have candidates in " << options.db
             << "; without --untuned they are tuned again\n";
    return RunEnd::Done;
  }
  std::string settings;
  llvm::raw_string_ostream(settings) << json::Value(
      json::Object{{"seed", static_cast<int64_t>(options.seed)},
                   {"budget", options.budget.value_or(0)},
                   {"trials", static_cast<int64_t>(options.trials.value_or(0))},
                   {"jobs", options.jobs},
                   {"timeout", options.timeout}});
  llvm::Expected<int64_t> run = (*database)->beginRun(command, settings);
  if (!run)
    return fail(run.takeError(), RunEnd::Failed, messages);

  messages << tasks.size() << (tasks.size() == 1 ? " task" : " tasks")
           << " for " << options.compile.target << ":" << options.compile.chip
           << ", " << options.jobs
           << (options.jobs == 1 ? " compile worker" : " compile workers");
  if (options.devices.empty())
    messages << "; nothing is measured" << (options.listen ? " here: " : ": ")
             << options.noDevice;
  messages << "\n";
  Progress progress(messages, console.isTerminal);
  Tuner tuner(
      options, tasks,
      [&](tuning::SpaceValues &values) { applyConfig(config, values); },
      **database, *run, progress);
  if (cluster)
    tuner.setCluster(*cluster);
  handleInterrupts(InterruptHandling::First);
  bool isGood = tuner.run();

  llvm::raw_ostream &os = options.json ? messages : console.output;
  json::Object root = reportRun(tuner, os);
  root["run"] = *run;
  root["db"] = options.db;
  unsigned lost = llvm::count_if(tuner.getStates(), [](const TaskState &state) {
    return !state.failure.empty();
  });
  os << "records: run " << *run << " in " << options.db << "\n";
  if (options.json)
    printObject(std::move(root), console.output);
  // Before the workers end.
  console.output.flush();
  if (!isGood)
    return RunEnd::Failed;
  if (!tuner.hasMeasured()) {
    messages << "note: nothing was measured: "
             << (options.noDevice.empty() ? "no device was ready in time"
                                          : options.noDevice)
             << (cluster ? ", and no measuring host has joined" : "") << "\n";
    return RunEnd::NoDevice;
  }
  return lost > 0 ? RunEnd::GivenUp : RunEnd::Done;
}

RunEnd tessera::tuning::joinRankZero(JoinOptions options,
                                     const std::string &keyFile, Ranks &ranks,
                                     llvm::raw_ostream &messages) {
  std::string heard = ranks.hear();
  auto [addresses, key] = StringRef(heard).split('\n');
  // Rank 0 has reported the reason.
  if (addresses.empty())
    return RunEnd::Done;
  addAddresses(addresses, options);
  options.key = key.str();
  if (options.key.empty()) {
    llvm::Expected<std::string> own = readKey(keyFile);
    if (!own)
      return fail(own.takeError(), RunEnd::Failed, messages);
    if (own->empty())
      return fail(llvm::createStringError(
                      llvm::Twine("rank 0 has a key but this rank does not: "
                                  "set on all ranks the variable ") +
                      keyVariable + " (mpirun -x), or --key-file=FILE"),
                  RunEnd::Failed, messages);
    options.key = *own;
  }
  handleInterrupts(InterruptHandling::First);
  return joinRun(options, messages) ? RunEnd::Done : RunEnd::Failed;
}

//===----------------------------------------------------------------------===//
// replay
//===----------------------------------------------------------------------===//

RunEnd tessera::tuning::replayRecords(const RunOptions &options,
                                      StringRef command,
                                      const RunConsole &console) {
  llvm::raw_ostream &messages = console.messages;
  mlir::MLIRContext context;
  compiler::prepareContext(context);
  context.printOpOnDiagnostic(false);
  auto database =
      tuning::Database::open(options.db, tuning::Database::Mode::Write);
  if (!database)
    return fail(database.takeError(), RunEnd::Failed, messages);
  mlir::FailureOr<std::vector<Task>> tasks =
      readTasks(**database, options.task, options.compile, context, messages);
  if (failed(tasks))
    return RunEnd::Failed;
  if (tasks->empty()) {
    messages << "error: " << options.db << " does not contain records for "
             << options.compile.target << ":" << options.compile.chip
             << (options.task.empty() ? "" : " of task " + options.task)
             << "; gpu-tune best --db=" << options.db << " lists its records\n";
    return RunEnd::Failed;
  }
  llvm::Expected<int64_t> run = (*database)->beginRun(command, "{}");
  if (!run)
    return fail(run.takeError(), RunEnd::Failed, messages);
  Progress progress(messages, console.isTerminal);
  Tuner tuner(
      options, *tasks, [](tuning::SpaceValues &) {}, **database, *run,
      progress);
  handleInterrupts(InterruptHandling::First);
  bool isGood = tuner.run();

  llvm::raw_ostream &os = options.json ? messages : console.output;
  json::Object root = reportReplay(tuner, os);
  root["run"] = *run;
  os << "records: run " << *run << " in " << options.db << "\n";
  if (options.json)
    printObject(std::move(root), console.output);
  // Before the workers end.
  console.output.flush();
  if (!isGood)
    return RunEnd::Failed;
  bool isLost = llvm::any_of(tuner.getStates(), [](const TaskState &state) {
    return !state.failure.empty();
  });
  return isLost || tuner.getCounts().failed ? RunEnd::GivenUp : RunEnd::Done;
}
