//===- Source.cpp - Where a tensor's elements come from -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source.h"

#include "ContractionBody.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tessera;

std::optional<Source> mlir::tessera::lookThroughProducer(const Source &use,
                                                         bool mayWiden,
                                                         bool widened,
                                                         bool mayIndexZero) {
  auto producer = use.value.getDefiningOp<linalg::LinalgOp>();
  if (!producer || !producer.hasPureTensorSemantics() ||
      producer.getNumDpsInputs() != 1 || producer.getNumDpsInits() != 1 ||
      producer.getNumParallelLoops() != producer.getNumLoops() ||
      producer->getNumRegions() != 1 || !producer.getBlock())
    return {};
  OpOperand *input = producer.getDpsInputOperand(0);
  Block *block = producer.getBlock();
  if (!isa<RankedTensorType>(input->get().getType()) ||
      block->getTerminator()->getNumOperands() != 1)
    return {};
  Value yielded = block->getTerminator()->getOperand(0);
  Widened source = mayWiden ? lookThroughWidening(yielded) : Widened{yielded};
  if (source.source != block->getArgument(0))
    return {};
  Type from = source.source.getType();
  if (from != yielded.getType() && from.isInteger()) {
    // Two extensions must be of the same kind. Only 8-bit integers are
    // supported.
    if (!from.isSignlessInteger(8) ||
        (widened && use.isUnsigned != source.isUnsigned))
      return {};
  }
  AffineMap in = producer.getMatchingIndexingMap(input);
  AffineMap out =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  if (!in.isProjectedPermutation(mayIndexZero) || !out.isPermutation())
    return {};
  // Elements outside of the source must not be broadcast.
  if (use.isPadded && !in.isPermutation())
    return {};
  Source result = use;
  result.value = input->get();
  result.map = in.compose(inversePermutation(out)).compose(use.map);
  result.isUnsigned =
      from != yielded.getType() ? source.isUnsigned : use.isUnsigned;
  return result;
}

Source mlir::tessera::lookThroughMoves(Source use) {
  while (std::optional<Source> next =
             lookThroughProducer(use, /*mayWiden=*/false, /*widened=*/false))
    use = *next;
  return use;
}

bool mlir::tessera::feedsContractionsOnly(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<ContractOp>(user))
      return true;
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
            tensor::ExtractSliceOp>(user))
      return feedsContractionsOnly(user->getResult(0));
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (!op || op->getNumResults() != 1)
      return false;
    if (matchContractionBody(op))
      return true;
    // On the way to one.
    Value result = op->getResult(0);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    return type &&
           lookThroughProducer({result, AffineMap::getMultiDimIdentityMap(
                                            type.getRank(), op.getContext())},
                               /*mayWiden=*/true, /*widened=*/false) &&
           feedsContractionsOnly(result);
  });
}

Value mlir::tessera::sliceAtConstants(RewriterBase &rewriter, Location loc,
                                      Value operand, AffineMap &map) {
  auto type = dyn_cast<ShapedType>(operand.getType());
  // Upstream's slices must begin at an element, in each dimension.
  if (!type || !type.hasRank() || llvm::is_contained(type.getShape(), 0))
    return operand;
  bool isMemRef = isa<MemRefType>(type);
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
      ones(type.getRank(), rewriter.getIndexAttr(1)), sizes = ones;
  SmallVector<AffineExpr> kept;
  SmallVector<int64_t> shape;
  for (auto [r, expr] : llvm::enumerate(map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    int64_t size = type.getDimSize(r);
    if (constant && constant.getValue() >= 0 &&
        (ShapedType::isStatic(size) ? constant.getValue() < size
                                    : constant.getValue() == 0)) {
      offsets[r] = rewriter.getIndexAttr(constant.getValue());
      continue;
    }
    kept.push_back(expr);
    shape.push_back(size);
    if (ShapedType::isStatic(size))
      sizes[r] = rewriter.getIndexAttr(size);
    else if (isMemRef)
      sizes[r] = memref::DimOp::create(rewriter, loc, operand, r).getResult();
    else
      sizes[r] = tensor::DimOp::create(rewriter, loc, operand, r).getResult();
  }
  if (kept.size() == map.getNumResults())
    return operand;
  map = AffineMap::get(map.getNumDims(), 0, kept, map.getContext());
  if (!isMemRef)
    return tensor::ExtractSliceOp::create(
        rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
        operand, offsets, sizes, ones);
  MemRefType view = memref::SubViewOp::inferRankReducedResultType(
      shape, cast<MemRefType>(type), offsets, sizes, ones);
  return memref::SubViewOp::create(rewriter, loc, view, operand, offsets, sizes,
                                   ones);
}
