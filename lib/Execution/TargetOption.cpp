//===- TargetOption.cpp - The value of --target ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Options.h"

#include "Target/Backend.h"
#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tessera::execution;

std::vector<StringRef> tessera::execution::getTargets() {
  return compiler::getTargetNames();
}

/// TARGET[:ORDINAL][:CHIP[,CHIP]...].
LogicalResult tessera::execution::parseTarget(StringRef value,
                                              ProgramOptions &options,
                                              Report &report,
                                              StringRef option) {
  auto [name, rest] = value.split(':');
  std::vector<StringRef> targets = getTargets();
  if (llvm::is_contained(targets, name.split(',').first) && name.contains(','))
    return report.fail(
        Exit::Usage,
        option + "=" + value +
            ": several targets require --emit=bundle or --diff; name one");
  if (!llvm::is_contained(targets, name) && name != "auto") {
    std::vector<StringRef> known = targets;
    known.push_back("auto");
    return report.fail(Exit::Usage,
                       "unknown target '" + name + "'" +
                           compiler::tuning::formatHint(name, known) +
                           "; expected auto, " + llvm::join(targets, ", "));
  }
  if (name == "auto" && !rest.empty())
    return report.fail(Exit::Usage,
                       option + "=" + value +
                           ": auto does not take a chip or a number; name the "
                           "target, for example cuda:sm_90a");
  options.target = name.str();
  options.chip.clear();
  options.otherChips.clear();
  options.ordinal.reset();
  auto [first, second] = rest.split(':');
  unsigned ordinal;
  if (!first.empty() && !first.getAsInteger(10, ordinal)) {
    options.ordinal = ordinal;
    first = second;
    second = "";
  }
  if (first.contains(':') || !second.empty() || value.ends_with(":"))
    return report.fail(
        Exit::Usage,
        option + "=" + value +
            ": expected TARGET[:NUMBER][:CHIP], for example cuda:sm_90a");
  llvm::SmallVector<StringRef> chips;
  first.split(chips, ',');
  if (chips.size() > 1 && llvm::is_contained(chips, ""))
    return report.fail(Exit::Usage, option + "=" + value +
                                        ": expected chips separated by commas, "
                                        "for example hip:gfx942,gfx1100");
  for (auto [i, chip] : llvm::enumerate(chips))
    if (llvm::is_contained(ArrayRef(chips).take_front(i), chip))
      return report.fail(Exit::Usage,
                         "duplicate chip " + chip + " in " + option);
  options.chip = chips.front().str();
  for (StringRef chip : ArrayRef(chips).drop_front())
    options.otherChips.push_back(chip.str());
  return success();
}
