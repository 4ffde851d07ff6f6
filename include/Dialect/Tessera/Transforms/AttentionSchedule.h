//===- AttentionSchedule.h - Schedules of tessera.attention -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_ATTENTIONSCHEDULE_H
#define DIALECT_TESSERA_TRANSFORMS_ATTENTIONSCHEDULE_H

#include "Dialect/Tessera/Target/Chip.h"

namespace mlir::tessera {

/// The schedule that `op` has on `chip` when it does not say: the largest tiles
/// that fit. Null where D or E are unknown.
ScheduleAttr getDefaultSchedule(AttentionOp op, const Chip &chip);

/// Why `op` cannot run on `chip` with `schedule`, with the constraint's label:
/// "schedule_c9: ...". Empty: it can.
std::string explainSchedule(AttentionOp op, ScheduleAttr schedule,
                            const Chip &chip);

/// Whether a kernel of `schedule` has workgroup memory of their own for the
/// first keys and the last values, so that the copies of its loop can run
/// ahead.
bool hasOwnFirstTiles(ScheduleAttr schedule);

/// Whether the tiles of `op`, as long as a row of it, are permuted with
/// `swizzle`, rather than padded.
bool canSwizzle(AttentionOp op);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_ATTENTIONSCHEDULE_H
