//===- SubgroupMatrix.cpp - Instructions of Intel's extensions ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the words of a module ("SPIR-V Specification", section 2.3, "Physical
// Layout of a SPIR-V Module and Instruction"):
//
//   OpDecorate %f LinkageAttributes "..." Import      dropped
//   OpName %f "..."                                   dropped
//   OpFunction %f .. OpFunctionEnd                    dropped
//   %r = OpFunctionCall %t %f %k %a %b %c
//     -> %r = OpSubgroupMatrixMultiplyAccumulateINTEL %t %k %a %b %c literal
//   OpFunctionCall %void %f %size .. %destination
//     -> OpSubgroup2DBlockLoadINTEL %size .. %destination
//
//===----------------------------------------------------------------------===//

#include "Target/SubgroupMatrix.h"
#include "../SPIRV/SpirvWords.h"
#include "Target/SubgroupBlocks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::subgroup_matrix;

static constexpr llvm::StringLiteral matmulExtension =
    "SPV_INTEL_subgroup_matrix_multiply_accumulate";
static constexpr llvm::StringLiteral blocksExtension = "SPV_INTEL_2d_block_io";

namespace {

constexpr uint32_t decorationLinkageAttributes = 41;
constexpr uint32_t capabilityLinkage = 5,
                   capabilitySubgroup2DBlockIOINTEL = 6228,
                   capabilitySubgroup2DBlockTransformINTEL = 6229,
                   capabilitySubgroup2DBlockTransposeINTEL = 6230,
                   capabilitySubgroupMatrixMultiplyAccumulateINTEL = 6236;

} // namespace

/// The instruction that replaces the calls of an imported function.
struct Instruction {
  uint32_t opcode;
  /// The last operand of a matrix instruction.
  std::optional<uint32_t> literal;
};

/// The instruction of the function of this name, if it has one.
static std::optional<Instruction> findInstruction(StringRef name) {
  uint32_t number;
  if (name.consume_front(functionPrefix) && !name.consumeInteger(10, number))
    return Instruction{OpSubgroupMatrixMultiplyAccumulateINTEL, number};
  if (name.consume_front(subgroup_blocks::functionPrefix) &&
      !name.consumeInteger(10, number))
    return Instruction{number, std::nullopt};
  return std::nullopt;
}

/// The capabilities and the extension of these opcodes.
static void declare(const std::set<uint32_t> &opcodes,
                    SmallVectorImpl<uint32_t> &words) {
  std::set<uint32_t> capabilities;
  std::set<StringRef> extensions;
  for (uint32_t opcode : opcodes) {
    bool isMatmul = opcode == OpSubgroupMatrixMultiplyAccumulateINTEL;
    extensions.insert(isMatmul ? matmulExtension : blocksExtension);
    if (isMatmul)
      capabilities.insert(capabilitySubgroupMatrixMultiplyAccumulateINTEL);
    else
      capabilities.insert(capabilitySubgroup2DBlockIOINTEL);
    if (opcode == subgroup_blocks::LoadTransform)
      capabilities.insert(capabilitySubgroup2DBlockTransformINTEL);
    if (opcode == subgroup_blocks::LoadTranspose)
      capabilities.insert(capabilitySubgroup2DBlockTransposeINTEL);
  }
  for (uint32_t capability : capabilities)
    appendSpirvInstruction(words, OpCapability, {capability});
  for (StringRef extension : extensions)
    appendSpirvInstruction(words, OpExtension, {}, extension);
}

void subgroup_matrix::useInstructions(SmallVectorImpl<uint32_t> &words) {
  llvm::DenseMap<uint32_t, Instruction> functions;
  std::set<uint32_t> opcodes;
  bool otherLinkage = false;
  forEachSpirvInstruction(words, [&](uint32_t opcode, ArrayRef<uint32_t> all) {
    if (opcode != OpDecorate || all.size() < 4 ||
        all[2] != decorationLinkageAttributes)
      return;
    StringRef name = readSpirvText(all.drop_front(3));
    if (std::optional<Instruction> instruction = findInstruction(name)) {
      functions.insert({all[1], *instruction});
      opcodes.insert(instruction->opcode);
    } else {
      otherLinkage = true;
    }
  });
  if (functions.empty())
    return;

  SmallVector<uint32_t> result(words.begin(), words.begin() + spirvHeaderWords);
  bool declared = false, inFunction = false;
  forEachSpirvInstruction(words, [&](uint32_t opcode, ArrayRef<uint32_t> all) {
    if (opcode != OpCapability && !declared) {
      // Capabilities come first, followed by extensions.
      declared = true;
      declare(opcodes, result);
    }
    // Nothing else is imported or exported.
    if (opcode == OpCapability && all[1] == capabilityLinkage && !otherLinkage)
      return;
    if ((opcode == OpName || opcode == OpDecorate) && functions.count(all[1]))
      return;
    if (opcode == OpFunction && functions.count(all[2]))
      inFunction = true;
    if (inFunction) {
      inFunction = opcode != OpFunctionEnd;
      return;
    }
    auto called =
        opcode == OpFunctionCall ? functions.find(all[3]) : functions.end();
    if (called == functions.end()) {
      result.append(all.begin(), all.end());
      return;
    }
    SmallVector<uint32_t> operands;
    if (called->second.literal)
      operands.append({all[1], all[2]});
    operands.append(all.begin() + 4, all.end());
    if (called->second.literal)
      operands.push_back(*called->second.literal);
    appendSpirvInstruction(result, called->second.opcode, operands);
  });
  words = std::move(result);
}
