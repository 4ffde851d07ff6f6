//===- WindowSchedule.cpp - The schedule of a window ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/WindowSchedule.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;

LogicalResult
WindowScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t points, int64_t rows, int64_t lines,
                           int64_t threads) {
  // The code of a thread repeats the body for each of its points.
  constexpr int64_t mostPoints = 256;
  for (auto [name, value] : {std::pair("points", points),
                             {"rows", rows},
                             {"lines", lines},
                             {"threads", threads}})
    if (value < 1)
      return emitError() << "window_schedule_c1: " << name
                         << " must be at least 1, not " << value;
  if (!llvm::isPowerOf2_64(static_cast<uint64_t>(points)))
    return emitError()
           << "window_schedule_c2: points must be a power of two, not "
           << points;
  if (points > mostPoints || rows > mostPoints / points ||
      lines > mostPoints / points / rows) {
    InFlightDiagnostic error = emitError();
    error << "window_schedule_c2: points (" << points << ") times rows ("
          << rows;
    if (lines > 1)
      error << ") times lines (" << lines;
    return error << ") must be at most " << mostPoints;
  }
  return success();
}

WindowScheduleAttr mlir::tessera::getWindowSchedule(Operation *op) {
  WindowScheduleAttr schedule;
  op->walk<WalkOrder::PreOrder>([&](Operation *holder) {
    schedule = holder->getAttrOfType<WindowScheduleAttr>(windowScheduleName);
    return schedule ? WalkResult::interrupt() : WalkResult::advance();
  });
  return schedule;
}

void mlir::tessera::moveWindowScheduleToLoops(Operation *from, Operation *to) {
  Attribute schedule = from->getAttr(windowScheduleName);
  if (!schedule)
    return;
  from->removeDiscardableAttr(windowScheduleName);
  // A loop of one iteration is going to be folded.
  to->walk([&](Operation *inner) {
    if (inner->getName().getStringRef() == "scf.for")
      inner->setDiscardableAttr(windowScheduleName, schedule);
  });
}

void mlir::tessera::removeWindowSchedule(Operation *op) {
  op->walk([](Operation *holder) {
    holder->removeDiscardableAttr(windowScheduleName);
  });
}
