//===- RankSchedules.h - Schedules in the order of their times --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_RANKSCHEDULES_H
#define SCHEDULING_RANKSCHEDULES_H

#include "Scheduling/ScheduleModel.h"

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

/// The legal schedule of `op` that takes least time by the model, if that is
/// less than for `base`, the choice by rules, by the margin that the chip has
/// for these types; otherwise `base`. `prediction` is that of
/// `getDefaultSchedule`.
ScheduleAttr improveSchedule(ContractOp op, const Chip &chip, ScheduleAttr base,
                             std::string *prediction);

} // namespace mlir::tessera

#endif // SCHEDULING_RANKSCHEDULES_H
