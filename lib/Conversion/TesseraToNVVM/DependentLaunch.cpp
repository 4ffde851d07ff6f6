//===- DependentLaunch.cpp - Kernels that wait by themselves --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Target/NVIDIA/Chips.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/Statistic.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USEDEPENDENTLAUNCH
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-dependent-launch"

STATISTIC(numWaitingKernels, "Number of kernels that wait for the one before");

using namespace mlir;
using namespace mlir::tessera;

/// Whether an op neither reads nor writes anything that outlives the kernel,
/// nor waits for what the kernel before may hold (tensor memory). Tensor maps
/// are parameters.
static bool isPrologue(Operation &op) {
  if (auto prefetch = dyn_cast<NVVM::PrefetchOp>(op))
    return prefetch.getTensormap();
  return isMemoryEffectFree(&op) ||
         isa<NVVM::MBarrierInitOp, NVVM::FenceMbarrierInitOp,
             NVVM::FenceProxyOp, NVVM::Barrier0Op, NVVM::BarrierOp,
             NVVM::ClusterArriveOp, NVVM::ClusterArriveRelaxedOp,
             NVVM::ClusterWaitOp>(op);
}

/// The successor that all threads of a block come to, if those that do not go
/// there directly go through one block with nothing but a prologue. Null if
/// there is none, or if threads come to it from elsewhere.
static Block *findJoin(Block *block) {
  auto skip = [&](Block *side) -> Block * {
    auto branch = dyn_cast<LLVM::BrOp>(side->getTerminator());
    return branch && side->getSinglePredecessor() == block &&
                   llvm::all_of(side->without_terminator(), isPrologue)
               ? branch.getDest()
               : nullptr;
  };
  Operation *end = block->getTerminator();
  Block *join = nullptr;
  if (auto branch = dyn_cast<LLVM::BrOp>(end)) {
    join = branch.getDest();
  } else if (auto branch = dyn_cast<LLVM::CondBrOp>(end)) {
    Block *taken = branch.getTrueDest(), *other = branch.getFalseDest();
    Block *afterTaken = skip(taken), *afterOther = skip(other);
    join = afterTaken && (afterTaken == other || afterTaken == afterOther)
               ? afterTaken
           : afterOther == taken ? taken
                                 : nullptr;
  }
  if (!join || !llvm::hasNItems(join->getPredecessors(),
                                static_cast<int>(end->getNumSuccessors())))
    return nullptr;
  return join;
}

/// The first op after the prologue that all threads execute once.
static Operation *findEndOfPrologue(LLVM::LLVMFuncOp kernel) {
  Block *block = &kernel.getBody().front();
  while (true) {
    auto ops = block->without_terminator();
    auto first = llvm::find_if_not(ops, isPrologue);
    Block *join = first == ops.end() ? findJoin(block) : nullptr;
    if (!join)
      return &*first;
    block = join;
  }
}

namespace {

struct UseDependentLaunchPass
    : public mlir::tessera::impl::UseDependentLaunchBase<
          UseDependentLaunchPass> {
  using UseDependentLaunchBase::UseDependentLaunchBase;

  void runOnOperation() override {
    FailureOr<const Chip *> chip = getChip(getOperation(), "cuda");
    if (failed(chip))
      return signalPassFailure();
    if (!hasDependentLaunch(**chip))
      return;
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
          !kernel.isExternal())
        addWait(kernel);
  }

  /// Where all threads of all workgroups come by. The kernel after this one
  /// waits for its end only: if this one could end without waiting, the kernel
  /// after would run beside the kernel before.
  static void addWait(LLVM::LLVMFuncOp kernel) {
    // By hand, or by this pass.
    if (kernel
            .walk(
                [](NVVM::GriddepcontrolOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return;
    OpBuilder builder(findEndOfPrologue(kernel));
    for (NVVM::GridDepActionKind kind :
         {NVVM::GridDepActionKind::wait,
          NVVM::GridDepActionKind::launch_dependents})
      NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(), kind);
    ++numWaitingKernels;
  }
};

} // namespace
