//===- ProgramKey.cpp - Key of a compiled program -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/WindowSchedule.h"
#include "Driver/ProgramCache.h"
#include "Target/Target.h"
#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

using namespace mlir;
using namespace mlir::tessera;

/// 32 hexadecimal digits.
static std::string hash(StringRef bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(bytes);
  return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// Key
//===----------------------------------------------------------------------===//

ProgramKey::ProgramKey(StringRef source, StringRef file) {
  add("source", hash(source));
  add("file", file);
}

const std::vector<ProgramKey::Part> &ProgramKey::getSourceParts() const {
  if (auto describe = std::exchange(describeSource, nullptr))
    sourceParts = describe();
  return sourceParts;
}

std::vector<ProgramKey::Part>
mlir::tessera::describeSourceParts(ModuleOp module) {
  OwningOpRef<ModuleOp> copy(module.clone());
  std::vector<std::string> schedules;
  copy->walk([&](Operation *op) {
    std::vector<StringAttr> names;
    for (NamedAttribute attribute : op->getAttrs())
      if (isa<ScheduleAttr, WindowScheduleAttr>(attribute.getValue())) {
        names.push_back(attribute.getName());
        llvm::raw_string_ostream(schedules.emplace_back())
            << attribute.getValue();
      }
    for (StringAttr name : names)
      op->removeAttr(name);
  });
  // Locations are printed only on request.
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().useLocalScope());
  return {{"IR", hash(text)}, {"schedule", llvm::join(schedules, "; ")}};
}

std::string ProgramKey::getDigest() const {
  llvm::BLAKE3 hasher;
  for (const Part &part : parts)
    for (StringRef text : {StringRef(part.name), StringRef(part.value)}) {
      // With its length, so that no two lists of parts look alike.
      hasher.update(std::to_string(text.size()) + ":");
      hasher.update(text);
    }
  return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
}

std::string ProgramKey::getFileName() const {
  return getDigest() + "-" + parts[0].value.substr(0, 16) + "-" +
         hash(parts[1].value).substr(0, 16) + ".tessera";
}

void ProgramKey::add(const CompileOptions &options) {
  // A field that is added to the options and forgotten here does not compile.
  const auto &[target, chip, entry, flags, portableHost, tuned, checkpoints,
               trace, progress] = options;
  (void)trace;
  (void)progress;
  add("target", target);
  // The shipped ones are part of the compiler's build.
  add("--schedule-db", tuned ? hash(tuned->describe()) : "shipped");
  add("chip", chip);
  add("--entry", entry);
  for (const FlagInfo &info : getFlagInfos())
    add("--" + info.name.str(), info.get(flags));
  add("portable host code", portableHost ? "on" : "off");
  add("checkpoints of --verify", checkpoints ? "on" : "off");
}

void ProgramKey::addEnvironment(const CompileOptions &options,
                                const runtime::DeviceInfo &device) {
  add("build of the compiler", getCompilerIdentity());
  std::string processor = llvm::sys::getHostCPUName().str();
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(features.begin(), features.end());
  add("processor", processor + " " + llvm::join(features, ","));
  // The environment on which GPU machine code depends. The CPU's depends on the
  // CPU.
  bool isGpu = !isHostTarget(device.target);
  add("device", isGpu ? device.chip : "");
  add("driver", isGpu ? device.driver : "");
  std::string assembler;
  if (options.flags.usePtxas) {
    assembler = findPtxas();
    struct stat info = {};
    if (stat(assembler.c_str(), &info) == 0)
      assembler += " " + std::to_string(info.st_size) + " " +
                   std::to_string(info.st_mtim.tv_sec) + "." +
                   std::to_string(info.st_mtim.tv_nsec);
  }
  add("ptxas", assembler);
}

//===----------------------------------------------------------------------===//
// Identity of the compiler
//===----------------------------------------------------------------------===//

/// The GNU build id of a loaded object, as bytes; empty if it has none.
static StringRef getBuildId(const dl_phdr_info &object) {
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = object.dlpi_phdr[i];
    if (header.p_type != PT_NOTE)
      continue;
    // NOLINTBEGIN(performance-no-int-to-ptr)
    const auto *begin =
        reinterpret_cast<const char *>(object.dlpi_addr + header.p_vaddr);
    // NOLINTEND(performance-no-int-to-ptr)
    StringRef notes(begin, header.p_memsz);
    ElfW(Nhdr) note;
    while (notes.size() >= sizeof(note)) {
      std::memcpy(&note, notes.data(), sizeof(note));
      notes = notes.drop_front(sizeof(note));
      size_t name = (note.n_namesz + 3) / 4 * 4,
             description = (note.n_descsz + 3) / 4 * 4;
      if (name + description > notes.size())
        break;
      if (note.n_type == NT_GNU_BUILD_ID && notes.starts_with("GNU"))
        return notes.substr(name, note.n_descsz);
      notes = notes.drop_front(name + description);
    }
  }
  return "";
}

/// Adds what names a loaded object to the list that `data` is.
static int addObject(dl_phdr_info *object, size_t, void *data) {
  auto &identities = *static_cast<std::vector<std::string> *>(data);
  StringRef path = object->dlpi_name;
  // The program itself comes first, without a name; the kernel's own page of
  // functions has no folder.
  if (path.empty() && identities.empty())
    path = "/proc/self/exe";
  else if (!path.contains('/'))
    return 0;
  StringRef id = getBuildId(*object);
  if (!id.empty()) {
    identities.push_back(llvm::toHex(id, /*LowerCase=*/true));
    return 0;
  }
  // Linkers write the id by default. The data used instead of it changes with
  // every change of the file.
  struct stat info = {};
  std::string identity = path.str();
  if (stat(identity.c_str(), &info) == 0)
    for (uint64_t number :
         {uint64_t(info.st_size), uint64_t(info.st_ino),
          uint64_t(info.st_mtim.tv_sec), uint64_t(info.st_mtim.tv_nsec),
          uint64_t(info.st_ctim.tv_sec), uint64_t(info.st_ctim.tv_nsec)})
      identity += " " + std::to_string(number);
  identities.push_back(std::move(identity));
  return 0;
}

StringRef mlir::tessera::getCompilerIdentity() {
  static const std::string identity = [] {
    std::vector<std::string> identities;
    dl_iterate_phdr(addObject, &identities);
    return hash(llvm::join(identities, "\n"));
  }();
  return identity;
}
