//===- KernelFacts.h - Facts about the kernels of a module ---*- C++ -*----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discardable attributes of a `spirv.func` for facts that the upstream dialect
// cannot represent, until the module is serialized:
//
//   registers     OpDecorateString %kernel UserSemantic "num-thread-per-eu 4":
//                 a thread has 256 registers. That is how the translator from
//                 LLVM IR to SPIR-V writes it (SPIRV-LLVM-Translator,
//                 LLVMToSPIRVBase::
//                 transFunctionMetadataAsUserSemanticDecoration), and what
//                 Intel's compiler reads of old and new modules alike. The
//                 execution mode of SPV_INTEL_maximum_registers is rejected by
//                 current drivers
//   parameter_alignments
//                 OpDecorate %parameter Alignment 64
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_KERNELFACTS_H
#define TARGET_KERNELFACTS_H

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace mlir::tessera::kernel_facts {

/// Writes the attributes of the functions of `module` into its serialized
/// `words`.
void writeFacts(spirv::ModuleOp module, SmallVectorImpl<uint32_t> &words);

} // namespace mlir::tessera::kernel_facts

#endif // TARGET_KERNELFACTS_H
