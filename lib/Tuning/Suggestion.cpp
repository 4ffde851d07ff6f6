//===- Suggestion.cpp - Suggestions for unknown names ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Suggestion.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <utility>

using namespace mlir::tessera;
using llvm::StringRef;

StringRef tuning::findNearest(StringRef name,
                              llvm::ArrayRef<StringRef> candidates) {
  // A third of the letters may be wrong. Swapped letters are likelier than
  // missing ones: "cdua" is "cuda", not "cpu".
  std::pair<unsigned, size_t> best{unsigned(name.size() + 2) / 3 + 1, 0};
  StringRef nearest;
  for (StringRef candidate : candidates) {
    // A difference in case has distance 0.
    unsigned distance =
        name.equals_insensitive(candidate)
            ? 0
            : name.edit_distance(candidate, /*AllowReplacements=*/true,
                                 /*MaxEditDistance=*/best.first);
    size_t length = std::max(name.size(), candidate.size()) -
                    std::min(name.size(), candidate.size());
    if (std::pair(distance, length) < best) {
      best = {distance, length};
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
  return "expected one of " + llvm::join(candidates, ", ");
}

std::string tuning::formatHint(StringRef name,
                               llvm::ArrayRef<StringRef> candidates) {
  StringRef nearest = findNearest(name, candidates);
  return nearest.empty() ? "" : " (did you mean '" + nearest.str() + "'?)";
}

std::string tuning::escapeHtml(StringRef text) {
  std::string escaped;
  for (char c : llvm::json::fixUTF8(text))
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&#39;";
      break;
    default:
      // HTML knows no other control characters.
      bool isControl =
          static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
      escaped += isControl ? '?' : c;
    }
  return escaped;
}
