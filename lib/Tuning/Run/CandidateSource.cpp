//===- CandidateSource.cpp - Where a task's candidates come from ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/CandidateSource.h"

#include "Scheduling/RankSchedules.h"
#include "Scheduling/ScheduleModel.h"

#include "llvm/Support/raw_ostream.h"

#include <unordered_set>

using namespace tessera::tuning;

/// The first candidates of a guided source, which are all the model's.
static constexpr size_t firstOfModel = 6;

namespace {
/// A source of schedules of a space.
class SpaceSource : public CandidateSource {
public:
  SpaceSource(Task &task, const compiler::Chip &chip,
              const tuning::SpaceValues &values)
      : space(*task.program, chip, values, /*isEnumerated=*/false) {}

  std::string format(const Point &point) override {
    std::string text;
    llvm::raw_string_ostream(text) << mlir::Attribute(space.getAttr(point));
    return text;
  }
  bool isLegal(const Point &point) const override {
    return space.isLegal(point);
  }

protected:
  tuning::ScheduleSpace space;
};

class SearchSource : public SpaceSource {
public:
  SearchSource(Task &task, const compiler::Chip &chip,
               const tuning::SpaceValues &values,
               const tuning::SearchOptions &options)
      : SpaceSource(task, chip, values), machine(task.getOp(), chip),
        search(space, machine, options) {}

  std::optional<Point> propose() override { return search.propose(); }
  double getExpected(const Point &point) const override {
    return search.getExpected(point);
  }
  double getExpectedGain() override { return search.getExpectedGain(); }
  double getBest() const override { return search.getBest(); }
  size_t getPruned() const override { return search.getPruned(); }
  void observe(const Point &point, std::optional<double> time) override {
    search.observe(point, time);
  }
  void setOwnChoice(compiler::ScheduleAttr schedule) override {
    search.setOwnChoice(schedule);
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
  std::optional<Point> propose() override;
  double getExpected(const Point &point) const override {
    return matmul ? estimate(point) : 0;
  }
  /// Candidates are in no order by which a budget could be shared.
  double getExpectedGain() override { return 0; }
  double getBest() const override { return best; }
  size_t getPruned() const override { return 0; }
  void observe(const Point &point, std::optional<double> time) override {
    tried.insert(tuning::formatPoint(point));
    if (time && (best == 0 || *time < best)) {
      best = *time;
      fastest = point;
    }
  }
  void setOwnChoice(compiler::ScheduleAttr schedule) override {
    own = Point(schedule);
    tried.insert(tuning::formatPoint(*own));
  }
  void observeOwnChoice(double time) override {
    if (best == 0 || time < best) {
      best = time;
      fastest = own;
    }
  }

private:
  std::optional<Point> proposeNext();
  std::optional<Point> proposeRandom();
  std::optional<Point> proposeChange();
  /// Milliseconds by the model.
  double estimate(const Point &point) const;
  bool take(const Point &point) {
    return !tried.count(tuning::formatPoint(point)) && space.isLegal(point) &&
           tried.insert(tuning::formatPoint(point)).second;
  }

  bool isGuided;
  std::mt19937_64 random;
  std::vector<compiler::RankedSchedule> ranked;
  /// The choices by rules, which come first.
  std::vector<Point> byRules;
  std::optional<compiler::ScheduledMatmul> matmul;
  std::unordered_set<std::string> tried;
  /// How many candidates have a tile, and instructions of groups or not.
  std::map<std::array<int64_t, 3>, unsigned> ofTile;
  size_t next = 0, proposed = 0;
  double best = 0;
  /// The one with the time `best`, and the compiler's own choice.
  std::optional<Point> fastest, own;
};
} // namespace

void RankedSource::enumerate() {
  auto op = mlir::cast<compiler::ContractOp>(space.getOp());
  compiler::MatrixForm form = compiler::getMatrixForm(op);
  bool isGathered = form.gather[0] || form.gather[1];
  auto packed = isGathered || !space.getPackedOp()
                    ? op
                    : mlir::cast<compiler::ContractOp>(space.getPackedOp());
  matmul.emplace(op, space.getChip());
  ranked = compiler::rankSchedules(op, packed, space.getChip());
  for (compiler::ContractOp one : {op, packed})
    if (compiler::ScheduleAttr schedule =
            compiler::getScheduleByRules(one, space.getChip()))
      byRules.push_back(Point(schedule));
}

double RankedSource::estimate(const Point &point) const {
  constexpr double nsOfMs = 1e6;
  const compiler::Chip &chip = space.getChip();
  return compiler::estimateTime(
             compiler::describeWork(*matmul, point.getFields(), chip),
             *chip.model.schedules)
             .time /
         nsOfMs;
}

/// The fastest by the model that differ from those before.
std::optional<Point> RankedSource::proposeNext() {
  constexpr unsigned mostOfTile = 2;
  for (; next < ranked.size(); ++next) {
    const compiler::ScheduleFields &fields = ranked[next].fields;
    unsigned &count = ofTile[{fields.workgroup[0], fields.workgroup[1],
                              fields.subgroupsPerFragment}];
    Point point(fields);
    if (count < mostOfTile && take(point)) {
      ++count;
      return point;
    }
  }
  return std::nullopt;
}

/// One at random that is not expected to be much slower than the best.
std::optional<Point> RankedSource::proposeRandom() {
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
    if (Point point(fields); take(point))
      return point;
  }
  return std::nullopt;
}

/// A change of the fastest one: the one that the model expects to be the
/// fastest among a few.
std::optional<Point> RankedSource::proposeChange() {
  constexpr unsigned changes = 4, mostTries = 40;
  if (!fastest)
    return proposeNext();
  std::optional<Point> chosen;
  double least = 0;
  unsigned found = 0;
  for (unsigned i = 0; i < mostTries && found < changes; ++i) {
    Point point = space.mutate(*fastest, random);
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

std::optional<Point> RankedSource::propose() {
  while (!byRules.empty()) {
    Point point = byRules.back();
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
  std::optional<Point> point = isOther ? proposeOther() : proposeNext();
  if (!point)
    point = isOther ? proposeNext() : proposeOther();
  return point;
}

std::unique_ptr<CandidateSource>
tessera::tuning::makeCandidateSource(Task &task, const compiler::Chip &chip,
                                     const SpaceEditor &edit, uint64_t seed,
                                     CandidateKind kind) {
  tuning::SpaceValues values = tuning::getDefaultValues(task.getOp(), chip);
  edit(values);
  if (auto op = mlir::dyn_cast<compiler::ContractOp>(task.getOp());
      kind != CandidateKind::Search && op &&
      compiler::canRankSchedules(op, chip, /*withProducers=*/kind ==
                                               CandidateKind::Guided))
    return std::make_unique<RankedSource>(task, chip, values, seed,
                                          kind == CandidateKind::Guided);
  tuning::SearchOptions options;
  options.seed = seed;
  return std::make_unique<SearchSource>(task, chip, values, options);
}
