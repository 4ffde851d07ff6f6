//===- WorkgroupUniformity.cpp - Control flow of a workgroup --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkgroupUniformity.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tessera;

/// The values that decide how often the regions of `op` run; empty if
/// unknown.
static SmallVector<Value> getControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.getCondition()};
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return {loop.getConditionOp().getCondition()};
  return {};
}

bool WorkgroupUniformity::isReachedByAll(Operation *op) {
  for (; op != kernel; op = op->getParentOp()) {
    if (!op->getParentRegion()->hasOneBlock())
      return false;
    Operation *parent = op->getParentOp();
    if (parent == kernel || isa<scf::ExecuteRegionOp>(parent))
      continue;
    SmallVector<Value> control = getControl(parent);
    if (control.empty() ||
        !llvm::all_of(control, [&](Value value) { return isUniform(value); }))
      return false;
  }
  return true;
}

bool WorkgroupUniformity::isUniform(Value value) {
  Region *region = value.getParentRegion();
  if (!kernel->isAncestor(region->getParentOp()))
    return true;
  // A value that depends on itself is as uniform as the others that it
  // depends on.
  if (!visited.insert(value).second)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isUniformArgument(argument);
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return isUniform(loop.getInitArgs()[number]) &&
           isUniform(loop.getYieldedValues()[number]) && hasUniformControl(op);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return isUniform(branch.thenYield().getOperand(number)) &&
           isUniform(branch.elseYield().getOperand(number)) &&
           hasUniformControl(op);
  if (op->getNumRegions() != 0)
    return false;
  if (isa_and_nonnull<gpu::GPUDialect>(op->getDialect()))
    return isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp,
               gpu::NumSubgroupsOp, gpu::SubgroupSizeOp>(op);
  return isa_and_nonnull<affine::AffineDialect, arith::ArithDialect,
                         index::IndexDialect, math::MathDialect,
                         memref::MemRefDialect, vector::VectorDialect>(
             op->getDialect()) &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isUniform(operand); });
}

bool WorkgroupUniformity::isUniformArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto launch = dyn_cast<gpu::LaunchOp>(parent)) {
    gpu::KernelDim3 ids = launch.getThreadIds();
    return argument != ids.x && argument != ids.y && argument != ids.z;
  }
  if (parent == kernel)
    return true;
  unsigned number = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (!hasUniformControl(parent))
      return false;
    return number == 0 || (isUniform(loop.getInitArgs()[number - 1]) &&
                           isUniform(loop.getYieldedValues()[number - 1]));
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (argument.getOwner() == loop.getAfterBody())
      return isUniform(loop.getConditionOp().getArgs()[number]);
    return isUniform(loop.getInits()[number]) &&
           isUniform(loop.getYieldOp().getOperand(number));
  }
  return false;
}

bool WorkgroupUniformity::hasUniformControl(Operation *op) {
  return llvm::all_of(getControl(op),
                      [&](Value value) { return isUniform(value); });
}
