//===- KernelFacts.cpp - Facts about the kernels of a module --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/KernelFacts.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "SpirvWords.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::tessera;
using spirv::Decoration;
using spirv::Opcode;

namespace {
/// With the usual number of registers per hardware thread, an execution unit
/// runs 8 threads.
constexpr int64_t usualRegisters = 128, usualThreads = 8;
} // namespace

void kernel_facts::writeFacts(spirv::ModuleOp module,
                              SmallVectorImpl<uint32_t> &words) {
  llvm::StringMap<spirv::FuncOp> kernels;
  for (auto function : module.getOps<spirv::FuncOp>())
    if (function->hasAttr(TesseraDialect::RegistersAttrHelper::getNameStr()) ||
        function->hasAttr(
            TesseraDialect::ParameterAlignmentsAttrHelper::getNameStr()))
      kernels[function.getName()] = function;
  if (kernels.empty())
    return;
  // Annotations refer to later definitions.
  llvm::DenseMap<uint32_t, spirv::FuncOp> functions;
  SmallVector<uint32_t> decorations;
  ArrayRef<int64_t> alignments;
  size_t parameter = 0;
  forEachSpirvInstruction(words, [&](uint32_t number, ArrayRef<uint32_t> all) {
    auto opcode = static_cast<Opcode>(number);
    if (opcode == Opcode::OpEntryPoint) {
      auto kernel = kernels.find(readSpirvText(all.drop_front(3)));
      if (kernel != kernels.end())
        functions[all[2]] = kernel->second;
    } else if (opcode == Opcode::OpFunction) {
      alignments = {};
      parameter = 0;
      spirv::FuncOp function = functions.lookup(all[2]);
      if (!function)
        return;
      if (auto known = function->getAttrOfType<DenseI64ArrayAttr>(
              TesseraDialect::ParameterAlignmentsAttrHelper::getNameStr()))
        alignments = known;
      if (auto registers = function->getAttrOfType<IntegerAttr>(
              TesseraDialect::RegistersAttrHelper::getNameStr()))
        appendSpirvInstruction(
            decorations, OpDecorateString,
            {all[2], static_cast<uint32_t>(Decoration::UserSemantic)},
            "num-thread-per-eu " +
                std::to_string(usualThreads * usualRegisters /
                               registers.getInt()));
    } else if (opcode == Opcode::OpFunctionParameter) {
      if (parameter < alignments.size() && alignments[parameter])
        appendSpirvInstruction(
            decorations, static_cast<uint32_t>(Opcode::OpDecorate),
            {all[2], static_cast<uint32_t>(Decoration::Alignment),
             static_cast<uint32_t>(alignments[parameter])});
      ++parameter;
    }
  });
  // Types and all later sections follow the annotations.
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
