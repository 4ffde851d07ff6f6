//===- LaneSteps.cpp - Steps of lane maps ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

using namespace mlir::tessera;

LaneSteps mlir::tessera::countSteps(unsigned dimension, int64_t from,
                                    int64_t to) {
  LaneSteps steps;
  for (int64_t step = from; step < to; step *= 2) {
    steps.push_back({0, 0});
    steps.back()[dimension] = static_cast<int32_t>(step);
  }
  return steps;
}

LaneSteps mlir::tessera::concatSteps(LaneSteps first,
                                     llvm::ArrayRef<LaneMap::Step> second) {
  first.append(second.begin(), second.end());
  return first;
}
