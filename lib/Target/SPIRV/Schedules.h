//===- Schedules.h - Schedule policy of reported chips ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_SPIRV_SCHEDULES_H
#define LIB_TARGET_SPIRV_SCHEDULES_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// Sets the schedule policy of a chip that a device's report describes, by the
/// number of lanes of its subgroups.
void setReportedSchedules(Chip &chip);

/// Sets the schedule policy of a device of OpenCL without subgroups, where each
/// fragment belongs to one thread.
void setLanelessSchedules(Chip &chip);

} // namespace mlir::tessera

#endif // LIB_TARGET_SPIRV_SCHEDULES_H
