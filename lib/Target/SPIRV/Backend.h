//===- Backend.h - Targets whose kernels are SPIR-V -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_SPIRV_BACKEND_H
#define LIB_TARGET_SPIRV_BACKEND_H

#include "Target/Backend.h"

namespace mlir::tessera {

/// The common part of the targets of SPIR-V.
class SpirvBackend : public TargetBackend {
public:
  using TargetBackend::TargetBackend;

  void registerDialects(DialectRegistry &registry) const override;

  void addVendorPasses(OpPassManager &kernels,
                       const CompileFlags &flags) const override;
  void addLoweringPasses(OpPassManager &kernels,
                         const CompileFlags &flags) const override;
  bool hasCalls() const override { return false; }

  ArrayRef<CodeStage> getStages() const override;
  FailureOr<std::string> emit(StringRef stage, ModuleOp module,
                              const Chip &chip, bool lineTable) const override;
  LogicalResult compileKernels(ModuleOp module, const Chip &chip,
                               KernelCode &code) const override;
  std::optional<runtime::KernelImage::Kind>
  getImageKind(StringRef) const override {
    return runtime::KernelImage::SPIRV;
  }

  std::string explainIncompatible(StringRef code, StringRef device,
                                  bool isMachineCode) const override;

  StringRef getCodeTitle() const override { return "SPIR-V"; }
  StringRef getLastDialectTitle() const override { return "SPIR-V dialect"; }
  bool hasLineTables() const override { return false; }
};

} // namespace mlir::tessera

#endif // LIB_TARGET_SPIRV_BACKEND_H
