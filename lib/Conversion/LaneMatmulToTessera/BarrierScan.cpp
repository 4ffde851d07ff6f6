//===- BarrierScan.cpp - Accesses that barriers separate ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierScan.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Follows the control flow from an op in one direction.
class BarrierScan {
public:
  BarrierScan(Operation *start, Operation *root, bool isForward,
              llvm::function_ref<bool(Operation *)> isAccess)
      : start(start), root(root), isForward(isForward), isAccess(isAccess),
        isPending(isForward && isa<nvgpu::DeviceAsyncCopyOp>(start)) {}

  bool run() {
    for (Operation *op = start; op != root; op = op->getParentOp()) {
      Block *block = op->getBlock();
      Found found = isForward ? scan(std::next(op->getIterator()), block->end())
                              : scan(block->begin(), op->getIterator());
      if (found == Found::Nothing && isa<scf::ForOp>(block->getParentOp())) {
        // The next iteration, or the previous one. The loop may end as well.
        bool isPendingAfter = isPending;
        if (scan(block->begin(), block->end()) == Found::Access)
          return false;
        isPending = isPendingAfter;
      }
      if (found != Found::Nothing)
        return found == Found::Barrier;
    }
    return true;
  }

private:
  enum class Found { Nothing, Barrier, Access };

  Found scan(Block::iterator begin, Block::iterator end) {
    while (begin != end) {
      Operation &op = isForward ? *begin++ : *--end;
      if (isa<gpu::BarrierOp>(op))
        return Found::Barrier;
      if (isa<nvgpu::DeviceAsyncWaitOp>(op))
        isPending = false;
      if (!isPending && isAccess(&op))
        return Found::Access;
      // A region may run, or not.
      bool isPendingHere = isPending;
      for (Region &region : op.getRegions())
        for (Block &block : region) {
          isPending = isPendingHere;
          if (scan(block.begin(), block.end()) == Found::Access)
            return Found::Access;
        }
      isPending = isPendingHere;
    }
    return Found::Nothing;
  }

  Operation *start, *root;
  bool isForward;
  llvm::function_ref<bool(Operation *)> isAccess;
  /// Whether the start is a copy that nothing has waited for.
  bool isPending;
};

} // namespace

bool mlir::tessera::isSeparatedByBarriers(
    Operation *op, gpu::LaunchOp launch,
    llvm::function_ref<bool(Operation *)> isAccess) {
  return BarrierScan(op, launch, /*isForward=*/true, isAccess).run() &&
         BarrierScan(op, launch, /*isForward=*/false, isAccess).run();
}
