//===- Chips.cpp - NVIDIA's chips and matrix instructions -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes, types and layouts are those of the PTX ISA, section "Warp Level
// Matrix Instructions: mma". Throughout, with g = lane / 4 and t = lane % 4,
// the m16n8 accumulator is
//
//        column    0     1     2     3     4     5     6     7
//      row 0      0.0   0.1   1.0   1.1   2.0   2.1   3.0   3.1    (lane.reg)
//      row 1      4.0   4.1   5.0   5.1   6.0   6.1   7.0   7.1
//      ...
//      row 8      0.2   0.3   1.2   1.3   2.2   2.3   3.2   3.3
//
// The layouts of `wmma` are unspecified, and it compiles to the instructions
// below, so the table has no rows for it, and Volta and Turing use `mma.sync`
// too.
//
//===----------------------------------------------------------------------===//

#include "Target/NVIDIA/Chips.h"

#include "../../TargetInfo/Tables.h"
#include "Runtime/TensorMap.h"
#include "Schedules.h"
#include "TargetInfo/TargetInfo.h"

using namespace mlir::tessera;

namespace {

using Step = LaneMap::Step;

/// The operand maps of one shape.
struct Shape {
  const char *name;
  int64_t m, n, k;
  LaneMap a, b, acc;
};

/// One instruction of that shape.
struct NvidiaRow {
  const char *shape;
  const char *a, *b, *acc;
  int64_t since;
  bool tf32 = false;
};

} // namespace

/// The accumulator of all m16n8 and m8n8 shapes but Volta's.
static const LaneMap acc16x8({{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}},
                             {{0, 1}, {8, 0}});
