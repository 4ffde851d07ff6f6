//===- ContractOperands.h - The memory of a contraction's operands --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_CONTRACTOPERANDS_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_CONTRACTOPERANDS_H

#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Dialect/Tessera/Utils/MatrixForm.h"

namespace mlir::tessera {

/// A matrix in memory: the last two dimensions of a memref, rows and columns or
/// the other way round, at some indices of those before.
struct MatrixView {
  Value memory;
  SmallVector<Value> leading;
  bool transposed = false;

  /// All indices of a position.
  SmallVector<Value> getIndices(Value row, Value col) const {
    SmallVector<Value> indices(leading);
    indices.append({transposed ? col : row, transposed ? row : col});
    return indices;
  }
};

/// The extents that a tile does not divide, so that it may exceed them.
struct TileBounds {
  bool rows = true, cols = true;
};

/// The operands of one contraction on memrefs, as matrices.
class ContractOperands {
public:
  /// Emits the extents at the builder's insertion point, in host code.
  ContractOperands(ContractOp op, const MatrixForm &form,
                   ImplicitLocOpBuilder &builder);

  /// Uses `memory` instead of the output: a workspace of its shape, with
  /// `slice` as the index of one additional leading dimension.
  void setWorkspace(Value memory) { workspace = memory; }
  Value getWorkspace() const { return workspace; }
  void setSlice(Value index) { slice = index; }

  /// The extent of an iteration dimension, of M, N, K, and of the batch.
  Value getSize(unsigned dim) const { return sizes[dim]; }
  Value getM() const { return m; }
  Value getN() const { return n; }
  Value getK() const { return k; }
  Value getNumBatches() const { return numBatches; }

  /// Sets the indices of the batch from their linear index.
  void setBatch(Value linear);
  /// These indices, to be set again.
  SmallVector<Value> getBatch() const { return index; }
  void setBatch(ArrayRef<Value> indices) { index.assign(indices); }
  /// Makes tiles hold the same part of `count` matrices of the batch from
  /// `first` on, stacked along the rows: these are gathered. With `ragged`, the
  /// batch may end before the last matrix.
  void setSlots(Value first, int64_t count, bool ragged) {
    slots = {first, count, ragged};
  }

  /// Operand `operand` (lhs 0, rhs 1, output 2, extras from 3 on, then the
  /// inputs of the producers) as a matrix, at the batch.
  MatrixView viewMatrix(unsigned operand);
  /// Operand `operand` as a vector along `dims`, M or N or K, at the batch.
  Value viewVector(unsigned operand, ArrayRef<unsigned> dims);
  /// Input `operand` of a producer, which has one value for a whole step along
  /// K, as a vector along `dims` at the batch and at `k`.
  Value viewQuotient(unsigned operand, ArrayRef<unsigned> dims, Value k);
  /// The one element of `operand`, at the batch.
  Value loadScalar(unsigned operand);
  /// Whether the map of `operand` divides a dimension, or uses some of several
  /// K dimensions.
  bool isQuotient(unsigned operand);
  /// Whether `operand` moves with `dims`.
  bool reads(unsigned operand, ArrayRef<unsigned> dims);

  /// The tile of `shape` of lhs (0) or rhs (1) from (row, col) on. `view` is
  /// the operand as a matrix, where it is one. `beyond` states where the tile
  /// may reach beyond the matrix. With slots, `shape` is of one of them.
  Value createTile(unsigned side, const MatrixView &view, Value row, Value col,
                   std::array<int64_t, 2> shape, TileBounds beyond,
                   int64_t accessBytes);

private:
  struct Collapsed {
    Value memory;
    /// For each dimension of `memory` the iteration dimension: the last one of
    /// those that it holds.
    SmallVector<unsigned> dims;
  };
  Value getOperand(unsigned operand) const;
  /// Sets the insertion point to host code before the kernel that is being
  /// built: kernels receive values that are created there as arguments.
  void leaveKernel();
  /// `operand` with the dimensions of M, of N and of K as one each.
  Collapsed collapse(unsigned operand);
  /// `operand` at the batch, without the dimensions other than `keep`.
  Value viewAtBatch(unsigned operand, ArrayRef<unsigned> keep);
  Value viewAtBatch(unsigned operand, ArrayRef<unsigned> keep,
                    const Collapsed &collapsed);
  /// The number of elements that are known to be contiguous, and the alignment
  /// in bytes of such a run.
  std::pair<int64_t, int64_t> getRun(unsigned side, bool transposed,
                                     int64_t rowLength, int64_t accessBytes);
  /// Whether result `r` of the map of `side` stays within the operand.
  bool isWithin(unsigned side, unsigned r);
  void buildGather(Region &region, unsigned side, bool transposed, Value row,
                   Value col, int64_t slotRows, TileBounds beyond);

  ContractOp op;
  const MatrixForm &form;
  ImplicitLocOpBuilder &builder;
  IndexMath math;
  /// The sizes of the loops, by which a position along several of them is
  /// divided. A sum over no elements still has tiles if these are requested
  /// ahead: an empty loop counts as one iteration.
  SmallVector<Value> divisors;

  SmallVector<Value> operands, sizes, index;
  Value m, n, k, numBatches, workspace, slice;
  struct {
    Value first;
    int64_t count = 1;
    bool ragged = false;
  } slots;
};

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_CONTRACTOPERANDS_H
