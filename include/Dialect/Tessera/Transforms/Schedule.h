//===- Schedule.h - Choosing and checking schedules -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_SCHEDULE_H
#define DIALECT_TESSERA_TRANSFORMS_SCHEDULE_H

#include "Dialect/Tessera/Target/Chip.h"
#include "Dialect/Tessera/Transforms/MatrixForm.h"

namespace mlir::tessera {

/// The most workgroups that a grid may have along y and z on every target.
inline constexpr int64_t maxGridYZ = 65535;

/// The discardable attribute that carries a schedule on a linalg op, and on the
/// `gpu.launch` or `gpu.func` that was made by it.
inline llvm::StringRef getScheduleAttrName() { return "tessera.schedule"; }

/// Shape and padding of the staged tiles of one contraction.
struct StagedTiles {
  /// Rows and columns in memory order, without padding.
  std::array<int64_t, 2> a, b;
  /// Elements added to each row.
  int64_t aPadding, bPadding;
  /// All stages of both, in bytes. 0 where nothing is staged.
  int64_t bytes;
  /// The tile of the output, in bytes. 0 where it does not go through workgroup
  /// memory.
  int64_t outputBytes = 0;
};

/// The tiles that `schedule` stages for `op` in its matrix form, on `chip`.
StagedTiles getStagedTiles(ContractOp op, const MatrixForm &form,
                           ScheduleAttr schedule, const Chip &chip);

/// The schedule that `op` has on `chip` when it does not say: the chip's
/// default tiling for its types, halved where the extents are known to be
/// small or the workgroup's memory would not hold it. With a matrix unit where
/// the chip has one for the types. Where the epilogue reduces along N, tiles
/// hold whole rows, if they can.
ScheduleAttr getDefaultSchedule(ContractOp op, const Chip &chip);

/// Whether with `schedule` one subgroup has whole rows of `op`, as
/// `tessera.row_reduce` in its epilogue needs (`schedule_c18`). Otherwise
/// `why`, where given, says what is in the way.
bool holdsRows(ContractOp op, ScheduleAttr schedule,
               std::string *why = nullptr);

/// Whether the epilogue of `op` may come to reduce along N on `chip`: its own
/// schedule, or the default one for rows, is legal and holds them.
bool canReduceRows(ContractOp op, const Chip &chip);

/// Whether `op` can run on `chip` with `schedule`; else an error.
LogicalResult checkSchedule(ContractOp op, ScheduleAttr schedule,
                            const Chip &chip);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_SCHEDULE_H
