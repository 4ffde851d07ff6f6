//===- TunerFinal.cpp - The end of a run ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/FinalComparison.h"
#include "Tuning/Run/TimeSummary.h"
#include "Tuning/Run/Tuner.h"

#include "llvm/ADT/STLExtras.h"

#include <fstream>

using namespace tessera::tuning;
using tuning::Outcome;
namespace json = llvm::json;

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

/// The tasks in the order in which they are compared: those first that have the
/// most time to save, by the times of the search.
static std::vector<size_t>
orderForComparison(const std::vector<TaskState> &states) {
  std::vector<std::pair<double, size_t>> order;
  for (auto [i, state] : llvm::enumerate(states)) {
    double saved =
        state.leaders.empty() ? 0 : state.ownTime - state.leaders.front().time;
    order.emplace_back(-saved * static_cast<double>(state.task->count), i);
  }
  llvm::sort(order);
  std::vector<size_t> tasks;
  for (const auto &[saved, task] : order)
    tasks.push_back(task);
  return tasks;
}

/// Whether the search found a candidate that may be faster than the compiler's
/// own choice by more than the noise.
static bool isWorthComparing(const TaskState &state) {
  constexpr double least = 0.985;
  return state.ownTime == 0 ||
         state.leaders.front().time <= least * state.ownTime;
}

/// An equal part of the time that is left, for each task that waits.
double Tuner::getFinalSeconds() const {
  if (!end)
    return finalSeconds;
  auto waiting = llvm::count_if(states, [](const TaskState &state) {
    return !state.isFinalBegun && !state.isDone && state.failure.empty();
  });
  return std::clamp(getSecondsLeft() / std::max<double>(1, waiting),
                    leastFinalSeconds, finalSeconds);
}

bool Tuner::isToCompare(const TaskState &state) const {
  return isMeasured && state.failure.empty() && !state.leaders.empty() &&
         options.leaders > 0 &&
         (options.candidates != CandidateKind::Guided ||
          isWorthComparing(state));
}

void Tuner::dropComparisons() {
  size_t dropped = 0;
  for (TaskState &state : states) {
    if (state.isFinalBegun || state.isDone || !state.failure.empty())
      continue;
    dropped += isToCompare(state);
    state.isDone = true;
  }
  if (dropped)
    progress.say(std::string("note: the ") +
                 (isInterrupted ? "interrupt" : "budget") +
                 " left no time to compare the leaders of " +
                 std::to_string(dropped) + (dropped == 1 ? " task" : " tasks"));
}

void Tuner::reportUnfinished() {
  for (const Measurer &measurer : measurers) {
    std::string what;
    if (measurer.work)
      what = "measure " + describe(*measurer.work);
    else if (measurer.state == Measurer::Opening)
      what = "set up the arrays of " +
             states[measurer.task].task->text.description;
    else if (measurer.state == Measurer::Comparing)
      what = "compare the leaders of " +
             states[measurer.task].task->text.description;
    else if (measurer.state == Measurer::Starting)
      what = "start";
    if (!what.empty())
      progress.say("note: the run ended before a worker for " +
                   describeDevice(measurer) + " could " + what);
  }
  dropComparisons();
}

void Tuner::compareLeaders() {
  if (finalOrder.empty()) {
    finalOrder = orderForComparison(states);
    counts.toCompare = llvm::count_if(
        states, [&](const TaskState &state) { return isToCompare(state); });
  }
  if (end && getSecondsLeft() == 0)
    dropComparisons();
  for (size_t i : finalOrder) {
    TaskState &state = states[i];
    if (state.isFinalBegun || state.isDone || !state.failure.empty())
      continue;
    if (!isToCompare(state)) {
      state.isDone = true;
      continue;
    }
    for (Measurer &measurer : measurers) {
      if (!measurer.getChannel() || measurer.state != Measurer::Idle ||
          pool.isBusy(measurer.identity))
        continue;
      if (!measurer.open.count(i)) {
        // No other process has it open either, or the device will not be free.
        if (!pool.isOpenElsewhere(measurer, i))
          openTask(measurer, i);
        continue;
      }
      Message message =
          makeFinalRequest(state, options.leaders, getFinalSeconds());
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
  ++counts.compared;
  FinalAnswer answer = parseFinalAnswer(head, state.leaders.size());
  if (answer.hasClockMoved())
    progress.say("warning: " + state.task->text.description +
                 ": the device's clock moved from " +
                 std::to_string(answer.clockBefore) + " to " +
                 std::to_string(answer.clockAfter) +
                 " MHz during the final comparison");
  for (const FinalResult &result : answer.results) {
    Pending work;
    work.task = measurer.task;
    work.chosen = state.ownChoice;
    if (result.leader) {
      const TaskState::Leader &leader = state.leaders[*result.leader];
      work.schedule = leader.schedule;
      work.chosen = leader.chosen;
    }
    tuning::Record record =
        makeRecord(work, result.outcome, result.error, measurer.environment);
    record.times = result.times;
    TimeSummary summary = summarizeTimes(record.times);
    record.median = summary.median;
    record.low = summary.low;
    record.high = summary.high;
    TimeSummary warm = summarizeTimes(result.warmTimes);
    record.warmMedian = warm.median;
    record.warmLow = warm.low;
    record.warmHigh = warm.high;
    record.clockBefore = answer.clockBefore;
    record.clockAfter = answer.clockAfter;
    record.isFinal = true;
    if (state.isOwnWrong && result.outcome == Outcome::Measured)
      tuning::invalidate(record, state.failure);
    keeper.add(record);
    // Its earlier results do not count either.
    std::string why = "in the final comparison, " + result.error;
    if (result.outcome == Outcome::Wrong && !result.leader)
      giveUpWrong(measurer.task, measurer.environment,
                  "the compiler's own choice is wrong: " + why);
    else if (result.outcome == Outcome::Wrong)
      keeper.invalidate(record.task, measurer.environment, record.schedule,
                        why);
    if (record.outcome != Outcome::Measured || record.times.empty())
      continue;
    state.compared.push_back(record);
    if (!result.leader)
      state.own = record;
  }
  selectWinner(state);
  state.libraryError = answer.libraryError;
  if (answer.libraryTimes.empty())
    return;
  tuning::Baseline baseline;
  baseline.task = {state.task->text.key, chipTarget, options.compile.chip};
  baseline.environment = measurer.environment;
  baseline.library = answer.library;
  baseline.times = answer.libraryTimes;
  TimeSummary summary = summarizeTimes(answer.libraryTimes);
  baseline.median = summary.median;
  baseline.low = summary.low;
  baseline.high = summary.high;
  baseline.when = getTime();
  baseline.run = runNumber;
  keeper.add(baseline);
  state.baseline = baseline;
}
