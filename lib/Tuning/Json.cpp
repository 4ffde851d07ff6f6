//===- Json.cpp - Text that somebody else has written ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Json.h"

using namespace mlir::tessera;
using llvm::StringRef;

std::string tuning::findDeepNesting(StringRef text) {
  unsigned depth = 0;
  size_t line = 1, lineBegin = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char letter = text[i];
    if (letter == '\n') {
      ++line;
      lineBegin = i + 1;
    }
    if (isString) {
      if (letter == '\\')
        ++i;
      else if (letter == '"')
        isString = false;
      continue;
    }
    switch (letter) {
    case '"':
      isString = true;
      break;
    case '[':
    case '{':
    case '(':
    case '<':
      if (++depth > mostNested)
        return std::to_string(line) + ":" + std::to_string(i - lineBegin + 1) +
               ", byte=" + std::to_string(i);
      break;
    case ']':
    case '}':
    case ')':
    case '>':
      depth -= depth > 0;
      break;
    default:
      break;
    }
  }
  return "";
}

llvm::Expected<llvm::json::Value> tuning::parseJson(StringRef text) {
  if (std::string location = findDeepNesting(text); !location.empty())
    return llvm::createStringError("[" + location +
                                   "]: values are nested more " + "than " +
                                   std::to_string(mostNested) + " deep");
  return llvm::json::parse(text);
}
