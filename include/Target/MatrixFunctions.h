//===- MatrixFunctions.h - Functions of cooperative matrices ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPV_NV_cooperative_matrix2: reductions, functions of elements, and
// conversions of accumulators to operands, which the upstream dialect does not
// support. Until a module is serialized, such an instruction is a call of an
// imported function `(matrix) -> matrix`, whose name contains the opcode and,
// for reductions and functions of elements, the name of the function that is
// called for elements.
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_MATRIXFUNCTIONS_H
#define TARGET_MATRIXFUNCTIONS_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir::tessera::matrix_functions {

/// Opcodes of the extension.
enum Opcode : uint32_t {
  Convert = 5293,
  Reduce = 5366,
  PerElement = 5369,
};

/// The prefix of the names of imported functions; followed by the opcode, the
/// types, and the function of elements.
constexpr llvm::StringLiteral functionPrefix = "__tessera_matrix.";

/// The prefix of functions of elements, which a module defines.
constexpr llvm::StringLiteral elementPrefix = "__tessera_element.";

/// Returns the function that represents the instruction `opcode` on matrices
/// of `types`, a text that distinguishes them, with the function of elements
/// `element` if it calls one.
inline std::string getFunctionName(Opcode opcode, StringRef types,
                                   StringRef element = {}) {
  return (functionPrefix + llvm::Twine(static_cast<uint32_t>(opcode)) + "." +
          types + "!" + element)
      .str();
}

} // namespace mlir::tessera::matrix_functions

#endif // TARGET_MATRIXFUNCTIONS_H
