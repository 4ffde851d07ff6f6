//===- CostModel.h - What measurements say of other schedules ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_COSTMODEL_H
#define TUNING_COSTMODEL_H

#include "Dialect/Tessera/Transforms/ScheduleCheck.h"

#include <vector>

namespace mlir::tessera::tuning {

/// A Gaussian process over the logarithm of the time, whose mean is the
/// machine's model and a constant: kernel Matern 5/2 over the logarithms of the
/// entries, with a length for each of a few groups of entries that is fitted by
/// the likelihood (Rasmussen and Williams, Gaussian Processes for Machine
/// Learning, algorithm 2.1 and section 5.4.1). It says how sure it is, which is
/// what a budget is divided by.
class CostModel {
public:
  struct Sample {
    ScheduleNumbers point;
    /// Milliseconds: measured, 0 for what failed, and by the machine's model.
    double time, expected;
  };

  /// Of many samples the fastest and the latest are used. What failed counts as
  /// slow: where one has failed others will.
  void fit(std::vector<Sample> samples);
  bool isFitted() const { return !alpha.empty(); }

  /// Mean and standard deviation of the logarithm of the time.
  struct Guess {
    double mean, deviation;
  };
  Guess predict(const ScheduleNumbers &point, double expected) const;

  /// By how much, as a part of `best`, the time of a point is expected to be
  /// below it (expected improvement).
  double getExpectedGain(const ScheduleNumbers &point, double expected,
                         double best) const;

  /// What is seen of a point.
  using Features = std::vector<double>;
  static Features getFeatures(const ScheduleNumbers &point);

private:
  double getCovariance(const Features &a, const Features &b) const;
  /// Gives the logarithm of the marginal likelihood.
  double solve();

  std::vector<Features> features;
  std::vector<double> targets, alpha, factor;
  double mean = 0, variance = 0.1, noise = 0.0025, length = 2;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_COSTMODEL_H
