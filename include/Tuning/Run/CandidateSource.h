//===- CandidateSource.h - Where a task's candidates come from --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_CANDIDATESOURCE_H
#define TUNING_RUN_CANDIDATESOURCE_H

#include "Tuning/Run/RunOptions.h"
#include "Tuning/Run/TaskList.h"
#include "Tuning/Search.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tessera::tuning {

namespace tuning = mlir::tessera::tuning;

/// A candidate: its schedule, a ScheduleAttr or a WindowScheduleAttr in the
/// context of the task's program.
using Point = mlir::Attribute;

/// Narrows and widens the values of a task, as a configuration specifies.
using SpaceEditor = std::function<void(tuning::SpaceValues &)>;

/// The search for the schedules of one task.
class CandidateSource {
public:
  virtual ~CandidateSource() = default;

  /// Returns a point that was not proposed before, or nothing if all were.
  virtual std::optional<Point> propose() = 0;
  /// Whether it is the schedule of such a task, legal or not.
  virtual bool isSchedule(const Point &point) const = 0;
  virtual bool isLegal(const Point &point) const = 0;

  /// The milliseconds that a point is expected to take.
  virtual double getExpected(const Point &point) const = 0;
  /// By which part of the best time the next points are expected to lower it.
  virtual double getExpectedGain() = 0;
  /// The least time so far; 0 if there is none.
  virtual double getBest() const = 0;
  /// Points that were ruled out when they were drawn.
  virtual size_t getPruned() const = 0;

  /// Records the outcome of a point; a failure has no time.
  virtual void observe(const Point &point, std::optional<double> time) = 0;
  /// Records the compiler's own choice, and its time.
  virtual void setOwnChoice(const Point &schedule) = 0;
  virtual void observeOwnChoice(double time) = 0;

  /// Lists the points, which takes a while; sources of several tasks may do so
  /// at the same time.
  virtual void enumerate() {}
};

/// For a window, all of its schedules (`tuning::WindowSpace`), those next to
/// the compiler's own choice and to the fastest so far first. For other tasks
/// the source that searches the legal schedules for a chip
/// (`tuning::TaskSearch`), or the one of another kind, where the compiler's
/// model applies. Both others have, by turns, two of the fastest by the model
/// that differ and another one: `Ranked` one at random, `Guided`, after the
/// first few, a change of the fastest measured one. `task` must outlive it.
std::unique_ptr<CandidateSource>
makeCandidateSource(Task &task, const compiler::Chip &chip,
                    const SpaceEditor &edit, uint64_t seed,
                    CandidateKind kind = CandidateKind::Search);

} // namespace tessera::tuning

#endif // TUNING_RUN_CANDIDATESOURCE_H