static const LaneMap acc8x8({{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {{0, 1}});

static const Shape shapes[] = {
    // 16-bit operands: a lane holds pairs along K.
    {"m16n8k16",
     16,
     8,
     16,
     {{{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {{0, 1}, {8, 0}, {0, 8}}},
     {{{2, 0}, {4, 0}, {0, 1}, {0, 2}, {0, 4}}, {{1, 0}, {8, 0}}},
     acc16x8},
    {"m16n8k8",
     16,
     8,
     8,
     {{{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {{0, 1}, {8, 0}}},
     {{{2, 0}, {4, 0}, {0, 1}, {0, 2}, {0, 4}}, {{1, 0}}},
     acc16x8},
    // Volta's m8n8k4 works on four quad-pairs of lanes at once, {q, q + 16} for
    // q = 0..3, 4..7, 8..11 and 12..15. Lane bit 2 selects the second half of
    // the rows, lane bit 3 that of the columns: together a 16x16x4 matmul.
    {"m8n8k4",
     16,
     16,
     4,
     {{{1, 0}, {2, 0}, {8, 0}, {0, 0}, {4, 0}}, {{0, 1}, {0, 2}}},
     {{{0, 1}, {0, 2}, {0, 0}, {0, 8}, {0, 4}}, {{1, 0}, {2, 0}}},
     {{{1, 0}, {0, 2}, {8, 0}, {0, 8}, {4, 0}}, {{0, 1}, {2, 0}, {0, 4}}}},
    // The same with an f16 accumulator, whose layout differs.
    {"m8n8k4.f16",
     16,
     16,
     4,
     {{{1, 0}, {2, 0}, {8, 0}, {0, 0}, {4, 0}}, {{0, 1}, {0, 2}}},
     {{{0, 1}, {0, 2}, {0, 0}, {0, 8}, {0, 4}}, {{1, 0}, {2, 0}}},
     {{{1, 0}, {2, 0}, {8, 0}, {0, 8}, {4, 0}}, {{0, 1}, {0, 2}, {0, 4}}}},
    // 8-bit operands: a lane holds quadruples along K.
    {"m16n8k32.8",
     16,
     8,
     32,
     {{{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}},
      {{0, 1}, {0, 2}, {8, 0}, {0, 16}}},
     {{{4, 0}, {8, 0}, {0, 1}, {0, 2}, {0, 4}}, {{1, 0}, {2, 0}, {16, 0}}},
     acc16x8},
    {"m16n8k16.8",
     16,
     8,
     16,
     {{{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}}, {{0, 1}, {0, 2}, {8, 0}}},
     {{{4, 0}, {8, 0}, {0, 1}, {0, 2}, {0, 4}}, {{1, 0}, {2, 0}}},
     acc16x8},
    {"m8n8k16.8",
     8,
     8,
     16,
     {{{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}}, {{0, 1}, {0, 2}}},
     {{{4, 0}, {8, 0}, {0, 1}, {0, 2}, {0, 4}}, {{1, 0}, {2, 0}}},
     acc8x8},
    // tf32: an element a lane and register.
    {"m16n8k8.32",
     16,
     8,
     8,
     {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}, {{8, 0}, {0, 4}}},
     {{{1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 4}}, {{4, 0}}},
     acc16x8},
    {"m16n8k4.32",
     16,
     8,
     4,
     {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}, {{8, 0}}},
     {{{1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 4}}, {}},
     acc16x8},
    // f64.
    {"m16n8k16.64",
     16,
     8,
     16,
     {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}, {{8, 0}, {0, 4}, {0, 8}}},
     {{{1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 4}}, {{4, 0}, {8, 0}}},
     acc16x8},
    {"m16n8k8.64",
     16,
     8,
     8,
     {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}, {{8, 0}, {0, 4}}},
     {{{1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 4}}, {{4, 0}}},
     acc16x8},
    {"m16n8k4.64",
     16,
     8,
     4,
     {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}, {{8, 0}}},
     {{{1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 4}}, {}},
     acc16x8},
    {"m8n8k4.64",
     8,
     8,
     4,
     {{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}, {}},
     {{{1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 4}}, {}},
     acc8x8},
};

// Best first for each combination of types: the larger shape performs more work
// per issue.
static const NvidiaRow nvidiaRows[] = {
    {"m16n8k16", "f16", "f16", "f32", 80},
    {"m16n8k8", "f16", "f16", "f32", 75},
    {"m8n8k4", "f16", "f16", "f32", 70},
    {"m16n8k16", "f16", "f16", "f16", 80},
    {"m16n8k8", "f16", "f16", "f16", 75},
    {"m8n8k4.f16", "f16", "f16", "f16", 70},
    {"m16n8k16", "bf16", "bf16", "f32", 80},
    {"m16n8k8", "bf16", "bf16", "f32", 80},
    {"m16n8k8.32", "f32", "f32", "f32", 80, /*tf32=*/true},
    {"m16n8k4.32", "f32", "f32", "f32", 80, /*tf32=*/true},
    {"m16n8k16.64", "f64", "f64", "f64", 90},
    {"m16n8k8.64", "f64", "f64", "f64", 90},
    {"m16n8k4.64", "f64", "f64", "f64", 90},
    {"m8n8k4.64", "f64", "f64", "f64", 80},
    {"m16n8k32.8", "i8", "i8", "i32", 80},
    {"m16n8k16.8", "i8", "i8", "i32", 80},
    {"m8n8k16.8", "i8", "i8", "i32", 75},
    {"m16n8k32.8", "f8E4M3FN", "f8E4M3FN", "f32", 89},
    {"m16n8k32.8", "f8E4M3FN", "f8E5M2", "f32", 89},
    {"m16n8k32.8", "f8E5M2", "f8E4M3FN", "f32", 89},
    {"m16n8k32.8", "f8E5M2", "f8E5M2", "f32", 89},
};

static MatrixInstruction makeInstruction(const Shape &shape, llvm::StringRef a,
                                         llvm::StringRef b, llvm::StringRef acc,
                                         bool tf32, int64_t since) {
  MatrixInstruction row;
  llvm::StringRef base = llvm::StringRef(shape.name).split('.').first;
  std::string operand = tf32 ? "tf32" : a.str();
  if (a != b)
    operand += "." + b.str();
  row.name = ("mma." + base + "." + acc + "." + operand).str();
  row.m = shape.m;
  row.n = shape.n;
  row.k = shape.k;
  row.aType = a.str();
  row.bType = b.str();
  row.accType = acc.str();
  row.tf32 = tf32;
  row.since = since;
  row.aMap = shape.a;
  row.bMap = shape.b;
  row.accMap = shape.acc;
  return row;
}

/// Several m16n8k16 for operands of fewer bits that are widened in registers.
/// Lane t of each four holds elements t * k / 4 and on of K, of a and of b, as
/// adjacent elements; emitMma permutes K. m16n8k32, the elements of a row of a,
/// or of a column of b:
///
///      K        0 to 7   8 to 15   16 to 23   24 to 31
///      lane       0         1          2          3
static void addRepetitions(Chip &chip) {
  std::vector<MatrixInstruction> rows;
  for (const MatrixInstruction &row : chip.instructions)
    if (row.name == "mma.m16n8k16.f32.f16" ||
        row.name == "mma.m16n8k16.f32.bf16")
      for (int64_t bits : {8, 4})
        for (int32_t k : {32, 64}) {
          MatrixInstruction longer = row;
          std::string shape = "m16n8k" + std::to_string(k);
          longer.name = "mma." + shape + ".f32." + row.aType +
                        (bits == 8 ? ".of8" : ".of4");
          longer.k = k;
          longer.repeated = row.name;
          longer.storedBits = bits;
          llvm::SmallVector<Step> a, b;
          int32_t run = k / 4;
          for (int32_t step = 1; step < run; step *= 2) {
            a.push_back({0, step});
            b.push_back({step, 0});
          }
          a.push_back({8, 0});
          longer.aMap =
              LaneMap(llvm::ArrayRef<Step>(
                          {{0, run}, {0, 2 * run}, {1, 0}, {2, 0}, {4, 0}}),
                      a);
          longer.bMap =
              LaneMap(llvm::ArrayRef<Step>(
                          {{run, 0}, {2 * run, 0}, {0, 1}, {0, 2}, {0, 4}}),
                      b);
          rows.push_back(std::move(longer));
        }
  llvm::append_range(chip.instructions, rows);
}

/// Two m16n8k32 of bytes for a b that is stored with N along the rows. ldmatrix
/// transposes pairs of bytes: the lanes of a column of b hold two adjacent
/// columns of memory, one for each instruction,
///
///      columns of memory     0 1   2 3   4 5 ...
///      column of b            0     1     2  ...
///      instruction           0 1   0 1   0 1
///
/// and so do the lanes of a column of the sums, which have four adjacent
/// columns.
static void addColumnPairs(Chip &chip) {
  std::vector<MatrixInstruction> rows;
  for (const MatrixInstruction &row : chip.instructions) {
    if (row.subgroups > 1 || row.m != 16 || row.n != 8 || row.k != 32 ||
        row.aMap.getNumRegisters() != 16 || !row.repeated.empty())
      continue;
    MatrixInstruction pair = row;
    pair.name.replace(pair.name.find("m16n8k32"), 8, "m16n16k32");
    pair.name += ".pairs";
    pair.n = 16;
    pair.repeated = row.name;
    pair.pairsColumns = true;
    pair.bMap =
        LaneMap(llvm::ArrayRef<Step>({{4, 0}, {8, 0}, {0, 2}, {0, 4}, {0, 8}}),
                llvm::ArrayRef<Step>({{1, 0}, {2, 0}, {0, 1}, {16, 0}}));
    pair.accMap =
        LaneMap(llvm::ArrayRef<Step>({{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}}),
                llvm::ArrayRef<Step>({{0, 1}, {0, 2}, {8, 0}}));
    rows.push_back(std::move(pair));
  }
  llvm::append_range(chip.instructions, rows);
}

/// The instructions of a warpgroup: four subgroups, whose lanes hold 16 rows of
/// the accumulator each, in the layout of m16n8 (PTX ISA, "Asynchronous
/// Warpgroup Level Matrix Instructions: wgmma.mma_async"). a and b are read
/// from workgroup memory, with 16-bit elements in row-major or column-major
/// order. Instructions named `.rs` read a from registers, 16 rows in each
/// subgroup. 16-bit elements have the layout of m16n8k16, which is that of
/// accumulators with two tiles of eight columns at a time, and tf32 has that of
/// m16n8k8. The latter also serve an a that is stored by columns, which the
/// instructions that read memory do not support.
///
/// Those for tf32 read f32 and ignore the low 13 bits: operands are truncated,
/// while for mma.sync they are rounded to nearest when they are loaded.
/// `precision tf32` permits both.
///
/// Those for 8-bit floats align the terms and the accumulator to the largest of
/// them and keep about 14 bits of the mantissa.
static void addWarpgroups(Chip &chip) {
  struct Types {
    const char *a, *b, *acc;
    int64_t k;
    bool anyOrder = false, tf32 = false, fewBits = false;
  };
  static const Types types[] = {
      {"f16", "f16", "f32", 16, /*anyOrder=*/true},
      {"bf16", "bf16", "f32", 16, /*anyOrder=*/true},
      {"f16", "f16", "f16", 16, /*anyOrder=*/true},
      {"f32", "f32", "f32", 8, /*anyOrder=*/false, /*tf32=*/true},
      {"i8", "i8", "i32", 32},
      {"f8E4M3FN", "f8E4M3FN", "f32", 32, false, false, /*fewBits=*/true},
      {"f8E4M3FN", "f8E5M2", "f32", 32, false, false, /*fewBits=*/true},
      {"f8E5M2", "f8E4M3FN", "f32", 32, false, false, /*fewBits=*/true},
      {"f8E5M2", "f8E5M2", "f32", 32, false, false, /*fewBits=*/true}};
  for (const Types &type : types)
    for (int64_t n : {256, 128, 64, 32, 16, 8}) {
      llvm::SmallVector<Step> aLanes(
          {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}}),
          acc(acc16x8.getRegisters()), a(acc16x8.getRegisters()), b;
      for (int32_t col = 8; col < n; col *= 2) {
        acc.push_back({0, col});
        b.push_back({0, col});
      }
      for (int32_t k = 8; k < type.k; k *= 2) {
        a.push_back({0, k});
        b.push_back({k, 0});
      }
      // For operands in memory, the maps define only the extents: half of the
      // lanes hold the same elements as the other half.
      Shape shape{
          "",
          64,
          n,
          type.k,
          LaneMap(aLanes, a),
          LaneMap(llvm::ArrayRef<Step>(
                      {{1, 0}, {2, 0}, {4, 0}, {0, 0}, {0, 1}, {0, 2}, {0, 4}}),
                  b),
          LaneMap(aLanes, acc)};
      std::string name =
          "m64n" + std::to_string(n) + "k" + std::to_string(type.k);
      shape.name = name.c_str();
      MatrixInstruction row =
          makeInstruction(shape, type.a, type.b, type.acc, type.tf32,
                          /*since=*/90);
      row.name.replace(0, 3, "wgmma");
      row.subgroups = 4;
      row.aInMemory = row.bInMemory = true;
      row.anyOrder = type.anyOrder;
      row.fewBits = type.fewBits;
      chip.instructions.push_back(row);
      if (type.k != 16 && !type.tf32)
        continue;
      row.name += ".rs";
      row.aInMemory = false;
      if (type.tf32)
        row.aMap = LaneMap(
            llvm::ArrayRef<Step>(
                {{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}}),
            llvm::ArrayRef<Step>({{8, 0}, {0, 4}}));
      chip.instructions.push_back(std::move(row));
    }
}

