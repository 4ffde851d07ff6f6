//===- TargetInfo.h - Targets, by their names and chips ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a target that passes need: its names and its chips. How code is
// generated for the target is in its `TargetBackend` (Target/Backend.h).
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_TARGETINFO_H
#define TARGETINFO_TARGETINFO_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// A target. Objects of this type live as long as the program.
struct TargetInfo {
  /// "cuda". `Chip::target` of all its chips.
  llvm::StringLiteral name;
  /// Other names, for devices that run the code of this target: "level-zero".
  std::vector<llvm::StringLiteral> aliases = {};
  /// The word by which names of devices show that data sheets of the target's
  /// chips describe them: "NVIDIA". Empty: there is no such word.
  llvm::StringLiteral vendor = "";
  /// The dialects of ops that, among all devices, only those of this target
  /// execute. Target cpu executes some of them lane by lane.
  std::vector<llvm::StringLiteral> dialects = {};
  /// The kernels are functions of the host's own program: they share its memory
  /// and need no driver.
  bool isHost = false;
  /// Appends the chips that have rows.
  void (*addChips)(std::vector<Chip> &chips) = nullptr;
  /// A chip that has no row, by a name that describes it, or null. Such chips
  /// live as long as the program. Null where the target has none.
  const Chip *(*findDescribedChip)(llvm::StringRef name) = nullptr;
  /// The names of chips without rows that are similar to `name`; empty where
  /// `name` is not meant to be one of them.
  std::vector<std::string> (*listDescribedChips)(llvm::StringRef name) =
      nullptr;
  /// Added to a list of the known chips in diagnostics, if `name` is not meant
  /// to be a chip without a row: "emulate=CHIP for a chip of another target".
  llvm::StringLiteral describedChips = "";
  /// The chip that is compiled for where none is named; null: one must be
  /// named.
  llvm::StringRef (*getDefaultChip)() = nullptr;
  /// The name that a device of the chip reports, if that is not the chip's
  /// name.
  llvm::StringRef (*getReportedDescription)(llvm::StringRef name) = nullptr;
};

/// All targets, in the order of Targets.def; those registered later follow.
llvm::ArrayRef<const TargetInfo *> getTargets();

/// The target of this name or alias, or null.
const TargetInfo *findTarget(llvm::StringRef name);

/// The target that has the ops of a dialect to itself (`TargetInfo::dialects`),
/// or null.
const TargetInfo *findDialectOwner(llvm::StringRef dialect);

/// The names of all targets, with their aliases.
std::vector<llvm::StringRef> getTargetNames();

/// The same as text, with `conjunction` before the last name: "cpu, cuda, hip,
/// vulkan, opencl and level-zero".
std::string listTargetNames(llvm::StringRef conjunction);

/// Whether the kernels of a target are functions of the host's program.
bool isHostTarget(llvm::StringRef name);

/// The chip that is compiled for where `chip` is empty, if the target has such
/// a chip; else `chip`.
llvm::StringRef getChipOrDefault(llvm::StringRef target, llvm::StringRef chip);

/// A chip of the target whose kernels are the host's.
const Chip *findHostChip(llvm::StringRef name);

/// Adds a target with its chips. No other thread uses targets meanwhile.
void registerTarget(const TargetInfo &target);

/// Adds a chip to the target that it names. No other thread uses chips
/// meanwhile. Emulations are made of the chips known at their first use.
const Chip &registerChip(Chip chip);

} // namespace mlir::tessera

#endif // TARGETINFO_TARGETINFO_H
