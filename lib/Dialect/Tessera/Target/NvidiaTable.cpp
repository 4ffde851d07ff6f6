//===- NvidiaTable.cpp - NVIDIA's matrix instructions ---------------------===//
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
// below; so there is no row for it, and Volta and Turing use `mma.sync` too.
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "Runtime/TensorMap.h"

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
struct Row {
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
static const Row rows[] = {
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

/// The instructions of a warpgroup: four subgroups, whose lanes hold 16 rows of
/// the accumulator each, laid out as by m16n8 (PTX ISA, "Asynchronous
/// Warpgroup Level Matrix Instructions: wgmma.mma_async"). A and b are read
/// from workgroup memory, with 16-bit elements by rows or by columns. Those
/// named `.rs` take a from registers, 16 rows of it in each subgroup, laid out
/// as by m16n8k16: what accumulators are, two tiles of eight columns at a time.
///
/// Those for tf32 read f32 as it is and ignore the low 13 bits: operands are
/// truncated, where mma.sync has them rounded to nearest on their way to
/// registers. Both are what `precision tf32` permits.
///
/// Those for 8-bit floats align products and accumulator to the largest of them
/// and keep about 14 bits of the mantissa.
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
      if (type.k != 16)
        continue;
      row.name += ".rs";
      row.aInMemory = false;
      chip.instructions.push_back(std::move(row));
    }
  // Measured on an H200, in f16 and bf16: docs/benchmarks/h200-schedules.md.
  chip.groupDefaults = {{{128, 256}, {64, 256}, 128, 8, 4, 1.00},
                        {{256, 128}, {128, 128}, 128, 8, 4, 0.97},
                        {{192, 128}, {64, 128}, 128, 8, 4, 0.95},
                        {{128, 128}, {64, 128}, 128, 8, 4, 0.93},
                        {{64, 256}, {64, 256}, 128, 8, 4, 0.82},
                        {{64, 128}, {64, 128}, 256, 8, 4, 0.75},
                        {{256, 64}, {64, 64}, 128, 8, 4, 0.70},
                        {{128, 64}, {64, 64}, 256, 8, 4, 0.67},
                        {{64, 64}, {64, 64}, 256, 8, 4, 0.50}};
  // Measured on an H200: docs/benchmarks/h200-attention.md. One group has the
  // matrix unit while the other has its softmax.
  chip.attentionDefaults = {/*groups=*/2, /*keys=*/128, /*stages=*/2};
  ChipRates &rates = chip.rates;
  rates.products = 3170;
  rates.tile = 600;
  rates.epilogue = 0.012;
  // Not measured: about the time of two barriers and an empty wgmma pipeline.
  rates.step = 30;
  rates.memory = 3500;
  rates.processorMemory = 36;
  rates.tiles = 13200;
  // 1000 cubed, whose rows begin within lines, by 64 workgroups of 128x128.
  rates.processorTiles = 125;
  rates.splitLines = 2.4;
  rates.lineBytes = 128;
  rates.start = 5000;
  rates.clusterMemory = 6;
  rates.clusterParts = 2;
  rates.sharing = 0.03;
  rates.copyStart = 2000;
  rates.copies = 2500;
  rates.turnedElements = 700;
  // At 4096 cubed, bf16 with such rows took 0.9 ms, and 0.2 by groups; by
  // single subgroups i8 took 0.42 ms and tf32 1.05 ms, and by groups 0.12 and
  // 0.36.
  rates.savedByRows = 1.0e-5;
  rates.savedByOrder = 0.4e-5;
  rates.savedByOrderOfWords = 1.0e-5;
  // A convolution of 7x7 over 32 images of 224x224x3 took 0.42 ms, which the
  // estimate reduces to less than 0.1 ms.
  rates.savedByRuns = 8.0e-5;
  // Sums apart take as many registers again: half the columns. Speeds are
  // those above, for want of others; fewer stages than four make ptxas spill.
  for (ScheduleDefaults tiling :
       std::vector<ScheduleDefaults>({{{128, 128}, {64, 128}, 128, 8, 4, 0.90},
                                      {{64, 128}, {64, 128}, 256, 8, 4, 0.60},
                                      {{64, 64}, {64, 64}, 256, 8, 4, 0.42}})) {
    tiling.sumsApart = true;
    chip.groupDefaults.push_back(tiling);
  }
}

