//===- Tuner.cpp - A run of the tuner -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/Tuner.h"
#include "Support/Interrupt.h"
#include "Tuning/Cluster/Child.h"
#include "Tuning/Run/FinalComparison.h"
#include "Tuning/Run/TimeSummary.h"

#include "Driver/DeviceChip.h"
#include "Driver/ProgramCache.h"
#include "Tuning/Json.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <poll.h>
#include <unistd.h>

using namespace tessera::tuning;
using ::tessera::support::getInterrupt;
using tuning::Outcome;
namespace json = llvm::json;

/// Seconds for the final comparison of a task, and a part of the budget that
/// all of them take at most.
static constexpr double finalReserve = 3.5, mostReserved = 0.3;
/// Seconds that are left after an interrupt; and for which workers may still
/// answer after the end.
static constexpr double interruptSeconds = 2, endGrace = 1;
/// Workers that die one after the other before any was of use.
static constexpr unsigned mostFailures = 4;

Tuner::Tuner(const RunOptions &options, std::vector<Task> &tasks,
             const SpaceEditor &edit, tuning::Database &database, int64_t run,
             Progress &progress)
    : options(options), database(database),
      keeper(database,
             [&progress](const std::string &line) { progress.say(line); }),
      runNumber(run), queue(options),
      pool([this](
               int host, const std::vector<std::string> &arguments,
               std::string &why) { return startWorker(host, arguments, why); },
           options.timeout),
      progress(progress) {
  if (options.budget)
    end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(*options.budget));
  const compiler::Chip &chip = *compiler::findChip(
      compiler::getChipTarget(options.compile.target), options.compile.chip);
  for (Task &task : tasks) {
    TaskState &state = states.emplace_back();
    state.task = &task;
    state.source = makeCandidateSource(task, chip, edit,
                                       options.seed * 1000003 + states.size(),
                                       options.candidates);
  }
  // A replay proposes recorded schedules only.
  if (!options.replay)
    mlir::parallelForEach(tasks.front().program->getContext(), states,
                          [](TaskState &state) { state.source->enumerate(); });
  chipTarget = chip.target;
  environment.compiler = "Tessera " TESSERA_VERSION;
  environment.build = compiler::getCompilerIdentity().str();
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  environment.host = name;
}

Tuner::~Tuner() = default;

double Tuner::getCompileRate() const {
  return compileSeconds > 0
             ? static_cast<double>(counts.compiled) / compileSeconds
             : 0;
}

double Tuner::getSecondsLeft() const {
  if (!end)
    return -1;
  std::chrono::duration<double> left = *end - Clock::now();
  return std::max(0.0, left.count());
}

bool Tuner::isOutOfTime() const {
  return end &&
         std::chrono::duration<double>(Clock::now() - *end).count() > endGrace;
}

void Tuner::handleInterrupt() {
  if (isInterrupted || !getInterrupt())
    return;
  isInterrupted = true;
  Clock::time_point soon =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(interruptSeconds));
  end = end ? std::min(*end, soon) : soon;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

std::unique_ptr<WorkerProcess>
Tuner::startWorker(int host, const std::vector<std::string> &arguments,
                   std::string &why) {
  if (host)
    return cluster->start(host, arguments);
  return Child::start(arguments, why);
}

bool Tuner::startCompiler(Compiler &compiler) {
  std::string why;
  if (pool.start(compiler, why))
    return true;
  progress.say("error: cannot start a compile worker: " + why);
  isBroken = true;
  return false;
}

bool Tuner::startMeasurer(Measurer &measurer) {
  // Another worker must be asked.
  for (size_t task : measurer.checking)
    states[task].isAsked = false;
  std::string why;
  if (pool.start(measurer, options.compile.target, options.fault, why))
    return true;
  progress.say("error: cannot start a measure worker: " + why);
  isBroken = true;
  return false;
}

std::string Tuner::describeDevice(const Measurer &measurer) const {
  std::string text =
      options.compile.target + ":" + std::to_string(measurer.ordinal);
  return measurer.host ? text + " of host " + hostNames.at(measurer.host)
                       : text;
}

void Tuner::failToCompile(Pending work, const Compiler &compiler,
                          const std::string &error, const std::string &why) {
  ++counts.failed;
  bool isOwn = !work.point;
  size_t task = work.task;
  tuning::Record record =
      makeRecord(work, Outcome::NotCompiled, error, getEnvironment(compiler));
  finish(std::move(work), std::move(record));
  if (isOwn)
    giveUp(task, why);
}

