//===- TransposedTiles.cpp - Columns of memory to rows of vectors ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a subgroup of one lane, the registers hold a tile in row-major order. If
// the memory holds the fragment in column-major order, N columns are read as
// vectors of P elements each, and the N x P block is converted to P rows of N
// elements by interleaving: viewed as one array, each step
//
//     a0 a1 a2 a3 | b0 b1 b2 b3   ->   a0 b0 a1 b1 | a2 b2 a3 b3
//
// of its halves rotates the bits of an element's index by one, and after
// log2(N) steps the column index, which was in the high bits, is in the low
// bits.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

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

/// The halves of `a` and `b` that interleaving them makes.
static std::pair<Value, Value> interleave(OpBuilder &builder, Location loc,
                                          Value a, Value b) {
  int64_t width = cast<VectorType>(a.getType()).getNumElements();
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < width; ++i) {
    int64_t from = i / 2 + (i % 2) * width;
    low.push_back(from);
    high.push_back(from + width / 2);
  }
  return {vector::ShuffleOp::create(builder, loc, a, b, low),
          vector::ShuffleOp::create(builder, loc, a, b, high)};
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
      for (int64_t step = 1; step < width; step *= 2) {
        SmallVector<Value> next;
        for (int64_t at = 0; at < width / 2; ++at) {
          auto [low, high] =
              interleave(builder, loc, parts[at], parts[at + width / 2]);
          next.append({low, high});
        }
        parts = std::move(next);
      }
      // The parts in order are the block in row-major order.
      size_t numTiles = rows / tileRows, each = parts.size() / numTiles;
      for (size_t t = 0; t < numTiles; ++t)
        tiles[(i + t) * layout.tiles[1] + j] = emitConcatenation(
            builder, loc, ArrayRef(parts).slice(t * each, each));
    }
  return tiles;
}
