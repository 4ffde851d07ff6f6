//===- DefaultVectors.cpp - Tiles of one lane's vectors -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a subgroup has one lane, the accumulators of a tile are vectors along
// its rows. For each element of K, the lane loads the vectors of one row of
// rhs, and broadcasts one element of lhs for each row of the tile:
//
//              b0 b1           2 loads
//     a0  ->   FMA FMA         1 load, 2 FMAs
//     a1  ->   FMA FMA         1 load, 2 FMAs
//
// Where rhs has K along its rows, the lane loads vectors along K of as many
// columns, and transposes them in registers:
//
//              b00 b10 b20 b30                      b00 b01 b02 b03
//     column   b01 b11 b21 b31      ->     row      b10 b11 b12 b13
//              b02 b12 b22 b32                      b20 b21 b22 b23
//              b03 b13 b23 b33                      b30 b31 b32 b33
//
// Dot products add four elements of K at a time. The lane gathers those of a
// column from four rows of rhs, and adds an offset to those of lhs.
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

using namespace mlir;
using namespace mlir::tessera;

/// Rows for which a tile of one vector, if rhs is transposed, has the least
/// time.
static constexpr int64_t fewTransposedRows = 8;

/// The cost of all tiles of these rows and vectors, for one element of K: FMAs,
/// a share of the loads, which the processor executes beside FMAs, and the
/// loop. A tile of few FMAs waits for their latency. An operand that does not
/// fit into the second cache is read from further away for each row or column
/// of tiles: measured on two cores, 128x4096x9216 takes 102 ms in tiles of 4x64
/// and 63 in 8x32, 2048 cubed 187 and 129, and 1000 cubed about 10 in either.
static double estimateVectorTile(int64_t extentM, int64_t extentN,
                                 int64_t width, int64_t rows, int64_t vectors,
                                 std::array<bool, 2> isFar, bool hasDots) {
  constexpr int64_t latency = 8;
  // Dot products add an offset to an element, and permute a vector.
  constexpr double dotElement = 0.5, dotVector = 2, load = 0.25,
                   farElement = 0.5, farVector = 1, loop = 1,
                   boundsOfRows = 1.2, boundsOfColumns = 1.05;
  int64_t columns = vectors * width, tiles = llvm::divideCeil(extentM, rows) *
                                             llvm::divideCeil(extentN, columns);
  double element = isFar[0] ? farElement : load,
         vector = isFar[1] ? farVector : load;
  if (hasDots) {
    element = dotElement;
    vector = dotVector;
  }
  double cost = double(std::max(rows * vectors, latency)) +
                element * double(rows) + vector * double(vectors) + loop;
  return double(tiles) * cost * (extentM % rows == 0 ? 1 : boundsOfRows) *
         (extentN % columns == 0 ? 1 : boundsOfColumns);
}

bool ScheduleBuilder::usesPlainVectors() {
  int64_t bytes = getElementBytes(op.getAccumulatorType());
  auto isWhole = [&](Type type) { return getElementBytes(type) == bytes; };
  return chip.policy.vectorRegisters > 0 && !usesMatrixUnit && bytes >= 4 &&
         isWhole(op.getFactorType(0)) && isWhole(op.getFactorType(1)) &&
         8 * bytes == operandBits;
}

bool ScheduleBuilder::usesVectorDots() {
  return chip.policy.vectorRegisters > 0 && operandBits == 8 &&
         usesDotProducts(op, form, chip);
}

bool ScheduleBuilder::transposesVectors() {
  return chip.policy.vectorRegisters > 0 && !usesMatrixUnit && !hasWholeRows &&
         fields.stages == 0 && getElementBytes(op.getAccumulatorType()) >= 4 &&
         limit == 0 && !form.gather[1] && op.getProducer(1).empty() &&
         !isPacked(op.getFactorType(1)) && isStoredTransposed(op, form, 1);
}

/// Few rows take as long as rhs takes to be read, in tiles of one vector. More
/// rows share what is transposed, even though most accumulators are then in the
/// first cache.
/// Measured on two cores with AVX-512, 4096 columns and K of 9216 in f32: 2
/// rows take 4.9 ms in tiles of 2x16 and 6.8 with N along the rows of rhs; 64
/// rows take 38.6 ms in tiles of 64x32, 43.3 in 16x32 and 48.6 in 8x32, and
/// 39.5 with N along the rows.
ScheduleBuilder::Tile ScheduleBuilder::chooseTransposedTile() {
  constexpr int64_t mostRows = 64, leastRows = 16, mostBytes = 128,
                    enoughTiles = 32;
  int64_t bytes = getElementBytes(op.getAccumulatorType()),
          width = chip.accessBytes / bytes, rows = extents[0];
  if (ShapedType::isDynamic(rows) || rows <= fewTransposedRows)
    return {ShapedType::isDynamic(rows) ? fewTransposedRows : rows, width};
  // Equal parts of the rows, and tiles for several cores.
  int64_t parts = llvm::divideCeil(rows, mostRows);
  Tile tile{static_cast<int64_t>(llvm::divideCeil(rows, parts)),
            std::max(width, mostBytes / bytes)};
  auto hasFewTiles = [&] {
    std::optional<int64_t> tiles = countWorkgroups(tile);
    return tiles && *tiles < enoughTiles && tile[0] >= 2 * leastRows;
  };
  while (hasFewTiles())
    tile[0] = llvm::divideCeil(rows, ++parts);
  return tile;
}

