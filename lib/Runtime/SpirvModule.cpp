//===- SpirvModule.cpp - Kernels of a SPIR-V module -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are those of the SPIR-V Specification, sections 2.3 ("Physical Layout
// of a SPIR-V Module"), 3.3 (instructions), 3.6 (execution modes) and 3.20
// (decorations).
//
//===----------------------------------------------------------------------===//

#include "SpirvModule.h"
#include "SpirvOpcodes.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

using namespace tessera::runtime;

/// The words of the first module in `words`: up to the next one. 0 where an
/// instruction ends beyond the last word.
static size_t getModuleLength(const uint32_t *words, size_t count) {
  if (count < headerWords || words[0] != spirvMagic)
    return 0;
  size_t at = headerWords;
  while (at < count && words[at] != spirvMagic) {
    uint32_t length = words[at] >> 16;
    if (length == 0 || at + length > count)
      return 0;
    at += length;
  }
  return std::min(at, count);
}

/// The text from word `at` on, which ends before word `end`.
static std::string readText(const std::vector<uint32_t> &words, size_t at,
                            size_t end) {
  std::string text;
  for (; at < end; ++at)
    for (int byte = 0; byte < 4; ++byte) {
      char letter = static_cast<char>(words[at] >> (8 * byte) & 0xff);
      if (!letter)
        return text;
      text += letter;
    }
  return text;
}

/// The variables in the interface of the OpEntryPoint in words `at` to `end`.
static std::vector<uint32_t> readInterface(const std::vector<uint32_t> &words,
                                           size_t at, size_t end) {
  // The name ends with a zero byte.
  size_t first = at + 3;
  while (first < end && words[first] >> 24 != 0)
    ++first;
  std::vector<uint32_t> variables;
  while (++first < end)
    variables.push_back(words[first]);
  return variables;
}

static std::vector<SpirvKernel>
readKernels(const std::vector<uint32_t> &words) {
  std::vector<std::pair<uint32_t, SpirvKernel>> kernels;
  std::unordered_map<uint32_t, SpirvParameter> types;
  std::unordered_map<uint32_t, int64_t> alignments;
  // By the order of the kernels.
  std::vector<std::vector<uint32_t>> interfaces;
  // From a variable of push constants to its pointer's type, the struct, the
  // array and the constant that is its length.
  std::unordered_map<uint32_t, uint32_t> parts, constants;
  auto find = [&](uint32_t id) -> SpirvKernel * {
    for (auto &[function, kernel] : kernels)
      if (function == id)
        return &kernel;
    return nullptr;
  };
  SpirvKernel *function = nullptr;
  uint32_t length = 0;
  for (size_t at = headerWords; at < words.size(); at += length) {
    length = words[at] >> 16;
    auto word = [&](uint32_t i) { return i < length ? words[at + i] : 0; };
    switch (words[at] & 0xffff) {
    case opEntryPoint:
      kernels.emplace_back(word(2), SpirvKernel());
      kernels.back().second.name = readText(words, at + 3, at + length);
      interfaces.push_back(readInterface(words, at, at + length));
      break;
    case opExecutionMode:
      if (SpirvKernel *kernel = find(word(1))) {
        if (word(2) == modeLocalSize)
          kernel->block = {word(3), word(4), word(5)};
        else if (word(2) == modeSubgroupSize)
          kernel->subgroupSize = word(3);
      }
      break;
    case opTypeInt:
    case opTypeFloat:
      types[word(1)] = {false, word(2) / 8};
      break;
    case opTypePointer:
      types[word(1)] = {true, 8};
      if (word(2) == storagePushConstant)
        parts[word(1)] = word(3);
      break;
    case opTypeArray:
      parts[word(1)] = word(3);
      break;
    case opTypeStruct:
      if (length == 3)
        parts[word(1)] = word(2);
      break;
    case opConstant:
      constants[word(2)] = word(3);
      break;
    case opVariable:
      if (word(3) == storagePushConstant)
        parts[word(2)] = word(1);
      break;
    case opFunction:
      function = find(word(2));
      break;
    case opFunctionParameter:
      if (function) {
        function->parameters.push_back(types[word(1)]);
        auto alignment = alignments.find(word(2));
        if (alignment != alignments.end() && alignment->second > 0)
          function->parameters.back().alignment = alignment->second;
      }
      break;
    case opDecorate:
      if (word(2) == decorationAlignment)
        alignments[word(1)] = word(3);
      break;
    default:
      break;
    }
  }
  std::vector<SpirvKernel> result;
  result.reserve(kernels.size());
  for (auto &[id, kernel] : kernels) {
    for (uint32_t variable : interfaces[result.size()]) {
      uint32_t last = variable;
      // No part contains itself in valid code.
      for (int depth = 0; depth < 4 && parts.count(last); ++depth)
        last = parts[last];
      if (last != variable && constants.count(last))
        kernel.pushedArguments = constants[last];
    }
    result.push_back(std::move(kernel));
  }
  return result;
}

static std::vector<uint32_t>
readCapabilities(const std::vector<uint32_t> &words) {
  std::vector<uint32_t> capabilities;
  // They come first.
  for (size_t at = headerWords; at + 1 < words.size(); at += words[at] >> 16) {
    if (words[at] != (2U << 16 | opCapability))
      break;
    capabilities.push_back(words[at + 1]);
  }
  return capabilities;
}

Expected<std::vector<SpirvModule>>
tessera::runtime::readSpirv(std::string_view bytes) {
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  if (!words.empty())
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  auto reject = [] {
    return Status(StatusCode::InvalidArgument, "not SPIR-V, or truncated");
  };
  if (bytes.size() % sizeof(uint32_t))
    return reject();
  std::vector<SpirvModule> modules;
  size_t length = 0;
  for (size_t at = 0; at < words.size(); at += length) {
    length = getModuleLength(words.data() + at, words.size() - at);
    if (length == 0)
      return reject();
    SpirvModule module;
    module.words.assign(words.begin() + static_cast<ptrdiff_t>(at),
                        words.begin() + static_cast<ptrdiff_t>(at + length));
    module.capabilities = readCapabilities(module.words);
    module.kernels = readKernels(module.words);
    modules.push_back(std::move(module));
  }
  return modules;
}
