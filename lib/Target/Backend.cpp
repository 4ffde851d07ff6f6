//===- Backend.cpp - The backends of all targets --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Backend.h"

#include "Runtime/CodeCompatibility.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tessera;

TargetBackend::~TargetBackend() = default;

std::string TargetBackend::explainIncompatible(StringRef code, StringRef device,
                                               bool isMachineCode) const {
  return runtime::explainIncompatible(info.name.str(), code.str(), device.str(),
                                      isMachineCode);
}

std::string TargetBackend::chooseChip(const runtime::DeviceInfo &device) const {
  // A device may have less than the family that the compiler knows.
  if (!device.family.empty())
    if (const Chip *chip = findChip(info.name, device.family))
      if (chip->workgroupMemoryBytes <=
              static_cast<int64_t>(device.workgroupMemoryBytes) &&
          (chip->name == device.chip ||
           explainIncompatible(chip->name, device.chip,
                               /*isMachineCode=*/false)
               .empty()))
        return chip->name;
  // The description that a device of a SPIR-V target reports may have a name.
  if (const Chip *chip = findChip(info.name, device.chip))
    return chip->name;
  return "";
}

std::string
TargetBackend::getDeviceChip(const runtime::DeviceInfo &device) const {
  return device.targetId.empty() ? device.chip : device.targetId;
}

//===----------------------------------------------------------------------===//
// Registry
//===----------------------------------------------------------------------===//

namespace mlir::tessera {
#define TESSERA_TARGET(NAME) const TargetBackend &get##NAME##Backend();
#include "TargetInfo/Targets.def"
} // namespace mlir::tessera

static std::vector<const TargetBackend *> &getRegistry() {
  static std::vector<const TargetBackend *> backends = {
#define TESSERA_TARGET(NAME) &get##NAME##Backend(),
#include "TargetInfo/Targets.def"
  };
  return backends;
}

llvm::ArrayRef<const TargetBackend *> mlir::tessera::getBackends() {
  return getRegistry();
}

const TargetBackend *mlir::tessera::findBackend(llvm::StringRef name) {
  const TargetInfo *info = findTarget(name);
  for (const TargetBackend *backend : getRegistry())
    if (&backend->getInfo() == info)
      return backend;
  return nullptr;
}

const CodeStage *mlir::tessera::findCodeStage(llvm::StringRef name) {
  for (const TargetBackend *backend : getRegistry())
    for (const CodeStage &stage : backend->getStages())
      if (stage.name == name)
        return &stage;
  return nullptr;
}

void mlir::tessera::registerBackend(const TargetBackend &backend) {
  registerTarget(backend.getInfo());
  getRegistry().push_back(&backend);
}

//===----------------------------------------------------------------------===//
// Passes that targets share
//===----------------------------------------------------------------------===//

LogicalResult mlir::tessera::addLineTable(ModuleOp module) {
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = LLVM::DIEmissionKind::LineTablesOnly;
  PassManager pm(module.getContext());
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
  return pm.run(module);
}

void mlir::tessera::addArithmeticPasses(OpPassManager &kernels) {
  kernels.addPass(createTesseraExpandPackedMemory());
  kernels.addPass(createTesseraSimplifyArithmetic());
  kernels.addPass(createTesseraExpandScalars());
  kernels.addPass(createCSEPass());
}

void mlir::tessera::addIndexPasses(OpPassManager &kernels) {
  kernels.addPass(createTesseraLowerVectors());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
}
