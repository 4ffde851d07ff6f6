//===- WindowSpace.h - The schedules that a window may have -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few hundred combinations of points, rows, lines and threads are legal for a
// window, so the space is a list of them.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_WINDOWSPACE_H
#define TUNING_WINDOWSPACE_H

#include "Conversion/LinalgToGPU/PointMapping.h"

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace mlir::tessera::tuning {

class WindowSpace {
public:
  /// `task` is a program of one window (`makeTaskProgram`), for a known chip.
  WindowSpace(ModuleOp task, const Chip &chip);

  /// The legal schedules that are worth trying, in the order of their numbers.
  /// The compiler's own choice is one of them.
  ArrayRef<WindowScheduleAttr> getSchedules() const { return schedules; }
  /// Whether a schedule is legal, worth trying or not.
  bool isLegal(WindowScheduleAttr schedule) const {
    return mappings.explain(schedule).empty();
  }
  /// The compiler's choice.
  WindowScheduleAttr getDefault() const {
    return mappings.getDefaultSchedule();
  }

  /// How many combinations there are, and how many of them each constraint
  /// removed.
  size_t countCombinations() const { return combinations; }
  const std::map<std::string, size_t> &getRemoved() const { return removed; }

private:
  PointMappings mappings;
  std::vector<WindowScheduleAttr> schedules;
  size_t combinations = 0;
  std::map<std::string, size_t> removed;
};

/// How many times a number of one schedule has to be halved or doubled for that
/// of the other one, all four numbers together.
double getDistance(WindowScheduleAttr a, WindowScheduleAttr b);

} // namespace mlir::tessera::tuning

#endif // TUNING_WINDOWSPACE_H
