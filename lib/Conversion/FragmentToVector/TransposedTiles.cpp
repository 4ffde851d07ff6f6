//===- TransposedTiles.cpp - Columns of memory to rows of vectors ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a subgroup of one lane, the registers hold a tile in row-major order. If
// the memory holds the fragment in column-major order, N columns are read as
// vectors of P elements each, and the N x P block is converted to P rows of N
// elements (`interleaveVectors`).
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "Dialect/Tessera/Utils/InterleaveVectors.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::canTransposeTiles(const TileLayout &layout) {
  const LaneMap &map = layout.map;
  int64_t width = map.getCols();
  return map.getNumLanes() == 1 && width >= 4 && llvm::isPowerOf2_64(width) &&
         map.getContiguous(1) == width &&
         (map.getRows() >= 4 || layout.tiles[0] % 4 == 0);
}

Value mlir::tessera::emitConcatenation(OpBuilder &builder, Location loc,
                                       ArrayRef<Value> parts) {
  SmallVector<Value> whole(parts);
  while (whole.size() > 1) {
    SmallVector<Value> next;
    for (size_t at = 0; at < whole.size(); at += 2) {
      int64_t width = cast<VectorType>(whole[at].getType()).getNumElements();
      next.push_back(vector::ShuffleOp::create(
          builder, loc, whole[at], whole[at + 1],
          llvm::to_vector(llvm::seq<int64_t>(0, 2 * width))));
    }
    whole = std::move(next);
  }
  return whole.front();
}

SmallVector<Value> mlir::tessera::emitTransposedTiles(
    OpBuilder &builder, Location loc, const TileLayout &layout,
    function_ref<Value(int64_t column, int64_t row, int64_t count)> load) {
  int64_t width = layout.map.getCols(), tileRows = layout.map.getRows();
  // Rows of one tile, or tiles that are a row each.
  int64_t rows = tileRows > 1 ? tileRows : std::gcd(layout.tiles[0], width);
  SmallVector<Value> tiles(layout.getNumTiles());
  for (int64_t i = 0; i < layout.tiles[0]; i += rows / tileRows)
    for (int64_t j = 0; j < layout.tiles[1]; ++j) {
      SmallVector<Value> parts;
      for (int64_t column = 0; column < width; ++column)
        parts.push_back(load(j * width + column, i * tileRows, rows));
      interleaveVectors(builder, loc, parts);
      // The parts in order are the block in row-major order.
      size_t numTiles = rows / tileRows, each = parts.size() / numTiles;
      for (size_t t = 0; t < numTiles; ++t)
        tiles[(i + t) * layout.tiles[1] + j] = emitConcatenation(
            builder, loc, ArrayRef(parts).slice(t * each, each));
    }
  return tiles;
}
