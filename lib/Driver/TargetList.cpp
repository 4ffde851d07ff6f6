//===- TargetList.cpp - Targets of a bundle -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/TargetList.h"

#include "Driver/DeviceChip.h"
#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tessera;

/// Without completing them.
static std::vector<TargetChip> parseTargets(StringRef text, std::string &why) {
  std::vector<TargetChip> targets;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, chip] = part.split(':');
    if (findTarget(name))
      targets.push_back({name.str(), chip.str()});
    else if (!targets.empty() && !targets.back().chip.empty() && !part.empty())
      targets.push_back({targets.back().name, part.str()});
    else {
      why = "unknown target '" + part.str() + "'; expected " +
            listTargetNames("or") +
            ", optionally followed by a colon and a chip (cuda:sm_90a)";
      return {};
    }
  }
  return targets;
}

/// Completes a target without a chip, and checks the chip of the others.
/// Returns the error, or an empty string.
static std::string settleChip(TargetChip &target) {
  target.chip = getChipOrDefault(target.name, target.chip).str();
  if (target.chip.empty()) {
    std::string why;
    std::vector<runtime::DeviceInfo> devices =
        runtime::listDevices(&why, target.name);
    if (devices.empty())
      return "no " + target.name +
             " device found on this machine to compile for (" +
             StringRef(why).trim().str() + "); name a chip: " + target.name +
             ":CHIP, one of " + llvm::join(getKnownChips(target.name), ", ");
    target.chip = getChipFor(devices.front());
    if (target.chip.empty())
      return "no known chip's code runs on " + devices.front().name + " (" +
             devices.front().chip + ")";
  }
  if (const Chip *chip = findChip(target.name, target.chip)) {
    target.chip = chip->name;
    return "";
  }
  return "unknown chip '" + target.chip + "' for target " + target.name +
         "; known, nearest first: " +
         llvm::join(getKnownChips(target.name, target.chip), ", ");
}

std::vector<TargetChip> mlir::tessera::parseTargetList(StringRef text,
                                                       std::string &why) {
  why.clear();
  std::vector<TargetChip> targets = parseTargets(text, why);
  for (auto [i, target] : llvm::enumerate(targets)) {
    if (why.empty())
      why = settleChip(target);
    auto isSame = [&, &target = target](const TargetChip &other) {
      return other.name == target.name && other.chip == target.chip;
    };
    if (why.empty() && llvm::any_of(ArrayRef(targets).take_front(i), isSame))
      why = "duplicate target " + target.name + ":" + target.chip;
  }
  if (!why.empty())
    targets.clear();
  return targets;
}
