//===- LdsCopies.cpp - Copies straight to workgroup memory ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A load may write workgroup memory instead of registers (async copy to LDS).
// The lanes of a subgroup can choose where to read, but not where to write:
// their chunks are written consecutively, lane by lane. So the copy iterates
// over the tile in the order of workgroup memory, and each lane reads the
// element that belongs to its position; if the tile is swizzled, that is in the
// permuted column of the source.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Swizzle.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/MemoryIndex.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "Patterns.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::tessera;

/// The reason why no chip's loads can copy `op` directly to workgroup memory;
/// empty if some can.
static StringRef explainNoLdsCopy(AsyncCopyOp op, const Chip &chip) {
  MemRefType from = op.getSourceType(), to = op.getTargetType();
  std::optional<int64_t> threads = getCopyThreads(op);
  if (op.isGather())
    return "its elements are gathered";
  if (isPacked(from.getElementType()))
    return "its elements are smaller than a byte";
  if (isWorkgroupMemory(from) || op.getFromSwizzled())
    return "its source is in workgroup memory";
  if (!isInnerContiguous(from))
    return "the elements of its rows are not contiguous";
  if (op->hasAttr(TesseraDialect::KPackedAttrHelper::getNameStr()))
    return "its target has a k-packed (VNNI) layout";
  if (op->hasAttr(TesseraDialect::CopyThreadsAttrHelper::getNameStr()) ||
      !threads || *threads % chip.subgroupSize)
    return "it is not shared by all threads of whole subgroups";
  ArrayRef<int64_t> shape = op.getShape();
  ValueRange begin = op.getTargetIndices().take_back(2);
  if (!to.hasStaticShape() || !to.getLayout().isIdentity() ||
      to.getShape().take_back(2) != shape ||
      !llvm::all_of(begin, [](Value v) { return getConstantIntValue(v) == 0; }))
    return "its rows are not contiguous in workgroup memory: they are padded, "
           "or part of a larger tile";
  if (!op.getInBounds() &&
      !isProvablyInBounds(from, op.getSourceIndices(), shape))
    return "part of it may be out of bounds";
  return {};
}

/// The number of elements of a chunk, if `op` can be divided into chunks that
/// loads write directly to workgroup memory, a whole number for each thread;
/// otherwise 0, with the reason in `why`.
static int64_t findWidth(AsyncCopyOp op, const Chip &chip, bool always,
                         StringRef &why) {
  why = explainNoLdsCopy(op, chip);
  if (!why.empty())
    return 0;
  // The width of a load to registers.
  ArrayRef<int64_t> shape = op.getShape();
  int64_t bytes = getElementBytes(op.getSourceType().getElementType()),
          widest = std::min<int64_t>(chip.accessBytes,
                                     op.getAlignment().value_or(0));
  if (op.getSwizzled())
    widest = std::min<int64_t>(widest, 16);
  while (widest >= bytes && shape[1] * bytes % widest)
    widest /= 2;
  int64_t chosen = 0;
  for (int64_t can : chip.ldsCopyBytes)
    if (can == widest || (always && can <= widest && can >= bytes))
      chosen = std::max(chosen, can);
  if (chosen == 0)
    why = "the chip has no load to workgroup memory that is at least one "
          "element wide and within the known alignment of its rows";
  else if (shape[0] * shape[1] * bytes % (chosen * *getCopyThreads(op)))
    why = "it is not a whole number of loads for each thread";
  return why.empty() ? chosen / bytes : 0;
}

static std::optional<int64_t> getNumber(Operation *op, StringRef name) {
  auto number = op->getAttrOfType<IntegerAttr>(name);
  return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
}
std::optional<int64_t> mlir::tessera::getDirectWidth(AsyncCopyOp op) {
  return getNumber(op, TesseraDialect::LdsWidthAttrHelper::getNameStr());
}
std::optional<int64_t> mlir::tessera::getLdsLoads(WaitOp op) {
  return getNumber(op, TesseraDialect::LdsLoadsAttrHelper::getNameStr());
}

LogicalResult mlir::tessera::checkLdsCopies(Operation *op, const Chip &chip,
                                            const CompileFlags &flags) {
  LdsCopies use = flags.ldsCopies;
  if (use == LdsCopies::Auto || !chip.ldsCopyBytes.empty())
    return success();
  return op->emitError() << "--direct-copies=" << getName(use) << ": "
                         << chip.target << ":" << chip.name
                         << " has no load that writes workgroup memory "
                            "directly; remove the option";
}

SmallVector<Value>
mlir::tessera::LdsCopy::emitSourceIndices(OpBuilder &builder, Location loc,
                                          std::array<Value, 2> position) const {
  IndexMath math(builder, loc);
  SmallVector<Value> indices(origin);
  indices.end()[-2] = math.add(indices.end()[-2], position[0]);
  indices.end()[-1] = math.add(indices.end()[-1], position[1]);
  return indices;
}

