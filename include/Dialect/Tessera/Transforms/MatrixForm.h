//===- MatrixForm.h - A contraction as a batched matrix product -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_MATRIXFORM_H
#define DIALECT_TESSERA_TRANSFORMS_MATRIXFORM_H

#include "Dialect/Tessera/IR/Tessera.h"

#include <array>

namespace mlir::tessera {

/// How a contraction is a batch of matrix products. The rows of the product
/// are the linear index of the dimensions `m` (the last one runs fastest), its
/// columns that of `n`, and the sum runs over that of `k`. Each may be empty:
/// an extent of 1. The other dimensions of the output are the batch.
///
/// `m` are so many of the last M dimensions of the output as are one dimension
/// in the memory of the output and of all extras; the others join the batch.
/// The same holds for `n`. Beside other dimensions of its part, one whose
/// extent is known to be 1 joins the batch.
struct MatrixForm {
  SmallVector<unsigned> batch, m, n, k;
  /// Whether lhs (0), rhs (1) is no matrix in memory: its elements are gathered
  /// one by one or in short runs, as the image of a convolution is.
  std::array<bool, 2> gather = {false, false};

  ArrayRef<unsigned> getRows(unsigned operand) const {
    return operand == 1 ? k : m;
  }
  ArrayRef<unsigned> getCols(unsigned operand) const {
    return operand == 0 ? k : n;
  }
};

/// Whether `op` is a contraction on memrefs; on tensors, it is none yet.
inline bool isOnMemRefs(ContractOp op) {
  return isa<MemRefType>(op.getOutput().getType());
}

/// The matrix form of `op`. On tensors, the layout of a memref to come is taken
/// to be dense.
MatrixForm getMatrixForm(ContractOp op);

/// Whether operand `operand` of `op` (in the order of the maps) holds `dims` as
/// one dimension: side by side, in this order, dense. True as well where it
/// uses none of them.
bool isOneDimension(ContractOp op, unsigned operand, ArrayRef<unsigned> dims);

/// The static extent of iteration dimension `dim` of `op`, or kDynamic.
int64_t getStaticExtent(ContractOp op, unsigned dim);
/// The product of those of `dims`, or kDynamic.
int64_t getLinearExtent(ContractOp op, ArrayRef<unsigned> dims);

/// Extents of M, N and K of `op` in its matrix form: 1 for one that it does not
/// have. `ShapedType::kDynamic` where unknown.
std::array<int64_t, 3> getStaticExtents(ContractOp op, const MatrixForm &form);

/// Whether memory holds lhs (0), rhs (1), the output (2) or an extra (3 and on)
/// of `op` column by column: the rows run fastest.
bool isStoredTransposed(ContractOp op, const MatrixForm &form,
                        unsigned operand);

/// The largest K step that an input of a producer permits: where its map
/// divides a K dimension by a constant, one step is to stay within one
/// quotient. 0 where there is no limit.
int64_t getLargestStep(ContractOp op, const MatrixForm &form);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_MATRIXFORM_H
