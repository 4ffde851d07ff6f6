//===- Occupancy.cpp - How many workgroups a chip keeps at a time ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;

int64_t mlir::tessera::countResidentWorkgroups(const Chip &chip,
                                               int64_t vectorRegisters,
                                               int64_t threads,
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
      llvm::alignTo(std::max<int64_t>(vectorRegisters, 1), granule);
  int64_t subgroups = units * std::min(most, file / registers);
  int64_t perWorkgroup =
      llvm::divideCeil(std::max<int64_t>(threads, 1), chip.subgroupSize);
  int64_t resident = subgroups / perWorkgroup;
  if (workgroupBytes)
    resident = std::min(resident, bytes / workgroupBytes);
  return resident;
}

namespace {
/// What a multiprocessor has: CUDA C++ Programming Guide, "Compute
/// Capabilities", table of technical specifications.
struct Multiprocessor {
  int64_t since, warps, workgroups, bytes;
};
} // namespace

static constexpr Multiprocessor multiprocessors[] = {
    {120, 48, 24, 100 << 10}, {100, 64, 32, 228 << 10}, {90, 64, 32, 228 << 10},
    {89, 48, 24, 100 << 10},  {86, 48, 16, 100 << 10},  {80, 64, 32, 164 << 10},
    {75, 32, 16, 64 << 10},   {70, 64, 32, 96 << 10}};

int64_t mlir::tessera::countResidentBlocks(const Chip &chip, int64_t registers,
                                           int64_t threads,
                                           int64_t workgroupBytes) {
  int64_t level = 0;
  StringRef digits = chip.name;
  digits.consume_front("sm_");
  digits.consumeInteger(10, level);
  for (const Multiprocessor &unit : multiprocessors) {
    if (level < unit.since)
      continue;
    // Registers are handed out to warps by 256, and from compute capability 8.0
    // on the system keeps 1 KiB of each workgroup's memory (CUDA's occupancy
    // calculator).
    constexpr int64_t file = 65536, granule = 256, systemBytes = 1024;
    int64_t warps =
        llvm::divideCeil(std::max<int64_t>(threads, 1), chip.subgroupSize);
    int64_t perWarp = llvm::alignTo(
        std::max<int64_t>(registers, 1) * chip.subgroupSize, granule);
    int64_t resident = std::min(unit.workgroups, unit.warps / warps);
    resident = std::min(resident, file / perWarp / warps);
    int64_t bytes = workgroupBytes + (unit.since >= 80 ? systemBytes : 0);
    return bytes ? std::min(resident, unit.bytes / bytes) : resident;
  }
  return 0;
}