void mlir::tessera::markLdsCopies(Operation *root, const Chip &chip,
                                  const CompileFlags &flags) {
  LdsCopies use = flags.ldsCopies;
  if (use == LdsCopies::Never || chip.ldsCopyBytes.empty())
    return;
  OpBuilder builder(root->getContext());
  // A pipelined loop contains the same copy several times.
  llvm::SmallSet<std::pair<const void *, StringRef>, 4> reported;
  root->walk([&](gpu::GPUFuncOp kernel) {
    // The smallest number of loads of each thread in a copy.
    std::optional<int64_t> least;
    bool any = false;
    kernel.walk([&](AsyncCopyOp op) {
      bool always = use == LdsCopies::Always;
      StringRef why;
      int64_t width = findWidth(op, chip, always, why), loads = 0;
      if (always && !width &&
          reported.insert({op.getLoc().getAsOpaquePointer(), why}).second)
        op.emitRemark() << "copy goes through registers: " << why;
      if (width) {
        op->setAttr(TesseraDialect::LdsWidthAttrHelper::getNameStr(),
                    builder.getI64IntegerAttr(width));
        loads =
            op.getShape()[0] * op.getShape()[1] / (width * *getCopyThreads(op));
        any = true;
      }
      least = least ? std::min(*least, loads) : loads;
    });
    if (any)
      kernel.walk([&](WaitOp wait) {
        wait->setAttr(TesseraDialect::LdsLoadsAttrHelper::getNameStr(),
                      builder.getI64IntegerAttr(wait.getPending() * *least));
      });
  });
}

/// The row and column in the source of the element that a dense tile of `type`
/// stores as its element `position`.
static std::array<Value, 2> emitSourcePosition(OpBuilder &builder, Location loc,
                                               MemRefType type, bool isSwizzled,
                                               Value position) {
  IndexMath math(builder, loc);
  int64_t rows = type.getDimSize(type.getRank() - 2),
          cols = type.getShape().back();
  if (!isSwizzled)
    return {math.div(position, math.constant(cols)),
            math.rem(position, math.constant(cols))};
  // By panels (Swizzle.cpp). Within a row's part of one, the permutation is its
  // own inverse.
  int64_t bits = getElementBits(type.getElementType()),
          perPanel = getSwizzlePanelBytes(cols * bits / 8) * 8 / bits;
  Value line = math.div(position, math.constant(perPanel)),
        row = math.rem(line, math.constant(rows)),
        panel = math.mul(math.div(line, math.constant(rows)), perPanel),
        kept = math.rem(position, math.constant(perPanel));
  return {row,
          math.add(panel, emitSwizzledColumn(builder, loc, type, row, kept))};
}

/// The number of rows in the source between the elements of two loads of a
/// thread, `elements` apart in a dense tile of `type`, of which a subgroup
/// copies `all`; if it is the same for all threads and loads.
static std::optional<int64_t> findLoadRows(MemRefType type, bool isSwizzled,
                                           int64_t elements, int64_t all) {
  int64_t rows = type.getDimSize(type.getRank() - 2),
          cols = type.getShape().back(), line = cols, period = 1;
  if (isSwizzled) {
    int64_t bits = getElementBits(type.getElementType()),
            panelBytes = getSwizzlePanelBytes(cols * bits / 8);
    line = panelBytes * 8 / bits;
    period = 128 / panelBytes * getSwizzlePhases(type);
  }
  // The lines of a subgroup must be in one panel.
  if (elements % (line * period) || (line < cols && rows % (all / line)))
    return std::nullopt;
  return elements / line;
}

bool mlir::tessera::emitLdsCopy(OpBuilder &builder, AsyncCopyOp op,
                                const FragmentTarget &target) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  MemRefType type = op.getTargetType();
  LdsCopy copy;
  copy.source = op.getSource();
  copy.origin = op.getSourceIndices();
  copy.isUniform = op->hasAttr(TesseraDialect::UniformAttrHelper::getNameStr());
  copy.shape = op.getShape();
  copy.to = memref::CollapseShapeOp::create(
      builder, loc, op.getTarget(),
      {llvm::to_vector<2>(llvm::seq(type.getRank()))});
  copy.thread = emitLinearThread(builder, op);
  copy.width = *getDirectWidth(op);
  int64_t lanes = target.chip.subgroupSize;
  copy.loads =
      copy.shape[0] * copy.shape[1] / (copy.width * *getCopyThreads(op));
  Value begin =
      emitLinearIndex(builder, loc, op.getTarget(), op.getTargetIndices());
  int64_t ofLoad = lanes * copy.width, ofSubgroup = copy.loads * ofLoad;
  Value ofThread = math.add(
      math.mul(math.div(copy.thread, math.constant(lanes)), ofSubgroup),
      math.mul(math.rem(copy.thread, math.constant(lanes)), copy.width));
  std::optional<int64_t> distance =
      findLoadRows(type, op.getSwizzled(), ofLoad, ofSubgroup);
  std::array<Value, 2> position;
  for (int64_t load = 0; load < copy.loads; ++load) {
    if (load == 0 || !distance)
      position = emitSourcePosition(builder, loc, type, op.getSwizzled(),
                                    math.add(ofThread, load * ofLoad));
    if (!target.emitLdsLoad(builder, loc, copy, position,
                            load * distance.value_or(0), begin, load))
      return false;
  }
  return true;
}
