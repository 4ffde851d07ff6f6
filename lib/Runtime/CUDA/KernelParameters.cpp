//===- KernelParameters.cpp - Parameters of a CUDA kernel -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelParameters.h"

#include "../ReadBytes.h"

#include <elf.h>
#include <optional>

using namespace tessera::runtime;

using Counts = std::unordered_map<std::string, size_t>;

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

static bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// ".entry name(.param .u64 a, .param .u64 b)", or ".entry name" without any.
static Counts countInPtx(std::string_view ptx) {
  Counts counts;
  constexpr std::string_view directive = ".entry", parameter = ".param";
  for (size_t position = ptx.find(directive);
       position != std::string_view::npos;
       position = ptx.find(directive, position)) {
    position += directive.size();
    if (position >= ptx.size() || !isSpace(ptx[position]))
      continue;
    while (position < ptx.size() && isSpace(ptx[position]))
      ++position;
    size_t begin = position;
    while (position < ptx.size() && !isSpace(ptx[position]) &&
           ptx[position] != '(' && ptx[position] != '{')
      ++position;
    std::string name(ptx.substr(begin, position - begin));
    while (position < ptx.size() && isSpace(ptx[position]))
      ++position;
    size_t count = 0;
    if (position < ptx.size() && ptx[position] == '(') {
      size_t end = ptx.find(')', position);
      if (end == std::string_view::npos)
        return counts;
      std::string_view list = ptx.substr(position, end - position);
      // A comment may contain anything.
      if (list.find("//") != std::string_view::npos ||
          list.find("/*") != std::string_view::npos)
        continue;
      for (size_t found = list.find(parameter); found != std::string_view::npos;
           found = list.find(parameter, found + parameter.size()))
        ++count;
    }
    counts[name] = count;
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Cubins
//===----------------------------------------------------------------------===//

/// An entry of a section .nv.info.KERNEL. For one of the formats, `value` is
/// the size of what follows.
struct InfoEntry {
  uint8_t format, attribute;
  uint16_t value;
};

/// The parameters that a section .nv.info.KERNEL describes.
static std::optional<size_t> countInInfo(std::string_view section) {
  constexpr uint8_t sized = 4, parameterInfo = 0x17, parameterBytes = 0x19;
  size_t count = 0;
  uint16_t totalBytes = 0;
  InfoEntry entry;
  for (uint64_t offset = 0; readAt(section, offset, entry);
       offset += sizeof(entry) + (entry.format == sized ? entry.value : 0)) {
    if (entry.format < 1 || entry.format > sized)
      return std::nullopt;
    if (entry.format == sized && entry.attribute == parameterInfo)
      ++count;
    if (entry.format != sized && entry.attribute == parameterBytes)
      totalBytes = entry.value;
  }
  // Parameters, but described in another way.
  if (count == 0 && totalBytes != 0)
    return std::nullopt;
  return count;
}

static Counts countInCubin(std::string_view cubin) {
  Counts counts;
  Elf64_Ehdr header;
  if (!readAt(cubin, 0, header))
    return counts;
  auto readSection = [&](unsigned index, Elf64_Shdr &section) {
    return readAt(cubin, header.e_shoff + uint64_t(index) * sizeof(section),
                  section);
  };
  // Empty if the section is not within the file.
  auto getContents = [&](const Elf64_Shdr &section) {
    bool isInside = section.sh_offset <= cubin.size() &&
                    section.sh_size <= cubin.size() - section.sh_offset;
    return isInside ? cubin.substr(section.sh_offset, section.sh_size)
                    : std::string_view();
  };
  Elf64_Shdr section;
  if (!readSection(header.e_shstrndx, section))
    return counts;
  std::string_view names = getContents(section);
  constexpr std::string_view prefix = ".nv.info.";
  for (unsigned index = 0; index < header.e_shnum; ++index) {
    if (!readSection(index, section) || section.sh_name >= names.size())
      continue;
    std::string_view name = names.substr(section.sh_name);
    name = name.substr(0, name.find('\0'));
    if (name.substr(0, prefix.size()) != prefix)
      continue;
    if (std::optional<size_t> count = countInInfo(getContents(section)))
      counts[std::string(name.substr(prefix.size()))] = *count;
  }
  return counts;
}

Counts tessera::runtime::countKernelParameters(std::string_view image) {
  constexpr std::string_view elf(ELFMAG, SELFMAG);
  return image.substr(0, elf.size()) == elf ? countInCubin(image)
                                            : countInPtx(image);
}
