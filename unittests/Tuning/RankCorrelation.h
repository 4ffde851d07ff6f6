//===- RankCorrelation.h - Whether two lists have one order -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_TUNING_RANKCORRELATION_H
#define UNITTESTS_TUNING_RANKCORRELATION_H

#include <algorithm>
#include <numeric>
#include <vector>

namespace mlir::tessera::tuning {

/// The rank of each value; equal values are ranked by their position in the
/// list.
inline std::vector<double> getRanks(const std::vector<double> &values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size(); ++i)
    ranks[order[i]] = static_cast<double>(i);
  return ranks;
}

/// Spearman's coefficient.
inline double getRankCorrelation(const std::vector<double> &first,
                                 const std::vector<double> &second) {
  std::vector<double> a = getRanks(first), b = getRanks(second);
  double n = static_cast<double>(a.size()), sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return 1 - 6 * sum / (n * (n * n - 1));
}

} // namespace mlir::tessera::tuning

#endif // UNITTESTS_TUNING_RANKCORRELATION_H
