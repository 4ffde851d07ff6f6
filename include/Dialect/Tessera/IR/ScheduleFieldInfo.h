//===- ScheduleFieldInfo.h - The table of schedule fields -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ScheduleFields.def as a table, for code that handles all fields alike. It
// needs neither MLIR nor the dialect's library.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_IR_SCHEDULEFIELDINFO_H
#define DIALECT_TESSERA_IR_SCHEDULEFIELDINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <iterator>
#include <string>

namespace mlir::tessera {

/// The numbers of a schedule: one for each field, and two for a pair. A search
/// can change each on its own.
enum class ScheduleField {
#define SCHEDULE_PAIR(Name, ...) Name##M, Name##N,
#define SCHEDULE_NUMBER(Name, name) Name,
#include "Dialect/Tessera/IR/ScheduleFields.def"
};

/// The number of the `ScheduleField`s.
inline constexpr size_t numScheduleNumbers = 0
// NOLINTBEGIN(bugprone-macro-parentheses): the terms of a sum.
#define SCHEDULE_PAIR(...) +2
#define SCHEDULE_NUMBER(...) +1
// NOLINTEND(bugprone-macro-parentheses)
#include "Dialect/Tessera/IR/ScheduleFields.def"
    ;

/// The properties of one field, as ScheduleFields.def defines them.
struct ScheduleFieldInfo {
  enum class Kind { Integer, Pair, Flag, Enum };

  /// The name in the text form, for example "splitK".
  llvm::StringLiteral name;
  Kind kind;
  /// The number of the field; for a pair, that of M. N is the next one.
  ScheduleField number;
  int64_t defaultValue, least, most;
  bool isAlwaysPrinted;
  llvm::StringLiteral doc;
  /// The values of an enum, from 0 on.
  llvm::ArrayRef<llvm::StringLiteral> words;

  bool isPair() const { return kind == Kind::Pair; }
  /// Whether a schedule must set the field.
  bool isRequired() const { return defaultValue < least; }
  /// The number for N of a pair.
  ScheduleField getSecond() const {
    return static_cast<ScheduleField>(static_cast<size_t>(number) + 1);
  }
  /// A value in the text form: "[64, 32]", "4", "true" or "atomic". `second` is
  /// that of N for a pair.
  std::string format(int64_t value, int64_t second) const {
    switch (kind) {
    case Kind::Integer:
      break;
    case Kind::Pair:
      return "[" + std::to_string(value) + ", " + std::to_string(second) + "]";
    case Kind::Flag:
      return value ? "true" : "false";
    case Kind::Enum:
      return words[static_cast<size_t>(value)].str();
    }
    return std::to_string(value);
  }
  /// The default value in the text form.
  std::string formatDefault() const {
    return format(defaultValue, defaultValue);
  }
};

namespace schedule_detail {
#define SCHEDULE_ENUM(Name, name, Type, doc, ...)                              \
  inline constexpr llvm::StringLiteral wordsOf##Name[] = {__VA_ARGS__};
#include "Dialect/Tessera/IR/ScheduleFields.def"

namespace schedule_print {
enum Print : bool { NotDefault = false, Always = true };
} // namespace schedule_print

using Kind = ScheduleFieldInfo::Kind;
using Field = ScheduleField;

inline constexpr ScheduleFieldInfo scheduleFields[] = {
// clang-format off
#define SCHEDULE_PAIR(Name, name, default, least, most, print, doc)            \
  {#name, Kind::Pair, Field::Name##M, default, least, most,                    \
   schedule_print::print, doc, {}},
#define SCHEDULE_INTEGER(Name, name, default, least, most, print, doc)         \
  {#name, Kind::Integer, Field::Name, default, least, most,                    \
   schedule_print::print, doc, {}},
#define SCHEDULE_FLAG(Name, name, default, doc)                                \
  {#name, Kind::Flag, Field::Name, default, 0, 1, false, doc, {}},
#define SCHEDULE_ENUM(Name, name, Type, doc, ...)                              \
  {#name, Kind::Enum, Field::Name, 0, 0, std::size(wordsOf##Name) - 1, false,  \
   doc, wordsOf##Name},
// clang-format on
#include "Dialect/Tessera/IR/ScheduleFields.def"
};
} // namespace schedule_detail

/// A former name of a field.
struct OldScheduleFieldName {
  llvm::StringLiteral oldName, name;
};

namespace schedule_detail {
inline constexpr OldScheduleFieldName oldScheduleFieldNames[] = {
#define SCHEDULE_OLD_NAME(oldName, name) {#oldName, #name},
#include "Dialect/Tessera/IR/ScheduleFields.def"
};
} // namespace schedule_detail

/// All fields, in the order in which they are printed.
inline llvm::ArrayRef<ScheduleFieldInfo> getScheduleFields() {
  return schedule_detail::scheduleFields;
}

/// The former names of fields, which are still read.
inline llvm::ArrayRef<OldScheduleFieldName> getOldScheduleFieldNames() {
  return schedule_detail::oldScheduleFieldNames;
}

/// The present name of a field with a former name; other names as they are.
inline llvm::StringRef getScheduleFieldName(llvm::StringRef name) {
  for (const OldScheduleFieldName &old : getOldScheduleFieldNames())
    if (name == old.oldName)
      return old.name;
  return name;
}

/// The field of this name, or null.
inline const ScheduleFieldInfo *findScheduleField(llvm::StringRef name) {
  for (const ScheduleFieldInfo &info : getScheduleFields())
    if (name == info.name)
      return &info;
  return nullptr;
}

/// The field that `number` belongs to.
inline const ScheduleFieldInfo &getScheduleField(ScheduleField number) {
  const ScheduleFieldInfo *found = nullptr;
  for (const ScheduleFieldInfo &info : getScheduleFields())
    if (info.number <= number)
      found = &info;
  return *found;
}

/// Calls `visit` for each field: with its info, and with the member of that
/// name of each of `objects`, such as `ScheduleFields`.
template <typename Visit, typename... Objects>
void forEachScheduleField(Visit visit, Objects &...objects) {
#define SCHEDULE_PAIR(Name, name, ...)                                         \
  visit(getScheduleField(ScheduleField::Name##M), objects.name...);
#define SCHEDULE_NUMBER(Name, name)                                            \
  visit(getScheduleField(ScheduleField::Name), objects.name...);
#include "Dialect/Tessera/IR/ScheduleFields.def"
}

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_IR_SCHEDULEFIELDINFO_H
