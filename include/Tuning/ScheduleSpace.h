//===- ScheduleSpace.h - The schedules that a task may have -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A point of the space is a schedule. Some fields, the core (tiles, step,
// stages, subgroups of a fragment), decide most of what is legal and are
// enumerated. The others, the options (parts of K, order of workgroups,
// clusters, ...), are added to a core one by one. Illegal points never leave
// the space.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_SCHEDULESPACE_H
#define TUNING_SCHEDULESPACE_H

#include "Scheduling/ScheduleCheck.h"

#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace mlir::tessera::tuning {

/// The values that each field of a schedule may have. Those of flags and enums
/// are numbers.
struct SpaceValues {
#define SCHEDULE_PAIR(Name, name, ...) std::vector<std::array<int64_t, 2>> name;
#define SCHEDULE_NUMBER(Name, name) std::vector<int64_t> name;
#include "Dialect/Tessera/IR/ScheduleFields.def"

  /// The number of combinations.
  double countPoints() const;
};

/// The values of one field. The second number of a field that is not a pair is
/// 0.
struct FieldValues {
  const ScheduleFieldInfo *info;
  std::vector<std::array<int64_t, 2>> values;

  /// The value that `point` has.
  std::array<int64_t, 2> get(const ScheduleNumbers &point) const;
  void set(ScheduleNumbers &point, std::array<int64_t, 2> value) const;
};

/// The values that are worth trying for `op` on `chip`: tiles up to the size of
/// the problem and of the chip, and the values of the other fields that fit the
/// chip's tables and the types of `op`.
SpaceValues getDefaultValues(Operation *op, const Chip &chip);

class ScheduleSpace {
public:
  using Point = ScheduleNumbers;

  /// `task` is a program of one task (`makeTaskProgram`), for a known chip.
  /// Unless `isEnumerated`, `enumerate` must be called before anything else.
  ScheduleSpace(ModuleOp task, const Chip &chip, SpaceValues values,
                bool isEnumerated = true);
  /// Finds the cores. Different spaces may do this in different threads.
  void enumerate() { enumerateCores(); }
  ~ScheduleSpace();

  /// The task's op.
  Operation *getOp() const { return op; }
  /// The task's op where operands have been copied to rows that groups of
  /// subgroups read; null if the chip has none.
  Operation *getPackedOp() const { return packedOp; }
  const Chip &getChip() const { return chip; }
  const SpaceValues &getValues() const { return values; }

  /// Whether the point is legal and not the same program as another one that
  /// is; `why` receives what is in the way: a constraint's label or a few
  /// words.
  bool isLegal(const Point &point, std::string *why = nullptr) const;

  /// The cores that are legal with the simplest options.
  const std::vector<Point> &getCores() const { return cores; }

  /// All legal points of a core, or as many as `limit`.
  void expand(const Point &core, size_t limit,
              llvm::function_ref<void(const Point &)> visit) const;

  /// How many points each constraint removed, and how many are legal, in all.
  /// Where there are more combinations than `limit`, options are tried on some
  /// of the cores only, and `isEstimate` is set.
  struct Count {
    double all = 0, legal = 0;
    std::map<std::string, double> removed;
    bool isEstimate = false;
  };
  Count count(size_t limit, std::mt19937_64 &random) const;

  /// A legal point: a core with options at random.
  Point draw(std::mt19937_64 &random) const;
  /// A legal point next to `point`: up to three times, one or two related
  /// fields are changed.
  Point mutate(const Point &point, std::mt19937_64 &random) const;
  /// A legal point with numbers of both; one of them if there is none.
  Point cross(const Point &a, const Point &b, std::mt19937_64 &random) const;

  ScheduleAttr getAttr(const Point &point) const {
    return point.getAttr(op->getContext());
  }

private:
  void enumerateCores();
  void removeCores(StringRef why, double cores);
  Point withOptions(const Point &core, std::mt19937_64 &random) const;
  void drawOptions(Point &point, double change, std::mt19937_64 &random) const;
  bool forEachOptions(Point point, llvm::function_ref<bool(Point &)> visit,
                      size_t first = 0) const;
  double countOptions() const;
  const FieldValues &getFieldValues(ScheduleField field) const;
  std::string explain(ScheduleAttr schedule) const;

  ModuleOp task;
  Operation *op;
  const Chip &chip;
  SpaceValues values;
  /// `values`, in the order of the fields, and those of the options. The last
  /// option varies fastest.
  std::vector<FieldValues> fields, options;
  /// The task as it is where operands have been copied to rows that groups of
  /// subgroups read.
  OwningOpRef<ModuleOp> packed;
  Operation *packedOp = nullptr;
  std::array<int64_t, 3> extents;
  int64_t matrices = 1;
  std::vector<Point> cores;
  std::map<std::string, double> removedCores;
  mutable std::unordered_map<std::string, std::string> known;
};

/// The numbers of a point as text, by which points are compared.
std::string formatPoint(const ScheduleNumbers &point);

} // namespace mlir::tessera::tuning

#endif // TUNING_SCHEDULESPACE_H
