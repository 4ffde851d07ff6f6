//===- Chips.h - Chips of AMD's rows ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_AMD_CHIPS_H
#define TARGET_AMD_CHIPS_H

#include "Target/AMD/ChipRows.h"
#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The chip of a row: with its instructions, and with the schedule policy of
/// its generation.
Chip makeAmdChip(const AmdChipRow &row);

} // namespace mlir::tessera

#endif // TARGET_AMD_CHIPS_H
