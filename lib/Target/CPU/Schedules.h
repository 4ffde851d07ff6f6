//===- Schedules.h - Schedule policy of the CPU's chips ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_CPU_SCHEDULES_H
#define LIB_TARGET_CPU_SCHEDULES_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// Sets the schedule policy of a chip whose vector registers have `vectorBytes`
/// bytes.
void setCpuSchedules(Chip &chip, int64_t vectorBytes);

} // namespace mlir::tessera

#endif // LIB_TARGET_CPU_SCHEDULES_H
