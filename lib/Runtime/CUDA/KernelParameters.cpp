//===- KernelParameters.cpp - Parameters of a CUDA kernel -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelParameters.h"

#include <cstdint>
#include <cstring>

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
  for (size_t place = ptx.find(directive); place != std::string_view::npos;
       place = ptx.find(directive, place)) {
    place += directive.size();
    if (place >= ptx.size() || !isSpace(ptx[place]))
      continue;
    while (place < ptx.size() && isSpace(ptx[place]))
      ++place;
    size_t begin = place;
    while (place < ptx.size() && !isSpace(ptx[place]) && ptx[place] != '(' &&
           ptx[place] != '{')
      ++place;
    std::string name(ptx.substr(begin, place - begin));
    while (place < ptx.size() && isSpace(ptx[place]))
      ++place;
    size_t count = 0;
    if (place < ptx.size() && ptx[place] == '(') {
      size_t end = ptx.find(')', place);
      if (end == std::string_view::npos)
        return counts;
      std::string_view list = ptx.substr(place, end - place);
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

namespace {
/// Reads values at offsets; zeros past the end.
class Bytes {
public:
  explicit Bytes(std::string_view bytes) : bytes(bytes) {}

  template <typename T> T read(uint64_t offset) const {
    T value = 0;
    if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset)
      std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }
  std::string_view part(uint64_t offset, uint64_t size) const {
    if (offset > bytes.size() || size > bytes.size() - offset)
      return {};
    return bytes.substr(offset, size);
  }

private:
  std::string_view bytes;
};
} // namespace

/// The entries of a section .nv.info.KERNEL: a format, an attribute, and two
/// bytes, which for one of the formats are the size of what follows.
static std::optional<size_t> countInInfo(std::string_view section) {
  constexpr uint8_t sized = 4, parameterInfo = 0x17, parameterBytes = 0x19;
  Bytes bytes(section);
  size_t count = 0;
  uint16_t totalBytes = 0;
  for (uint64_t place = 0; place + 4 <= section.size();) {
    auto format = bytes.read<uint8_t>(place);
    auto attribute = bytes.read<uint8_t>(place + 1);
    auto value = bytes.read<uint16_t>(place + 2);
    if (format < 1 || format > sized)
      return std::nullopt;
    if (format == sized && attribute == parameterInfo)
      ++count;
    if (format != sized && attribute == parameterBytes)
      totalBytes = value;
    place += 4 + (format == sized ? value : 0);
  }
  // Parameters, but described in another way.
  if (count == 0 && totalBytes != 0)
    return std::nullopt;
  return count;
}

static Counts countInCubin(std::string_view cubin) {
  Counts counts;
  Bytes bytes(cubin);
  // The 64-bit header contains where the sections' headers are, how many and
  // how large they are, and which section has the names.
  auto table = bytes.read<uint64_t>(0x28);
  auto headerBytes = bytes.read<uint16_t>(0x3a);
  auto numSections = bytes.read<uint16_t>(0x3c);
  auto nameIndex = bytes.read<uint16_t>(0x3e);
  constexpr std::string_view prefix = ".nv.info.";
  auto section = [&](uint64_t index) {
    uint64_t header = table + index * headerBytes;
    return bytes.part(bytes.read<uint64_t>(header + 0x18),
                      bytes.read<uint64_t>(header + 0x20));
  };
  std::string_view names = section(nameIndex);
  for (uint64_t index = 0; index < numSections; ++index) {
    auto place = bytes.read<uint32_t>(table + index * headerBytes);
    if (place >= names.size())
      continue;
    std::string_view name = names.substr(place);
    name = name.substr(0, name.find('\0'));
    if (name.substr(0, prefix.size()) != prefix)
      continue;
    if (std::optional<size_t> count = countInInfo(section(index)))
      counts[std::string(name.substr(prefix.size()))] = *count;
  }
  return counts;
}

Counts tessera::runtime::countKernelParameters(std::string_view image) {
  constexpr std::string_view elf = "\x7f"
                                   "ELF";
  return image.substr(0, elf.size()) == elf ? countInCubin(image)
                                            : countInPtx(image);
}
