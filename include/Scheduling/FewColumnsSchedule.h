//===- FewColumnsSchedule.h - Schedules of few columns ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_FEWCOLUMNSSCHEDULE_H
#define SCHEDULING_FEWCOLUMNSSCHEDULE_H

#include "Scheduling/Schedule.h"

namespace mlir::tessera {

/// The default schedule of `op` if it has a few columns, a large lhs that is
/// read from memory once, and `chip` has instructions of several subgroups for
/// it, whose operands are loaded in bulk. Null otherwise.
ScheduleAttr getFewColumnsSchedule(ContractOp op, const Chip &chip);

} // namespace mlir::tessera

#endif // SCHEDULING_FEWCOLUMNSSCHEDULE_H
