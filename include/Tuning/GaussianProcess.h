//===- GaussianProcess.h - Regression that knows how sure it is -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_GAUSSIANPROCESS_H
#define TUNING_GAUSSIANPROCESS_H

#include <cstddef>
#include <utility>
#include <vector>

namespace mlir::tessera::tuning {

/// A Gaussian process whose mean is linear in one variable, with a kernel
/// Matern 5/2 of a length for each group of coordinates. Constant, slope and
/// variance are those of the greatest likelihood, lengths and noise the
/// likeliest of a few (Rasmussen and Williams, Gaussian Processes for Machine
/// Learning, algorithm 2.1, sections 2.7, 5.1 and 5.4.1). The work grows with
/// the cube of the number of points.
class GaussianProcess {
public:
  using Point = std::vector<double>;

  /// The group of each coordinate, from 0; without groups all coordinates form
  /// one group.
  explicit GaussianProcess(std::vector<size_t> groups = {})
      : groups(std::move(groups)) {}

  /// `trend` is the variable of the mean at each point; where it is the same
  /// everywhere the mean is a constant. Without points it is not fitted.
  void fit(std::vector<Point> atPoints, std::vector<double> values,
           std::vector<double> trend);
  bool isFitted() const { return !alpha.empty(); }

  struct Guess {
    double mean, deviation;
  };
  Guess predict(const Point &point, double trend) const;

private:
  /// The parameters of a likelihood.
  struct Parameters {
    /// The length of each group.
    std::vector<double> lengths;
    /// The noise, relative to the variance.
    double noise;
  };
  size_t countGroups() const;
  /// Adds the squares of the coordinates' differences to those of their groups.
  void addSquares(const Point &a, const Point &b, double *ofGroups) const;
  /// The kernel of two points with these squared distances per group.
  double getCorrelation(const double *ofGroups) const;
  /// The logarithm of the likelihood with these, but for a constant.
  double solve(const Parameters &with);

  std::vector<size_t> groups;
  std::vector<Point> points;
  /// `trends` are less their mean.
  std::vector<double> targets, trends;
  /// Squares, of each point from those before it, row by row, in each group.
  std::vector<double> distances;
  /// The Cholesky factor, row by row, and what it makes of the targets.
  std::vector<double> factor, alpha;
  double meanTrend = 0, constant = 0, slope = 0;
  double variance = 0;
  Parameters parameters;
  /// The scale of squared distances in each group.
  std::vector<double> scales;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_GAUSSIANPROCESS_H
