//===- LdMatrix.cpp - ldmatrix and stmatrix -------------------------------===//
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
// Whether a tile can be loaded in this way follows from its lane map: the
// word's register bits are along the memory's fast dimension, followed by lane
// bits 0 and 1, while lane bits 2 to 4 are along the slow one. The remaining
// register bits number the matrices, of one instruction or several; the
// remaining lane bits number the subgroups of a fragment that has several.
//
// .trans moves pairs of bytes: a lane receives two bytes of row k and two of
// row k + 1. A tile whose lanes hold both columns (`pairsColumns`) is four
// matrices, whose rows are those of K that one lane needs in two matrices; two
// permutations of bytes make words of four rows:
//
//   matrix 0   row k      n0 n1        word 0   n0 of rows k to k + 3
//              row k + 1  n0 n1   ==>  word 1   n1 of rows k to k + 3
//   matrix 1   row k + 2  n0 n1
//              row k + 3  n0 n1
//
// stmatrix (PTX ISA, "stmatrix"; from sm_90 on) stores 16-bit elements the same
// way.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "NvidiaTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

using Step = LaneMap::Step;

namespace {

/// How a tile is matrices of eight rows of 16 bytes.
struct MatrixTile {
  /// Dimension along the memory's rows, and the other one.
  unsigned fast, slow;
  bool transposed;
  int64_t perWord;
  /// Steps of the lane bits beyond a subgroup's, of the bits that number the
  /// matrices of one instruction (at most two), and of those that number the
  /// instructions.
  ArrayRef<Step> subgroups, matrices, rest;

  int64_t countMatrices() const { return int64_t(1) << matrices.size(); }
  int64_t countInstructions() const { return int64_t(1) << rest.size(); }
};

} // namespace

static std::optional<MatrixTile> match(const TileLayout &layout,
                                       MemRefType type, bool isTransposed,
                                       int64_t alignment) {
  Type element = type.getElementType();
  int64_t bytes = getElementBytes(element);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!isWorkgroupMemory(type) || alignment < 16 || bytes > 4 ||
      isPacked(element) || failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return std::nullopt;
  MatrixTile tile;
  unsigned fast = isTransposed ? 0 : 1, slow = 1 - fast;
  tile.fast = fast;
  tile.slow = slow;
  ArrayRef<Step> lanes = layout.map.getLanes(),
                 registers = layout.map.getRegisters();
  size_t wordBits = bytes == 4 ? 0 : bytes == 2 ? 1 : 2;
  if (lanes.size() < 5 || registers.size() < wordBits)
    return std::nullopt;
  tile.subgroups = lanes.drop_front(5);
  lanes = lanes.take_front(5);
  tile.perWord = 4 / bytes;
  int64_t perRow = 16 / bytes;
  bool plain = runsAlong(registers.take_front(wordBits), fast, 1) &&
               runsAlong(lanes.take_front(2), fast, tile.perWord) &&
               runsAlong(lanes.drop_front(2), slow, 1);
  tile.transposed = bytes == 2 && runsAlong(registers.take_front(1), slow, 1) &&
                    runsAlong(lanes.take_front(2), slow, 2) &&
                    runsAlong(lanes.drop_front(2), fast, 1);
  if (!plain && !tile.transposed)
    return std::nullopt;
  registers = registers.drop_front(wordBits);
  for (ArrayRef<Step> steps : {registers, tile.subgroups})
    for (const Step &step : steps)
      if (step[fast] % perRow || step[slow] % 8)
        return std::nullopt;
  tile.matrices = registers.take_front(2);
  tile.rest = registers.drop_front(tile.matrices.size());
  return tile;
}

