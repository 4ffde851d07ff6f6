//===- PagedKeys.cpp - Keys that are gathered from pages ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of pages is applied to keys in one of these forms:
//
//   k[b, p, s, h, d] = cache[table[b, p], s, h, d]    then merged to j = (p, s)
//   k[b, j, h, d] = cache[table[b, j / S], j mod S, h, d]
//   k[b, j, h, d] = cache[slots[b, j], h, d]
//
//===----------------------------------------------------------------------===//

#include "PagedKeys.h"

#include "AttentionScores.h"
#include "Elementwise.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

/// The loops of `op` that a value of its body depends on.
static llvm::SmallBitVector getLoops(linalg::LinalgOp op, Value value) {
  llvm::SmallBitVector loops(op.getNumLoops());
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next);
        argument && argument.getOwner() == op.getBlock()) {
      AffineMap map =
          op.getMatchingIndexingMap(&op->getOpOperand(argument.getArgNumber()));
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (map.isFunctionOfDim(loop))
          loops.set(loop);
      continue;
    }
    Operation *made = next.getDefiningOp();
    if (!made || made->getParentOp() != op)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(made))
      loops.set(index.getDim());
    llvm::append_range(pending, made->getOperands());
  }
  return loops;
}

std::optional<PagedKeys> mlir::tessera::matchPagedKeys(
    Value value, ArrayRef<SmallVector<unsigned>> dims, unsigned keys,
    Value &source, SmallVectorImpl<SmallVector<unsigned>> &sourceDims) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      op->getNumRegions() != 1 || !op.getBlock() ||
      op.getBlock()->getTerminator()->getNumOperands() != 1)
    return std::nullopt;
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  Block &block = *op.getBlock();
  auto extract =
      block.getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  bool good = llvm::all_of(block.without_terminator(), [](Operation &nested) {
    return isa<linalg::IndexOp, tensor::ExtractOp>(nested) ||
           isScalarArithmetic(nested);
  });
  if (!good || !out.isPermutation() || !extract ||
      extract->getBlock() != &block || extract.getIndices().empty() ||
      !block.getArgument(init->getOperandNumber()).use_empty())
    return std::nullopt;
  PagedKeys pages;
  pages.op = op;
  pages.loops.resize(op.getNumLoops());
  for (auto [r, expr] : llvm::enumerate(out.getResults()))
    pages.loops[cast<AffineDimExpr>(expr).getPosition()] = dims[r];
  pages.page = extract.getIndices()[0];
  if (pages.page.getDefiningOp<linalg::IndexOp>())
    return std::nullopt;

  source = extract.getTensor();
  auto type = cast<RankedTensorType>(source.getType());
  sourceDims.assign(1, {pageDim});
  llvm::SmallBitVector used = getLoops(op, pages.page);
  auto isKeys = [&](unsigned loop) {
    return pages.loops[loop] == SmallVector<unsigned>{keys};
  };
  for (auto [r, index] : llvm::enumerate(extract.getIndices())) {
    if (r == 0)
      continue;
    if (auto loop = index.getDefiningOp<linalg::IndexOp>()) {
      ArrayRef<unsigned> list = pages.loops[loop.getDim()];
      if (llvm::is_contained(list, pageDim) || isKeys(loop.getDim()))
        return std::nullopt;
      sourceDims.emplace_back(list);
      if (list == ArrayRef<unsigned>{keyInPageDim})
        pages.pageSize = type.getDimSize(r);
      continue;
    }
    // j mod S.
    Operation *made = index.getDefiningOp();
    IntegerAttr size;
    if (!isa_and_nonnull<arith::RemUIOp, arith::RemSIOp>(made) ||
        !matchPattern(made->getOperand(1), m_Constant(&size)))
      return std::nullopt;
    auto loop = made->getOperand(0).getDefiningOp<linalg::IndexOp>();
    if (!loop || !isKeys(loop.getDim()) || pages.pageSize != 0 ||
        size.getInt() != type.getDimSize(r))
      return std::nullopt;
    pages.pageSize = size.getInt();
    sourceDims.push_back({keyInPageDim});
  }
  bool usesKey = false;
  for (unsigned loop : used.set_bits()) {
    if (llvm::is_contained(pages.loops[loop], keyInPageDim))
      return std::nullopt;
    usesKey |= isKeys(loop);
  }
  if (pages.pageSize == 0 && usesKey) {
    pages.isByKey = true;
    pages.pageSize = 1;
    sourceDims.insert(sourceDims.begin() + 1, {keyInPageDim});
  }
  if (ShapedType::isDynamic(pages.pageSize) || pages.pageSize <= 0)
    return std::nullopt;
  // A page by `j` must be the same for all keys of the page.
  if (usesKey && !pages.isByKey) {
    SmallVector<Value> pending{pages.page};
    while (!pending.empty()) {
      Value next = pending.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(next);
          argument && argument.getOwner() == &block) {
        AffineMap map = op.getMatchingIndexingMap(
            &op->getOpOperand(argument.getArgNumber()));
        for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
          if (isKeys(loop) && map.isFunctionOfDim(loop))
            return std::nullopt;
        continue;
      }
      Operation *made = next.getDefiningOp();
      if (!made || made->getBlock() != &block)
        continue;
      IntegerAttr size;
      if (isa<arith::DivUIOp, arith::DivSIOp>(made) &&
          made->getOperand(0).getDefiningOp<linalg::IndexOp>() &&
          matchPattern(made->getOperand(1), m_Constant(&size)) &&
          size.getInt() % pages.pageSize == 0)
        continue;
      if (auto loop = dyn_cast<linalg::IndexOp>(made);
          loop && isKeys(loop.getDim()))
        return std::nullopt;
      llvm::append_range(pending, made->getOperands());
    }
  }
  return pages;
}

Value mlir::tessera::emitPage(const PagedKeys &pages, OpBuilder &builder,
                              Location loc,
                              function_ref<Value(unsigned)> getLoop) {
  linalg::LinalgOp op = pages.op;
  Block &block = *op.getBlock();
  llvm::SmallBitVector used = getLoops(op, pages.page);
  SmallVector<Value> loops(op.getNumLoops());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops[loop] = used.test(loop) ? getLoop(loop) : zero;
  IRMapping mapping;
  for (auto index : block.getOps<linalg::IndexOp>())
    mapping.map(index.getResult(), loops[index.getDim()]);
  for (BlockArgument argument : block.getArguments()) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    if (argument.use_empty() || op.isDpsInit(&operand))
      continue;
    if (!isa<RankedTensorType>(operand.get().getType())) {
      mapping.map(argument, operand.get());
      continue;
    }
    SmallVector<Value> indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      indices.push_back(affine::expandAffineExpr(builder, loc, expr, loops,
                                                 /*symbolValues=*/{}));
    mapping.map(argument, tensor::ExtractOp::create(builder, loc, operand.get(),
                                                    indices));
  }
  cloneSlice(builder, block, pages.page, mapping);
  return mapping.lookupOrDefault(pages.page);
}
