//===- Backend.cpp - The target hip ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Backend.h"

#include "Conversion/Passes.h"
#include "Runtime/CodeObject.h"
#include "Runtime/TargetId.h"
#include "Target/Target.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tessera;
using runtime::KernelImage;

namespace mlir::tessera {
const TargetInfo &getAMDTarget();
} // namespace mlir::tessera

namespace {

class AmdBackend : public TargetBackend {
public:
  AmdBackend() : TargetBackend(getAMDTarget()) {}

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<amdgpu::AMDGPUDialect, ROCDL::ROCDLDialect>();
    registerROCDLDialectTranslation(registry);
  }
  StringRef getKernelAttribute() const override {
    return ROCDL::ROCDLDialect::getKernelFuncAttrName();
  }

  StringRef getPipelineName() const override {
    return "tessera-to-rocdl-pipeline";
  }
  StringRef getPipelineDescription() const override {
    return "Portable program to kernels in the ROCDL dialect (gfx...)";
  }

  void addVendorPasses(OpPassManager &kernels,
                       const CompileFlags &flags) const override {
    kernels.addPass(createTesseraPackWorkgroupMemory());
    kernels.addPass(createConvertTesseraToROCDL({flags}));
    kernels.addPass(createSeparateOffsets());
    addArithmeticPasses(kernels);
  }

  void addLoweringPasses(OpPassManager &kernels,
                         const CompileFlags &) const override {
    addIndexPasses(kernels);
    kernels.addPass(createSCFToControlFlowPass());
    kernels.addPass(createConvertKernelsToROCDL());
    kernels.addPass(createScopeLdsLoads());
    kernels.addPass(createReconcileUnrealizedCastsPass());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
  }

  ArrayRef<CodeStage> getStages() const override {
    static const CodeStage stages[] = {
        {"amdgcn"}, {"hsaco", /*isBinary=*/true, /*takesSeveralChips=*/true}};
    return stages;
  }

  FailureOr<std::string> emit(StringRef stage, ModuleOp module,
                              const Chip &chip, bool lineTable) const override {
    if (lineTable && failed(addLineTable(module)))
      return failure();
    return stage == "amdgcn" ? emitAMDGCN(module, chip)
                             : emitHSACO(module, chip, lineTable);
  }

  LogicalResult compileKernels(ModuleOp module, const Chip &chip,
                               KernelCode &code) const override;

  std::optional<KernelImage::Kind> getImageKind(StringRef) const override {
    return KernelImage::HSACO;
  }

  ArrayRef<const char *> getVisibilityVariables() const override {
    static const char *const names[] = {"ROCR_VISIBLE_DEVICES",
                                        "HIP_VISIBLE_DEVICES"};
    return names;
  }

  StringRef getCodeTitle() const override { return "Assembly of the chip"; }
  bool hasCodeReports() const override { return true; }
};

} // namespace

LogicalResult AmdBackend::compileKernels(ModuleOp module, const Chip &chip,
                                         KernelCode &code) const {
  std::shared_ptr<void> stage = code.startStage("hsaco");
  FailureOr<std::string> hsaco = emitHSACO(module, chip);
  if (failed(hsaco))
    return failure();
  auto object = runtime::readCodeObject({hsaco->data(), hsaco->size()});
  if (!object.ok())
    return module.emitError() << object.status().message();
  for (const runtime::CodeObjectKernel &kernel : object->kernels)
    code.report(
        kernel.name,
        {kernel.vectors, kernel.accumulators, kernel.scalars,
         kernel.vectorSpills, kernel.scalarSpills, kernel.threadBytes,
         kernel.maxThreads,
         countResidentWorkgroups(chip, kernel.vectors, kernel.maxThreads,
                                 kernel.workgroupBytes +
                                     code.getWorkgroupBytes(kernel.name))});
  code.image.bytes = std::move(*hsaco);
  code.image.kind = KernelImage::HSACO;
  return success();
}

namespace mlir::tessera {
const TargetBackend &getAMDBackend() {
  static const AmdBackend backend;
  return backend;
}
} // namespace mlir::tessera
