//===- GaussianProcess.cpp - Regression that knows how sure it is ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/GaussianProcess.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir::tessera::tuning;

/// What is tried: lengths with the first noise, then the other noises.
static constexpr double lengths[] = {1, 2, 4, 8}, firstNoise = 0.01,
                        otherNoises[] = {0.001, 0.03, 0.1};

static double getSquaredDistance(const std::vector<double> &a,
                                 const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

static double multiply(const std::vector<double> &a,
                       const std::vector<double> &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Solves with the lower triangle `factor`, in place.
static void solveForward(const std::vector<double> &factor,
                         std::vector<double> &v) {
  size_t n = v.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k)
      v[i] -= factor[i * n + k] * v[k];
    v[i] /= factor[i * n + i];
  }
}

double GaussianProcess::getCorrelation(double squaredDistance) const {
  double r = std::sqrt(5 * squaredDistance) / length;
  return (1 + r + r * r / 3) * std::exp(-r);
}

double GaussianProcess::solve(double withLength, double withNoise) {
  length = withLength;
  noise = withNoise;
  size_t n = points.size();
  factor.assign(n * n, 0);
  double logDeterminant = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 1 + noise : getCorrelation(distances[i * n + j]);
      for (size_t k = 0; k < j; ++k)
        sum -= factor[i * n + k] * factor[j * n + k];
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
  distances.assign(n * n, 0);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j)
      distances[i * n + j] = getSquaredDistance(points[i], points[j]);

  double best = -INFINITY, bestLength = lengths[0], bestNoise = firstNoise;
  auto attempt = [&](double withLength, double withNoise) {
    double likelihood = solve(withLength, withNoise);
    if (likelihood <= best)
      return;
    best = likelihood;
    bestLength = withLength;
    bestNoise = withNoise;
  };
  for (double candidate : lengths)
    attempt(candidate, firstNoise);
  double likeliest = bestLength;
  for (double candidate : otherNoises)
    attempt(likeliest, candidate);
  solve(bestLength, bestNoise);
}

GaussianProcess::Guess GaussianProcess::predict(const Point &point,
                                                double trend) const {
  size_t n = points.size();
  std::vector<double> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = getCorrelation(getSquaredDistance(point, points[i]));
  double mean = constant + slope * (trend - meanTrend) + multiply(v, alpha);
  solveForward(factor, v);
  return {mean, std::sqrt(variance * std::max(1e-8, 1 - multiply(v, v)))};
}
