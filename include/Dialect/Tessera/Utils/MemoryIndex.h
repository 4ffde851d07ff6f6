//===- MemoryIndex.h - Indices of elements and bytes in memory --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_MEMORYINDEX_H
#define DIALECT_TESSERA_UTILS_MEMORYINDEX_H

#include "mlir/IR/Builders.h"

namespace mlir::tessera {

/// The index of the byte of a packed memory that holds the element at
/// `indices`. If rows start at whole bytes, only the last index is halved, and
/// sums of the other indices are preserved.
Value emitByteIndex(OpBuilder &builder, Location loc, Value memory,
                    ValueRange indices);

/// A view of `count` bytes of memory of packed elements, from byte `first`
/// (index) on.
Value emitByteView(OpBuilder &builder, Location loc, Value memory, Value first,
                   int64_t count);

/// The linear index of the element at `indices` of `memory` in its buffer: from
/// the strides and the offset.
Value emitLinearIndex(OpBuilder &builder, Location loc, Value memory,
                      ValueRange indices);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_MEMORYINDEX_H
