//===- MemoryPatterns.cpp - fill, load, store, broadcast ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane's registers that are adjacent in memory are accessed together, with
// the widest access that the chip and the known alignment permit. If a tile may
// be partly out of bounds, one test for the whole fragment selects between this
// and a masked form. If rows end with a whole access, the masked form has one
// branch for each access; otherwise each element has its own.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Patterns.h"

using namespace mlir;
using namespace mlir::tessera;

/// A null constant of a scalar or vector type.
static Value emitZero(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value mlir::tessera::emitMask(OpBuilder &builder, Location loc, Value count,
                              int64_t width) {
  auto type = VectorType::get(width, builder.getI32Type());
  Value steps = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          type, ArrayRef(llvm::to_vector(llvm::seq<int32_t>(0, width)))));
  Value limit = vector::BroadcastOp::create(
      builder, loc, type,
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), count));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, steps,
                               limit);
}

Value mlir::tessera::emitCountInBounds(OpBuilder &builder, Location loc,
                                       Value memory,
                                       std::array<Value, 2> position,
                                       int64_t width) {
  IndexMath math(builder, loc);
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  Value rows = memref::DimOp::create(builder, loc, memory, rank - 2);
  Value cols = memref::DimOp::create(builder, loc, memory, rank - 1);
  Value zero = math.constant(0);
  Value left = arith::SubIOp::create(builder, loc, cols, position[1]);
  left = arith::MaxSIOp::create(builder, loc, left, zero);
  left = arith::MinSIOp::create(builder, loc, left, math.constant(width));
  Value rowInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, position[0], rows);
  return arith::SelectOp::create(builder, loc, rowInside, left, zero);
}

/// Whether `count` (index) is at least one.
static Value emitIsAny(OpBuilder &builder, Location loc, Value count) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, count,
                               arith::ConstantIndexOp::create(builder, loc, 0));
}

llvm::MaybeAlign mlir::tessera::getAccessAlignment(Type element, int64_t width,
                                                   int64_t known,
                                                   bool alignedAccess) {
  int64_t bytes = width * getElementBits(element) / 8;
  if (isPacked(element)) {
    if (known == 0 || width == 1)
      return llvm::MaybeAlign();
    return llvm::MaybeAlign(alignedAccess ? bytes : 1);
  }
  return alignedAccess ? llvm::MaybeAlign(bytes) : llvm::MaybeAlign();
}

