//===- InitialValue.cpp - Where a sum starts ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InitialValue.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::tessera;

/// The fill that sets all of memref `output` for `op`, with nothing in between
/// that could see or change it.
static linalg::FillOp findFillBefore(linalg::LinalgOp op, Value output) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    auto fill = dyn_cast<linalg::FillOp>(before);
    if (fill && fill.getOutputs()[0] == output)
      return fill;
    if (!isMemoryEffectFree(before))
      return {};
  }
  return {};
}

/// The memref that `value` is a view of.
static Value getViewedMemory(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

InitialValue
mlir::tessera::findInitialValue(linalg::LinalgOp op,
                                const LinalgContraction &contraction,
                                RewriterBase &rewriter) {
  Location loc = op.getLoc();
  Type acc = contraction.accumulatorType;
  Value output = op.getDpsInits()[0];
  Type element = getElementTypeOrSelf(output.getType());
  auto fromScalar = [&](Value scalar) {
    // As fill does: first to the output's type, and then as the sum needs it.
    scalar = convertScalarToDtype(rewriter, loc, scalar, element,
                                  /*isUnsignedCast=*/false);
    return convertScalarToDtype(rewriter, loc, scalar, acc,
                                /*isUnsignedCast=*/false);
  };
  if (isa<MemRefType>(output.getType())) {
    linalg::FillOp fill = findFillBefore(op, output);
    if (!fill)
      return {{}, output, {}};
    Value memory = getViewedMemory(output);
    if (getViewedMemory(contraction.lhs) == memory ||
        getViewedMemory(contraction.rhs) == memory)
      return {{}, output, {}};
    Value init = fromScalar(fill.getInputs()[0]);
    rewriter.eraseOp(fill);
    return {init, output, {}};
  }

  if (auto fill = output.getDefiningOp<linalg::FillOp>())
    return {fromScalar(fill.getInputs()[0]), fill.getOutputs()[0], {}};

  auto emptyLike = [&](Value value) -> Value {
    return tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, value), element);
  };
  DenseElementsAttr splat;
  if (matchPattern(output, m_Constant(&splat)) && splat.isSplat()) {
    Value scalar = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    return {fromScalar(scalar), emptyLike(output), {}};
  }
  // A bias that was broadcast to become the initial value.
  Source source = lookThroughMoves({output, contraction.outMap});
  if (source.value == output)
    return {{}, output, {}};
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(acc));
  return {zero, emptyLike(output), source};
}
