//===- MatrixFunctions.cpp - Functions of cooperative matrices ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/MatrixFunctions.h"
#include "ImportedInstructions.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::matrix_functions;

static constexpr uint32_t capabilityReductions = 5430,
                          capabilityConversions = 5431,
                          capabilityPerElementOperations = 5432;

/// "Cooperative Matrix Reduce Mode": each row.
static constexpr uint32_t reduceRow = 1;

std::optional<ImportedInstruction>
mlir::tessera::findMatrixInstruction(StringRef name) {
  uint32_t opcode;
  if (!name.consume_front(functionPrefix) || name.consumeInteger(10, opcode))
    return std::nullopt;
  ImportedInstruction instruction;
  instruction.opcode = opcode;
  instruction.extension = "SPV_NV_cooperative_matrix2";
  instruction.function = name.split('!').second;
  switch (opcode) {
  case Convert:
    instruction.capabilities = {capabilityConversions};
    return instruction;
  case Reduce:
    instruction.capabilities = {capabilityReductions};
    instruction.literal = reduceRow;
    return instruction;
  case PerElement:
    instruction.capabilities = {capabilityPerElementOperations};
    return instruction;
  default:
    return std::nullopt;
  }
}
