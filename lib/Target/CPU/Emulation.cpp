//===- Emulation.cpp - Chips that the host executes lane by lane ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Emulation.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tessera;

static Chip emulate(const Chip &original) {
  Chip chip = original;
  chip.name = (emulationPrefix + original.name).str();
  chip.target = "cpu";
  chip.emulated = original.name;
  chip.bulkCopies = std::nullopt;
  chip.clusterWorkgroups = 1;
  chip.tensorMemoryColumns = 0;
  for (MatrixInstruction &row : chip.instructions)
    row.aInMemory = row.bInMemory = row.tensorMemory = false;
  return chip;
}

const std::vector<Chip> &mlir::tessera::getEmulatedChips() {
  static const std::vector<Chip> chips = [] {
    std::vector<Chip> chips;
    for (const Chip &chip : getAllChips()) {
      // The distribution of a cooperative matrix over lanes is unknown.
      bool opaque = llvm::any_of(chip.instructions,
                                 [](const auto &row) { return row.opaque; });
      if (chip.target == "cpu" || !chip.hasLanes() || opaque)
        continue;
      Chip emulated = emulate(chip);
      if (llvm::none_of(chips, [&](const Chip &other) {
            return other.name == emulated.name;
          }))
        chips.push_back(std::move(emulated));
    }
    return chips;
  }();
  return chips;
}

llvm::StringRef mlir::tessera::getEmulatedName(const Chip &chip) {
  return chip.emulated;
}
