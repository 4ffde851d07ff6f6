//===- Disassembly.cpp - SPIR-V as text -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPIRV-Tools disassembles, and stops at the first instruction that it does not
// know: Debian's are older than cooperative matrices. A stand-in of the same
// ids takes the place of such an instruction, and its line of the text becomes
// that of the instruction:
//
//   %r = OpCooperativeMatrixMulAddKHR %t %a %b %c <3>
//     -> %r = OpCompositeConstruct %t %a %b %c         disassembled
//     -> %r = OpCooperativeMatrixMulAddKHR %t %a %b %c
//             MatrixASignedComponentsKHR|MatrixBSignedComponentsKHR
//
//===----------------------------------------------------------------------===//

#include "Disassembly.h"
#include "SpirvWords.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include "spirv-tools/libspirv.h"
#include <memory>

using namespace mlir;
using namespace mlir::tessera;

namespace {

constexpr uint32_t capabilityShader = 1;

/// How an operand is printed.
enum class Kind {
  Id,
  /// Ids up to the end.
  Ids,
  /// A mask of memory operands, with what its bits ask for.
  Memory,
  /// Masks of the operands of a matrix instruction.
  MatmulKHR,
  MatmulINTEL,
  /// That of a reduction.
  ReduceNV
};

/// An instruction newer than SPIRV-Tools of 2023: from
/// SPV_KHR_cooperative_matrix, SPV_NV_cooperative_matrix2,
/// SPV_INTEL_subgroup_matrix_multiply_accumulate and SPV_INTEL_2d_block_io.
struct Newer {
  uint32_t opcode;
  StringRef name;
  bool hasType, hasResult;
  /// The operands after these; the last ones may be missing.
  ArrayRef<Kind> operands;
};

constexpr Kind typeKinds[] = {Kind::Id, Kind::Id, Kind::Id, Kind::Id, Kind::Id};
constexpr Kind loadKinds[] = {Kind::Id, Kind::Id, Kind::Id, Kind::Memory};
constexpr Kind storeKinds[] = {Kind::Id, Kind::Id, Kind::Id, Kind::Id,
                               Kind::Memory};
constexpr Kind matmulKinds[] = {Kind::Id, Kind::Id, Kind::Id, Kind::MatmulKHR};
constexpr Kind lengthKinds[] = {Kind::Id};
constexpr Kind reduceKinds[] = {Kind::Id, Kind::ReduceNV, Kind::Id};
constexpr Kind convertKinds[] = {Kind::Id};
constexpr Kind elementKinds[] = {Kind::Id, Kind::Ids};
constexpr Kind dpasKinds[] = {Kind::Id, Kind::Id, Kind::Id, Kind::Id,
                              Kind::MatmulINTEL};
constexpr Kind blockKinds[] = {Kind::Ids};

const Newer newerInstructions[] = {
    {4456, "OpTypeCooperativeMatrixKHR", false, true, typeKinds},
    {4457, "OpCooperativeMatrixLoadKHR", true, true, loadKinds},
    {4458, "OpCooperativeMatrixStoreKHR", false, false, storeKinds},
    {4459, "OpCooperativeMatrixMulAddKHR", true, true, matmulKinds},
    {4460, "OpCooperativeMatrixLengthKHR", true, true, lengthKinds},
    {5293, "OpCooperativeMatrixConvertNV", true, true, convertKinds},
    {5366, "OpCooperativeMatrixReduceNV", true, true, reduceKinds},
    {5369, "OpCooperativeMatrixPerElementOpNV", true, true, elementKinds},
    {6231, "OpSubgroup2DBlockLoadINTEL", false, false, blockKinds},
    {6232, "OpSubgroup2DBlockLoadTransformINTEL", false, false, blockKinds},
    {6233, "OpSubgroup2DBlockLoadTransposeINTEL", false, false, blockKinds},
    {6234, "OpSubgroup2DBlockPrefetchINTEL", false, false, blockKinds},
    {6235, "OpSubgroup2DBlockStoreINTEL", false, false, blockKinds},
    {6237, "OpSubgroupMatrixMultiplyAccumulateINTEL", true, true, dpasKinds},
};

/// Capabilities that upstream's dialect has no name for either.
const std::pair<uint32_t, StringRef> newerCapabilities[] = {
    {5430, "CooperativeMatrixReductionsNV"},
    {5431, "CooperativeMatrixConversionsNV"},
    {5432, "CooperativeMatrixPerElementOperationsNV"},
    {6228, "Subgroup2DBlockIOINTEL"},
    {6229, "Subgroup2DBlockTransformINTEL"},
    {6230, "Subgroup2DBlockTransposeINTEL"},
    {6236, "SubgroupMatrixMultiplyAccumulateINTEL"},
};

const StringRef matmulBitsKHR[] = {
    "MatrixASignedComponentsKHR", "MatrixBSignedComponentsKHR",
    "MatrixCSignedComponentsKHR", "MatrixResultSignedComponentsKHR",
    "SaturatingAccumulationKHR"};
const StringRef matmulBitsINTEL[] = {"MatrixASignedComponentsINTEL",
                                     "MatrixBSignedComponentsINTEL",
                                     "MatrixCBFloat16INTEL",
                                     "MatrixResultBFloat16INTEL",
                                     "MatrixAPackedInt8INTEL",
                                     "MatrixBPackedInt8INTEL",
                                     "MatrixAPackedInt4INTEL",
                                     "MatrixBPackedInt4INTEL",
                                     "MatrixATF32INTEL",
                                     "MatrixBTF32INTEL",
                                     "MatrixAPackedFloat16INTEL",
                                     "MatrixBPackedFloat16INTEL",
                                     "MatrixAPackedBFloat16INTEL",
                                     "MatrixBPackedBFloat16INTEL"};
const StringRef reduceBits[] = {"Row", "Column", "2x2"};
const StringRef memoryBits[] = {"Volatile",           "Aligned",
                                "Nontemporal",        "MakePointerAvailable",
                                "MakePointerVisible", "NonPrivatePointer"};
constexpr uint32_t memoryAligned = 2, memoryAvailable = 8, memoryVisible = 16;

/// The position of an instruction among the words of its module.
struct Position {
  size_t first, length;
};

} // namespace

