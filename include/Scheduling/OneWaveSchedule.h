//===- OneWaveSchedule.h - Tiles that SMs have one of each ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_ONEWAVESCHEDULE_H
#define SCHEDULING_ONEWAVESCHEDULE_H

#include "Scheduling/Schedule.h"

namespace mlir::tessera {

/// Whether `op` can have such a schedule: a plain matmul of known extents, not
/// too large, with K along the rows of rhs.
bool hasOneWaveForm(ContractOp op, const Chip &chip);

/// The schedule of `op` whose tiles have just as many columns, in eights, that
/// each SM has one tile at most, if its busiest SM loads clearly less than with
/// `other`, a schedule of the same matmul with its operands in this order or
/// exchanged. Null otherwise.
ScheduleAttr getOneWaveSchedule(ContractOp op, const Chip &chip,
                                ScheduleAttr other, bool isExchanged);

} // namespace mlir::tessera

#endif // SCHEDULING_ONEWAVESCHEDULE_H
