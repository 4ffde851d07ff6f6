//===- PtxLayoutTest.cpp - The tables against the PTX ISA's formulas ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows and columns below are written out as the PTX ISA has them ("Matrix
// Fragments for mma.m16n8k16" and its neighbours), element i of a lane at a
// time, and share nothing with the tables.
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Chip.h"

#include "gtest/gtest.h"

using namespace mlir::tessera;

namespace {

using Position = std::pair<int64_t, int64_t>;
using Formula = Position (*)(int64_t lane, int64_t i);

/// A fragment's elements for each lane, and where they lie.
struct Fragment {
  int64_t elements;
  Formula position;
};

int64_t groupID(int64_t lane) { return lane >> 2; }
int64_t threadIDInGroup(int64_t lane) { return lane % 4; }

//===----------------------------------------------------------------------===//
// .f16 and .bf16
//===----------------------------------------------------------------------===//

Position a16816(int64_t lane, int64_t i) {
  bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
  return {upper ? groupID(lane) : groupID(lane) + 8,
          i < 4 ? threadIDInGroup(lane) * 2 + (i & 1)
                : threadIDInGroup(lane) * 2 + (i & 1) + 8};
}
Position b16816(int64_t lane, int64_t i) {
  return {i < 2 ? threadIDInGroup(lane) * 2 + (i & 1)
                : threadIDInGroup(lane) * 2 + (i & 1) + 8,
          groupID(lane)};
}
Position a1688(int64_t lane, int64_t i) {
  return {i < 2 ? groupID(lane) : groupID(lane) + 8,
          threadIDInGroup(lane) * 2 + (i & 1)};
}
Position b1688(int64_t lane, int64_t i) {
  return {threadIDInGroup(lane) * 2 + i, groupID(lane)};
}
Position c16x8(int64_t lane, int64_t i) {
  return {i < 2 ? groupID(lane) : groupID(lane) + 8,
          threadIDInGroup(lane) * 2 + (i & 1)};
}
Position c8x8(int64_t lane, int64_t i) {
  return {groupID(lane), threadIDInGroup(lane) * 2 + (i & 1)};
}

//===----------------------------------------------------------------------===//
// .f16, m8n8k4: four matmuls at once, of threads 4q .. 4q + 3 and 16 more. The
// table combines them to one of 16x16x4: matmuls 1 and 3 are the lower half of
// the rows, matmuls 2 and 3 the right half of the columns.
//===----------------------------------------------------------------------===//

int64_t product(int64_t lane) { return lane % 16 / 4; }
int64_t rowOfProduct(int64_t lane) { return product(lane) % 2 * 8; }
int64_t colOfProduct(int64_t lane) { return product(lane) / 2 * 8; }

Position a884(int64_t lane, int64_t i) { // .row
  return {rowOfProduct(lane) + (lane < 16 ? lane % 4 : lane % 4 + 4), i};
}
Position b884(int64_t lane, int64_t i) { // .col
  return {i, colOfProduct(lane) + (lane < 16 ? lane % 4 : lane % 4 + 4)};
}
Position c884f16(int64_t lane, int64_t i) {
  return {rowOfProduct(lane) + (lane < 16 ? lane % 4 : lane % 4 + 4),
          colOfProduct(lane) + i};
}
Position c884f32(int64_t lane, int64_t i) {
  int64_t x = (lane & 0b1) + (i & 0b10);
  return {rowOfProduct(lane) + (lane < 16 ? x : x + 4),
          colOfProduct(lane) + (i & 0b100) + (lane & 0b10) + (i & 0b1)};
}

//===----------------------------------------------------------------------===//
// .s8, .u8, .e4m3, .e5m2
//===----------------------------------------------------------------------===//

Position a16832(int64_t lane, int64_t i) {
  bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
  return {upper ? groupID(lane) : groupID(lane) + 8,
          i < 8 ? threadIDInGroup(lane) * 4 + (i & 3)
                : threadIDInGroup(lane) * 4 + (i & 3) + 16};
}
Position b16832(int64_t lane, int64_t i) {
  return {i < 4 ? threadIDInGroup(lane) * 4 + (i & 3)
                : threadIDInGroup(lane) * 4 + (i & 3) + 16,
          groupID(lane)};
}
Position a16816i8(int64_t lane, int64_t i) {
  return {i < 4 ? groupID(lane) : groupID(lane) + 8,
          threadIDInGroup(lane) * 4 + (i & 3)};
}
Position b16816i8(int64_t lane, int64_t i) {
  return {threadIDInGroup(lane) * 4 + (i & 3), groupID(lane)};
}
Position a8816(int64_t lane, int64_t i) {
  return {groupID(lane), threadIDInGroup(lane) * 4 + i};
}
Position b8816(int64_t lane, int64_t i) {
  return {threadIDInGroup(lane) * 4 + i, groupID(lane)};
}

//===----------------------------------------------------------------------===//
// .tf32; the k4 and k8 shapes of .f64 are the same
//===----------------------------------------------------------------------===//

Position a1684(int64_t lane, int64_t i) {
  return {i == 0 ? groupID(lane) : groupID(lane) + 8, threadIDInGroup(lane)};
}
Position b1684(int64_t lane, int64_t) {
  return {threadIDInGroup(lane), groupID(lane)};
}
Position a1688w(int64_t lane, int64_t i) {
  return {i == 0 || i == 2 ? groupID(lane) : groupID(lane) + 8,
          i == 0 || i == 1 ? threadIDInGroup(lane) : threadIDInGroup(lane) + 4};
}
Position b1688w(int64_t lane, int64_t i) {
  return {i == 0 ? threadIDInGroup(lane) : threadIDInGroup(lane) + 4,
          groupID(lane)};
}

//===----------------------------------------------------------------------===//
// .f64
//===----------------------------------------------------------------------===//

Position a16816f64(int64_t lane, int64_t i) {
  return {i % 2 == 0 ? groupID(lane) : groupID(lane) + 8,
          i % 2 == 0 ? i * 2 + threadIDInGroup(lane)
                     : i * 2 - 2 + threadIDInGroup(lane)};
}
Position b16816f64(int64_t lane, int64_t i) {
  return {threadIDInGroup(lane) + i * 4, groupID(lane)};
}
Position a884f64(int64_t lane, int64_t) { return {lane >> 2, lane % 4}; }
Position b884f64(int64_t lane, int64_t) { return {lane % 4, lane >> 2}; }

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

struct Instruction {
  /// The row's name up to the operand types that share the layout.
  std::vector<const char *> names;
  Fragment a, b, c;
};

const Instruction instructions[] = {
    {{"mma.m16n8k16.f32.f16", "mma.m16n8k16.f16.f16", "mma.m16n8k16.f32.bf16"},
     {8, a16816},
     {4, b16816},
     {4, c16x8}},
    {{"mma.m16n8k8.f32.f16", "mma.m16n8k8.f16.f16", "mma.m16n8k8.f32.bf16"},
     {4, a1688},
     {2, b1688},
     {4, c16x8}},
    {{"mma.m8n8k4.f32.f16"}, {4, a884}, {4, b884}, {8, c884f32}},
    {{"mma.m8n8k4.f16.f16"}, {4, a884}, {4, b884}, {8, c884f16}},
    {{"mma.m16n8k32.i32.i8", "mma.m16n8k32.f32.f8E4M3FN",
      "mma.m16n8k32.f32.f8E4M3FN.f8E5M2", "mma.m16n8k32.f32.f8E5M2.f8E4M3FN",
      "mma.m16n8k32.f32.f8E5M2"},
     {16, a16832},
     {8, b16832},
     {4, c16x8}},
    {{"mma.m16n8k16.i32.i8"}, {8, a16816i8}, {4, b16816i8}, {4, c16x8}},
    {{"mma.m8n8k16.i32.i8"}, {4, a8816}, {4, b8816}, {2, c8x8}},
    {{"mma.m16n8k8.f32.tf32", "mma.m16n8k8.f64.f64"},
     {4, a1688w},
     {2, b1688w},
     {4, c16x8}},
    {{"mma.m16n8k4.f32.tf32", "mma.m16n8k4.f64.f64"},
     {2, a1684},
     {1, b1684},
     {4, c16x8}},
    {{"mma.m16n8k16.f64.f64"}, {8, a16816f64}, {4, b16816f64}, {4, c16x8}},
    {{"mma.m8n8k4.f64.f64"}, {1, a884f64}, {1, b884f64}, {2, c8x8}},
};

void compare(const LaneMap &map, const Fragment &fragment) {
  ASSERT_EQ(map.getNumLanes(), 32);
  ASSERT_EQ(map.getNumRegisters(), fragment.elements);
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t i = 0; i < fragment.elements; ++i)
      EXPECT_EQ(map.at(lane, i), fragment.position(lane, i))
          << "lane " << lane << ", element " << i;
}