/// The indices of this lane's row of this lane's matrix, of instruction
/// `number`. `indices` are the tile's.
static SmallVector<Value> emitRow(OpBuilder &builder, Location loc,
                                  const MatrixTile &tile, int64_t number,
                                  Value lane, MemRefType type,
                                  ValueRange indices, bool isSwizzled) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  std::array<Value, 2> position; // (slow, fast)
  position[0] = arith::AndIOp::create(builder, loc, lane, constant(7));
  position[1] = constant(0);
  auto addBits = [&](ArrayRef<Step> steps, int64_t firstBit) {
    for (auto [bit, step] : llvm::enumerate(steps)) {
      Value isSet = arith::AndIOp::create(
          builder, loc,
          arith::ShRUIOp::create(builder, loc, lane, constant(firstBit + bit)),
          constant(1));
      for (unsigned d : {0, 1}) {
        int32_t distance = step[d == 0 ? tile.slow : tile.fast];
        if (distance)
          position[d] = arith::AddIOp::create(
              builder, loc, position[d],
              arith::MulIOp::create(builder, loc, isSet, constant(distance)));
      }
    }
  };
  addBits(tile.matrices, 3);
  addBits(tile.subgroups, 5);
  for (auto [bit, step] : llvm::enumerate(tile.rest))
    if (number >> bit & 1)
      for (unsigned d : {0, 1})
        if (int32_t distance = step[d == 0 ? tile.slow : tile.fast])
          position[d] = arith::AddIOp::create(builder, loc, position[d],
                                              constant(distance));
  SmallVector<Value> address(indices);
  for (unsigned d : {0, 1}) {
    Value &index = address[address.size() - 2 + d];
    index = arith::AddIOp::create(builder, loc, index, position[d]);
  }
  // The swizzle permutes the rows of 16 bytes.
  if (isSwizzled) {
    auto [row, col] = emitSwizzledPosition(
        builder, loc, type, address[address.size() - 2], address.back());
    address[address.size() - 2] = row;
    address.back() = col;
  }
  return address;
}

/// Whether a lane holds four rows and two columns of a tile of bytes, and the
/// same of the rows 16 further down, as operand b of `pairsColumns`.
static bool isPairOfColumns(const TileLayout &layout, MemRefType type,
                            bool isTransposed, int64_t alignment) {
  ArrayRef<Step> lanes = layout.map.getLanes(),
                 registers = layout.map.getRegisters();
  SmallVector<int64_t> strides;
  int64_t offset;
  return isWorkgroupMemory(type) && !isTransposed && alignment >= 16 &&
         getElementBits(type.getElementType()) == 8 && lanes.size() == 5 &&
         registers.size() == 4 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         ShapedType::isStatic(offset) && !ShapedType::isDynamicShape(strides) &&
         strides.back() == 1 && runsAlong(registers.take_front(2), 0, 1) &&
         runsAlong(registers.slice(2, 1), 1, 1) &&
         runsAlong(registers.drop_front(3), 0, 16) &&
         runsAlong(lanes.take_front(2), 0, 4) &&
         runsAlong(lanes.drop_front(2), 1, 2);
}

/// The address of an element of workgroup memory.
static Value emitPointer(OpBuilder &builder, Location loc, Value memory,
                         ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  // `match` has checked them.
  (void)type.getStridesAndOffset(strides, offset);
  IndexMath math(builder, loc);
  Value position = math.constant(offset);
  for (auto [index, stride] : llvm::zip(indices, strides))
    position = math.add(position, math.mul(index, stride));
  Value address = math.add(
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory),
      math.mul(position, getElementBytes(type.getElementType())));
  Value bits =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), space),
      bits);
}

/// Loads such a tile. The rows of a matrix are those of one phase of eight rows
/// each, lest they conflict in banks: lanes that need rows 8 to 15 receive the
/// upper two of their rows from matrix 0.
static Value emitPairLoad(OpBuilder &builder, LoadOp op, Value lane,
                          const TileLayout &layout, Value memory,
                          ValueRange indices) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  auto bit = [&](int64_t number) {
    return math.rem(math.div(lane, math.constant(int64_t(1) << number)),
                    math.constant(2));
  };
  auto exclusiveOr = [&](Value a, Value b) -> Value {
    return arith::XOrIOp::create(builder, loc, a, b);
  };
  // Bits of the row: 0, 1, 2, 3 and 4. Lane bits 0 to 2 number the row of a
  // matrix, bits 3 and 4 the matrix.
  Value row = bit(0);
  row = math.add(row, math.mul(exclusiveOr(bit(3), bit(2)), 2));
  row = math.add(row, math.mul(bit(1), 4));
  row = math.add(row, math.mul(bit(2), 8));
  row = math.add(row, math.mul(bit(4), 16));
  SmallVector<Value> address(indices);
  Value &slow = address[address.size() - 2];
  slow = math.add(slow, row);
  if (op.getSwizzled()) {
    auto position = emitSwizzledPosition(
        builder, loc, cast<MemRefType>(memory.getType()), slow, address.back());
    slow = position[0];
    address.back() = position[1];
  }
  Type word = builder.getI32Type();
  constexpr int64_t count = 4;
  auto all = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                              SmallVector<Type>(count, word));
  Value loaded = NVVM::LdMatrixOp::create(
      builder, loc, all, emitPointer(builder, loc, memory, address),
      static_cast<uint32_t>(count), NVVM::MMALayout::col,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
  // The lower or the upper bytes of pairs, those of matrix 0 first; where the
  // matrices are exchanged, those of matrix 1.
  constexpr int64_t lowBytes = 0x6420, lowExchanged = 0x2064, toHigh = 0x1111;
  Value isExchanged = bit(1);
  auto select = [&](int64_t more) {
    Value selector = math.add(math.mul(isExchanged, lowExchanged - lowBytes),
                              lowBytes + more);
    return arith::IndexCastOp::create(builder, loc, word, selector);
  };
  Value low = select(0), high = select(toHigh);
  SmallVector<Value> columns;
  for (int64_t half : {0, 1})
    for (Value selector : {low, high})
      columns.push_back(
          LLVM::CallIntrinsicOp::create(
              builder, loc, word, builder.getStringAttr("llvm.nvvm.prmt"),
              ValueRange{words[2 * half], words[2 * half + 1], selector})
              .getResult(0));
  return vector::BitCastOp::create(
      builder, loc, layout.vectorType,
      vector::FromElementsOp::create(builder, loc, VectorType::get(count, word),
                                     columns));
}

