//===- WindowTask.h - Windows that threads compute --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window is a pooling, or a depthwise or grouped convolution without a
// matmul, after `tessera-fuse-windows` and bufferization: a `linalg.generic` on
// memrefs whose loops are parallel, and whose body loops over the elements of
// an image that one element of the output depends on.
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_WINDOWTASK_H
#define SCHEDULING_WINDOWTASK_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <string>

namespace mlir::tessera {

/// `op` as a window; null if it is none.
linalg::GenericOp getWindowOp(Operation *op);

/// The arithmetic of a window.
struct WindowWork {
  /// Multiplications, additions and comparisons of all points: two for each
  /// element of a window if it has a filter, or else one.
  double operations = 0;
  /// The type of the values that the loops carry.
  Type sumType;
};
WindowWork getWindowWork(linalg::GenericOp op);

/// Whether the result is the same in whatever way the points are divided among
/// threads, bit by bit, for small integers: the body has no functions that are
/// approximated.
bool isExactWindow(linalg::GenericOp op);

/// "depthwise 3x3 of 32x112x112x32 f16 -> 32x112x112x32 f16": the kind, the
/// extents of the window, the image and the output.
std::string describeWindow(linalg::GenericOp op);

} // namespace mlir::tessera

#endif // SCHEDULING_WINDOWTASK_H