const MatrixInstruction *findAnywhere(llvm::StringRef name) {
  for (const Chip &chip : getAllChips())
    if (const MatrixInstruction *row = chip.findInstruction(name))
      return row;
  return nullptr;
}

TEST(PtxLayoutTest, TablesAgreeWithTheFormulas) {
  for (const Instruction &instruction : instructions)
    for (const char *name : instruction.names) {
      SCOPED_TRACE(name);
      const MatrixInstruction *row = findAnywhere(name);
      ASSERT_TRUE(row);
      {
        SCOPED_TRACE("a");
        compare(row->aMap, instruction.a);
      }
      {
        SCOPED_TRACE("b");
        compare(row->bMap, instruction.b);
      }
      SCOPED_TRACE("c");
      compare(row->accMap, instruction.c);
    }
}

TEST(PtxLayoutTest, EveryRowHasAFormula) {
  for (const Chip &chip : getAllChips()) {
    if (chip.target != "cuda")
      continue;
    for (const MatrixInstruction &row : chip.instructions) {
      if (!row.matrixUnit)
        continue;
      // The accumulators of these are checked below; their operands are in
      // memory.
      bool known = row.subgroups > 1 || !row.repeated.empty();
      for (const Instruction &instruction : instructions)
        for (const char *name : instruction.names)
          known |= row.name == name;
      EXPECT_TRUE(known) << chip.name << " " << row.name;
    }
  }
}

