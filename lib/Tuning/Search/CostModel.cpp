//===- CostModel.cpp - Cost model of schedules ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/CostModel.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

using Field = ScheduleField;

static constexpr size_t mostSamples = 400;
/// Times above this multiple of the least time are clamped to it. It is not
/// timed with care either (`Outcome::Slow`).
static constexpr double slowTimes = 2;
/// The index of the estimate's feature.
static constexpr double estimateWeight = 2;
/// Nothing is given up for good.
static constexpr double leastSuccess = 0.02;

namespace {

/// A number of a schedule as a feature: the logarithm of one more, or a flag or
/// an enum as it is, multiplied by the weight. The features of a group have the
/// same part in the time.
struct Feature {
  Field field;
  double weight;
  enum Group : size_t {
    Workgroup,
    Subgroup,
    Step,
    Fragment,
    Order,
    Cluster,
    Split,
    Memory,
    Estimate,
    Other
  } group;
  bool isFlag = false;
};

} // namespace

static constexpr Feature knownFeatures[] = {
    {Field::WorkgroupM, 1, Feature::Workgroup},
    {Field::WorkgroupN, 1, Feature::Workgroup},
    {Field::SubgroupM, 1, Feature::Subgroup},
    {Field::SubgroupN, 1, Feature::Subgroup},
    {Field::SplitK, 1, Feature::Split},
    {Field::Batches, 1, Feature::Subgroup},
    {Field::SubgroupBatches, 1, Feature::Subgroup},
    {Field::VthreadM, 1, Feature::Fragment},
    {Field::VthreadN, 1, Feature::Fragment},
    {Field::K, 0.8, Feature::Step},
    {Field::KFragment, 0.5, Feature::Fragment},
    {Field::Stages, 1, Feature::Step},
    {Field::Interleave, 0.5, Feature::Fragment},
    {Field::Raster, 0.2, Feature::Order},
    {Field::Persistent, 0.12, Feature::Order},
    {Field::SubgroupsPerFragment, 1, Feature::Subgroup},
    {Field::ClusterM, 0.6, Feature::Cluster},
    {Field::ClusterN, 0.6, Feature::Cluster},
    {Field::Swizzle, 0.8, Feature::Memory, true},
    {Field::StageOutput, 0.8, Feature::Memory, true},
    {Field::SplitKReduction, 0.8, Feature::Split, true}};

/// The known features, and one for each other field.
static std::vector<Feature> makeFeatures() {
  std::vector<Feature> features(std::begin(knownFeatures),
                                std::end(knownFeatures));
  auto isKnown = [](Field field) {
    return llvm::any_of(knownFeatures, [&](const Feature &feature) {
      return feature.field == field;
    });
  };
  for (size_t i = 0; i < ScheduleNumbers::size; ++i)
    if (auto field = static_cast<Field>(i); !isKnown(field)) {
      using Kind = ScheduleFieldInfo::Kind;
      Kind kind = getScheduleField(field).kind;
      features.push_back({field, 0.8, Feature::Other,
                          kind == Kind::Flag || kind == Kind::Enum});
    }
  return features;
}

static const std::vector<Feature> &getFieldFeatures() {
  static const std::vector<Feature> features = makeFeatures();
  return features;
}

std::vector<double> CostModel::getFeatures(const ScheduleNumbers &point,
                                           double expected) {
  std::vector<double> features;
  for (const Feature &feature : getFieldFeatures()) {
    auto value = static_cast<double>(point[feature.field]);
    features.push_back(feature.weight *
                       (feature.isFlag ? value : std::log2(1 + value)));
  }
  features.push_back(estimateWeight * std::log(expected));
  return features;
}

static std::vector<size_t> getGroups() {
  std::vector<size_t> groups;
  for (const Feature &feature : getFieldFeatures())
    groups.push_back(feature.group);
  groups.push_back(Feature::Estimate);
  return groups;
}

