//===- SubgroupMatrix.cpp - Instructions of Intel's extensions ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/SubgroupMatrix.h"
#include "../SPIRV/ImportedInstructions.h"
#include "../SPIRV/SpirvWords.h"
#include "Target/SubgroupBlocks.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::subgroup_matrix;

static constexpr llvm::StringLiteral matmulExtension =
    "SPV_INTEL_subgroup_matrix_multiply_accumulate";
static constexpr llvm::StringLiteral blocksExtension = "SPV_INTEL_2d_block_io";

namespace {

constexpr uint32_t capabilitySubgroup2DBlockIOINTEL = 6228,
                   capabilitySubgroup2DBlockTransformINTEL = 6229,
                   capabilitySubgroup2DBlockTransposeINTEL = 6230,
                   capabilitySubgroupMatrixMultiplyAccumulateINTEL = 6236;

} // namespace

std::optional<ImportedInstruction>
mlir::tessera::findSubgroupInstruction(StringRef name) {
  uint32_t number;
  ImportedInstruction instruction;
  if (name.consume_front(functionPrefix) && !name.consumeInteger(10, number)) {
    instruction.opcode = OpSubgroupMatrixMultiplyAccumulateINTEL;
    instruction.extension = matmulExtension;
    instruction.capabilities = {
        capabilitySubgroupMatrixMultiplyAccumulateINTEL};
    instruction.literal = number;
    return instruction;
  }
  if (!name.consume_front(subgroup_blocks::functionPrefix) ||
      name.consumeInteger(10, number))
    return std::nullopt;
  instruction.opcode = number;
  instruction.extension = blocksExtension;
  instruction.capabilities = {capabilitySubgroup2DBlockIOINTEL};
  instruction.hasResult = false;
  if (number == subgroup_blocks::LoadTransform)
    instruction.capabilities.push_back(capabilitySubgroup2DBlockTransformINTEL);
  if (number == subgroup_blocks::LoadTranspose)
    instruction.capabilities.push_back(capabilitySubgroup2DBlockTransposeINTEL);
  return instruction;
}
