//===- Spelling.cpp - Names that are nearly right -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Spelling.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir::tessera;
using llvm::StringRef;

StringRef tuning::findNearest(StringRef name,
                              llvm::ArrayRef<StringRef> candidates) {
  // A third of the letters may be wrong.
  unsigned best = unsigned(name.size() + 2) / 3 + 1;
  StringRef nearest;
  for (StringRef candidate : candidates) {
    // Of names that differ in case alone nothing is wrong.
    unsigned distance =
        name.equals_insensitive(candidate)
            ? 0
            : name.edit_distance(candidate, /*AllowReplacements=*/true,
                                 /*MaxEditDistance=*/best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string tuning::suggest(StringRef name,
                            llvm::ArrayRef<StringRef> candidates) {
  StringRef nearest = findNearest(name, candidates);
  if (!nearest.empty())
    return "did you mean '" + nearest.str() + "'?";
  return "there are " + llvm::join(candidates, ", ");
}
