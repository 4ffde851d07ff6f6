//===- CheckShapes.cpp - Check dynamic sizes when the program runs --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERACHECKSHAPES
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-check-shapes"

STATISTIC(numChecks, "Number of comparisons of dynamic sizes");

using namespace mlir;

/// Sizes of values that were created for an op.
using Sizes = llvm::SmallDenseMap<std::pair<Value, int64_t>, Value>;

/// The size of a dimension; null if only a use of the result of another op
/// would give it, which would keep that op from being fused.
static OpFoldResult getSize(OpBuilder &builder, Location loc, Value value,
                            int64_t dim, Sizes &known) {
  while (true) {
    auto type = cast<ShapedType>(value.getType());
    if (!type.isDynamicDim(static_cast<unsigned>(dim)))
      return builder.getIndexAttr(type.getDimSize(static_cast<unsigned>(dim)));
    Operation *op = value.getDefiningOp();
    if (!op)
      break;
    if (auto tensorCast = dyn_cast<tensor::CastOp>(op)) {
      if (!isa<RankedTensorType>(tensorCast.getSource().getType()))
        return {};
      value = tensorCast.getSource();
    } else if (auto bufferCast = dyn_cast<memref::CastOp>(op)) {
      if (!isa<MemRefType>(bufferCast.getSource().getType()))
        break;
      value = bufferCast.getSource();
    } else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = destination.getTiedOpOperand(cast<OpResult>(value))->get();
    } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      return empty.getDynamicSize(static_cast<unsigned>(dim));
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      if (slice.getType().getRank() != slice.getSourceType().getRank())
        return {};
      return slice.getMixedSizes()[static_cast<size_t>(dim)];
    } else {
      // Buffers are not fused.
      if (isa<MemRefType>(type))
        break;
      return {};
    }
  }
  Value &size = known[{value, dim}];
  if (!size && isa<MemRefType>(value.getType()))
    size = memref::DimOp::create(builder, loc, value, dim);
  else if (!size)
    size = tensor::DimOp::create(builder, loc, value, dim);
  return size;
}

/// "matmul.mlir:3:8: ", or nothing.
static std::string describeLocation(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
          Twine(file.getColumn()) + ": ")
      .str();
}

namespace {

/// Where the size of a loop comes from.
struct Source {
  unsigned operand = 0;
  unsigned dim = 0;
  OpFoldResult size;
};

struct CheckShapesPass
    : public tessera::impl::TesseraCheckShapesBase<CheckShapesPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::LaunchOp>(op))
        return WalkResult::skip();
      if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
        if (linalg.hasDynamicShape())
          ops.push_back(linalg);
      return WalkResult::advance();
    });
    for (linalg::LinalgOp op : ops)
      check(op);
  }

  void check(linalg::LinalgOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<Source> loops(op.getNumLoops());
    Sizes known;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType, MemRefType>(operand.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [dim, result] : llvm::enumerate(map.getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(result);
        if (!loop)
          continue;
        Source found{operand.getOperandNumber(), static_cast<unsigned>(dim),
                     getSize(builder, loc, operand.get(),
                             static_cast<int64_t>(dim), known)};
        if (!found.size)
          continue;
        Source &first = loops[loop.getPosition()];
        if (!first.size)
          first = found;
        else
          compare(op, first, found, builder);
      }
    }
  }

  void compare(linalg::LinalgOp op, const Source &first, const Source &second,
               OpBuilder &builder) {
    if (isEqualConstantIntOrValue(first.size, second.size))
      return;
    Location loc = op.getLoc();
    auto getValue = [&](OpFoldResult size) {
      return getValueOrCreateConstantIndexOp(builder, loc, size);
    };
    Value isEqual =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              getValue(first.size), getValue(second.size));
    std::string message;
    llvm::raw_string_ostream(message)
        << describeLocation(loc) << op->getName() << ": dimension " << first.dim
        << " of operand " << first.operand << " and dimension " << second.dim
        << " of operand " << second.operand << " must have the same size";
    LDBG() << message;
    cf::AssertOp::create(builder, loc, isEqual, message);
    ++numChecks;
  }
};

} // namespace
