//===- Schedule.h - Choosing and checking schedules -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_SCHEDULE_H
#define SCHEDULING_SCHEDULE_H

#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "TargetInfo/Chip.h"

namespace mlir::tessera {

class ScheduleRankings;

/// The most workgroups that a grid may have along y and z on every target.
inline constexpr int64_t maxGridYZ = 65535;

/// The shape and padding of the staged tiles of one contraction.
struct StagedTiles {
  /// The rows and columns in memory order, without padding.
  std::array<int64_t, 2> a, b;
  /// The number of elements added to each row.
  int64_t aPadding, bPadding;
  /// The size of all stages of both tiles, in bytes. 0 if nothing is staged.
  int64_t bytes;
  /// The size of the output's tile, in bytes. 0 if it is not staged in
  /// workgroup memory.
  int64_t outputBytes = 0;
};

/// The facts of a contraction that decide about its staged tiles.
struct StagedLayout {
  StagedLayout(ContractOp op, const MatrixForm &form);

  /// The tiles that a schedule with `fields` stages on `chip`.
  StagedTiles getTiles(const ScheduleFields &fields, const Chip &chip) const;

  /// Whether lhs and rhs are column-major in memory.
  std::array<bool, 2> isTransposed;
  /// The bits of an element of lhs and rhs, of the output, and of a sum.
  std::array<int64_t, 2> operandBits;
  int64_t outputBits, sumBits;
};

/// The tiles that a schedule stages for `op` in its matrix form, on `chip`.
StagedTiles getStagedTiles(ContractOp op, const MatrixForm &form,
                           const ScheduleFields &fields, const Chip &chip);
StagedTiles getStagedTiles(ContractOp op, const MatrixForm &form,
                           ScheduleAttr schedule, const Chip &chip);

/// The numbers of parts of K that schedules are compared with.
inline constexpr int64_t partsOfK[] = {1,  2,  3,  4,  6,  8,
                                       12, 16, 24, 32, 48, 64};

/// The default schedule of `op` on `chip`: the chip's default tiling for its
/// types, halved if the extents are known to be small or the tiles exceed the
/// workgroup memory. It uses a matrix unit if the chip has one for the types.
/// If the epilogue reduces along N, tiles hold whole rows if possible.
/// `prediction`, if given, receives the time that the chip's model predicts,
/// the limiting resource, and the runner-up. It stays empty if the schedule was
/// not chosen by estimated times. Rankings of schedules are taken from
/// `rankings` and added to them, if given.
ScheduleAttr getDefaultSchedule(ContractOp op, const Chip &chip,
                                std::string *prediction = nullptr,
                                ScheduleRankings *rankings = nullptr);

/// The same by rules alone, without the model of RankSchedules.h.
ScheduleAttr getScheduleByRules(ContractOp op, const Chip &chip,
                                std::string *prediction = nullptr);

/// The least time in nanoseconds that the rules' formula (docs/Schedules.md)
/// estimates for a schedule of `op` by instructions of several subgroups;
/// infinity if none is legal.
double estimateByRules(ContractOp op, const Chip &chip);

/// Whether one subgroup computes whole rows of `op` with `schedule`, as
/// required by `tessera.row_reduce` in its epilogue (`schedule_c18`). Otherwise
/// `why`, if given, receives the reason.
bool holdsRows(ContractOp op, ScheduleAttr schedule,
               std::string *why = nullptr);

/// Whether a reduction along N can be fused into the epilogue of `op` on
/// `chip`: its own schedule, or the default one for rows, is legal and holds
/// whole rows.
bool canReduceRows(ContractOp op, const Chip &chip);

/// Verifies that `op` can run on `chip` with `schedule`; emits an error
/// otherwise.
LogicalResult checkSchedule(ContractOp op, ScheduleAttr schedule,
                            const Chip &chip);

} // namespace mlir::tessera

#endif // SCHEDULING_SCHEDULE_H
