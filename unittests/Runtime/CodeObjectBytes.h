//===- CodeObjectBytes.h - Code objects made for tests ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds an ELF file of an AMD GPU with a note on its kernels and no code, byte
// by byte: the parts that the runtime reads.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_CODEOBJECTBYTES_H
#define TESSERA_UNITTESTS_RUNTIME_CODEOBJECTBYTES_H

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <utility>
#include <vector>

/// MessagePack, in the widest form of each length, so that those are read too.
namespace pack {
inline std::string number(uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text += static_cast<char>(value >> shift & 0xFF);
  return text;
}
inline std::string integer(uint32_t value) {
  return value < 128 ? std::string(1, static_cast<char>(value))
                     : "\xCE" + number(value, 4);
}
inline std::string string(const std::string &text) {
  return "\xDA" + number(text.size(), 2) + text;
}
inline std::string array(const std::vector<std::string> &values) {
  std::string text = "\xDC" + number(values.size(), 2);
  for (const std::string &value : values)
    text += value;
  return text;
}
inline std::string
map(const std::vector<std::pair<std::string, std::string>> &entries) {
  std::string text = "\xDE" + number(entries.size(), 2);
  for (const auto &[key, value] : entries)
    text += string(key) + value;
  return text;
}
} // namespace pack

struct TestKernel {
  std::string name;
  /// The sizes of the arguments; HIP's implicit arguments follow them.
  std::vector<uint32_t> arguments;
  uint32_t maxThreads = 1024;
};

/// The note's own bytes.
inline std::string makeMetadata(const std::string &target,
                                const std::vector<TestKernel> &kernels) {
  std::vector<std::string> list;
  for (const TestKernel &kernel : kernels) {
    std::vector<std::string> arguments;
    for (uint32_t size : kernel.arguments)
      arguments.push_back(
          pack::map({{".size", pack::integer(size)},
                     {".value_kind", pack::string("by_value")}}));
    arguments.push_back(
        pack::map({{".size", pack::integer(4)},
                   {".value_kind", pack::string("hidden_block_count_x")}}));
    list.push_back(pack::map(
        {{".name", pack::string(kernel.name)},
         {".args", pack::array(arguments)},
         {".group_segment_fixed_size", pack::integer(1024)},
         {".private_segment_fixed_size", pack::integer(0)},
         {".max_flat_workgroup_size", pack::integer(kernel.maxThreads)},
         {".wavefront_size", pack::integer(64)},
         {".vgpr_count", pack::integer(200)},
         {".agpr_count", pack::integer(72)},
         {".sgpr_count", pack::integer(30)},
         {".vgpr_spill_count", pack::integer(3)},
         {".sgpr_spill_count", pack::integer(0)}}));
  }
  return pack::map(
      {{"amdhsa.version", pack::array({pack::integer(1), pack::integer(2)})},
       {"amdhsa.target", pack::string("amdgcn-amd-amdhsa--" + target)},
       {"amdhsa.kernels", pack::array(list)}});
}

/// A code object with this note, preceded by another one.
inline std::string makeCodeObjectOf(const std::string &metadata) {
  auto note = [](const std::string &name, uint32_t type,
                 const std::string &text) {
    Elf64_Nhdr header = {};
    header.n_namesz = static_cast<uint32_t>(name.size() + 1);
    header.n_descsz = static_cast<uint32_t>(text.size());
    header.n_type = type;
    std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
    bytes += name;
    bytes.resize(sizeof(header) + (name.size() + 4) / 4 * 4);
    bytes += text;
    bytes.resize((bytes.size() + 3) / 4 * 4);
    return bytes;
  };
  std::string notes = note("GNU", 3, "12345") + note("AMDGPU", 32, metadata);
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = 224;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr segments[2] = {};
  segments[0].p_type = PT_LOAD;
  segments[1].p_type = PT_NOTE;
  segments[1].p_offset = sizeof(header) + sizeof(segments);
  segments[1].p_filesz = notes.size();
  return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) +
         std::string(reinterpret_cast<const char *>(segments),
                     sizeof(segments)) +
         notes;
}

inline std::string makeCodeObject(const std::string &target,
                                  const std::vector<TestKernel> &kernels) {
  return makeCodeObjectOf(makeMetadata(target, kernels));
}

#endif // TESSERA_UNITTESTS_RUNTIME_CODEOBJECTBYTES_H
