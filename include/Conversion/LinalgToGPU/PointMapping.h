//===- PointMapping.h - The points of an op that a thread computes -*- C++ -*-//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOGPU_POINTMAPPING_H
#define CONVERSION_LINALGTOGPU_POINTMAPPING_H

#include "Dialect/Tessera/IR/WindowSchedule.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>
#include <string>

namespace mlir::tessera {

/// How the threads of a kernel divide the points of an op.
struct PointMapping {
  /// The parallel dimensions in the order of the output's memory, the one in
  /// which it is contiguous last.
  SmallVector<unsigned> parallel;
  /// Points along the last of them that a thread computes at a time.
  int64_t width = 1;
  /// Whether the body has loops (SimtLoops.cpp).
  bool hasLoops = false;
  /// Whether the points that a thread computes at a time are a strip.
  bool isStrip = false;
  /// Whether the body, which has branches, runs for each of the points, which
  /// are stored together.
  bool isSeparate = false;
  /// Such points along another dimension, at which neighboring windows share
  /// elements.
  int64_t rows = 1;
  unsigned rowDim = 0;
  /// Such rows along a further dimension (Simt.h).
  int64_t lines = 1;
  unsigned lineDim = 0;
  /// The threads of a workgroup.
  int64_t threads = 1;
  /// The most iterations of a loop over a window that is unrolled, and of the
  /// loops in it: a thread then waits for all of their loads at once.
  int64_t unrolledIterations = 9;
};

/// The mappings of an op on memrefs to the threads of a chip: the one that the
/// compiler chooses, and for a window (`isWindow`) those that a schedule may
/// have.
class PointMappings {
public:
  PointMappings(linalg::LinalgOp op, const Chip &chip);

  /// The compiler's choice.
  const PointMapping &getDefault() const { return choice; }
  /// The same as a schedule.
  WindowScheduleAttr getDefaultSchedule() const;

  /// The constraint that a schedule violates, with the numbers that would not;
  /// empty for none.
  std::string explain(WindowScheduleAttr schedule) const;
  /// The mapping by a schedule that violates none.
  PointMapping get(WindowScheduleAttr schedule) const;

  /// The limits of the numbers. Rows divide their extent, which is 1 where a
  /// thread can only have one row, or the extent is unknown; and so do lines.
  int64_t getMostPoints() const { return widest.width; }
  int64_t getRowExtent(int64_t points) const;
  int64_t getLineExtent() const;
  int64_t getMostThreads() const;
  /// The number of points of the op, if it is known.
  std::optional<int64_t> countPoints() const;

private:
  std::optional<int64_t> getExtent(unsigned dim) const;
  void orderDims();
  void chooseWidth();
  void chooseRows();
  /// Sets the dimensions of rows and lines. Returns that of rows if windows
  /// overlap along it.
  std::optional<unsigned> findDims();
  bool chooseLines(int64_t total);
  int64_t chooseNarrowWidth(int64_t total);
  /// Chooses how much of a window `mapping` unrolls.
  void chooseUnrolling(PointMapping &mapping) const;

  linalg::LinalgOp op;
  const Chip &chip;
  SmallVector<int64_t> extents;
  /// Whether threads can have several lines.
  bool hasLines = false;
  /// With the greatest width, and one row.
  PointMapping widest;
  PointMapping choice;
};

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOGPU_POINTMAPPING_H
