//===- Peaks.cpp - Peak rates of devices ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Peaks.h"

#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::tessera;

/// The rate for operands of a type; 0 if there is none.
static double getRate(const DeviceSheet &sheet, llvm::StringRef type) {
  if (type.starts_with("f8"))
    return sheet.f8;
  const std::pair<llvm::StringRef, double> rates[] = {
      {"f16", sheet.f16}, {"bf16", sheet.bf16}, {"tf32", sheet.tf32},
      {"f32", sheet.f32}, {"f64", sheet.f64},   {"i8", sheet.i8}};
  for (auto [name, rate] : rates)
    if (name == type)
      return rate;
  return 0;
}

/// "sm_90" has what "sm_90a" has, but for instructions. Chips of different
/// targets have different names.
static llvm::StringRef getFamily(llvm::StringRef name) {
  for (const Chip &chip : getAllChips())
    if (chip.name == name && !chip.family.empty())
      return chip.family;
  return name;
}

/// Whether a device's name has that of a sheet in it, between other words.
static bool hasName(llvm::StringRef device, llvm::StringRef name) {
  size_t offset = device.find(name);
  if (offset == llvm::StringRef::npos)
    return false;
  auto isWord = [&](size_t at) {
    return at < device.size() && llvm::isAlnum(device[at]);
  };
  return !isWord(offset + name.size()) && (offset == 0 || !isWord(offset - 1));
}

const DeviceSheet *mlir::tessera::findSheet(const Chip &chip,
                                            llvm::StringRef device) {
  for (const DeviceSheet &sheet : chip.devices)
    if (hasName(device, sheet.name))
      return &sheet;
  return nullptr;
}

std::optional<Roof> mlir::tessera::findRoof(llvm::StringRef chip,
                                            llvm::StringRef device,
                                            int64_t units, int64_t clockMHz,
                                            llvm::StringRef type,
                                            std::string &why) {
  const DeviceSheet *first = nullptr, *own = nullptr;
  // Vulkan's and OpenCL's chips are not the vendor's, but the names of devices
  // are.
  bool hasVendor = llvm::any_of(getTargets(), [&](const TargetInfo *target) {
    return !target->vendor.empty() && device.contains(target->vendor);
  });
  llvm::StringRef family = getFamily(chip);
  for (const Chip &other : getAllChips()) {
    bool isOfChip =
        (other.family.empty() ? other.name : other.family) == family;
    for (const DeviceSheet &sheet : other.devices) {
      first = first || !isOfChip ? first : &sheet;
      if (!own && (isOfChip || hasVendor) && hasName(device, sheet.name))
        own = &sheet;
    }
  }
  if (!first && !own) {
    why = ("no data sheet is known for a device of chip " + chip).str();
    return std::nullopt;
  }
  if (device.empty())
    own = first;
  const DeviceSheet &sheet = own ? *own : *first;
  double rate = getRate(sheet, type) * 1e12;
  if (rate == 0) {
    why = (llvm::Twine(sheet.source) + " has no rate for " + type).str();
    return std::nullopt;
  }
  if (own)
    return Roof{rate, sheet.memory * 1e12, std::string(sheet.source)};
  if (units <= 0 || clockMHz <= 0) {
    why = ("no data sheet is known for " + device +
           ", and its driver does not report compute units and clock")
              .str();
    return std::nullopt;
  }
  double share = static_cast<double>(units * clockMHz) /
                 static_cast<double>(sheet.units * sheet.clockMHz);
  return Roof{rate * share, 0,
              llvm::utostr(units) + " units at " + llvm::utostr(clockMHz) +
                  " MHz, as the driver reports, at the rate of each unit by " +
                  std::string(sheet.source)};
}
