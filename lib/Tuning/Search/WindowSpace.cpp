//===- WindowSpace.cpp - The schedules that a window may have -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/WindowSpace.h"

#include "Scheduling/WindowTask.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

static linalg::LinalgOp findWindow(ModuleOp module) {
  linalg::GenericOp found;
  module.walk([&](linalg::GenericOp op) {
    if (!found)
      found = getWindowOp(op);
  });
  return cast<linalg::LinalgOp>(found.getOperation());
}

WindowSpace::WindowSpace(ModuleOp task, const Chip &chip)
    : mappings(findWindow(task), chip) {
  // The program of a window may have no op of the dialect.
  task.getContext()->loadDialect<TesseraDialect>();
  // More accumulators than this leave no registers for operands.
  constexpr int64_t mostAccumulators = 64, mostRows = 16, mostLines = 8;
  WindowScheduleAttr own = mappings.getDefaultSchedule();
  std::vector<int64_t> ofPoints, ofRows, ofLines, ofThreads;
  for (int64_t points = 1; points <= chip.accessBytes; points *= 2)
    ofPoints.push_back(points);
  for (int64_t rows = 1; rows <= mostRows; ++rows)
    ofRows.push_back(rows);
  for (int64_t lines = 1; lines <= mostLines; ++lines)
    ofLines.push_back(lines);
  for (int64_t threads : {64, 128, 256, 512})
    ofThreads.push_back(threads);
  auto include = [](std::vector<int64_t> &list, int64_t value) {
    if (!llvm::is_contained(list, value))
      list.insert(llvm::lower_bound(list, value), value);
  };
  include(ofPoints, own.getPoints());
  include(ofRows, own.getRows());
  include(ofLines, own.getLines());
  include(ofThreads, own.getThreads());
  combinations =
      ofPoints.size() * ofRows.size() * ofLines.size() * ofThreads.size();
  std::optional<int64_t> total = mappings.countPoints();
  MLIRContext *context = own.getContext();
  auto consider = [&](int64_t points, int64_t rows, int64_t lines,
                      int64_t threads) {
    int64_t box = points * rows * lines;
    if (box > mostAccumulators) {
      ++removed["more than 64 points of a thread"];
      return;
    }
    auto schedule =
        WindowScheduleAttr::get(context, points, rows, lines, threads);
    std::string why = mappings.explain(schedule);
    why = StringRef(why).split(':').first.str();
    if (why.empty() && schedule != own && total &&
        threads > ofThreads.front() && threads / 2 * box >= *total)
      why = "same as another: half of the threads compute all points";
    if (why.empty())
      schedules.push_back(schedule);
    else
      ++removed[why];
  };
  for (int64_t points : ofPoints)
    for (int64_t rows : ofRows)
      for (int64_t lines : ofLines)
        for (int64_t threads : ofThreads)
          consider(points, rows, lines, threads);
}

double tuning::getDistance(WindowScheduleAttr a, WindowScheduleAttr b) {
  auto between = [](int64_t one, int64_t other) {
    return std::fabs(std::log2(static_cast<double>(one)) -
                     std::log2(static_cast<double>(other)));
  };
  return between(a.getPoints(), b.getPoints()) +
         between(a.getRows(), b.getRows()) +
         between(a.getLines(), b.getLines()) +
         between(a.getThreads(), b.getThreads());
}
