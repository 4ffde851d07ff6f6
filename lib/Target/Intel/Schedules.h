//===- Schedules.h - Schedule policy of Intel's chips -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_INTEL_SCHEDULES_H
#define LIB_TARGET_INTEL_SCHEDULES_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// Sets the schedule policy of a chip with Intel's matrix unit. The number of
/// lanes of its subgroups and of its processors must be set.
void setIntelSchedules(Chip &chip);

} // namespace mlir::tessera

#endif // LIB_TARGET_INTEL_SCHEDULES_H
