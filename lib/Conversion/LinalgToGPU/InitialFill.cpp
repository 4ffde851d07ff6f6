//===- InitialFill.cpp - Reductions whose output is filled ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToGPU/InitialFill.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

/// Collects the ops of `block` that access `memory`, also through views; fails
/// if one of them may keep it.
static LogicalResult collectAccesses(Value memory, Block *block,
                                     SmallVectorImpl<OpOperand *> &accesses) {
  for (OpOperand &use : memory.getUses()) {
    Operation *user = use.getOwner();
    if (auto view = dyn_cast<ViewLikeOpInterface>(user)) {
      for (Value result : view->getResults())
        if (failed(collectAccesses(result, block, accesses)))
          return failure();
      continue;
    }
    // A checkpoint of `--verify` takes the address before the first op of a
    // step, which is the fill where that is part of the step.
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (!ancestor ||
        !isa<DestinationStyleOpInterface, memref::CopyOp, memref::DeallocOp,
             memref::DimOp, memref::ExtractAlignedPointerAsIndexOp,
             gpu::LaunchOp, func::ReturnOp>(ancestor))
      return failure();
    accesses.push_back(&use);
  }
  return success();
}

linalg::FillOp mlir::tessera::findInitialFill(linalg::LinalgOp op,
                                              OpOperand &output) {
  Block *block = op->getBlock();
  Operation *alloc = output.get().getDefiningOp<memref::AllocOp>();
  AffineMap map = op.getMatchingIndexingMap(&output);
  SmallVector<unsigned> reduction;
  op.getReductionDims(reduction);
  if (!alloc || alloc->getBlock() != block || !map.isProjectedPermutation() ||
      reduction.empty() || llvm::any_of(reduction, [&](unsigned d) {
        return map.isFunctionOfDim(d);
      }))
    return nullptr;
  SmallVector<OpOperand *> accesses;
  if (failed(collectAccesses(output.get(), block, accesses)))
    return nullptr;
  // The last access before the reduction, which has no other operand there.
  Operation *last = nullptr;
  for (OpOperand *access : accesses) {
    Operation *user = block->findAncestorOpInBlock(*access->getOwner());
    if (user == op && access != &output)
      return nullptr;
    if (user->isBeforeInBlock(op) && (!last || last->isBeforeInBlock(user)))
      last = user;
  }
  auto fill = dyn_cast_if_present<linalg::FillOp>(last);
  return fill && fill.getOutputs()[0] == output.get() ? fill : nullptr;
}
