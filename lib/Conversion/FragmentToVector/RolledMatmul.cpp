//===- RolledMatmul.cpp - Large matmuls of one lane -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A subgroup of one lane multiplies a fragment of 16x64 by one of 64x64 with
// 8,192 operations on vectors of 8, far more than its registers hold: compilers
// store them anyway, and take time that grows faster than their number. Such
// matmuls become
//
//   store a, b and acc to arrays of the lane
//   for each group of rows of acc
//     for each step of K
//       for each row of the group: acc's row += a's element * b's row
//   load acc
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Patterns.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

/// The largest number of vector operations (of 32 bytes) that are unrolled, and
/// the number that a step of the inner loop should have at least.
static constexpr int64_t mostUnrolled = 512, leastInStep = 8;

/// The most bytes of the arrays of a matmul, a part of a thread's stack.
static constexpr int64_t mostArrayBytes = 64 << 10;

SmallVector<Value> mlir::tessera::emitRolledMatmul(OpBuilder &builder,
                                                   const FragmentTarget &target,
                                                   const MatrixInstruction &row,
                                                   MmaOp op, ValueRange a,
                                                   ValueRange b,
                                                   ValueRange acc) {
  if (row.m != 1 || row.accMap.getNumLanes() != 1)
    return {};
  Location loc = op.getLoc();
  VectorType lineType = getSumType(cast<VectorType>(acc[0].getType()));
  Type element = lineType.getElementType();
  int64_t rows = op.getAcc().getType().getRows();
  int64_t steps = op.getA().getType().getCols();
  int64_t tiles = op.getAcc().getType().getCols() / row.n;
  int64_t width = lineType.getNumElements();
  int64_t elementBits = element.getIntOrFloatBitWidth();
  constexpr int64_t vectorBits = 256;
  int64_t inLine = tiles * llvm::divideCeil(width * elementBits, vectorBits);
  if (rows * steps * inLine <= mostUnrolled)
    return {};
  int64_t group = 1;
  while (group * inLine < leastInStep && rows % (2 * group) == 0)
    group *= 2;

  int64_t columns = tiles * width;
  if ((rows * steps + (rows + steps) * columns) * elementBits / 8 >
      mostArrayBytes)
    return {};
  auto allocate = [&](unsigned slot, int64_t size) {
    return target.getLocalArray(builder, op, slot,
                                MemRefType::get({size}, element));
  };
  Value aArray = allocate(0, rows * steps);
  Value bArray = allocate(1, steps * columns);
  Value accArray = allocate(2, rows * columns);
  if (!aArray || !bArray || !accArray)
    return {};
  IndexMath math(builder, loc);
  auto store = [&](Value vector, Value array, int64_t at) {
    vector::StoreOp::create(builder, loc, vector, array, math.constant(at));
  };
  // Operands are converted here, once, and not in the loops.
  for (auto [i, tile] : llvm::enumerate(a))
    store(emitElementCast(builder, loc, tile, element, op.getUnsignedA()),
          aArray, i * row.k);
  for (auto [i, tile] : llvm::enumerate(b)) {
    int64_t step = i / tiles * row.k, column = i % tiles * width;
    for (int64_t k = 0; k < row.k; ++k) {
      Value line = tile;
      if (row.k > 1)
        line = vector::ShuffleOp::create(
            builder, loc, tile, tile,
            llvm::to_vector(llvm::seq<int64_t>(k * width, (k + 1) * width)));
      // LLVM takes long for conversions of vectors of hundreds of elements.
      line = emitElementCast(builder, loc, line, element, op.getUnsignedB());
      store(line, bArray, (step + k) * columns + column);
    }
  }
  for (auto [i, tile] : llvm::enumerate(acc))
    store(widenAccumulator(builder, loc, tile), accArray, i * width);

  auto load = [&](Value array, Value at) -> Value {
    return vector::LoadOp::create(builder, loc, lineType, array, at);
  };
  Value zero = math.constant(0);
  auto outer = scf::ForOp::create(builder, loc, zero, math.constant(rows),
                                  math.constant(group));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(outer.getBody());
    auto getRow = [&](int64_t i) {
      return math.add(outer.getInductionVar(), i);
    };
    SmallVector<Value> sums, positions;
    for (int64_t i = 0; i < group; ++i)
      for (int64_t j = 0; j < tiles; ++j) {
        positions.push_back(math.add(math.mul(getRow(i), columns), j * width));
        sums.push_back(load(accArray, positions.back()));
      }
    auto inner = scf::ForOp::create(builder, loc, zero, math.constant(steps),
                                    math.constant(1), sums);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(inner.getBody());
      Value step = inner.getInductionVar();
      sums = llvm::to_vector_of<Value>(inner.getRegionIterArgs());
      SmallVector<Value> right;
      for (int64_t j = 0; j < tiles; ++j)
        right.push_back(
            load(bArray, math.add(math.mul(step, columns), j * width)));
      for (int64_t i = 0; i < group; ++i) {
        Value left = memref::LoadOp::create(
            builder, loc, aArray, math.add(math.mul(getRow(i), steps), step));
        left = vector::BroadcastOp::create(builder, loc, lineType, left);
        for (int64_t j = 0; j < tiles; ++j) {
          Value &sum = sums[i * tiles + j];
          sum = emitMultiplyAdd(builder, loc, left, right[j], sum);
        }
      }
      scf::YieldOp::create(builder, loc, sums);
    }
    for (auto [sum, position] : llvm::zip_equal(inner.getResults(), positions))
      vector::StoreOp::create(builder, loc, sum, accArray, position);
  }
  return llvm::map_to_vector(
      llvm::seq<int64_t>(0, rows * tiles),
      [&](int64_t i) { return load(accArray, math.constant(i * width)); });
}
