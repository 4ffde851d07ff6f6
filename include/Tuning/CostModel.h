//===- CostModel.h - Cost model of schedules ----------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_COSTMODEL_H
#define TUNING_COSTMODEL_H

#include "Scheduling/ScheduleCheck.h"
#include "Tuning/GaussianProcess.h"

#include <vector>

namespace mlir::tessera::tuning {

/// Two Gaussian processes over the logarithms of a schedule's entries and of
/// the machine model's estimate: one of the logarithm of the time, whose mean
/// is linear in the estimate's, and one of whether there is a time at all. They
/// provide their own uncertainty, by which a budget is divided.
class CostModel {
public:
  struct Sample {
    ScheduleNumbers point;
    /// Milliseconds: measured, 0 for what failed, and by the machine's model.
    double time, expected;
  };

  /// If there are many samples, the fastest and the latest are used. Times are
  /// capped at twice the least time: the exact time of a slow schedule is
  /// irrelevant.
  void fit(std::vector<Sample> samples);
  bool isFitted() const { return times.isFitted(); }

  struct Guess {
    /// Mean and standard deviation of the logarithm of the time.
    double mean, deviation;
    /// The probability that there is one.
    double success;
    /// The sort key of candidates: the mean, where a failure counts as twice
    /// the time.
    double getRank() const;
  };
  Guess predict(const ScheduleNumbers &point, double expected) const;

  /// By how much, as a part of `best`, the time of a point is expected to be
  /// below it (expected improvement). `guess` is the point's.
  static double getExpectedGain(const Guess &guess, double best);

  /// Which `count` points to try next, by their guesses: by turns those that
  /// are expected to be the fastest, and those that most may be gained by;
  /// points that are likely to fail follow all others. `best` is the least time
  /// so far, 0 if there is none.
  static std::vector<size_t> choose(llvm::ArrayRef<Guess> guesses, double best,
                                    size_t count);

  /// The features of a point; the estimate comes last.
  static std::vector<double> getFeatures(const ScheduleNumbers &point,
                                         double expected);

private:
  GaussianProcess times, successes;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_COSTMODEL_H
