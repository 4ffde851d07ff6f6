//===- DeallocateBuffers.cpp - Free the buffers of a function -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERADEALLOCATEBUFFERS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-deallocate-buffers"

using namespace mlir;

static void buildDeallocation(OpPassManager &pm, bool hasMasks) {
  // The region of a mask holds one op, without a deallocation.
  if (hasMasks)
    pm.addPass(vector::createLowerVectorMaskPass());
  pm.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(bufferization::createBufferDeallocationSimplificationPass());
  pm.addPass(tessera::createTesseraLowerDeallocations());
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
}

/// Whether the blocks of a region branch back.
static bool hasLoop(Region &region) {
  if (region.empty() || region.hasOneBlock())
    return false;
  for (Block &block : region)
    for (Block *next : block.getSuccessors())
      if (next == &block || next->isReachable(&block))
        return true;
  return false;
}

/// Whether ownership-based deallocation rejects a function with this op.
static bool isRejected(Operation *op) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(op))
    return !launch.getWorkgroupAttributions().empty() ||
           !launch.getPrivateAttributions().empty();
  if (isa<memref::DeallocOp, gpu::BarrierOp>(op) ||
      llvm::any_of(op->getRegions(), hasLoop))
    return true;
  return hasUnknownEffects(op) &&
         !isa<CallOpInterface, FunctionOpInterface>(op);
}

namespace {

struct DeallocateBuffersPass
    : public tessera::impl::TesseraDeallocateBuffersBase<
          DeallocateBuffersPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(func::FuncOp::getOperationName());
    buildDeallocation(pm, /*hasMasks=*/true);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    bool hasMasks = false;
    WalkResult rejected = getOperation().walk([&](Operation *op) {
      hasMasks |= isa<vector::MaskOp>(op);
      return isRejected(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (rejected.wasInterrupted()) {
      LDBG() << getOperation().getName() << ": written by hand, not changed";
      return;
    }
    OpPassManager pm(func::FuncOp::getOperationName());
    buildDeallocation(pm, hasMasks);
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};

} // namespace
