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

  /// At the very beginning, where all threads of all workgroups come by: a
  /// workgroup that ended without waiting would let the kernel after this one
  /// run beside the kernel before it.
  static void addWait(LLVM::LLVMFuncOp kernel) {
    Block &entry = kernel.getBody().front();
    auto first = dyn_cast<NVVM::GriddepcontrolOp>(entry.front());
    if (first && first.getKind() == NVVM::GridDepActionKind::wait)
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    for (NVVM::GridDepActionKind kind :
         {NVVM::GridDepActionKind::wait,
          NVVM::GridDepActionKind::launch_dependents})
      NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(), kind);
    ++numWaitingKernels;
  }
};

} // namespace