void CostModel::fit(std::vector<Sample> samples) {
  if (samples.size() > mostSamples) {
    // Half of them are the fastest, the others the latest.
    std::vector<size_t> order(samples.size());
    std::iota(order.begin(), order.end(), 0);
    auto getTime = [&](size_t index) {
      double time = samples[index].time;
      return time > 0 ? time : INFINITY;
    };
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::pair(getTime(a), a) < std::pair(getTime(b), b);
    });
    std::vector<bool> isKept(samples.size());
    size_t kept = 0;
    for (; kept < mostSamples / 2; ++kept)
      isKept[order[kept]] = true;
    for (size_t i = samples.size(); i-- > 0 && kept < mostSamples;)
      if (!isKept[i]) {
        isKept[i] = true;
        ++kept;
      }
    std::vector<Sample> few;
    for (size_t i = 0; i < samples.size(); ++i)
      if (isKept[i])
        few.push_back(samples[i]);
    samples = std::move(few);
  }
  double least = INFINITY;
  for (const Sample &sample : samples)
    if (sample.time > 0)
      least = std::min(least, sample.time);

  std::vector<std::vector<double>> all, timed;
  std::vector<double> isTimed, logTimes, logEstimates;
  for (const Sample &sample : samples) {
    all.push_back(getFeatures(sample.point, sample.expected));
    isTimed.push_back(sample.time > 0);
    if (sample.time == 0)
      continue;
    timed.push_back(all.back());
    logTimes.push_back(std::log(std::min(sample.time, slowTimes * least)));
    logEstimates.push_back(std::log(sample.expected));
  }
  times = GaussianProcess(getGroups());
  successes = GaussianProcess(getGroups());
  if (timed.size() < 4)
    return;
  // Where all went well there is nothing to be learnt.
  if (timed.size() < all.size())
    successes.fit(std::move(all), std::move(isTimed),
                  std::vector<double>(samples.size()));
  times.fit(std::move(timed), std::move(logTimes), std::move(logEstimates));
}

CostModel::Guess CostModel::predict(const ScheduleNumbers &point,
                                    double expected) const {
  if (!isFitted())
    return {std::log(expected), 1, 1};
  std::vector<double> features = getFeatures(point, expected);
  GaussianProcess::Guess time = times.predict(features, std::log(expected));
  double success = 1;
  if (successes.isFitted())
    success =
        std::clamp(successes.predict(features, 0).mean, leastSuccess, 1.0);
  return {time.mean, time.deviation, success};
}

double CostModel::Guess::getRank() const {
  return mean + (1 - success) * std::log(slowTimes);
}

double CostModel::getExpectedGain(const Guess &guess, double best) {
  double gap = std::log(best) - guess.mean;
  double z = gap / guess.deviation;
  double density = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI);
  double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return guess.success * (gap * below + guess.deviation * density);
}

std::vector<size_t> CostModel::choose(llvm::ArrayRef<Guess> guesses,
                                      double best, size_t count) {
  std::vector<std::tuple<bool, double, size_t>> fastest, gainful;
  for (auto [index, guess] : llvm::enumerate(guesses)) {
    bool isLikelyToFail = guess.success < 0.5;
    double rank = guess.getRank();
    fastest.emplace_back(isLikelyToFail, rank, index);
    gainful.emplace_back(
        isLikelyToFail, best > 0 ? -getExpectedGain(guess, best) : rank, index);
  }
  llvm::sort(fastest);
  llvm::sort(gainful);
  std::vector<size_t> chosen;
  auto choose = [&](size_t index) {
    if (chosen.size() < count && !llvm::is_contained(chosen, index))
      chosen.push_back(index);
  };
  for (size_t i = 0; i < guesses.size() && chosen.size() < count; ++i) {
    if (i < count / 2)
      choose(std::get<2>(fastest[i]));
    choose(std::get<2>(gainful[i]));
  }
  return chosen;
}
