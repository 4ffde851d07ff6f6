//===- Occupancy.cpp - Occupancy of a unit --------------------------------===//
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
  // handed out in 64 parts of the same size.
  constexpr int64_t units = 4, parts = 64;
  int64_t file = chip.registersPerWorkgroup / units / chip.subgroupSize,
          granule = std::max<int64_t>(file / parts, 1);
  int64_t registers =
      llvm::alignTo(std::max<int64_t>(vectorRegisters, 1), granule);
  int64_t subgroups = std::min(chip.unit.subgroups, units * (file / registers));
  int64_t perWorkgroup =
      llvm::divideCeil(std::max<int64_t>(threads, 1), chip.subgroupSize);
  int64_t resident = subgroups / perWorkgroup;
  if (workgroupBytes)
    resident = std::min(resident, chip.unit.memoryBytes / workgroupBytes);
  return resident;
}
