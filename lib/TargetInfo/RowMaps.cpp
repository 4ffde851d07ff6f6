//===- RowMaps.cpp - Lane maps by rows ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/RowMaps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <mutex>

using namespace mlir::tessera;

/// A tile of `rows` rows, of which adjacent lanes hold four adjacent elements
/// each: 16 bytes of f32, which is one access to workgroup memory.
static MatrixInstruction getRowMap(int64_t lanes, int64_t rows) {
  constexpr int32_t width = 4;
  int64_t lanesOfRow = lanes / rows;
  MatrixInstruction row;
  row.m = rows;
  row.n = width * lanesOfRow;
  row.k = 1;
  row.name =
      "rows.m" + llvm::utostr(rows) + "n" + llvm::utostr(width * lanesOfRow);
  row.matrixUnit = false;
  llvm::SmallVector<LaneMap::Step> steps, registers{{0, 1}, {0, 2}};
  for (int64_t lane = 1; lane < lanes; lane *= 2)
    steps.push_back(
        lane < lanesOfRow
            ? LaneMap::Step{0, static_cast<int32_t>(width * lane)}
            : LaneMap::Step{static_cast<int32_t>(lane / lanesOfRow), 0});
  row.aMap = row.bMap = row.accMap = LaneMap(steps, registers);
  return row;
}

llvm::ArrayRef<MatrixInstruction> mlir::tessera::getRowMaps(const Chip &chip) {
  if (!chip.hasLanes() ||
      llvm::none_of(chip.instructions,
                    [](const MatrixInstruction &row) { return row.opaque; }))
    return {};
  // By the number of lanes.
  static std::map<int64_t, std::vector<MatrixInstruction>> known;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  auto [entry, isNew] = known.try_emplace(chip.subgroupSize);
  if (isNew)
    for (int64_t rows = chip.subgroupSize; rows >= 8; rows /= 2)
      entry->second.push_back(getRowMap(chip.subgroupSize, rows));
  return entry->second;
}
