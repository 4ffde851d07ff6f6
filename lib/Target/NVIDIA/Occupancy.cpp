//===- Occupancy.cpp - Occupancy of a chip --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;

int64_t mlir::tessera::countResidentBlocks(const Chip &chip, int64_t registers,
                                           int64_t threads,
                                           int64_t workgroupBytes) {
  // Registers are handed out to warps by 256 (CUDA's occupancy calculator).
  constexpr int64_t file = 65536, granule = 256;
  int64_t warps =
      llvm::divideCeil(std::max<int64_t>(threads, 1), chip.subgroupSize);
  int64_t perWarp = llvm::alignTo(
      std::max<int64_t>(registers, 1) * chip.subgroupSize, granule);
  int64_t resident =
      std::min(chip.unit.workgroups, chip.unit.subgroups / warps);
  resident = std::min(resident, file / perWarp / warps);
  int64_t bytes = workgroupBytes + chip.unit.systemBytes;
  return bytes ? std::min(resident, chip.unit.memoryBytes / bytes) : resident;
}
