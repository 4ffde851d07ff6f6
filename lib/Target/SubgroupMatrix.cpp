//===- SubgroupMatrix.cpp - Matrix products of Intel's extension ----------===//
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
//
//===----------------------------------------------------------------------===//

#include "Target/SubgroupMatrix.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::subgroup_matrix;

static constexpr llvm::StringLiteral extensionName =
    "SPV_INTEL_subgroup_matrix_multiply_accumulate";

namespace {

/// "SPIR-V Specification", section 3.42; the last one is the extension's, as is
/// its capability.
enum Opcode : uint32_t {
  OpName = 5,
  OpExtension = 10,
  OpCapability = 17,
  OpFunction = 54,
  OpFunctionEnd = 56,
  OpFunctionCall = 57,
  OpDecorate = 71,
  OpSubgroupMatrixMultiplyAccumulateINTEL = 6237,
};
constexpr uint32_t decorationLinkageAttributes = 41;
constexpr uint32_t capabilitySubgroupMatrixMultiplyAccumulateINTEL = 6236;
constexpr uint32_t capabilityLinkage = 5;
/// Words before the first instruction.
constexpr size_t headerWords = 5;

} // namespace

/// The text in the words from `words[0]` on.
static StringRef readText(ArrayRef<uint32_t> words) {
  StringRef text(reinterpret_cast<const char *>(words.data()),
                 words.size() * sizeof(uint32_t));
  return text.take_until([](char c) { return c == 0; });
}

static void appendText(SmallVectorImpl<uint32_t> &words, StringRef text) {
  size_t first = words.size();
  words.resize(first + text.size() / sizeof(uint32_t) + 1);
  memcpy(&words[first], text.data(), text.size());
}

/// Calls `visit` for each instruction: its opcode and its words.
template <typename Visit>
static void forEachInstruction(ArrayRef<uint32_t> words, Visit visit) {
  for (size_t at = headerWords; at < words.size();) {
    size_t length = std::max<size_t>(words[at] >> 16, 1);
    visit(words[at] & 0xffff,
          words.slice(at, std::min(length, words.size() - at)));
    at += length;
  }
}

void subgroup_matrix::useInstructions(SmallVectorImpl<uint32_t> &words) {
  // The functions, and the literals of their calls.
  llvm::DenseMap<uint32_t, uint32_t> functions;
  bool otherLinkage = false;
  forEachInstruction(words, [&](uint32_t opcode, ArrayRef<uint32_t> all) {
    if (opcode != OpDecorate || all.size() < 4 ||
        all[2] != decorationLinkageAttributes)
      return;
    StringRef name = readText(all.drop_front(3));
    uint32_t operands;
    if (name.consume_front(functionPrefix) &&
        !name.consumeInteger(10, operands))
      functions[all[1]] = operands;
    else
      otherLinkage = true;
  });
  if (functions.empty())
    return;

  SmallVector<uint32_t> result(words.begin(), words.begin() + headerWords);
  bool declared = false, inFunction = false;
  forEachInstruction(words, [&](uint32_t opcode, ArrayRef<uint32_t> all) {
    if (opcode != OpCapability && !declared) {
      // Capabilities stand first, extensions behind them.
      declared = true;
      result.append({OpCapability | 2 << 16,
                     capabilitySubgroupMatrixMultiplyAccumulateINTEL});
      size_t first = result.size();
      result.push_back(0);
      appendText(result, extensionName);
      result[first] = OpExtension | static_cast<uint32_t>(result.size() - first)
                                        << 16;
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
    // The literal stands behind the operands, so that the length is the same.
    result.push_back(OpSubgroupMatrixMultiplyAccumulateINTEL |
                     static_cast<uint32_t>(all.size()) << 16);
    result.append({all[1], all[2]});
    result.append(all.begin() + 4, all.end());
    result.push_back(called->second);
  });
  words = std::move(result);
}