bool mlir::tessera::isInnerContiguous(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

namespace {

/// The accesses of one lane to one fragment in memory.
class TileAccess {
public:
  template <typename LoadOrStore>
  TileAccess(OpBuilder &builder, LoadOrStore op, const FragmentTarget &target,
             const TileLayout &layout)
      : builder(builder), loc(op.getLoc()), math(builder, loc), layout(layout),
        map(layout.map), memory(op.getMemory()), indices(op.getIndices()),
        transpose(op.getTranspose()), swizzled(op.getSwizzled()),
        type(op.getMemRefType()) {
    auto known = op->template getAttrOfType<IntegerAttr>(
        TesseraDialect::AlignmentAttrHelper::getNameStr());
    alignment = known ? known.getInt() : 0;
    alignedAccess = target.chip.alignedAccess;
    int64_t bits = getElementBits(type.getElementType());
    auto fitting = [&](int64_t bytes) {
      return std::max<int64_t>(1, 8 * bytes / bits);
    };
    if (isInnerContiguous(type)) {
      unsigned fast = transpose ? 0 : 1;
      if (map.getContiguous(fast) == 1) {
        order = map.getRunFirst(fast);
        map = map.reorderRegisters(order);
      }
      width =
          std::min(map.getContiguous(fast), fitting(target.chip.accessBytes));
    }
    if (alignedAccess)
      width = std::min(width, fitting(alignment));
    // Within one chunk of 16 bytes, where these are permuted.
    if (swizzled)
      width = std::min({width, fitting(16), fitting(alignment)});
    if constexpr (std::is_same_v<LoadOrStore, StoreOp>)
      if (op.getAtomicAdd())
        width = 1;
    if (width == 1) {
      map = layout.map;
      order.clear();
    }
    lane = layout.getLaneOffset(builder, loc, target.getLane(builder, op));
    // From here on in the memory's order: (slow, fast).
    if (transpose)
      std::swap(lane[0], lane[1]);
    size_t rank = indices.size();
    base = {indices[rank - 2], indices[rank - 1]};
    laneBase = {math.add(base[0], lane[0]), math.add(base[1], lane[1])};
  }

  /// Elements accessed at once.
  int64_t getWidth() const { return width; }
  int64_t getAlignment() const { return alignment; }
  /// The alignment of an access of that width.
  llvm::MaybeAlign getAccessAlignment() const {
    return tessera::getAccessAlignment(type.getElementType(), width, alignment,
                                       alignedAccess);
  }

  /// Where an interleaved view of the memory has this lane's register `reg` of
  /// a tile, the first of a word.
  SmallVector<Value> getKPackedAddress(int64_t tileRow, int64_t tileCol,
                                       int64_t reg, KPacking by) const {
    auto [row, col] = layout.map.at(0, reg);
    std::array<int64_t, 2> ofTile{tileRow * layout.getExtent(0),
                                  tileCol * layout.getExtent(1)},
        step{row, col};
    if (transpose) {
      std::swap(ofTile[0], ofTile[1]);
      std::swap(step[0], step[1]);
    }
    Value line = math.add(math.div(base[1], math.constant(by.columns)),
                          ofTile[1] / by.columns),
          inLine = math.mul(math.add(lane[1], step[1]), by.rows);
    SmallVector<Value> all(ArrayRef(indices).drop_back(2));
    all.append({line, math.add(laneBase[0], ofTile[0] + step[0]), inLine});
    return all;
  }

  /// The first position of the tile in the last two dimensions.
  std::array<Value, 2> getTilePosition(int64_t tileRow, int64_t tileCol) const {
    std::array<int64_t, 2> step{tileRow * layout.getExtent(0),
                                tileCol * layout.getExtent(1)};
    if (transpose)
      std::swap(step[0], step[1]);
    return {math.add(base[0], step[0]), math.add(base[1], step[1])};
  }

  /// The position of this lane's register `reg` of a tile, in the order of
  /// accesses.
  std::array<Value, 2> getPosition(int64_t tileRow, int64_t tileCol,
                                   int64_t reg) const {
    auto [row, col] = map.at(0, reg);
    std::array<int64_t, 2> step{tileRow * layout.getExtent(0) + row,
                                tileCol * layout.getExtent(1) + col};
    if (transpose)
      std::swap(step[0], step[1]);
    return {math.add(laneBase[0], step[0]), math.add(laneBase[1], step[1])};
  }

  /// A tile's vector from the order of accesses to that of registers.
  Value toRegisters(Value tile) const { return reorder(tile, false); }
  /// A tile's vector from the order of registers to that of accesses.
  Value toAccesses(Value tile) const { return reorder(tile, true); }

  /// The indices in memory that hold the element of a position, permuted if
  /// swizzled.
  SmallVector<Value> getAddress(std::array<Value, 2> position) const {
    if (swizzled)
      position =
          emitSwizzledPosition(builder, loc, type, position[0], position[1]);
    return getIndices(position);
  }

  /// All indices of a position.
  SmallVector<Value> getIndices(std::array<Value, 2> position) const {
    SmallVector<Value> all(ArrayRef(indices).drop_back(2));
    all.append({position[0], position[1]});
    return all;
  }

  /// Emits whether the whole fragment is in bounds. Null: it is.
  Value emitAllInBounds(FragmentType fragment, bool promised);

  /// A position in the memory, relative to the first element of the fragment.
  std::array<Value, 2> getMemoryPosition(int64_t slow, int64_t fast) const {
    return {math.add(base[0], slow), math.add(base[1], fast)};
  }

  /// The number of the `count` elements at `position` that are in bounds
  /// (index).
  Value emitCount(std::array<Value, 2> position, int64_t count) {
    return emitCountInBounds(builder, loc, memory, position, count);
  }

  /// Whether each access is inside the memory as a whole, or outside: rows have
  /// a whole number of them. Chips without alignment have masked accesses.
  bool isWhole() const {
    int64_t length = type.getDimSize(type.getRank() - 1);
    return width > 1 && alignedAccess && !isPacked(type.getElementType()) &&
           ShapedType::isStatic(length) && length % width == 0;
  }

  VectorType getAccessType() const {
    return VectorType::get(width, type.getElementType());
  }

private:
  Value reorder(Value tile, bool toAccesses) const {
    if (llvm::is_sorted(order))
      return tile;
    SmallVector<int64_t> elements(map.getNumRegisters());
    for (int64_t access = 0; access < map.getNumRegisters(); ++access) {
      int64_t reg = 0;
      for (auto [bit, of] : llvm::enumerate(order))
        reg |= (access >> bit & 1) << of;
      (toAccesses ? elements[access] : elements[reg]) =
          toAccesses ? reg : access;
    }
    return vector::ShuffleOp::create(builder, loc, tile, tile, elements);
  }

  OpBuilder &builder;
  Location loc;
  IndexMath math;
  const TileLayout &layout;
  /// The lane map with its registers in the order of accesses, and this order
  /// of the bits of a register index, empty if it is that of the layout.
  LaneMap map;
  SmallVector<unsigned, 6> order;
  Value memory;
  SmallVector<Value> indices;
  bool transpose, swizzled;
  MemRefType type;
  int64_t alignment;
  bool alignedAccess;
  int64_t width = 1;
  /// The origin of the fragment, the offset of the lane, and their sum.
  std::array<Value, 2> base, lane, laneBase;
};

} // namespace

Value TileAccess::emitAllInBounds(FragmentType fragment, bool promised) {
  std::array<int64_t, 2> shape{fragment.getRows(), fragment.getCols()};
  if (transpose)
    std::swap(shape[0], shape[1]);
  if (promised || isProvablyInBounds(type, indices, shape))
    return {};
  Value all;
  for (unsigned d : {0, 1}) {
    Value end = math.add(base[d], shape[d]);
    Value size =
        memref::DimOp::create(builder, loc, memory, type.getRank() - 2 + d);
    Value inside = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::sle, end, size);
    all = all ? arith::AndIOp::create(builder, loc, all, inside) : inside;
  }
  return all;
}

