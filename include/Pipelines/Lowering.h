//===- Lowering.h - From portable programs to each target -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINES_LOWERING_H
#define PIPELINES_LOWERING_H

#include "Target/LoweringOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::tessera {

/// Portable program to kernels: subgroup queries resolved, virtual threads
/// expanded, `gpu.launch` outlined. The program still has portable fragments.
void buildOutliningPipeline(OpPassManager &pm, const LoweringOptions &options);

/// Legalizes the fragments of outlined kernels.
void buildLegalizationPipeline(OpPassManager &pm,
                               const LoweringOptions &options);

/// Lowers legalized kernels to the vendor's dialect: per-lane vectors and
/// intrinsics.
void buildVendorPipeline(OpPassManager &pm, const LoweringOptions &options);

/// Vendor's dialect to the LLVM dialect, or to the spirv dialect, within each
/// gpu.module.
void buildKernelToLLVMPipeline(OpPassManager &pm,
                               const LoweringOptions &options);

/// Lowers host code to the LLVM dialect and erases kernels.
void buildHostToLLVMPipeline(OpPassManager &pm, const LoweringOptions &options);

/// Registers each target's pipeline (`tessera-to-nvvm-pipeline`): a portable
/// program to kernels in the LLVM, or the spirv dialect.
void registerLoweringPipelines();

} // namespace mlir::tessera

#endif // PIPELINES_LOWERING_H