std::optional<ScheduleBuilder::Tile> ScheduleBuilder::chooseVectorTile() {
  if (transposesVectors())
    return chooseTransposedTile();
  int64_t registers = chip.policy.vectorRegisters,
          bytes = getElementBytes(op.getAccumulatorType());
  bool hasDots = usesVectorDots();
  if ((!usesPlainVectors() && !hasDots) || hasWholeRows ||
      ShapedType::isDynamic(extents[0]) || ShapedType::isDynamic(extents[1]))
    return std::nullopt;
  // Where elements are gathered one by one, these take most of the time, in
  // loops over as many elements as vectors have.
  constexpr int64_t shortestRun = 4;
  if (form.gather[0] && !form.k.empty() &&
      getStaticExtent(op, form.k.back()) % shortestRun)
    return std::nullopt;
  constexpr int64_t mostRows = 14, mostVectors = 5;
  int64_t width = chip.accessBytes / bytes;
  auto isFar = [&](int64_t extent) {
    return !form.gather[0] && ShapedType::isStatic(extents[2]) &&
           double(extent) * double(extents[2] * bytes) > chip.policy.cacheBytes;
  };
  Tile best = defaults->subgroup;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t rows = 1; rows <= std::min(mostRows, extents[0]); ++rows)
    for (int64_t vectors = 1; vectors <= mostVectors; ++vectors) {
      // The accumulators, a row of rhs, and an element of lhs; for dot products
      // also the sums of the row, and the offset.
      int64_t used = rows * vectors + vectors + 1;
      if (used + (hasDots ? vectors + 1 : 0) > registers ||
          (vectors > 1 && (vectors - 1) * width >= extents[1]) ||
          !hasClass({rows, vectors * width}, longest))
        continue;
      double cost =
          estimateVectorTile(extents[0], extents[1], width, rows, vectors,
                             {isFar(extents[0]), isFar(extents[1])}, hasDots);
      // A tile of many rows reads less of rhs.
      if (cost <= least) {
        least = cost;
        best = {rows, vectors * width};
      }
    }
  return best;
}

bool ScheduleBuilder::chooseStepOfVectors() {
  if (transposesVectors()) {
    constexpr int64_t mostBytes = 64;
    int64_t bytes = getElementBytes(op.getAccumulatorType());
    bool isFew = fields.subgroup[0] <= fewTransposedRows;
    fields.k = (isFew ? chip.accessBytes : mostBytes) / bytes;
    while (ShapedType::isStatic(extents[2]) && fields.k / 2 >= extents[2])
      fields.k /= 2;
    instruction = select(fields.subgroup, fields.k);
    fields.kFragment = instruction ? instruction->k : 1;
    return instruction;
  }
  if (usesVectorDots() && fields.stages == 0) {
    // The offset of bytes of the same sign is taken from the sums once for each
    // fragment. The last one should be whole.
    for (int64_t k : {16, 8, 4})
      if (longest % k == 0 && (k == 4 || extents[2] % k == 0)) {
        instruction = select(fields.subgroup, k);
        fields.k = fields.kFragment = k;
        return instruction;
      }
  }
  constexpr int64_t wordBits = 32, narrowest = 16;
  if (chip.policy.vectorRegisters == 0 || usesMatrixUnit ||
      operandBits < narrowest || fields.stages == 0 || form.k.empty())
    return false;
  // A loop with a word of each row: more elements of K need registers for all
  // their rows of rhs.
  int64_t length = std::max<int64_t>(wordBits / operandBits, 1);
  if (limit % length != 0)
    return false;
  instruction = select(fields.subgroup, length);
  if (!instruction || instruction->k != length)
    return false;
  fields.kFragment = length;
  // The innermost dimension of K is contiguous in a gathered operand, whose
  // indices are computed once for each part of it.
  constexpr int64_t most = 64, least = 12, vector = 4;
  int64_t run = getStaticExtent(op, form.k.back());
  fields.k = 16;
  for (int64_t k = most; k >= least && ShapedType::isStatic(run); k -= vector)
    if (run % k == 0) {
      fields.k = k;
      break;
    }
  while (limit && limit % fields.k)
    fields.k -= length;
  return true;
}
