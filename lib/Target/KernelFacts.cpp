//===- KernelFacts.cpp - What a module says of its kernels ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/KernelFacts.h"
#include "SpirvWords.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// "SPIR-V Specification", sections 3.42, 3.20 ("Decoration").
enum : uint32_t {
  OpEntryPoint = 15,
  OpFunction = 54,
  OpFunctionParameter = 55,
  OpDecorate = 71,
  OpDecorateString = 5632,
  DecorationAlignment = 44,
  DecorationUserSemantic = 5635,
};
/// Of a hardware thread's usual registers an execution unit runs 8.
constexpr int64_t usualRegisters = 128, usualThreads = 8;
} // namespace

void kernel_facts::writeFacts(spirv::ModuleOp module,
                              SmallVectorImpl<uint32_t> &words) {
  llvm::StringMap<spirv::FuncOp> kernels;
  for (auto function : module.getOps<spirv::FuncOp>())
    if (function->hasAttr(registersAttrName) ||
        function->hasAttr(alignmentsAttrName))
      kernels[function.getName()] = function;
  if (kernels.empty())
    return;
  // Annotations name what is defined behind them.
  llvm::DenseMap<uint32_t, spirv::FuncOp> functions;
  SmallVector<uint32_t> decorations;
  ArrayRef<int64_t> alignments;
  size_t parameter = 0;
  forEachSpirvInstruction(words, [&](uint32_t opcode, ArrayRef<uint32_t> all) {
    if (opcode == OpEntryPoint) {
      auto kernel = kernels.find(readSpirvText(all.drop_front(3)));
      if (kernel != kernels.end())
        functions[all[2]] = kernel->second;
    } else if (opcode == OpFunction) {
      alignments = {};
      parameter = 0;
      spirv::FuncOp function = functions.lookup(all[2]);
      if (!function)
        return;
      if (auto known =
              function->getAttrOfType<DenseI64ArrayAttr>(alignmentsAttrName))
        alignments = known;
      if (auto registers =
              function->getAttrOfType<IntegerAttr>(registersAttrName))
        appendSpirvInstruction(
            decorations, OpDecorateString, {all[2], DecorationUserSemantic},
            "num-thread-per-eu " +
                std::to_string(usualThreads * usualRegisters /
                               registers.getInt()));
    } else if (opcode == OpFunctionParameter) {
      if (parameter < alignments.size() && alignments[parameter])
        appendSpirvInstruction(decorations, OpDecorate,
                               {all[2], DecorationAlignment,
                                static_cast<uint32_t>(alignments[parameter])});
      ++parameter;
    }
  });
  // Types and all that follows stand behind annotations.
  SmallVector<uint32_t> result(words.begin(), words.begin() + spirvHeaderWords);
  bool written = false;
  forEachSpirvInstruction(words, [&](uint32_t opcode, ArrayRef<uint32_t> all) {
    constexpr uint32_t firstType = 19, lastType = 39;
    if (!written && opcode >= firstType && opcode <= lastType) {
      written = true;
      result.append(decorations);
    }
    result.append(all.begin(), all.end());
  });
  words = std::move(result);
}
