//===- DeviceChip.cpp - Which chip's code a device runs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/DeviceChip.h"

#include "Dialect/Tessera/Target/Emulation.h"
#include "Runtime/CudaChip.h"
#include "Runtime/TargetId.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tessera;
using runtime::CudaChip;

bool mlir::tessera::runsOn(StringRef target, StringRef chip, StringRef host,
                           bool isCubin) {
  if (chip == host)
    return true;
  if (target == "hip") {
    std::optional<runtime::TargetId> code = runtime::parseTargetId(chip.str());
    std::optional<runtime::TargetId> device =
        runtime::parseTargetId(host.str());
    return code && device && runtime::runsOnTarget(*code, *device);
  }
  if (target == "cuda") {
    auto code = CudaChip::parse(chip.str()),
         device = CudaChip::parse(host.str());
    return code && device && runsOnCudaChip(*code, *device, isCubin);
  }
  if (isSpirvTarget(target)) {
    const Chip *code = findChip(target, chip);
    const Chip *device = findChip(target, host);
    // A kernel that takes too much of what both have is refused by itself.
    return code && device && code->subgroupSize == device->subgroupSize &&
           code->maxThreads <= device->maxThreads &&
           code->hasF16 <= device->hasF16 && code->hasF64 <= device->hasF64 &&
           code->hasAtomicF32 <= device->hasAtomicF32 &&
           code->hasAtomicF64 <= device->hasAtomicF64 &&
           llvm::all_of(code->keptNans,
                        [&](unsigned bits) {
                          return llvm::is_contained(device->keptNans, bits);
                        }) &&
           llvm::all_of(code->instructions, [&](const auto &row) {
             return device->findInstruction(row.name);
           });
  }
  // The vector units of one architecture include each other; the chip of no
  // particular architecture has the narrowest. Any host emulates any chip.
  const Chip *code = findChip(target, chip);
  const Chip *device = findChip(target, host);
  return code && device &&
         (isEmulated(*code) || code->accessBytes <= device->accessBytes);
}

std::string mlir::tessera::getChipFor(const runtime::DeviceInfo &device) {
  if (device.target == "cpu")
    return getHostChip().str();
  // Of a family that the compiler knows, the device may have less than that.
  if (!device.family.empty())
    if (const Chip *chip = findChip(device.target, device.family))
      if (chip->workgroupMemoryBytes <=
              static_cast<int64_t>(device.workgroupMemoryBytes) &&
          runsOn(device.target, chip->name, device.chip, /*isCubin=*/false))
        return chip->name;
  // What a device of a target of SPIR-V reports may have a name.
  if (const Chip *chip = findChip(device.target, device.chip))
    return chip->name;
  std::string best;
  int bestLevel = 0;
  for (const std::string &name : getKnownChips(device.target)) {
    std::optional<CudaChip> chip = CudaChip::parse(name);
    if (chip && !chip->isSpecific && chip->level > bestLevel &&
        runsOn(device.target, name, device.chip, /*isCubin=*/false)) {
      best = name;
      bestLevel = chip->level;
    }
  }
  return best;
}

std::string mlir::tessera::getFeatures(const runtime::DeviceInfo &device,
                                       StringRef chip) {
  // Code of a bundle has what its chip's name says there, whatever else the
  // device has.
  if (device.target == "cuda" || device.target == "cpu")
    return "";
  const std::string &own =
      device.targetId.empty() ? device.chip : device.targetId;
  return own == chip ? "" : own;
}
