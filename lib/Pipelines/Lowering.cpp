//===- Lowering.cpp - From portable programs to each target ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipelines/Lowering.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Target/Chip.h"
#include "Dialect/Tessera/Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
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

/// Whether kernels go to SPIR-V, rather than to LLVM.
static bool takesSpirv(const LoweringOptions &options) {
  return isSpirvTarget(options.target);
}

void mlir::tessera::buildVendorPipeline(OpPassManager &pm,
                                        const LoweringOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  if (options.target == "cuda") {
    kernels.addPass(
        createUseTensorMemory(UseTensorMemoryOptions{options.chip}));
    kernels.addPass(
        createOverlapProducts(OverlapProductsOptions{options.chip}));
    kernels.addPass(createUseBulkCopies(UseBulkCopiesOptions{options.chip}));
  }
  // SPIR-V has a variable for each buffer.
  if (!takesSpirv(options))
    kernels.addPass(createTesseraPackWorkgroupMemory());
  if (takesSpirv(options)) {
    kernels.addPass(createConvertTesseraToSPIRV(
        forTarget<ConvertTesseraToSPIRVOptions>(options)));
  } else if (options.target == "cuda") {
    ConvertTesseraToNVVMOptions convert;
    convert.chip = options.chip;
    kernels.addPass(createConvertTesseraToNVVM(convert));
  } else if (options.target == "hip") {
    ConvertTesseraToROCDLOptions convert;
    convert.chip = options.chip;
    convert.directCopies = options.directCopies;
    kernels.addPass(createConvertTesseraToROCDL(convert));
  } else {
    ConvertTesseraToCPUOptions convert;
    convert.chip = options.chip;
    convert.directCopies = options.directCopies;
    kernels.addPass(createConvertTesseraToCPU(convert));
  }
  kernels.addPass(createTesseraExpandPackedMemory());
  kernels.addPass(createTesseraSimplifyArithmetic());
  kernels.addPass(createTesseraExpandScalars());
  kernels.addPass(createCSEPass());
}

void mlir::tessera::buildKernelToLLVMPipeline(OpPassManager &pm,
                                              const LoweringOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  if (options.target == "cuda")
    kernels.addPass(createConvertNVGPUToNVVMPass());
  kernels.addPass(createTesseraLowerVectors());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  if (takesSpirv(options)) {
    kernels.addPass(createLowerMemoryToSPIRV(
        forTarget<LowerMemoryToSPIRVOptions>(options)));
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    kernels.addPass(createLoopInvariantCodeMotionPass());
    kernels.addPass(
        createScalarizeVectors(forTarget<ScalarizeVectorsOptions>(options)));
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    kernels.addPass(createConvertKernelsToSPIRV(
        forTarget<ConvertKernelsToSPIRVOptions>(options)));
    return;
  }
  kernels.addPass(createSCFToControlFlowPass());
  if (options.target == "cuda") {
    kernels.addPass(createConvertGpuOpsToNVVMOps());
    kernels.addPass(createPlaceTensorMaps());
  } else if (options.target == "hip") {
    ConvertGpuOpsToROCDLOpsOptions convert;
    convert.chipset = options.chip;
    convert.runtime = gpu::amd::Runtime::HIP;
    kernels.addPass(createConvertGpuOpsToROCDLOps(convert));
    kernels.addPass(createScopeDirectLoads());
  } else {
    kernels.addPass(createConvertToLLVMPass());
  }
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
}

void mlir::tessera::buildHostToLLVMPipeline(OpPassManager &pm,
                                            const LoweringOptions &options) {
  pm.addPass(createTesseraExpandPackedMemory());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createTesseraExpandScalars());
  ConvertLaunchToRuntimeOptions launch;
  launch.separateMemory = options.target != "cpu";
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
  PassPipelineRegistration<LoweringOptions>(
      "tessera-to-nvvm-pipeline",
      "Portable program to kernels in the NVVM dialect (chip=sm_..)",
      build("cuda"));
  PassPipelineRegistration<LoweringOptions>(
      "tessera-to-rocdl-pipeline",
      "Portable program to kernels in the ROCDL dialect (chip=gfx...)",
      build("hip"));
  PassPipelineRegistration<LoweringOptions>(
      "tessera-to-spirv-pipeline",
      "Portable program to kernels in the spirv dialect (chip=lavapipe..)",
      build("vulkan"));
  PassPipelineRegistration<LoweringOptions>(
      "tessera-to-opencl-pipeline",
      "Portable program to kernels in the spirv dialect for OpenCL "
      "(chip=simt..)",
      build("opencl"));
  PassPipelineRegistration<LoweringOptions>(
      "tessera-to-cpu-pipeline",
      "Portable program to kernels in the LLVM dialect for the CPU",
      build("cpu"));
}
