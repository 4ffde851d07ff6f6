//===- Search.h - Which schedule to try next --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_SEARCH_H
#define TUNING_SEARCH_H

#include "Tuning/CostModel.h"
#include "Tuning/MachineModel.h"
#include "Tuning/ScheduleSpace.h"

#include <deque>
#include <optional>
#include <unordered_set>

namespace mlir::tessera::tuning {

struct SearchOptions {
  uint64_t seed = 1;
  /// Points that the machine's model expects to take so many times the best one
  /// are left out.
  double slowest = 4;
  /// A space of no more points is gone through as a whole.
  size_t exhaustive = 200;
};

/// The search for one task. Small spaces are searched exhaustively, the most
/// promising points first. In large spaces, the first points come from the
/// machine's model, the neighbourhood of the compiler's own choice, and chance;
/// the following ones are changes to and crossings of the best so far, and the
/// model's favourites, of which those are taken that the cost model expects to
/// gain most by.
class TaskSearch {
public:
  TaskSearch(const ScheduleSpace &space, const MachineModel &machine,
             SearchOptions options);

  /// The compiler's own choice, once it is known.
  void setOwnChoice(ScheduleAttr schedule);

  /// A legal point that was not proposed before; none when there is no other.
  std::optional<ScheduleNumbers> propose();

  /// Records the outcome of a point; a failure has no time.
  void observe(const ScheduleNumbers &point, std::optional<double> time);
  /// The time of what the compiler chooses by itself.
  void observeOwnChoice(double time);
  /// A point that need not be tried again, which is not known by a time.
  void skip(const ScheduleNumbers &point) { tried.insert(formatPoint(point)); }

  /// By how much, as a part of the best time, the next points are expected to
  /// lower it; 1 while little is known.
  double getExpectedGain();

  /// The least time so far, in milliseconds; 0 if there is none.
  double getBest() const { return best; }
  double getExpected(const ScheduleNumbers &point) const {
    return machine.estimate(point);
  }
  /// Points that the machine's model ruled out when they were drawn.
  size_t getPruned() const { return pruned; }

private:
  void begin();
  void refill();
  bool add(const ScheduleNumbers &point);
  /// Whether the machine's model has hope for it.
  bool isPromising(const ScheduleNumbers &point);

  const ScheduleSpace &space;
  const MachineModel &machine;
  SearchOptions options;
  std::mt19937_64 random;
  CostModel model;
  bool isBegun = false, isWhole = false, isStale = false;
  size_t pruned = 0, observed = 0;
  /// The least estimate of all visited points.
  double leastExpected = 0;
  std::deque<ScheduleNumbers> queue;
  std::unordered_set<std::string> tried;
  std::optional<ScheduleNumbers> own;
  std::vector<CostModel::Sample> samples;
  std::vector<ScheduleNumbers> failures;
  double best = 0, gain = 1;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_SEARCH_H
