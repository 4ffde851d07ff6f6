//===- JoinObjects.cpp - Objects of kernels to link -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   object 0   .text  .rodata  .note {kernels: [a]}      {kernels: [a, b, c]}
//   object 1   .text  .rodata  .note {kernels: [b]}  =>  excluded from the link
//   object 2   .text  .rodata  .note {kernels: [c]}      excluded from the link
//
// The new note follows the other bytes of its object, where the section's
// header then points to.
//
//===----------------------------------------------------------------------===//

#include "JoinObjects.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;

using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
using Section = llvm::object::ELF64LE::Shdr;
using Note = llvm::object::ELF64LE::Note;

static constexpr StringRef noteName = "AMDGPU";
static constexpr StringRef kernelsKey = "amdhsa.kernels";

namespace {
/// The metadata of an object.
struct Metadata {
  /// Where the header of the section of the note is in the object.
  size_t header;
  std::string description;
};
} // namespace

static llvm::Expected<Metadata> findMetadata(StringRef object) {
  llvm::Expected<File> file = File::create(object);
  if (!file)
    return file.takeError();
  llvm::Expected<ArrayRef<Section>> sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const Section &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const Note &note : file->notes(section, error))
      if (note.getName() == noteName &&
          note.getType() == llvm::ELF::NT_AMDGPU_METADATA) {
        llvm::consumeError(std::move(error));
        auto at = reinterpret_cast<const char *>(&section) - object.data();
        return Metadata{static_cast<size_t>(at),
                        note.getDescAsStringRef(section.sh_addralign).str()};
      }
    if (error)
      return std::move(error);
  }
  return llvm::createStringError("an object does not have kernel metadata");
}

/// Appends the bytes of a note with this description to `object`, and lets the
/// section whose header is at `header` consist of them.
static void replaceNote(std::string &object, size_t header,
                        StringRef description) {
  llvm::object::ELF64LE::Nhdr head;
  head.n_namesz = noteName.size() + 1;
  head.n_descsz = description.size();
  head.n_type = llvm::ELF::NT_AMDGPU_METADATA;
  auto pad = [&](size_t begin) {
    object.resize(begin + llvm::alignTo(object.size() - begin, 4));
  };
  pad(0);
  size_t begin = object.size();
  object.append(reinterpret_cast<const char *>(&head), sizeof(head));
  object.append(noteName).push_back('\0');
  pad(begin);
  object.append(description);
  pad(begin);
  auto *section = reinterpret_cast<Section *>(object.data() + header);
  section->sh_offset = begin;
  section->sh_size = object.size() - begin;
}

/// Adds the metadata of an object to those of others. `description` must
/// outlive `all`.
static bool merge(llvm::msgpack::Document &all, StringRef description) {
  using llvm::msgpack::DocNode;
  return all.readFromBlob(
      description, /*Multi=*/false,
      [](DocNode *target, DocNode source, DocNode key) -> int {
        // Kernels are added; the rest is the chip's.
        if (target->isArray() && source.isArray() && key.isString())
          return key.getString() == kernelsKey
                     ? static_cast<int>(target->getArray().size())
                     : 0;
        if (target->isMap() && source.isMap())
          return 0;
        return target->getKind() == source.getKind() &&
                       target->toString() == source.toString()
                   ? 0
                   : -1;
      });
}

LogicalResult
mlir::tessera::joinMetadata(Operation *op,
                            MutableArrayRef<std::string> objects) {
  std::vector<Metadata> each;
  for (const std::string &object : objects) {
    llvm::Expected<Metadata> metadata = findMetadata(object);
    if (!metadata)
      return op->emitError() << llvm::toString(metadata.takeError());
    each.push_back(std::move(*metadata));
  }
  llvm::msgpack::Document all;
  for (const Metadata &metadata : each)
    if (!merge(all, metadata.description))
      return op->emitError() << "the metadata of kernels do not match";
  for (auto [object, metadata] : llvm::drop_begin(llvm::zip(objects, each))) {
    auto *section =
        reinterpret_cast<Section *>(object.data() + metadata.header);
    section->sh_flags = section->sh_flags | llvm::ELF::SHF_EXCLUDE;
  }
  std::string description;
  all.writeToBlob(description);
  replaceNote(objects.front(), each.front().header, description);
  return success();
}
