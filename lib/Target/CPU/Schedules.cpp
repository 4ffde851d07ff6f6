//===- Schedules.cpp - Schedule policy of the CPU's chips -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir::tessera;

/// The tile that fills the vector registers of a chip, in vectors of f32, where
/// the extents are not known.
static std::array<int64_t, 2> getRegisterTile(int64_t vectorBytes) {
  switch (vectorBytes) {
  case 64:
    return {8, 2};
  case 32:
    return {6, 2};
  default:
    return {4, 2};
  }
}

void mlir::tessera::setCpuSchedules(Chip &chip, int64_t vectorBytes) {
  SchedulePolicy &policy = chip.policy;
  auto [rows, vectors] = getRegisterTile(vectorBytes);
  std::array<int64_t, 2> tile{rows, vectors * vectorBytes / 4};
  policy.matrixDefaults = policy.scalarDefaults = {tile, tile, 4, 0};
  policy.simt = {1, 4096, 128, 4};
  policy.vectorRegisters = vectorBytes == 64 ? 32 : 16;
  policy.cacheBytes = 1 << 20;
  policy.blockBytes = 4096;
  // Measured on two cores with AVX-512. Copies and matmuls of other numbers of
  // cores take a similar share of these times.
  PerformanceModel &model = chip.model;
  model.copyStart = 5000;
  model.copies = 25;
  model.transposedElements = 3;
  model.savedByOrderOfWords = 4.5e-3;
  model.savedByOrder = 1.5e-2;
}
