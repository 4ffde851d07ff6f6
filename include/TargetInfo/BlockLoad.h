//===- BlockLoad.h - Block loads of matrix operands -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_BLOCKLOAD_H
#define TARGETINFO_BLOCKLOAD_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The load of one tile of a matrix instruction's operand, as a block of
/// SPV_INTEL_2d_block_io. A taller block, or several adjacent blocks, loads
/// several tiles: the tiles of one block are below each other, all of a tile's
/// registers precede the next tile's, and the blocks follow one another.
struct BlockLoad {
  /// The transformation of the block on its way to registers.
  enum class Kind {
    /// No transformation: rows are spread over the lanes.
    Rows,
    /// Elements of a column are packed into 32 bits (VNNI).
    Packed,
    /// The block is transposed.
    Transposed
  };
  Kind kind;
  /// The size of an element of the instruction; in a transposed block, one such
  /// element holds several of the operand's.
  int64_t elementBytes;
  /// The block in memory: columns of such elements, and rows.
  int64_t width, height;
  /// The tallest block, and the largest number of adjacent blocks.
  int64_t mostHeight, mostCount;
};

/// The load that gives the lanes of `chip` the operand a or b of `row`, from
/// memory that holds it in row-major order, or in column-major order
/// (`transposed`). Empty if there is none.
std::optional<BlockLoad> findBlockLoad(const Chip &chip,
                                       const MatrixInstruction &row, Role role,
                                       bool transposed);

} // namespace mlir::tessera

#endif // TARGETINFO_BLOCKLOAD_H
