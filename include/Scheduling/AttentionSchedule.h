//===- AttentionSchedule.h - Schedules of tessera.attention -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_ATTENTIONSCHEDULE_H
#define SCHEDULING_ATTENTIONSCHEDULE_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The default schedule of `op` on `chip`: the largest tiles that fit. Null if
/// D or E is dynamic.
ScheduleAttr getDefaultSchedule(AttentionOp op, const Chip &chip);

/// The reason why `op` cannot run on `chip` with `schedule`, with the
/// constraint's label: "schedule_c9: ...". Empty if it can.
std::string explainSchedule(AttentionOp op, ScheduleAttr schedule,
                            const Chip &chip);

/// Whether a kernel of `schedule` has separate workgroup memory for the first
/// keys and the last values, so that the copies of its loop can run ahead.
bool hasOwnFirstTiles(ScheduleAttr schedule);

/// Whether the tiles of `op`, whose rows have the length of a row of the
/// operand, can be swizzled with `swizzle` instead of padded.
bool canSwizzle(AttentionOp op);

} // namespace mlir::tessera

#endif // SCHEDULING_ATTENTIONSCHEDULE_H
