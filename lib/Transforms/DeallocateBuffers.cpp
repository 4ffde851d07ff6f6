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
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERADEALLOCATEBUFFERS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-deallocate-buffers"

using namespace mlir;

static void buildDeallocation(OpPassManager &pm) {
  pm.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(bufferization::createBufferDeallocationSimplificationPass());
  pm.addPass(tessera::createTesseraLowerDeallocations());
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
}

namespace {

struct DeallocateBuffersPass
    : public tessera::impl::TesseraDeallocateBuffersBase<
          DeallocateBuffersPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(func::FuncOp::getOperationName());
    buildDeallocation(pm);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    WalkResult rejected = getOperation().walk([](Operation *op) {
      auto launch = dyn_cast<gpu::LaunchOp>(op);
      bool hasMemory = launch && (!launch.getWorkgroupAttributions().empty() ||
                                  !launch.getPrivateAttributions().empty());
      return isa<gpu::BarrierOp>(op) || hasMemory ? WalkResult::interrupt()
                                                  : WalkResult::advance();
    });
    if (rejected.wasInterrupted()) {
      LDBG() << getOperation().getName()
             << ": a kernel with barriers or attributions, not changed";
      return;
    }
    OpPassManager pm(func::FuncOp::getOperationName());
    buildDeallocation(pm);
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};

} // namespace
