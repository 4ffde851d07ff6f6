//===- TunerRecords.cpp - The records of candidates -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/Tuner.h"

#include "Tuning/Json.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <ctime>

using namespace tessera::tuning;
using tuning::Outcome;

std::string Tuner::getTime() {
  std::time_t now = std::time(nullptr);
  std::tm utc;
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

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

std::string Tuner::describe(const Pending &work) const {
  return states[work.task].task->text.description + ", " +
         (work.point ? work.schedule : "the compiler's own choice");
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
    state.source->observe(*work.point,
                          hasTime ? std::optional<double>(record.median)
                                  : std::nullopt);
  else if (hasTime)
    state.source->observeOwnChoice(record.median);
  if (record.outcome != Outcome::Measured)
    return;
  // Without a final comparison, these times are the result of a replay.
  if (options.replay && options.leaders == 0)
    state.compared.push_back(record);
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
  if (state.leaders.size() > std::max<size_t>(1, 2 * options.leaders))
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
  if (queue.giveUp(task, why))
    progress.say("error: " + states[task].task->text.description +
                 " is given up: " + why);
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
    std::vector<std::pair<double, Point>> fastest;
    for (const tuning::Record &record : *records) {
      if (record.outcome == Outcome::Measured) {
        auto [position, isNew] =
            state.recorded.try_emplace(record.schedule, record.median);
        position->second = std::min(position->second, record.median);
      }
      if (record.isFinal || record.schedule.empty())
        continue;
      mlir::ScopedDiagnosticHandler quiet(
          context, [](mlir::Diagnostic &) { return mlir::success(); });
      if (!tuning::findDeepNesting(record.schedule).empty())
        continue;
      Point point = mlir::parseAttribute(record.schedule, context);
      if (!point || !state.source->isSchedule(point))
        continue;
      bool hasTime = record.outcome == Outcome::Measured;
      if (hasTime && state.source->isLegal(point))
        fastest.emplace_back(record.median, point);
      bool isSame = record.environment.build == environment.build &&
                    record.environment.device == environment.device &&
                    record.environment.driver == environment.driver &&
                    record.environment.features == environment.features;
      // Without a device nothing but whether it compiles is found out.
      if (!isSame || options.replay)
        continue;
      state.source->observe(point, hasTime || record.outcome == Outcome::Slow
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
      if (!llvm::is_contained(state.hints, point))
        state.hints.push_back(point);
    }
  }
  if (resumed)
    progress.say("resumed: " + std::to_string(resumed) +
                 " records of this build on this device are in the database");
}
