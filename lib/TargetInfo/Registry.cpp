//===- Registry.cpp - The targets and chips that there are ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tessera;

namespace mlir::tessera {
#define TESSERA_TARGET(NAME) const TargetInfo &get##NAME##Target();
#include "TargetInfo/Targets.def"
} // namespace mlir::tessera

namespace {
/// Chips stay where they are when others are added.
struct Registry {
  std::vector<const TargetInfo *> targets;
  std::deque<Chip> chips;

  Registry() {
#define TESSERA_TARGET(NAME) add(get##NAME##Target());
#include "TargetInfo/Targets.def"
  }

  void add(const TargetInfo &target) {
    targets.push_back(&target);
    std::vector<Chip> added;
    if (target.addChips)
      target.addChips(added);
    for (Chip &chip : added)
      chips.push_back(std::move(chip));
  }
};
} // namespace

static Registry &getRegistry() {
  static Registry registry;
  return registry;
}

llvm::ArrayRef<const TargetInfo *> mlir::tessera::getTargets() {
  return getRegistry().targets;
}

const std::deque<Chip> &mlir::tessera::getAllChips() {
  return getRegistry().chips;
}

const TargetInfo *mlir::tessera::findTarget(llvm::StringRef name) {
  for (const TargetInfo *target : getTargets())
    if (target->name == name || llvm::is_contained(target->aliases, name))
      return target;
  return nullptr;
}

const TargetInfo *mlir::tessera::findDialectOwner(llvm::StringRef dialect) {
  for (const TargetInfo *target : getTargets())
    if (llvm::is_contained(target->dialects, dialect))
      return target;
  return nullptr;
}

std::vector<llvm::StringRef> mlir::tessera::getTargetNames() {
  std::vector<llvm::StringRef> names;
  for (const TargetInfo *target : getTargets()) {
    names.push_back(target->name);
    names.insert(names.end(), target->aliases.begin(), target->aliases.end());
  }
  return names;
}

std::string mlir::tessera::listTargetNames(llvm::StringRef conjunction) {
  std::string text;
  std::vector<llvm::StringRef> names = getTargetNames();
  for (auto [i, name] : llvm::enumerate(names)) {
    if (i > 0)
      text += i + 1 == names.size() ? (" " + conjunction + " ").str() : ", ";
    text += name;
  }
  return text;
}

bool mlir::tessera::isHostTarget(llvm::StringRef name) {
  const TargetInfo *target = findTarget(name);
  return target && target->isHost;
}

llvm::StringRef mlir::tessera::getChipOrDefault(llvm::StringRef target,
                                                llvm::StringRef chip) {
  const TargetInfo *info = chip.empty() ? findTarget(target) : nullptr;
  return info && info->getDefaultChip ? info->getDefaultChip() : chip;
}

const Chip *mlir::tessera::findHostChip(llvm::StringRef name) {
  for (const TargetInfo *target : getTargets())
    if (target->isHost)
      return findChip(target->name, name);
  return nullptr;
}

void mlir::tessera::registerTarget(const TargetInfo &target) {
  getRegistry().add(target);
}

const Chip &mlir::tessera::registerChip(Chip chip) {
  return getRegistry().chips.emplace_back(std::move(chip));
}
