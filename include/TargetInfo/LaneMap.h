//===- LaneMap.h - Distribution of elements over lanes ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_LANEMAP_H
#define TARGETINFO_LANEMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace mlir::tessera {

/// The distribution of a tile's elements over the registers of a subgroup's
/// lanes.
///
/// The layout of every matrix unit known so far is linear in the bits of the
/// lane id and of the register index: each bit that is set moves the element by
/// its own (row, column) step, and the steps add up. A map is therefore two
/// lists of steps, from which everything else is derived. A lane bit whose step
/// is (0, 0) replicates: lanes that differ in it hold the same elements.
///
/// Example, the accumulator of NVIDIA's m16n8 instructions (PTX ISA, "Matrix
/// Fragments for mma.m16n8k16"): lane bits 0 and 1 step two and four columns,
/// lane bits 2 to 4 step one, two and four rows, register bit 0 steps a column
/// and register bit 1 eight rows:
///
///     lanes     = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}
///     registers = {{0, 1}, {8, 0}}
class LaneMap {
public:
  using Step = std::array<int32_t, 2>;

  LaneMap() = default;
  LaneMap(std::initializer_list<Step> lanes,
          std::initializer_list<Step> registers)
      : lanes(lanes), registers(registers) {}
  LaneMap(llvm::ArrayRef<Step> lanes, llvm::ArrayRef<Step> registers)
      : lanes(lanes.begin(), lanes.end()),
        registers(registers.begin(), registers.end()) {}

  llvm::ArrayRef<Step> getLanes() const { return lanes; }
  llvm::ArrayRef<Step> getRegisters() const { return registers; }

  /// The number of lanes, and of elements that each lane holds.
  int64_t getNumLanes() const { return int64_t(1) << lanes.size(); }
  int64_t getNumRegisters() const { return int64_t(1) << registers.size(); }

  /// The extent of the tile: one more than the largest coordinate.
  int64_t getRows() const { return extent(0); }
  int64_t getCols() const { return extent(1); }

  /// The position of element `reg` of lane `lane` in the tile: (row, column).
  std::pair<int64_t, int64_t> at(int64_t lane, int64_t reg) const;

  /// The bits of a lane id that replicate.
  int64_t getReplicatedLaneBits() const;

  /// The first (lane, register) that holds an element, if any does.
  std::optional<std::pair<int64_t, int64_t>> find(int64_t row,
                                                  int64_t col) const;

  /// The map of a vector along one dimension of the tile: `dimension` is the
  /// one that is dropped (0: the result has one row). Registers that step only
  /// along it are dropped; lanes that do so replicate.
  LaneMap dropDimension(unsigned dimension) const;

  /// The map of the transposed tile.
  LaneMap transpose() const;

  /// The number of registers, from 0 on, that are adjacent along `dimension`
  /// (0: down the rows, 1: along the columns): the widest vector access.
  int64_t getContiguous(unsigned dimension) const;

  /// The bits of a register index, reordered so that the longest run of
  /// registers along `dimension` comes first: bit `i` of an index into the
  /// reordered registers is bit `result[i]` of a register index. The other bits
  /// keep their order.
  ///
  /// Example, two rows of four columns with registers down the rows first,
  /// {{1, 0}, {0, 1}, {0, 2}}: along the columns, the order is 1, 2, 0.
  llvm::SmallVector<unsigned, 6> getRunFirst(unsigned dimension) const;

  /// The map with the bits of its register index in this order.
  LaneMap reorderRegisters(llvm::ArrayRef<unsigned> order) const;

  bool operator==(const LaneMap &other) const {
    return lanes == other.lanes && registers == other.registers;
  }
  bool operator!=(const LaneMap &other) const { return !(*this == other); }

private:
  int64_t extent(unsigned dimension) const;

  llvm::SmallVector<Step, 6> lanes;
  llvm::SmallVector<Step, 6> registers;
};

} // namespace mlir::tessera

#endif // TARGETINFO_LANEMAP_H
