//===- CodeObject.cpp - What a code object says of its kernels ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM, "User Guide for AMDGPU Backend": "Code Object V5 Metadata". A note of
// type NT_AMDGPU_METADATA holds a MessagePack document.
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"

using namespace mlir;
using namespace mlir::tessera;

/// The number called `name`; 0 where there is none.
static int64_t getNumber(llvm::msgpack::MapDocNode &map, StringRef name) {
  auto found = map.find(name);
  if (found == map.end())
    return 0;
  if (found->second.getKind() == llvm::msgpack::Type::UInt)
    return static_cast<int64_t>(found->second.getUInt());
  return found->second.getKind() == llvm::msgpack::Type::Int
             ? found->second.getInt()
             : 0;
}

static std::vector<CodeObjectKernel>
readKernels(llvm::msgpack::Document &document) {
  std::vector<CodeObjectKernel> kernels;
  if (!document.getRoot().isMap())
    return kernels;
  auto found = document.getRoot().getMap().find("amdhsa.kernels");
  if (found == document.getRoot().getMap().end() || !found->second.isArray())
    return kernels;
  for (llvm::msgpack::DocNode &node : found->second.getArray()) {
    if (!node.isMap())
      continue;
    llvm::msgpack::MapDocNode &map = node.getMap();
    CodeObjectKernel kernel;
    if (auto name = map.find(".name");
        name != map.end() && name->second.isString())
      kernel.name = name->second.getString().str();
    kernel.vgprs = getNumber(map, ".vgpr_count");
    kernel.agprs = getNumber(map, ".agpr_count");
    kernel.sgprs = getNumber(map, ".sgpr_count");
    kernel.vgprSpills = getNumber(map, ".vgpr_spill_count");
    kernel.sgprSpills = getNumber(map, ".sgpr_spill_count");
    kernel.privateBytes = getNumber(map, ".private_segment_fixed_size");
    kernel.workgroupBytes = getNumber(map, ".group_segment_fixed_size");
    kernel.maxThreads = getNumber(map, ".max_flat_workgroup_size");
    kernel.subgroupSize = getNumber(map, ".wavefront_size");
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

FailureOr<std::vector<CodeObjectKernel>>
mlir::tessera::readCodeObject(Operation *op, StringRef bytes) {
  llvm::Expected<llvm::object::ELF64LEFile> file =
      llvm::object::ELF64LEFile::create(bytes);
  if (!file)
    return op->emitError() << "no code object: "
                           << llvm::toString(file.takeError());
  auto segments = file->program_headers();
  if (!segments)
    return op->emitError() << "no code object: "
                           << llvm::toString(segments.takeError());
  for (const auto &segment : *segments) {
    if (segment.p_type != llvm::ELF::PT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file->notes(segment, error)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      llvm::consumeError(std::move(error));
      llvm::msgpack::Document document;
      StringRef text = note.getDescAsStringRef(/*Align=*/4);
      if (!document.readFromBlob(text, /*Multi=*/false))
        break;
      return readKernels(document);
    }
    // One that was consumed is a success.
    // NOLINTNEXTLINE(bugprone-use-after-move)
    if (error)
      return op->emitError()
             << "no code object: " << llvm::toString(std::move(error));
  }
  return op->emitError() << "the code object says nothing of its kernels";
}

int64_t mlir::tessera::countResidentWorkgroups(const Chip &chip,
                                               const CodeObjectKernel &kernel,
                                               int64_t workgroupBytes) {
  // "AMD Instinct MI300 Instruction Set Architecture" and "RDNA3 Instruction
  // Set Architecture", on the allocation of registers and of LDS: a file is
  // handed out in 64 parts of the same size, and a SIMD unit keeps so many
  // subgroups.
  constexpr int64_t units = 4, parts = 64;
  bool isRdna = chip.subgroupSize == 32;
  int64_t file = chip.registersPerWorkgroup / units / chip.subgroupSize,
          granule = std::max<int64_t>(file / parts, 1), most = isRdna ? 16 : 8,
          bytes = chip.workgroupMemoryBytes * (isRdna ? 2 : 1);
  int64_t registers =
      llvm::alignTo(std::max<int64_t>(kernel.vgprs, 1), granule);
  int64_t subgroups = units * std::min(most, file / registers);
  int64_t perWorkgroup = llvm::divideCeil(
      std::max<int64_t>(kernel.maxThreads, 1), chip.subgroupSize);
  int64_t resident = subgroups / perWorkgroup;
  if (int64_t each = kernel.workgroupBytes + workgroupBytes)
    resident = std::min(resident, bytes / each);
  return resident;
}