/// The instructions that accumulate in tensor memory, of 128 lanes (PTX ISA
/// 8.7, "TensorCore 5th Generation Family Instructions: tcgen05.mma", with one
/// workgroup, .cta_group::1, and 128 rows). One thread issues them, for a group
/// of four subgroups whose lanes read a row each (tcgen05.ld, shape .32x32b),
/// or of eight (`.x8`), the second four of which read the same rows in every
/// other 32 columns, so that 256 columns are 128 registers.
///
/// a and b are read from workgroup memory, in either order except for tf32,
/// whose other order requires another swizzle ("Shared memory layout and
/// swizzling"). Like wgmma, they read f32 as tf32 without rounding. f16
/// accumulators would be two to a word: mma.sync supports them.
///
/// The precision of sums of 8-bit floats is not documented; this table was
/// never used on a device.
static void addTensorMemory(Chip &chip) {
  struct Types {
    const char *a, *b, *acc;
    int64_t k;
    bool anyOrder = true, tf32 = false;
  };
  static const Types types[] = {
      {"f16", "f16", "f32", 16},
      {"bf16", "bf16", "f32", 16},
      {"f32", "f32", "f32", 8, /*anyOrder=*/false, /*tf32=*/true},
      {"i8", "i8", "i32", 32},
      {"f8E4M3FN", "f8E4M3FN", "f32", 32},
      {"f8E4M3FN", "f8E5M2", "f32", 32},
      {"f8E5M2", "f8E4M3FN", "f32", 32},
      {"f8E5M2", "f8E5M2", "f32", 32}};
  struct Width {
    int64_t n, subgroups;
  };
  static const Width widths[] = {{256, 8}, {128, 8}, {128, 4},
                                 {64, 4},  {32, 4},  {16, 4}};
  constexpr int32_t rows = 128, apart = 32;
  for (const Types &type : types)
    for (const Width &width : widths) {
      llvm::SmallVector<Step> lanes, aRegisters, bLanes, bRegisters, acc;
      for (int32_t row = 1; row < rows; row *= 2) {
        lanes.push_back({row, 0});
        bLanes.push_back({0, row < width.n ? row : 0});
      }
      bool isWide = width.subgroups == 8;
      llvm::SmallVector<Step> aLanes = lanes;
      if (isWide) {
        aLanes.push_back({0, 0});
        bLanes.push_back({0, rows < width.n ? rows : 0});
        lanes.push_back({0, apart});
      }
      for (int32_t k = 1; k < type.k; k *= 2) {
        aRegisters.push_back({0, k});
        bRegisters.push_back({k, 0});
      }
      for (int32_t col = 1; col < width.n; col *= 2)
        if (!isWide || col != apart)
          acc.push_back({0, col});
      // For operands in memory, the maps define only the extents.
      std::string name =
          "m128n" + std::to_string(width.n) + "k" + std::to_string(type.k);
      Shape shape{name.c_str(),
                  rows,
                  width.n,
                  type.k,
                  LaneMap(aLanes, aRegisters),
                  LaneMap(bLanes, bRegisters),
                  LaneMap(lanes, acc)};
      MatrixInstruction row =
          makeInstruction(shape, type.a, type.b, type.acc, type.tf32,
                          /*since=*/100);
      row.name.replace(0, 3, "tcgen05");
      if (isWide)
        row.name += ".x8";
      row.subgroups = width.subgroups;
      row.aInMemory = row.bInMemory = true;
      row.anyOrder = type.anyOrder;
      row.tensorMemory = true;
      chip.instructions.push_back(std::move(row));
    }
  chip.tensorMemoryColumns = 512;
}

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

