//===- AttentionOp.cpp - Verifier and queries of tessera.attention --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

static constexpr const char *operandNames[] = {"query", "key", "value",
                                               "output"};

int64_t AttentionOp::getStaticExtent(unsigned position) {
  for (unsigned i = 0; i < 4; ++i) {
    auto type = cast<ShapedType>(getOperand(i).getType());
    for (auto [r, expr] : llvm::enumerate(getMap(i).getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == position &&
          !type.isDynamicDim(r))
        return type.getDimSize(r);
  }
  return ShapedType::kDynamic;
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

/// attention_c1: the maps.
static LogicalResult verifyMaps(AttentionOp op) {
  if (op.getMaps().size() != 4)
    return op.emitOpError()
           << "attention_c1: expected one map for each of the 4 operands, not "
           << op.getMaps().size();
  unsigned numDims = op.getMap(0).getNumDims();
  if (numDims < 4)
    return op.emitOpError()
           << "attention_c1: the iteration space has " << numDims
           << " dimensions, but M, N, D and E require at least 4";
  SmallVector<int64_t> sizes(numDims, ShapedType::kDynamic);
  for (unsigned i = 0; i < 4; ++i) {
    AffineMap map = op.getMap(i);
    auto type = cast<ShapedType>(op->getOperand(i).getType());
    unsigned rows = op.getPosition(AttentionOp::getRows(i)),
             cols = op.getPosition(AttentionOp::getCols(i));
    bool good = type.hasRank() && map.getNumDims() == numDims &&
                map.getNumSymbols() == 0 && map.isProjectedPermutation() &&
                map.getNumResults() == static_cast<size_t>(type.getRank()) &&
                map.isFunctionOfDim(rows) && map.isFunctionOfDim(cols);
    for (unsigned d = 0; good && d < numDims; ++d)
      if (d < op.getNumBatchDims())
        good =
            AttentionOp::getRows(i) == AttentionOp::N || map.isFunctionOfDim(d);
      else
        good = d == rows || d == cols || !map.isFunctionOfDim(d);
    if (!good)
      return op.emitOpError()
             << "attention_c1: map " << i << ", " << AffineMapAttr::get(map)
             << ", does not map the batch and the dimensions of "
             << operandNames[i] << " to " << type;
    for (auto [r, expr] : llvm::enumerate(map.getResults())) {
      int64_t size = type.getDimSize(r),
              &known = sizes[cast<AffineDimExpr>(expr).getPosition()];
      if (ShapedType::isStatic(size) && ShapedType::isStatic(known) &&
          size != known)
        return op.emitOpError()
               << "attention_c1: " << operandNames[i] << " has size " << size
               << " where another operand has " << known;
      if (ShapedType::isStatic(size))
        known = size;
    }
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyMaps(*this)))
    return failure();
  Type element = getOperandType();
  if (!element.isF16() && !element.isBF16())
    return emitOpError() << "attention_c2: query has element type " << element
                         << ", expected f16 or bf16";
  for (unsigned i : {Key, Value})
    if (Type other = getElementTypeOrSelf(getOperand(i)); other != element)
      return emitOpError() << "attention_c2: query has element type " << element
                           << ", but " << operandNames[i] << " has " << other;
  if (Type out = getElementTypeOrSelf(getOutput());
      out != element && !out.isF32())
    return emitOpError() << "attention_c2: the output has element type " << out
                         << ", expected f32 or " << element;
  double scale = getScale().convertToDouble();
  if (!std::isfinite(scale) || scale <= 0)
    return emitOpError()
           << "attention_c3: scale must be positive and finite, not "
           << getScaleAttr();
  constexpr int64_t farthest = int64_t(1) << 30;
  auto causal = static_cast<int64_t>(getCausal().value_or(0));
  if (causal > farthest || causal < -farthest)
    return emitOpError()
           << "attention_c3: the magnitude of causal must be at most 2^30, not "
           << causal;
  bool tensors = isa<TensorType>(getOutput().getType());
  for (unsigned i : {Query, Key, Value})
    if (isa<TensorType>(getOperand(i).getType()) != tensors)
      return emitOpError()
             << "attention_c4: operands must be all tensors or all "
                "memrefs";
  if (static_cast<bool>(getResult()) != tensors)
    return emitOpError() << "attention_c4: a result requires a tensor output, "
                            "and a tensor output a result";
  return success();
}
