//===- ThreadCopiesSchedule.h - Rows that threads copy ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_THREADCOPIESSCHEDULE_H
#define SCHEDULING_THREADCOPIESSCHEDULE_H

#include "Scheduling/Schedule.h"

namespace mlir::tessera {

/// The default schedule of `op` if its rows are not aligned for bulk copies,
/// but for the asynchronous copies of threads, and if `chip` has instructions
/// of several subgroups for it: a small matmul takes less time in this way than
/// one with aligned copies of its operands and the kernel that makes these.
/// Null otherwise, or if the model of schedules expects another one to take
/// less time.
ScheduleAttr getThreadCopiesSchedule(ContractOp op, const Chip &chip,
                                     ScheduleRankings &rankings);

} // namespace mlir::tessera

#endif // SCHEDULING_THREADCOPIESSCHEDULE_H
