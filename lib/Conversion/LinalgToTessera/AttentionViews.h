//===- AttentionViews.h - Sources of attention's operands -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_ATTENTIONVIEWS_H
#define CONVERSION_LINALGTOTESSERA_ATTENTIONVIEWS_H

#include "PagedKeys.h"

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
  /// Whether `operand` is gathered from pages: its source has one more
  /// dimension than its map has results, the first one.
  bool hasPages(unsigned operand) const {
    return views[operand].pages.op != nullptr;
  }
  /// The page of key `key` at a point of the batch.
  Value emitPage(unsigned operand, OpBuilder &builder, Location loc,
                 ValueRange batch, Value key) const;
  /// The number of keys.
  Value createNumKeys(unsigned operand, OpBuilder &builder, Location loc) const;
  /// The batch dimensions that each of the original ones has become, the last
  /// of which runs fastest.
  ArrayRef<SmallVector<unsigned>> getOrigins() const { return origins; }
  /// The static extent of a dimension, or kDynamic.
  int64_t getSize(unsigned dim) const { return sizes[dim]; }
  /// The operand with a dimension for each result of its map: the source, or a
  /// reshape of it. The contents of an output are lost.
  Value create(unsigned operand, OpBuilder &builder, Location loc) const;

private:
  /// A tensor, each of whose dimensions is indexed by several iteration
  /// dimensions, the last of which runs fastest; by none: the index is zero.
  struct View {
    Value value;
    SmallVector<SmallVector<unsigned>> dims;
    PagedKeys pages;
  };

  bool lookThrough(View &view);
  bool lookThroughCollapse(View &view, tensor::CollapseShapeOp op);
  /// Looks through a gather of pages, and the ops that move its elements and
  /// merge pages.
  bool lookThroughPages(View &view);
  bool lookThroughMove(View &view) const;
  /// The values of a list of dimensions, as one index.
  Value linearize(OpBuilder &builder, Location loc, ArrayRef<unsigned> list,
                  ValueRange batch, Value key, int64_t pageSize) const;
  unsigned getKeyDim() const { return static_cast<unsigned>(sizes.size()) - 3; }
  /// Whether `dims` have these extents, or may be divided into them.
  bool canDivide(ArrayRef<unsigned> dims, ArrayRef<int64_t> extents) const;
  void divide(unsigned dim, ArrayRef<int64_t> parts);

  SmallVector<View> views;
  /// The extents of the iteration dimensions, as far as they are static.
  SmallVector<int64_t> sizes;
  SmallVector<SmallVector<unsigned>> origins;
  bool foundCopies = false;
};

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_ATTENTIONVIEWS_H
