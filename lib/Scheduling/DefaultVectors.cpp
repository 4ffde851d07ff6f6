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
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

using namespace mlir;
using namespace mlir::tessera;

/// The cost of all tiles of these rows and vectors, for one element of K: FMAs,
/// a share of the loads, which the processor executes beside FMAs, and the
/// loop. A tile of few FMAs waits for their latency.
static double estimateVectorTile(int64_t extentM, int64_t extentN,
                                 int64_t width, int64_t rows, int64_t vectors) {
  constexpr int64_t latency = 8;
  constexpr double load = 0.25, loop = 1, boundsOfRows = 1.2,
                   boundsOfColumns = 1.05;
  int64_t columns = vectors * width, tiles = llvm::divideCeil(extentM, rows) *
                                             llvm::divideCeil(extentN, columns);
  double cost = double(std::max(rows * vectors, latency)) +
                load * double(rows + vectors) + loop;
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

std::optional<ScheduleBuilder::Tile> ScheduleBuilder::chooseVectorTile() {
  int64_t registers = chip.policy.vectorRegisters,
          bytes = getElementBytes(op.getAccumulatorType());
  if (!usesPlainVectors() || hasWholeRows ||
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
  Tile best = defaults->subgroup;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t rows = 1; rows <= std::min(mostRows, extents[0]); ++rows)
    for (int64_t vectors = 1; vectors <= mostVectors; ++vectors) {
      // The accumulators, a row of rhs, and an element of lhs.
      if (rows * vectors + vectors + 1 > registers ||
          (vectors > 1 && (vectors - 1) * width >= extents[1]) ||
          !hasClass({rows, vectors * width}, longest))
        continue;
      double cost =
          estimateVectorTile(extents[0], extents[1], width, rows, vectors);
      // A tile of many rows reads less of rhs.
      if (cost <= least) {
        least = cost;
        best = {rows, vectors * width};
      }
    }
  return best;
}

bool ScheduleBuilder::chooseStepOfVectors() {
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
