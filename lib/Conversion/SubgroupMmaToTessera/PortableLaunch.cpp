//===- PortableLaunch.cpp - Launches by subgroups -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/PortableLaunch.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// Whether `op` is `x / lanes`, for a number x that is not negative.
static bool dividesBy(Operation *op, Value x, int64_t lanes) {
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op))
    return op->getOperand(0) == x &&
           getConstantIntValue(op->getOperand(1)) == lanes;
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op)) {
    std::optional<int64_t> bits = getConstantIntValue(op->getOperand(1));
    return op->getOperand(0) == x && bits && *bits >= 0 && *bits < 32 &&
           int64_t(1) << *bits == lanes;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    if (map.getNumInputs() != 1)
      return false;
    MLIRContext *context = op->getContext();
    AffineExpr input = map.getNumDims() ? getAffineDimExpr(0, context)
                                        : getAffineSymbolExpr(0, context);
    return map.getResult(0) == input.floorDiv(lanes);
  }
  return false;
}

LogicalResult mlir::tessera::makePortable(gpu::LaunchOp launch, int64_t lanes,
                                          StringRef ops) {
  std::optional<int64_t> size = getConstantIntValue(launch.getBlockSizeX());
  if (!size || *size % lanes)
    return launch.emitError()
           << ops
           << " ops need whole subgroups: the block size along x must be a "
              "constant multiple of "
           << lanes;
  bool isRow = getConstantIntValue(launch.getBlockSizeY()) == int64_t(1) &&
               getConstantIntValue(launch.getBlockSizeZ()) == int64_t(1);
  int64_t subgroups = *size / lanes;

  // Every number of the thread along x, whichever way it is asked for.
  OpBuilder builder(launch);
  Block &body = launch.getBody().front();
  SmallVector<Value> numbers{launch.getThreadIds().x};
  SmallVector<Value> sizes{launch.getBlockSize().x};
  WalkResult result = body.walk([&](Operation *op) {
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
      if (id.getDimension() == gpu::Dimension::x)
        numbers.push_back(id);
    } else if (auto dim = dyn_cast<gpu::BlockDimOp>(op)) {
      if (dim.getDimension() == gpu::Dimension::x)
        sizes.push_back(dim);
    } else if (isa<gpu::LaneIdOp, gpu::ShuffleOp, gpu::SubgroupReduceOp,
                   gpu::AllReduceOp, gpu::GlobalIdOp>(op)) {
      op->emitError() << op->getName() << " next to " << ops
                      << " ops is not portable: it depends on the subgroup "
                         "size";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  builder.setInsertionPointToStart(&body);
  Value subgroup;
  for (Value number : numbers)
    for (Operation *user : llvm::make_early_inc_range(number.getUsers())) {
      if (!dividesBy(user, number, lanes)) {
        InFlightDiagnostic diag =
            user->emitError()
            << "this use of the thread id along x is not portable: only "
               "its quotient by the subgroup size, "
            << lanes << ", is";
        diag.attachNote(launch.getLoc())
            << ops << " ops are used in this launch";
        return diag;
      }
      if (!subgroup) {
        // With one subgroup in each row of threads, its number is zero.
        if (subgroups == 1)
          subgroup =
              arith::ConstantIndexOp::create(builder, launch.getLoc(), 0);
        else if (isRow)
          subgroup = gpu::SubgroupIdOp::create(builder, launch.getLoc(),
                                               builder.getIndexType(),
                                               /*upper_bound=*/nullptr);
        else
          return launch.emitError()
                 << "several subgroups along x require a block size of 1 along "
                    "y and z";
      }
      user->getResult(0).replaceAllUsesWith(subgroup);
      user->erase();
    }
  for (Value value : sizes)
    if (!value.use_empty())
      return (*value.getUsers().begin())->emitError()
             << "this use of the block size along x is not portable";

  builder.setInsertionPoint(launch);
  Value size32 = gpu::SubgroupSizeOp::create(builder, launch.getLoc(),
                                             builder.getIndexType(),
                                             /*upper_bound=*/nullptr);
  launch.getBlockSizeXMutable().assign(
      subgroups == 1
          ? size32
          : arith::MulIOp::create(builder, launch.getLoc(), size32,
                                  arith::ConstantIndexOp::create(
                                      builder, launch.getLoc(), subgroups)));
  return success();
}
