//===- KernelFacts.h - What a module says of its kernels --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What upstream's dialect has no place for: discardable attributes of a
// `spirv.func`, until the module is written.
//
//   registers     OpDecorateString %kernel UserSemantic "num-thread-per-eu 4":
//                 a thread has 256 registers. That is how the translator from
//                 LLVM IR to SPIR-V says it (SPIRV-LLVM-Translator,
//                 LLVMToSPIRVBase::
//                 transFunctionMetadataAsUserSemanticDecoration), and what
//                 Intel's compiler reads of old and new modules alike. The
//                 execution mode of SPV_INTEL_maximum_registers is refused by
//                 drivers of today
//   alignments    OpDecorate %parameter Alignment 64
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_KERNELFACTS_H
#define TARGET_KERNELFACTS_H

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace mlir::tessera::kernel_facts {

/// The registers of a thread that the kernel asks for, on a `gpu.func` as well;
/// absent for the usual ones.
inline constexpr llvm::StringLiteral registersAttrName = "tessera.registers";

/// Of each parameter, the alignment in bytes that it has; 0: any.
inline constexpr llvm::StringLiteral alignmentsAttrName =
    "tessera.parameter_alignments";

/// Writes what the functions of `module` say into its serialized `words`.
void writeFacts(spirv::ModuleOp module, SmallVectorImpl<uint32_t> &words);

} // namespace mlir::tessera::kernel_facts

#endif // TARGET_KERNELFACTS_H
