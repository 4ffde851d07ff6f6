//===- BlockLoads.cpp - Loads of SPV_INTEL_2d_block_io --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a fragment    a few blocks, each of several tiles of the instruction
//   a block       a call of an imported function, which becomes
//                 OpSubgroup2DBlockLoadINTEL or one that packs or turns when
//                 the module is written (lib/Target/Intel/SubgroupMatrix.cpp)
//   its elements  a variable of the function, which the block is loaded to
//   a tile        a vector that is read from the variable
//
// Intel's compiler keeps these variables in registers. In a loop, the blocks of
// a later iteration are prefetched: each subgroup prefetches its own, and
// blocks that another subgroup has prefetched are already in the cache.
//
//===----------------------------------------------------------------------===//

#include "Target/Intel/BlockLoads.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Spirv.h"
#include "Target/SubgroupBlocks.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// The blocks of one fragment.
class BlockLoader {
public:
  /// For the fragment of `op`, or for one at other `indices`.
  BlockLoader(OpBuilder &builder, const Chip &chip, LoadOp op,
              ValueRange indices, const TileLayout &layout,
              const BlockLoad &block);
  SmallVector<Value> emit();
  void emitPrefetch();

private:
  Value constant(int64_t value) {
    return spirv::ConstantOp::create(
        builder, loc, builder.getI32Type(),
        builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  /// Emits a block of `stack` by `count` tiles, the first of which is tile
  /// (row, col), and sets these.
  void emitBlock(int64_t row, int64_t col, MutableArrayRef<Value> tiles);
  /// The common operands of instructions for blocks of such elements, the first
  /// one of which is at offset `first` (rows and elements of the memory) from
  /// the fragment's first element.
  SmallVector<Value> emitOperands(std::array<int64_t, 2> first,
                                  int64_t elementBytes, int64_t width,
                                  int64_t height, int64_t count);
  void emitCall(subgroup_blocks::Opcode opcode, int64_t elementBytes,
                unsigned targetBits, ValueRange operands);
  /// The address of the matrix's first element, as an element of
  /// `elementBytes`.
  Value emitBase(int64_t elementBytes);
  /// The tile's vector, from element `first` of the variable on.
  Value readTile(Value variable, int64_t first);
  Value emitVariable();

  OpBuilder &builder;
  Location loc;
  IndexMath math;
  const SpirvEnvironment &environment;
  LoadOp op;
  SmallVector<Value> indices;
  const TileLayout &layout;
  const BlockLoad &block;
  MemRefType memory;
  /// The size of an element of the memory; that of the data a lane receives at
  /// once, which is several elements if rows are wider than the subgroup; and
  /// the number that must divide a pitch.
  int64_t bytes, rawBytes = 0, pitchMultiple;
  /// The type of a lane's part of a tile.
  Type raw;
  int64_t rawCount;
  /// The number of tiles of a block, vertically and horizontally.
  int64_t stack = 1, count = 1;
};

} // namespace

BlockLoader::BlockLoader(OpBuilder &builder, const Chip &chip, LoadOp op,
                         ValueRange indices, const TileLayout &layout,
                         const BlockLoad &block)
    : builder(builder), loc(op.getLoc()), math(builder, loc),
      environment(*getSpirvEnvironment(chip.target)), op(op), indices(indices),
      layout(layout), block(block), memory(op.getMemRefType()),
      bytes(getElementBits(memory.getElementType()) / 8),
      pitchMultiple(chip.blockLoads->pitchMultiple) {
  bool isRows = block.kind == BlockLoad::Kind::Rows;
  rawBytes =
      isRows ? std::max(bytes, bytes * block.width / chip.subgroupSize) : 4;
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
}

Value BlockLoader::emitBase(int64_t elementBytes) {
  SmallVector<Value> inputs{op.getMemory()};
  llvm::append_range(inputs, ArrayRef(indices).drop_back(2));
  inputs.append({math.constant(0), math.constant(0)});
  auto getType = [&](Type element) {
    return spirv::PointerType::get(element, environment.global);
  };
  Value base =
      UnrealizedConversionCastOp::create(
          builder, loc,
          TypeRange{getType(getStorageType(memory.getElementType()))}, inputs)
          .getResult(0);
  Type elements =
      getType(builder.getIntegerType(static_cast<unsigned>(8 * elementBytes)));
  return base.getType() == elements
             ? base
             : spirv::BitcastOp::create(builder, loc, elements, base);
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
  Value address = spirv::AccessChainOp::create(builder, loc, variable,
                                               ValueRange{constant(first)});
  auto access = spirv::MemoryAccessAttr::get(builder.getContext(),
                                             spirv::MemoryAccess::Aligned);
  auto alignment = builder.getI32IntegerAttr(static_cast<int32_t>(rawBytes));
  auto vector = VectorType::get(rawCount, raw);
  Value value;
  if (rawCount == 1) {
    value = spirv::LoadOp::create(builder, loc, address, access, alignment);
    value = vector::FromElementsOp::create(builder, loc, vector, value);
  } else {
    address = spirv::BitcastOp::create(
        builder, loc,
        spirv::PointerType::get(vector, spirv::StorageClass::Function),
        address);
    value = spirv::LoadOp::create(builder, loc, address, access, alignment);
  }
  if (vector == layout.vectorType)
    return value;
  return vector::BitCastOp::create(builder, loc, layout.vectorType, value);
}

SmallVector<Value> BlockLoader::emitOperands(std::array<int64_t, 2> first,
                                             int64_t elementBytes,
                                             int64_t width, int64_t height,
                                             int64_t count) {
  size_t rank = indices.size();
  Value y = math.add(indices[rank - 2], first[0]),
        x = math.add(indices[rank - 1], first[1]);
  Type word = builder.getI32Type();
  x = arith::IndexCastOp::create(builder, loc, word, x);
  y = arith::IndexCastOp::create(builder, loc, word, y);
  // Columns count the instruction's elements.
  if (elementBytes > bytes)
    x = arith::DivUIOp::create(
        builder, loc, x,
        arith::ConstantIntOp::create(builder, loc, elementBytes / bytes, 32));
  Value coordinate = spirv::CompositeConstructOp::create(
      builder, loc, VectorType::get(2, word), ValueRange{x, y});
  auto [strides, offset] = memory.getStridesAndOffset();
  int64_t rows = memory.getShape().end()[-2],
          rowBytes = memory.getShape().back() * bytes;
  // The pitch of a single row is irrelevant.
  int64_t pitch =
      rows == 1 ? static_cast<int64_t>(llvm::alignTo(rowBytes, pitchMultiple))
                : strides.end()[-2] * bytes;
  return {constant(elementBytes), constant(width),        constant(height),
          constant(count),        emitBase(elementBytes), constant(rowBytes),
          constant(rows),         constant(pitch),        coordinate};
}

void BlockLoader::emitCall(subgroup_blocks::Opcode opcode, int64_t elementBytes,
                           unsigned targetBits, ValueRange operands) {
  std::string name = subgroup_blocks::getFunctionName(
      opcode, static_cast<unsigned>(8 * elementBytes), targetBits);
  FlatSymbolRefAttr function = getImportedFunction(
      builder, loc, name, builder.getFunctionType(TypeRange(operands), {}));
  spirv::FunctionCallOp::create(builder, loc, /*returnType=*/Type(), function,
                                operands);
}

void BlockLoader::emitBlock(int64_t row, int64_t col,
                            MutableArrayRef<Value> tiles) {
  bool transposed = op.getTranspose();
  std::array<int64_t, 2> first{row * layout.getExtent(0),
                               col * layout.getExtent(1)};
  if (transposed)
    std::swap(first[0], first[1]);
  SmallVector<Value> operands = emitOperands(
      first, block.elementBytes, block.width, block.height * stack, count);
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
  operands.push_back(target);
  emitCall(isRows ? subgroup_blocks::Load
           : block.kind == BlockLoad::Kind::Packed
               ? subgroup_blocks::LoadTransform
               : subgroup_blocks::LoadTranspose,
           block.elementBytes, targetBits, operands);
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

void BlockLoader::emitPrefetch() {
  // For all types there are blocks of 32 bytes, two side by side, and of up to
  // 32 rows ("cl_intel_subgroup_2d_block_io", section 5.2.X).
  constexpr int64_t most = 32;
  std::array<int64_t, 2> shape{layout.tiles[0] * layout.getExtent(0),
                               layout.tiles[1] * layout.getExtent(1)};
  if (op.getTranspose())
    std::swap(shape[0], shape[1]);
  int64_t width = most / bytes;
  for (int64_t row = 0; row < shape[0]; row += most)
    for (int64_t col = 0; col < shape[1]; col += 2 * width) {
      auto height = static_cast<int64_t>(llvm::PowerOf2Ceil(
          static_cast<uint64_t>(std::min(most, shape[0] - row))));
      SmallVector<Value> operands =
          emitOperands({row, col}, bytes, width, height,
                       /*count=*/shape[1] - col > width ? 2 : 1);
      emitCall(subgroup_blocks::Prefetch, bytes, /*targetBits=*/0, operands);
    }
}

/// The block of `op`, which block loads do.
static BlockLoad getBlock(const Chip &chip, const TileLayout &layout,
                          LoadOp op) {
  return *findBlockLoad(chip, *layout.instruction,
                        op.getResult().getType().getRole(), op.getTranspose());
}

SmallVector<Value>
SpirvTarget::emitFragmentLoad(OpBuilder &builder, LoadOp op,
                              const TileLayout &layout) const {
  if (!op->hasAttr(TesseraDialect::BlockLoadAttrHelper::getNameStr()))
    return {};
  BlockLoad block = getBlock(chip, layout, op);
  return BlockLoader(builder, chip, op, op.getIndices(), layout, block).emit();
}

/// `value` with the replacements in `map`: clones the ops of `loop` that depend
/// on these. Null if an op in between is not arithmetic.
static Value emitWith(OpBuilder &builder, Value value, scf::ForOp loop,
                      IRMapping &map) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!loop->isAncestor(value.getParentRegion()->getParentOp()))
    return value;
  if (!op || op->getNumRegions() || op->getNumResults() != 1 ||
      !isa<arith::ArithDialect>(op->getDialect()))
    return {};
  bool isSame = true;
  for (Value operand : op->getOperands()) {
    Value other = emitWith(builder, operand, loop, map);
    if (!other)
      return {};
    isSame &= other == operand;
    map.map(operand, other);
  }
  return isSame ? value : builder.clone(*op, map)->getResult(0);
}

