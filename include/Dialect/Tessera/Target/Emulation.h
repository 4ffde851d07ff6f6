//===- Emulation.h - Chips that the host executes lane by lane --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chip of the target cpu that stands for one of another target: its tables,
// its subgroup size, its limits and its default schedules are that chip's, and
// the host runs each of its lanes.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TARGET_EMULATION_H
#define DIALECT_TESSERA_TARGET_EMULATION_H

#include "Dialect/Tessera/Target/Chip.h"

namespace mlir::tessera {

/// What the name of a chip that emulates another begins with.
constexpr llvm::StringLiteral emulationPrefix = "emulate=";

/// One for each chip with lanes of the other targets, in their order. Of a name
/// that two targets have, the first.
///
/// Not emulated, and so switched off in the chip: engines that copy by
/// themselves, and clusters of workgroups. Operands that an instruction reads
/// from workgroup memory are registers that are loaded from there, and
/// accumulators in tensor memory are registers of the lanes that read them.
const std::vector<Chip> &getEmulatedChips();

/// Whether `chip` is one of these.
inline bool isEmulated(const Chip &chip) {
  return chip.target == "cpu" && chip.hasLanes();
}

/// The name of the chip that `chip` emulates; empty if it is none of these.
llvm::StringRef getEmulatedName(const Chip &chip);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_EMULATION_H
