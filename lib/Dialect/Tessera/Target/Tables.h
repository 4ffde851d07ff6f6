//===- Tables.h - The vendors' instruction tables ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TARGET_TABLES_H
#define DIALECT_TESSERA_TARGET_TABLES_H

#include "Dialect/Tessera/Target/Chip.h"

namespace mlir::tessera {

void addCpuChips(std::vector<Chip> &chips);
void addNvidiaChips(std::vector<Chip> &chips);
void addAmdChips(std::vector<Chip> &chips);
void addVulkanChips(std::vector<Chip> &chips);
void addIntelChips(std::vector<Chip> &chips);
void addOpenCLChips(std::vector<Chip> &chips);

/// Gives a chip with subgroups of 8 or 16 lanes Intel's matrix unit: its rows
/// before those there are, and the registers and default tilings that go with
/// it (IntelTable.cpp).
void addIntelMatrixUnit(Chip &chip);

/// The chip that a device of Vulkan reports (VulkanTable.cpp), or null where
/// the text describes none. It lives as long as the program.
const Chip *findReportedChip(llvm::StringRef description);
/// The same of OpenCL (OpenCLTable.cpp).
const Chip *findReportedOpenCLChip(llvm::StringRef description);

/// A device known by name.
struct ReportedProfile {
  const char *name;
  /// The description that the device reports.
  const char *description;
};

/// Those of OpenCL (OpenCLTable.cpp).
llvm::ArrayRef<ReportedProfile> getOpenCLProfiles();

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

/// The operand types of scalar matmuls: every row of the table of `tessera.mma`
/// as {a, b, acc}.
llvm::ArrayRef<std::array<const char *, 3>> getScalarProducts();

/// Adds rows for matmuls by scalar FMAs, over a subgroup of 8 to 128 lanes,
/// last in the chip's table.
void addScalarInstructions(Chip &chip);

/// Adds rows for matmuls on a chip whose subgroups have one lane: an element of
/// a with vectors of b of at most `vectorBytes` (CpuTable.cpp).
void addVectorInstructions(Chip &chip, int64_t vectorBytes);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_TABLES_H
