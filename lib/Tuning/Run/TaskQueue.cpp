//===- TaskQueue.cpp - The tasks of a run and their candidates ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/TaskQueue.h"

#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace tessera::tuning;

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

std::optional<Pending> TaskQueue::proposeFor(size_t index) {
  TaskState &state = states[index];
  Pending work;
  work.task = index;
  if (!state.isOwnBegun) {
    state.isOwnBegun = true;
  } else {
    // Its neighbours are among the first.
    if (state.ownChoice.empty())
      return std::nullopt;
    std::optional<Point> point;
    if (!state.hints.empty()) {
      point = state.hints.front();
      state.hints.pop_front();
    } else if (!options.replay) {
      point = state.source->propose();
    }
    if (!point)
      return std::nullopt;
    work.point = point;
    work.schedule = mlir::debugString(*point);
    work.expected = state.source->getExpected(*point);
  }
  work.id = nextId++;
  ++state.begun;
  ++state.inHand;
  ++made;
  return work;
}

/// The milliseconds of all tasks of each program, by the best times so far.
static std::map<size_t, double>
addUpPrograms(const std::vector<TaskState> &states) {
  std::map<size_t, double> times;
  for (const TaskState &state : states)
    for (auto [program, count] : state.task->uses)
      times[program] += count * state.source->getBest();
  return times;
}

/// A task's part of the time of its programs, each of which counts the same; 0
/// if it has no time yet.
static double getWeight(const TaskState &state,
                        const std::map<size_t, double> &programs) {
  double best = state.source->getBest();
  if (state.task->uses.empty())
    return state.task->count * best;
  double weight = 0;
  for (auto [program, count] : state.task->uses)
    if (double all = programs.at(program); all > 0)
      weight += count * best / all;
  return weight;
}

/// The order of tasks whose sources expect nothing of a candidate. The gain
/// that is expected of the n-th one falls with the square of n.
static double getGuidedRank(const TaskState &state, double weight) {
  auto begun = static_cast<double>(state.begun);
  // Tasks without a time come last.
  return weight > 0 ? weight / (begun * begun) : -begun;
}

std::optional<Pending> TaskQueue::propose(std::optional<size_t> mostWaiting) {
  if (!returned.empty()) {
    Pending work = std::move(returned.front());
    returned.pop_front();
    return work;
  }
  // As many in hand as keep everyone busy; more would be of yesterday.
  size_t waiting = 0;
  for (const TaskState &state : states)
    waiting += state.ready.size();
  if (mostWaiting && waiting >= *mostWaiting)
    return std::nullopt;
  std::map<size_t, double> programs = addUpPrograms(states);
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
    else if (options.candidates == CandidateKind::Guided)
      rank = getGuidedRank(
          state, options.weighByTime ? getWeight(state, programs) : 1);
    else if (state.begun < firstCandidates)
      rank = 1e6 - static_cast<double>(state.begun);
    else {
      double weight = options.weighByTime ? getWeight(state, programs) : 1;
      // Those in hand take from what is expected of the next one.
      rank = state.source->getExpectedGain() * weight /
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

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

void TaskQueue::addReady(Pending work) {
  std::deque<Pending> &ready = states[work.task].ready;
  if (work.point)
    ready.push_back(std::move(work));
  else
    ready.push_front(std::move(work));
}

std::optional<size_t>
TaskQueue::pick(const std::set<size_t> &open,
                llvm::function_ref<bool(size_t)> isOpenElsewhere) const {
  std::optional<size_t> best;
  auto rank = [&](size_t index) {
    const TaskState &state = states[index];
    bool isOwn = !state.ready.empty() && !state.ready.front().point;
    return std::make_tuple(isOwn, open.count(index), state.ready.size());
  };
  for (size_t i = 0; i < states.size(); ++i)
    if (!states[i].ready.empty() && !states[i].ownBundle.empty() &&
        (!best || rank(i) > rank(*best)) &&
        (open.count(i) || states[i].ready.size() > 1 || !isOpenElsewhere(i)))
      best = i;
  return best;
}

Pending TaskQueue::takeReady(size_t task) {
  Pending work = std::move(states[task].ready.front());
  states[task].ready.pop_front();
  return work;
}

//===----------------------------------------------------------------------===//
// Ending
//===----------------------------------------------------------------------===//

void TaskQueue::dropWaiting(bool keepsUnmeasured) {
  for (TaskState &state : states) {
    if (keepsUnmeasured && state.leaders.empty() && !state.ready.empty())
      continue;
    state.inHand -= state.ready.size();
    state.ready.clear();
  }
  for (const Pending &work : returned)
    --states[work.task].inHand;
  returned.clear();
}

bool TaskQueue::giveUp(size_t task, const std::string &why) {
  TaskState &state = states[task];
  if (!state.failure.empty())
    return false;
  state.failure = why;
  state.inHand -= state.ready.size();
  state.ready.clear();
  return true;
}

size_t TaskQueue::countInHand() const {
  size_t count = 0;
  for (const TaskState &state : states)
    count += state.inHand;
  return count;
}

bool TaskQueue::isOver() const {
  return llvm::all_of(states, [](const TaskState &state) {
    return state.isDone || !state.failure.empty();
  });
}
