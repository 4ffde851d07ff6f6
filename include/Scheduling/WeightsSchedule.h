//===- WeightsSchedule.h - Schedules of narrow weights ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_WEIGHTSSCHEDULE_H
#define SCHEDULING_WEIGHTSSCHEDULE_H

#include "Scheduling/Schedule.h"

namespace mlir::tessera {

/// The default schedule of `op` if rhs has elements of at most 8 bits that a
/// producer widens, in runs along K, lhs has a few rows, and `chip` has
/// instructions for such operands (`MatrixInstruction::repeated`); or the other
/// way round, with at most 8 columns of rhs. Null otherwise.
ScheduleAttr getWeightsSchedule(ContractOp op, const Chip &chip);

} // namespace mlir::tessera

#endif // SCHEDULING_WEIGHTSSCHEDULE_H
