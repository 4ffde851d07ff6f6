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

/// The number of trailing batch dimensions of `op` that are rows of its tiles
/// together with M. This holds for dimensions along which keys and values are
/// shared (the heads of a group), if the queries of one are few: one workgroup
/// then reads the keys once for all of them. The rows of query and output must
/// be adjacent in memory.
unsigned countFoldedDims(AttentionOp op);

/// Whether keys and values are copied to workgroup memory row by row: those of
/// pages, and those before a bound that is a value in memory.
bool gathersKeys(AttentionOp op);

/// The number of rows of `op`: queries, times the extents of the folded
/// dimensions; or kDynamic.
int64_t getRowExtent(AttentionOp op);

/// Whether a kernel of `schedule` has separate workgroup memory for the first
/// keys and the last values, so that the copies of its loop can run ahead.
bool hasOwnFirstTiles(ScheduleAttr schedule);

/// Whether subgroups of a kernel of `schedule` load their queries from memory
/// once, instead of reading them from workgroup memory for each block of keys.
bool keepsQuery(ScheduleAttr schedule, const Chip &chip);

/// The width of the tiles of `op` for a head dimension, D or E. It is the
/// extent of that dimension, except that tiles of groups of subgroups are so
/// wide that their rows can be swizzled: the columns beyond the extent are
/// zero.
int64_t getTileWidth(AttentionOp op, AttentionOp::Dim dim,
                     ScheduleAttr schedule);

} // namespace mlir::tessera

#endif // SCHEDULING_ATTENTIONSCHEDULE_H
