//===- ChipRows.h - Rows of AMD's chips -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The hardware facts of AMD's chips, one row for each. The runtime reads them
// too, so that the header includes nothing of LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_AMD_CHIPROWS_H
#define TARGET_AMD_CHIPROWS_H

#include "TargetInfo/DeviceSheet.h"

namespace mlir::tessera {

/// Chips, as a set of bits. A later chip may lack what an earlier one has, so
/// that an instruction cannot state its first generation.
enum AmdChips : unsigned {
  Gfx906 = 1,
  Gfx908 = 2,
  Gfx90a = 4,
  Gfx942 = 8,
  Gfx950 = 16,
  Gfx11 = 32,
  Gfx12 = 64,
};

/// The hardware facts of one of AMD's chips.
struct AmdChipRow {
  const char *name;
  AmdChips bit;
  /// Compute units of the largest device: Instinct MI60, MI100, MI250X (of
  /// one of its two devices), MI300X, MI355X; Radeon RX 7900 XTX, 7800 XT,
  /// 7600 XT, 780M, 890M, 8060S, RX 9060 XT, 9070 XT (AMD's product pages,
  /// and "Accelerator and GPU hardware specifications" of ROCm's
  /// documentation).
  int64_t processors;
  /// Registers of 32 bits for each lane of a SIMD unit, for all waves on it
  /// (the same table, "VGPR file" divided by the lanes; on CDNA with
  /// accumulation registers). Four SIMD units run a workgroup together: those
  /// of a compute unit of CDNA, and of a workgroup processor of RDNA.
  int64_t registersOfLane;
  int64_t workgroupKiB = 64;
  /// The last cache before memory where it is not the L2 that HIP reports
  /// ("Infinity Cache"), in MiB: MI300X, MI300A, MI325X; MI355X; RX 7900 XTX,
  /// W7900; RX 7800 XT; RX 7600; Ryzen AI Max; RX 9060 XT; RX 9070 XT. 0: there
  /// is none.
  int64_t lastCacheMiB = 0;
  /// The accelerator dies (XCDs) of a device, each with its own L2, which get
  /// workgroups in turn: MI300X, MI355X ("MI300 Series microarchitecture" and
  /// "MI350 Series microarchitecture" of ROCm's documentation). Each die of an
  /// MI250X is a device.
  int64_t dies = 1;
  /// A unit is one that the driver counts: on RDNA a workgroup processor, which
  /// is two of the sheet's compute units.
  DeviceSheet devices[maxSheets] = {};
};

inline constexpr AmdChipRow amdChipRows[] = {
    // clang-format off
    // name, bit, processors, registersOfLane, workgroupKiB, lastCacheMiB, dies,
    //   {name, units, MHz, f16, bf16, tf32, f32, f64, i8, f8, memory, source}
    {"gfx906", Gfx906, 64, 256},
    {"gfx908", Gfx908, 120, 512, 64, 0, 1,
     {{"MI100", 120, 1502, 184.6, 92.3, 0, 46.1, 11.5, 184.6, 0, 1.2288,
       "AMD Instinct MI100 data sheet"}}},
    {"gfx90a", Gfx90a, 110, 512, 64, 0, 1,
     {{"MI250X", 110, 1700, 191.5, 191.5, 0, 47.9, 47.9, 191.5, 0, 1.6384,
       "AMD Instinct MI250X data sheet, one of its two dies"},
      {"MI210", 104, 1700, 181, 181, 0, 45.3, 45.3, 181, 0, 1.6384,
       "AMD Instinct MI210 data sheet"}}},
    {"gfx942", Gfx942, 304, 512, 64, 256, 8,
     {{"MI300X", 304, 2100, 1307.4, 1307.4, 653.7, 163.4, 163.4, 2614.9, 2614.9, 5.3,
       "AMD Instinct MI300X data sheet"}}},
    {"gfx950", Gfx950, 256, 512, 160, 256, 8,
     {{"MI355X", 256, 2400, 2516.6, 2516.6, 0, 157.3, 78.6, 5033.2, 5033.2, 8.0,
       "AMD Instinct MI355X data sheet"}}},
    {"gfx1100", Gfx11, 96, 1536, 64, 96, 1,
     {{"RX 7900 XTX", 48, 2500, 122.8, 122.8, 0, 61.4, 1.9, 122.8, 0, 0.96,
       "AMD Radeon RX 7900 XTX specifications"}}},
    {"gfx1101", Gfx11, 60, 1536, 64, 64},
    {"gfx1102", Gfx11, 32, 1024, 64, 32},
    {"gfx1103", Gfx11, 12, 1024},
    {"gfx1150", Gfx11, 16, 1024},
    {"gfx1151", Gfx11, 40, 1536, 64, 32},
    {"gfx1200", Gfx12, 32, 1536, 64, 32},
    {"gfx1201", Gfx12, 64, 1536, 64, 64, 1,
     {{"RX 9070 XT", 32, 2970, 195, 195, 0, 48.7, 0.8, 389, 389, 0.64,
       "AMD Radeon RX 9070 XT specifications"}}},
    // clang-format on
};

/// The last cache before memory of a chip in bytes; 0 where it is the L2 that
/// HIP reports, and for a chip without a row.
template <typename String>
constexpr int64_t getLastCacheBytes(const String &chip) {
  for (const AmdChipRow &row : amdChipRows)
    if (chip == row.name)
      return row.lastCacheMiB << 20;
  return 0;
}

} // namespace mlir::tessera

#endif // TARGET_AMD_CHIPROWS_H
