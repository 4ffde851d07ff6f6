//===- CandidateSource.cpp - Where a task's candidates come from ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/CandidateSource.h"

#include "Scheduling/RankSchedules.h"
#include "Scheduling/ScheduleModel.h"
#include "Scheduling/WindowTask.h"
#include "Tuning/WindowSpace.h"

#include <limits>
#include <unordered_set>

using namespace tessera::tuning;

/// The first candidates of a guided source, which are all the model's.
static constexpr size_t firstOfModel = 6;

using Numbers = mlir::tessera::ScheduleNumbers;

namespace {
/// A source of schedules of a space.
class SpaceSource : public CandidateSource {
public:
  SpaceSource(Task &task, const compiler::Chip &chip,
              const tuning::SpaceValues &values)
      : space(*task.program, chip, values, /*isEnumerated=*/false) {}

  bool isSchedule(const Point &point) const override {
    return mlir::isa<compiler::ScheduleAttr>(point);
  }
  bool isLegal(const Point &point) const override {
    return isSchedule(point) && space.isLegal(getNumbers(point));
  }

protected:
  static Numbers getNumbers(const Point &point) {
    return Numbers(mlir::cast<compiler::ScheduleAttr>(point));
  }
  std::optional<Point> getPoint(const std::optional<Numbers> &numbers) const {
    return numbers ? std::optional<Point>(space.getAttr(*numbers))
                   : std::nullopt;
  }

  tuning::ScheduleSpace space;
};

class SearchSource : public SpaceSource {
public:
  SearchSource(Task &task, const compiler::Chip &chip,
               const tuning::SpaceValues &values,
               const tuning::SearchOptions &options)
      : SpaceSource(task, chip, values), machine(task.getOp(), chip),
        search(space, machine, options) {}

  std::optional<Point> propose() override { return getPoint(search.propose()); }
  double getExpected(const Point &point) const override {
    return search.getExpected(getNumbers(point));
  }
  double getExpectedGain() override { return search.getExpectedGain(); }
  double getBest() const override { return search.getBest(); }
  size_t getPruned() const override { return search.getPruned(); }
  void observe(const Point &point, std::optional<double> time) override {
    search.observe(getNumbers(point), time);
  }
  void setOwnChoice(const Point &schedule) override {
    search.setOwnChoice(mlir::cast<compiler::ScheduleAttr>(schedule));
  }
  void observeOwnChoice(double time) override { search.observeOwnChoice(time); }
  void enumerate() override { space.enumerate(); }

private:
  tuning::MachineModel machine;
  tuning::TaskSearch search;
};

/// The schedules that the compiler's model compares.
class RankedSource : public SpaceSource {
public:
  RankedSource(Task &task, const compiler::Chip &chip,
               const tuning::SpaceValues &values, uint64_t seed, bool isGuided)
      : SpaceSource(task, chip, values), isGuided(isGuided), random(seed) {}

  void enumerate() override;
  std::optional<Point> propose() override { return getPoint(proposeAny()); }
  double getExpected(const Point &point) const override {
    return matmul ? estimate(getNumbers(point)) : 0;
  }
  /// Candidates are in no order by which a budget could be shared.
  double getExpectedGain() override { return 0; }
  double getBest() const override { return best; }
  size_t getPruned() const override { return 0; }
  void observe(const Point &point, std::optional<double> time) override {
    Numbers numbers = getNumbers(point);
    tried.insert(tuning::formatPoint(numbers));
    if (time && (best == 0 || *time < best)) {
      best = *time;
      fastest = numbers;
    }
  }
  void setOwnChoice(const Point &schedule) override {
    own = getNumbers(schedule);
    tried.insert(tuning::formatPoint(*own));
  }
  void observeOwnChoice(double time) override {
    if (best == 0 || time < best) {
      best = time;
      fastest = own;
    }
  }

private:
  std::optional<Numbers> proposeAny();
  std::optional<Numbers> proposeNext();
  std::optional<Numbers> proposeRandom();
  std::optional<Numbers> proposeChange();
  /// Milliseconds by the model.
  double estimate(const Numbers &point) const;
  bool take(const Numbers &point) {
    return !tried.count(tuning::formatPoint(point)) && space.isLegal(point) &&
           tried.insert(tuning::formatPoint(point)).second;
  }

