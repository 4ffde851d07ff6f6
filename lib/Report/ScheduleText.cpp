//===- ScheduleText.cpp - The entries of a schedule's text ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/ScheduleText.h"

#include "Dialect/Tessera/IR/ScheduleFieldInfo.h"
#include "Dialect/Tessera/IR/WindowSchedule.h"

#include "llvm/ADT/StringExtras.h"

using namespace tessera::tuning;
using namespace mlir::tessera;

StringRef tessera::tuning::getScheduleName(StringRef text) {
  return text.trim().starts_with("#tessera.window_schedule<")
             ? windowScheduleName
             : TesseraDialect::ScheduleAttrHelper::getNameStr();
}

std::map<std::string, std::string>
tessera::tuning::parseSchedule(StringRef text) {
  std::map<std::string, std::string> entries;
  text = text.trim();
  bool isWindow = text.consume_front("#tessera.window_schedule<");
  if ((!isWindow && !text.consume_front("#tessera.schedule<")) ||
      !text.consume_back(">"))
    return entries;
  for (const ScheduleFieldInfo &info : getScheduleFields())
    if (!isWindow && !info.isAlwaysPrinted)
      entries[info.name.str()] = info.formatDefault();
  while (!text.empty()) {
    // Up to a comma outside of brackets.
    size_t end = 0;
    for (int depth = 0; end < text.size(); ++end) {
      depth += (text[end] == '[') - (text[end] == ']');
      if (text[end] == ',' && depth == 0)
        break;
    }
    auto [name, value] = text.take_front(end).split('=');
    if (!name.trim().empty() && !value.trim().empty())
      entries[getScheduleFieldName(name.trim()).str()] = value.trim().str();
    text = text.drop_front(std::min(end + 1, text.size()));
  }
  return entries;
}

/// The numbers in a text: "[64, 128]" has two.
static std::vector<int64_t> getNumbers(StringRef text) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    text = text.drop_until([](char c) { return llvm::isDigit(c); });
    StringRef digits = text.take_while([](char c) { return llvm::isDigit(c); });
    int64_t number = 0;
    if (!digits.getAsInteger(10, number))
      numbers.push_back(number);
    text = text.drop_front(digits.size());
  }
  return numbers;
}

bool tessera::tuning::isBefore(StringRef a, StringRef b) {
  return std::pair(getNumbers(a), a) < std::pair(getNumbers(b), b);
}
