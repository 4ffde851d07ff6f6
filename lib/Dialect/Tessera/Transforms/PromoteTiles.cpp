//===- PromoteTiles.cpp - Tiles to workgroup memory -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %t = tile %A[m, k]            barrier                  (the readers are
//   done) %a = load %t[i, j]     ->     copy %A[m, k] -> %buffer
//                                 barrier                  (the writers are
//                                 done) %a = load %buffer[i, j]
//
// or, where the schedule has no stages:   %a = load %A[m + i, k + j]
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/Schedule.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAPROMOTETILES
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-promote-tiles"

STATISTIC(numStagedTiles, "Number of tiles staged in workgroup memory");
STATISTIC(numFoldedTiles, "Number of tiles read from their source");

using namespace mlir;
using namespace mlir::tessera;

/// Lets the tile's loads read from its source.
static LogicalResult foldIntoLoads(TileOp tile) {
  if (tile.isGather())
    return tile.emitError("a gathered tile requires staging in workgroup "
                          "memory: set the schedule's 'stages' to 1 or more");
  OpBuilder builder(tile);
  for (Operation *user : llvm::make_early_inc_range(tile->getUsers())) {
    auto load = cast<LoadOp>(user);
    builder.setInsertionPoint(load);
    SmallVector<Value> indices(tile.getSourceIndices());
    for (unsigned d : {0, 1}) {
      Value &index = indices[indices.size() - 2 + d];
      index = builder.createOrFold<arith::AddIOp>(load.getLoc(), index,
                                                  load.getIndices()[d]);
    }
    load.getMemoryMutable().assign(tile.getSource());
    load.getIndicesMutable().assign(indices);
    load.setInBounds(tile.getInBounds() && load.getInBounds());
  }
  LDBG() << tile.getLoc() << ": loads read from the source";
  ++numFoldedTiles;
  tile.erase();
  return success();
}

/// Whether every load of the tile stays within it.
static bool isReadWithin(TileOp tile) {
  return llvm::all_of(tile->getUsers(), [](Operation *user) {
    return cast<LoadOp>(user).getInBounds();
  });
}

/// Whether the tile is copied to workgroup memory. Where one lane is the whole
/// workgroup and no copies are in flight, each element of a plain tile is read
/// about once, so that it is read from its source. Narrow elements are packed
/// along K while they are staged.
static bool isStaged(TileOp tile, ScheduleAttr schedule, const Chip &chip) {
  if (!schedule)
    return true;
  if (schedule.getStages() == 0)
    return false;
  bool isAlone = !chip.hasLanes() && schedule.getNumSubgroups() == 1 &&
                 schedule.getStages() == 1;
  constexpr int64_t leastBits = 32;
  return !isAlone || tile.isGather() || !tile.getInBounds() ||
         !isReadWithin(tile) ||
         getElementBits(tile.getResultType().getElementType()) < leastBits;
}

/// Copies the tiles of one block into workgroup memory of `kernel`.
template <typename Kernel>
static void promote(Kernel kernel, MutableArrayRef<TileOp> tiles,
                    ScheduleAttr schedule, const Chip &chip) {
  assert(!tiles.empty() && "a block without tiles");
  OpBuilder builder(tiles.front());
  gpu::BarrierOp::create(builder, tiles.front().getLoc());
  auto space = gpu::AddressSpaceAttr::get(
      kernel.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  Operation *last = nullptr;
  for (TileOp tile : tiles) {
    builder.setInsertionPoint(tile);
    MemRefType tileType = tile.getResultType();
    SmallVector<int64_t> shape(tileType.getShape()), dims(shape);
    bool swizzled =
        schedule && schedule.getSwizzle() && getSwizzlePhases(tileType) != 0;
    if (!swizzled && isReadWithin(tile)) {
      dims[1] +=
          8 * chip.rowPaddingBytes / getElementBits(tileType.getElementType());
      // Each row starts at a whole byte, and fills its last one.
      if (isPacked(tileType.getElementType()))
        dims[1] = llvm::alignTo(dims[1], 2);
    }
    auto type = MemRefType::get(dims, tileType.getElementType(),
                                MemRefLayoutAttrInterface(), space);
    LDBG() << tile.getLoc() << ": staged in " << type
           << (swizzled ? ", swizzled" : "");
    ++numStagedTiles;
    Value buffer = kernel.addWorkgroupAttribution(type, tile.getLoc());
    Value zero = arith::ConstantIndexOp::create(builder, tile.getLoc(), 0);
    SmallVector<Value> to{zero, zero};
    int64_t alignment = std::min<int64_t>(tile.getAlignment().value_or(1),
                                          getKnownTileAlignment(buffer, to));
    auto copy = CopyOp::create(
        builder, tile.getLoc(), tile.getSource(), tile.getSourceIndices(),
        buffer, to, builder.getDenseI64ArrayAttr(shape), tile.getInBounds(),
        tile.getAlignment() ? builder.getI64IntegerAttr(alignment)
                            : IntegerAttr(),
        tile.getContiguousAttr(), tile.getWindowAttr(), swizzled,
        /*fromSwizzled=*/false);
    copy.getGather().takeBody(tile.getGather());
    for (Operation *user : llvm::make_early_inc_range(tile->getUsers())) {
      auto load = cast<LoadOp>(user);
      load.getMemoryMutable().assign(buffer);
      load.setSwizzled(swizzled);
    }
    tile.erase();
    last = copy;
  }
  builder.setInsertionPointAfter(last);
  gpu::BarrierOp::create(builder, last->getLoc());
}

namespace {
struct TesseraPromoteTilesPass
    : public tessera::impl::TesseraPromoteTilesBase<TesseraPromoteTilesPass> {
  using TesseraPromoteTilesBase::TesseraPromoteTilesBase;

  void runOnOperation() override {
    // The tiles that are staged together, by block.
    llvm::MapVector<Block *, SmallVector<TileOp>> blocks;
    getOperation()->walk(
        [&](TileOp tile) { blocks[tile->getBlock()].push_back(tile); });
    if (blocks.empty())
      return;
    FailureOr<const Chip *> found = getChip(getOperation());
    if (failed(found))
      return signalPassFailure();
    for (auto &[block, tiles] : blocks) {
      Operation *first = tiles.front();
      auto launch = first->getParentOfType<gpu::LaunchOp>();
      auto kernel = first->getParentOfType<gpu::GPUFuncOp>();
      if (!launch && !kernel) {
        first->emitError("a tile must be in a gpu.launch or a gpu.func");
        return signalPassFailure();
      }
      Operation *parent = launch ? launch.getOperation() : kernel;
      auto schedule = parent->getAttrOfType<ScheduleAttr>(
          TesseraDialect::ScheduleAttrHelper::getNameStr());
      SmallVector<TileOp> staged;
      for (TileOp tile : tiles)
        if (isStaged(tile, schedule, **found))
          staged.push_back(tile);
        else if (failed(foldIntoLoads(tile)))
          return signalPassFailure();
      if (staged.empty())
        continue;
      if (launch)
        promote(launch, staged, schedule, **found);
      else
        promote(kernel, staged, schedule, **found);
    }
  }
};
} // namespace
