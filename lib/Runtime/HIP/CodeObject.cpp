//===- CodeObject.cpp - Metadata of AMD code objects ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/CodeObject.h"

#include "../ReadBytes.h"
#include "MessagePack.h"

#include <cstring>
#include <elf.h>

using namespace tessera::runtime;

static constexpr int amdgpuMachine = 224; // EM_AMDGPU
static constexpr int metadataNote = 32;   // NT_AMDGPU_METADATA
/// The terminating zero belongs to a note's name.
static constexpr std::string_view noteName("AMDGPU", sizeof("AMDGPU"));
static constexpr std::string_view targetPrefix = "amdgcn-amd-amdhsa--";

static Status invalid(const char *what) {
  return Status(StatusCode::InvalidArgument,
                std::string("no code object for HIP: ") + what);
}

bool tessera::runtime::isCodeObject(std::string_view bytes) {
  Elf64_Ehdr header;
  return readAt(bytes, 0, header) &&
         std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB &&
         header.e_machine == amdgpuMachine;
}

/// The description of the metadata note within a segment of notes; empty if it
/// has none.
static std::string_view findNote(std::string_view notes) {
  uint64_t offset = 0;
  Elf64_Nhdr note;
  while (readAt(notes, offset, note)) {
    uint64_t name = offset + sizeof(note);
    uint64_t description = name + (uint64_t(note.n_namesz) + 3) / 4 * 4;
    uint64_t end = description + note.n_descsz;
    if (end > notes.size())
      break;
    if (note.n_type == metadataNote &&
        notes.substr(name, note.n_namesz) == noteName)
      return notes.substr(description, note.n_descsz);
    offset = (end + 3) / 4 * 4;
  }
  return {};
}

static std::string_view findMetadata(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!readAt(bytes, 0, header))
    return {};
  for (unsigned index = 0; index < header.e_phnum; ++index) {
    Elf64_Phdr segment;
    if (!readAt(bytes, header.e_phoff + uint64_t(index) * sizeof(segment),
                segment))
      return {};
    if (segment.p_type != PT_NOTE || segment.p_offset > bytes.size() ||
        segment.p_filesz > bytes.size() - segment.p_offset)
      continue;
    std::string_view metadata =
        findNote(bytes.substr(segment.p_offset, segment.p_filesz));
    if (!metadata.empty())
      return metadata;
  }
  return {};
}

static CodeObjectKernel readKernel(const MessagePackValue &entry) {
  CodeObjectKernel kernel;
  kernel.name = entry.getString(".name");
  if (const MessagePackValue *arguments = entry.find(".args"))
    for (const MessagePackValue &argument : arguments->array)
      // The rest is what HIP itself adds to each launch.
      if (argument.getString(".value_kind").substr(0, 7) != "hidden_")
        kernel.arguments.push_back(argument.getInteger(".size"));
  kernel.workgroupBytes = entry.getInteger(".group_segment_fixed_size");
  kernel.threadBytes = entry.getInteger(".private_segment_fixed_size");
  kernel.maxThreads = entry.getInteger(".max_flat_workgroup_size");
  kernel.subgroupSize = entry.getInteger(".wavefront_size");
  kernel.vectors = entry.getInteger(".vgpr_count");
  kernel.accumulators = entry.getInteger(".agpr_count");
  kernel.scalars = entry.getInteger(".sgpr_count");
  kernel.vectorSpills = entry.getInteger(".vgpr_spill_count");
  kernel.scalarSpills = entry.getInteger(".sgpr_spill_count");
  return kernel;
}

Expected<CodeObject> tessera::runtime::readCodeObject(std::string_view bytes) {
  if (!isCodeObject(bytes))
    return invalid("not an AMD GPU ELF file");
  std::string_view metadata = findMetadata(bytes);
  if (metadata.empty())
    return invalid("missing kernel metadata note (NT_AMDGPU_METADATA)");
  std::optional<MessagePackValue> root = readMessagePack(metadata);
  if (!root || root->kind != MessagePackValue::Map)
    return invalid("malformed kernel metadata note");
  CodeObject object;
  std::string_view target = root->getString("amdhsa.target");
  if (target.substr(0, targetPrefix.size()) == targetPrefix)
    object.target = target.substr(targetPrefix.size());
  if (const MessagePackValue *kernels = root->find("amdhsa.kernels"))
    for (const MessagePackValue &entry : kernels->array)
      object.kernels.push_back(readKernel(entry));
  return object;
}
