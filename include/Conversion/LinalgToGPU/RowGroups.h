//===- RowGroups.h - Row reductions with what surrounds them ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOGPU_ROWGROUPS_H
#define CONVERSION_LINALGTOGPU_ROWGROUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::tessera {

/// How an operand of an op of a group is read or written.
enum class RowAccess {
  /// The element of the row and the column.
  Element,
  /// The element of the row.
  Row,
  /// Any other. The group does not write this memory.
  Other
};

/// Ops on memrefs that one kernel computes. Rows are independent: at each row,
/// an op accesses only that row of the memory that the group writes. Softmax is
/// an example:
///
///   max over n --> exp(x - max) --> sum over n --> e / sum
///
/// An op may also compute one element for each row, as a mean or a conversion
/// does from a sum.
struct RowGroup {
  /// In their order, at least two and one of them a reduction. Ops between them
  /// compute nothing, except the fills of their outputs.
  SmallVector<linalg::LinalgOp> ops;
  int64_t rows = 1, columns = 1;
  /// Allocations that only ops of the group access, and read only what these
  /// wrote: a kernel may keep their elements in registers.
  SmallVector<Value> inner;
};

/// An op of a group: the loops over its rows, from the outermost on and without
/// those of one iteration, and the loop over the columns: none if the op
/// computes elements of rows from elements of rows.
struct RowLoops {
  SmallVector<unsigned> rows;
  std::optional<unsigned> column;
};
RowLoops getRowLoops(linalg::LinalgOp op, const RowGroup &group);

/// The access of `operand` of an op of a group.
RowAccess getRowAccess(OpOperand &operand, const RowLoops &loops);

/// The memory of which `value` is a view.
Value getMemoryRoot(Value value);

/// The op in the body of a reduction that combines the value of output `i` with
/// a value that does not depend on any output; null if it is not known.
Operation *getCombiner(linalg::LinalgOp op, unsigned i);

/// The groups of `block`, in their order. Moves ops that compute nothing ahead
/// of a group, and deallocations after it: its ops and their fills are adjacent
/// then.
SmallVector<RowGroup> gatherRowGroups(Block &block);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOGPU_ROWGROUPS_H
