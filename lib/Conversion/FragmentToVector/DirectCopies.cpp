//===- DirectCopies.cpp - Copies straight to workgroup memory -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A load may bring what it reads to workgroup memory rather than to registers.
// The lanes of a subgroup choose where to read, but not where to write: their
// chunks lie one behind the other, lane by lane. So the tile is walked through
// as it is kept, and each lane reads what belongs at its place; where the tile
// is swizzled, that is the permuted column of the source.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Utils.h"
#include "Patterns.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

/// The elements from one matrix of `type` to the next if its rows follow each
/// other without a gap; else 0.
static int64_t getDenseSize(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type.hasStaticShape() || type.getRank() < 2 ||
      failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return 0;
  int64_t size = 1;
  for (auto [extent, stride] :
       llvm::zip(llvm::reverse(type.getShape()), llvm::reverse(strides))) {
    if (stride != size)
      return 0;
    size *= extent;
  }
  ArrayRef<int64_t> matrix = type.getShape().take_back(2);
  return matrix[0] * matrix[1];
}

/// The elements of a chunk, if `op` may be cut into chunks that loads bring to
/// workgroup memory, a whole number for each thread; else 0.
static int64_t findWidth(AsyncCopyOp op, const Chip &chip, bool always) {
  MemRefType from = op.getSourceType(), to = op.getTargetType();
  Type element = from.getElementType();
  std::optional<int64_t> threads = getCopyThreads(op);
  if (chip.directCopyBytes.empty() || op.isGather() || op.getFromSwizzled() ||
      isPacked(element) || isWorkgroupMemory(from) || !isWorkgroupMemory(to) ||
      !isInnerContiguous(from) || op->hasAttr(getInterleavedAttrName()) ||
      op->hasAttr(getCopyThreadsAttrName()) || !threads ||
      *threads % chip.subgroupSize)
    return 0;
  // All of it is there, and is all of a tile.
  ArrayRef<int64_t> shape = op.getShape();
  ValueRange begin = op.getTargetIndices().take_back(2);
  if (getDenseSize(to) == 0 || to.getShape().take_back(2) != shape ||
      !llvm::all_of(begin, [](Value v) { return getConstantIntValue(v) == 0; }))
    return 0;
  if (!op.getInBounds() &&
      !isProvablyInBounds(from, op.getSourceIndices(), shape))
    return 0;
  // What a load to registers would bring at once.
  int64_t bytes = getElementBytes(element),
          widest = std::min<int64_t>(chip.accessBytes,
                                     op.getAlignment().value_or(0));
  if (op.getSwizzled())
    widest = std::min<int64_t>(widest, 16);
  while (widest >= bytes && shape[1] * bytes % widest)
    widest /= 2;
  int64_t chosen = 0;
  for (int64_t can : chip.directCopyBytes)
    if (can == widest || (always && can <= widest && can >= bytes))
      chosen = std::max(chosen, can);
  if (chosen == 0 || shape[0] * shape[1] * bytes % (chosen * *threads))
    return 0;
  return chosen / bytes;
}

std::optional<int64_t> mlir::tessera::getDirectWidth(Operation *op) {
  auto width = op->getAttrOfType<IntegerAttr>(getDirectAttrName());
  return width ? std::optional<int64_t>(width.getInt()) : std::nullopt;
}

void mlir::tessera::markDirectCopies(Operation *root, const Chip &chip,
                                     DirectCopies use) {
  if (use == DirectCopies::Never)
    return;
  OpBuilder builder(root->getContext());
  root->walk([&](gpu::GPUFuncOp kernel) {
    // A copy is so many loads of each thread at least.
    std::optional<int64_t> least;
    bool any = false;
    kernel.walk([&](AsyncCopyOp op) {
      int64_t width = findWidth(op, chip, use == DirectCopies::Always),
              loads = 0;
      if (width) {
        op->setAttr(getDirectAttrName(), builder.getI64IntegerAttr(width));
        loads =
            op.getShape()[0] * op.getShape()[1] / (width * *getCopyThreads(op));
        any = true;
      }
      least = least ? std::min(*least, loads) : loads;
    });
    if (any)
      kernel.walk([&](WaitOp wait) {
        wait->setAttr(getDirectAttrName(),
                      builder.getI64IntegerAttr(wait.getPending() * *least));
      });
  });
}

/// Where the source has what a dense tile of `type` keeps as its element
/// `place`: its row and column.
static std::array<Value, 2> emitSourcePlace(OpBuilder &builder, Location loc,
                                            MemRefType type, bool isSwizzled,
                                            Value place) {
  IndexMath math(builder, loc);
  int64_t rows = type.getDimSize(type.getRank() - 2),
          cols = type.getShape().back();
  if (!isSwizzled)
    return {math.div(place, math.constant(cols)),
            math.rem(place, math.constant(cols))};
  // By panels (Swizzle.cpp). Within a row's part of one, the permutation is its
  // own inverse.
  int64_t perPanel =
      std::min(cols, 8 * 128 / getElementBits(type.getElementType()));
  Value line = math.div(place, math.constant(perPanel)),
        row = math.rem(line, math.constant(rows)),
        panel = math.mul(math.div(line, math.constant(rows)), perPanel),
        kept = math.rem(place, math.constant(perPanel));
  return {row,
          math.add(panel, emitSwizzledColumn(builder, loc, type, row, kept))};
}

void mlir::tessera::emitDirectCopy(OpBuilder &builder, AsyncCopyOp op,
                                   const FragmentTarget &target) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  MemRefType type = op.getTargetType();
  int64_t threads = *getCopyThreads(op), matrixSize = getDenseSize(type),
          size = type.getNumElements();
  auto rowType =
      MemRefType::get({size}, type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  DirectCopy copy;
  copy.source = op.getSource();
  copy.origin = op.getSourceIndices();
  copy.isUniform = op->hasAttr(getUniformAttrName());
  copy.shape = op.getShape();
  copy.to = memref::ReinterpretCastOp::create(
      builder, loc, rowType, op.getTarget(), /*offset=*/int64_t(0),
      ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
  copy.thread = emitLinearThread(builder, op);
  copy.width = *getDirectWidth(op);
  // The matrix of the target: as a number, the last dimension running fastest.
  Value matrix = math.constant(0);
  for (auto [extent, index] : llvm::zip(type.getShape().drop_back(2),
                                        op.getTargetIndices().drop_back(2)))
    matrix = math.add(math.mul(matrix, extent), index);
  Value begin = math.mul(matrix, matrixSize),
        ofThread = math.mul(copy.thread, copy.width);
  for (int64_t first = 0; first < matrixSize; first += threads * copy.width)
    target.emitDirectLoad(builder, loc, copy,
                          emitSourcePlace(builder, loc, type, op.getSwizzled(),
                                          math.add(ofThread, first)),
                          math.add(begin, first));
}
