//===- SumParts.cpp - sum_parts -------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane's elements of a row of tiles, tile after tile, are in the order of
// their columns but for the lowest ones: a share of the columns is a run of
// them, and the same run of the narrower fragment's.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {
struct SumPartsPattern : FragmentPattern<SumPartsOp> {
  using FragmentPattern::FragmentPattern;

  /// Whether the first elements of a row of `whole` are where those of `share`
  /// are.
  static bool isRun(const TileLayout &whole, const TileLayout &share) {
    int64_t count = share.tiles[1] * share.map.getNumRegisters(),
            perWhole = whole.map.getNumRegisters(),
            perShare = share.map.getNumRegisters();
    if (whole.tiles[0] != share.tiles[0] ||
        whole.getExtent(0) != share.getExtent(0) ||
        whole.tiles[1] * perWhole % count)
      return false;
    for (int64_t e = 0; e < count; ++e) {
      auto [row, col] = whole.map.at(0, e % perWhole);
      auto [shareRow, shareCol] = share.map.at(0, e % perShare);
      if (row != shareRow || col + e / perWhole * whole.getExtent(1) !=
                                 shareCol + e / perShare * share.getExtent(1))
        return false;
    }
    return true;
  }

  LogicalResult
  matchAndRewrite(SumPartsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<TileLayout> whole = getLayout(op.getValue()),
                          share = getLayout(op.getResult());
    if (failed(whole) || failed(share))
      return rewriter.notifyMatchFailure(
          op, "a fragment has no lane map of this chip");
    if (!isRun(*whole, *share))
      return op.emitOpError()
             << "no part of " << op.getValue().getType()
             << " has the layout of " << op.getResult().getType();
    SmallVector<Value> values;
    for (Value tile : adaptor.getValue())
      for (int64_t reg = 0; reg < whole->map.getNumRegisters(); ++reg)
        values.push_back(vector::ExtractOp::create(rewriter, loc, tile, reg));
    SmallVector<Value> sums =
        target.emitClusterSum(rewriter, op, values, /*rows=*/whole->tiles[0]);
    if (sums.empty())
      return op.emitOpError() << "needs clusters of workgroups, which "
                              << target.chip.name << " does not support";
    SmallVector<Value> tiles;
    int64_t perTile = share->map.getNumRegisters();
    for (int64_t tile = 0; tile < share->getNumTiles(); ++tile)
      tiles.push_back(vector::FromElementsOp::create(
          rewriter, loc, share->vectorType,
          ArrayRef(sums).slice(tile * perTile, perTile)));
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};
} // namespace

void mlir::tessera::populateSumPartsPattern(const TypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            const FragmentTarget &target) {
  patterns.add<SumPartsPattern>(converter, patterns.getContext(), target);
}
