//===- LaneMapTest.cpp - Lane maps, and those of all instructions ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Chip.h"
#include "TargetInfo/RowMaps.h"

#include "gtest/gtest.h"

#include <map>

using namespace mlir::tessera;

namespace {

constexpr Role roles[] = {Role::A, Role::B, Role::Acc};

/// Calls `check` for every row of every chip, and names the row on failure.
template <typename Check> void forEachRow(Check check) {
  for (const Chip &chip : getAllChips())
    for (const MatrixInstruction &row : chip.instructions) {
      SCOPED_TRACE(chip.name + " " + row.name);
      check(chip, row);
    }
}

/// Calls `check` for every map, once for those of several rows.
template <typename Check> void forEachMap(Check check) {
  std::vector<std::pair<int64_t, LaneMap>> seen;
  forEachRow([&](const Chip &chip, const MatrixInstruction &row) {
    for (Role role : roles) {
      SCOPED_TRACE(stringifyRole(role).str());
      std::pair<int64_t, LaneMap> map{chip.subgroupSize, row.getMap(role)};
      if (llvm::is_contained(seen, map))
        continue;
      seen.push_back(map);
      check(chip, row.getMap(role));
    }
  });
}

int64_t getReplication(const LaneMap &map) {
  int64_t factor = 1;
  for (const LaneMap::Step &step : map.getLanes())
    if (step == LaneMap::Step{0, 0})
      factor *= 2;
  return factor;
}

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

const LaneMap acc16x8({{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}},
                      {{0, 1}, {8, 0}});

/// Lanes that hold whole rows cover a tile once, with accesses of four adjacent
/// elements, and are adjacent if they share a row.
TEST(LaneMapTest, RowMaps) {
  bool any = false;
  for (const Chip &chip : getAllChips())
    for (const MatrixInstruction &row : getRowMaps(chip)) {
      SCOPED_TRACE(chip.name + " " + row.name);
      any = true;
      EXPECT_EQ(chip.findInstruction(row.name)->name, row.name);
      EXPECT_EQ(row.accMap.getNumLanes(), chip.subgroupSize);
      EXPECT_EQ(row.accMap.getRows(), row.m);
      EXPECT_EQ(row.accMap.getCols(), row.n);
      EXPECT_EQ(row.accMap.getContiguous(1), 4);
      EXPECT_EQ(row.m * row.n, 4 * chip.subgroupSize);
      std::map<std::pair<int64_t, int64_t>, int64_t> lanes;
      for (int64_t lane = 0; lane < chip.subgroupSize; ++lane)
        for (int64_t reg = 0; reg < 4; ++reg)
          EXPECT_TRUE(lanes.try_emplace(row.accMap.at(lane, reg), lane).second);
      for (auto [position, lane] : lanes)
        EXPECT_EQ(lane / (chip.subgroupSize / row.m), position.first);
    }
  EXPECT_TRUE(any);
  EXPECT_EQ(getRowMaps(*findChip("vulkan", "nvidia-hopper")).front().name,
            "rows.m32n4");
  EXPECT_TRUE(getRowMaps(*findChip("vulkan", "lavapipe-simt")).empty());
  EXPECT_TRUE(getRowMaps(*findChip("cuda", "sm_90a")).empty());
}

/// Those for stores have accesses of eight adjacent elements, and adjacent
/// lanes those that follow in a row.
TEST(LaneMapTest, StoreMaps) {
  for (const Chip &chip : getAllChips())
    for (const MatrixInstruction &row : getStoreMaps(chip)) {
      SCOPED_TRACE(chip.name + " " + row.name);
      EXPECT_EQ(chip.findInstruction(row.name)->name, row.name);
      EXPECT_EQ(row.accMap.getNumLanes(), chip.subgroupSize);
      EXPECT_EQ(row.accMap.getContiguous(1), 8);
      EXPECT_EQ(row.m * row.n, 8 * chip.subgroupSize);
      for (int64_t lane = 0; lane < chip.subgroupSize; ++lane)
        for (int64_t reg = 0; reg < 8; ++reg)
          EXPECT_EQ(row.accMap.at(lane, reg),
                    std::make_pair((8 * lane + reg) / row.n,
                                   (8 * lane + reg) % row.n));
    }
  EXPECT_EQ(getStoreMaps(*findChip("vulkan", "nvidia-hopper")).front().name,
            "stores.m8n32");
  EXPECT_EQ(getStoreMaps(*findChip("vulkan", "lavapipe")).front().name,
            "stores.m8n8");
  EXPECT_TRUE(getStoreMaps(*findChip("cuda", "sm_90a")).empty());
}

TEST(LaneMapTest, Empty) {
  LaneMap map;
  EXPECT_EQ(map.getNumLanes(), 1);
  EXPECT_EQ(map.getNumRegisters(), 1);
  EXPECT_EQ(map.getRows(), 1);
  EXPECT_EQ(map.getCols(), 1);
  EXPECT_EQ(map.at(0, 0), std::make_pair(int64_t(0), int64_t(0)));
  EXPECT_EQ(map.getContiguous(0), 1);
  EXPECT_EQ(map.getContiguous(1), 1);
}

TEST(LaneMapTest, AddsTheStepsOfSetBits) {
  EXPECT_EQ(acc16x8.getNumLanes(), 32);
  EXPECT_EQ(acc16x8.getNumRegisters(), 4);
  EXPECT_EQ(acc16x8.getRows(), 16);
  EXPECT_EQ(acc16x8.getCols(), 8);
  EXPECT_EQ(acc16x8.at(0, 0), std::make_pair(int64_t(0), int64_t(0)));
  EXPECT_EQ(acc16x8.at(5, 0), std::make_pair(int64_t(1), int64_t(2)));
  EXPECT_EQ(acc16x8.at(31, 3), std::make_pair(int64_t(15), int64_t(7)));
}

TEST(LaneMapTest, FindsTheFirstHolder) {
  EXPECT_EQ(acc16x8.find(8, 1), std::make_pair(int64_t(0), int64_t(3)));
  EXPECT_EQ(acc16x8.find(16, 0), std::nullopt);
  EXPECT_EQ(acc16x8.find(0, 8), std::nullopt);
  EXPECT_EQ(acc16x8.find(-1, 0), std::nullopt);
  // Two registers that hold the same.
  LaneMap twice({}, {{0, 0}, {0, 1}});
  EXPECT_EQ(twice.find(0, 1), std::make_pair(int64_t(0), int64_t(2)));
}

TEST(LaneMapTest, DropsADimension) {
  LaneMap row = acc16x8.dropDimension(0);
  EXPECT_EQ(row, LaneMap({{0, 2}, {0, 4}, {0, 0}, {0, 0}, {0, 0}}, {{0, 1}}));
  EXPECT_EQ(row.getRows(), 1);
  EXPECT_EQ(row.getCols(), 8);
  LaneMap column = acc16x8.dropDimension(1);
  EXPECT_EQ(column,
            LaneMap({{0, 0}, {0, 0}, {1, 0}, {2, 0}, {4, 0}}, {{8, 0}}));
  EXPECT_EQ(column.getRows(), 16);
  EXPECT_EQ(column.getCols(), 1);
  EXPECT_EQ(row.dropDimension(1).getNumRegisters(), 1);
  EXPECT_EQ(acc16x8.getReplicatedLaneBits(), 0);
  EXPECT_EQ(row.getReplicatedLaneBits(), 0b11100);
  EXPECT_EQ(column.getReplicatedLaneBits(), 0b00011);
}

TEST(LaneMapTest, Transposes) {
  LaneMap transposed = acc16x8.transpose();
  EXPECT_EQ(transposed.getRows(), 8);
  EXPECT_EQ(transposed.getCols(), 16);
  EXPECT_NE(transposed, acc16x8);
  EXPECT_EQ(transposed.transpose(), acc16x8);
}

TEST(LaneMapTest, CountsContiguousRegisters) {
  EXPECT_EQ(acc16x8.getContiguous(1), 2);
  EXPECT_EQ(acc16x8.getContiguous(0), 1);
  EXPECT_EQ(acc16x8.transpose().getContiguous(0), 2);
  EXPECT_EQ(LaneMap({}, {{0, 1}, {0, 2}, {0, 4}}).getContiguous(1), 8);
  // A gap, and the wrong order.
  EXPECT_EQ(LaneMap({}, {{0, 1}, {0, 4}}).getContiguous(1), 2);
  EXPECT_EQ(LaneMap({}, {{0, 2}, {0, 1}}).getContiguous(1), 1);
  EXPECT_EQ(LaneMap({}, {{1, 1}}).getContiguous(1), 1);
}

TEST(LaneMapTest, PutsTheLongestRunFirst) {
  using Order = llvm::SmallVector<unsigned, 6>;
  // Registers down two rows, then along four columns.
  LaneMap map({{2, 0}}, {{1, 0}, {0, 1}, {0, 2}});
  EXPECT_EQ(map.getRunFirst(1), (Order{1, 2, 0}));
  EXPECT_EQ(map.getRunFirst(0), (Order{0, 1, 2}));
  LaneMap along = map.reorderRegisters(map.getRunFirst(1));
  EXPECT_EQ(along.getContiguous(1), 4);
  EXPECT_EQ(along.getRegisters()[2], (LaneMap::Step{1, 0}));
  EXPECT_EQ(along.getLanes(), map.getLanes());
  // Bit i of the new index is bit order[i] of the old one.
  EXPECT_EQ(along.at(1, 0b011), map.at(1, 0b110));
  EXPECT_EQ(along.at(1, 0b100), map.at(1, 0b001));
  // No register steps by one column: nothing moves.
  EXPECT_EQ(LaneMap({}, {{1, 0}, {0, 2}}).getRunFirst(1), (Order{0, 1}));
}

TEST(LaneMapTest, HasRunsAlongBothSidesOfScalarMatmuls) {
  const Chip *chip = findChip("cuda", "sm_90a");
  ASSERT_TRUE(chip);
  const MatrixInstruction *row = chip->findInstruction("fma.m16n32k4.f32.f32");
  ASSERT_TRUE(row);
  for (const LaneMap &map : {row->aMap, row->bMap})
    for (unsigned dimension : {0, 1})
      EXPECT_EQ(map.reorderRegisters(map.getRunFirst(dimension))
                    .getContiguous(dimension),
                4);
}

//===----------------------------------------------------------------------===//
// The tables' maps
//===----------------------------------------------------------------------===//

TEST(InstructionMapTest, HaveTheInstructionsShape) {
  forEachRow([](const Chip &chip, const MatrixInstruction &row) {
    EXPECT_EQ(row.aMap.getRows(), row.m);
    EXPECT_EQ(row.aMap.getCols(), row.k);
    EXPECT_EQ(row.bMap.getRows(), row.k);
    EXPECT_EQ(row.bMap.getCols(), row.n);
    EXPECT_EQ(row.accMap.getRows(), row.m);
    EXPECT_EQ(row.accMap.getCols(), row.n);
    for (const LaneMap *map : {&row.aMap, &row.bMap, &row.accMap})
      EXPECT_EQ(map->getNumLanes(), chip.subgroupSize * row.subgroups);
  });
}

TEST(InstructionMapTest, CoverTheirTileEvenly) {
  forEachMap([](const Chip &chip, const LaneMap &map) {
    EXPECT_EQ(map.getNumLanes() % chip.subgroupSize, 0);
    int64_t replication = getReplication(map);
    EXPECT_EQ(map.getNumLanes() * map.getNumRegisters(),
              map.getRows() * map.getCols() * replication);
    std::map<std::pair<int64_t, int64_t>, int64_t> holders;
    for (int64_t lane = 0; lane < map.getNumLanes(); ++lane)
      for (int64_t reg = 0; reg < map.getNumRegisters(); ++reg)
        ++holders[map.at(lane, reg)];
    for (int64_t row = 0; row < map.getRows(); ++row)
      for (int64_t col = 0; col < map.getCols(); ++col)
        EXPECT_EQ((holders[{row, col}]), replication)
            << "element " << row << ", " << col;
    // Nothing outside.
    EXPECT_EQ(static_cast<int64_t>(holders.size()),
              map.getRows() * map.getCols());
  });
}

TEST(InstructionMapTest, FindWhatTheyHold) {
  forEachMap([](const Chip &, const LaneMap &map) {
    for (int64_t row = 0; row < map.getRows(); ++row)
      for (int64_t col = 0; col < map.getCols(); ++col) {
        auto found = map.find(row, col);
        ASSERT_TRUE(found) << "element " << row << ", " << col;
        EXPECT_EQ(map.at(found->first, found->second),
                  std::make_pair(row, col));
      }
    EXPECT_FALSE(map.find(map.getRows(), 0));
    EXPECT_FALSE(map.find(0, map.getCols()));
  });
}

TEST(InstructionMapTest, KeepTheKeptCoordinateInVectors) {
  // Reductions and broadcasts rely on this: a lane holds the elements of the
  // vector that correspond to its elements of the matrix, each once.
  forEachMap([](const Chip &, const LaneMap &map) {
    for (unsigned dropped : {0u, 1u}) {
      LaneMap vector = map.dropDimension(dropped);
      EXPECT_EQ(vector.getNumLanes(), map.getNumLanes());
      EXPECT_EQ(dropped == 0 ? vector.getRows() : vector.getCols(), 1);
      EXPECT_EQ(dropped == 0 ? vector.getCols() : vector.getRows(),
                dropped == 0 ? map.getCols() : map.getRows());
      for (int64_t lane = 0; lane < map.getNumLanes(); ++lane) {
        auto coordinate = [&](std::pair<int64_t, int64_t> position) {
          return dropped == 0 ? position.second : position.first;
        };
        std::map<int64_t, int64_t> times;
        for (int64_t reg = 0; reg < vector.getNumRegisters(); ++reg)
          ++times[coordinate(vector.at(lane, reg))];
        std::map<int64_t, int64_t> wanted;
        for (int64_t reg = 0; reg < map.getNumRegisters(); ++reg)
          wanted[coordinate(map.at(lane, reg))] = 1;
        EXPECT_EQ(times, wanted) << "lane " << lane;
      }
    }
  });
}

TEST(InstructionMapTest, GiveContiguousRuns) {
  forEachMap([](const Chip &, const LaneMap &map) {
    for (unsigned dimension : {0u, 1u}) {
      int64_t width = map.getContiguous(dimension);
      for (int64_t lane = 0; lane < map.getNumLanes(); ++lane)
        for (int64_t reg = 0; reg < map.getNumRegisters(); ++reg) {
          auto first = map.at(lane, reg / width * width);
          auto here = map.at(lane, reg);
          int64_t offset = reg % width;
          EXPECT_EQ(here.first - first.first, dimension == 0 ? offset : 0);
          EXPECT_EQ(here.second - first.second, dimension == 1 ? offset : 0);
        }
    }
  });
}

/// The register of lane 0 that holds an element, if one does.
std::optional<int64_t> findInFirstLane(const LaneMap &map, int64_t row,
                                       int64_t col) {
  for (int64_t reg = 0; reg < map.getNumRegisters(); ++reg)
    if (map.at(0, reg) == std::make_pair(row, col))
      return reg;
  return std::nullopt;
}

TEST(InstructionMapTest, ScalarRowsHaveOperandsWhereTheyAreNeeded) {
  // An mma without a matrix unit pairs registers as lane 0 does; this must be
  // correct in every lane.
  forEachRow([](const Chip &chip, const MatrixInstruction &row) {
    if (row.matrixUnit)
      return;
    for (int64_t reg = 0; reg < row.accMap.getNumRegisters(); ++reg)
      for (int64_t k = 0; k < row.k; ++k) {
        auto [i, j] = row.accMap.at(0, reg);
        std::optional<int64_t> left = findInFirstLane(row.aMap, i, k),
                               right = findInFirstLane(row.bMap, k, j);
        ASSERT_TRUE(left && right);
        for (int64_t lane = 0; lane < chip.subgroupSize; ++lane) {
          auto [m, n] = row.accMap.at(lane, reg);
          EXPECT_EQ(row.aMap.at(lane, *left), std::make_pair(m, k));
          EXPECT_EQ(row.bMap.at(lane, *right), std::make_pair(k, n));
        }
        // In one lane, whole vectors are multiplied: a row of b after the
        // other.
        if (chip.subgroupSize == 1 && row.m == 1) {
          EXPECT_EQ(*left, k);
          EXPECT_EQ(*right, k * row.accMap.getNumRegisters() + reg);
        }
      }
  });
}

} // namespace
