//===- Lowering.cpp - From portable programs to each target ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipelines/Lowering.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Graph/Passes.h"
#include "Pipelines/Pipelines.h"
#include "Target/Backend.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tessera;

void mlir::tessera::buildOutliningPipeline(OpPassManager &pm,
                                           const CompileFlags &flags) {
  pm.addPass(createTesseraRaiseVendorOps());
  pm.addPass(createTesseraResolveSubgroups());
  pm.addPass(createTesseraExpandVThreads({flags}));
  // Complex numbers that stay in a kernel become pairs, which are folded.
  pm.addPass(createConvertComplexToStandardPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createTesseraExpandCollectives());
  pm.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createTesseraNameKernels());
  pm.addPass(createTesseraHoistConstantLaunches());
  pm.addPass(createGpuKernelOutliningPass());
  pm.addPass(createTesseraMergeKernels());
}

void mlir::tessera::buildLegalizationPipeline(OpPassManager &pm,
                                              const CompileFlags &flags) {
  // Each kernel on its own: the diagnostics are the kernel's.
  pm.addNestedPass<gpu::GPUModuleOp>(createTesseraLegalizeFragments({flags}));
}

void mlir::tessera::buildVendorPipeline(OpPassManager &pm,
                                        const TargetBackend &backend,
                                        const CompileFlags &flags) {
  backend.addVendorPasses(pm.nest<gpu::GPUModuleOp>(), flags);
}

void mlir::tessera::buildKernelToLLVMPipeline(OpPassManager &pm,
                                              const TargetBackend &backend,
                                              const CompileFlags &flags) {
  backend.addLoweringPasses(pm.nest<gpu::GPUModuleOp>(), flags);
}

void mlir::tessera::buildHostToLLVMPipeline(OpPassManager &pm,
                                            const TargetBackend &backend,
                                            bool isPlanned) {
  pm.addNestedPass<func::FuncOp>(createTesseraLowerVectors());
  pm.addPass(createTesseraExpandPackedMemory());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createTesseraCallMathLibrary());
  pm.addPass(createTesseraExpandScalars());
  ConvertLaunchToRuntimeOptions launch;
  launch.separateMemory = !backend.getInfo().isHost;
  launch.planned = isPlanned;
  pm.addPass(createConvertLaunchToRuntime(launch));
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::tessera::registerLoweringPipelines() {
  for (const TargetBackend *backend : getBackends())
    PassPipelineRegistration<FlagPipelineOptions>(
        backend->getPipelineName(), backend->getPipelineDescription(),
        [backend](OpPassManager &pm, const FlagPipelineOptions &options) {
          buildOutliningPipeline(pm, options.flags);
          buildLegalizationPipeline(pm, options.flags);
          buildVendorPipeline(pm, *backend, options.flags);
          buildKernelToLLVMPipeline(pm, *backend, options.flags);
        });
}
