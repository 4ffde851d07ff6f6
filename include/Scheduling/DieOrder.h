//===- DieOrder.h - Tiles of the dies of a device ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_DIEORDER_H
#define SCHEDULING_DIEORDER_H

#include "TargetInfo/Chip.h"

#include <algorithm>

namespace mlir::tessera {

/// The number of consecutive tiles, in bands of `raster` rows of tiles, that
/// one die computes at a time: whole columns of a band, as many as the die has
/// processors for. `raster` must be positive.
inline int64_t countTilesOfDie(const Chip &chip, int64_t raster) {
  return raster * std::max<int64_t>(chip.processors / chip.dies / raster, 1);
}

} // namespace mlir::tessera

#endif // SCHEDULING_DIEORDER_H