  bool isGuided;
  std::mt19937_64 random;
  std::vector<compiler::RankedSchedule> ranked;
  /// The choices by rules, which come first.
  std::vector<Numbers> byRules;
  std::optional<compiler::ScheduledMatmul> matmul;
  std::unordered_set<std::string> tried;
  /// How many candidates have a tile, and instructions of groups or not.
  std::map<std::array<int64_t, 3>, unsigned> ofTile;
  size_t next = 0, proposed = 0;
  double best = 0;
  /// The one with the time `best`, and the compiler's own choice.
  std::optional<Numbers> fastest, own;
};

/// All schedules of a window.
class WindowSource : public CandidateSource {
public:
  WindowSource(Task &task, const compiler::Chip &chip)
      : space(*task.program, chip), left(space.getSchedules()) {}

  std::optional<Point> propose() override;
  bool isSchedule(const Point &point) const override {
    return mlir::isa<compiler::WindowScheduleAttr>(point);
  }
  bool isLegal(const Point &point) const override {
    auto schedule = mlir::dyn_cast<compiler::WindowScheduleAttr>(point);
    return schedule && space.isLegal(schedule);
  }
  /// No model estimates the time of a window.
  double getExpected(const Point &) const override { return 0; }
  double getExpectedGain() override {
    // As much as the remaining ones are of the space.
    return left.empty() ? 0
                        : static_cast<double>(left.size()) /
                              static_cast<double>(space.getSchedules().size());
  }
  double getBest() const override { return best; }
  size_t getPruned() const override { return 0; }
  void observe(const Point &point, std::optional<double> time) override {
    llvm::erase(left, point);
    if (!time || (best != 0 && *time >= best))
      return;
    best = *time;
    fastest = mlir::cast<compiler::WindowScheduleAttr>(point);
  }
  void setOwnChoice(const Point &schedule) override {
    own = mlir::cast<compiler::WindowScheduleAttr>(schedule);
    llvm::erase(left, schedule);
  }
  void observeOwnChoice(double time) override {
    if (own)
      observe(own, time);
    else if (best == 0 || time < best)
      best = time;
  }

private:
  tuning::WindowSpace space;
  std::vector<compiler::WindowScheduleAttr> left;
  double best = 0;
  /// The one with the time `best`, and the compiler's own choice.
  compiler::WindowScheduleAttr fastest, own;
};
} // namespace

std::optional<Point> WindowSource::propose() {
  if (left.empty())
    return std::nullopt;
  compiler::WindowScheduleAttr from = fastest ? fastest : own;
  auto next = left.begin();
  if (from)
    next = llvm::min_element(left, [&](auto a, auto b) {
      return tuning::getDistance(a, from) < tuning::getDistance(b, from);
    });
  Point point = *next;
  left.erase(next);
  return point;
}

void RankedSource::enumerate() {
  auto op = mlir::cast<compiler::ContractOp>(space.getOp());
  compiler::MatrixForm form = compiler::getMatrixForm(op);
  bool isGathered = form.gather[0] || form.gather[1];
  auto packed = isGathered || !space.getPackedOp()
                    ? op
                    : mlir::cast<compiler::ContractOp>(space.getPackedOp());
  matmul.emplace(op, space.getChip());
  ranked = compiler::rankSchedules(op, packed, space.getChip(),
                                   std::numeric_limits<size_t>::max());
  for (compiler::ContractOp one : {op, packed})
    if (compiler::ScheduleAttr schedule =
            compiler::getScheduleByRules(one, space.getChip()))
      byRules.push_back(Numbers(schedule));
}