/// Prefetches the blocks that `op` will load some iterations later.
static void emitPrefetch(LoadOp op, const Chip &chip) {
  int64_t iterations = chip.policy.blockPrefetchIterations;
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (iterations == 0 || !loop)
    return;
  if (std::optional<APInt> count = loop.getStaticTripCount();
      count && count->sle(iterations))
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  IRMapping map;
  map.map(
      loop.getInductionVar(),
      math.add(loop.getInductionVar(), math.mul(loop.getStep(), iterations)));
  SmallVector<Value> indices;
  for (Value index : op.getIndices()) {
    Value later = emitWith(builder, index, loop, map);
    if (!later)
      return;
    indices.push_back(later);
  }
  if (llvm::equal(indices, op.getIndices()))
    return;
  TileLayout layout = *getTileLayout(chip, op.getResult().getType());
  BlockLoad block = getBlock(chip, layout, op);
  BlockLoader(builder, chip, op, indices, layout, block).emitPrefetch();
}

void mlir::tessera::markBlockLoads(gpu::GPUFuncOp kernel, const Chip &chip) {
  if (!chip.blockLoads)
    return;
  Builder builder(kernel.getContext());
  llvm::SmallSetVector<unsigned, 4> arguments;
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp op) {
    if (!explainNoBlocks(chip, op).empty())
      return;
    op->setAttr(TesseraDialect::BlockLoadAttrHelper::getNameStr(),
                builder.getUnitAttr());
    loads.push_back(op);
    arguments.insert(
        cast<BlockArgument>(findBuffer(op.getMemory())).getArgNumber());
  });
  for (LoadOp op : loads)
    emitPrefetch(op, chip);
  for (unsigned argument : arguments)
    kernel.setArgAttr(argument,
                      TesseraDialect::AlignmentAttrHelper::getNameStr(),
                      builder.getI32IntegerAttr(
                          static_cast<int32_t>(chip.blockLoads->alignment)));
}
