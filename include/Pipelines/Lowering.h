//===- Lowering.h - From portable programs to each target -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINES_LOWERING_H
#define PIPELINES_LOWERING_H

#include "Flags/CompileFlags.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::tessera {

class TargetBackend;

// The passes of all pipelines read the chip from the module
// (tessera-attach-chip).

/// Portable program to kernels: subgroup queries resolved, virtual threads
/// expanded, `gpu.launch` outlined. The program still has portable fragments.
void buildOutliningPipeline(OpPassManager &pm, const CompileFlags &flags);

/// Legalizes the fragments of outlined kernels.
void buildLegalizationPipeline(OpPassManager &pm, const CompileFlags &flags);

/// Lowers legalized kernels to the vendor's dialect: per-lane vectors and
/// intrinsics.
void buildVendorPipeline(OpPassManager &pm, const TargetBackend &backend,
                         const CompileFlags &flags);

/// Vendor's dialect to the LLVM dialect, or to the spirv dialect, within each
/// gpu.module.
void buildKernelToLLVMPipeline(OpPassManager &pm, const TargetBackend &backend,
                               const CompileFlags &flags);

/// Lowers host code to the LLVM dialect and erases kernels. `isPlanned`: it is
/// part of a bundle, whose runs are planned.
void buildHostToLLVMPipeline(OpPassManager &pm, const TargetBackend &backend,
                             bool isPlanned);

/// Registers each target's pipeline (`tessera-to-nvvm-pipeline`): a portable
/// program to kernels in the LLVM, or the spirv dialect.
void registerLoweringPipelines();

} // namespace mlir::tessera

#endif // PIPELINES_LOWERING_H
