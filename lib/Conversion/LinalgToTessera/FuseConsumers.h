//===- FuseConsumers.h - linalg consumers into an epilogue ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LINALGTOTESSERA_FUSECONSUMERS_H
#define LIB_CONVERSION_LINALGTOTESSERA_FUSECONSUMERS_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tessera {

/// The reduction of a linalg op: its body computes an element, which one op
/// combines with the accumulator.
struct RowReduction {
  ReductionKind kind;
  Operation *combiner;
  /// In the body.
  Value element;
};

/// A linalg op to be fused into an epilogue.
struct Consumer {
  /// A placeholder for a loop of extent 1 that is not one of the contraction's.
  static constexpr unsigned noDim = ~0u;

  linalg::LinalgOp op;
  /// The dimension of the contraction that each of its loops is.
  SmallVector<unsigned> dims;
  /// The reduction, if the op reduces rows.
  std::optional<RowReduction> reduction;

  Value getResult() const { return op->getResult(0); }
  /// The elements of `operand` that are read or written, in terms of the
  /// dimensions of the contraction: a constant for a dimension of extent 1.
  AffineMap getMap(OpOperand &operand, unsigned numDims);
};

/// Matches `op` as a reduction with one result, whose parallel loops are the
/// result's dimensions and possibly others of extent 1.
std::optional<RowReduction> matchRowReduction(linalg::LinalgOp op);

/// Whether an epilogue can use the elements of `operand` of `op`, as an extra
/// operand of the contraction or as a scalar.
bool canBeExtra(linalg::LinalgOp op, OpOperand &operand);

/// Replaces the last of `consumers` by `op` with a longer epilogue, which has
/// its result. Each consumer reads the contraction, the results of earlier
/// consumers, and operands that satisfy `canBeExtra`; only the last one's
/// result has other users.
ContractOp fuseConsumers(ContractOp op, ArrayRef<Consumer> consumers,
                         RewriterBase &rewriter);

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LINALGTOTESSERA_FUSECONSUMERS_H
