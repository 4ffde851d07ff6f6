//===- Tables.h - The vendors' instruction tables ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_TABLES_H
#define TARGETINFO_TABLES_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The option that permits instructions with `MatrixInstruction::tf32`.
inline constexpr llvm::StringLiteral tf32Option = "--allow-tf32";

/// Chips of OpenCL that are known by name (../Target/Intel/Chips.cpp).
void addIntelChips(std::vector<Chip> &chips);

/// Adds Intel's matrix unit to a chip with subgroups of 8 or 16 lanes: its
/// rows, before the existing ones, and the registers and default tilings that
/// belong to it (../Target/Intel/Chips.cpp).
void addIntelMatrixUnit(Chip &chip);

/// A device known by name.
struct ReportedProfile {
  const char *name;
  /// The description that the device reports.
  const char *description;
};

/// Parses the description of a chip: lanes, workgroup memory and threads,
/// followed by matrix instructions; other fields are ignored here. Null if it
/// is not a valid description.
std::unique_ptr<Chip> parseReportedChip(llvm::StringRef target,
                                        llvm::StringRef name,
                                        llvm::StringRef description);

/// One of `profiles` with the same description, otherwise the result of
/// `parse`, which is called once: a chip that lives as long as the program.
/// Null if there is none.
const Chip *
findReportedChip(llvm::StringRef target, llvm::StringRef description,
                 llvm::ArrayRef<ReportedProfile> profiles,
                 std::unique_ptr<Chip> (*parse)(llvm::StringRef name,
                                                llvm::StringRef description));

/// The description that a device of the profile `name` reports; `name` if there
/// is none.
llvm::StringRef getDescription(llvm::ArrayRef<ReportedProfile> profiles,
                               llvm::StringRef name);

/// A chip with the properties that GPUs of NVIDIA and AMD have in common, and
/// those of `devices` that have a name.
Chip makeGpuChip(llvm::StringRef name, llvm::StringRef target,
                 llvm::ArrayRef<DeviceSheet> devices);

/// Steps of a lane map, one for each bit of a lane or a register.
using LaneSteps = llvm::SmallVector<LaneMap::Step, 6>;

/// Steps of 1, 2, 4, ... rows (dimension 0) or columns (1), from `from` up to
/// below `to`.
LaneSteps countSteps(unsigned dimension, int64_t from, int64_t to);
LaneSteps concatSteps(LaneSteps first, llvm::ArrayRef<LaneMap::Step> second);

/// The operand types of scalar matmuls: every row of the table of `tessera.mma`
/// as {a, b, acc}.
llvm::ArrayRef<std::array<const char *, 3>> getScalarMatmuls();

/// Adds rows for matmuls by scalar FMAs, over a subgroup of 8 to 128 lanes,
/// last in the chip's table.
void addScalarInstructions(Chip &chip);

/// Adds rows for matmuls on a chip whose subgroups have one lane: an element of
/// a with vectors of b of at most `vectorBytes` (../Target/CPU/Chips.cpp).
void addVectorInstructions(Chip &chip, int64_t vectorBytes);

} // namespace mlir::tessera

#endif // TARGETINFO_TABLES_H