double RankedSource::estimate(const Numbers &point) const {
  constexpr double nsOfMs = 1e6;
  const compiler::Chip &chip = space.getChip();
  return compiler::estimateTime(
             compiler::describeWork(*matmul, point.getFields(), chip),
             *chip.model.schedules)
             .time /
         nsOfMs;
}

/// The fastest by the model that differ from those before.
std::optional<Numbers> RankedSource::proposeNext() {
  constexpr unsigned mostOfTile = 2;
  for (; next < ranked.size(); ++next) {
    const compiler::ScheduleFields &fields = ranked[next].fields;
    unsigned &count = ofTile[{fields.workgroup[0], fields.workgroup[1],
                              fields.subgroupsPerFragment}];
    Numbers point(fields);
    if (count < mostOfTile && take(point)) {
      ++count;
      return point;
    }
  }
  return std::nullopt;
}

/// One at random that is not expected to be much slower than the best.
std::optional<Numbers> RankedSource::proposeRandom() {
  constexpr double slowest = 2.5;
  constexpr unsigned mostTries = 200;
  size_t count =
      llvm::partition_point(ranked,
                            [&](const auto &one) {
                              return one.time <= slowest * ranked.front().time;
                            }) -
      ranked.begin();
  // Half of them with instructions of groups, if there are any.
  bool wantsGroups = random() % 2;
  for (unsigned i = 0; i < mostTries && count > 0; ++i) {
    const compiler::ScheduleFields &fields = ranked[random() % count].fields;
    if (i < mostTries / 2 && (fields.subgroupsPerFragment > 1) != wantsGroups)
      continue;
    if (Numbers point(fields); take(point))
      return point;
  }
  return std::nullopt;
}

/// A change of the fastest one: the one that the model expects to be the
/// fastest among a few.
std::optional<Numbers> RankedSource::proposeChange() {
  constexpr unsigned changes = 4, mostTries = 40;
  if (!fastest)
    return proposeNext();
  std::optional<Numbers> chosen;
  double least = 0;
  unsigned found = 0;
  for (unsigned i = 0; i < mostTries && found < changes; ++i) {
    Numbers point = space.mutate(*fastest, random);
    if (tried.count(tuning::formatPoint(point)) || !space.isLegal(point))
      continue;
    ++found;
    double time = estimate(point);
    if (chosen && time >= least)
      continue;
    chosen = point;
    least = time;
  }
  if (chosen)
    tried.insert(tuning::formatPoint(*chosen));
  return chosen;
}

std::optional<Numbers> RankedSource::proposeAny() {
  while (!byRules.empty()) {
    Numbers point = byRules.back();
    byRules.pop_back();
    if (take(point))
      return point;
  }
  // Two of three are the model's.
  bool isOther = proposed % 3 == 2 && (!isGuided || proposed >= firstOfModel);
  ++proposed;
  auto proposeOther = [&] {
    return isGuided ? proposeChange() : proposeRandom();
  };
  std::optional<Numbers> point = isOther ? proposeOther() : proposeNext();
  if (!point)
    point = isOther ? proposeNext() : proposeOther();
  return point;
}

std::unique_ptr<CandidateSource>
tessera::tuning::makeCandidateSource(Task &task, const compiler::Chip &chip,
                                     const SpaceEditor &edit, uint64_t seed,
                                     CandidateKind kind) {
  if (compiler::getWindowOp(task.getOp()))
    return std::make_unique<WindowSource>(task, chip);
  tuning::SpaceValues values = tuning::getDefaultValues(task.getOp(), chip);
  edit(values);
  if (auto op = mlir::dyn_cast<compiler::ContractOp>(task.getOp());
      kind != CandidateKind::Search && op &&
      compiler::canRankSchedules(op, chip))
    return std::make_unique<RankedSource>(task, chip, values, seed,
                                          kind == CandidateKind::Guided);
  tuning::SearchOptions options;
  options.seed = seed;
  return std::make_unique<SearchSource>(task, chip, values, options);
}