//===----------------------------------------------------------------------===//
// fill
//===----------------------------------------------------------------------===//

namespace {
struct FillPattern : FragmentPattern<FillOp> {
  using FragmentPattern::FragmentPattern;
  LogicalResult
  matchAndRewrite(FillOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> layout = getLayout(op.getResult());
    if (failed(layout))
      return rewriter.notifyMatchFailure(
          op, "a fragment has no lane map of this chip");
    Value splat = vector::BroadcastOp::create(
        rewriter, op.getLoc(), layout->vectorType, op.getValue());
    SmallVector<Value> tiles(layout->getNumTiles(), splat);
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// load
//===----------------------------------------------------------------------===//

/// A tile's vector from its parts, each a scalar or a vector.
static Value joinParts(OpBuilder &builder, Location loc, VectorType type,
                       ArrayRef<Value> parts) {
  if (parts.size() == 1 && parts[0].getType() == type)
    return parts[0];
  if (isa<VectorType>(parts[0].getType()) && llvm::isPowerOf2_64(parts.size()))
    return emitConcatenation(builder, loc, parts);
  SmallVector<Value> elements;
  for (Value part : parts) {
    auto vector = dyn_cast<VectorType>(part.getType());
    if (!vector) {
      elements.push_back(part);
      continue;
    }
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      elements.push_back(vector::ExtractOp::create(builder, loc, part, i));
  }
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

/// `width` elements of a tile's vector from `reg` on: a scalar if one.
static Value extractPart(OpBuilder &builder, Location loc, Value tile,
                         int64_t reg, int64_t width) {
  auto type = cast<VectorType>(tile.getType());
  if (width == 1)
    return vector::ExtractOp::create(builder, loc, tile, reg);
  if (width == type.getNumElements())
    return tile;
  return vector::ShuffleOp::create(
      builder, loc, tile, tile,
      llvm::to_vector(llvm::seq<int64_t>(reg, reg + width)));
}

namespace {
struct LoadPattern : FragmentPattern<LoadOp> {
  using FragmentPattern::FragmentPattern;

  /// Columns of the memory, transposed in registers.
  static SmallVector<Value> emitTransposed(OpBuilder &builder, LoadOp op,
                                           const TileLayout &layout,
                                           TileAccess &access, bool masked) {
    Location loc = op.getLoc();
    Type element = layout.vectorType.getElementType();
    return emitTransposedTiles(
        builder, loc, layout, [&](int64_t column, int64_t row, int64_t count) {
          std::array<Value, 2> position = access.getMemoryPosition(column, row);
          SmallVector<Value> indices = access.getIndices(position);
          auto type = VectorType::get(count, element);
          if (!masked)
            return vector::LoadOp::create(builder, loc, type, op.getMemory(),
                                          indices)
                .getResult();
          Value mask =
              emitMask(builder, loc, access.emitCount(position, count), count);
          return vector::MaskedLoadOp::create(builder, loc, type,
                                              op.getMemory(), indices, mask,
                                              emitZero(builder, loc, type))
              .getResult();
        });
  }
  static bool isTransposed(LoadOp op, const TileLayout &layout) {
    return op.getTranspose() && !op.getSwizzled() &&
           isInnerContiguous(op.getMemRefType()) && canTransposeTiles(layout);
  }

  /// Descriptors of the tiles in memory, instead of the tiles themselves.
  /// `indices` are the converted ones: the step of a converted loop is not
  /// known from its former block.
  LogicalResult describe(LoadOp op, ValueRange indices,
                         const TileLayout &layout,
                         ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    IndexMath math(rewriter, loc);
    SmallVector<Value> tiles;
    for (int64_t i = 0; i < layout.tiles[0]; ++i)
      for (int64_t j = 0; j < layout.tiles[1]; ++j) {
        std::array<int64_t, 2> step{i * layout.getExtent(0),
                                    j * layout.getExtent(1)};
        if (op.getTranspose())
          std::swap(step[0], step[1]);
        Value tile = target.emitMemoryOperand(
            rewriter, loc, op, layout,
            math.add(indices[indices.size() - 2], step[0]),
            math.add(indices.back(), step[1]));
        if (!tile)
          return op.emitOpError() << "cannot be read from workgroup memory by "
                                  << layout.instruction->name;
        tiles.push_back(vector::FromElementsOp::create(
            rewriter, loc, layout.vectorType, tile));
      }
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }

  /// Loads words of columns of a k-packed (VNNI) tile.
  static SmallVector<Value> emitKPacked(OpBuilder &builder, LoadOp op,
                                        const TileLayout &layout,
                                        const TileAccess &access, KPacking by) {
    Location loc = op.getLoc();
    Value view = emitKPackedView(builder, loc, op.getMemory(), by);
    Type element = layout.vectorType.getElementType();
    auto wordType = VectorType::get(by.rows, element);
    SmallVector<Value> tiles;
    for (int64_t i = 0; i < layout.tiles[0]; ++i)
      for (int64_t j = 0; j < layout.tiles[1]; ++j) {
        SmallVector<Value> words;
        for (int64_t reg = 0; reg < layout.map.getNumRegisters();
             reg += by.rows)
          words.push_back(vector::LoadOp::create(
              builder, loc, wordType, view,
              access.getKPackedAddress(i, j, reg, by),
              /*nontemporal=*/false,
              llvm::MaybeAlign(by.rows * getElementBits(element) / 8)));
        tiles.push_back(joinParts(builder, loc, layout.vectorType, words));
      }
    return tiles;
  }

  SmallVector<Value> emitPlain(OpBuilder &builder, LoadOp op,
                               const TileLayout &layout,
                               TileAccess &access) const {
    if (std::optional<KPacking> by = getKPacking(op))
      return emitKPacked(builder, op, layout, access, *by);
    if (isTransposed(op, layout))
      return emitTransposed(builder, op, layout, access, /*masked=*/false);
    Location loc = op.getLoc();
    SmallVector<Value> tiles;
    for (int64_t i = 0; i < layout.tiles[0]; ++i)
      for (int64_t j = 0; j < layout.tiles[1]; ++j) {
        SmallVector<Value> indices =
            access.getIndices(access.getTilePosition(i, j));
        if (Value tile =
                target.emitTileLoad(builder, loc, op, layout, op.getMemory(),
                                    indices, access.getAlignment())) {
          tiles.push_back(tile);
          continue;
        }
        tiles.push_back(emitTile(builder, op, layout, access, i, j,
                                 /*masked=*/false));
      }
    return tiles;
  }

  SmallVector<Value> emitMasked(OpBuilder &builder, LoadOp op,
                                const TileLayout &layout,
                                TileAccess &access) const {
    if (isTransposed(op, layout))
      return emitTransposed(builder, op, layout, access, /*masked=*/true);
    SmallVector<Value> tiles;
    for (int64_t i = 0; i < layout.tiles[0]; ++i)
      for (int64_t j = 0; j < layout.tiles[1]; ++j)
        tiles.push_back(
            emitTile(builder, op, layout, access, i, j, /*masked=*/true));
    return tiles;
  }

  Value emitTile(OpBuilder &builder, LoadOp op, const TileLayout &layout,
                 TileAccess &access, int64_t i, int64_t j, bool masked) const {
    Location loc = op.getLoc();
    int64_t width = access.getWidth();
    Type element = layout.vectorType.getElementType();
    SmallVector<Value> parts;
    for (int64_t reg = 0; reg < layout.map.getNumRegisters(); reg += width) {
      std::array<Value, 2> position = access.getPosition(i, j, reg);
      SmallVector<Value> indices = access.getAddress(position);
      Value part;
      if (!masked && width == 1) {
        part = memref::LoadOp::create(builder, loc, op.getMemory(), indices);
      } else if (!masked) {
        part = vector::LoadOp::create(
            builder, loc, access.getAccessType(), op.getMemory(), indices,
            /*nontemporal=*/false, access.getAccessAlignment());
      } else {
        Value count = access.emitCount(position, width);
        if (width == 1 || access.isWhole()) {
          Value some = emitIsAny(builder, loc, count);
          if (Value guarded = target.emitGuardedRead(
                  builder, loc, op.getMemory(), indices, width, some)) {
            parts.push_back(guarded);
            continue;
          }
          Type type = width == 1 ? element : Type(access.getAccessType());
          auto branch = scf::IfOp::create(
              builder, loc, some,
              [&](OpBuilder &nested, Location loc) {
                Value value;
                if (width == 1)
                  value = memref::LoadOp::create(nested, loc, op.getMemory(),
                                                 indices);
                else
                  value = vector::LoadOp::create(
                      nested, loc, access.getAccessType(), op.getMemory(),
                      indices, /*nontemporal=*/false,
                      access.getAccessAlignment());
                scf::YieldOp::create(nested, loc, value);
              },
              [&](OpBuilder &nested, Location loc) {
                scf::YieldOp::create(nested, loc, emitZero(nested, loc, type));
              });
          part = branch.getResult(0);
        } else {
          Value mask = emitMask(builder, loc, count, width);
          part = vector::MaskedLoadOp::create(
              builder, loc, access.getAccessType(), op.getMemory(), indices,
              mask, emitZero(builder, loc, access.getAccessType()));
        }
      }
      parts.push_back(part);
    }
    return access.toRegisters(
        joinParts(builder, loc, layout.vectorType, parts));
  }

  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<TileLayout> layout = getLayout(op.getResult());
    if (failed(layout))
      return rewriter.notifyMatchFailure(
          op, "a fragment has no lane map of this chip");
    if (layout->inMemory) {
      SmallVector<Value> indices;
      for (ValueRange index : adaptor.getIndices())
        llvm::append_range(indices, index);
      return describe(op, indices, *layout, rewriter);
    }
    SmallVector<Value> tiles = target.emitFragmentLoad(rewriter, op, *layout);
    if (!tiles.empty()) {
      rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
      return success();
    }
    TileAccess access(rewriter, op, target, *layout);
    Value inside =
        access.emitAllInBounds(op.getResult().getType(), op.getInBounds());
    if (!inside) {
      tiles = emitPlain(rewriter, op, *layout, access);
    } else {
      auto branch = scf::IfOp::create(
          rewriter, loc,
          SmallVector<Type>(layout->getNumTiles(), layout->vectorType), inside,
          /*addThenBlock=*/true, /*addElseBlock=*/true);
      {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPointToStart(branch.thenBlock());
        TileAccess inner(rewriter, op, target, *layout);
        scf::YieldOp::create(rewriter, loc,
                             emitPlain(rewriter, op, *layout, inner));
        rewriter.setInsertionPointToStart(branch.elseBlock());
        TileAccess edge(rewriter, op, target, *layout);
        scf::YieldOp::create(rewriter, loc,
                             emitMasked(rewriter, op, *layout, edge));
      }
      llvm::append_range(tiles, branch.getResults());
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// store
//===----------------------------------------------------------------------===//

struct StorePattern : FragmentPattern<StoreOp> {
  using FragmentPattern::FragmentPattern;

  static void emitElement(OpBuilder &builder, StoreOp op, Value element,
                          ValueRange indices) {
    Location loc = op.getLoc();
    if (!op.getAtomicAdd())
      memref::StoreOp::create(builder, loc, element, op.getMemory(), indices);
    else
      memref::AtomicRMWOp::create(builder, loc,
                                  isa<FloatType>(element.getType())
                                      ? arith::AtomicRMWKind::addf
                                      : arith::AtomicRMWKind::addi,
                                  element, op.getMemory(), indices);
  }

  void emitTile(OpBuilder &builder, StoreOp op, const TileLayout &layout,
                TileAccess &access, Value tile, int64_t i, int64_t j,
                bool masked) const {
    Location loc = op.getLoc();
    if (!masked && !op.getAtomicAdd() &&
        target.emitTileStore(builder, loc, op, layout, tile,
                             access.getIndices(access.getTilePosition(i, j)),
                             access.getAlignment()))
      return;
    int64_t width = access.getWidth();
    tile = access.toAccesses(tile);
    for (int64_t reg = 0; reg < layout.map.getNumRegisters(); reg += width) {
      std::array<Value, 2> position = access.getPosition(i, j, reg);
      SmallVector<Value> indices = access.getAddress(position);
      Value part = extractPart(builder, loc, tile, reg, width);
      if (!masked && width == 1) {
        emitElement(builder, op, part, indices);
      } else if (!masked) {
        vector::StoreOp::create(builder, loc, part, op.getMemory(), indices,
                                /*nontemporal=*/false,
                                access.getAccessAlignment());
      } else {
        Value count = access.emitCount(position, width);
        if (width == 1 || access.isWhole()) {
          Value some = emitIsAny(builder, loc, count);
          if (!op.getAtomicAdd() &&
              target.emitGuardedWrite(builder, loc, part, op.getMemory(),
                                      indices, some))
            continue;
          scf::IfOp::create(
              builder, loc, some, [&](OpBuilder &nested, Location loc) {
                if (width == 1)
                  emitElement(nested, op, part, indices);
                else
                  vector::StoreOp::create(nested, loc, part, op.getMemory(),
                                          indices, /*nontemporal=*/false,
                                          access.getAccessAlignment());
                scf::YieldOp::create(nested, loc);
              });
        } else {
          Value mask = emitMask(builder, loc, count, width);
          vector::MaskedStoreOp::create(builder, loc, op.getMemory(), indices,
                                        mask, part);
        }
      }
    }
  }

  void emitAll(OpBuilder &builder, StoreOp op, const TileLayout &layout,
               TileAccess &access, ValueRange tiles, bool masked) const {
    for (int64_t i = 0; i < layout.tiles[0]; ++i)
      for (int64_t j = 0; j < layout.tiles[1]; ++j)
        emitTile(builder, op, layout, access, tiles[i * layout.tiles[1] + j], i,
                 j, masked);
  }

  /// Among lanes that hold the same elements, lets one continue.
  void enterOneOf(OpBuilder &builder, StoreOp op, const LaneMap &map) const {
    int64_t replicated = map.getReplicatedLaneBits();
    if (!replicated)
      return;
    Location loc = op.getLoc();
    IndexMath math(builder, loc);
    Value bits = arith::AndIOp::create(
        builder, loc, target.getLane(builder, op), math.constant(replicated));
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, bits, math.constant(0));
    auto branch = scf::IfOp::create(builder, loc, isFirst);
    builder.setInsertionPointToStart(branch.thenBlock());
  }

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<TileLayout> layout = getLayout(op.getValue());
    if (failed(layout))
      return rewriter.notifyMatchFailure(
          op, "a fragment has no lane map of this chip");
    ValueRange tiles = adaptor.getValue();
    if (op.getAtomicAdd())
      enterOneOf(rewriter, op, layout->map);
    TileAccess access(rewriter, op, target, *layout);
    Value inside =
        access.emitAllInBounds(op.getValue().getType(), op.getInBounds());
    if (!inside) {
      emitAll(rewriter, op, *layout, access, tiles, false);
    } else {
      scf::IfOp::create(
          rewriter, loc, inside,
          [&](OpBuilder &nested, Location loc) {
            TileAccess inner(nested, op, target, *layout);
            emitAll(nested, op, *layout, inner, tiles, false);
            scf::YieldOp::create(nested, loc);
          },
          [&](OpBuilder &nested, Location loc) {
            TileAccess edge(nested, op, target, *layout);
            emitAll(nested, op, *layout, edge, tiles, true);
            scf::YieldOp::create(nested, loc);
          });
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

struct BroadcastPattern : FragmentPattern<BroadcastOp> {
  using FragmentPattern::FragmentPattern;

  /// The known alignment of the memory's element at `index`, in bytes.
  static int64_t getAlignment(BroadcastOp op) {
    auto known = op->getAttrOfType<IntegerAttr>(
        TesseraDialect::AlignmentAttrHelper::getNameStr());
    return known ? known.getInt() : 0;
  }

  /// Elements of the vector that a lane loads at once.
  int64_t getVectorWidth(BroadcastOp op, const TileLayout &vector) const {
    auto type = cast<MemRefType>(op.getSource().getType());
    int64_t bits = getElementBits(type.getElementType());
    if (!isInnerContiguous(type) || bits < 8)
      return 1;
    int64_t width = vector.map.getContiguous(1 - op.getDimension());
    int64_t bytes = target.chip.accessBytes;
    if (target.chip.alignedAccess)
      bytes = std::min(bytes, getAlignment(op));
    return std::clamp<int64_t>(8 * bytes / bits, 1, width);
  }

  /// The tiles of the vector fragment that the memory holds from `index` on.
  SmallVector<Value> emitVector(OpBuilder &builder, BroadcastOp op,
                                const TileLayout &vector) const {
    Location loc = op.getLoc();
    IndexMath math(builder, loc);
    unsigned along = 1 - op.getDimension();
    Type element = vector.vectorType.getElementType();
    Value lane =
        vector.getLaneOffset(builder, loc, target.getLane(builder, op))[along];
    Value base = math.add(op.getIndex(), lane);
    auto type = cast<MemRefType>(op.getSource().getType());
    int64_t extent = vector.getExtent(along);
    int64_t total = extent * vector.tiles[along];
    std::optional<int64_t> first = getConstantIntValue(op.getIndex());
    bool inside =
        op.getInBounds() || (first && *first >= 0 && !type.isDynamicDim(0) &&
                             *first + total <= type.getDimSize(0));
    Value size;
    if (!inside)
      size = memref::DimOp::create(builder, loc, op.getSource(), 0);
    int64_t width = inside ? getVectorWidth(op, vector) : 1;
    SmallVector<Value> tiles;
    for (int64_t t = 0; t < vector.tiles[along]; ++t) {
      SmallVector<Value> elements;
      for (int64_t reg = 0; reg < vector.map.getNumRegisters(); reg += width) {
        auto [row, col] = vector.map.at(0, reg);
        Value index = math.add(base, t * extent + (along ? col : row));
        if (width > 1) {
          Value part = vector::LoadOp::create(
              builder, loc, VectorType::get(width, element), op.getSource(),
              index, /*nontemporal=*/false,
              getAccessAlignment(element, width, getAlignment(op),
                                 target.chip.alignedAccess));
          for (int64_t i = 0; i < width; ++i)
            elements.push_back(
                vector::ExtractOp::create(builder, loc, part, i));
          continue;
        }
        auto load = [&](OpBuilder &builder, Location loc) -> Value {
          return memref::LoadOp::create(builder, loc, op.getSource(), index);
        };
        if (inside) {
          elements.push_back(load(builder, loc));
          continue;
        }
        Value good = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::slt, index, size);
        elements.push_back(
            scf::IfOp::create(
                builder, loc, good,
                [&](OpBuilder &nested, Location loc) {
                  scf::YieldOp::create(nested, loc, load(nested, loc));
                },
                [&](OpBuilder &nested, Location loc) {
                  scf::YieldOp::create(nested, loc,
                                       emitZero(nested, loc, element));
                })
                .getResult(0));
      }
      tiles.push_back(vector::FromElementsOp::create(
          builder, loc, vector.vectorType, elements));
    }
    return tiles;
  }

  LogicalResult
  matchAndRewrite(BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FragmentType type = op.getResult().getType();
    FailureOr<TileLayout> layout = getLayout(op.getResult());
    if (failed(layout))
      return rewriter.notifyMatchFailure(
          op, "a fragment has no lane map of this chip");
    unsigned dropped = op.getDimension(), along = 1 - dropped;
    FailureOr<TileLayout> vector = getTileLayout(
        target.chip,
        FragmentType::get(type.getContext(), dropped == 0 ? 1 : type.getRows(),
                          dropped == 1 ? 1 : type.getCols(),
                          type.getElementType(), type.getRole(),
                          type.getInstruction()));
    if (failed(vector))
      return rewriter.notifyMatchFailure(op, "no layout for the vector");
    SmallVector<Value> source;
    if (isa<MemRefType>(op.getSource().getType()))
      source = emitVector(rewriter, op, *vector);
    else
      llvm::append_range(source, adaptor.getSource());

    // Register of the vector with the same coordinate.
    auto sourceRegister = [&](int64_t reg) {
      auto [row, col] = layout->map.at(0, reg);
      int64_t wanted = along ? col : row;
      for (int64_t r = 0; r < vector->map.getNumRegisters(); ++r) {
        auto [vRow, vCol] = vector->map.at(0, r);
        if ((along ? vCol : vRow) == wanted)
          return r;
      }
      return int64_t(0);
    };
    // One full tile for each tile of the vector.
    SmallVector<Value> full;
    for (Value tile : source) {
      if (vector->map == layout->map) {
        full.push_back(tile);
        continue;
      }
      SmallVector<Value> elements;
      for (int64_t reg = 0; reg < layout->map.getNumRegisters(); ++reg)
        elements.push_back(vector::ExtractOp::create(rewriter, loc, tile,
                                                     sourceRegister(reg)));
      full.push_back(vector::FromElementsOp::create(
          rewriter, loc, layout->vectorType, elements));
    }
    SmallVector<Value> tiles;
    for (int64_t i = 0; i < layout->tiles[0]; ++i)
      for (int64_t j = 0; j < layout->tiles[1]; ++j)
        tiles.push_back(full[along ? j : i]);
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};
} // namespace

void mlir::tessera::populateMemoryPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           const FragmentTarget &target) {
  patterns.add<FillPattern, LoadPattern, StorePattern, BroadcastPattern>(
      converter, patterns.getContext(), target);
}