static const Newer *findNewer(uint32_t opcode) {
  const Newer *found = llvm::find_if(newerInstructions, [&](const Newer &row) {
    return row.opcode == opcode;
  });
  return found == std::end(newerInstructions) ? nullptr : found;
}

/// "A|B", or a number where a bit has no name.
static std::string printMask(uint32_t mask, ArrayRef<StringRef> names) {
  if (mask == 0)
    return "None";
  if (mask >> names.size())
    return std::to_string(mask);
  SmallVector<StringRef> set;
  for (auto [bit, name] : llvm::enumerate(names))
    if (mask >> bit & 1)
      set.push_back(name);
  return llvm::join(set, "|");
}

/// The operands of `all` that `row` describes: ids as "%", other text as it is
/// printed. Appends the ids. False if the operands do not match it.
static bool readOperands(const Newer &row, ArrayRef<uint32_t> all,
                         SmallVectorImpl<uint32_t> &ids,
                         SmallVectorImpl<std::string> &operands) {
  ArrayRef<uint32_t> rest = all.drop_front(
      std::min<size_t>(all.size(), 1 + row.hasType + row.hasResult));
  auto takeId = [&] {
    ids.push_back(rest.front());
    operands.push_back("%");
    rest = rest.drop_front();
  };
  for (Kind kind : row.operands) {
    if (rest.empty())
      return true;
    uint32_t word = rest.front();
    switch (kind) {
    case Kind::Id:
      takeId();
      break;
    case Kind::Ids:
      while (!rest.empty())
        takeId();
      break;
    case Kind::Memory:
      operands.push_back(printMask(word, memoryBits));
      rest = rest.drop_front();
      if ((word & memoryAligned) && !rest.empty()) {
        operands.push_back(std::to_string(rest.front()));
        rest = rest.drop_front();
      }
      for (uint32_t bit : {memoryAvailable, memoryVisible})
        if ((word & bit) && !rest.empty())
          takeId();
      break;
    case Kind::MatmulKHR:
      operands.push_back(printMask(word, matmulBitsKHR));
      rest = rest.drop_front();
      break;
    case Kind::ReduceNV:
      operands.push_back(printMask(word, reduceBits));
      rest = rest.drop_front();
      break;
    case Kind::MatmulINTEL:
      operands.push_back(printMask(word, matmulBitsINTEL));
      rest = rest.drop_front();
      break;
    }
  }
  return rest.empty();
}

/// Appends an instruction that SPIRV-Tools knows, of the same ids as `all`.
static void appendStandIn(ArrayRef<uint32_t> all,
                          SmallVectorImpl<uint32_t> &words) {
  uint32_t opcode = all[0] & 0xffff;
  if (opcode == OpCapability) {
    appendSpirvInstruction(words, OpCapability, {capabilityShader});
    return;
  }
  // A float of another encoding (SPV_KHR_bfloat16).
  if (opcode == OpTypeFloat && all.size() == 4) {
    appendSpirvInstruction(words, OpTypeFloat, all.slice(1, 2));
    return;
  }
  const Newer *row = findNewer(opcode);
  SmallVector<uint32_t> ids;
  SmallVector<std::string> operands;
  size_t results = row ? row->hasType + row->hasResult : 0;
  if (row && all.size() > results + 1 &&
      readOperands(*row, all, ids, operands)) {
    ids.insert(ids.begin(), all.begin() + 1, all.begin() + 1 + results);
    appendSpirvInstruction(words,
                           row->hasType     ? OpCompositeConstruct
                           : row->hasResult ? OpTypeFunction
                                            : OpGroupDecorate,
                           ids);
    return;
  }
  appendSpirvInstruction(words, OpNop, {});
}

