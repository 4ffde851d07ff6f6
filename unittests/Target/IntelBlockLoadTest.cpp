//===- IntelBlockLoadTest.cpp - Block loads against their extension -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPV_INTEL_2d_block_io, section "Mapping Block Data to Invocations", defines
// in text the data that each invocation is assigned, and gives examples. The
// text is a function here, the examples are data with which the function is
// compared, and the loads of each matrix instruction's operands are compared
// with the function. None of this is shared with the compiler.
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/BlockLoad.h"

#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace mlir::tessera;

namespace {

using Kind = BlockLoad::Kind;
/// A position in the 2D region of memory, relative to the block's first one:
/// row, column of the instruction's elements.
using Position = std::pair<int64_t, int64_t>;
/// The data of an invocation at its pointer, from the first element on.
using Assigned = std::vector<Position>;
/// A row of the block: the data at each position, several elements if they are
/// "combined into a 32-bit value".
using Row = std::vector<std::vector<Position>>;

int64_t padToPowerOfTwo(int64_t number) {
  int64_t result = 1;
  while (result < number)
    result *= 2;
  return result;
}

/// "Mapping Block Data to Invocations", for one block.
Assigned assign(Kind kind, int64_t elementBytes, int64_t width, int64_t height,
                int64_t subgroup, int64_t invocation) {
  // "For OpSubgroup2DBlockLoadINTEL, OpSubgroup2DBlockLoadTransformINTEL, ...
  // the Block Width is padded to the next power-of-two. For
  // OpSubgroup2DBlockLoadTransposeINTEL, the Block Height is padded".
  EXPECT_EQ(kind == Kind::Transposed ? height : width,
            padToPowerOfTwo(kind == Kind::Transposed ? height : width))
      << "padding is not written down here";
  std::vector<Row> rows;
  if (kind == Kind::Packed) {
    // "For 2-byte elements, every two rows are combined into a 32-bit value,
    // with the lower-numbered rows in the lower bits ... For 1-byte elements,
    // every four rows".
    int64_t together = 4 / elementBytes;
    for (int64_t first = 0; first < height; first += together) {
      Row row(width);
      for (int64_t column = 0; column < width; ++column)
        for (int64_t i = 0; i < together; ++i)
          row[column].push_back({first + i, column});
      rows.push_back(row);
    }
  } else if (kind == Kind::Transposed) {
    // "by assigning the first column of the 2D block to the first row of the
    // transposed 2D block, and so on".
    for (int64_t column = 0; column < width; ++column) {
      Row row(height);
      for (int64_t i = 0; i < height; ++i)
        row[i].push_back({i, column});
      rows.push_back(row);
    }
  } else {
    for (int64_t i = 0; i < height; ++i) {
      Row row(width);
      for (int64_t column = 0; column < width; ++column)
        row[column].push_back({i, column});
      rows.push_back(row);
    }
  }
  Assigned assigned;
  for (size_t i = 0; i < rows.size(); ++i) {
    auto size = static_cast<int64_t>(rows[i].size());
    if (size <= subgroup) {
      // "multiple rows are assigned to the subgroup. The first row is assigned
      // to the first set of invocations, then the next row ... to the next set"
      int64_t sets = subgroup / size;
      if (static_cast<int64_t>(i) % sets != invocation / size)
        continue;
      for (const Position &position : rows[i][invocation % size])
        assigned.push_back(position);
      continue;
    }
    // "multiple elements of each block row are assigned to each invocation. The
    // first set of elements are assigned to the first invocation".
    int64_t each = size / subgroup;
    for (int64_t column = invocation * each; column < (invocation + 1) * each;
         ++column)
      for (const Position &position : rows[i][column])
        assigned.push_back(position);
  }
  return assigned;
}

TEST(IntelBlockLoadTest, TheFunctionAgreesWithTheExamples) {
  // Examples 1 to 6, with a subgroup of four.
  EXPECT_EQ(assign(Kind::Rows, 4, 4, 2, 4, 2), (Assigned{{0, 2}, {1, 2}}));
  EXPECT_EQ(assign(Kind::Rows, 4, 2, 4, 4, 0), (Assigned{{0, 0}, {2, 0}}));
  EXPECT_EQ(assign(Kind::Rows, 4, 2, 4, 4, 1), (Assigned{{0, 1}, {2, 1}}));
  EXPECT_EQ(assign(Kind::Rows, 4, 2, 4, 4, 2), (Assigned{{1, 0}, {3, 0}}));
  EXPECT_EQ(assign(Kind::Rows, 4, 2, 4, 4, 3), (Assigned{{1, 1}, {3, 1}}));
  EXPECT_EQ(assign(Kind::Rows, 1, 8, 2, 4, 1),
            (Assigned{{0, 2}, {0, 3}, {1, 2}, {1, 3}}));
  EXPECT_EQ(assign(Kind::Transposed, 4, 2, 4, 4, 3),
            (Assigned{{3, 0}, {3, 1}}));
  EXPECT_EQ(assign(Kind::Packed, 2, 4, 2, 4, 1), (Assigned{{0, 1}, {1, 1}}));
  EXPECT_EQ(assign(Kind::Packed, 1, 4, 4, 4, 2),
            (Assigned{{0, 2}, {1, 2}, {2, 2}, {3, 2}}));
}

int64_t getBytes(const std::string &type) {
  return type == "f32" ? 4 : type == "i8" ? 1 : 2;
}

// Blocks of one tile, of the largest number of tiles below each other, and of
// the largest number side by side: lanes hold the elements of the instruction's
// map, tile after tile, block after block.
TEST(IntelBlockLoadTest, LanesHaveWhatTheTableSays) {
  std::map<std::string, int> seen;
  for (const Chip &chip : getAllChips()) {
    if (!chip.blockLoads)
      continue;
    for (const MatrixInstruction &row : chip.instructions)
      for (Role role : {Role::A, Role::B, Role::Acc})
        for (bool transposed : {false, true}) {
          std::optional<BlockLoad> load =
              findBlockLoad(chip, row, role, transposed);
          if (!load)
            continue;
          ++seen[chip.name];
          SCOPED_TRACE(chip.name + " " + row.name);
          const LaneMap &map = row.getMap(role);
          int64_t bytes = getBytes(role == Role::A ? row.aType : row.bType),
                  ratio = load->elementBytes / bytes;
          int64_t stack = load->mostHeight / load->height;
          ASSERT_GE(stack, 1);
          for (int64_t lane = 0; lane < chip.subgroupSize; ++lane) {
            Assigned all =
                assign(load->kind, load->elementBytes, load->width,
                       load->height * stack, chip.subgroupSize, lane);
            // Elements of the operand, in the fragment.
            Assigned elements;
            for (auto [at, column] : all)
              for (int64_t i = 0; i < ratio; ++i) {
                Position position{at, column * ratio + i};
                if (transposed)
                  std::swap(position.first, position.second);
                elements.push_back(position);
              }
            ASSERT_EQ(static_cast<int64_t>(elements.size()),
                      stack * map.getNumRegisters());
            for (int64_t tile = 0; tile < stack; ++tile)
              for (int64_t reg = 0; reg < map.getNumRegisters(); ++reg) {
                Position expected = map.at(lane, reg);
                (transposed ? expected.second : expected.first) +=
                    tile * (transposed ? map.getCols() : map.getRows());
                EXPECT_EQ(elements[tile * map.getNumRegisters() + reg],
                          expected)
                    << "lane " << lane << ", tile " << tile << ", element "
                    << reg;
              }
          }
        }
  }
  // a and both orders of b, for five kinds of operands, of 1 to 8 rows; a of
  // one row of tf32 leaves lanes without elements.
  EXPECT_EQ(seen, (std::map<std::string, int>{{"pvc", 5 * 4 * 3 - 1},
                                              {"bmg", 5 * 4 * 3 - 1}}));
}

// cl_intel_subgroup_2d_block_io, section 5.2.X: the blocks that there are.
TEST(IntelBlockLoadTest, BlocksAreThoseOfTheExtension) {
  struct Sizes {
    Kind kind;
    int64_t elementBytes, width;
    std::set<int64_t> heights, counts;
  };
  const Sizes table[] = {
      {Kind::Rows, 1, 32, {1, 2, 4, 8, 16, 32}, {1, 2}},
      {Kind::Rows, 2, 16, {1, 2, 4, 8, 16, 32}, {1, 2}},
      {Kind::Rows, 4, 8, {1, 2, 4, 8, 16, 32}, {1, 2}},
      {Kind::Rows, 4, 16, {1, 2, 4, 8, 16, 32}, {1}},
      {Kind::Packed, 1, 16, {32}, {1, 2, 4}},
      {Kind::Packed, 2, 16, {16, 32}, {1, 2}},
      {Kind::Transposed, 4, 8, {16, 32}, {1}},
  };
  for (const Chip &chip : getAllChips())
    for (const MatrixInstruction &row : chip.instructions)
      for (Role role : {Role::A, Role::B})
        for (bool transposed : {false, true}) {
          std::optional<BlockLoad> load =
              findBlockLoad(chip, row, role, transposed);
          if (!load)
            continue;
          SCOPED_TRACE(chip.name + " " + row.name);
          const Sizes *found = nullptr;
          for (const Sizes &sizes : table)
            if (sizes.kind == load->kind && sizes.width == load->width &&
                sizes.elementBytes == load->elementBytes)
              found = &sizes;
          ASSERT_TRUE(found);
          for (int64_t height = load->height; height <= load->mostHeight;
               height *= 2)
            EXPECT_TRUE(found->heights.count(height)) << height;
          for (int64_t count = 1; count <= load->mostCount; count *= 2)
            EXPECT_TRUE(found->counts.count(count)) << count;
        }
}

} // namespace
