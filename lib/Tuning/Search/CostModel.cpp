//===- CostModel.cpp - What measurements say of other schedules -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/CostModel.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

using Entry = ScheduleEntry;

/// The work grows with its cube.
static constexpr size_t mostSamples = 400;
/// What a candidate counts as that failed, as a multiple of the best time.
static constexpr double failedTimes = 4;

CostModel::Features CostModel::getFeatures(const ScheduleNumbers &point) {
  Features features;
  auto log = [&](Entry entry, double weight) {
    features.push_back(weight *
                       std::log2(1 + static_cast<double>(point[entry])));
  };
  for (Entry entry : {Entry::WorkgroupM, Entry::WorkgroupN, Entry::SubgroupM,
                      Entry::SubgroupN, Entry::SplitK, Entry::Batches,
                      Entry::SubgroupBatches, Entry::VThreadM, Entry::VThreadN})
    log(entry, 1);
  log(Entry::K, 0.8);
  log(Entry::KFragment, 0.5);
  log(Entry::Stages, 1);
  log(Entry::Interleave, 0.5);
  log(Entry::Raster, 0.2);
  log(Entry::Persistent, 0.12);
  log(Entry::Group, 1);
  log(Entry::ClusterM, 0.6);
  log(Entry::ClusterN, 0.6);
  for (Entry entry :
       {Entry::Swizzle, Entry::StageOutput, Entry::SplitKReduction})
    features.push_back(0.8 * static_cast<double>(point[entry]));
  return features;
}

double CostModel::getCovariance(const Features &a, const Features &b) const {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  double r = std::sqrt(5 * sum) / length;
  return variance * (1 + r + r * r / 3) * std::exp(-r);
}

double CostModel::solve() {
  size_t n = features.size();
  factor.assign(n * n, 0);
  double logDeterminant = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = getCovariance(features[i], features[j]);
      if (i == j)
        sum += noise;
      for (size_t k = 0; k < j; ++k)
        sum -= factor[i * n + k] * factor[j * n + k];
      if (i == j) {
        factor[i * n + i] = std::sqrt(std::max(sum, 1e-10));
        logDeterminant += std::log(factor[i * n + i]);
      } else {
        factor[i * n + j] = sum / factor[j * n + j];
      }
    }
  alpha = targets;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k)
      alpha[i] -= factor[i * n + k] * alpha[k];
    alpha[i] /= factor[i * n + i];
  }
  double fit = 0;
  for (double value : alpha)
    fit += value * value;
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k)
      alpha[i] -= factor[k * n + i] * alpha[k];
    alpha[i] /= factor[i * n + i];
  }
  return -0.5 * fit - logDeterminant;
}

void CostModel::fit(std::vector<Sample> samples) {
  double least = INFINITY;
  for (const Sample &sample : samples)
    if (sample.time > 0)
      least = std::min(least, sample.time);
  for (Sample &sample : samples)
    if (sample.time == 0)
      sample.time = failedTimes * least;
  if (samples.size() > mostSamples) {
    // Half of them are the fastest, the others the latest.
    std::vector<size_t> order(samples.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t a, size_t b) {
      return samples[a].time < samples[b].time;
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
  features.clear();
  targets.clear();
  alpha.clear();
  if (samples.size() < 4 || !std::isfinite(least))
    return;
  for (const Sample &sample : samples) {
    features.push_back(getFeatures(sample.point));
    targets.push_back(std::log(sample.time) - std::log(sample.expected));
  }
  mean = std::accumulate(targets.begin(), targets.end(), 0.0) /
         static_cast<double>(targets.size());
  double spread = 0;
  for (double &target : targets) {
    target -= mean;
    spread += target * target;
  }
  variance = std::max(0.01, spread / static_cast<double>(targets.size()));
  double best = -INFINITY, bestLength = 2;
  for (double candidate : {1.0, 2.0, 4.0}) {
    length = candidate;
    if (double likelihood = solve(); likelihood > best) {
      best = likelihood;
      bestLength = candidate;
    }
  }
  length = bestLength;
  solve();
}

CostModel::Guess CostModel::predict(const ScheduleNumbers &point,
                                    double expected) const {
  if (!isFitted())
    return {std::log(expected), 1};
  Features own = getFeatures(point);
  size_t n = features.size();
  std::vector<double> v(n);
  double guess = 0;
  for (size_t i = 0; i < n; ++i) {
    v[i] = getCovariance(own, features[i]);
    guess += v[i] * alpha[i];
  }
  double explained = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k)
      v[i] -= factor[i * n + k] * v[k];
    v[i] /= factor[i * n + i];
    explained += v[i] * v[i];
  }
  return {std::log(expected) + mean + guess,
          std::sqrt(std::max(1e-8, variance - explained))};
}

double CostModel::getExpectedGain(const ScheduleNumbers &point, double expected,
                                  double best) const {
  Guess guess = predict(point, expected);
  double gap = std::log(best) - guess.mean;
  double z = gap / guess.deviation;
  double density = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI);
  double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return gap * below + guess.deviation * density;
}