void Tuner::lose(Compiler &compiler, bool isLate) {
  std::string how = compiler.child->end(/*isGone=*/!isLate);
  if (compiler.work) {
    Pending work = std::move(*compiler.work);
    compiler.work.reset();
    std::string error =
        isLate ? llvm::formatv("the compiler did not end within {0} s",
                               compileLimit)
                     .str()
               : "the compiler died: " + how;
    if (isLate)
      progress.say("note: " + describe(work) + ": " + error);
    failToCompile(std::move(work), compiler, error, error);
  } else if (++compiler.failures >= mostFailures) {
    if (compiler.host) {
      progress.say("error: could not start a compile worker on host " +
                   hostNames[compiler.host] + ": " + how);
      compiler.isRemoved = true;
    } else {
      progress.say("error: could not start a compile worker: " + how);
      isBroken = true;
    }
    return;
  }
  startCompiler(compiler);
}

void Tuner::lose(Measurer &measurer, bool isLate) {
  std::string how = measurer.child->end(/*isGone=*/!isLate);
  Measurer::State state = measurer.state;
  if (measurer.work) {
    Pending work = std::move(*measurer.work);
    measurer.work.reset();
    std::string error =
        isLate
            ? llvm::formatv("did not end within {0} s", options.timeout).str()
            : "the worker process died: " + how;
    if (isLate)
      progress.say("note: " + describe(work) + ": it " + error);
    ++counts.failed;
    finish(work, makeRecord(work, isLate ? Outcome::Hung : Outcome::Crashed,
                            error, measurer.environment));
  } else if (state == Measurer::Opening) {
    if (isLate)
      progress.say(
          llvm::formatv("note: {0}: {1} did not set up its arrays within {2} s",
                        states[measurer.task].task->text.description,
                        describeDevice(measurer), openLimit)
              .str());
    if (++measurer.failures >= 2) {
      giveUp(measurer.task, "cannot set up its arrays: " +
                                (isLate ? std::string("timeout") : how));
      measurer.failures = 0;
    }
  } else if (state == Measurer::Comparing) {
    TaskState &task = states[measurer.task];
    progress.say(
        "note: " + task.task->text.description +
        ": the final comparison failed (" +
        (isLate ? std::string("timeout") : how) +
        (task.leaders.size() > 2 ? "); retrying with two candidates" : ")"));
    if (task.leaders.size() > 2) {
      task.leaders.resize(2);
      task.isFinalBegun = false;
    } else {
      task.isDone = true;
    }
  } else if (state == Measurer::Starting &&
             ++measurer.failures >= mostFailures) {
    progress.say("error: could not start a worker for " +
                 describeDevice(measurer) + ": " + how);
    if (measurer.host) {
      uselessDevices.emplace(measurer.host, measurer.identity);
      measurer.isRemoved = true;
    } else {
      isBroken = true;
    }
    return;
  }
  startMeasurer(measurer);
}

template <typename Worker> void Tuner::hangUp(Worker &worker) {
  if (isBroken)
    return;
  if (worker.host)
    worker.dying = Clock::now();
  else
    lose(worker, /*isLate=*/false);
}

template void Tuner::hangUp(Measurer &measurer);

//===----------------------------------------------------------------------===//
// Other hosts
//===----------------------------------------------------------------------===//

/// Takes what workers have sent.
void Tuner::serveAll() {
  WorkerPool::serve<Compiler>(
      compilers,
      [&](Compiler &compiler, Message message) {
        handle(compiler, std::move(message));
      },
      [&](Compiler &compiler) { hangUp(compiler); },
      [&](Compiler &compiler) { lose(compiler, /*isLate=*/false); });
  WorkerPool::serve<Measurer>(
      measurers,
      [&](Measurer &measurer, const Message &message) {
        handle(measurer, message);
      },
      [&](Measurer &measurer) { hangUp(measurer); },
      [&](Measurer &measurer) { lose(measurer, /*isLate=*/false); });
}

