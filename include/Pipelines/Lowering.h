//===- Lowering.h - From portable programs to each target -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINES_LOWERING_H
#define PIPELINES_LOWERING_H

#include "Conversion/DirectCopies.h"

#include "mlir/Pass/PassOptions.h"
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::tessera {

/// For which chip, and what is permitted.
struct LoweringOptions : public PassPipelineOptions<LoweringOptions> {
  PassOptions::Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Target: cpu, cuda, hip, vulkan, opencl or "
                     "level-zero"),
      llvm::cl::init("cpu")};
  PassOptions::Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("Chip (empty selects the host's chip on target cpu)"),
      llvm::cl::init("")};
  PassOptions::Option<bool> requireMatrixUnit{
      *this, "require-matrix-unit",
      llvm::cl::desc("Reject a matmul that no matrix unit computes"),
      llvm::cl::init(false)};
  PassOptions::Option<std::string> vthreadOrder{
      *this, "vthread-order",
      llvm::cl::desc("Interleaving order of every tessera.vthread; overrides "
                     "the op's attribute"),
      llvm::cl::init("")};
  PassOptions::Option<DirectCopies> directCopies{
      *this, "direct-copies",
      llvm::cl::desc("Which asynchronous copies write workgroup memory "
                     "directly, bypassing registers"),
      llvm::cl::init(DirectCopies::Auto), getDirectCopiesValues()};
  PassOptions::Option<bool> testShareFragments{
      *this, "test-share-fragments",
      llvm::cl::desc("Tests only: all vthreads share one fragment"),
      llvm::cl::init(false)};
};

/// Portable program to kernels: subgroup queries resolved, virtual threads
/// expanded, `gpu.launch` outlined. The program still has portable fragments.
void buildOutliningPipeline(OpPassManager &pm, const LoweringOptions &options);

/// Outlined kernels to legalized fragments.
void buildLegalizationPipeline(OpPassManager &pm,
                               const LoweringOptions &options);

/// Legalized kernels to the vendor's dialect: per-lane vectors and intrinsics.
void buildVendorPipeline(OpPassManager &pm, const LoweringOptions &options);

/// Vendor's dialect to the LLVM dialect, or to the spirv dialect for the target
/// vulkan, within each gpu.module.
void buildKernelToLLVMPipeline(OpPassManager &pm,
                               const LoweringOptions &options);

/// Host code to the LLVM dialect; kernels are erased.
void buildHostToLLVMPipeline(OpPassManager &pm, const LoweringOptions &options);

/// Registers `tessera-to-nvvm-pipeline`, `tessera-to-rocdl-pipeline`,
/// `tessera-to-spirv-pipeline` and `tessera-to-cpu-pipeline`: a portable
/// program to kernels in the LLVM, or the spirv dialect.
void registerLoweringPipelines();

} // namespace mlir::tessera

#endif // PIPELINES_LOWERING_H
