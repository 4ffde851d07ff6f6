//===- MatrixForm.h - Contractions as batched matmuls -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_MATRIXFORM_H
#define DIALECT_TESSERA_UTILS_MATRIXFORM_H

#include "Dialect/Tessera/IR/Tessera.h"

#include <array>

namespace mlir::tessera {

/// A contraction as a batch of matmuls. The rows of a matmul are the linear
/// index of the dimensions `m` (the last one runs fastest), its columns that of
/// `n`, and the sum is over that of `k`. Each may be empty: an extent of 1. The
/// other dimensions of the output are the batch.
///
/// `m` holds the last M dimensions of the output that are contiguous in the
/// memory of the output and of all extras; the other M dimensions are part of
/// the batch. The same holds for `n`. Among several dimensions of one kind, one
/// whose extent is statically 1 is part of the batch.
struct MatrixForm {
  SmallVector<unsigned> batch, m, n, k;
  /// Whether lhs (0), rhs (1) is not a matrix in memory: its elements are
  /// gathered one by one or in short runs, as for the image of a convolution.
  std::array<bool, 2> gather = {false, false};

  ArrayRef<unsigned> getRows(unsigned operand) const {
    return operand == 1 ? k : m;
  }
  ArrayRef<unsigned> getCols(unsigned operand) const {
    return operand == 0 ? k : n;
  }
};

/// Whether `op` is a contraction on memrefs, not on tensors.
inline bool isOnMemRefs(ContractOp op) {
  return isa<MemRefType>(op.getOutput().getType());
}

/// The matrix form of `op`. Tensors are assumed to become memrefs of a dense
/// layout.
MatrixForm getMatrixForm(ContractOp op);

/// Whether `dims` are contiguous in operand `operand` of `op` (in the order of
/// the maps): adjacent, in this order, and dense. Also true if the operand uses
/// none of them.
bool isOneDimension(ContractOp op, unsigned operand, ArrayRef<unsigned> dims);

/// The static extent of iteration dimension `dim` of `op`, or kDynamic.
int64_t getStaticExtent(ContractOp op, unsigned dim);
/// The product of the static extents of `dims`, or kDynamic.
int64_t getLinearExtent(ContractOp op, ArrayRef<unsigned> dims);

/// The extents of M, N and K of `op` in its matrix form: 1 for a dimension that
/// it lacks, `ShapedType::kDynamic` if unknown.
std::array<int64_t, 3> getStaticExtents(ContractOp op, const MatrixForm &form);

/// The strides of a memref, as `MemRefType::getStridesAndOffset` returns them,
/// but without affine expressions where the layout is the identity.
LogicalResult getStrides(MemRefType type, SmallVectorImpl<int64_t> &strides);

/// Whether lhs (0), rhs (1), the output (2) or an extra (3 and on) of `op` is
/// column-major in memory: its rows run fastest.
bool isStoredTransposed(ContractOp op, const MatrixForm &form,
                        unsigned operand);

/// The largest K step that the inputs of the producers permit: if the map of an
/// input divides a K dimension by a constant, one step must stay within one
/// quotient. 0 if there is no limit.
int64_t getLargestStep(ContractOp op, const MatrixForm &form);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_MATRIXFORM_H
