//===- PointReader.h - Scalar evaluation of a tensor ------*- C++ -*-------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_POINTREADER_H
#define CONVERSION_LINALGTOTESSERA_POINTREADER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace mlir::tessera {

/// A value for each point of a space: an element of a tensor, or a value in the
/// body of an element-wise op.
struct Point {
  /// A tensor, or a scalar in the body of `op`, or one for all points.
  Value value;
  /// The tensor's indices, or the loops of `op`, at a point of the space.
  AffineMap at;
  /// Null for a tensor.
  linalg::LinalgOp op;

  bool operator==(const Point &other) const {
    return value == other.value && at == other.at && op == other.op;
  }
  /// The operation that computes it in a body, as an `Op`; or null.
  template <typename Op> Op as() const {
    return op && value.getDefiningOp() &&
                   value.getDefiningOp()->getParentOp() == op
               ? value.getDefiningOp<Op>()
               : Op();
  }
  /// Operand `i` of that operation.
  Point operand(unsigned i) const {
    return {value.getDefiningOp()->getOperand(i), at, op};
  }
};

/// The largest score that hides a key: a number so low that its exponential is
/// zero.
inline constexpr double lowestVisibleScore = -1.0e9;

/// Near the lowest finite number of a floating-point type.
double getNearlyLowest(Type type);

/// Reads through element-wise ops and reshapes of tensors, however an
/// expression has been divided among them, and remembers which they were.
class PointReader {
public:
  /// The source of `point`: an operation in a body, a tensor that is not the
  /// result of an element-wise op, or a value from outside.
  Point look(Point point);
  /// The same through changes between floating-point types.
  Point lookThroughCasts(Point point);
  /// The constant that `point` is at all points.
  std::optional<double> getConstant(Point point);
  /// `point`, an integer, as a sum of the space's dimensions and constants.
  AffineExpr getAffine(Point point);
  /// The reduction of `element` along one dimension of the space that computes
  /// `point`.
  struct Reduction {
    linalg::LinalgOp op;
    unsigned dim;
    Point element;
  };
  std::optional<Reduction> getReduction(Point point, bool isMaximum);

  /// The ops that were read.
  llvm::SetVector<Operation *> ops;
};

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_POINTREADER_H