static const char onHopper[] = "NVIDIA H200, of PTX for this chip";

static const NvidiaChipRow chipRows[] = {
    // clang-format off
    // name, level, ptx, workgroupKiB, processors, unitWarps, unitWorkgroups,
    //   unitKiB, unit, executedOn,
    //   {name, units, MHz, f16, bf16, tf32, f32, f64, i8, f8, memory, source}
    {"sm_70", 70, 65, 96, 80, 64, 32, 96, NvidiaChipRow::MmaSync, onHopper,
     {{"V100-SXM2", 80, 1530, 125, 0, 0, 15.7, 7.8, 0, 0, 0.9,
       "NVIDIA V100 data sheet"}}},
    {"sm_75", 75, 65, 64, 40, 32, 16, 64, NvidiaChipRow::MmaSync, onHopper,
     {{"T4", 40, 1590, 65, 0, 0, 8.1, 0.25, 130, 0, 0.32,
       "NVIDIA T4 data sheet"}}},
    {"sm_80", 80, 71, 163, 108, 64, 32, 164, NvidiaChipRow::MmaSync, onHopper,
     {{"A100-SXM4-80GB", 108, 1410, 312, 312, 156, 19.5, 19.5, 624, 0, 2.039,
       "NVIDIA A100 data sheet"},
      {"A100 80GB PCIe", 108, 1410, 312, 312, 156, 19.5, 19.5, 624, 0, 1.935,
       "NVIDIA A100 data sheet"},
      {"A100-SXM4-40GB", 108, 1410, 312, 312, 156, 19.5, 19.5, 624, 0, 1.555,
       "NVIDIA A100 data sheet"}}},
    {"sm_86", 86, 71, 99, 84, 48, 16, 100, NvidiaChipRow::MmaSync, "",
     {{"A40", 84, 1740, 149.7, 149.7, 74.8, 37.4, 0.58, 299.3, 0, 0.696,
       "NVIDIA A40 data sheet"}}},
    {"sm_89", 89, 84, 99, 128, 48, 24, 100, NvidiaChipRow::MmaSync, "",
     {{"RTX 4090", 128, 2520, 165.2, 165.2, 82.6, 82.6, 1.3, 660.6, 330.3, 1.008,
       "NVIDIA Ada GPU architecture white paper"}}},
    {"sm_90", 90, 84, 227, 132, 64, 32, 228},
    {"sm_90a", 90, 84, 227, 132, 64, 32, 228, NvidiaChipRow::Warpgroups, "NVIDIA H200",
     {{"H200", 132, 1830, 989.4, 989.4, 494.7, 66.9, 66.9, 1978.9, 1978.9, 4.8,
       "NVIDIA H200 data sheet"},
      {"H100 80GB HBM3", 132, 1830, 989.4, 989.4, 494.7, 66.9, 66.9, 1978.9, 1978.9, 3.35,
       "NVIDIA H100 data sheet"},
      {"H100 PCIe", 114, 1620, 756, 756, 378, 51, 51, 1513, 1513, 2.0,
       "NVIDIA H100 data sheet"}}},
    {"sm_100", 100, 86, 227, 148, 64, 32, 228},
    {"sm_100a", 100, 86, 227, 148, 64, 32, 228, NvidiaChipRow::TensorMemory, "",
     {{"B200", 148, 1855, 2250, 2250, 1125, 75, 37, 4500, 4500, 7.7,
       "NVIDIA HGX B200 data sheet"}}},
    {"sm_120", 120, 87, 99, 170, 48, 24, 100},
    {"sm_120a", 120, 87, 99, 170, 48, 24, 100, NvidiaChipRow::MmaSync, "",
     {{"RTX 5090", 170, 2407, 209.5, 209.5, 104.8, 104.8, 1.6, 838, 419, 1.792,
       "NVIDIA RTX Blackwell GPU architecture white paper"}}},
    // clang-format on
};

