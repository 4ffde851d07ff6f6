//===- ConvertPattern.cpp - Element type, role and distribution -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If every element stays in its lane, a conversion only renames registers (the
// accumulators of two m16n8 tiles are the `a` operand of m16n8k16). Otherwise
// it uses subgroup shuffles: for each register of the result, one for each
// register of the source that some lane needs.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// The position of an element of a fragment.
struct Source {
  int64_t lane, tile, reg;
};

struct ConvertPattern : FragmentPattern<ConvertOp> {
  using FragmentPattern::FragmentPattern;

  /// Where lane `lane` finds element (row, col), in itself if it can.
  static std::optional<Source> find(const TileLayout &layout, int64_t row,
                                    int64_t col, int64_t lane,
                                    int64_t numLanes) {
    int64_t rows = layout.getExtent(0), cols = layout.getExtent(1);
    int64_t tile = row / rows * layout.tiles[1] + col / cols;
    std::pair<int64_t, int64_t> within{row % rows, col % cols};
    for (int64_t step = 0; step < numLanes; ++step) {
      int64_t other = lane ^ step;
      for (int64_t reg = 0; reg < layout.map.getNumRegisters(); ++reg)
        if (layout.map.at(other, reg) == within)
          return Source{other, tile, reg};
    }
    return std::nullopt;
  }

  /// A register of the result, from the registers of the source.
  Value emitRegister(OpBuilder &builder, Location loc, const TileLayout &from,
                     const TileLayout &to, ValueRange source, int64_t tile,
                     int64_t reg) const {
    int64_t rowBase = tile / to.tiles[1] * to.getExtent(0);
    int64_t colBase = tile % to.tiles[1] * to.getExtent(1);
    // Subgroups of a group hold other parts in the same way, and each moves its
    // own.
    int64_t numLanes = std::min(to.map.getNumLanes(), target.chip.subgroupSize);
    for (size_t bit = llvm::Log2_64(numLanes); bit < to.map.getLanes().size();
         ++bit)
      if (from.map.getLanes()[bit] != to.map.getLanes()[bit])
        return {};
    SmallVector<Source> sources;
    bool stays = true, oneRegister = true;
    for (int64_t lane = 0; lane < numLanes; ++lane) {
      auto [row, col] = to.map.at(lane, reg);
      std::optional<Source> found =
          find(from, rowBase + row, colBase + col, lane, numLanes);
      if (!found)
        return {};
      sources.push_back(*found);
      stays &= found->lane == lane;
      oneRegister &=
          found->tile == sources[0].tile && found->reg == sources[0].reg;
    }
    auto extract = [&](const Source &at) -> Value {
      return vector::ExtractOp::create(builder, loc, source[at.tile], at.reg);
    };
    if (stays && oneRegister)
      return extract(sources[0]);

    Value lane = target.getSubgroupLane(builder, loc);
    Value lane64 =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), lane);
    auto constant64 = [&](uint64_t value) -> Value {
      return arith::ConstantOp::create(
          builder, loc,
          builder.getIntegerAttr(builder.getI64Type(),
                                 static_cast<int64_t>(value)));
    };
    // Maps are linear, so the source lane is: a step for each bit set.
    Value sourceLane = lane;
    if (!stays) {
      sourceLane =
          arith::ConstantIndexOp::create(builder, loc, sources[0].lane);
      for (int64_t bit = 1; bit < numLanes; bit *= 2) {
        int64_t step = sources[bit].lane ^ sources[0].lane;
        if (!step)
          continue;
        Value isSet = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ne,
            arith::AndIOp::create(
                builder, loc, lane,
                arith::ConstantIndexOp::create(builder, loc, bit)),
            arith::ConstantIndexOp::create(builder, loc, 0));
        Value moved = arith::XOrIOp::create(
            builder, loc, sourceLane,
            arith::ConstantIndexOp::create(builder, loc, step));
        sourceLane =
            arith::SelectOp::create(builder, loc, isSet, moved, sourceLane);
      }
      for (int64_t l = 0; l < numLanes; ++l) {
        int64_t expected = sources[0].lane;
        for (int64_t bit = 1; bit < numLanes; bit *= 2)
          if (l & bit)
            expected ^= sources[bit].lane ^ sources[0].lane;
        if (expected != sources[l].lane)
          return {};
      }
    }
    Value result;
    SmallVector<bool> done(numLanes, false);
    for (int64_t l = 0; l < numLanes; ++l) {
      if (done[l])
        continue;
      uint64_t users = 0;
      for (int64_t u = l; u < numLanes; ++u)
        if (sources[u].tile == sources[l].tile &&
            sources[u].reg == sources[l].reg) {
          users |= uint64_t(1) << u;
          done[u] = true;
        }
      Value value = extract(sources[l]);
      if (!stays)
        value = emitShuffleAny(builder, loc, target, value, sourceLane);
      if (!result) {
        result = value;
        continue;
      }
      Value mine = arith::TruncIOp::create(
          builder, loc, builder.getI1Type(),
          arith::ShRUIOp::create(builder, loc, constant64(users), lane64));
      result = arith::SelectOp::create(builder, loc, mine, value, result);
    }
    return result;
  }

  LogicalResult
  matchAndRewrite(ConvertOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<TileLayout> from = getLayout(op.getSource());
    FailureOr<TileLayout> to = getLayout(op.getResult());
    if (failed(from) || failed(to))
      return rewriter.notifyMatchFailure(
          op, "a fragment has no lane map of this chip");
    // Cast on the side where the elements are narrow in number of bits moved.
    Type element = to->vectorType.getElementType();
    SmallVector<Value> source;
    for (Value tile : adaptor.getSource())
      source.push_back(
          emitElementCast(rewriter, loc, tile, element, op.getIsUnsigned()));
    if (from->map == to->map) {
      rewriter.replaceOpWithMultiple(op, {ValueRange(source)});
      return success();
    }
    SmallVector<Value> tiles;
    for (int64_t t = 0; t < to->getNumTiles(); ++t) {
      SmallVector<Value> elements;
      for (int64_t reg = 0; reg < to->map.getNumRegisters(); ++reg) {
        Value value = emitRegister(rewriter, loc, *from, *to, source, t, reg);
        if (!value)
          return op.emitError() << "cannot convert fragment layout "
                                << op.getSource().getType() << " to "
                                << op.getResult().getType();
        elements.push_back(value);
      }
      tiles.push_back(vector::FromElementsOp::create(rewriter, loc,
                                                     to->vectorType, elements));
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

} // namespace

void mlir::tessera::populateConvertPattern(const TypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           const FragmentTarget &target) {
  patterns.add<ConvertPattern>(converter, patterns.getContext(), target);
}