void Tuner::checkTimes() {
  Clock::time_point now = Clock::now();
  auto check = [&](auto &worker) {
    if (WorkerPool::isOverdue(worker, now))
      cluster->drop(worker.host,
                    "it did not report how one of its processes ended");
    if (pool.isLate(worker, now))
      lose(worker, /*isLate=*/true);
  };
  for (Compiler &compiler : compilers)
    check(compiler);
  for (Measurer &measurer : measurers)
    check(measurer);
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

void Tuner::feedCompilers() {
  isExhausted = false;
  if (!isResumed || isSearchOver)
    return;
  for (Compiler &compiler : compilers) {
    Channel *channel = compiler.getChannel();
    if (!channel || compiler.work)
      continue;
    std::optional<size_t> mostWaiting;
    if (isMeasured)
      mostWaiting = 2 * measurers.size() + compilers.size();
    std::optional<Pending> work = queue.propose(mostWaiting);
    counts.made = queue.countMade();
    if (!work) {
      isExhausted = true;
      return;
    }
    Message message;
    const TaskState &state = states[work->task];
    message.head = json::Object{{"op", "compile"},
                                {"id", work->id},
                                {"task", state.task->text.key},
                                {"target", options.compile.target},
                                {"chip", options.compile.chip},
                                {"schedule", work->schedule},
                                {"flags", state.task->text.flags},
                                {"ptxas", measurers.empty()}};
    if (compiler.known.insert(work->task).second)
      message.head["program"] = state.task->text.text;
    compiler.since = Clock::now();
    compiler.work = std::move(work);
    if (!channel->send(message))
      hangUp(compiler);
  }
}

void Tuner::handle(Compiler &compiler, Message message) {
  if (!compiler.work)
    return;
  Pending work = std::move(*compiler.work);
  compiler.work.reset();
  compiler.failures = 0;
  TaskState &state = states[work.task];
  std::string error = getText(message.head, "error");
  work.chosen = getText(message.head, "chosen");
  work.compileTime = message.head.getNumber("ms").value_or(0);
  work.bundle = std::move(message.bytes);
  if (!error.empty()) {
    failToCompile(std::move(work), compiler, error,
                  "it does not compile: " + error);
    return;
  }
  ++counts.compiled;
  if (!work.point) {
    state.ownBundle = work.bundle;
    state.ownChoice = work.chosen.empty() ? "none" : work.chosen;
    mlir::MLIRContext *context = state.task->program->getContext();
    if (mlir::Attribute schedule =
            work.chosen.empty() ? mlir::Attribute()
                                : mlir::parseAttribute(work.chosen, context);
        schedule && state.source->isSchedule(schedule))
      state.source->setOwnChoice(schedule);
  }
  std::string spills = getText(message.head, "spills");
  if (work.point && !spills.empty()) {
    ++counts.failed;
    finish(work,
           makeRecord(work, Outcome::Spills, spills, getEnvironment(compiler)));
    return;
  }
  if (!isMeasured) {
    finish(work, makeRecord(work, Outcome::NotRun, options.noDevice,
                            getEnvironment(compiler)));
    return;
  }
  if (!state.failure.empty()) {
    --state.inHand;
    return;
  }
  queue.addReady(std::move(work));
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

void Tuner::openTask(Measurer &measurer, size_t index) {
  TaskState &state = states[index];
  Message message;
  message.head = json::Object{{"op", "open"},
                              {"task", state.task->text.key},
                              {"program", state.task->text.text},
                              {"added", state.task->isAdded},
                              {"exact", state.task->isExact},
                              {"check", !state.isAsked}};
  message.bytes = state.ownBundle;
  if (!state.isAsked)
    measurer.checking.insert(index);
  state.isAsked = true;
  measurer.state = Measurer::Opening;
  measurer.task = index;
  measurer.since = Clock::now();
  if (!measurer.getChannel()->send(message))
    hangUp(measurer);
}

void Tuner::give(Measurer &measurer, Pending work) {
  Message message;
  message.head = json::Object{{"op", "load"},
                              {"id", work.id},
                              {"task", states[work.task].task->text.key}};
  message.bytes = work.bundle;
  measurer.work = std::move(work);
  measurer.state = Measurer::Loading;
  measurer.since = Clock::now();
  if (!measurer.getChannel()->send(message))
    hangUp(measurer);
}

void Tuner::feedMeasurers() {
  for (Measurer &measurer : measurers) {
    if (!measurer.getChannel())
      continue;
    if (measurer.state == Measurer::Idle) {
      std::optional<size_t> best = queue.pick(measurer.open, [&](size_t task) {
        return pool.isOpenElsewhere(measurer, task);
      });
      if (!best)
        continue;
      if (!measurer.open.count(*best)) {
        openTask(measurer, *best);
        continue;
      }
      give(measurer, queue.takeReady(*best));
    }
    if (measurer.getChannel() && measurer.state == Measurer::Loaded &&
        !pool.isBusy(measurer.identity)) {
      const TaskState &state = states[measurer.work->task];
      Message message;
      double best = state.leaders.empty() ? 0 : state.leaders.front().time;
      message.head = json::Object{{"op", "go"},
                                  {"id", measurer.work->id},
                                  {"best", best},
                                  {"slow", options.slowest}};
      measurer.state = Measurer::Going;
      measurer.since = Clock::now();
      if (!measurer.getChannel()->send(message))
        hangUp(measurer);
    }
  }
}

void Tuner::handle(Measurer &measurer, const Message &message) {
  std::string op = getText(message.head, "op"),
              error = getText(message.head, "error"),
              key = getText(message.head, "task");
  if (op == "ready") {
    if (!error.empty() && measurer.host) {
      progress.say("error: " + describeDevice(measurer) + ": " + error);
      uselessDevices.emplace(measurer.host, measurer.identity);
      measurer.isRemoved = true;
      return;
    }
    if (!error.empty()) {
      progress.say("error: " + error);
      isBroken = true;
      return;
    }
    measurer.environment.device = getText(message.head, "device");
    measurer.environment.driver = getText(message.head, "driver");
    runtime::DeviceInfo info;
    info.target = getText(message.head, "target");
    info.chip = getText(message.head, "chip");
    info.targetId = getText(message.head, "targetId");
    measurer.environment.features =
        compiler::getFeatures(info, options.compile.chip);
    if (!isDeviceSeen) {
      // Resumed records have the kind of the first one.
      environment.device = measurer.environment.device;
      environment.driver = measurer.environment.driver;
      environment.features = measurer.environment.features;
    }
    isDeviceSeen = true;
    measurer.state = Measurer::Idle;
    measurer.failures = 0;
    if (!isResumed)
      resume();
    return;
  }
  if (op == "checked") {
    for (auto [i, state] : llvm::enumerate(states)) {
      if (state.task->text.key != key)
        continue;
      state.isChecked = true;
      measurer.checking.erase(i);
      if (llvm::StringRef(error).starts_with("not checked")) {
        progress.say("note: " + state.task->text.description +
                     ": the compiler's own choice, which candidates are "
                     "compared with, is " +
                     error);
      } else if (!error.empty()) {
        giveUpWrong(i, measurer.environment,
                    "the compiler's own choice computes wrong numbers: " +
                        error);
      }
    }
    return;
  }
  if (op == "opened") {
    size_t index = measurer.task;
    TaskState &state = states[index];
    measurer.state = Measurer::Idle;
    if (!error.empty()) {
      giveUp(index, error);
      return;
    }
    std::string checksum = getText(message.head, "checksum");
    if (state.checksum.empty())
      state.checksum = checksum;
    else if (state.task->isExact && state.checksum != checksum)
      giveUpWrong(index, measurer.environment,
                  "two runs of the compiler's own choice differ");
    measurer.open.insert(index);
    return;
  }
  if (op == "loaded") {
    measurer.state = Measurer::Loaded;
    return;
  }
  if (op == "result") {
    takeResult(measurer, message.head);
    return;
  }
  if (op == "final")
    takeFinal(measurer, message.head);
}

void Tuner::takeResult(Measurer &measurer, const json::Object &head) {
  measurer.state = Measurer::Idle;
  if (!measurer.work)
    return;
  Pending work = std::move(*measurer.work);
  measurer.work.reset();
  Outcome outcome =
      tuning::parseOutcome(getText(head, "outcome")).value_or(Outcome::NotRun);
  tuning::Record record =
      makeRecord(work, outcome, getText(head, "error"), measurer.environment);
  record.times = getTimes(head.getArray("times"));
  TimeSummary summary = summarizeTimes(record.times);
  record.median = summary.median;
  record.low = summary.low;
  record.high = summary.high;
  record.clockBefore = head.getInteger("clockBefore").value_or(0);
  record.clockAfter = head.getInteger("clockAfter").value_or(0);
  if (outcome == Outcome::Measured || outcome == Outcome::Slow)
    ++counts.measured;
  else
    ++counts.failed;
  bool isOwn = !work.point;
  size_t task = work.task;
  finish(std::move(work), record);
  // After an error of a kernel the device is of no more use to that process.
  if (outcome == Outcome::NotRun)
    startMeasurer(measurer);
  if (isOwn && outcome == Outcome::Wrong)
    giveUpWrong(task, measurer.environment,
                "the compiler's own choice: " + record.error);
  else if (isOwn && outcome != Outcome::Measured && outcome != Outcome::Slow &&
           outcome != Outcome::Spills)
    giveUp(task, "the compiler's own choice: " + record.error);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

std::string Tuner::describeBest() const {
  double sum = 0;
  unsigned count = 0;
  for (const TaskState &state : states)
    if (state.ownTime > 0 && !state.leaders.empty()) {
      sum += std::log(state.leaders.front().time / state.ownTime);
      ++count;
    }
  if (!count)
    return "";
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.3f of the compiler's times", std::exp(sum / count));
  return text;
}

bool Tuner::run() {
  start = Clock::now();
  compilers.resize(options.jobs);
  for (Compiler &compiler : compilers)
    if (!startCompiler(compiler))
      return false;
  for (int ordinal : options.devices)
    for (unsigned i = 0; i < options.measurers; ++i) {
      Measurer &measurer = measurers.emplace_back();
      measurer.ordinal = ordinal;
      measurer.identity = getMachineIdentity() + " " +
                          getDeviceIdentity(options.compile.target, ordinal);
      if (options.isOwn)
        measurer.identity += " of process " + std::to_string(getpid());
      measurer.environment = environment;
    }
  for (Measurer &measurer : measurers)
    if (!startMeasurer(measurer))
      return false;
  isMeasured = cluster || !measurers.empty();
  if (!isMeasured)
    resume();

  double reserve =
      options.budget && isMeasured && options.leaders > 0
          ? std::min(mostReserved * *options.budget,
                     finalReserve * static_cast<double>(states.size()))
          : 0;
  while (!isBroken && !queue.isOver()) {
    handleInterrupt();
    if (isOutOfTime()) {
      reportUnfinished();
      break;
    }
    feedCompilers();
    feedMeasurers();
    if (!isSearchOver && (isResumed || cluster)) {
      bool isIdle = queue.countInHand() == 0 && isExhausted;
      if (isInterrupted || (options.budget && getSecondsLeft() <= reserve) ||
          isIdle) {
        isSearchOver = true;
        std::chrono::duration<double> elapsed = Clock::now() - start;
        compileSeconds = elapsed.count();
        // Waiting candidates are neither measured nor recorded any more.
        queue.dropWaiting(/*keepsUnmeasured=*/!isInterrupted);
        pool.stopCompilers(states);
        continue;
      }
    }
    if (isSearchOver && !pool.isMeasuring())
      compareLeaders();

    std::vector<pollfd> files;
    pool.addFiles(files);
    if (cluster)
      cluster->addFiles(files);
    poll(files.data(), files.size(), 100);
    // Messages of workers come before the news of how they, or their hosts,
    // ended.
    serveAll();
    handleHosts();
    noteWaiting();
    pool.removeEnded();
    checkTimes();
    keeper.flushNew();
    counts.pruned = 0;
    for (const TaskState &state : states)
      counts.pruned += state.source->getPruned();
    progress.update(counts, describeBest(), getSecondsLeft());
  }
  if (!isBroken) // The reference may still be asked about the last ones.
    waitForChecks();
  if (!keeper.flush()) {
    progress.say("error: " + std::to_string(keeper.countWaiting()) +
                 " records of this run could not be written to '" + options.db +
                 "' and are lost");
    return false;
  }
  return !isBroken;
}

/// Waits for the reference's verdict on each task.
void Tuner::waitForChecks() {
  auto isWaiting = [](const TaskState &state) {
    return state.isAsked && !state.isChecked && state.failure.empty();
  };
  while (llvm::any_of(states, isWaiting) && !measurers.empty() &&
         !getInterrupt() && !isOutOfTime()) {
    std::vector<pollfd> files;
    pool.addFiles(files, /*withCompilers=*/false);
    poll(files.data(), files.size(), 200);
    bool isAnyone = false;
    for (Measurer &measurer : measurers) {
      Channel *channel = measurer.getChannel();
      if (!channel)
        continue;
      bool isThere = channel->take();
      while (std::optional<Message> message = channel->next())
        handle(measurer, *message);
      if (!isThere)
        measurer.child.reset();
      else if (!measurer.checking.empty())
        isAnyone = true;
    }
    if (!isAnyone)
      break;
    progress.update(counts,
                    std::to_string(llvm::count_if(states, isWaiting)) +
                        " tasks wait for the reference",
                    getSecondsLeft());
  }
  for (TaskState &state : states)
    if (isWaiting(state))
      progress.say("note: " + state.task->text.description +
                   ": the compiler's own choice was not fully compared with "
                   "the reference");
}
