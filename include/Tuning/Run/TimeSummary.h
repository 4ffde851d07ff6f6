//===- TimeSummary.h - Medians and how sure they are ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_TIMESUMMARY_H
#define TUNING_RUN_TIMESUMMARY_H

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::tuning {

struct TimeSummary {
  double median = 0, low = 0, high = 0;
};

/// The median, and the bounds of its 95 % confidence interval: order statistics
/// n/2 -+ 0.98 sqrt(n) (the normal approximation to the binomial distribution;
/// Hettmansperger and McKean, Robust Nonparametric Statistical Methods, section
/// 1.3), which supposes nothing of how the times are spread. For few times
/// these are the least and the greatest.
inline TimeSummary summarizeTimes(std::vector<double> times) {
  if (times.empty())
    return {};
  std::sort(times.begin(), times.end());
  auto n = static_cast<double>(times.size());
  auto at = [&](double position) {
    return times[static_cast<size_t>(std::clamp(position, 0.0, n - 1))];
  };
  size_t middle = times.size() / 2;
  double median = times.size() % 2 ? times[middle]
                                   : (times[middle - 1] + times[middle]) / 2;
  double reach = 0.98 * std::sqrt(n);
  return {median, at(std::floor(n / 2 - reach)), at(std::ceil(n / 2 + reach))};
}

} // namespace tessera::tuning

#endif // TUNING_RUN_TIMESUMMARY_H
