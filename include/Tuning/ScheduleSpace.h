//===- ScheduleSpace.h - The schedules that a task may have -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A point of the space is a schedule. Its first entries, the core (tiles, step,
// stages, group), decide most of what is legal and are enumerated; the others,
// the options (parts of K, order of workgroups, clusters, ...), are added to a
// core one by one. Illegal points never leave the space.
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

/// The values that the entries of a schedule may have. Pairs are M and N.
struct SpaceValues {
  std::vector<std::array<int64_t, 2>> workgroup, subgroup, vthread, cluster;
  std::vector<int64_t> k, kFragment, stages, interleave, swizzle, splitK,
      splitKReduction, raster, persistent, group, stageOutput, batches,
      subgroupBatches;

  /// The number of combinations.
  double countPoints() const;
};

/// The values that are worth trying for `op` on `chip`: of tiles, those up to
/// the problem's size and the chip's; of the others, what the chip's tables and
/// the types of `op` have a use for.
SpaceValues getDefaultValues(Operation *op, const Chip &chip);

class ScheduleSpace {
public:
  using Point = ScheduleNumbers;

  /// `task` is a program of one task (`makeTaskProgram`), for a known chip.
  /// `enumerate` is to be called before anything else, if it is not here.
  ScheduleSpace(ModuleOp task, const Chip &chip, SpaceValues values,
                bool isEnumerated = true);
  /// Finds the cores. Of several spaces each may do it in a thread of its own.
  void enumerate() { enumerateCores(); }
  ~ScheduleSpace();

  /// The task's op.
  Operation *getOp() const { return op; }
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
  /// A legal point next to `point`: one to three of its entries changed.
  Point mutate(const Point &point, std::mt19937_64 &random) const;
  /// A legal point with entries of both; one of them if there is none.
  Point cross(const Point &a, const Point &b, std::mt19937_64 &random) const;

  ScheduleAttr getAttr(const Point &point) const {
    return point.getAttr(op->getContext());
  }

private:
  void enumerateCores();
  void removeCores(StringRef why, double cores);
  Point withOptions(const Point &core, std::mt19937_64 &random) const;
  double countOptions() const;
  std::string explain(ScheduleAttr schedule) const;

  ModuleOp task;
  Operation *op;
  const Chip &chip;
  SpaceValues values;
  /// The task as it is where operands have been copied to rows that groups of
  /// subgroups read.
  OwningOpRef<ModuleOp> repacked;
  Operation *repackedOp = nullptr;
  std::array<int64_t, 3> extents;
  int64_t matrices = 1;
  std::vector<Point> cores;
  std::map<std::string, double> removedCores;
  mutable std::unordered_map<std::string, std::string> known;
};

/// The entries of a point as text, to be compared by.
std::string spellPoint(const ScheduleNumbers &point);

} // namespace mlir::tessera::tuning

#endif // TUNING_SCHEDULESPACE_H
