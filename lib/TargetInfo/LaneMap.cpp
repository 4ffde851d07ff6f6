//===- LaneMap.cpp - Distribution of elements over lanes ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/LaneMap.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tessera;

std::pair<int64_t, int64_t> LaneMap::at(int64_t lane, int64_t reg) const {
  int64_t row = 0, col = 0;
  auto add = [&](llvm::ArrayRef<Step> steps, int64_t bits) {
    for (size_t i = 0; i < steps.size(); ++i)
      if (bits >> i & 1) {
        row += steps[i][0];
        col += steps[i][1];
      }
  };
  add(lanes, lane);
  add(registers, reg);
  return {row, col};
}

int64_t LaneMap::getReplicatedLaneBits() const {
  int64_t bits = 0;
  for (size_t i = 0; i < lanes.size(); ++i)
    if (!lanes[i][0] && !lanes[i][1])
      bits |= int64_t(1) << i;
  return bits;
}

std::optional<std::pair<int64_t, int64_t>> LaneMap::find(int64_t row,
                                                         int64_t col) const {
  // How far registers go from a lane's first one.
  std::array<int64_t, 2> least{0, 0}, most{0, 0};
  for (const Step &step : registers)
    for (unsigned d : {0, 1})
      (step[d] < 0 ? least : most)[d] += step[d];
  for (int64_t lane = 0; lane < getNumLanes(); ++lane) {
    auto [laneRow, laneCol] = at(lane, 0);
    if (row < laneRow + least[0] || row > laneRow + most[0] ||
        col < laneCol + least[1] || col > laneCol + most[1])
      continue;
    for (int64_t reg = 0; reg < getNumRegisters(); ++reg)
      if (at(lane, reg) == std::make_pair(row, col))
        return std::make_pair(lane, reg);
  }
  return std::nullopt;
}

int64_t LaneMap::extent(unsigned dimension) const {
  int64_t extent = 1;
  for (const Step &step : lanes)
    extent += step[dimension];
  for (const Step &step : registers)
    extent += step[dimension];
  return extent;
}

LaneMap LaneMap::dropDimension(unsigned dimension) const {
  LaneMap result;
  for (Step step : lanes) {
    step[dimension] = 0;
    result.lanes.push_back(step);
  }
  for (Step step : registers) {
    step[dimension] = 0;
    if (step[1 - dimension])
      result.registers.push_back(step);
  }
  return result;
}

LaneMap LaneMap::transpose() const {
  LaneMap result = *this;
  for (Step &step : result.lanes)
    std::swap(step[0], step[1]);
  for (Step &step : result.registers)
    std::swap(step[0], step[1]);
  return result;
}

int64_t LaneMap::getContiguous(unsigned dimension) const {
  int64_t width = 1;
  for (const Step &step : registers) {
    if (step[dimension] != width || step[1 - dimension] != 0)
      break;
    width *= 2;
  }
  return width;
}

llvm::SmallVector<unsigned, 6> LaneMap::getRunFirst(unsigned dimension) const {
  llvm::SmallVector<unsigned, 6> order;
  for (int32_t width = 1;; width *= 2) {
    Step next{0, 0};
    next[dimension] = width;
    const Step *found = llvm::find(registers, next);
    if (found == registers.end())
      break;
    order.push_back(found - registers.begin());
  }
  for (unsigned bit = 0; bit < registers.size(); ++bit)
    if (!llvm::is_contained(order, bit))
      order.push_back(bit);
  return order;
}

LaneMap LaneMap::reorderRegisters(llvm::ArrayRef<unsigned> order) const {
  LaneMap result;
  result.lanes = lanes;
  for (unsigned bit : order)
    result.registers.push_back(registers[bit]);
  return result;
}
