//===- ChipOf.cpp - The chip that a pass works for ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/ChipOf.h"

#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tessera;

FailureOr<const Chip *> mlir::tessera::getChip(Operation *op,
                                               llvm::StringRef target,
                                               llvm::StringRef name) {
  name = getChipOrDefault(target, name);
  if (const Chip *chip = findChip(target, name))
    return chip;
  std::vector<std::string> known = getKnownChips(target, name);
  if (known.empty())
    return op->emitError() << "unknown target '" << target << "': known are "
                           << listTargetNames("and");
  return op->emitError() << "unknown chip '" << name << "' of target '"
                         << target << "': known are, nearest first: "
                         << llvm::join(known, ", ");
}
