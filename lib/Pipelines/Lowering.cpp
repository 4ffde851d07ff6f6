//===- Lowering.cpp - From portable programs to each target ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipelines/Lowering.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Target/Backend.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tessera;

/// Sets a pass's `target` and `chip`.
template <typename Options>
static Options forTarget(const LoweringOptions &options) {
  Options result;
  result.target = options.target;
  result.chip = options.chip;
  return result;
}

void mlir::tessera::buildOutliningPipeline(OpPassManager &pm,
                                           const LoweringOptions &options) {
  pm.addPass(createTesseraResolveSubgroups(
      forTarget<TesseraResolveSubgroupsOptions>(options)));
  TesseraExpandVThreadsOptions vthreads;
  vthreads.order = options.vthreadOrder;
  vthreads.testShareFragments = options.testShareFragments;
  pm.addPass(createTesseraExpandVThreads(vthreads));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createTesseraNameKernels());
  pm.addPass(createGpuKernelOutliningPass());
}

void mlir::tessera::buildLegalizationPipeline(OpPassManager &pm,
                                              const LoweringOptions &options) {
  // Each kernel on its own: the diagnostics are the kernel's.
  auto legalize = forTarget<TesseraLegalizeFragmentsOptions>(options);
  legalize.requireMatrixUnit = options.requireMatrixUnit;
  pm.addNestedPass<gpu::GPUModuleOp>(createTesseraLegalizeFragments(legalize));
}

void mlir::tessera::buildVendorPipeline(OpPassManager &pm,
                                        const LoweringOptions &options) {
  if (const TargetBackend *backend = findBackend(options.target))
    backend->addVendorPasses(pm.nest<gpu::GPUModuleOp>(), options);
}

void mlir::tessera::buildKernelToLLVMPipeline(OpPassManager &pm,
                                              const LoweringOptions &options) {
  if (const TargetBackend *backend = findBackend(options.target))
    backend->addLoweringPasses(pm.nest<gpu::GPUModuleOp>(), options);
}

void mlir::tessera::buildHostToLLVMPipeline(OpPassManager &pm,
                                            const LoweringOptions &options) {
  pm.addPass(createTesseraExpandPackedMemory());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createTesseraExpandScalars());
  ConvertLaunchToRuntimeOptions launch;
  launch.separateMemory = !isHostTarget(options.target);
  pm.addPass(createConvertLaunchToRuntime(launch));
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::tessera::registerLoweringPipelines() {
  auto build = [](StringRef target) {
    return [target](OpPassManager &pm, const LoweringOptions &given) {
      LoweringOptions options;
      options.copyOptionValuesFrom(given);
      options.target = target.str();
      buildOutliningPipeline(pm, options);
      buildLegalizationPipeline(pm, options);
      buildVendorPipeline(pm, options);
      buildKernelToLLVMPipeline(pm, options);
    };
  };
  for (const TargetBackend *backend : getBackends())
    PassPipelineRegistration<LoweringOptions>(backend->getPipelineName(),
                                              backend->getPipelineDescription(),
                                              build(backend->getInfo().name));
}
