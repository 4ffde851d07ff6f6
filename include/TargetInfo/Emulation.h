//===- Emulation.h - Chips that the host executes lane by lane --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chip of the target cpu that emulates one of another target: its tables, its
// subgroup size, its limits and its default schedules are those of the emulated
// chip, and the host runs each of its lanes.
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_EMULATION_H
#define TARGETINFO_EMULATION_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The prefix of the name of a chip that emulates another.
constexpr llvm::StringLiteral emulationPrefix = "emulate=";

/// The emulated chips, one for each chip with lanes of the other targets, in
/// their order. If two targets share a name, the first one is emulated.
///
/// TMA and clusters of workgroups are not emulated, and are disabled in the
/// chip. Operands that an instruction reads from workgroup memory are registers
/// that are loaded from there, and accumulators in tensor memory are registers
/// of the lanes that read them.
const std::vector<Chip> &getEmulatedChips();

/// Whether `chip` is one of `getEmulatedChips`.
inline bool isEmulated(const Chip &chip) { return !chip.emulated.empty(); }

/// The name of the chip that `chip` emulates; empty if it does not emulate one.
llvm::StringRef getEmulatedName(const Chip &chip);

} // namespace mlir::tessera

#endif // TARGETINFO_EMULATION_H
