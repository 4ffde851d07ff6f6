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
#include "llvm/ADT/SmallSet.h"

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

/// Why loads of no chip could bring what `op` copies to workgroup memory; empty
/// where some could.
static StringRef explainNoDirectCopy(AsyncCopyOp op, const Chip &chip) {
  MemRefType from = op.getSourceType(), to = op.getTargetType();
  std::optional<int64_t> threads = getCopyThreads(op);
  if (op.isGather())
    return "its elements are gathered";
  if (isPacked(from.getElementType()))
    return "two of its elements share a byte";
  if (isWorkgroupMemory(from) || op.getFromSwizzled())
    return "it comes from workgroup memory";
  if (!isInnerContiguous(from))
    return "the elements of its rows are apart";
  if (op->hasAttr(getInterleavedAttrName()))
    return "words of its columns are kept together";
  if (op->hasAttr(getCopyThreadsAttrName()) || !threads ||
      *threads % chip.subgroupSize)
    return "not all threads of whole subgroups share it";
  ArrayRef<int64_t> shape = op.getShape();
  ValueRange begin = op.getTargetIndices().take_back(2);
  if (getDenseSize(to) == 0 || to.getShape().take_back(2) != shape ||
      !llvm::all_of(begin, [](Value v) { return getConstantIntValue(v) == 0; }))
    return "its rows do not follow each other in workgroup memory: they are "
           "padded, or part of a tile";
  if (!op.getInBounds() &&
      !isProvablyInBounds(from, op.getSourceIndices(), shape))
    return "part of it may lie outside of the memory";
  return {};
}

/// The elements of a chunk, if `op` may be cut into chunks that loads bring to
/// workgroup memory, a whole number for each thread; else 0, and why.
static int64_t findWidth(AsyncCopyOp op, const Chip &chip, bool always,
                         StringRef &why) {
  why = explainNoDirectCopy(op, chip);
  if (!why.empty())
    return 0;
  // What a load to registers would bring at once.
  ArrayRef<int64_t> shape = op.getShape();
  int64_t bytes = getElementBytes(op.getSourceType().getElementType()),
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
  if (chosen == 0)
    why = "no load of the chip brings as much as one of its elements, or as "
          "little as its rows are known to be aligned to";
  else if (shape[0] * shape[1] * bytes % (chosen * *getCopyThreads(op)))
    why = "it is no whole number of loads of each thread";
  return why.empty() ? chosen / bytes : 0;
}

std::optional<int64_t> mlir::tessera::getDirectWidth(Operation *op) {
  auto width = op->getAttrOfType<IntegerAttr>(getDirectAttrName());
  return width ? std::optional<int64_t>(width.getInt()) : std::nullopt;
}

void mlir::tessera::markDirectCopies(Operation *root, const Chip &chip,
                                     DirectCopies use) {
  if (use == DirectCopies::Never || chip.directCopyBytes.empty())
    return;
  OpBuilder builder(root->getContext());
  // A pipelined loop has the same copy in several places.
  llvm::SmallSet<std::pair<const void *, StringRef>, 4> said;
  root->walk([&](gpu::GPUFuncOp kernel) {
    // A copy is so many loads of each thread at least.
    std::optional<int64_t> least;
    bool any = false;
    kernel.walk([&](AsyncCopyOp op) {
      bool always = use == DirectCopies::Always;
      StringRef why;
      int64_t width = findWidth(op, chip, always, why), loads = 0;
      if (always && !width &&
          said.insert({op.getLoc().getAsOpaquePointer(), why}).second)
        op.emitRemark() << "a copy goes through registers: " << why;
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
