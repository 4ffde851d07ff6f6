//===- ByteDots.cpp - Dot products of bytes on x86 ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vpdpbusd of AVX512_VNNI (Intel, "64 and IA-32 Architectures Software
// Developer's Manual", volume 2C) multiplies unsigned bytes by signed ones, and
// adds four terms to each sum of 32 bits:
//
//   sum[j] += u[4 * j] * s[4 * j] + ... + u[4 * j + 3] * s[4 * j + 3]
//
// u is a's four bytes along K in each word, and s has those of one column of b
// in each word, or the reverse where b is unsigned and a is signed. Where both
// have the same sign, the other half of the range is reached by an offset of
// 128, which is an exclusive or with 0x80:
//
//   both signed      a * b = (a + 128) * b - 128 * b
//   both unsigned    a * b = a * (b - 128) + 128 * a
//
// The last terms are summed once for each column of b, or row of a.
//
//===----------------------------------------------------------------------===//

#include "ByteDots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// Emits the vectors of one matmul.
class ByteDots {
public:
  ByteDots(OpBuilder &builder, Location loc, const MatrixInstruction &row,
           VectorType sums)
      : builder(builder), loc(loc), intrinsic(row.intrinsic), sums(sums),
        bytes(VectorType::get(4 * sums.getNumElements(), builder.getI8Type())) {
  }

  /// The four bytes of a tile of a from element `k` on, in each word.
  Value spread(Value tile, int64_t k) {
    int64_t words = cast<VectorType>(tile.getType()).getNumElements() / 4;
    Value all = vector::BitCastOp::create(
        builder, loc, VectorType::get(words, builder.getI32Type()), tile);
    Value word = vector::ExtractOp::create(builder, loc, all, k / 4);
    return vector::BitCastOp::create(
        builder, loc, bytes,
        vector::BroadcastOp::create(builder, loc, sums, word));
  }
  /// The four bytes of each column of a tile of b from row `k` on, in a word.
  Value gatherColumns(Value tile, int64_t k) {
    int64_t columns = sums.getNumElements();
    SmallVector<int64_t> indices;
    for (int64_t i = 0; i < 4 * columns; ++i)
      indices.push_back((k + i % 4) * columns + i / 4);
    return vector::ShuffleOp::create(builder, loc, tile, tile, indices);
  }
  /// 0x80 in each byte: 128, or -128 where it is signed.
  Value getOffset() {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(bytes, builder.getI8IntegerAttr(-128)));
  }
  Value addOffset(Value vector) {
    return arith::XOrIOp::create(builder, loc, vector, getOffset());
  }
  Value getZero() {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sums));
  }
  Value multiplyAdd(Value sum, Value unsignedBytes, Value signedBytes) {
    return LLVM::CallIntrinsicOp::create(
               builder, loc, sums, builder.getStringAttr(intrinsic),
               ValueRange{sum, unsignedBytes, signedBytes})
        .getResult(0);
  }

private:
  OpBuilder &builder;
  Location loc;
  StringRef intrinsic;
  VectorType sums, bytes;
};
} // namespace

SmallVector<Value> mlir::tessera::emitByteDots(OpBuilder &builder, Location loc,
                                               const MatrixInstruction &row,
                                               MmaOp op, ValueRange a,
                                               ValueRange b, ValueRange acc) {
  int64_t rows = op.getAcc().getType().getRows(),
          columns = op.getAcc().getType().getCols() / row.n,
          tiles = op.getA().getType().getCols() / row.k,
          extent = op.getA().getType().getCols();
  constexpr int64_t mostUnrolled = 2048;
  if (rows * columns * extent / 4 > mostUnrolled)
    return {};
  bool isUnsignedA = op.getUnsignedA(), isUnsignedB = op.getUnsignedB(),
       hasOffset = isUnsignedA == isUnsignedB, offsetsA = !isUnsignedA;
  ByteDots dots(builder, loc, row, cast<VectorType>(acc[0].getType()));
  // The sums of the last terms above, for each column or row.
  SmallVector<Value> added(offsetsA ? columns : rows),
      sums = llvm::to_vector(acc);
  for (int64_t k = 0; k < extent; k += 4) {
    int64_t tile = k / row.k, within = k % row.k;
    SmallVector<Value> right;
    for (int64_t j = 0; j < columns; ++j) {
      Value vector = dots.gatherColumns(b[tile * columns + j], within);
      if (hasOffset && offsetsA)
        added[j] = dots.multiplyAdd(added[j] ? added[j] : dots.getZero(),
                                    dots.getOffset(), vector);
      right.push_back(hasOffset && !offsetsA ? dots.addOffset(vector) : vector);
    }
    for (int64_t i = 0; i < rows; ++i) {
      Value left = dots.spread(a[i * tiles + tile], within);
      if (hasOffset && !offsetsA)
        added[i] = dots.multiplyAdd(added[i] ? added[i] : dots.getZero(), left,
                                    dots.getOffset());
      if (hasOffset && offsetsA)
        left = dots.addOffset(left);
      for (int64_t j = 0; j < columns; ++j) {
        Value &sum = sums[i * columns + j];
        sum = isUnsignedB && !isUnsignedA
                  ? dots.multiplyAdd(sum, right[j], left)
                  : dots.multiplyAdd(sum, left, right[j]);
      }
    }
  }
  if (hasOffset)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        Value &sum = sums[i * columns + j];
        sum = arith::SubIOp::create(builder, loc, sum, added[offsetsA ? j : i]);
      }
  return sums;
}
