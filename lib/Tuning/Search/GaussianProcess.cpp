//===- GaussianProcess.cpp - Regression that knows how sure it is ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/GaussianProcess.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir::tessera::tuning;

/// Candidates: lengths of all groups with the first noise; the other noises;
/// for each group, twice and half the length.
static constexpr double lengths[] = {1, 2, 4, 8}, firstNoise = 0.01,
                        otherNoises[] = {0.001, 0.03, 0.1};
/// Lengths that differ from the usual one have a cost: the reduction of the log
/// likelihood for each coordinate of such a group.
static constexpr double usualLength = 2, unusualLoss = 0.2;

size_t GaussianProcess::countGroups() const {
  return groups.empty() ? 1 : *llvm::max_element(groups) + 1;
}

void GaussianProcess::addSquares(const Point &a, const Point &b,
                                 double *ofGroups) const {
  for (size_t i = 0; i < a.size(); ++i)
    ofGroups[groups.empty() ? 0 : groups[i]] += (a[i] - b[i]) * (a[i] - b[i]);
}

/// Sums of their own, since compilers keep the order of one.
static double multiply(const double *a, const double *b, size_t n) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (size_t k = 0; k < 4; ++k)
      sums[k] += a[i + k] * b[i + k];
  for (; i < n; ++i)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static double multiply(const std::vector<double> &a,
                       const std::vector<double> &b) {
  return multiply(a.data(), b.data(), a.size());
}

/// Solves with the lower triangle `factor`, in place.
static void solveForward(const std::vector<double> &factor,
                         std::vector<double> &v) {
  size_t n = v.size();
  for (size_t i = 0; i < n; ++i)
    v[i] = (v[i] - multiply(&factor[i * n], v.data(), i)) / factor[i * n + i];
}

double GaussianProcess::getCorrelation(const double *ofGroups) const {
  double r = std::sqrt(5 * multiply(ofGroups, scales.data(), scales.size()));
  return (1 + r + r * r / 3) * std::exp(-r);
}

double GaussianProcess::solve(const Parameters &with) {
  parameters = with;
  scales.clear();
  for (double length : parameters.lengths)
    scales.push_back(1 / (length * length));
  size_t n = points.size(), count = countGroups();
  factor.assign(n * n, 0);
  double logDeterminant = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 1 + parameters.noise
                          : getCorrelation(&distances[(i * n + j) * count]);
      sum -= multiply(&factor[i * n], &factor[j * n], j);
      if (i == j) {
        factor[i * n + i] = std::sqrt(std::max(sum, 1e-10));
        logDeterminant += std::log(factor[i * n + i]);
      } else {
        factor[i * n + j] = sum / factor[j * n + j];
      }
    }

  // Generalized least squares.
  std::vector<double> ones(n, 1), slopes = trends;
  alpha = targets;
  solveForward(factor, ones);
  solveForward(factor, slopes);
  solveForward(factor, alpha);
  double a = multiply(ones, ones), b = multiply(ones, slopes),
         c = multiply(slopes, slopes), u = multiply(ones, alpha),
         v = multiply(slopes, alpha), determinant = a * c - b * b;
  slope = determinant > 1e-9 * a * c ? (a * v - b * u) / determinant : 0;
  constant = (u - slope * b) / a;

  for (size_t i = 0; i < n; ++i)
    alpha[i] -= constant * ones[i] + slope * slopes[i];
  variance = std::max(1e-6, multiply(alpha, alpha) / static_cast<double>(n));
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k)
      alpha[i] -= factor[k * n + i] * alpha[k];
    alpha[i] /= factor[i * n + i];
  }
  return -0.5 * static_cast<double>(n) * std::log(variance) - logDeterminant;
}

void GaussianProcess::fit(std::vector<Point> atPoints,
                          std::vector<double> values,
                          std::vector<double> trend) {
  points = std::move(atPoints);
  targets = std::move(values);
  trends = std::move(trend);
  alpha.clear();
  if (points.empty())
    return;
  size_t n = points.size();
  meanTrend = std::accumulate(trends.begin(), trends.end(), 0.0) /
              static_cast<double>(n);
  for (double &one : trends)
    one -= meanTrend;
  size_t count = countGroups();
  distances.assign(n * n * count, 0);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j)
      addSquares(points[i], points[j], &distances[(i * n + j) * count]);
  std::vector<double> members(count, groups.empty() ? points[0].size() : 0);
  for (size_t group : groups)
    ++members[group];

  double best = -INFINITY;
  Parameters likeliest;
  auto attempt = [&](const Parameters &with) {
    double likelihood = solve(with);
    for (auto [group, length] : llvm::enumerate(with.lengths)) {
      double factor = std::log(length / usualLength);
      likelihood -= unusualLoss * members[group] * factor * factor;
    }
    if (likelihood <= best)
      return false;
    best = likelihood;
    likeliest = with;
    return true;
  };
  for (double length : lengths)
    attempt({std::vector<double>(count, length), firstNoise});
  Parameters next = likeliest;
  for (double noise : otherNoises) {
    next.noise = noise;
    attempt(next);
  }
  for (size_t group = 0; count > 1 && group < count; ++group)
    for (double factor : {2.0, 0.5}) {
      next = likeliest;
      next.lengths[group] *= factor;
      if (attempt(next))
        break;
    }
  solve(likeliest);
}

GaussianProcess::Guess GaussianProcess::predict(const Point &point,
                                                double trend) const {
  size_t n = points.size();
  std::vector<double> v(n), squares(countGroups());
  for (size_t i = 0; i < n; ++i) {
    llvm::fill(squares, 0);
    addSquares(point, points[i], squares.data());
    v[i] = getCorrelation(squares.data());
  }
  double mean = constant + slope * (trend - meanTrend) + multiply(v, alpha);
  solveForward(factor, v);
  return {mean, std::sqrt(variance * std::max(1e-8, 1 - multiply(v, v)))};
}
