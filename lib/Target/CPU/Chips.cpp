//===- Chips.cpp - The CPU's chips and "matrix instructions" --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the CPU a subgroup has one lane, and a fragment consists of vectors along
// its rows. A `tessera.mma` multiplies elements of one row of a with vectors of
// b, iterating over the rows of b:
//
//     acc[0, 0..n) += a[0, k] * b[k, 0..n)    for k = 0, 1, ...
//
//===----------------------------------------------------------------------===//

#include "../../TargetInfo/Tables.h"
#include "Schedules.h"
#include "TargetInfo/Emulation.h"
#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::tessera;

/// A tile in one lane's registers, row by row.
static LaneMap getRowMajorMap(int64_t rows, int64_t cols) {
  llvm::SmallVector<LaneMap::Step> steps;
  for (int32_t col = 1; col < cols; col *= 2)
    steps.push_back({0, col});
  for (int32_t row = 1; row < rows; row *= 2)
    steps.push_back({row, 0});
  return LaneMap(llvm::ArrayRef<LaneMap::Step>(), steps);
}

void mlir::tessera::addVectorInstructions(Chip &chip, int64_t vectorBytes) {
  for (auto [a, b, acc] : getScalarMatmuls()) {
    int64_t bytes = llvm::StringRef(acc) == "f64"   ? 8
                    : llvm::StringRef(acc) == "f16" ? 2
                                                    : 4;
    for (int64_t n = vectorBytes / bytes; n; n /= 2)
      for (int64_t k = 16; k; k /= 2) {
        MatrixInstruction row;
        row.m = 1;
        row.n = n;
        row.k = k;
        row.name = "fma.m1n" + llvm::utostr(n) + "k" + llvm::utostr(k) + "." +
                   acc + "." + a;
        if (llvm::StringRef(a) != b)
          row.name += std::string(".") + b;
        row.aType = a;
        row.bType = b;
        row.accType = acc;
        row.matrixUnit = false;
        row.aMap = getRowMajorMap(1, k);
        row.bMap = getRowMajorMap(k, n);
        row.accMap = getRowMajorMap(1, n);
        chip.instructions.push_back(row);
      }
  }
}

/// Dot products of four bytes along K (vpdpbusd of AVX512_VNNI), and several of
/// them.
static void addByteDots(Chip &chip) {
  for (int64_t k : {16, 8, 4}) {
    MatrixInstruction row;
    row.m = 1;
    row.n = 16;
    row.k = k;
    row.name = "dot4.m1n16k" + llvm::utostr(k) + ".i32.i8";
    row.aType = row.bType = "i8";
    row.accType = "i32";
    row.matrixUnit = false;
    row.dotProduct = true;
    row.intrinsic = "llvm.x86.avx512.vpdpbusd.512";
    row.aMap = getRowMajorMap(1, k);
    row.bMap = getRowMajorMap(k, row.n);
    row.accMap = getRowMajorMap(1, row.n);
    chip.instructions.push_back(std::move(row));
  }
}

static void addCpuChips(std::vector<Chip> &chips) {
  struct Entry {
    const char *name;
    int64_t vectorBytes;
    bool hasDots;
  };
  static const Entry entries[] = {
      {"x86-64-avx512-vnni", 64, true},
      {"x86-64-avx512", 64, false},
      {"x86-64-avx2", 32, false},
      {"generic", 16, false},
  };
  for (const Entry &entry : entries) {
    Chip chip;
    chip.name = entry.name;
    chip.target = "cpu";
    // The tests run on these.
    if (entry.vectorBytes != 32)
      chip.executedOn = entry.hasDots ? "AMD EPYC" : "AMD EPYC, Intel Xeon";
    chip.subgroupSize = 1;
    chip.workgroupMemoryBytes = 1024 * 1024;
    chip.maxThreads = 1024;
    chip.accessBytes = entry.vectorBytes;
    chip.alignedAccess = false;
    chip.rowPaddingBytes = 0;
    chip.asyncCopy = false;
    setCpuSchedules(chip, entry.vectorBytes);
    if (entry.hasDots)
      addByteDots(chip);
    addVectorInstructions(chip, entry.vectorBytes);
    chips.push_back(std::move(chip));
  }
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

llvm::StringRef mlir::tessera::getHostChip() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f") && features.lookup("avx512vl") &&
      features.lookup("avx512bw") && features.lookup("avx512dq"))
    return features.lookup("avx512vnni") ? "x86-64-avx512-vnni"
                                         : "x86-64-avx512";
  if (features.lookup("avx2") && features.lookup("fma"))
    return "x86-64-avx2";
  return "generic";
}

static const Chip *findEmulatedChip(llvm::StringRef name) {
  if (name.starts_with(emulationPrefix))
    for (const Chip &chip : getEmulatedChips())
      if (chip.name == name)
        return &chip;
  return nullptr;
}

static std::vector<std::string> listEmulatedChips(llvm::StringRef name) {
  std::vector<std::string> names;
  if (name.starts_with(emulationPrefix))
    for (const Chip &chip : getEmulatedChips())
      names.push_back(chip.name);
  return names;
}

namespace mlir::tessera {
const TargetInfo &getCPUTarget() {
  static const TargetInfo target = [] {
    TargetInfo target{"cpu"};
    target.isHost = true;
    target.addChips = addCpuChips;
    target.findDescribedChip = findEmulatedChip;
    target.listDescribedChips = listEmulatedChips;
    target.describedChips = "emulate=CHIP for a chip of another target";
    target.getDefaultChip = getHostChip;
    return target;
  }();
  return target;
}
} // namespace mlir::tessera
