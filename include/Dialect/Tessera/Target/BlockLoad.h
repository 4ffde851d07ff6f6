//===- BlockLoad.h - Which block load brings which operand ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TARGET_BLOCKLOAD_H
#define DIALECT_TESSERA_TARGET_BLOCKLOAD_H

#include "Dialect/Tessera/Target/Chip.h"

namespace mlir::tessera {

/// The load of one tile of a matrix instruction's operand, as a block of
/// SPV_INTEL_2d_block_io. A taller block, or several side by side, brings
/// several tiles: those of one block lie below each other, all of a tile's
/// registers before the next one's, and block follows block.
struct BlockLoad {
  /// What is done with the block on the way to registers.
  enum class Kind {
    /// Nothing: rows are spread over the lanes.
    Rows,
    /// 32 bits of a column are put together.
    Packed,
    /// Rows become columns.
    Turned
  };
  Kind kind;
  /// Of what the instruction takes for an element, of which there are several
  /// of the operand's in one where rows become columns.
  int64_t elementBytes;
  /// In memory: columns of such elements, and rows.
  int64_t width, height;
  /// The tallest block, and how many of them can lie side by side.
  int64_t mostHeight, mostCount;
};

/// The load that gives the lanes of `chip` what `row` wants of its operand a or
/// b, from memory that has it row by row, or column by column (`transposed`).
/// Nothing where there is none.
std::optional<BlockLoad> findBlockLoad(const Chip &chip,
                                       const MatrixInstruction &row, Role role,
                                       bool transposed);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_BLOCKLOAD_H
