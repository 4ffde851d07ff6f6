//===- SubgroupMatrix.h - Matrix multiply of Intel's extension -*- C++ -*--===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPV_INTEL_subgroup_matrix_multiply_accumulate, which the upstream dialect
// does not support. Until a module is serialized, a multiply-accumulate is a
// call of an imported function `(K, a, b, c) -> sums`, whose name contains the
// literal of the operands.
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_SUBGROUPMATRIX_H
#define TARGET_SUBGROUPMATRIX_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir::tessera::subgroup_matrix {

/// "Matrix Multiply Accumulate Operands" of the extension, section 3.
enum Operands : uint32_t {
  ASigned = 0x1,
  BSigned = 0x2,
  APackedInt8 = 0x10,
  BPackedInt8 = 0x20,
  ATF32 = 0x100,
  BTF32 = 0x200,
  APackedFloat16 = 0x400,
  BPackedFloat16 = 0x800,
  APackedBFloat16 = 0x1000,
  BPackedBFloat16 = 0x2000,
};

/// The prefix of the function names; followed by the literal and the
/// instruction.
constexpr llvm::StringLiteral functionPrefix = "__tessera_subgroup_matrix.";

/// Returns the function that represents the instruction named `instruction`
/// with the literal `operands`.
inline std::string getFunctionName(StringRef instruction, uint32_t operands) {
  return (functionPrefix + llvm::Twine(operands) + "." + instruction).str();
}

} // namespace mlir::tessera::subgroup_matrix

#endif // TARGET_SUBGROUPMATRIX_H