// Those that repeat another along K: lane t of each four holds a quarter of K,
// in order, the same one of a and of b, and the accumulator is that of the
// repeated one.
TEST(PtxLayoutTest, RepeatedInstructions) {
  int seen = 0;
  for (const Chip &chip : getAllChips())
    for (const MatrixInstruction &row : chip.instructions) {
      if (row.repeated.empty() || row.pairsColumns)
        continue;
      SCOPED_TRACE(row.name);
      ++seen;
      const MatrixInstruction *each = chip.findInstruction(row.repeated);
      ASSERT_TRUE(each);
      EXPECT_EQ(row.k % each->k, 0);
      EXPECT_EQ(row.m, each->m);
      EXPECT_EQ(row.n, each->n);
      EXPECT_EQ(row.accMap, each->accMap);
      EXPECT_TRUE(row.storedBits == 4 || row.storedBits == 8);
      int64_t run = row.k / 4;
      ASSERT_EQ(row.aMap.getNumRegisters(), 2 * run);
      ASSERT_EQ(row.bMap.getNumRegisters(), run);
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t i = 0; i < run; ++i) {
          int64_t k = threadIDInGroup(lane) * run + i;
          EXPECT_EQ(row.aMap.at(lane, i), Position(groupID(lane), k));
          EXPECT_EQ(row.aMap.at(lane, run + i), Position(groupID(lane) + 8, k));
          EXPECT_EQ(row.bMap.at(lane, i), Position(k, groupID(lane)));
        }
      // Only operands that are widened use it.
      EXPECT_EQ(findRepetition(chip, *each, row.storedBits, row.k), &row);
      EXPECT_NE(findRepetition(chip, *each, row.storedBits, row.k / 2), &row);
    }
  // f16 and bf16, of 8 and 4 bits, of 32 and 64 elements, on sm_80 and later.
  EXPECT_GE(seen, 8);
  EXPECT_EQ(seen % 8, 0);
}

// Those that repeat another for two columns at a time: column c of the
// repetition j is column 2 c + j.
TEST(PtxLayoutTest, PairsOfColumns) {
  int seen = 0;
  for (const Chip &chip : getAllChips())
    for (const MatrixInstruction &row : chip.instructions) {
      if (!row.pairsColumns)
        continue;
      SCOPED_TRACE(row.name);
      ++seen;
      const MatrixInstruction *each = chip.findInstruction(row.repeated);
      ASSERT_TRUE(each);
      EXPECT_EQ(row.m, each->m);
      EXPECT_EQ(row.n, 2 * each->n);
      EXPECT_EQ(row.k, each->k);
      EXPECT_EQ(row.aMap, each->aMap);
      ASSERT_EQ(row.bMap.getNumRegisters(), 16);
      ASSERT_EQ(row.accMap.getNumRegisters(), 8);
      for (int64_t lane = 0; lane < 32; ++lane) {
        for (int64_t i = 0; i < 16; ++i) {
          int64_t k = threadIDInGroup(lane) * 4 + i % 4 + i / 8 * 16;
          EXPECT_EQ(row.bMap.at(lane, i),
                    Position(k, 2 * groupID(lane) + i / 4 % 2));
        }
        for (int64_t i = 0; i < 8; ++i) {
          int64_t column = 2 * threadIDInGroup(lane) + i / 2 % 2;
          EXPECT_EQ(row.accMap.at(lane, i),
                    Position(groupID(lane) + i / 4 * 8, 2 * column + i % 2));
        }
      }
    }
  EXPECT_GT(seen, 0);
}

// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", figures
// "WGMMA .m64nNk16 register fragment layout for accumulator matrix D" and those
// of the other types: for lane t of 128 and register i,
//   row = 16 * (t / 32) + (t mod 32) / 4 + 8 * ((i / 2) mod 2)
//   col = 8 * (i / 4) + (t mod 4) * 2 + i mod 2
TEST(PtxLayoutTest, WarpgroupAccumulators) {
  int seen = 0;
  for (const Chip &chip : getAllChips())
    for (const MatrixInstruction &row : chip.instructions) {
      if (row.subgroups != 4 || !llvm::StringRef(row.name).starts_with("wgmma"))
        continue;
      SCOPED_TRACE(row.name);
      ++seen;
      EXPECT_TRUE(row.isInMemory(Role::B));
      bool hasRegisters = llvm::StringRef(row.name).ends_with(".rs");
      EXPECT_EQ(row.isInMemory(Role::A), !hasRegisters);
      // Figures "WGMMA .m64nNk16 register fragment layout for matrix A" and, of
      // tf32, "WGMMA .m64nNk8 register fragment layout for matrix A".
      bool isShort = row.k == 8;
      if (hasRegisters)
        EXPECT_EQ(row.aMap.getNumRegisters(), isShort ? 4 : 8);
      for (int64_t t = 0; hasRegisters && t < 128; ++t)
        for (int64_t i = 0; i < (isShort ? 4 : 8); ++i) {
          int64_t first = 16 * (t / 32) + t % 32 / 4;
          std::pair<int64_t, int64_t> position{first + 8 * (i / 2 % 2),
                                               t % 4 * 2 + i % 2 + 8 * (i / 4)};
          if (isShort)
            position = {first + 8 * (i % 2), t % 4 + 4 * (i / 2)};
          EXPECT_EQ(row.aMap.at(t, i), position);
        }
      ASSERT_EQ(row.accMap.getNumLanes(), 128);
      ASSERT_EQ(row.accMap.getNumRegisters(), row.n / 2);
      for (int64_t t = 0; t < 128; ++t)
        for (int64_t i = 0; i < row.n / 2; ++i) {
          std::pair<int64_t, int64_t> position{16 * (t / 32) + t % 32 / 4 +
                                                   8 * (i / 2 % 2),
                                               8 * (i / 4) + t % 4 * 2 + i % 2};
          EXPECT_EQ(row.accMap.at(t, i), position);
        }
    }
  EXPECT_GE(seen, 54 + 18);
}

// PTX ISA, "Data path layout organization", layout D (128 rows): row r of the
// accumulator is lane r of tensor memory, column c its column c. "Matrix
// fragments for shape .32x32b" of tcgen05.ld: thread t of the subgroup that is
// number w of its four has lane 32 * w + t, and register i is the column i
// after the address. Eight subgroups: the second four load 32 columns further
// on, and all of them four times, 64 columns apart.
TEST(PtxLayoutTest, TensorMemoryAccumulators) {
  int seen = 0;
  for (const Chip &chip : getAllChips())
    for (const MatrixInstruction &row : chip.instructions) {
      if (!llvm::StringRef(row.name).starts_with("tcgen05"))
        continue;
      SCOPED_TRACE(row.name);
      ++seen;
      EXPECT_TRUE(row.tensorMemory);
      EXPECT_TRUE(row.isInMemory(Role::A) && row.isInMemory(Role::B));
      EXPECT_EQ(row.m, 128);
      int64_t threads = 32 * row.subgroups, registers = row.m * row.n / threads;
      bool isWide = row.subgroups == 8;
      EXPECT_EQ(isWide, llvm::StringRef(row.name).ends_with(".x8"));
      ASSERT_EQ(row.accMap.getNumLanes(), threads);
      ASSERT_EQ(row.accMap.getNumRegisters(), registers);
      for (int64_t t = 0; t < threads; ++t)
        for (int64_t i = 0; i < registers; ++i) {
          int64_t lane = 32 * (t / 32 % 4) + t % 32,
                  column = isWide ? i / 32 * 64 + t / 128 * 32 + i % 32 : i;
          EXPECT_EQ(row.accMap.at(t, i), Position(lane, column));
        }
    }
  EXPECT_EQ(seen, 48);
}

} // namespace
