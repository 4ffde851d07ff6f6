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

/// The reduction of a linalg op: an element made by its body, combined with
/// what there is by one op.
struct RowReduction {
  ReductionKind kind;
  Operation *combiner;
  /// In the body.
  Value element;
};

/// A linalg op that is to become part of an epilogue.
struct Consumer {
  /// In the place of a dimension: a loop of extent 1 beside the contraction's.
  static constexpr unsigned noDim = ~0u;

  linalg::LinalgOp op;
  /// The dimension of the contraction that each of its loops is.
  SmallVector<unsigned> dims;
  /// Of one that reduces rows.
  std::optional<RowReduction> reduction;

  Value getResult() const { return op->getResult(0); }
  /// Which elements of `operand` are read or written, by the dimensions of the
  /// contraction: a constant in the place of a dimension of extent 1.
  AffineMap getMap(OpOperand &operand, unsigned numDims);
};

/// Recognizes `op` as a reduction with one result; its parallel loops are the
/// result's dimensions, beside others of extent 1.
std::optional<RowReduction> matchRowReduction(linalg::LinalgOp op);

/// Whether an epilogue can take the elements of `operand` of `op`, as an extra
/// operand of the contraction or as a scalar.
bool canBeExtra(linalg::LinalgOp op, OpOperand &operand);

/// `op` with a longer epilogue in the place of the last of `consumers`, whose
/// result it has. Each consumer reads the product, the results of those before
/// it, and what `canBeExtra`; only the last one's result is used elsewhere.
ContractOp fuseConsumers(ContractOp op, ArrayRef<Consumer> consumers,
                         RewriterBase &rewriter);

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LINALGTOTESSERA_FUSECONSUMERS_H
