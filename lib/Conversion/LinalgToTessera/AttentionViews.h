//===- AttentionViews.h - Sources of attention's operands -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_ATTENTIONVIEWS_H
#define CONVERSION_LINALGTOTESSERA_ATTENTIONVIEWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::tessera {

/// The operands of an attention, seen through the ops that only move elements
/// (transposes, broadcasts, reshapes). Batch dimensions are divided where a
/// reshape merged several, so that keys which are repeated for the heads of a
/// group are those of the group:
///
///   keys [B, G, N, D] -> broadcast [B, G, T, N, D] -> collapse [B, G * T, N,
///   D]
///
/// has the batch dimensions B, G, T, of which the keys use B and G.
class AttentionViews {
public:
  /// Query, key, value and output, and their maps over one iteration space
  /// whose last four dimensions are M, N, D and E.
  AttentionViews(ArrayRef<Value> operands, ArrayRef<AffineMap> maps);

  /// Makes the output that of `transpose`, an element-wise op that permutes
  /// dimensions of the reshaped result. False, with views that must not be
  /// used, if the reshape divides another dimension than one of the batch.
  bool moveResult(tensor::ExpandShapeOp reshape, linalg::LinalgOp transpose);

  /// Looks through all that query, key and value permit.
  void run();

  /// Whether an op that copies elements was passed, and not just reshapes.
  bool skipsCopies() const { return foundCopies; }
  unsigned getNumBatch() const {
    return static_cast<unsigned>(sizes.size()) - 4;
  }
  /// The map of an operand, over the new iteration space. A result is zero
  /// where the operand is broadcast from one element.
  AffineMap getMap(unsigned operand) const;
  /// For each dimension of the source, the dimensions of the created operand.
  SmallVector<ReassociationIndices> getGroups(unsigned operand) const;
  /// The operand with a dimension for each result of its map: the source, or a
  /// reshape of it. The contents of an output are lost.
  Value create(unsigned operand, OpBuilder &builder, Location loc) const;

private:
  /// A tensor, each of whose dimensions is indexed by several iteration
  /// dimensions, the last of which runs fastest; by none: the index is zero.
  struct View {
    Value value;
    SmallVector<SmallVector<unsigned>> dims;
  };

  bool lookThrough(View &view);
  bool lookThroughCollapse(View &view, tensor::CollapseShapeOp op);
  /// Whether `dims` have these extents, or may be divided into them.
  bool canDivide(ArrayRef<unsigned> dims, ArrayRef<int64_t> extents) const;
  void divide(unsigned dim, ArrayRef<int64_t> parts);

  SmallVector<View> views;
  /// The extents of the iteration dimensions, as far as they are static.
  SmallVector<int64_t> sizes;
  bool foundCopies = false;
};

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_ATTENTIONVIEWS_H
