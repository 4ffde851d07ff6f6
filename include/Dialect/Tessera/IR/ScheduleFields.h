//===- ScheduleFields.h - The fields of a schedule as values ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_IR_SCHEDULEFIELDS_H
#define DIALECT_TESSERA_IR_SCHEDULEFIELDS_H

#include "Dialect/Tessera/IR/ScheduleFieldInfo.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Hashing.h"

#include <array>

namespace mlir::tessera {

class ScheduleAttr;
enum class SplitReduction : uint32_t;

/// The fields of a `ScheduleAttr`, with their default values:
///
///   ScheduleFields fields;
///   fields.workgroup = {128, 128};
///   ...
///   ScheduleAttr schedule = ScheduleAttr::get(context, fields);
///
/// docs/Schedules.md describes them.
struct ScheduleFields {
#define SCHEDULE_PAIR(Name, name, default, ...)                                \
  std::array<int64_t, 2> name = {default, default};
#define SCHEDULE_INTEGER(Name, name, default, ...) int64_t name = default;
#define SCHEDULE_FLAG(Name, name, default, doc) bool name = default;
#define SCHEDULE_ENUM(Name, name, Type, ...) Type name = {};
#include "Dialect/Tessera/IR/ScheduleFields.def"

  bool operator==(const ScheduleFields &other) const;
  bool operator!=(const ScheduleFields &other) const {
    return !(*this == other);
  }
};

/// LLVM's hashing requires this name.
// NOLINTNEXTLINE(readability-identifier-naming)
llvm::hash_code hash_value(const ScheduleFields &fields);

/// A schedule as an array of its numbers, which may be invalid as an attribute.
class ScheduleNumbers {
public:
  static constexpr size_t size = numScheduleNumbers;

  explicit ScheduleNumbers(const ScheduleFields &fields);
  explicit ScheduleNumbers(ScheduleAttr schedule);
  int64_t &operator[](ScheduleField field) { return values[size_t(field)]; }
  int64_t operator[](ScheduleField field) const {
    return values[size_t(field)];
  }
  bool operator==(const ScheduleNumbers &other) const {
    return values == other.values;
  }

  ScheduleFields getFields() const;
  /// Verifies the attribute's own constraints (`schedule_c1` to `c6`). Emits an
  /// error if `emitError` is given.
  LogicalResult
  verify(function_ref<InFlightDiagnostic()> emitError = nullptr) const;
  bool isValid() const { return succeeded(verify()); }
  /// The attribute, or null if it would be invalid.
  ScheduleAttr getAttr(MLIRContext *context) const;

  /// Whether the field has its default value.
  bool hasDefault(const ScheduleFieldInfo &info) const {
    return (*this)[info.number] == info.defaultValue &&
           (!info.isPair() || (*this)[info.getSecond()] == info.defaultValue);
  }
  /// The field's value in the schedule's syntax.
  std::string format(const ScheduleFieldInfo &info) const {
    return info.format((*this)[info.number],
                       info.isPair() ? (*this)[info.getSecond()] : 0);
  }
  /// The fields that differ from `from`, in the schedule's syntax: "subgroup =
  /// [32, 64], k = 32".
  std::string describeChange(const ScheduleNumbers &from) const;

private:
  // NOLINTNEXTLINE(readability-identifier-naming)
  friend llvm::hash_code hash_value(const ScheduleFields &fields);

  std::array<int64_t, size> values;
};

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_IR_SCHEDULEFIELDS_H
