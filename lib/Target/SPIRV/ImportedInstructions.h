//===- ImportedInstructions.h - Calls that are instructions -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's dialect lacks instructions of some extensions. Until a module is
// serialized, such an instruction is a call of an imported function, whose name
// contains what the operands do not. On the words of the module:
//
//   OpDecorate %f LinkageAttributes "..." Import      dropped
//   OpName %f "..."                                   dropped
//   OpFunction %f .. OpFunctionEnd                    dropped
//   %r = OpFunctionCall %t %f %k %a %b %c
//     -> %r = OpSubgroupMatrixMultiplyAccumulateINTEL %t %k %a %b %c literal
//   OpFunctionCall %void %f %size .. %destination
//     -> OpSubgroup2DBlockLoadINTEL %size .. %destination
//   %r = OpFunctionCall %t %f %matrix
//     -> %r = OpCooperativeMatrixReduceNV %t %matrix Row %g
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_IMPORTEDINSTRUCTIONS_H
#define LIB_TARGET_IMPORTEDINSTRUCTIONS_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::tessera {

/// The instruction that replaces the calls of an imported function.
struct ImportedInstruction {
  uint32_t opcode;
  StringRef extension;
  SmallVector<uint32_t, 2> capabilities;
  bool hasResult = true;
  /// The operand after those of the call.
  std::optional<uint32_t> literal;
  /// The function of the module whose id follows; empty for none.
  StringRef function;
};

/// The instructions of Intel's extensions (../Intel/SubgroupMatrix.cpp), and of
/// SPV_NV_cooperative_matrix2 (MatrixFunctions.cpp).
std::optional<ImportedInstruction> findSubgroupInstruction(StringRef name);
std::optional<ImportedInstruction> findMatrixInstruction(StringRef name);

/// Replaces the calls in a serialized module by instructions, removes the
/// functions, and declares capabilities and extensions. Functions must have
/// names. A module without such calls is not changed.
void useImportedInstructions(SmallVectorImpl<uint32_t> &words);

} // namespace mlir::tessera

#endif // LIB_TARGET_IMPORTEDINSTRUCTIONS_H
