//===- Backend.cpp - The target cpu ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Backend.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Conversion/Passes.h"
#include "Target/Target.h"
#include "TargetInfo/Emulation.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tessera;
using runtime::KernelImage;

namespace mlir::tessera {
const TargetInfo &getCPUTarget();
} // namespace mlir::tessera

namespace {

class CpuBackend : public TargetBackend {
public:
  CpuBackend() : TargetBackend(getCPUTarget()) {}

  StringRef getPipelineName() const override {
    return "tessera-to-cpu-pipeline";
  }
  StringRef getPipelineDescription() const override {
    return "Portable program to kernels in the LLVM dialect for the CPU";
  }

  void addVendorPasses(OpPassManager &kernels,
                       const CompileFlags &flags) const override {
    kernels.addPass(createTesseraPackWorkgroupMemory());
    kernels.addPass(createConvertTesseraToCPU({flags}));
    kernels.addPass(createTesseraCallMathLibrary());
    addArithmeticPasses(kernels);
  }

  void addLoweringPasses(OpPassManager &kernels,
                         const CompileFlags &) const override {
    addIndexPasses(kernels);
    kernels.addPass(createTesseraExpandBF16());
    kernels.addPass(createSCFToControlFlowPass());
    kernels.addPass(createConvertToLLVMPass());
    kernels.addPass(createReconcileUnrealizedCastsPass());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
  }

  ArrayRef<CodeStage> getStages() const override {
    static const CodeStage stages[] = {{"object", /*isBinary=*/true}, {"asm"}};
    return stages;
  }

  FailureOr<std::string> emit(StringRef stage, ModuleOp module,
                              const Chip &chip, bool lineTable) const override;
  LogicalResult compileKernels(ModuleOp module, const Chip &chip,
                               KernelCode &code) const override;

  std::optional<KernelImage::Kind> getImageKind(StringRef) const override {
    return std::nullopt;
  }

  std::string chooseChip(const runtime::DeviceInfo &) const override {
    return getHostChip().str();
  }
  std::string getDeviceChip(const runtime::DeviceInfo &) const override {
    return getHostChip().str();
  }
  bool hasFeatures() const override { return false; }

  StringRef getCodeTitle() const override {
    return "Assembly of the processor";
  }
  StringRef getUnitName() const override { return "threads"; }
  StringRef getRoofUnknown() const override {
    return "how many FMA units the processor has, and what its memory gives, "
           "is not known";
  }
};

} // namespace

/// The CPU's kernels, with the wrappers by which the runtime calls them.
static FailureOr<OwningOpRef<ModuleOp>> gatherPackedKernels(ModuleOp module) {
  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherKernels(module);
  if (failed(kernels))
    return failure();
  PassManager pm(module.getContext());
  pm.addPass(createPackKernelArguments());
  if (failed(pm.run(**kernels)))
    return failure();
  return kernels;
}

FailureOr<std::string> CpuBackend::emit(StringRef stage, ModuleOp module,
                                        const Chip &chip,
                                        bool lineTable) const {
  std::unique_ptr<llvm::TargetMachine> machine = createCPUMachine(chip);
  if (!machine)
    return module.emitError()
           << "cannot generate code for " << chip.name << " on this processor";
  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherPackedKernels(module);
  if (failed(kernels) || (lineTable && failed(addLineTable(**kernels))))
    return failure();
  IRModule code(module);
  if (failed(translateAndOptimize(**kernels, code, *machine)))
    return failure();
  return code.emit(*machine, stage == "asm"
                                 ? llvm::CodeGenFileType::AssemblyFile
                                 : llvm::CodeGenFileType::ObjectFile);
}

LogicalResult CpuBackend::compileKernels(ModuleOp module, const Chip &,
                                         KernelCode &code) const {
  std::shared_ptr<void> stage = code.startStage("kernels");
  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherPackedKernels(module);
  if (failed(kernels))
    return failure();
  for (auto function : (*kernels)->getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(TesseraDialect::KernelAttrHelper::getNameStr()))
      code.hostFunctions.push_back(function.getName().str());
  code.image.kind = KernelImage::HostFunctions;
  return code.addToHost(**kernels);
}

namespace mlir::tessera {
const TargetBackend &getCPUBackend() {
  static const CpuBackend backend;
  return backend;
}
} // namespace mlir::tessera
