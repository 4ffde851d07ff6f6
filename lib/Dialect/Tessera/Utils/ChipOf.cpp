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

FailureOr<const Chip *> mlir::tessera::findChipOrError(Operation *op,
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

/// The innermost attribute around `op`; null if there is none.
static ChipAttr findChipAttr(Operation *op) {
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto attribute = at->getAttrOfType<ChipAttr>(ChipAttr::getAttrName()))
      return attribute;
  return {};
}

const Chip *mlir::tessera::findAttachedChip(Operation *op) {
  ChipAttr attribute = findChipAttr(op);
  return attribute ? findChip(attribute.getTarget(),
                              getChipOrDefault(attribute.getTarget(),
                                               attribute.getName()))
                   : nullptr;
}

FailureOr<const Chip *> mlir::tessera::getChip(Operation *op) {
  if (ChipAttr attribute = findChipAttr(op))
    return findChipOrError(op, attribute.getTarget(), attribute.getName());
  return op->emitError()
         << "unknown chip to compile for: no module around this op has the "
            "attribute 'tessera.chip'; attach it by tessera-attach-chip";
}

FailureOr<const Chip *> mlir::tessera::getChip(Operation *op,
                                               llvm::StringRef target) {
  FailureOr<const Chip *> chip = getChip(op);
  if (succeeded(chip) && (*chip)->target != target)
    return op->emitError() << "a chip of target " << target
                           << " is required, but the module is compiled for "
                           << (*chip)->target << ":" << (*chip)->name;
  return chip;
}

void mlir::tessera::attachChip(ModuleOp module, const Chip &chip) {
  MLIRContext *context = module.getContext();
  // A program of upstream's dialects does not load it.
  context->getOrLoadDialect<TesseraDialect>();
  auto name = StringAttr::get(context, ChipAttr::getAttrName());
  module.walk([&](Operation *op) { op->removeAttr(name); });
  module->setAttr(name, ChipAttr::get(context, chip.target, chip.name));
}
