//===- Backend.cpp - The target cuda --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Backend.h"

#include "Conversion/Passes.h"
#include "Runtime/CudaChip.h"
#include "Target/Target.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/NVGPU/TransformOps/NVGPUTransformOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tessera;
using runtime::CudaChip;
using runtime::KernelImage;

namespace mlir::tessera {
const TargetInfo &getNVIDIATarget();
} // namespace mlir::tessera

namespace {

class NvidiaBackend : public TargetBackend {
public:
  NvidiaBackend() : TargetBackend(getNVIDIATarget()) {}

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<nvgpu::NVGPUDialect, NVVM::NVVMDialect>();
    nvgpu::registerTransformDialectExtension(registry);
    NVVM::registerConvertGpuToNVVMInterface(registry);
    registerConvertNVVMToLLVMInterface(registry);
    registerNVVMDialectTranslation(registry);
  }
  StringRef getKernelAttribute() const override {
    return NVVM::NVVMDialect::getKernelFuncAttrName();
  }

  StringRef getPipelineName() const override {
    return "tessera-to-nvvm-pipeline";
  }
  StringRef getPipelineDescription() const override {
    return "Portable program to kernels in the NVVM dialect (sm_..)";
  }

  void addVendorPasses(OpPassManager &kernels,
                       const CompileFlags &) const override {
    kernels.addPass(createUseTensorMemory());
    kernels.addPass(createOverlapMatmuls());
    kernels.addPass(createUseBulkCopies());
    kernels.addPass(createTesseraPackWorkgroupMemory());
    kernels.addPass(createConvertTesseraToNVVM());
    kernels.addPass(createUseSaturatingPacks());
    kernels.addPass(createTesseraConvertByAddition());
    kernels.addPass(createUseBytePermutes());
    kernels.addPass(createUseThreeInputLogic());
    kernels.addPass(createUsePairedBytes());
    addArithmeticPasses(kernels);
  }

  void addLoweringPasses(OpPassManager &kernels,
                         const CompileFlags &) const override {
    kernels.addPass(createConvertNVGPUToNVVMPass());
    addIndexPasses(kernels);
    kernels.addPass(createSCFToControlFlowPass());
    kernels.addPass(createConvertGpuOpsToNVVMOps());
    kernels.addPass(createPlaceTensorMaps());
    kernels.addPass(createUseDependentLaunch());
    kernels.addPass(createReconcileUnrealizedCastsPass());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
  }

  ArrayRef<CodeStage> getStages() const override {
    static const CodeStage stages[] = {{"ptx"}, {"cubin", /*isBinary=*/true}};
    return stages;
  }

  FailureOr<std::string> emit(StringRef stage, ModuleOp module,
                              const Chip &chip, bool lineTable) const override {
    if (lineTable && failed(addLineTable(module)))
      return failure();
    FailureOr<std::string> ptx = emitPTX(module, chip, lineTable);
    if (failed(ptx) || stage == "ptx")
      return ptx;
    std::string log;
    return runPtxas(module, *ptx, chip, log);
  }

  LogicalResult compileKernels(ModuleOp module, const Chip &chip,
                               KernelCode &code) const override;

  std::optional<KernelImage::Kind> getImageKind(StringRef code) const override {
    return code.starts_with("\x7f"
                            "ELF")
               ? KernelImage::Cubin
               : KernelImage::PTX;
  }
  bool hasAssembler() const override { return !findPtxas().empty(); }

  std::string chooseChip(const runtime::DeviceInfo &device) const override;
  bool hasFeatures() const override { return false; }
  ArrayRef<const char *> getVisibilityVariables() const override {
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES"};
    return names;
  }

  StringRef getCodeTitle() const override { return "PTX"; }
  StringRef getResourceHint() const override { return ", and --ptxas"; }
};

} // namespace

LogicalResult NvidiaBackend::compileKernels(ModuleOp module, const Chip &chip,
                                            KernelCode &code) const {
  {
    std::shared_ptr<void> stage = code.startStage("ptx");
    FailureOr<std::string> ptx = emitPTX(module, chip);
    if (failed(ptx))
      return failure();
    code.text = code.image.bytes = std::move(*ptx);
    code.image.kind = KernelImage::PTX;
  }
  if (!code.useAssembler)
    return success();
  std::shared_ptr<void> stage = code.startStage("cubin");
  std::string log;
  FailureOr<std::string> cubin = runPtxas(module, code.text, chip, log);
  if (failed(cubin))
    return failure();
  for (const PtxasKernel &kernel : readPtxasLog(log, code.text))
    code.report(kernel.name,
                {kernel.registers,
                 /*accumulationRegisters=*/0,
                 /*scalarRegisters=*/0, kernel.spillBytes / 4,
                 /*scalarSpills=*/0, kernel.stackBytes, kernel.threads,
                 countResidentBlocks(chip, kernel.registers, kernel.threads,
                                     kernel.staticBytes +
                                         code.getWorkgroupBytes(kernel.name))});
  code.image.bytes = std::move(*cubin);
  code.image.kind = KernelImage::Cubin;
  return success();
}

std::string NvidiaBackend::chooseChip(const runtime::DeviceInfo &device) const {
  if (std::string own = TargetBackend::chooseChip(device); !own.empty())
    return own;
  std::string best;
  int bestLevel = 0;
  for (const std::string &name : getKnownChips(info.name)) {
    std::optional<CudaChip> chip = CudaChip::parse(name);
    if (chip && !chip->isSpecific && chip->level > bestLevel &&
        explainIncompatible(name, device.chip, /*isMachineCode=*/false)
            .empty()) {
      best = name;
      bestLevel = chip->level;
    }
  }
  return best;
}

namespace mlir::tessera {
const TargetBackend &getNVIDIABackend() {
  static const NvidiaBackend backend;
  return backend;
}
} // namespace mlir::tessera
