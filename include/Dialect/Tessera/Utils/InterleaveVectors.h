//===- InterleaveVectors.h - Columns to rows, in registers ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_INTERLEAVEVECTORS_H
#define DIALECT_TESSERA_UTILS_INTERLEAVEVECTORS_H

#include "mlir/IR/Builders.h"

namespace mlir::tessera {

/// Converts N vectors of P elements each, the columns of a P x N matrix, to its
/// rows, as N vectors of P elements whose elements in order are the matrix in
/// row-major order. N and P are powers of two. (`vector.transpose` becomes
/// shuffles of one vector of all elements, except for 16x16 words.)
void interleaveVectors(OpBuilder &builder, Location loc,
                       SmallVectorImpl<Value> &columns);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_INTERLEAVEVECTORS_H
