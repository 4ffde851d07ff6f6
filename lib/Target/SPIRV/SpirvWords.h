//===- SpirvWords.h - The words of a module ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "SPIR-V Specification", section 2.3, "Physical Layout of a SPIR-V Module and
// Instruction".
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_SPIRVWORDS_H
#define LIB_TARGET_SPIRVWORDS_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>
#include <optional>

namespace mlir::tessera {

/// Words before the first instruction.
constexpr size_t spirvHeaderWords = 5;

/// The opcodes of "SPIR-V Specification", section 3.42, that code on words
/// uses; upstream's enumeration lacks some of them. The last one is that of
/// SPV_INTEL_subgroup_matrix_multiply_accumulate, as is its capability.
enum SpirvOpcode : uint32_t {
  OpNop = 0,
  OpName = 5,
  OpExtension = 10,
  OpCapability = 17,
  OpTypeFloat = 22,
  OpTypeFunction = 33,
  OpFunction = 54,
  OpFunctionEnd = 56,
  OpFunctionCall = 57,
  OpDecorate = 71,
  OpGroupDecorate = 74,
  OpCompositeConstruct = 80,
  OpDecorateString = 5632,
  OpSubgroupMatrixMultiplyAccumulateINTEL = 6237,
};

/// The text in the words from `words[0]` on.
inline StringRef readSpirvText(ArrayRef<uint32_t> words) {
  StringRef text(reinterpret_cast<const char *>(words.data()),
                 words.size() * sizeof(uint32_t));
  return text.take_until([](char c) { return c == 0; });
}

inline void appendSpirvText(SmallVectorImpl<uint32_t> &words, StringRef text) {
  size_t first = words.size();
  words.resize(first + text.size() / sizeof(uint32_t) + 1);
  memcpy(&words[first], text.data(), text.size());
}

/// Appends an instruction of these operands, and of a text if there is one.
inline void appendSpirvInstruction(SmallVectorImpl<uint32_t> &words,
                                   uint32_t opcode, ArrayRef<uint32_t> operands,
                                   std::optional<StringRef> text = {}) {
  size_t first = words.size();
  words.push_back(0);
  words.append(operands.begin(), operands.end());
  if (text)
    appendSpirvText(words, *text);
  words[first] = opcode | static_cast<uint32_t>(words.size() - first) << 16;
}

/// Calls `visit` for each instruction: its opcode and its words.
template <typename Visit>
void forEachSpirvInstruction(ArrayRef<uint32_t> words, Visit visit) {
  for (size_t at = spirvHeaderWords; at < words.size();) {
    size_t length = std::max<size_t>(words[at] >> 16, 1);
    visit(words[at] & 0xffff,
          words.slice(at, std::min(length, words.size() - at)));
    at += length;
  }
}

} // namespace mlir::tessera

#endif // LIB_TARGET_SPIRVWORDS_H