/// The instructions that add to tensor memory, of 128 lanes (PTX ISA 8.7,
/// "TensorCore 5th Generation Family Instructions: tcgen05.mma", with one
/// workgroup, .cta_group::1, and 128 rows). One thread issues them, for a group
/// of four subgroups whose lanes read a row each (tcgen05.ld, shape .32x32b),
/// or of eight (`.x8`), of which the second four read the same rows in every
/// other 32 columns: so that 256 columns are 128 registers.
///
/// A and b are read from workgroup memory, in either order but for tf32, whose
/// other order asks for another swizzle ("Shared memory layout and swizzling").
/// As wgmma, they read f32 as tf32 without rounding. f16 accumulators would be
/// two to a word: mma.sync has them.
///
/// What they keep of sums of 8-bit floats is not documented; nothing here was
/// ever executed.
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
  // These values are not measured. Speeds are limited by the bandwidth of
  // workgroup memory, 128 bytes per clock.
  chip.groupDefaults = {{{128, 256}, {128, 256}, 128, 8, 8, 1.00},
                        {{256, 128}, {128, 128}, 128, 8, 4, 0.95},
                        {{128, 128}, {128, 128}, 128, 8, 4, 0.85},
                        {{128, 64}, {128, 64}, 256, 8, 4, 0.55}};
  // Weights would have to go from registers to workgroup memory.
  chip.attentionDefaults.groups = 0;
  // Those of sm_90a, by the ratio of the datasheets' figures (dense f16 and
  // memory of B200 and H200).
  ChipRates &rates = chip.rates;
  rates.products = 6400;
  rates.tile = 600;
  rates.epilogue = 0.012;
  rates.step = 30;
  rates.memory = 5800;
  rates.processorMemory = 54;
  rates.tiles = 22000;
  rates.processorTiles = 200;
  rates.splitLines = 2.4;
  rates.lineBytes = 128;
  rates.start = 5000;
  rates.copyStart = 2000;
  rates.copies = 4100;
  rates.turnedElements = 1200;
  rates.savedByRows = 0.5e-5;
  rates.savedByOrder = 0.2e-5;
  rates.savedByOrderOfWords = 0.5e-5;
  rates.savedByRuns = 4.0e-5;
}

void mlir::tessera::addNvidiaChips(std::vector<Chip> &chips) {
  struct Entry {
    const char *name;
    int64_t level;
    /// CUDA C++ Programming Guide, "Compute Capabilities": most shared memory
    /// for each thread block.
    int64_t workgroupKiB;
    /// SMs of the largest device: V100, T4, A100, A40, RTX 4090, H100 SXM,
    /// B200, RTX 5090 (a "typical" number: devices differ).
    int64_t processors;
  };
  static const Entry entries[] = {
      {"sm_70", 70, 96, 80},      {"sm_75", 75, 64, 40},
      {"sm_80", 80, 163, 108},    {"sm_86", 86, 99, 84},
      {"sm_89", 89, 99, 128},     {"sm_90", 90, 227, 132},
      {"sm_90a", 90, 227, 132},   {"sm_100", 100, 227, 148},
      {"sm_100a", 100, 227, 148}, {"sm_120", 120, 99, 170},
      {"sm_120a", 120, 99, 170},
  };
  for (const Entry &entry : entries) {
    bool ampere = entry.level >= 80;
    Chip chip;
    chip.name = entry.name;
    chip.target = "cuda";
    if (chip.name == "sm_90a")
      chip.executedOn = "NVIDIA H200";
    else if (entry.level <= 80)
      chip.executedOn = "NVIDIA H200, of PTX for this chip";
    chip.subgroupSize = 32;
    chip.workgroupMemoryBytes = entry.workgroupKiB * 1024;
    chip.maxThreads = 1024;
    chip.accessBytes = 16;
    chip.alignedAccess = true;
    chip.rowPaddingBytes = 16;
    chip.asyncCopy = ampere;
    // PTX ISA, "cp.async": 4, 8 or 16 bytes.
    chip.asyncCopyBytes = ampere ? 4 : 0;
    // CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
    if (entry.level >= 90) {
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
    chip.processors = entry.processors;
    // Measured on sm_90a: docs/benchmarks/h200-schedules.md.
    chip.preferSwizzle = ampere;
    chip.matrixDefaults = {{128, 128}, {64, 64}, 64, ampere ? 4 : 1};
    chip.scalarDefaults = {{64, 64}, {32, 32}, 64, ampere ? 3 : 1};
    // Derived by counting: half of the 64 subgroups that an SM can hold, since
    // each has a few dozen loads in flight.
    chip.batchDefaults = {/*subgroups=*/8, /*resident=*/32, /*perSubgroup=*/4,
                          /*directFragments=*/4};
    chip.simt = {256, 1, 512, 4};
    for (const Row &row : rows) {
      if (row.since > entry.level)
        continue;
      for (const Shape &shape : shapes)
        if (llvm::StringRef(shape.name) == row.shape)
          chip.instructions.push_back(makeInstruction(
              shape, row.a, row.b, row.acc, row.tf32, row.since));
    }
    if (chip.name == "sm_90a")
      addWarpgroups(chip);
    if (chip.name == "sm_100a")
      addTensorMemory(chip);
    addScalarInstructions(chip);
    chips.push_back(std::move(chip));
  }
}
