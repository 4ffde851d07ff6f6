//===- MatrixMaps.h - Functions of matrices' elements -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATOSPIRV_MATRIXMAPS_H
#define CONVERSION_TESSERATOSPIRV_MATRIXMAPS_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "Target/MatrixFunctions.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVTypes.h"

namespace mlir::tessera {

struct Chip;

/// Whether cooperative matrices of `chip` can compute the map: its region is
/// arithmetic of f16 and f32 without memory accesses, with no other values
/// between ops of different element types.
bool isMatrixMap(const Chip &chip, MapOp op);

/// Emits the map for one matrix of each input, which starts at `position` of
/// the fragment. Fails where `isMatrixMap` does not hold.
FailureOr<Value> emitMatrixMap(OpBuilder &builder, MapOp op, ValueRange inputs,
                               spirv::CooperativeMatrixType type,
                               std::array<int64_t, 2> position);

/// Whether rows of accumulators can be reduced by such an op.
bool isMatrixReduction(ReductionKind kind);

/// Emits the reduction of the rows of adjacent matrices, to a matrix that is
/// the same in all columns.
Value emitMatrixReduction(OpBuilder &builder, Location loc, ReductionKind kind,
                          ValueRange tiles);

/// Casts a matrix to another element type, with the same use.
Value castMatrix(OpBuilder &builder, Location loc, Value matrix, Type element,
                 bool isUnsigned);

/// Emits the call that becomes the instruction `opcode` on `matrix`, with the
/// function of elements named `element` if it has one.
Value callMatrixFunction(OpBuilder &builder, Location loc,
                         matrix_functions::Opcode opcode,
                         spirv::CooperativeMatrixType type, Value matrix,
                         StringRef element = {});

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOSPIRV_MATRIXMAPS_H
