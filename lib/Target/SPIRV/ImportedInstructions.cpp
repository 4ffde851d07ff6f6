//===- ImportedInstructions.cpp - Calls that are instructions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportedInstructions.h"
#include "SpirvWords.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <set>

using namespace mlir;
using namespace mlir::tessera;

static constexpr uint32_t decorationLinkageAttributes = 41,
                          capabilityLinkage = 5;

static std::optional<ImportedInstruction> findInstruction(StringRef name) {
  if (std::optional<ImportedInstruction> found = findSubgroupInstruction(name))
    return found;
  return findMatrixInstruction(name);
}

void mlir::tessera::useImportedInstructions(SmallVectorImpl<uint32_t> &words) {
  // Texts are those of the words, which are kept until the end.
  const SmallVector<uint32_t> module(words.begin(), words.end());
  llvm::DenseMap<uint32_t, ImportedInstruction> functions;
  llvm::StringMap<uint32_t> named;
  std::set<uint32_t> capabilities;
  std::set<StringRef> extensions;
  bool otherLinkage = false;
  forEachSpirvInstruction(module, [&](uint32_t opcode, ArrayRef<uint32_t> all) {
    if (opcode == OpName && all.size() > 2)
      named[readSpirvText(all.drop_front(2))] = all[1];
    if (opcode != OpDecorate || all.size() < 4 ||
        all[2] != decorationLinkageAttributes)
      return;
    std::optional<ImportedInstruction> instruction =
        findInstruction(readSpirvText(all.drop_front(3)));
    if (!instruction) {
      otherLinkage = true;
      return;
    }
    capabilities.insert(instruction->capabilities.begin(),
                        instruction->capabilities.end());
    extensions.insert(instruction->extension);
    functions.insert({all[1], std::move(*instruction)});
  });
  if (functions.empty())
    return;

  SmallVector<uint32_t> result(module.begin(),
                               module.begin() + spirvHeaderWords);
  bool declared = false, inFunction = false;
  forEachSpirvInstruction(module, [&](uint32_t opcode, ArrayRef<uint32_t> all) {
    if (opcode != OpCapability && !declared) {
      // Capabilities come first, followed by extensions.
      declared = true;
      for (uint32_t capability : capabilities)
        appendSpirvInstruction(result, OpCapability, {capability});
      for (StringRef extension : extensions)
        appendSpirvInstruction(result, OpExtension, {}, extension);
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
    const ImportedInstruction &instruction = called->second;
    SmallVector<uint32_t> operands;
    if (instruction.hasResult)
      operands.append({all[1], all[2]});
    operands.append(all.begin() + 4, all.end());
    if (instruction.literal)
      operands.push_back(*instruction.literal);
    if (!instruction.function.empty())
      operands.push_back(named.lookup(instruction.function));
    appendSpirvInstruction(result, instruction.opcode, operands);
  });
  words = std::move(result);
}