/// The line of `all`, from that of its stand-in.
static std::string replaceLine(ArrayRef<uint32_t> all, StringRef line) {
  uint32_t opcode = all[0] & 0xffff;
  size_t start = line.find("Op");
  StringRef before = line.take_front(start == StringRef::npos ? 0 : start);
  if (opcode == OpCapability && all.size() == 2) {
    const auto *known = llvm::find_if(newerCapabilities, [&](const auto &row) {
      return row.first == all[1];
    });
    StringRef name = known != std::end(newerCapabilities)
                         ? known->second
                         : spirv::stringifyCapability(
                               static_cast<spirv::Capability>(all[1]));
    return (before + "OpCapability " +
            (name.empty() ? std::to_string(all[1]) : name.str()))
        .str();
  }
  if (opcode == OpTypeFloat && all.size() == 4)
    return (line +
            (all[3] == 0 ? " BFloat16KHR" : " " + std::to_string(all[3])))
        .str();
  const Newer *row = findNewer(opcode);
  SmallVector<uint32_t> ids;
  SmallVector<std::string> operands;
  if (!row || line.contains("OpNop") ||
      !readOperands(*row, all, ids, operands)) {
    std::string text =
        (before + "; not known to SPIRV-Tools of the compiler's build:").str();
    for (uint32_t word : all)
      text += llvm::formatv(" {0:x8}", word);
    return text;
  }
  SmallVector<StringRef> tokens;
  line.drop_front(before.size()).split(tokens, ' ', -1, /*KeepEmpty=*/false);
  ArrayRef<StringRef> printed = ArrayRef(tokens).drop_front();
  std::string text = (before + row->name).str();
  auto appendId = [&] {
    if (printed.empty())
      return;
    text += " " + printed.front().str();
    printed = printed.drop_front();
  };
  if (row->hasType)
    appendId();
  for (const std::string &operand : operands) {
    if (operand == "%")
      appendId();
    else
      text += " " + operand;
  }
  return text;
}

/// Whether `other` is as unknown as `unknown` is: findings about one
/// instruction hold for all of its kind.
static bool isOfKind(ArrayRef<uint32_t> other, ArrayRef<uint32_t> unknown) {
  return (other[0] & 0xffff) == (unknown[0] & 0xffff) &&
         findNewer(unknown[0] & 0xffff);
}

std::string mlir::tessera::disassembleSpirv(ArrayRef<uint32_t> words) {
  SmallVector<Position> positions;
  size_t at = std::min(spirvHeaderWords, words.size());
  forEachSpirvInstruction(words, [&](uint32_t, ArrayRef<uint32_t> all) {
    positions.push_back({at, all.size()});
    at += all.size();
  });
  auto get = [&](size_t i) {
    return words.slice(positions[i].first, positions[i].length);
  };
  std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6), spvContextDestroy);
  llvm::SmallVector<bool> replaced(positions.size(), false);
  while (true) {
    SmallVector<uint32_t> known(words.take_front(spirvHeaderWords));
    for (size_t i = 0; i < positions.size(); ++i) {
      if (replaced[i])
        appendStandIn(get(i), known);
      else
        llvm::append_range(known, get(i));
    }
    spv_text text = nullptr;
    spv_diagnostic diagnostic = nullptr;
    spv_result_t result =
        spvBinaryToText(context.get(), known.data(), known.size(),
                        SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES |
                            SPV_BINARY_TO_TEXT_OPTION_INDENT,
                        &text, &diagnostic);
    // The number of the instruction, from 1 on.
    size_t number = diagnostic ? diagnostic->position.index : 0;
    std::string why = diagnostic && diagnostic->error ? diagnostic->error : "";
    spvDiagnosticDestroy(diagnostic);
    if (result == SPV_SUCCESS) {
      std::string printed(text->str, text->length);
      spvTextDestroy(text);
      std::string all;
      size_t next = 0;
      for (StringRef line : llvm::split(StringRef(printed).rtrim('\n'), '\n')) {
        bool isInstruction = !line.starts_with(";");
        if (isInstruction && next < positions.size() && replaced[next])
          all += replaceLine(get(next), line);
        else
          all += line.str();
        next += isInstruction;
        all += '\n';
      }
      return all;
    }
    spvTextDestroy(text);
    if (number == 0 || number > positions.size() || replaced[number - 1])
      return "; SPIRV-Tools cannot disassemble the module: " + why + "\n";
    for (size_t i = 0; i < positions.size(); ++i)
      if (i + 1 == number || isOfKind(get(i), get(number - 1)))
        replaced[i] = true;
  }
}
