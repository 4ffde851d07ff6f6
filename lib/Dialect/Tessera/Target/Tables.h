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

/// The operand types of scalar products: every row of the table of
/// `tessera.mma` as {a, b, acc}.
llvm::ArrayRef<std::array<const char *, 3>> getScalarProducts();

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_TABLES_H
