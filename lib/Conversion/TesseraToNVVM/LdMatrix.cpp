//===- LdMatrix.cpp - ldmatrix --------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ldmatrix (PTX ISA, "ldmatrix") loads one, two or four matrices of eight rows
// of 16 bytes from workgroup memory. Lane l gives the address of row l % 8 of
// matrix l / 8, and receives of each matrix the 32-bit word l % 4 of row l / 4.
// With .trans (16-bit elements), it receives elements 2 * (l % 4) and the next
// of column l / 4.
//
// Whether a tile can be loaded so is read off its lane map: the word's register
// bits run along the memory's fast dimension, then lane bits 0 and 1, while
// lane bits 2 to 4 run along the slow one. What register bits are left number
// the matrices.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Utils.h"
#include "NvidiaTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

using Step = LaneMap::Step;

/// Whether `steps` double from `first` on along `dimension`, and go nowhere
/// else.
static bool runsAlong(ArrayRef<Step> steps, unsigned dimension, int64_t first) {
  for (const Step &step : steps) {
    if (step[dimension] != first || step[1 - dimension] != 0)
      return false;
    first *= 2;
  }
  return true;
}

Value NvidiaTarget::emitTileLoad(OpBuilder &builder, Location loc, LoadOp op,
                                 const TileLayout &layout, Value memory,
                                 ValueRange indices, int64_t alignment) const {
  auto type = cast<MemRefType>(memory.getType());
  Type element = type.getElementType();
  int64_t bytes = getElementBytes(element);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (level < 75 || !isWorkgroupMemory(type) || alignment < 16 || bytes > 4 ||
      isPacked(element) || failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return {};
  unsigned fast = op.getTranspose() ? 0 : 1, slow = 1 - fast;
  ArrayRef<Step> lanes = layout.map.getLanes(),
                 registers = layout.map.getRegisters();
  if (lanes.size() != 5)
    return {};

  size_t wordBits = bytes == 4 ? 0 : bytes == 2 ? 1 : 2;
  if (registers.size() < wordBits || registers.size() > wordBits + 2)
    return {};
  int64_t perWord = 4 / bytes, perRow = 16 / bytes;
  bool plain = runsAlong(registers.take_front(wordBits), fast, 1) &&
               runsAlong(lanes.take_front(2), fast, perWord) &&
               runsAlong(lanes.drop_front(2), slow, 1);
  bool transposed = bytes == 2 && runsAlong(registers.take_front(1), slow, 1) &&
                    runsAlong(lanes.take_front(2), slow, 2) &&
                    runsAlong(lanes.drop_front(2), fast, 1);
  if (!plain && !transposed)
    return {};
  ArrayRef<Step> matrices = registers.drop_front(wordBits);
  for (const Step &step : matrices)
    if (step[fast] % perRow || (step[slow] && step[slow] % 8))
      return {};

  // This lane's row of this lane's matrix.
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value lane = getLane(builder, op);
  std::array<Value, 2> place; // (slow, fast)
  place[0] = arith::AndIOp::create(builder, loc, lane, constant(7));
  place[1] = constant(0);
  for (auto [bit, step] : llvm::enumerate(matrices)) {
    Value isSet = arith::AndIOp::create(
        builder, loc,
        arith::ShRUIOp::create(builder, loc, lane, constant(3 + bit)),
        constant(1));
    for (unsigned d : {0, 1}) {
      int32_t distance = step[d == 0 ? slow : fast];
      if (distance)
        place[d] = arith::AddIOp::create(
            builder, loc, place[d],
            arith::MulIOp::create(builder, loc, isSet, constant(distance)));
    }
  }
  SmallVector<Value> address(indices);
  for (unsigned d : {0, 1}) {
    Value &index = address[address.size() - 2 + d];
    index = arith::AddIOp::create(builder, loc, index, place[d]);
  }
  // The rows of 16 bytes are what a swizzle permutes.
  if (op.getSwizzled()) {
    auto [row, col] = emitSwizzledPlace(
        builder, loc, type, address[address.size() - 2], address.back());
    address[address.size() - 2] = row;
    address.back() = col;
  }
  int64_t count = int64_t(1) << matrices.size();
  // The op's lowering knows no 8-bit floats; in LLVM's types they are i8.
  bool isFloat8 = bytes == 1 && isa<FloatType>(element);
  if (isFloat8) {
    element = builder.getI8Type();
    memory = UnrealizedConversionCastOp::create(
                 builder, loc,
                 MemRefType::get(type.getShape(), element, type.getLayout(),
                                 type.getMemorySpace()),
                 memory)
                 .getResult(0);
  }
  auto loaded = nvgpu::LdMatrixOp::create(
      builder, loc, VectorType::get({count, perWord}, element), memory, address,
      /*transpose=*/!plain, count);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value word = vector::ExtractOp::create(builder, loc, loaded, i);
    for (int64_t j = 0; j < perWord; ++j)
      elements.push_back(vector::ExtractOp::create(builder, loc, word, j));
  }
  Value tile = vector::FromElementsOp::create(
      builder, loc, VectorType::get(elements.size(), element), elements);
  return isFloat8
             ? vector::BitCastOp::create(builder, loc, layout.vectorType, tile)
             : tile;
}
