//===- ShiftedReads.h - Wide reads from any element -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_FRAGMENTTOVECTOR_SHIFTEDREADS_H
#define CONVERSION_FRAGMENTTOVECTOR_SHIFTEDREADS_H

#include "Patterns.h"

namespace mlir::tessera {

/// The bytes of an aligned access, and of a shifted read.
inline constexpr int64_t shiftedBytes = 16;

/// Whether copies from `source` on `chip` should read 16 bytes from any element
/// on by two aligned accesses and a shift: rows are contiguous in global
/// memory, and the chip's asynchronous copies need a larger alignment than that
/// of an element.
bool canReadShifted(MemRefType source, const Chip &chip);

/// Two adjacent aligned accesses, and where the data begins in them.
struct ShiftedWords {
  /// All 32 bytes, of type vector<8xi32>.
  Value words;
  /// The first byte of the data in `words` (i32), less than 16.
  Value first;
};

/// Reads the 16 bytes of `source` that begin at `indices`. Elements beyond the
/// last one of `source` are zero, and not read; those beyond the row have any
/// contents.
ShiftedWords emitShiftedRead(OpBuilder &builder, Location loc, Value source,
                             ValueRange indices);

/// The data of `read`, as a vector of elements of type `element`. Those from
/// `count` on are zero (index; null: none).
Value emitShiftedData(OpBuilder &builder, Location loc, ShiftedWords read,
                      Type element, Value count);

} // namespace mlir::tessera

#endif // CONVERSION_FRAGMENTTOVECTOR_SHIFTEDREADS_H
