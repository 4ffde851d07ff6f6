//===- CopyOps.cpp - Verifiers and effects of copy, async_copy, tile, wait ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileAccess.h"

#include "Dialect/Tessera/IR/Tessera.h"

using namespace mlir;
using namespace mlir::tessera;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(Effects &effects, OpOperand &source, OpOperand &target) {
  effects.emplace_back(MemoryEffects::Read::get(), &source,
                       SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &target,
                       SideEffects::DefaultResource::get());
}

LogicalResult mlir::tessera::verifyTileAccess(Operation *op, StringRef label,
                                              MemRefType type,
                                              ValueRange indices) {
  if (type.getRank() < 2)
    return op->emitOpError()
           << label << ": " << type << " has rank " << type.getRank()
           << ", but a tile requires rank 2 or more";
  if (static_cast<int64_t>(indices.size()) != type.getRank())
    return op->emitOpError()
           << label << ": " << type << " requires " << type.getRank()
           << " indices, not " << indices.size();
  return success();
}

/// Verifies the source of a copy or tile: `indexLabel` is the label of the
/// constraint on its indices, `gather` that of the constraint on the region.
template <typename OpTy>
static LogicalResult verifySource(OpTy op, StringRef indexLabel,
                                  StringRef gather, int64_t rowLength) {
  MemRefType type = op.getSourceType();
  std::optional<int64_t> contiguous = op.getContiguous();
  WindowAttr window = op.getWindowAttr();
  if (!op.isGather()) {
    if (contiguous)
      return op.emitOpError() << gather
                              << ": contiguous requires a gather region; "
                                 "without one, the layout "
                                 "of the memory decides";
    if (window)
      return op.emitOpError() << gather << ": window requires a gather region";
    return verifyTileAccess(op, indexLabel, type, op.getSourceIndices());
  }
  if (!window && !op.getSourceIndices().empty())
    return op.emitOpError() << indexLabel
                            << ": with gather, the source must not have "
                               "indices: the region computes them";
  if (window && op.getSourceIndices().size() != 2)
    return op.emitOpError() << indexLabel
                            << ": with window, the source must have two "
                               "indices: the row and the column of the "
                               "window's matrix";
  if (window && window.getMap().getNumResults() != type.getRank())
    return op.emitOpError()
           << gather << ": the window's map has "
           << window.getMap().getNumResults() << " results, but " << type
           << " has rank " << type.getRank();
  Region &region = op.getGather();
  Block &block = region.front();
  auto isIndex = [](Type type) { return type.isIndex(); };
  auto yield = region.hasOneBlock() && !block.empty()
                   ? dyn_cast<YieldOp>(block.back())
                   : YieldOp();
  int64_t rank = type.getRank();
  if (!yield || block.getNumArguments() != 2 ||
      !llvm::all_of(block.getArgumentTypes(), isIndex) ||
      static_cast<int64_t>(yield.getValues().size()) != rank + 1 ||
      !llvm::all_of(yield.getValues().drop_back().getTypes(), isIndex) ||
      !yield.getValues().back().getType().isInteger(1))
    return op.emitOpError()
           << gather << ": the region must take two index values, and yield "
           << rank << " index values and an i1 for " << type;
  for (Operation &inner : block)
    if (!hasNoEffectsButReads(&inner))
      return inner.emitError()
             << gather << ": the region of a gather must not have side effects";
  if (contiguous && (*contiguous <= 0 || !llvm::isPowerOf2_64(*contiguous) ||
                     rowLength % *contiguous))
    return op.emitOpError()
           << gather << ": contiguous (" << *contiguous
           << ") must be a power of two that divides the row length "
           << rowLength;
  return success();
}

template <typename CopyLike> static LogicalResult verifyCopy(CopyLike op) {
  Type source = op.getSourceType().getElementType(),
       target = op.getTargetType().getElementType();
  if (source != target)
    return op.emitOpError() << "copy_c2: the source has elements of " << source
                            << ", the target of " << target;
  ArrayRef<int64_t> shape = op.getShape();
  if (shape.size() != 2 || shape[0] <= 0 || shape[1] <= 0)
    return op.emitOpError() << "copy_c3: shape must have two positive entries";
  if (failed(verifySource(op, "copy_c1", "copy_c6", shape[1])) ||
      failed(verifyTileAccess(op, "copy_c1", op.getTargetType(),
                              op.getTargetIndices())))
    return failure();
  if (std::optional<uint64_t> alignment = op.getAlignment()) {
    unsigned bytes = source.isIndex() ? 8 : source.getIntOrFloatBitWidth() / 8;
    if (!llvm::isPowerOf2_64(*alignment) || *alignment < bytes)
      return op.emitOpError()
             << "copy_c4: alignment must be a power of two, and at least the "
                "element's "
             << bytes << " bytes, not " << static_cast<int64_t>(*alignment);
  }
  if (op.getSwizzled() && getSwizzlePhases(op.getTargetType()) == 0)
    return op.emitOpError()
           << "copy_c7: " << op.getTargetType()
           << " cannot be swizzled: its rows must have 32 or a multiple of 64 "
              "bytes, without padding";
  if (op.getFromSwizzled() && op.isGather())
    return op.emitOpError() << "copy_c8: the source of a gather must not be "
                               "swizzled";
  if (op.getFromSwizzled() && getSwizzlePhases(op.getSourceType()) == 0)
    return op.emitOpError()
           << "copy_c8: " << op.getSourceType()
           << " cannot be swizzled: its rows must have 32 or a multiple of 64 "
              "bytes, without padding";
  return success();
}

//===----------------------------------------------------------------------===//
// CopyOp, AsyncCopyOp
//===----------------------------------------------------------------------===//

LogicalResult CopyOp::verify() { return verifyCopy(*this); }

void CopyOp::getEffects(Effects &effects) {
  addEffects(effects, getSourceMutable(), getTargetMutable());
}

LogicalResult AsyncCopyOp::verify() {
  if (failed(verifyCopy(*this)))
    return failure();
  if (!isWorkgroupMemory(getTargetType()))
    return emitOpError() << "copy_c5: the target of an asynchronous copy must "
                            "be in workgroup memory, not "
                         << getTargetType();
  return success();
}

void AsyncCopyOp::getEffects(Effects &effects) {
  addEffects(effects, getSourceMutable(), getTargetMutable());
}

//===----------------------------------------------------------------------===//
// TileOp
//===----------------------------------------------------------------------===//

LogicalResult TileOp::verify() {
  MemRefType type = getResultType();
  if (type.getRank() != 2 || !type.hasStaticShape() ||
      !type.getLayout().isIdentity() ||
      type.getElementType() != getSourceType().getElementType())
    return emitOpError() << "tile_c2: the result must be a static memref of "
                            "rank 2 with the source's element type, "
                         << getSourceType().getElementType() << ", not "
                         << type;
  if (failed(verifySource(*this, "tile_c1", "tile_c3", type.getDimSize(1))))
    return failure();
  for (Operation *user : getResult().getUsers())
    if (!isa<LoadOp>(user)) {
      InFlightDiagnostic diag =
          emitOpError() << "tile_c4: a tile can only be used by tessera.load";
      diag.attachNote(user->getLoc()) << "other use";
      return diag;
    }
  return success();
}

void TileOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable(),
                       SideEffects::DefaultResource::get());
}

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

LogicalResult WaitOp::verify() {
  if (static_cast<int64_t>(getPending()) < 0)
    return emitOpError() << "wait_c1: pending must not be negative";
  return success();
}
