//===- Peaks.cpp - What devices can do at most ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Target/Peaks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::tessera;

// If a sheet lists only a rate with sparsity, this table has half of it;
// GeForce's rates are those with accumulators of f32. A unit is the unit that
// the driver counts: on RDNA a workgroup processor, which is two of the sheet's
// compute units.
static constexpr DeviceSheet sheets[] = {
    // clang-format off
    // chip, name, units, MHz, f16, bf16, tf32, f32, f64, i8, f8, memory
    {"sm_70", "V100-SXM2", 80, 1530, 125, 0, 0, 15.7, 7.8, 0, 0, 0.9,
     "NVIDIA V100 data sheet"},
    {"sm_75", "T4", 40, 1590, 65, 0, 0, 8.1, 0.25, 130, 0, 0.32,
     "NVIDIA T4 data sheet"},
    {"sm_80", "A100-SXM4-80GB", 108, 1410, 312, 312, 156, 19.5, 19.5, 624, 0, 2.039,
     "NVIDIA A100 data sheet"},
    {"sm_80", "A100 80GB PCIe", 108, 1410, 312, 312, 156, 19.5, 19.5, 624, 0, 1.935,
     "NVIDIA A100 data sheet"},
    {"sm_80", "A100-SXM4-40GB", 108, 1410, 312, 312, 156, 19.5, 19.5, 624, 0, 1.555,
     "NVIDIA A100 data sheet"},
    {"sm_86", "A40", 84, 1740, 149.7, 149.7, 74.8, 37.4, 0.58, 299.3, 0, 0.696,
     "NVIDIA A40 data sheet"},
    {"sm_89", "RTX 4090", 128, 2520, 165.2, 165.2, 82.6, 82.6, 1.3, 660.6, 330.3, 1.008,
     "NVIDIA Ada GPU architecture white paper"},
    {"sm_90a", "H200", 132, 1830, 989.4, 989.4, 494.7, 66.9, 66.9, 1978.9, 1978.9, 4.8,
     "NVIDIA H200 data sheet"},
    {"sm_90a", "H100 80GB HBM3", 132, 1830, 989.4, 989.4, 494.7, 66.9, 66.9, 1978.9, 1978.9, 3.35,
     "NVIDIA H100 data sheet"},
    {"sm_90a", "H100 PCIe", 114, 1620, 756, 756, 378, 51, 51, 1513, 1513, 2.0,
     "NVIDIA H100 data sheet"},
    {"sm_100a", "B200", 148, 1855, 2250, 2250, 1125, 75, 37, 4500, 4500, 7.7,
     "NVIDIA HGX B200 data sheet"},
    {"sm_120a", "RTX 5090", 170, 2407, 209.5, 209.5, 104.8, 104.8, 1.6, 838, 419, 1.792,
     "NVIDIA RTX Blackwell GPU architecture white paper"},
    {"gfx908", "MI100", 120, 1502, 184.6, 92.3, 0, 46.1, 11.5, 184.6, 0, 1.2288,
     "AMD Instinct MI100 data sheet"},
    {"gfx90a", "MI250X", 110, 1700, 191.5, 191.5, 0, 47.9, 47.9, 191.5, 0, 1.6384,
     "AMD Instinct MI250X data sheet, one of its two dies"},
    {"gfx90a", "MI210", 104, 1700, 181, 181, 0, 45.3, 45.3, 181, 0, 1.6384,
     "AMD Instinct MI210 data sheet"},
    {"gfx942", "MI300X", 304, 2100, 1307.4, 1307.4, 653.7, 163.4, 163.4, 2614.9, 2614.9, 5.3,
     "AMD Instinct MI300X data sheet"},
    {"gfx950", "MI355X", 256, 2400, 2516.6, 2516.6, 0, 157.3, 78.6, 5033.2, 5033.2, 8.0,
     "AMD Instinct MI355X data sheet"},
    {"gfx1100", "RX 7900 XTX", 48, 2500, 122.8, 122.8, 0, 61.4, 1.9, 122.8, 0, 0.96,
     "AMD Radeon RX 7900 XTX specifications"},
    {"gfx1201", "RX 9070 XT", 32, 2970, 195, 195, 0, 48.7, 0.8, 389, 389, 0.64,
     "AMD Radeon RX 9070 XT specifications"},
    // clang-format on
};

llvm::ArrayRef<DeviceSheet> mlir::tessera::getDeviceSheets() { return sheets; }

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

/// "sm_90" has the rates of "sm_90a"; only instructions differ.
static llvm::StringRef getFamily(llvm::StringRef chip) {
  if (chip.starts_with("sm_"))
    chip.consume_back("a");
  return chip;
}

/// Whether a device's name has that of a sheet in it, between other words.
static bool hasName(llvm::StringRef device, llvm::StringRef name) {
  size_t place = device.find(name);
  if (place == llvm::StringRef::npos)
    return false;
  auto isWord = [&](size_t at) {
    return at < device.size() && llvm::isAlnum(device[at]);
  };
  return !isWord(place + name.size()) && (place == 0 || !isWord(place - 1));
}

std::optional<Roof> mlir::tessera::findRoof(llvm::StringRef chip,
                                            llvm::StringRef device,
                                            int64_t units, int64_t clockMHz,
                                            llvm::StringRef type,
                                            std::string &why) {
  const DeviceSheet *first = nullptr, *own = nullptr;
  // Vulkan's and OpenCL's chips are not the vendor's, but the names of devices
  // are.
  bool hasVendor = device.contains("NVIDIA") || device.contains("AMD");
  for (const DeviceSheet &sheet : sheets) {
    bool isOfChip = getFamily(sheet.chip) == getFamily(chip);
    first = first || !isOfChip ? first : &sheet;
    if (!own && (isOfChip || hasVendor) && hasName(device, sheet.name))
      own = &sheet;
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
    why = (sheet.source + " has no rate for " + type).str();
    return std::nullopt;
  }
  if (own)
    return Roof{rate, sheet.memory * 1e12, sheet.source.str()};
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
                  sheet.source.str()};
}
