//===- QuadTranspose.cpp - Loads across the memory's rows -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand of narrow elements needs four elements of a column in one lane,
// but in memory those of a row are adjacent. Instead of four narrow loads, the
// lanes of a quad (four adjacent lanes, whose columns are adjacent) load four
// elements of a row each, and exchange them by two steps of DPP:
//
//   lane    loads                 step 1: lane ^ 1      step 2: lane ^ 2
//   0       r0c0 r0c1 r0c2 r0c3   r0c0 r1c0 r0c2 r1c2   r0c0 r1c0 r2c0 r3c0
//   1       r1c0 r1c1 r1c2 r1c3   r0c1 r1c1 r0c3 r1c3   r0c1 r1c1 r2c1 r3c1
//   2       r2c0 r2c1 r2c2 r2c3   r2c0 r3c0 r2c2 r3c2   r0c2 r1c2 r2c2 r3c2
//   3       r3c0 r3c1 r3c2 r3c3   r2c1 r3c1 r2c3 r3c3   r0c3 r1c3 r2c3 r3c3
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Exchanges words (i32) between the lanes of a quad.
class Quad {
public:
  Quad(OpBuilder &builder, Location loc, Value lane)
      : builder(builder), loc(loc), i32(builder.getI32Type()) {
    Value number = arith::IndexCastOp::create(builder, loc, i32, lane);
    isOdd = emitBit(number, 1);
    isHigh = emitBit(number, 2);
    // Bytes 0 to 3 are the neighbour's, 4 to 7 this lane's (v_perm_b32).
    oddHalves = select(isOdd, word(0x07060302), word(0x01000504));
    oddBytes = select(isOdd, word(0x07030501), word(0x02060004));
    highHalves = select(isHigh, word(0x07060302), word(0x01000504));
  }

  /// A row's four elements of 2 bytes each to those of a column.
  std::array<Value, 2> transposeHalves(std::array<Value, 2> row) {
    std::array<Value, 2> pairs;
    for (unsigned i : {0, 1})
      pairs[i] = permute(row[i], swap(row[i], /*distance=*/1), oddHalves);
    Value received = swap(select(isHigh, pairs[0], pairs[1]), /*distance=*/2);
    return {select(isHigh, received, pairs[0]),
            select(isHigh, pairs[1], received)};
  }

  /// The same of elements of one byte.
  Value transposeBytes(Value row) {
    Value pairs = permute(row, swap(row, /*distance=*/1), oddBytes);
    return permute(pairs, swap(pairs, /*distance=*/2), highHalves);
  }

private:
  Value word(uint32_t value) {
    return arith::ConstantIntOp::create(builder, loc,
                                        static_cast<int32_t>(value), 32);
  }
  Value emitBit(Value number, uint32_t bit) {
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(builder, loc, number, word(bit)), word(0));
  }
  Value select(Value condition, Value t, Value f) {
    return arith::SelectOp::create(builder, loc, condition, t, f);
  }
  /// The word of the lane whose number differs in the bit `distance`.
  Value swap(Value value, int distance) {
    // quad_perm:[1,0,3,2] and [2,3,0,1].
    uint32_t control = distance == 1 ? 0xb1 : 0x4e;
    Value old = LLVM::PoisonOp::create(builder, loc, i32);
    return ROCDL::DPPUpdateOp::create(builder, loc, i32, old, value, control,
                                      /*rowMask=*/0xf, /*bankMask=*/0xf,
                                      /*boundCtrl=*/true);
  }
  Value permute(Value own, Value other, Value selector) {
    return emitPermute(builder, loc, own, other, selector);
  }

  OpBuilder &builder;
  Location loc;
  Type i32;
  Value isOdd, isHigh, oddHalves, oddBytes, highHalves;
};

} // namespace

SmallVector<Value>
mlir::tessera::emitTilePosition(OpBuilder &builder, Location loc, LoadOp op,
                                ValueRange indices, std::array<Value, 2> first,
                                std::pair<int64_t, int64_t> step) {
  IndexMath math(builder, loc);
  std::array<Value, 2> position{math.add(first[0], step.first),
                                math.add(first[1], step.second)};
  if (op.getTranspose())
    std::swap(position[0], position[1]);
  SmallVector<Value> result(indices);
  position = {math.add(result.end()[-2], position[0]),
              math.add(result.end()[-1], position[1])};
  if (op.getSwizzled())
    position = emitSwizzledPosition(builder, loc, op.getMemRefType(),
                                    position[0], position[1]);
  result.end()[-2] = position[0];
  result.end()[-1] = position[1];
  return result;
}

Value AmdTarget::emitTileLoad(OpBuilder &builder, Location loc, LoadOp op,
                              const TileLayout &layout, Value memory,
                              ValueRange indices, int64_t alignment) const {
  if (Value tile = emitTransposingRead(builder, loc, op, layout, memory,
                                       indices, alignment))
    return tile;
  return emitQuadTranspose(builder, loc, op, layout, memory, indices,
                           alignment);
}

Value AmdTarget::emitQuadTranspose(OpBuilder &builder, Location loc, LoadOp op,
                                   const TileLayout &layout, Value memory,
                                   ValueRange indices,
                                   int64_t alignment) const {
  auto type = cast<MemRefType>(memory.getType());
  Type element = type.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset, bytes = getElementBytes(element);
  if (bytes > 2 || isPacked(element) || alignment < 4 * bytes ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return {};
  unsigned fast = op.getTranspose() ? 0 : 1, slow = 1 - fast;
  ArrayRef<LaneMap::Step> lanes = layout.map.getLanes(),
                          registers = layout.map.getRegisters();
  if (lanes.size() < 2 || registers.size() < 2 ||
      !runsAlong(lanes.take_front(2), fast) ||
      !runsAlong(registers.take_front(2), slow))
    return {};

  // The start of this lane's row in its quad.
  IndexMath math(builder, loc);
  Value lane = getLane(builder, op);
  Value inQuad = arith::AndIOp::create(builder, loc, lane, math.constant(3));
  std::array<Value, 2> first =
      layout.getLaneOffset(builder, loc, math.sub(lane, inQuad));
  first[slow] = math.add(first[slow], inQuad);
  Quad quad(builder, loc, lane);

  auto partType = VectorType::get(4, element);
  auto wordType = VectorType::get(bytes, builder.getI32Type());
  SmallVector<Value> words;
  for (int64_t reg = 0; reg < layout.map.getNumRegisters(); reg += 4) {
    SmallVector<Value> position = emitTilePosition(
        builder, loc, op, indices, first, layout.map.at(0, reg));
    Value part = vector::LoadOp::create(
        builder, loc, partType, memory, position,
        /*nontemporal=*/false, llvm::MaybeAlign(4 * bytes));
    Value row4 = vector::BitCastOp::create(builder, loc, wordType, part);
    auto word = [&](int64_t i) -> Value {
      return vector::ExtractOp::create(builder, loc, row4, i);
    };
    if (bytes == 1) {
      words.push_back(quad.transposeBytes(word(0)));
      continue;
    }
    llvm::append_range(words, quad.transposeHalves({word(0), word(1)}));
  }
  Value all = vector::FromElementsOp::create(
      builder, loc, VectorType::get(words.size(), builder.getI32Type()), words);
  return vector::BitCastOp::create(builder, loc, layout.vectorType, all);
}
