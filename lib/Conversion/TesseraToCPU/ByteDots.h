//===- ByteDots.h - Dot products of bytes on x86 ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_TESSERATOCPU_BYTEDOTS_H
#define LIB_CONVERSION_TESSERATOCPU_BYTEDOTS_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// Emits a `tessera.mma` of bytes by vpdpbusd, instruction `row` of the table.
/// `a`, `b` and `acc` are the tiles of the operands, row by row: k bytes along
/// K, a multiple of 4; kx16 bytes; and 16 sums. Returns the tiles of the sums;
/// none if they are too many to be unrolled.
SmallVector<Value> emitByteDots(OpBuilder &builder, Location loc,
                                const MatrixInstruction &row, MmaOp op,
                                ValueRange a, ValueRange b, ValueRange acc);

} // namespace mlir::tessera

#endif // LIB_CONVERSION_TESSERATOCPU_BYTEDOTS_H
