//===- InterleaveVectors.cpp - Columns to rows, in registers --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Viewed as one array, each step
//
//     a0 a1 a2 a3 | b0 b1 b2 b3   ->   a0 b0 a1 b1 | a2 b2 a3 b3
//
// of its halves rotates the bits of an element's index by one, and after
// log2(N) steps the column index, which was in the high bits, is in the low
// bits.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/InterleaveVectors.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

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

void mlir::tessera::interleaveVectors(OpBuilder &builder, Location loc,
                                      SmallVectorImpl<Value> &columns) {
  size_t count = columns.size();
  for (size_t step = 1; step < count; step *= 2) {
    SmallVector<Value> next;
    for (size_t at = 0; at < count / 2; ++at) {
      auto [low, high] =
          interleave(builder, loc, columns[at], columns[at + count / 2]);
      next.append({low, high});
    }
    columns.assign(next);
  }
}
