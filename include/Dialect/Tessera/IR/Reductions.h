//===- Reductions.h - Semantics of reduction kinds --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_IR_REDUCTIONS_H
#define DIALECT_TESSERA_IR_REDUCTIONS_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::tessera {

/// Whether elements of `type` can be reduced by `kind` (`reduce_c3`).
bool isValidReduction(ReductionKind kind, Type type);

/// The reduction whose combining step is the arith op `combiner`.
std::optional<ReductionKind> matchReduction(Operation *combiner);

/// Combines `a` and `b`: elements, or vectors of them.
Value createReduction(OpBuilder &builder, Location loc, ReductionKind kind,
                      Value a, Value b);

/// The neutral element of `kind` for `type`.
TypedAttr getNeutralElement(OpBuilder &builder, ReductionKind kind, Type type);

/// Whether the constant `element` is the neutral element of `kind`.
bool isNeutralElement(ReductionKind kind, Attribute element);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_IR_REDUCTIONS_H
