//===- ContractionBody.h - The body of a contraction ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_CONTRACTIONBODY_H
#define CONVERSION_LINALGTOTESSERA_CONTRACTIONBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::tessera {

/// A value, without the casts that widen it.
struct Widened {
  Value source;
  bool isUnsigned = false;
};

/// Looks through extf, extsi and extui. Integers widened in two ways are not
/// looked through.
Widened lookThroughWidening(Value value);

/// The operands of a body `acc + ext(x) * ext(y)`.
struct ContractionBody {
  Widened operands[2];
  /// The inputs that are subtracted from them, where they are not constant
  /// zeros.
  Widened zeroPoints[2];
  /// The type in which the body adds.
  Type sumType;
};

/// The multiplication of a body that yields `accumulator + x * y`, but for
/// floating-point casts; or null. `sumType`, where given, is set to the type in
/// which it adds.
Operation *findMultiplication(Block *body, Value accumulator,
                              Type *sumType = nullptr);

/// Matches the body of `op`, of two inputs and one output. Further inputs must
/// be constant zero points.
std::optional<ContractionBody> matchContractionBody(linalg::LinalgOp op);

/// The same with zero points of any value: `acc + (ext(x) - zx) * (ext(y) -
/// zy)`.
std::optional<ContractionBody> matchShiftedContractionBody(linalg::LinalgOp op);

/// The accumulator type of operands of type `element`.
Type getAccumulatorType(Type element);

/// Whether a contraction can write elements of `type`: those of fragments,
/// except i4, two of which share a byte.
bool canBeOutput(Type type);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_CONTRACTIONBODY_H
