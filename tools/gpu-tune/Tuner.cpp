//===- Tuner.cpp - A run of the tuner -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuner.h"
#include "Interrupt.h"
#include "Statistics.h"

#include "Driver/DeviceChip.h"
#include "Driver/ProgramCache.h"
#include "Tuning/Json.h"

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
/// Seconds that a host has to report how a process of it ended; seconds without
/// workers until that is reported, and until the final comparison is left out;
/// and hosts that may go away with a candidate.
static constexpr double dyingLimit = 30, waitLimit = 10, finalWait = 30;
static constexpr unsigned mostHostsLost = 2;

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
    : options(options), database(database),
      keeper(database, [this](const std::string &line) { progress.say(line); }),
      runNumber(run) {
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
  compiler.dying.reset();
  compiler.since = Clock::now();
  if (compiler.host)
    compiler.child = cluster->start(compiler.host, {"compile"});
  else
    compiler.child = Child::start({"compile"}, why);
  if (compiler.child)
    return true;
  progress.say("error: cannot start a compile worker: " + why);
  isBroken = true;
  return false;
}

bool Tuner::startMeasurer(Measurer &measurer) {
  std::string why;
  measurer.open.clear();
  measurer.dying.reset();
  // Another worker must be asked.
  for (size_t task : measurer.checking)
    states[task].isAsked = false;
  measurer.checking.clear();
  measurer.state = Measurer::Starting;
  measurer.since = Clock::now();
  std::vector<std::string> arguments = {"measure", options.compile.target,
                                        std::to_string(measurer.ordinal)};
  if (!options.fault.empty())
    arguments.push_back(options.fault);
  if (measurer.host)
    measurer.child = cluster->start(measurer.host, arguments);
  else
    measurer.child = Child::start(arguments, why);
  if (measurer.child)
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
    ++counts.failed;
    bool isOwn = !work.point;
    size_t task = work.task;
    finish(work, makeRecord(work, Outcome::NotCompiled, error,
                            getEnvironment(compiler)));
    if (isOwn)
      giveUp(task, error);
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
    ++counts.failed;
    finish(work, makeRecord(work, isLate ? Outcome::Hung : Outcome::Crashed,
                            error, measurer.environment));
  } else if (state == Measurer::Opening) {
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
  if (worker.host)
    worker.dying = Clock::now();
  else
    lose(worker, /*isLate=*/false);
}

/// Takes what workers have sent.
template <typename Worker> void Tuner::serve(std::list<Worker> &workers) {
  for (Worker &worker : workers) {
    if (Channel *channel = worker.getChannel()) {
      bool isThere = channel->take();
      WorkerProcess *child = worker.child.get();
      while (worker.child.get() == child && !worker.isRemoved) {
        std::optional<Message> message = channel->next();
        if (!message)
          break;
        handle(worker, std::move(*message));
      }
      if (!isThere && worker.child.get() == child && !worker.isRemoved &&
          !isBroken)
        hangUp(worker);
    } else if (worker.child && !worker.isRemoved && worker.child->getEnd()) {
      lose(worker, /*isLate=*/false);
    }
  }
}

//===----------------------------------------------------------------------===//
// Other hosts
//===----------------------------------------------------------------------===//

void Tuner::setCluster(Cluster &hosts) {
  cluster = &hosts;
  cluster->setWork(options.compile.target, options.compile.chip);
  cluster->setReport([this](const std::string &line) { progress.say(line); });
}

void Tuner::handleHosts() {
  if (!cluster)
    return;
  for (const ClusterEvent &event : cluster->take()) {
    if (event.kind == ClusterEvent::Gone) {
      loseHost(event);
      continue;
    }
    const Cluster::Host &host = *cluster->getHost(event.host);
    hostNames[event.host] = host.name;
    std::string line;
    llvm::raw_string_ostream(line)
        << "host " << host.name << " (" << host.address
        << ") has joined: " << host.jobs
        << (host.jobs == 1 ? " compile worker, " : " compile workers, ")
        << host.devices.size()
        << (host.devices.size() == 1 ? " device" : " devices");
    progress.say(line);
    for (const std::string &note : host.notes)
      progress.say("note: host " + host.name + ": " + note);
    for (const Cluster::Device &device : host.devices)
      if (llvm::any_of(measurers, [&](const Measurer &measurer) {
            return measurer.identity == device.identity;
          }))
        progress.say("note: host " + host.name + ": " + device.name +
                     " is already used by another process of that machine");
    for (unsigned i = 0; i < host.jobs && !isSearchOver; ++i) {
      Compiler &compiler = compilers.emplace_back();
      compiler.host = event.host;
      startCompiler(compiler);
    }
  }
  assignDevices();
}

