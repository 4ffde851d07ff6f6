//===- RowMaps.cpp - Lane maps by rows ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/RowMaps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <map>
#include <mutex>

using namespace mlir::tessera;

/// A tile of `rows` rows, of which adjacent lanes hold `width` adjacent
/// elements each.
static MatrixInstruction getRowMap(llvm::StringRef name, int64_t lanes,
                                   int64_t rows, int32_t width) {
  int64_t lanesOfRow = lanes / rows;
  MatrixInstruction row;
  row.m = rows;
  row.n = width * lanesOfRow;
  row.k = 1;
  row.name =
      (name + ".m" + llvm::Twine(row.m) + "n" + llvm::Twine(row.n)).str();
  row.matrixUnit = false;
  llvm::SmallVector<LaneMap::Step> steps, registers;
  for (int32_t column = 1; column < width; column *= 2)
    registers.push_back({0, column});
  for (int64_t lane = 1; lane < lanes; lane *= 2)
    steps.push_back(
        lane < lanesOfRow
            ? LaneMap::Step{0, static_cast<int32_t>(width * lane)}
            : LaneMap::Step{static_cast<int32_t>(lane / lanesOfRow), 0});
  row.aMap = row.bMap = row.accMap = LaneMap(steps, registers);
  return row;
}

namespace {
/// Both kinds of maps of subgroups of some number of lanes.
struct Maps {
  std::vector<MatrixInstruction> rows, stores;
};
} // namespace

/// Null for chips without opaque instructions.
static const Maps *getMaps(const Chip &chip) {
  if (!chip.hasLanes() ||
      llvm::none_of(chip.instructions,
                    [](const MatrixInstruction &row) { return row.opaque; }))
    return nullptr;
  // By the number of lanes.
  static std::map<int64_t, Maps> known;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  auto [entry, isNew] = known.try_emplace(chip.subgroupSize);
  Maps &maps = entry->second;
  if (!isNew)
    return &maps;
  int64_t lanes = chip.subgroupSize;
  // 16 bytes of f32, which is one access to workgroup memory.
  for (int64_t rows = lanes; rows >= 8; rows /= 2)
    maps.rows.push_back(getRowMap("rows", lanes, rows, /*width=*/4));
  // 16 bytes of f16, and up to 64 bytes of a row.
  for (int64_t lanesOfRow : {4, 2, 1})
    if (lanes / lanesOfRow >= 8 && lanes / lanesOfRow <= 16)
      maps.stores.push_back(
          getRowMap("stores", lanes, lanes / lanesOfRow, /*width=*/8));
  return &maps;
}

llvm::ArrayRef<MatrixInstruction> mlir::tessera::getRowMaps(const Chip &chip) {
  const Maps *maps = getMaps(chip);
  return maps ? llvm::ArrayRef(maps->rows)
              : llvm::ArrayRef<MatrixInstruction>();
}

llvm::ArrayRef<MatrixInstruction>
mlir::tessera::getStoreMaps(const Chip &chip) {
  const Maps *maps = getMaps(chip);
  return maps ? llvm::ArrayRef(maps->stores)
              : llvm::ArrayRef<MatrixInstruction>();
}
