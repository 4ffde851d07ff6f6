//===- Search.cpp - Which schedule to try next ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Search.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

using Point = ScheduleNumbers;

/// The first points are favourites of the machine model, neighbours of the
/// compiler's choice, and drawn at random: so many of each.
static constexpr size_t favourites = 14, neighbours = 12, drawn = 8;
/// The number of following points that are compared, and that are taken, before
/// their results are used.
static constexpr size_t looked = 600, taken = 12;
/// So many of the best are changed and crossed.
static constexpr size_t parents = 10;

TaskSearch::TaskSearch(const ScheduleSpace &space, const MachineModel &machine,
                       SearchOptions options)
    : space(space), machine(machine), options(options), random(options.seed) {}

void TaskSearch::setOwnChoice(ScheduleAttr schedule) {
  if (own)
    return;
  own = Point(schedule);
  // It is the first candidate as it is.
  skip(*own);
}

bool TaskSearch::isPromising(const Point &point) {
  double expected = machine.estimate(point);
  if (leastExpected == 0 || expected < leastExpected)
    leastExpected = expected;
  if (expected <= options.slowest * leastExpected)
    return true;
  ++pruned;
  return false;
}

bool TaskSearch::add(const Point &point) {
  if (!tried.insert(formatPoint(point)).second)
    return false;
  queue.push_back(point);
  return true;
}

void TaskSearch::begin() {
  isBegun = true;
  const std::vector<Point> &cores = space.getCores();
  if (cores.empty())
    return;
  std::vector<std::pair<double, Point>> ranked;
  for (const Point &core : cores)
    ranked.emplace_back(machine.estimate(core), core);
  llvm::stable_sort(
      ranked, [](const auto &a, const auto &b) { return a.first < b.first; });
  leastExpected = ranked.front().first;

  // All of a small space.
  std::vector<std::pair<double, Point>> whole;
  for (const auto &[expected, core] : ranked) {
    space.expand(core, options.exhaustive + 1 - whole.size(),
                 [&](const Point &point) {
                   whole.emplace_back(machine.estimate(point), point);
                 });
    if (whole.size() > options.exhaustive)
      break;
  }
  if (whole.size() <= options.exhaustive) {
    isWhole = true;
    llvm::stable_sort(
        whole, [](const auto &a, const auto &b) { return a.first < b.first; });
    for (const auto &[expected, point] : whole)
      if (isPromising(point))
        add(point);
    return;
  }

  std::vector<Point> first;
  // Favourites that differ: the best two with each tile.
  std::map<std::pair<int64_t, int64_t>, unsigned> ofTile;
  for (const auto &[expected, core] : ranked) {
    if (first.size() >= favourites)
      break;
    unsigned &count = ofTile[{core[ScheduleField::WorkgroupM],
                              core[ScheduleField::WorkgroupN]}];
    if (count++ < 2)
      first.push_back(core);
  }
  if (own)
    for (size_t i = 0; i < neighbours; ++i)
      first.push_back(space.mutate(*own, random));
  for (size_t i = 0, tries = 0; i < drawn && tries < 40 * drawn; ++tries) {
    Point point = space.draw(random);
    if (!isPromising(point))
      continue;
    first.push_back(point);
    ++i;
  }
  // By turns, so that none of the kinds waits for the others.
  std::shuffle(first.begin(), first.end(), random);
  for (const Point &point : first)
    add(point);
}

void TaskSearch::refill() {
  if (isWhole || space.getCores().empty())
    return;
  if (isStale) {
    std::vector<CostModel::Sample> all = samples;
    for (const Point &point : failures)
      all.push_back({point, 0, machine.estimate(point)});
    model.fit(std::move(all));
    isStale = false;
  }
  std::vector<const CostModel::Sample *> ranked;
  for (const CostModel::Sample &sample : samples)
    ranked.push_back(&sample);
  llvm::stable_sort(
      ranked, [](const auto *a, const auto *b) { return a->time < b->time; });
  if (ranked.size() > parents)
    ranked.resize(parents);
  std::vector<Point> choices;
  std::vector<CostModel::Guess> guesses;
  std::unordered_set<std::string> seen;
  auto look = [&](const Point &point) {
    std::string text = formatPoint(point);
    if (tried.count(text) || !seen.insert(text).second || !isPromising(point))
      return;
    choices.push_back(point);
    guesses.push_back(model.predict(point, machine.estimate(point)));
  };
  for (size_t i = 0; i < looked; ++i) {
    if (ranked.empty() || i % 6 == 0) {
      look(space.draw(random));
      continue;
    }
    const Point &parent = ranked[random() % ranked.size()]->point;
    if (i % 6 == 1)
      look(
          space.cross(parent, ranked[random() % ranked.size()]->point, random));
    else
      look(space.mutate(parent, random));
  }
  if (best > 0 && model.isFitted()) {
    gain = 0;
    for (const CostModel::Guess &guess : guesses)
      gain = std::max(gain, CostModel::getExpectedGain(guess, best));
  }
  for (size_t index : CostModel::choose(guesses, best, taken))
    add(choices[index]);
}

std::optional<Point> TaskSearch::propose() {
  if (!isBegun)
    begin();
  // New results are worth more than pending candidates.
  if (isStale && observed >= taken && !isWhole) {
    for (const Point &point : queue)
      tried.erase(formatPoint(point));
    queue.clear();
    observed = 0;
  }
  if (queue.empty())
    refill();
  if (queue.empty()) {
    gain = 0;
    return std::nullopt;
  }
  Point point = queue.front();
  queue.pop_front();
  return point;
}

void TaskSearch::observeOwnChoice(double time) {
  if (own)
    observe(*own, time);
}

void TaskSearch::observe(const Point &point, std::optional<double> time) {
  tried.insert(formatPoint(point));
  isStale = true;
  if (!time) {
    failures.push_back(point);
    if (samples.size() + failures.size() > favourites + neighbours)
      ++observed;
    return;
  }
  samples.push_back({point, *time, machine.estimate(point)});
  if (best == 0 || *time < best)
    best = *time;
  // The first points are tried as they are.
  if (samples.size() + failures.size() > favourites + neighbours)
    ++observed;
}

double TaskSearch::getExpectedGain() {
  if (isBegun && queue.empty() && isWhole)
    return 0;
  return gain;
}