/// Each device is measured on by the processes of one host's agent, however
/// many agents see it.
void Tuner::assignDevices() {
  for (const auto &[number, name] : hostNames) {
    const Cluster::Host *host = cluster->getHost(number);
    if (!host)
      continue;
    for (const Cluster::Device &device : host->devices) {
      if (uselessDevices.count({number, device.identity}) ||
          llvm::any_of(measurers, [&](const Measurer &measurer) {
            return measurer.identity == device.identity;
          }))
        continue;
      for (unsigned i = 0; i < host->measurers; ++i) {
        Measurer &measurer = measurers.emplace_back();
        measurer.host = number;
        measurer.ordinal = device.ordinal;
        measurer.identity = device.identity;
        measurer.environment = environment;
        measurer.environment.host = name;
        startMeasurer(measurer);
      }
    }
  }
}

/// Retries the candidates of a disconnected host on another one.
void Tuner::putBack(Pending work) {
  TaskState &state = states[work.task];
  if (!state.failure.empty() || getInterrupt()) {
    --state.inHand;
    return;
  }
  if (++work.hostsLost >= mostHostsLost) {
    // It may be its doing; the other hosts are not to follow.
    std::string error =
        llvm::formatv("{0} hosts disconnected while processing it",
                      work.hostsLost)
            .str();
    ++counts.failed;
    bool isOwn = !work.point;
    size_t task = work.task;
    finish(work, makeRecord(work, Outcome::Crashed, error, environment));
    if (isOwn)
      giveUp(task, error);
    return;
  }
  if (!work.bundle.empty())
    state.ready.push_front(std::move(work));
  else if (!isSearchOver)
    returned.push_back(std::move(work));
  else
    --state.inHand;
}

void Tuner::loseHost(const ClusterEvent &event) {
  size_t count = 0;
  auto take = [&](Seat &seat) {
    if (seat.isRemoved || seat.host != event.host)
      return false;
    seat.isRemoved = true;
    if (seat.work) {
      ++count;
      Pending work = std::move(*seat.work);
      seat.work.reset();
      putBack(std::move(work));
    }
    return true;
  };
  for (Compiler &compiler : compilers)
    (void)take(compiler);
  for (Measurer &measurer : measurers) {
    if (!take(measurer))
      continue;
    for (size_t task : measurer.checking)
      states[task].isAsked = false;
    measurer.checking.clear();
    if (measurer.state == Measurer::Comparing) {
      ++count;
      states[measurer.task].isFinalBegun = false;
    }
  }
  std::string line;
  llvm::raw_string_ostream(line)
      << "warning: host " << hostNames[event.host] << " disconnected ("
      << event.why << "): " << count
      << (count == 1 ? " of its candidates is retried"
                     : " of its candidates are retried");
  progress.say(line);
  hostNames.erase(event.host);
  compilers.remove_if([](const Compiler &one) { return one.isRemoved; });
  measurers.remove_if([](const Measurer &one) { return one.isRemoved; });
}

/// Reports when the run waits for hosts; omits the final comparison when no
/// worker is left for it.
void Tuner::noteWaiting() {
  if (!cluster)
    return;
  bool isWaiting = measurers.empty() || (compilers.empty() && !isSearchOver);
  if (!isWaiting) {
    idleSince.reset();
    isWaitSaid = false;
    return;
  }
  Clock::time_point now = Clock::now();
  if (!idleSince)
    idleSince = now;
  double waited = std::chrono::duration<double>(now - *idleSince).count();
  if (isSearchOver && (waited > finalWait || getInterrupt())) {
    for (TaskState &state : states) {
      if (state.isDone || !state.failure.empty())
        continue;
      state.isDone = true;
      progress.say("warning: " + state.task->text.description +
                   ": no measuring host is left: the leaders are not compared");
    }
    return;
  }
  if (isWaitSaid || waited < waitLimit)
    return;
  isWaitSaid = true;
  progress.say(std::string("note: no host ") +
               (measurers.empty() ? "measures" : "compiles") +
               "; the run waits for one to join");
}