Value NvidiaTarget::emitTileLoad(OpBuilder &builder, Location loc, LoadOp op,
                                 const TileLayout &layout, Value memory,
                                 ValueRange indices, int64_t alignment) const {
  auto type = cast<MemRefType>(memory.getType());
  if (level >= 75 &&
      isPairOfColumns(layout, type, op.getTranspose(), alignment))
    return emitPairLoad(builder, op, getLane(builder, op), layout, memory,
                        indices);
  std::optional<MatrixTile> tile =
      match(layout, type, op.getTranspose(), alignment);
  if (level < 75 || !tile)
    return {};
  Type element = type.getElementType();
  // The op's lowering knows no 8-bit floats; in LLVM's types they are i8.
  bool isFloat8 = getElementBytes(element) == 1 && isa<FloatType>(element);
  if (isFloat8) {
    element = builder.getI8Type();
    memory = UnrealizedConversionCastOp::create(
                 builder, loc,
                 MemRefType::get(type.getShape(), element, type.getLayout(),
                                 type.getMemorySpace()),
                 memory)
                 .getResult(0);
  }
  Value lane = getLane(builder, op);
  int64_t count = tile->countMatrices();
  SmallVector<Value> elements;
  for (int64_t n = 0; n < tile->countInstructions(); ++n) {
    SmallVector<Value> row =
        emitRow(builder, loc, *tile, n, lane, type, indices, op.getSwizzled());
    auto loaded = nvgpu::LdMatrixOp::create(
        builder, loc, VectorType::get({count, tile->perWord}, element), memory,
        row, tile->transposed, count);
    for (int64_t i = 0; i < count; ++i) {
      Value word = vector::ExtractOp::create(builder, loc, loaded, i);
      for (int64_t j = 0; j < tile->perWord; ++j)
        elements.push_back(vector::ExtractOp::create(builder, loc, word, j));
    }
  }
  Value all = vector::FromElementsOp::create(
      builder, loc, VectorType::get(elements.size(), element), elements);
  return isFloat8
             ? vector::BitCastOp::create(builder, loc, layout.vectorType, all)
             : all;
}

bool NvidiaTarget::emitTileStore(OpBuilder &builder, Location loc, StoreOp op,
                                 const TileLayout &layout, Value value,
                                 ValueRange indices, int64_t alignment) const {
  Value memory = op.getMemory();
  auto type = cast<MemRefType>(memory.getType());
  std::optional<MatrixTile> tile =
      match(layout, type, op.getTranspose(), alignment);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (level < 90 || !tile || getElementBytes(type.getElementType()) != 2 ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || ShapedType::isDynamicShape(strides))
    return false;
  Value lane = getLane(builder, op);
  int64_t count = tile->countMatrices(), perWord = tile->perWord,
          each = count * perWord;
  for (int64_t n = 0; n < tile->countInstructions(); ++n) {
    SmallVector<Value> row =
        emitRow(builder, loc, *tile, n, lane, type, indices, op.getSwizzled());
    SmallVector<Value> words;
    for (int64_t i = 0; i < count; ++i) {
      Value part = vector::ExtractStridedSliceOp::create(
          builder, loc, value, n * each + i * perWord, perWord, 1);
      Value word = vector::BitCastOp::create(
          builder, loc, VectorType::get(1, builder.getI32Type()), part);
      words.push_back(vector::ExtractOp::create(builder, loc, word, 0));
    }
    NVVM::StMatrixOp::create(
        builder, loc, emitPointer(builder, loc, memory, row), words,
        tile->transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  }
  return true;
}
