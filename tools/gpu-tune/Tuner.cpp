//===- Tuner.cpp - A run of the tuner -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuner.h"
#include "Interrupt.h"
#include "Statistics.h"

#include "Driver/ProgramCache.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <ctime>
#include <fstream>
#include <poll.h>
#include <unistd.h>

using namespace tune;
using tuning::Outcome;
namespace json = llvm::json;

/// Seconds that a worker has to start, to compile, to load, to open a task.
static constexpr double startLimit = 90, compileLimit = 90, loadLimit = 60,
                        openLimit = 300;
/// Seconds for the final comparison of a task, and a part of the budget that
/// all of them take at most.
static constexpr double finalSeconds = 2.0, finalReserve = 3.5,
                        mostReserved = 0.3;
/// Candidates of each task that are tried before the budget is shared by what
/// is expected of them.
static constexpr size_t firstCandidates = 24;
/// Workers that die one after the other before any was of use.
static constexpr unsigned mostFailures = 4;

static std::string getText(const json::Object &head, llvm::StringRef name) {
  auto text = head.getString(name);
  return text ? text->str() : "";
}

static std::string spell(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

static std::string getTime() {
  std::time_t now = std::time(nullptr);
  std::tm utc;
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

static std::vector<double> getTimes(const json::Array *list) {
  std::vector<double> times;
  if (list)
    for (const json::Value &value : *list)
      if (auto number = value.getAsNumber())
        times.push_back(*number);
  return times;
}

Tuner::Tuner(const RunOptions &options, std::vector<Task> &tasks,
             const SpaceEditor &edit, tuning::Database &database, int64_t run)
    : options(options), database(database), runNumber(run) {
  const compiler::Chip &chip = *compiler::findChip(
      compiler::getChipTarget(options.compile.target), options.compile.chip);
  for (Task &task : tasks) {
    TaskState &state = states.emplace_back();
    state.task = &task;
    mlir::Operation *op = task.getOp();
    tuning::SpaceValues values = tuning::getDefaultValues(op, chip);
    edit(values);
    state.space =
        std::make_unique<tuning::ScheduleSpace>(*task.program, chip, values,
                                                /*isEnumerated=*/false);
    state.machine = std::make_unique<tuning::MachineModel>(op, chip);
    tuning::SearchOptions search;
    search.seed = options.seed * 1000003 + states.size();
    state.search = std::make_unique<tuning::TaskSearch>(*state.space,
                                                        *state.machine, search);
  }
  mlir::parallelForEach(tasks.front().program->getContext(), states,
                        [](TaskState &state) { state.space->enumerate(); });
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
  if (!options.budget)
    return -1;
  std::chrono::duration<double> elapsed = Clock::now() - start;
  return std::max(0.0, *options.budget - elapsed.count());
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

bool Tuner::startCompiler(Compiler &compiler) {
  std::string why;
  compiler.known.clear();
  compiler.child = Child::start({"compile"}, why);
  if (compiler.child)
    return true;
  progress.say("error: a worker that compiles cannot be started: " + why);
  isBroken = true;
  return false;
}

bool Tuner::startMeasurer(Measurer &measurer) {
  std::string why;
  measurer.open.clear();
  // Another one is to be asked.
  for (size_t task : measurer.checking)
    states[task].isAsked = false;
  measurer.checking.clear();
  measurer.state = Measurer::Starting;
  measurer.since = Clock::now();
  std::vector<std::string> arguments = {"measure", options.compile.target,
                                        std::to_string(measurer.ordinal)};
  if (!options.fault.empty())
    arguments.push_back(options.fault);
  measurer.child = Child::start(arguments, why);
  if (measurer.child)
    return true;
  progress.say("error: a worker that measures cannot be started: " + why);
  isBroken = true;
  return false;
}

void Tuner::lose(Compiler &compiler, bool isLate) {
  std::string how = compiler.child->end(/*isGone=*/!isLate);
  if (compiler.work) {
    Pending work = std::move(*compiler.work);
    compiler.work.reset();
    std::string error =
        isLate
            ? llvm::formatv("the compiler did not end in {0} s", compileLimit)
                  .str()
            : "the compiler died: " + how;
    ++counts.failed;
    bool isOwn = !work.point;
    size_t task = work.task;
    finish(work, makeRecord(work, Outcome::NotCompiled, error));
    if (isOwn)
      giveUp(task, error);
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
        isLate ? llvm::formatv("no end after {0} s", options.timeout).str()
               : "the process that ran it died: " + how;
    ++counts.failed;
    finish(work,
           makeRecord(work, isLate ? Outcome::Hung : Outcome::Crashed, error));
  } else if (state == Measurer::Opening) {
    if (++measurer.failures >= 2) {
      giveUp(measurer.task, "its arrays cannot be set up: " +
                                (isLate ? std::string("no end") : how));
      measurer.failures = 0;
    }
  } else if (state == Measurer::Comparing) {
    TaskState &task = states[measurer.task];
    progress.say(
        "note: " + task.task->text.description +
        ": the final comparison failed (" +
        (isLate ? std::string("no end") : how) +
        (task.leaders.size() > 2 ? "); once more with two candidates" : ")"));
    if (task.leaders.size() > 2) {
      task.leaders.resize(2);
      task.isFinalBegun = false;
    } else {
      task.isDone = true;
    }
  } else if (state == Measurer::Starting &&
             ++measurer.failures >= mostFailures) {
    progress.say("error: no process comes to use " + options.compile.target +
                 ":" + std::to_string(measurer.ordinal) + ": " + how);
    isBroken = true;
    return;
  }
  startMeasurer(measurer);
}

void Tuner::checkTimes() {
  Clock::time_point now = Clock::now();
  auto isLate = [&](Clock::time_point since, double limit) {
    return std::chrono::duration<double>(now - since).count() > limit;
  };
  for (Compiler &compiler : compilers)
    if (compiler.child && compiler.work && isLate(compiler.since, compileLimit))
      lose(compiler, /*isLate=*/true);
  for (Measurer &measurer : measurers) {
    double limit = 0;
    switch (measurer.state) {
    case Measurer::Starting:
      limit = startLimit;
      break;
    case Measurer::Opening:
      limit = openLimit;
      break;
    case Measurer::Loading:
      limit = loadLimit;
      break;
    case Measurer::Going:
      limit = options.timeout;
      break;
    case Measurer::Comparing:
      limit = options.timeout + 10 * finalSeconds;
      break;
    case Measurer::Idle:
    case Measurer::Loaded:
      continue;
    }
    if (isLate(measurer.since, limit))
      lose(measurer, /*isLate=*/true);
  }
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

tuning::Record Tuner::makeRecord(const Pending &work, Outcome outcome,
                                 std::string error) const {
  tuning::Record record;
  record.task = {states[work.task].task->text.key, chipTarget,
                 options.compile.chip};
  record.environment = environment;
  record.schedule = work.schedule;
  record.chosen = work.chosen;
  record.outcome = outcome;
  record.error = std::move(error);
  record.compileTime = work.compileTime;
  record.expected = work.expected;
  record.when = getTime();
  record.run = runNumber;
  return record;
}

void Tuner::store(const tuning::Record &record) {
  if (llvm::Error error = database.add(record).takeError()) {
    // What cannot be kept is not worth the device's time.
    progress.say("error: " + llvm::toString(std::move(error)));
    isBroken = true;
  }
}

/// Ends a candidate's way.
void Tuner::finish(Pending work, tuning::Record record) {
  TaskState &state = states[work.task];
  --state.inHand;
  store(record);
  bool hasTime = record.outcome == Outcome::Measured ||
                 (record.outcome == Outcome::Slow && !record.times.empty());
  if (work.point)
    state.search->tell(*work.point, hasTime
                                        ? std::optional<double>(record.median)
                                        : std::nullopt);
  if (record.outcome != Outcome::Measured)
    return;
  if (!work.point)
    state.ownTime = record.median;
  double best = state.leaders.empty() ? INFINITY : state.leaders.front().time;
  state.leaders.push_back({work.schedule, record.chosen, std::move(work.bundle),
                           record.median, work.point});
  llvm::stable_sort(state.leaders,
                    [](const TaskState::Leader &a, const TaskState::Leader &b) {
                      return a.time < b.time;
                    });
  // The compiler's own choice is in the final comparison anyway.
  if (state.leaders.size() > 2 * options.leaders)
    state.leaders.pop_back();
  if (record.median < best && state.ownTime > 0 && work.point) {
    std::string line;
    llvm::raw_string_ostream(line)
        << state.task->text.description << ": "
        << llvm::format("%.4f ms, %.3f of the compiler's choice", record.median,
                        record.median / state.ownTime)
        << " by " << record.chosen;
    progress.say(line);
  }
}

void Tuner::giveUp(size_t task, const std::string &why) {
  TaskState &state = states[task];
  if (!state.failure.empty())
    return;
  state.failure = why;
  progress.say("error: " + state.task->text.description +
               " is given up: " + why);
  state.inHand -= state.ready.size();
  state.ready.clear();
}

/// What the database has of the tasks, from the same build on the same device.
void Tuner::resume() {
  isResumed = true;
  size_t resumed = 0;
  for (TaskState &state : states) {
    if (llvm::Error error = database.add(state.task->text).takeError()) {
      progress.say("error: " + llvm::toString(std::move(error)));
      isBroken = true;
      return;
    }
    tuning::TaskId id = {state.task->text.key, chipTarget,
                         options.compile.chip};
    llvm::Expected<std::vector<tuning::Record>> records =
        database.getRecords(id);
    if (!records) {
      progress.say("error: " + llvm::toString(records.takeError()));
      isBroken = true;
      return;
    }
    mlir::MLIRContext *context = state.task->program->getContext();
    std::vector<std::pair<double, mlir::tessera::ScheduleNumbers>> fastest;
    for (const tuning::Record &record : *records) {
      if (record.outcome == Outcome::Measured) {
        auto [place, isNew] =
            state.recorded.try_emplace(record.schedule, record.median);
        place->second = std::min(place->second, record.median);
      }
      if (record.isFinal || record.schedule.empty())
        continue;
      mlir::ScopedDiagnosticHandler quiet(
          context, [](mlir::Diagnostic &) { return mlir::success(); });
      auto schedule = mlir::dyn_cast_or_null<compiler::ScheduleAttr>(
          mlir::parseAttribute(record.schedule, context));
      if (!schedule)
        continue;
      mlir::tessera::ScheduleNumbers point(schedule);
      bool hasTime = record.outcome == Outcome::Measured;
      if (hasTime && state.space->isLegal(point))
        fastest.emplace_back(record.median, point);
      bool isSame = record.environment.build == environment.build &&
                    record.environment.device == environment.device &&
                    record.environment.driver == environment.driver;
      // Without a device nothing but whether it compiles is found out.
      if (!isSame || options.replay)
        continue;
      state.search->tell(point, hasTime || record.outcome == Outcome::Slow
                                    ? std::optional<double>(record.median)
                                    : std::nullopt);
      ++state.begun;
      ++resumed;
    }
    // The leaders are to be there for the final comparison.
    llvm::stable_sort(fastest, [](const auto &a, const auto &b) {
      return a.first < b.first;
    });
    for (const auto &[time, point] : fastest) {
      if (state.hints.size() == options.replay.value_or(options.leaders))
        break;
      std::string text = tuning::spellPoint(point);
      if (llvm::none_of(state.hints, [&](const auto &other) {
            return tuning::spellPoint(other) == text;
          }))
        state.hints.push_back(point);
    }
  }
  if (resumed)
    progress.say("resumed: " + std::to_string(resumed) +
                 " records of this build on this device are in the database");
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

std::optional<Pending> Tuner::proposeFor(size_t index) {
  TaskState &state = states[index];
  Pending work;
  work.task = index;
  if (!state.isOwnBegun) {
    state.isOwnBegun = true;
  } else {
    // Its neighbours are among the first.
    if (state.ownChoice.empty())
      return std::nullopt;
    std::optional<mlir::tessera::ScheduleNumbers> point;
    if (!state.hints.empty()) {
      point = state.hints.front();
      state.hints.pop_front();
    } else if (!options.replay) {
      point = state.search->propose();
    }
    if (!point)
      return std::nullopt;
    work.point = point;
    work.schedule = spell(state.space->getAttr(*point));
    work.expected = state.search->getExpected(*point);
  }
  work.id = nextId++;
  ++state.begun;
  ++state.inHand;
  ++counts.made;
  return work;
}

std::optional<Pending> Tuner::propose() {
  // As many in hand as keep everyone busy; more would be of yesterday.
  size_t waiting = 0;
  for (const TaskState &state : states)
    waiting += state.ready.size();
  if (!measurers.empty() && waiting >= 2 * measurers.size() + compilers.size())
    return std::nullopt;
  std::vector<std::pair<double, size_t>> order;
  for (auto [i, state] : llvm::enumerate(states)) {
    if (!state.failure.empty() ||
        (options.trials && state.begun > *options.trials))
      continue;
    double rank;
    if (!state.isOwnBegun)
      rank = 1e9;
    else if (!state.hints.empty())
      rank = 1e8;
    else if (state.begun < firstCandidates)
      rank = 1e6 - static_cast<double>(state.begun);
    else {
      double weight =
          options.weighByTime ? state.task->count * state.search->getBest() : 1;
      // Those in hand take from what is expected of the next one.
      rank = state.search->getExpectedGain() * weight /
             static_cast<double>(1 + state.inHand);
    }
    order.emplace_back(-rank, i);
  }
  llvm::sort(order);
  for (const auto &[rank, index] : order)
    if (std::optional<Pending> work = proposeFor(index))
      return work;
  return std::nullopt;
}

void Tuner::feedCompilers() {
  if (!isResumed || isSearchOver)
    return;
  for (Compiler &compiler : compilers) {
    if (!compiler.child || compiler.work)
      continue;
    std::optional<Pending> work = propose();
    if (!work)
      return;
    Message message;
    const TaskState &state = states[work->task];
    message.head = json::Object{{"op", "compile"},
                                {"id", work->id},
                                {"task", state.task->text.key},
                                {"target", options.compile.target},
                                {"chip", options.compile.chip},
                                {"schedule", work->schedule},
                                {"ptxas", measurers.empty()}};
    if (compiler.known.insert(work->task).second)
      message.head["program"] = state.task->text.text;
    compiler.since = Clock::now();
    compiler.work = std::move(work);
    if (!compiler.child->getChannel().send(message))
      lose(compiler, /*isLate=*/false);
  }
}

void Tuner::handle(Compiler &compiler, Message message) {
  if (!compiler.work)
    return;
  Pending work = std::move(*compiler.work);
  compiler.work.reset();
  TaskState &state = states[work.task];
  std::string error = getText(message.head, "error");
  work.chosen = getText(message.head, "chosen");
  work.compileTime = message.head.getNumber("ms").value_or(0);
  work.bundle = std::move(message.bytes);
  if (!error.empty()) {
    ++counts.failed;
    bool isOwn = !work.point;
    size_t task = work.task;
    finish(work, makeRecord(work, Outcome::NotCompiled, error));
    if (isOwn)
      giveUp(task, "it does not compile: " + error);
    return;
  }
  ++counts.compiled;
  if (!work.point) {
    state.ownBundle = work.bundle;
    state.ownChoice = work.chosen.empty() ? "none" : work.chosen;
    mlir::MLIRContext *context = state.task->program->getContext();
    if (auto schedule = mlir::dyn_cast_or_null<compiler::ScheduleAttr>(
            work.chosen.empty() ? mlir::Attribute()
                                : mlir::parseAttribute(work.chosen, context)))
      state.search->setOwnChoice(schedule);
  }
  std::string spills = getText(message.head, "spills");
  if (work.point && !spills.empty()) {
    ++counts.failed;
    finish(work, makeRecord(work, Outcome::Spills, spills));
    return;
  }
  if (measurers.empty()) {
    finish(work, makeRecord(work, Outcome::NotRun, options.noDevice));
    return;
  }
  if (!state.failure.empty()) {
    --state.inHand;
    return;
  }
  if (work.point)
    state.ready.push_back(std::move(work));
  else
    state.ready.push_front(std::move(work));
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

bool Tuner::isDeviceBusy(int ordinal) const {
  return llvm::any_of(measurers, [&](const Measurer &measurer) {
    return measurer.ordinal == ordinal &&
           (measurer.state == Measurer::Going ||
            measurer.state == Measurer::Comparing);
  });
}

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
  if (!measurer.child->getChannel().send(message))
    lose(measurer, /*isLate=*/false);
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
  if (!measurer.child->getChannel().send(message))
    lose(measurer, /*isLate=*/false);
}

void Tuner::feedMeasurers() {
  for (Measurer &measurer : measurers) {
    if (!measurer.child)
      continue;
    if (measurer.state == Measurer::Idle) {
      // Of the fullest queue, those of open tasks first.
      size_t best = states.size();
      auto rank = [&](size_t index) {
        const TaskState &state = states[index];
        bool isOwn = !state.ready.empty() && !state.ready.front().point;
        return std::make_tuple(isOwn, measurer.open.count(index),
                               state.ready.size());
      };
      for (size_t i = 0; i < states.size(); ++i)
        if (!states[i].ready.empty() && !states[i].ownBundle.empty() &&
            (best == states.size() || rank(i) > rank(best)))
          best = i;
      if (best == states.size())
        continue;
      if (!measurer.open.count(best)) {
        openTask(measurer, best);
        continue;
      }
      Pending work = std::move(states[best].ready.front());
      states[best].ready.pop_front();
      give(measurer, std::move(work));
    }
    if (measurer.state == Measurer::Loaded && !isDeviceBusy(measurer.ordinal)) {
      const TaskState &state = states[measurer.work->task];
      Message message;
      double best = state.leaders.empty() ? 0 : state.leaders.front().time;
      message.head = json::Object{{"op", "go"},
                                  {"id", measurer.work->id},
                                  {"best", best},
                                  {"slow", options.slowest}};
      measurer.state = Measurer::Going;
      measurer.since = Clock::now();
      if (!measurer.child->getChannel().send(message))
        lose(measurer, /*isLate=*/false);
    }
  }
}

void Tuner::handle(Measurer &measurer, Message message) {
  std::string op = getText(message.head, "op"),
              error = getText(message.head, "error"),
              key = getText(message.head, "task");
  if (op == "ready") {
    if (!error.empty()) {
      progress.say("error: " + error);
      isBroken = true;
      return;
    }
    environment.device = getText(message.head, "device");
    environment.driver = getText(message.head, "driver");
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
        giveUp(i, "the compiler's own choice computes wrong numbers: " + error);
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
      giveUp(index, "two runs of the compiler's own choice differ");
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
  tuning::Record record = makeRecord(work, outcome, getText(head, "error"));
  record.times = getTimes(head.getArray("times"));
  Summary summary = summarize(record.times);
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
  if (isOwn && outcome != Outcome::Measured && outcome != Outcome::Spills)
    giveUp(task, "the compiler's own choice: " + record.error);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

bool Tuner::isOver() const {
  return llvm::all_of(states, [&](const TaskState &state) {
    return state.isDone || !state.failure.empty();
  });
}

/// How many processes of this machine want a core right now.
static int countRunning() {
  std::ifstream file("/proc/stat");
  std::string word;
  int count = 0;
  while (file >> word)
    if (word == "procs_running")
      file >> count;
  return count;
}

void Tuner::compareLeaders() {
  for (size_t i = 0; i < states.size(); ++i) {
    TaskState &state = states[i];
    if (state.isFinalBegun || state.isDone || !state.failure.empty())
      continue;
    if (measurers.empty() || state.leaders.empty()) {
      state.isDone = true;
      continue;
    }
    for (Measurer &measurer : measurers) {
      if (!measurer.child || measurer.state != Measurer::Idle ||
          isDeviceBusy(measurer.ordinal))
        continue;
      if (!measurer.open.count(i)) {
        // Nobody else has it open either, or will not be free.
        bool isElsewhere = llvm::any_of(measurers, [&](const Measurer &other) {
          return other.open.count(i) != 0;
        });
        if (!isElsewhere)
          openTask(measurer, i);
        continue;
      }
      Message message;
      json::Array list;
      auto add = [&](int64_t id, const std::string &bundle) {
        list.push_back(json::Object{
            {"id", id}, {"bytes", static_cast<int64_t>(bundle.size())}});
        message.bytes += bundle;
      };
      add(-1, state.ownBundle);
      unsigned count = 0;
      for (auto [place, leader] : llvm::enumerate(state.leaders)) {
        if (!leader.point || count == options.leaders)
          continue;
        ++count;
        add(static_cast<int64_t>(place), leader.bundle);
      }
      message.head = json::Object{{"op", "final"},
                                  {"task", state.task->text.key},
                                  {"candidates", std::move(list)},
                                  {"rounds", 400},
                                  {"seconds", finalSeconds}};
      if (state.task->product) {
        const runtime::LibraryProduct &product = *state.task->product;
        auto type = [](runtime::ElementType element) {
          return runtime::elementTypeName(element);
        };
        message.head["product"] = json::Object{{"m", product.m},
                                               {"n", product.n},
                                               {"k", product.k},
                                               {"matrices", product.matrices},
                                               {"turnedLhs", product.turnedLhs},
                                               {"turnedRhs", product.turnedRhs},
                                               {"lhsStride", product.lhsStride},
                                               {"rhsStride", product.rhsStride},
                                               {"outStride", product.outStride},
                                               {"lhs", type(product.lhs)},
                                               {"rhs", type(product.rhs)},
                                               {"out", type(product.out)},
                                               {"sum", type(product.sum)},
                                               {"tf32", product.tf32}};
      }
      if (int others = countRunning() - 2;
          others > static_cast<int>(options.jobs) / 2 + 1)
        progress.say("warning: " + std::to_string(others) +
                     " other processes of this machine are running while times "
                     "are taken");
      state.isFinalBegun = true;
      measurer.state = Measurer::Comparing;
      measurer.task = i;
      measurer.since = Clock::now();
      if (!measurer.child->getChannel().send(message))
        lose(measurer, /*isLate=*/false);
      break;
    }
  }
}

void Tuner::takeFinal(Measurer &measurer, const json::Object &head) {
  measurer.state = Measurer::Idle;
  TaskState &state = states[measurer.task];
  state.isDone = true;
  int64_t before = head.getInteger("clockBefore").value_or(0),
          after = head.getInteger("clockAfter").value_or(0);
  if (before > 0 && std::abs(before - after) > before / 20)
    progress.say("warning: " + state.task->text.description +
                 ": the device's clock moved from " + std::to_string(before) +
                 " to " + std::to_string(after) +
                 " MHz during the final comparison");
  if (const json::Array *results = head.getArray("results"))
    for (const json::Value &value : *results) {
      const json::Object *object = value.getAsObject();
      if (!object)
        continue;
      int64_t id = object->getInteger("id").value_or(-1);
      Pending work;
      work.task = measurer.task;
      work.chosen = state.ownChoice;
      if (id >= 0 && static_cast<size_t>(id) < state.leaders.size()) {
        const TaskState::Leader &leader =
            state.leaders[static_cast<size_t>(id)];
        work.schedule = leader.schedule;
        work.chosen = leader.chosen;
      }
      std::string error = getText(*object, "error");
      tuning::Record record = makeRecord(
          work, error.empty() ? Outcome::Measured : Outcome::NotRun, error);
      record.times = getTimes(object->getArray("times"));
      Summary summary = summarize(record.times);
      record.median = summary.median;
      record.low = summary.low;
      record.high = summary.high;
      record.clockBefore = before;
      record.clockAfter = after;
      record.isFinal = true;
      store(record);
      if (!error.empty() || record.times.empty())
        continue;
      state.compared.push_back(record);
      if (id < 0)
        state.own = record;
      if (!state.winner || record.median < state.winner->median)
        state.winner = record;
    }
  state.libraryError = getText(head, "libraryError");
  std::vector<double> times = getTimes(head.getArray("libraryTimes"));
  if (times.empty())
    return;
  tuning::Baseline baseline;
  baseline.task = {state.task->text.key, chipTarget, options.compile.chip};
  baseline.environment = environment;
  baseline.library = getText(head, "library");
  baseline.times = times;
  Summary summary = summarize(times);
  baseline.median = summary.median;
  baseline.low = summary.low;
  baseline.high = summary.high;
  baseline.when = getTime();
  baseline.run = runNumber;
  if (llvm::Error error = database.add(baseline).takeError()) {
    progress.say("error: " + llvm::toString(std::move(error)));
    isBroken = true;
  }
  state.baseline = baseline;
}

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
  handleInterrupts();
  compilers.resize(options.jobs);
  for (Compiler &compiler : compilers)
    if (!startCompiler(compiler))
      return false;
  for (int ordinal : options.devices)
    for (unsigned i = 0; i < options.measurers; ++i)
      measurers.emplace_back().ordinal = ordinal;
  for (Measurer &measurer : measurers)
    if (!startMeasurer(measurer))
      return false;
  if (measurers.empty())
    resume();

  double reserve =
      options.budget && !measurers.empty()
          ? std::min(mostReserved * *options.budget,
                     finalReserve * static_cast<double>(states.size()))
          : 0;
  while (!isBroken && !isOver()) {
    feedCompilers();
    feedMeasurers();
    size_t inHand = 0;
    for (const TaskState &state : states)
      inHand += state.inHand;
    if (!isSearchOver && isResumed) {
      bool isIdle =
          inHand == 0 && llvm::none_of(compilers, [](const auto &one) {
            return one.work.has_value();
          });
      if (getInterrupt() || (options.budget && getSecondsLeft() <= reserve) ||
          isIdle) {
        isSearchOver = true;
        std::chrono::duration<double> elapsed = Clock::now() - start;
        compileSeconds = elapsed.count();
        // What waits is not measured any more; it is not recorded either.
        for (TaskState &state : states) {
          if (state.leaders.empty() && !state.ready.empty() && !getInterrupt())
            continue;
          state.inHand -= state.ready.size();
          state.ready.clear();
        }
        for (Compiler &compiler : compilers) {
          if (compiler.work)
            --states[compiler.work->task].inHand;
          compiler.work.reset();
          compiler.child.reset();
        }
        continue;
      }
    }
    bool isMeasuring = llvm::any_of(measurers, [](const Measurer &measurer) {
      return measurer.work.has_value();
    });
    if (isSearchOver && !isMeasuring)
      compareLeaders();

    std::vector<pollfd> files;
    for (Compiler &compiler : compilers)
      if (compiler.child)
        files.push_back({compiler.child->getChannel().getFile(), POLLIN, 0});
    for (Measurer &measurer : measurers)
      if (measurer.child)
        files.push_back({measurer.child->getChannel().getFile(), POLLIN, 0});
    poll(files.data(), files.size(), 100);
    for (Compiler &compiler : compilers) {
      if (!compiler.child)
        continue;
      bool isThere = compiler.child->getChannel().take();
      while (compiler.child) {
        std::optional<Message> message = compiler.child->getChannel().next();
        if (!message)
          break;
        handle(compiler, std::move(*message));
      }
      if (!isThere && !isBroken)
        lose(compiler, /*isLate=*/false);
    }
    for (Measurer &measurer : measurers) {
      bool isThere = measurer.child->getChannel().take();
      Child *child = measurer.child.get();
      while (measurer.child.get() == child) {
        std::optional<Message> message = child->getChannel().next();
        if (!message)
          break;
        handle(measurer, std::move(*message));
      }
      if (!isThere && measurer.child.get() == child && !isBroken)
        lose(measurer, /*isLate=*/false);
    }
    checkTimes();
    counts.pruned = 0;
    for (const TaskState &state : states)
      counts.pruned += state.search->getPruned();
    progress.update(counts, describeBest(), getSecondsLeft());
  }
  if (!isBroken) // The reference may still be asked about the last ones.
    waitForChecks();
  return !isBroken;
}

/// Waits until the reference has said what it has to say of each task.
void Tuner::waitForChecks() {
  auto isWaiting = [&] {
    return llvm::any_of(states, [](const TaskState &state) {
      return state.isAsked && !state.isChecked && state.failure.empty();
    });
  };
  while (isWaiting() && !measurers.empty() && !getInterrupt()) {
    std::vector<pollfd> files;
    for (Measurer &measurer : measurers)
      if (measurer.child)
        files.push_back({measurer.child->getChannel().getFile(), POLLIN, 0});
    poll(files.data(), files.size(), 200);
    bool isAnyone = false;
    for (Measurer &measurer : measurers) {
      if (!measurer.child)
        continue;
      bool isThere = measurer.child->getChannel().take();
      while (std::optional<Message> message =
                 measurer.child->getChannel().next())
        handle(measurer, std::move(*message));
      if (!isThere)
        measurer.child.reset();
      else if (!measurer.checking.empty())
        isAnyone = true;
    }
    if (!isAnyone)
      break;
  }
  for (TaskState &state : states)
    if (state.isAsked && !state.isChecked && state.failure.empty())
      progress.say("note: " + state.task->text.description +
                   ": the reference was not asked to the end whether the "
                   "compiler's own choice is right");
}