void Tuner::checkTimes() {
  Clock::time_point now = Clock::now();
  auto isLate = [&](Clock::time_point since, double limit) {
    return std::chrono::duration<double>(now - since).count() > limit;
  };
  auto isDying = [&](Seat &seat) {
    if (seat.dying && isLate(*seat.dying, dyingLimit))
      cluster->drop(seat.host,
                    "it did not report how one of its processes ended");
    return seat.isRemoved || seat.dying.has_value();
  };
  for (Compiler &compiler : compilers) {
    if (isDying(compiler) || !compiler.child)
      continue;
    bool isStarting = !compiler.child->getChannel();
    if ((compiler.work && isLate(compiler.since, compileLimit)) ||
        (isStarting && isLate(compiler.since, startLimit)))
      lose(compiler, /*isLate=*/true);
  }
  for (Measurer &measurer : measurers) {
    if (isDying(measurer) || !measurer.child)
      continue;
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

tuning::Environment Tuner::getEnvironment(const Compiler &compiler) const {
  tuning::Environment where = environment;
  if (compiler.host)
    where.host = hostNames.at(compiler.host);
  return where;
}

tuning::Record Tuner::makeRecord(const Pending &work, Outcome outcome,
                                 std::string error,
                                 const tuning::Environment &environment) const {
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

/// Ends a candidate's way.
void Tuner::finish(Pending work, tuning::Record record) {
  TaskState &state = states[work.task];
  --state.inHand;
  if (state.isOwnWrong &&
      (record.outcome == Outcome::Measured || record.outcome == Outcome::Slow))
    tuning::invalidate(record, state.failure);
  keeper.add(record);
  bool hasTime = record.outcome == Outcome::Measured ||
                 (record.outcome == Outcome::Slow && !record.times.empty());
  if (work.point)
    state.search->tell(*work.point, hasTime
                                        ? std::optional<double>(record.median)
                                        : std::nullopt);
  else if (hasTime)
    state.search->tellOwnChoice(record.median);
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

void Tuner::giveUpWrong(size_t task, const tuning::Environment &environment,
                        const std::string &why) {
  TaskState &state = states[task];
  giveUp(task, why);
  state.isOwnWrong = true;
  state.winner.reset();
  state.compared.clear();
  keeper.invalidate({state.task->text.key, chipTarget, options.compile.chip},
                    environment, std::nullopt, why);
}

/// Loads the records of the tasks from the same build on the same device.
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
      if (!tuning::findDeepNesting(record.schedule).empty())
        continue;
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
                    record.environment.driver == environment.driver &&
                    record.environment.features == environment.features;
      // Without a device nothing but whether it compiles is found out.
      if (!isSame || options.replay)
        continue;
      state.search->tell(point, hasTime || record.outcome == Outcome::Slow
                                    ? std::optional<double>(record.median)
                                    : std::nullopt);
      ++state.begun;
      ++resumed;
    }
    // The leaders must be available for the final comparison.
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
  if (isMeasured && waiting >= 2 * measurers.size() + compilers.size())
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
  isExhausted = false;
  if (!isResumed || isSearchOver)
    return;
  for (Compiler &compiler : compilers) {
    Channel *channel = compiler.getChannel();
    if (!channel || compiler.work)
      continue;
    std::optional<Pending> work;
    if (returned.empty()) {
      work = propose();
    } else {
      work = std::move(returned.front());
      returned.pop_front();
    }
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
    ++counts.failed;
    bool isOwn = !work.point;
    size_t task = work.task;
    finish(work, makeRecord(work, Outcome::NotCompiled, error,
                            getEnvironment(compiler)));
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
  if (work.point)
    state.ready.push_back(std::move(work));
  else
    state.ready.push_front(std::move(work));
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

bool Tuner::isDeviceBusy(const std::string &identity) const {
  return llvm::any_of(measurers, [&](const Measurer &measurer) {
    return measurer.identity == identity && !measurer.isRemoved &&
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
      // Take from the fullest queue, open tasks first.
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
    if (measurer.getChannel() && measurer.state == Measurer::Loaded &&
        !isDeviceBusy(measurer.identity)) {
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
    if (!isMeasured || state.leaders.empty()) {
      state.isDone = true;
      continue;
    }
    for (Measurer &measurer : measurers) {
      if (!measurer.getChannel() || measurer.state != Measurer::Idle ||
          isDeviceBusy(measurer.identity))
        continue;
      if (!measurer.open.count(i)) {
        // No other process has it open either, or the device will not be free.
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
      if (int others = measurer.host ? 0 : countRunning() - 2;
          others > static_cast<int>(options.jobs) / 2 + 1)
        progress.say(
            "warning: " + std::to_string(others) +
            " other processes of this machine are running during measurements");
      state.isFinalBegun = true;
      measurer.state = Measurer::Comparing;
      measurer.task = i;
      measurer.since = Clock::now();
      if (!measurer.getChannel()->send(message))
        hangUp(measurer);
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
      Outcome outcome = tuning::parseOutcome(getText(*object, "outcome"))
                            .value_or(Outcome::NotRun);
      tuning::Record record =
          makeRecord(work, outcome, error, measurer.environment);
      record.times = getTimes(object->getArray("times"));
      Summary summary = summarize(record.times);
      record.median = summary.median;
      record.low = summary.low;
      record.high = summary.high;
      record.clockBefore = before;
      record.clockAfter = after;
      record.isFinal = true;
      if (state.isOwnWrong && outcome == Outcome::Measured)
        tuning::invalidate(record, state.failure);
      keeper.add(record);
      // Its earlier results do not count either.
      std::string why = "in the final comparison, " + error;
      if (outcome == Outcome::Wrong && id < 0)
        giveUpWrong(measurer.task, measurer.environment,
                    "the compiler's own choice is wrong: " + why);
      else if (outcome == Outcome::Wrong)
        keeper.invalidate(record.task, measurer.environment, record.schedule,
                          why);
      if (record.outcome != Outcome::Measured || record.times.empty())
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
  baseline.environment = measurer.environment;
  baseline.library = getText(head, "library");
  baseline.times = times;
  Summary summary = summarize(times);
  baseline.median = summary.median;
  baseline.low = summary.low;
  baseline.high = summary.high;
  baseline.when = getTime();
  baseline.run = runNumber;
  keeper.add(baseline);
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
      options.budget && isMeasured
          ? std::min(mostReserved * *options.budget,
                     finalReserve * static_cast<double>(states.size()))
          : 0;
  while (!isBroken && !isOver()) {
    feedCompilers();
    feedMeasurers();
    size_t inHand = 0;
    for (const TaskState &state : states)
      inHand += state.inHand;
    if (!isSearchOver && (isResumed || cluster)) {
      bool isIdle = inHand == 0 && isExhausted;
      if (getInterrupt() || (options.budget && getSecondsLeft() <= reserve) ||
          isIdle) {
        isSearchOver = true;
        std::chrono::duration<double> elapsed = Clock::now() - start;
        compileSeconds = elapsed.count();
        // Waiting candidates are neither measured nor recorded any more.
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
        for (const Pending &work : returned)
          --states[work.task].inHand;
        returned.clear();
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
      if (Channel *channel = compiler.getChannel())
        files.push_back({channel->getFile(), POLLIN, 0});
    for (Measurer &measurer : measurers)
      if (Channel *channel = measurer.getChannel())
        files.push_back({channel->getFile(), POLLIN, 0});
    if (cluster)
      cluster->addFiles(files);
    poll(files.data(), files.size(), 100);
    // Messages of workers are processed before the report that they, or their
    // hosts, ended.
    serve(compilers);
    serve(measurers);
    handleHosts();
    noteWaiting();
    compilers.remove_if([](const Compiler &one) { return one.isRemoved; });
    measurers.remove_if([](const Measurer &one) { return one.isRemoved; });
    checkTimes();
    counts.pruned = 0;
    for (const TaskState &state : states)
      counts.pruned += state.search->getPruned();
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
  auto isWaiting = [&] {
    return llvm::any_of(states, [](const TaskState &state) {
      return state.isAsked && !state.isChecked && state.failure.empty();
    });
  };
  while (isWaiting() && !measurers.empty() && !getInterrupt()) {
    std::vector<pollfd> files;
    for (Measurer &measurer : measurers)
      if (Channel *channel = measurer.getChannel())
        files.push_back({channel->getFile(), POLLIN, 0});
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
  }
  for (TaskState &state : states)
    if (state.isAsked && !state.isChecked && state.failure.empty())
      progress.say("note: " + state.task->text.description +
                   ": the compiler's own choice was not fully compared with "
                   "the reference");
}
