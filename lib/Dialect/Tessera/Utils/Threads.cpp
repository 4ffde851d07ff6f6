//===- Threads.cpp - The threads of a workgroup ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Threads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <array>
#include <optional>

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// The thread's number and the workgroup's size, dimension by dimension.
struct ThreadGrid {
  std::array<Value, 3> ids, sizes;
};
} // namespace

static ThreadGrid emitThreadGrid(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  ThreadGrid grid;
  if (auto launch = op->getParentOfType<gpu::LaunchOp>()) {
    gpu::KernelDim3 id = launch.getThreadIds(), size = launch.getBlockSize();
    gpu::KernelDim3 operands = launch.getBlockSizeOperandValues();
    grid.ids = {id.x, id.y, id.z};
    grid.sizes = {size.x, size.y, size.z};
    // A constant size is more precise than the body's argument for it.
    std::array<Value, 3> values{operands.x, operands.y, operands.z};
    for (int d : {0, 1, 2})
      if (std::optional<int64_t> constant = getConstantIntValue(values[d]))
        grid.sizes[d] = arith::ConstantIndexOp::create(builder, loc, *constant);
    return grid;
  }
  gpu::Dimension dims[] = {gpu::Dimension::x, gpu::Dimension::y,
                           gpu::Dimension::z};
  std::optional<ArrayRef<int32_t>> known;
  if (auto kernel = op->getParentOfType<gpu::GPUFuncOp>())
    known = kernel.getKnownBlockSize();
  for (int d : {0, 1, 2}) {
    if (known && (*known)[d] == 1)
      grid.ids[d] = arith::ConstantIndexOp::create(builder, loc, 0);
    else
      grid.ids[d] = gpu::ThreadIdOp::create(builder, loc, dims[d]);
    if (known)
      grid.sizes[d] = arith::ConstantIndexOp::create(builder, loc, (*known)[d]);
    else
      grid.sizes[d] = gpu::BlockDimOp::create(builder, loc, dims[d]);
  }
  return grid;
}

Value mlir::tessera::emitLinearThread(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  ThreadGrid grid = emitThreadGrid(builder, op);
  Value linear;
  for (int d : {2, 1, 0}) {
    if (getConstantIntValue(grid.sizes[d]) == int64_t(1))
      continue;
    linear =
        linear ? arith::AddIOp::create(
                     builder, loc, grid.ids[d],
                     arith::MulIOp::create(builder, loc, linear, grid.sizes[d]))
               : grid.ids[d];
  }
  return linear ? linear
                : Value(arith::ConstantIndexOp::create(builder, loc, 0));
}

Value mlir::tessera::emitNumThreads(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  ThreadGrid grid = emitThreadGrid(builder, op);
  return arith::MulIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, grid.sizes[0], grid.sizes[1]),
      grid.sizes[2]);
}

std::pair<Value, Value> mlir::tessera::emitShuffleSource(OpBuilder &builder,
                                                         gpu::ShuffleOp op,
                                                         Value lane) {
  Location loc = op.getLoc();
  Value offset = op.getOffset(), from = offset;
  switch (op.getMode()) {
  case gpu::ShuffleMode::XOR:
    from = arith::XOrIOp::create(builder, loc, lane, offset);
    break;
  case gpu::ShuffleMode::UP:
    from = arith::SubIOp::create(builder, loc, lane, offset);
    break;
  case gpu::ShuffleMode::DOWN:
    from = arith::AddIOp::create(builder, loc, lane, offset);
    break;
  case gpu::ShuffleMode::IDX:
    break;
  }
  // A negative number is a large one.
  Value valid = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                      from, op.getWidth());
  return {arith::SelectOp::create(builder, loc, valid, from, lane), valid};
}
