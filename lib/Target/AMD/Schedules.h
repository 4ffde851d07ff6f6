//===- Schedules.h - Schedule policy of AMD's chips -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_AMD_SCHEDULES_H
#define LIB_TARGET_AMD_SCHEDULES_H

#include "Target/AMD/Chips.h"

namespace mlir::tessera {

/// Sets the schedule policy of a chip of this row.
void setAmdSchedules(Chip &chip, const AmdChipRow &row);

} // namespace mlir::tessera

#endif // LIB_TARGET_AMD_SCHEDULES_H