Chip mlir::tessera::makeNvidiaChip(const NvidiaChipRow &of) {
  bool ampere = of.level >= 80;
  Chip chip = makeGpuChip(of.name, "cuda", of.devices);
  chip.family = "sm_" + std::to_string(of.level);
  chip.executedOn = of.executedOn;
  chip.codeVersion = of.ptx;
  // From compute capability 8.0 on the system keeps 1 KiB of each workgroup's
  // memory (CUDA's occupancy calculator).
  chip.unit = {of.unitWarps, of.unitWorkgroups, of.unitKiB * 1024,
               ampere ? 1024 : 0};
  chip.subgroupSize = 32;
  chip.workgroupMemoryBytes = of.workgroupKiB * 1024;
  chip.asyncCopy = ampere;
  // PTX ISA, "cp.async": 4, 8 or 16 bytes.
  chip.asyncCopyBytes = ampere ? 4 : 0;
  // CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
  if (of.level >= 90) {
    // CUDA C++ Programming Guide, "Thread Block Clusters": portable sizes.
    chip.clusterWorkgroups = 8;
    chip.bulkCopies =
        BulkCopyEngine{/*maxRank=*/::tessera::runtime::maxTensorMapRank,
                       /*maxRows=*/::tessera::runtime::maxTensorMapBox,
                       /*alignment=*/16,
                       /*registerGroup=*/128,
                       /*leastRegisters=*/24,
                       /*windows=*/{}};
    using namespace ::tessera::runtime;
    for (unsigned dimensions : {1, 2, 3})
      chip.bulkCopies->windows.push_back(
          {dimensions, getMaxWindowCorner(dimensions),
           getMaxWindowOffset(dimensions), maxWindowStride, maxWindowPixels});
  }
  // The same for all compute capabilities from 5.0 on.
  chip.registersPerThread = 255;
  chip.registersPerWorkgroup = 64 * 1024;
  chip.processors = of.processors;
  setNvidiaSchedules(chip, of);
  for (const NvidiaRow &row : nvidiaRows) {
    if (row.since > of.level)
      continue;
    for (const Shape &shape : shapes)
      if (llvm::StringRef(shape.name) == row.shape)
        chip.instructions.push_back(
            makeInstruction(shape, row.a, row.b, row.acc, row.tf32, row.since));
  }
  if (of.unit == NvidiaChipRow::Warpgroups)
    addWarpgroups(chip);
  if (of.unit == NvidiaChipRow::TensorMemory)
    addTensorMemory(chip);
  addRepetitions(chip);
  addColumnPairs(chip);
  addScalarInstructions(chip);
  return chip;
}

bool mlir::tessera::hasDependentLaunch(const Chip &chip) {
  return llvm::any_of(chipRows, [&](const NvidiaChipRow &row) {
    return row.name == chip.name && row.level >= 90;
  });
}

namespace mlir::tessera {
const TargetInfo &getNVIDIATarget() {
  static const TargetInfo target = [] {
    TargetInfo target{"cuda"};
    target.vendor = "NVIDIA";
    target.dialects = {"nvgpu", "nvvm"};
    target.addChips = [](std::vector<Chip> &chips) {
      for (const NvidiaChipRow &row : chipRows)
        chips.push_back(makeNvidiaChip(row));
    };
    return target;
  }();
  return target;
}
} // namespace mlir::tessera
