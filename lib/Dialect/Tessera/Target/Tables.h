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

/// The chip that a device of Vulkan reports (VulkanTable.cpp), or null where
/// the text describes none. It lives as long as the program.
const Chip *findReportedChip(llvm::StringRef description);

/// The operand types of scalar products: every row of the table of
/// `tessera.mma` as {a, b, acc}.
llvm::ArrayRef<std::array<const char *, 3>> getScalarProducts();

/// Rows for products by scalar FMAs, over a subgroup of 8 to 128 lanes, last in
/// the chip's table.
void addScalarInstructions(Chip &chip);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_TABLES_H
