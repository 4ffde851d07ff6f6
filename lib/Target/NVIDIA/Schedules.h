//===- Schedules.h - Schedule policy of NVIDIA's chips ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_NVIDIA_SCHEDULES_H
#define LIB_TARGET_NVIDIA_SCHEDULES_H

#include "Target/NVIDIA/Chips.h"

namespace mlir::tessera {

/// Sets the schedule policy and the performance model of a chip of this row.
void setNvidiaSchedules(Chip &chip, const NvidiaChipRow &row);

/// The fitted rates of chips with instructions of warpgroups.
ScheduleRates getWarpgroupRates();

/// The trees that correct estimates by these rates.
CorrectionTrees getWarpgroupCorrections();

} // namespace mlir::tessera

#endif // LIB_TARGET_NVIDIA_SCHEDULES_H
