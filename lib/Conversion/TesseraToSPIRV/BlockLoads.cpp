//===- BlockLoads.cpp - Loads of SPV_INTEL_2d_block_io --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a fragment    a few blocks, each of several tiles of the instruction
//   a block       a call of an imported function, which becomes
//                 OpSubgroup2DBlockLoadINTEL or one that packs or turns when
//                 the module is written (lib/Target/SubgroupMatrix.cpp)
//   its elements  a variable of the function, which the block is loaded to
//   a tile        a vector that is read from the variable
//
// Intel's compiler keeps these variables in registers.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/BlockLoads.h"
#include "Dialect/Tessera/Transforms/IndexMath.h"
#include "Dialect/Tessera/Transforms/Utils.h"
#include "Spirv.h"
#include "Target/SubgroupBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// The blocks of one fragment.
class BlockLoader {
public:
  BlockLoader(OpBuilder &builder, const SpirvTarget &target, LoadOp op,
              const TileLayout &layout, const BlockLoad &block);
  SmallVector<Value> emit();

private:
  Value constant(int64_t value) {
    return spirv::ConstantOp::create(
        builder, loc, builder.getI32Type(),
        builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  /// A block of `stack` by `count` tiles, of which the first is tile (row,
  /// col); sets these.
  void emitBlock(int64_t row, int64_t col, MutableArrayRef<Value> tiles);
  /// The tile's vector, from element `first` of the variable on.
  Value readTile(Value variable, int64_t first);
  Value emitVariable();

  OpBuilder &builder;
  Location loc;
  IndexMath math;
  LoadOp op;
  const TileLayout &layout;
  const BlockLoad &block;
  MemRefType memory;
  /// Bytes of an element of the memory; of what a lane gets at once, of rows
  /// wider than the subgroup several elements; and what a pitch is a multiple
  /// of.
  int64_t bytes, rawBytes = 0, pitchMultiple;
  /// Of that, what a lane has of a tile, and how many of it.
  Type raw;
  int64_t rawCount;
  /// Tiles of a block, below each other and side by side.
  int64_t stack = 1, count = 1;
  /// The matrix's first element, as the instruction's elements.
  Value base;
};

} // namespace

BlockLoader::BlockLoader(OpBuilder &builder, const SpirvTarget &target,
                         LoadOp op, const TileLayout &layout,
                         const BlockLoad &block)
    : builder(builder), loc(op.getLoc()), math(builder, loc), op(op),
      layout(layout), block(block), memory(op.getMemRefType()),
      bytes(getElementBits(memory.getElementType()) / 8),
      pitchMultiple(target.chip.blockLoads->pitchMultiple) {
  bool isRows = block.kind == BlockLoad::Kind::Rows;
  rawBytes =
      isRows ? std::max(bytes, bytes * block.width / target.chip.subgroupSize)
             : 4;
  raw = builder.getIntegerType(static_cast<unsigned>(8 * rawBytes));
  rawCount = layout.map.getNumRegisters() * bytes / rawBytes;
  // Below each other in memory.
  auto [tileRows, tileCols] = layout.tiles;
  if (op.getTranspose())
    std::swap(tileRows, tileCols);
  while (stack * 2 * block.height <= block.mostHeight &&
         tileRows % (stack * 2) == 0)
    stack *= 2;
  while (count * 2 <= block.mostCount && tileCols % (count * 2) == 0)
    count *= 2;

  SmallVector<Value> inputs{op.getMemory()};
  llvm::append_range(inputs, op.getIndices().drop_back(2));
  inputs.append({math.constant(0), math.constant(0)});
  auto storage = target.getFlavour().global;
  base = UnrealizedConversionCastOp::create(
             builder, loc,
             TypeRange{spirv::PointerType::get(
                 getStorageType(memory.getElementType()), storage)},
             inputs)
             .getResult(0);
  auto elements = spirv::PointerType::get(
      builder.getIntegerType(static_cast<unsigned>(8 * block.elementBytes)),
      storage);
  if (base.getType() != elements)
    base = spirv::BitcastOp::create(builder, loc, elements, base);
}

Value BlockLoader::emitVariable() {
  OpBuilder::InsertionGuard guard(builder);
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  auto type = spirv::PointerType::get(
      spirv::ArrayType::get(raw,
                            static_cast<unsigned>(rawCount * stack * count)),
      spirv::StorageClass::Function);
  return spirv::VariableOp::create(builder, loc, type,
                                   spirv::StorageClass::Function,
                                   /*initializer=*/Value());
}

Value BlockLoader::readTile(Value variable, int64_t first) {
  Value place = spirv::AccessChainOp::create(builder, loc, variable,
                                             ValueRange{constant(first)});
  auto access = spirv::MemoryAccessAttr::get(builder.getContext(),
                                             spirv::MemoryAccess::Aligned);
  auto alignment = builder.getI32IntegerAttr(static_cast<int32_t>(rawBytes));
  auto vector = VectorType::get(rawCount, raw);
  Value value;
  if (rawCount == 1) {
    value = spirv::LoadOp::create(builder, loc, place, access, alignment);
    value = vector::FromElementsOp::create(builder, loc, vector, value);
  } else {
    place = spirv::BitcastOp::create(
        builder, loc,
        spirv::PointerType::get(vector, spirv::StorageClass::Function), place);
    value = spirv::LoadOp::create(builder, loc, place, access, alignment);
  }
  if (vector == layout.vectorType)
    return value;
  return vector::BitCastOp::create(builder, loc, layout.vectorType, value);
}

void BlockLoader::emitBlock(int64_t row, int64_t col,
                            MutableArrayRef<Value> tiles) {
  namespace blocks = subgroup_blocks;
  bool transposed = op.getTranspose();
  std::array<int64_t, 2> first{row * layout.getExtent(0),
                               col * layout.getExtent(1)};
  if (transposed)
    std::swap(first[0], first[1]);
  size_t rank = op.getIndices().size();
  Value y = math.add(op.getIndices()[rank - 2], first[0]),
        x = math.add(op.getIndices()[rank - 1], first[1]);
  Type word = builder.getI32Type();
  x = arith::IndexCastOp::create(builder, loc, word, x);
  y = arith::IndexCastOp::create(builder, loc, word, y);
  // Columns count the instruction's elements.
  if (block.elementBytes > bytes)
    x = arith::DivUIOp::create(
        builder, loc, x,
        arith::ConstantIntOp::create(builder, loc, block.elementBytes / bytes,
                                     32));
  Value coordinate = spirv::CompositeConstructOp::create(
      builder, loc, VectorType::get(2, word), ValueRange{x, y});

  Value variable = emitVariable();
  Value target = spirv::AccessChainOp::create(builder, loc, variable,
                                              ValueRange{constant(0)});
  bool isRows = block.kind == BlockLoad::Kind::Rows;
  auto targetBits =
      static_cast<unsigned>(8 * (isRows ? block.elementBytes : 4));
  auto targetType = spirv::PointerType::get(builder.getIntegerType(targetBits),
                                            spirv::StorageClass::Function);
  if (target.getType() != targetType)
    target = spirv::BitcastOp::create(builder, loc, targetType, target);
  auto [strides, offset] = memory.getStridesAndOffset();
  int64_t rows = memory.getShape().end()[-2],
          width = memory.getShape().back() * bytes;
  // Of a single row nothing depends on it, and it may be anything.
  int64_t pitch =
      rows == 1 ? static_cast<int64_t>(llvm::alignTo(width, pitchMultiple))
                : strides.end()[-2] * bytes;
  SmallVector<Value> operands{constant(block.elementBytes),
                              constant(block.width),
                              constant(block.height * stack),
                              constant(count),
                              base,
                              constant(width),
                              constant(rows),
                              constant(pitch),
                              coordinate,
                              target};
  blocks::Opcode opcode = isRows ? blocks::Load
                          : block.kind == BlockLoad::Kind::Packed
                              ? blocks::LoadTransform
                              : blocks::LoadTranspose;
  FlatSymbolRefAttr function = getImportedFunction(
      builder, loc,
      blocks::getFunctionName(
          opcode, static_cast<unsigned>(8 * block.elementBytes), targetBits),
      builder.getFunctionType(TypeRange(ValueRange(operands)), {}));
  spirv::FunctionCallOp::create(builder, loc, /*returnType=*/Type(), function,
                                operands);
  for (int64_t c = 0; c < count; ++c)
    for (int64_t s = 0; s < stack; ++s) {
      int64_t i = row + (transposed ? c : s), j = col + (transposed ? s : c);
      tiles[static_cast<size_t>(i * layout.tiles[1] + j)] =
          readTile(variable, (c * stack + s) * rawCount);
    }
}

SmallVector<Value> BlockLoader::emit() {
  SmallVector<Value> tiles(layout.getNumTiles());
  bool transposed = op.getTranspose();
  int64_t rowStep = transposed ? count : stack,
          colStep = transposed ? stack : count;
  for (int64_t i = 0; i < layout.tiles[0]; i += rowStep)
    for (int64_t j = 0; j < layout.tiles[1]; j += colStep)
      emitBlock(i, j, tiles);
  return tiles;
}

SmallVector<Value>
SpirvTarget::emitFragmentLoad(OpBuilder &builder, LoadOp op,
                              const TileLayout &layout) const {
  if (!op->hasAttr(getBlockLoadAttrName()))
    return {};
  std::optional<BlockLoad> block =
      findBlockLoad(chip, *layout.instruction,
                    op.getResult().getType().getRole(), op.getTranspose());
  return BlockLoader(builder, *this, op, layout, *block).emit();
}

void mlir::tessera::markBlockLoads(gpu::GPUFuncOp kernel, const Chip &chip) {
  if (!chip.blockLoads)
    return;
  Builder builder(kernel.getContext());
  llvm::SmallSetVector<unsigned, 4> arguments;
  kernel.walk([&](LoadOp op) {
    if (!explainNoBlocks(chip, op).empty())
      return;
    op->setAttr(getBlockLoadAttrName(), builder.getUnitAttr());
    arguments.insert(cast<BlockArgument>(findBuffer(op.getMemory())).getArgNumber());
  });
  if (arguments.empty())
    return;
  for (unsigned argument : arguments)
    kernel.setArgAttr(argument, argumentAlignmentAttrName,
                      builder.getI32IntegerAttr(
                          static_cast<int32_t>(chip.blockLoads->alignment)));
}
