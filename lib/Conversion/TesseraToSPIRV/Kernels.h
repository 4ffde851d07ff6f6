//===- Kernels.h - Steps of the conversion of kernels -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of convert-kernels-to-spirv, in the order of their use.
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATOSPIRV_KERNELS_H
#define CONVERSION_TESSERATOSPIRV_KERNELS_H

#include "Spirv.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::tessera {

/// All capabilities that a kernel may need: without a capability here,
/// upstream's type conversion changes types silently. The capabilities that are
/// used are determined afterwards (ModuleRequirements.cpp).
spirv::TargetEnvAttr getTargetEnv(MLIRContext *context,
                                  const SpirvEnvironment &environment);

/// Converts the ops of the gpu dialect in a kernel with workgroups of `block`
/// threads: positions of threads become scalars of the index type
/// (GpuPatterns.cpp).
LogicalResult convertGpuOps(spirv::FuncOp function, ArrayRef<int32_t> block,
                            const Chip &chip);

/// Upstream's loops do not set their results if they have no iterations:
/// loops that may have none are guarded by a branch (LoopForms.cpp).
void guardLoops(Operation *root);

/// Converts arith, math, scf, index and ub by upstream's patterns
/// (KernelBodies.cpp).
LogicalResult convertBodies(spirv::ModuleOp module, spirv::TargetEnvAttr env,
                            const SpirvEnvironment &environment);

/// Upstream's loops have their bodies, with all barriers and branches, in the
/// continue construct, unlike loops of other front ends. This moves the body
/// before it; the continue construct is only the back edge (LoopForms.cpp).
void separateContinues(Operation *root);

/// Vulkan's implementations may rearrange arithmetic by the rules of real
/// numbers, including sums of products, unless it has NoContraction (Vulkan
/// specification, "Precision and Operation of SPIR-V Instructions"). A
/// two-step argument reduction would then be merged into one step, and exp
/// wrong by 100 units in the last place. OpenCL permits only the contraction
/// of a multiplication and an addition (FloatControls.cpp).
void keepArithmetic(Operation *root);

/// Requests that NaNs, infinities and signed zeros of the float types of a
/// kernel be preserved, if a device of `chip` supports this: otherwise its
/// compiler may replace a comparison and a select by a maximum that drops
/// NaNs (FloatControls.cpp).
void keepNans(spirv::ModuleOp module, const Chip &chip);

/// Whether the function is a kernel: neither imported, nor a function that an
/// instruction calls for elements of matrices (ModuleRequirements.cpp).
bool isEntryPoint(spirv::FuncOp function);

/// From SPIR-V 1.4 on, an entry point lists all variables that it uses; in
/// earlier versions, as OpenCL requires, it lists its inputs
/// (ModuleRequirements.cpp).
void addInterfaces(spirv::ModuleOp module, const SpirvEnvironment &environment);

using RunPipeline =
    llvm::function_ref<LogicalResult(OpPassManager &, Operation *)>;

/// Records the capabilities and extensions that the module needs. `run` runs
/// upstream's pass, which determines most of them (ModuleRequirements.cpp).
LogicalResult setRequirements(spirv::ModuleOp module,
                              const SpirvEnvironment &environment,
                              RunPipeline run);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOSPIRV_KERNELS_H
