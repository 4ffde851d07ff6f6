//===- ProtectArguments.cpp - Callers keep their tensors ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAPROTECTARGUMENTS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-protect-arguments"

STATISTIC(numProtectedArguments,
          "Number of tensor arguments marked as not writable");
STATISTIC(numLateAdditions,
          "Number of contractions that add an argument in the epilogue");

using namespace mlir;
using namespace mlir::tessera;

/// Lets `op` start from zero, and adds its output's old value in the epilogue.
static void addOldValueLast(ContractOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Type acc = op.getAccumulatorType();
  Value old = op.getOutput();
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(acc));
  Value output = tensor::EmptyOp::create(
      builder, tensor::getMixedSizes(builder, op.getLoc(), old),
      getElementTypeOrSelf(old.getType()));
  if (output.getType() != old.getType())
    output = tensor::CastOp::create(builder, old.getType(), output);
  SmallVector<Attribute> maps(op.getMaps().getValue());
  // After the other extras.
  maps.insert(maps.begin() + 3 + op.getExtras().size(), maps[2]);
  op.setMapsAttr(builder.getArrayAttr(maps));
  op.getInitMutable().assign(zero);
  op.getExtrasMutable().append(old);
  op.getOutputMutable().assign(output);

  Block &block = op.getEpilogue().front();
  builder.setInsertionPointToStart(&block);
  BlockArgument sum = block.getArgument(0);
  Value value =
      block.addArgument(getElementTypeOrSelf(old.getType()), op.getLoc());
  value = convertScalarToDtype(builder, op.getLoc(), value, acc,
                               /*isUnsignedCast=*/false);
  Operation *total =
      isa<FloatType>(acc)
          ? arith::AddFOp::create(builder, sum, value).getOperation()
          : arith::AddIOp::create(builder, sum, value).getOperation();
  sum.replaceAllUsesExcept(total->getResult(0), total);
}

/// Copies slices that are returned. Bufferization would take the memory of one
/// whose strides are dynamic for dense memory.
static void copySlices(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    while (auto cast = value.getDefiningOp<tensor::CastOp>())
      value = cast.getSource();
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || type.hasStaticShape() ||
        !value.getDefiningOp<tensor::ExtractSliceOp>())
      continue;
    OpBuilder builder(op);
    operand.set(bufferization::AllocTensorOp::create(
        builder, op.getLoc(), type, /*dynamicSizes=*/ValueRange(),
        /*copy=*/operand.get()));
    LDBG() << op.getLoc() << ": copies result " << operand.getOperandNumber();
  }
}

/// Lets the result of `op` be its source where its destination is a tensor of
/// the caller's, which must not be written.
static void dropDestination(bufferization::MaterializeInDestinationOp op,
                            func::FuncOp func) {
  if (op->getNumResults() == 0)
    return;
  Value dest = op.getDest();
  while (auto cast = dest.getDefiningOp<tensor::CastOp>())
    dest = cast.getSource();
  auto argument = dyn_cast<BlockArgument>(dest);
  if (!argument || argument.getOwner() != &func.front())
    return;
  auto writable = func.getArgAttrOfType<BoolAttr>(
      argument.getArgNumber(),
      bufferization::BufferizationDialect::kWritableAttrName);
  if (!writable || writable.getValue())
    return;
  LDBG() << op.getLoc() << ": does not write argument "
         << argument.getArgNumber();
  OpBuilder builder(op);
  Value source = op.getSource();
  if (source.getType() != op.getResult().getType())
    source = tensor::CastOp::create(builder, op.getLoc(),
                                    op.getResult().getType(), source);
  op.getResult().replaceAllUsesWith(source);
  op.erase();
}

namespace {
struct TesseraProtectArgumentsPass
    : public tessera::impl::TesseraProtectArgumentsBase<
          TesseraProtectArgumentsPass> {
  using TesseraProtectArgumentsBase::TesseraProtectArgumentsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isPrivate() || func.isExternal())
      return;
    StringRef name = bufferization::BufferizationDialect::kWritableAttrName;
    Builder builder(func.getContext());
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (isa<TensorType>(func.getArgument(i).getType()) &&
          !func.getArgAttr(i, name)) {
        func.setArgAttr(i, name, builder.getBoolAttr(false));
        ++numProtectedArguments;
      }
    func.walk(copySlices);
    func.walk([&](bufferization::MaterializeInDestinationOp op) {
      dropDestination(op, func);
    });
    func.walk([&](ContractOp op) {
      auto argument = dyn_cast<BlockArgument>(op.getOutput());
      if (argument && isa<TensorType>(argument.getType()) && !op.getInit() &&
          argument.getOwner() == &func.front()) {
        auto writable =
            func.getArgAttrOfType<BoolAttr>(argument.getArgNumber(), name);
        if (writable && !writable.getValue()) {
          LDBG() << op.getLoc() << ": adds argument " << argument.getArgNumber()
                 << " in its epilogue";
          ++numLateAdditions;
          addOldValueLast(op);
        }
      }
    });
  }
};
} // namespace
