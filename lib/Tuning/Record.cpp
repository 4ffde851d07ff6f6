//===- Record.cpp - Record of a schedule ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Record.h"

#include "Dialect/Tessera/IR/ScheduleFieldInfo.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <ctime>

using namespace mlir::tessera;
using llvm::StringRef;

static constexpr std::pair<tuning::Outcome, llvm::StringLiteral> names[] = {
    {tuning::Outcome::Measured, "measured"},
    {tuning::Outcome::Slow, "slow"},
    {tuning::Outcome::Wrong, "wrong"},
    {tuning::Outcome::NotCompiled, "not compiled"},
    {tuning::Outcome::Spills, "spills"},
    {tuning::Outcome::NotRun, "not run"},
    {tuning::Outcome::Hung, "hung"},
    {tuning::Outcome::Crashed, "crashed"},
};

StringRef tuning::getOutcomeName(Outcome outcome) {
  for (auto [value, name] : names)
    if (value == outcome)
      return name;
  llvm_unreachable("an outcome without a name");
}

std::optional<tuning::Outcome> tuning::parseOutcome(StringRef name) {
  for (auto [value, text] : names)
    if (text == name)
      return value;
  return std::nullopt;
}

std::string tuning::getTimestamp() {
  time_t now = time(nullptr);
  tm parts = {};
  gmtime_r(&now, &parts);
  char text[sizeof("2026-11-23T04:05:06Z") + 8];
  size_t size = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, size);
}

static llvm::Error invalid(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

/// Validates the members that a record and a baseline have in common.
template <typename T> static llvm::Error validateTimes(const T &entry) {
  if (entry.task.key.empty())
    return invalid("missing task");
  for (auto [name, value] : {std::pair("median", entry.median),
                             {"low", entry.low},
                             {"high", entry.high}})
    if (!std::isfinite(value) || value < 0)
      return invalid(llvm::Twine("'") + name + "' is not a time");
  for (auto [i, time] : llvm::enumerate(entry.times))
    if (!std::isfinite(time) || time < 0)
      return invalid("'times[" + llvm::Twine(i) + "]' is not a time");
  return llvm::Error::success();
}

/// A time that stands for how fast something is.
template <typename T> static llvm::Error validateMedian(const T &entry) {
  if (entry.median <= 0)
    return invalid("'median' is not positive");
  if (entry.low > entry.median || entry.median > entry.high)
    return invalid("'median' is not between 'low' and 'high'");
  return llvm::Error::success();
}

double tuning::getComparedTime(const Record &record, bool isWarm) {
  return isWarm ? std::sqrt(record.median * record.warmMedian) : record.median;
}

llvm::Error tuning::validate(const Record &record) {
  if (llvm::Error error = validateTimes(record))
    return error;
  for (auto [name, value] : {std::pair("compile_ms", record.compileTime),
                             {"expected_ms", record.expected},
                             {"warm_median", record.warmMedian},
                             {"warm_low", record.warmLow},
                             {"warm_high", record.warmHigh}})
    if (!std::isfinite(value) || value < 0)
      return invalid(llvm::Twine("'") + name + "' is not a time");
  if (record.outcome != Outcome::Measured)
    return llvm::Error::success();
  if (record.warmLow > record.warmMedian || record.warmMedian > record.warmHigh)
    return invalid("'warm_median' is not between 'warm_low' and 'warm_high'");
  return validateMedian(record);
}

llvm::Error tuning::validate(const Baseline &baseline) {
  if (llvm::Error error = validateTimes(baseline))
    return error;
  return validateMedian(baseline);
}

//===----------------------------------------------------------------------===//
// Names of schedule fields
//===----------------------------------------------------------------------===//

/// Replaces the name of a field. A name follows '<', ',' or a space, and has a
/// value.
static std::string renameField(std::string text, StringRef from, StringRef to) {
  std::string key = from.str() + " =";
  for (size_t at = text.find(key); at != std::string::npos;
       at = text.find(key, at)) {
    if (at == 0 || !StringRef("<, ").contains(text[at - 1])) {
      at += key.size();
      continue;
    }
    text.replace(at, from.size(), to.str());
    at += to.size();
  }
  return text;
}

std::string tuning::useCurrentNames(StringRef schedule) {
  std::string text = schedule.str();
  for (const OldScheduleFieldName &old : getOldScheduleFieldNames())
    text = renameField(std::move(text), old.oldName, old.name);
  return text;
}

std::string tuning::useFormerNames(StringRef schedule) {
  std::string text = schedule.str();
  for (const OldScheduleFieldName &old : getOldScheduleFieldNames())
    text = renameField(std::move(text), old.name, old.oldName);
  return text;
}
