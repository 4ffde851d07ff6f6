//===- KernelsToROCDL.cpp - Upstream's conversion for the chip ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"

#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTKERNELSTOROCDL
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-convert-kernels-to-rocdl"

using namespace mlir;
using namespace mlir::tessera;

/// Adds the pass, whose options are fixed when the pipeline is built.
static void addConversion(OpPassManager &pm, StringRef chip) {
  ConvertGpuOpsToROCDLOpsOptions convert;
  convert.chipset = chip.str();
  convert.runtime = gpu::amd::Runtime::HIP;
  pm.addPass(createConvertGpuOpsToROCDLOps(convert));
}

namespace {
struct ConvertKernelsToROCDLPass
    : public tessera::impl::ConvertKernelsToROCDLBase<
          ConvertKernelsToROCDLPass> {
  using ConvertKernelsToROCDLBase::ConvertKernelsToROCDLBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(gpu::GPUModuleOp::getOperationName());
    addConversion(pm, /*chip=*/"");
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    FailureOr<const Chip *> chip = getChip(getOperation(), "hip");
    if (failed(chip))
      return signalPassFailure();
    // They become calls of ROCm's device libraries, which are not linked.
    WalkResult prints = getOperation().walk([](Operation *op) {
      if (!isa<gpu::PrintfOp, cf::AssertOp>(op))
        return WalkResult::advance();
      op->emitError() << "target hip does not support " << op->getName();
      return WalkResult::interrupt();
    });
    if (prints.wasInterrupted())
      return signalPassFailure();
    OpPassManager pm(gpu::GPUModuleOp::getOperationName());
    LDBG() << getOperation().getName() << " for " << (*chip)->name;
    addConversion(pm, (*chip)->name);
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
