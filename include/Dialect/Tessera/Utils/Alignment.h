//===- Alignment.h - Divisors and alignments of indices ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_ALIGNMENT_H
#define DIALECT_TESSERA_UTILS_ALIGNMENT_H

#include "mlir/IR/ValueRange.h"

namespace mlir::tessera {

/// The largest number that provably divides `value`, up to 4096: from
/// constants, multiplications, sums, loop bounds and steps; for the column of a
/// gather, a divisor of the first elements of its groups.
int64_t getKnownDivisor(Value value);

/// The provable alignment in bytes, up to 16, of the first element of every row
/// of a tile at `indices` (one per dimension) of `memory`. Rows are along the
/// last dimension. The base of a memref that is not a view is assumed to be
/// 16-byte aligned: the runtime checks this for every buffer that is passed to
/// a kernel. 0 for packed elements that may start in the middle of a byte.
int64_t getKnownTileAlignment(Value memory, ValueRange indices);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_ALIGNMENT_H
