//===- DropEmptyTensors.cpp - Removal of empty tensors --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DropEmptyTensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// Whether a tensor is empty.
static bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
}

/// Drops the operands that add nothing to the concatenated dimension.
static void dropEmptyOperands(tensor::ConcatOp concat) {
  auto dim = static_cast<int64_t>(concat.getDim());
  SmallVector<Value> inputs(concat.getInputs());
  llvm::erase_if(inputs, [&](Value input) {
    return cast<RankedTensorType>(input.getType()).getDimSize(dim) == 0;
  });
  // An op without operands is not valid.
  if (!inputs.empty())
    concat.getInputsMutable().assign(inputs);
}

void mlir::tessera::dropEmptyTensors(Operation *root) {
  root->walk([](Operation *op) {
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op);
        linalg && llvm::is_contained(linalg.getStaticLoopRanges(), 0)) {
      op->replaceAllUsesWith(
          linalg.getDpsInits().take_front(op->getNumResults()));
      op->erase();
      return;
    }
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op);
        insert && isEmpty(insert.getSourceType())) {
      insert.replaceAllUsesWith(insert.getDest());
      insert.erase();
      return;
    }
    if (auto concat = dyn_cast<tensor::ConcatOp>(op))
      dropEmptyOperands(concat);
    if (auto pad = dyn_cast<tensor::PadOp>(op);
        pad && isEmpty(pad.getSourceType()) &&
        pad.getResultType().hasStaticShape())
      if (Value value = pad.getConstantPaddingValue()) {
        OpBuilder builder(op);
        Value empty = tensor::EmptyOp::create(
            builder, op->getLoc(), pad.getResultType().getShape(),
            pad.getResultType().getElementType());
        pad.replaceAllUsesWith(
            linalg::FillOp::create(builder, op->getLoc(), value, empty)
                .getResult(0));
        pad.erase();
        return;
      }
    if (isa<tensor::EmptyOp>(op) || op->getNumResults() != 1 || !isPure(op))
      return;
    if (!isEmpty(op->getResult(0).getType()))
      return;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(tensor::EmptyOp::create(
        builder, op->getLoc(), type.getShape(), type.getElementType()));
    op->erase();
  });
}
