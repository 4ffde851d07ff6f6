//===- RankSchedules.h - Schedules in the order of their times --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_RANKSCHEDULES_H
#define SCHEDULING_RANKSCHEDULES_H

#include "Scheduling/ScheduleModel.h"

#include "mlir/IR/Block.h"
#include "mlir/Pass/AnalysisManager.h"

#include <deque>
#include <memory>
#include <vector>

namespace mlir::tessera {

/// A schedule with the time that the chip's model estimates, in nanoseconds.
struct RankedSchedule {
  ScheduleFields fields;
  double time = 0;
};

/// The schedules by single subgroups to which trees apply. By the rates alone,
/// the default of each of 1,992 measured tasks was among the fastest 1,200
/// (docs/benchmarks/compile-time.md).
inline constexpr size_t mostComparedBySubgroups = 2048;

/// Whether the model applies: matmuls and convolutions on a matrix unit with
/// static extents, without reductions of rows, on a chip whose rates were
/// fitted.
bool canRankSchedules(ContractOp op, const Chip &chip);

/// The schedules of `op` that are worth comparing, the fastest by the model
/// first. Not all of those by single subgroups are legal. `packed` is `op` with
/// operands that groups of subgroups can read; it may be the same. The chip's
/// rates alone select the `mostBySubgroups` schedules by single subgroups to
/// which the trees apply (`ScheduleRates::corrections`).
std::vector<RankedSchedule>
rankSchedules(ContractOp op, ContractOp packed, const Chip &chip,
              size_t mostBySubgroups = mostComparedBySubgroups);

/// The fastest schedules of the contractions of one function. Each ranking is
/// computed when a pass first needs it. Equal contractions, whatever their
/// operands are, have one ranking.
///
/// The passes that decide about copies of operands and those that choose
/// schedules share an object of this class as an analysis of the function.
/// Rankings depend on nothing that a pass could change: the object has its own
/// copies of the contractions. A pass that does not preserve the analysis
/// releases the memory.
class ScheduleRankings {
public:
  /// The schedules of either kind that a choice checks for legality at most.
  static constexpr size_t mostOfKind = 100;

  ScheduleRankings();
  /// The constructor of an analysis.
  explicit ScheduleRankings(Operation *);
  ScheduleRankings(const ScheduleRankings &) = delete;
  ScheduleRankings &operator=(const ScheduleRankings &) = delete;
  ~ScheduleRankings();

  /// The first `mostOfKind` schedules by single subgroups and the first
  /// `mostOfKind` by groups that `rankSchedules` lists for `op` and `packed`,
  /// in its order. Valid as long as this object.
  ArrayRef<RankedSchedule> rank(ContractOp op, ContractOp packed,
                                const Chip &chip);
  /// The same without copies of operands.
  ArrayRef<RankedSchedule> rank(ContractOp op, const Chip &chip) {
    return rank(op, op, chip);
  }

private:
  /// The parts of rankings that depend on one contraction.
  struct Contraction;
  /// A ranking, by the indices of `op` and `packed` in `contractions`.
  struct Ranking {
    size_t op, packed;
    std::vector<RankedSchedule> schedules;
  };

  size_t getIndex(ContractOp op, const Chip &chip);

  /// Has arguments in place of the operands of the copied contractions, which
  /// must not use values of the function.
  Block operands;
  std::vector<std::unique_ptr<Contraction>> contractions;
  std::deque<Ranking> rankings;
};

/// The legal schedule of `op` that takes least time by the model, if that is
/// less than for `base`, the choice by rules, by the margin that the chip has
/// for these types; otherwise `base`. `prediction` is that of
/// `getDefaultSchedule`.
ScheduleAttr improveSchedule(ContractOp op, const Chip &chip, ScheduleAttr base,
                             std::string *prediction,
                             ScheduleRankings &rankings);

} // namespace mlir::tessera

#endif // SCHEDULING_RANKSCHEDULES_H
