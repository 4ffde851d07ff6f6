//===- Chips.cpp - AMD's chips and matrix instructions --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes, types and layouts are those of AMD's Instruction Set Architecture
// reference guides, which the rows name:
//
//   CDNA1   "AMD Instinct MI100" (gfx908)
//   CDNA2   "AMD Instinct MI200" (gfx90a)
//   CDNA3   "AMD Instinct MI300" (gfx942), chapter 7, "Matrix Arithmetic
//           Instructions"
//   CDNA4   "AMD Instinct CDNA4" (gfx950), chapter 7
//   RDNA3   "RDNA3" (gfx1100 to 1103) and "RDNA3.5" (gfx1150, 1151), section
//           7.9, "Wave Matrix Multiply Accumulate (WMMA)"
//   RDNA4   "RDNA4" (gfx1200, 1201), section 7.12 of the same name
//   Vega    "AMD Instinct MI50 Vega 7nm" (gfx906), V_DOT2_F32_F16 and
//           V_DOT4_I32_I8
//
// For an operand of MFMA, each lane holds a row of a, or a column of b, with as
// many adjacent elements of K as fit into the lane's registers. For a of 32x8:
//
//        column   0     1     2     3     4     5     6     7
//      row 0     0.0   0.1   0.2   0.3  32.0  32.1  32.2  32.3   (lane.element)
//      row 1     1.0   1.1   1.2   1.3  33.0  33.1  33.2  33.3
//      ...
//      row 31   31.0  31.1  31.2  31.3  63.0  63.1  63.2  63.3
//
// with runs of at most 16 elements; for the accumulator, a lane holds four
// adjacent rows of a column.
//
// The assignment of elements of K is irrelevant as long as a and b agree: only
// in this case does a map here differ from the document's, and the function
// that creates it states this.
//
// Not included: forms of several blocks (4x4x4 of 16 blocks and similar ones),
// which are several small matmuls; sparse forms, and scaled ones; those with
// sums in bf16.
//
//===----------------------------------------------------------------------===//

#include "Target/AMD/Chips.h"

#include "../../TargetInfo/Tables.h"
#include "Schedules.h"
#include "TargetInfo/TargetInfo.h"

#include <algorithm>

using namespace mlir::tessera;

using Step = LaneMap::Step;
using Steps = LaneSteps;

namespace {

/// Instructions whose layouts follow one rule.
enum class Family {
  /// CDNA: 64 lanes.
  Mfma,
  /// RDNA3: 32 lanes; for a and b, the upper 16 lanes hold the same elements as
  /// the lower ones.
  Wmma,
  /// RDNA4: 32 lanes, each with elements of its own.
  Wmma12,
};

struct AmdRow {
  Family family;
  int64_t m, n, k;
  const char *a, *b, *acc;
  unsigned chips;
  /// CDNA3's name for instructions that round operands to tf32.
  bool xf32 = false;
};

} // namespace

static constexpr unsigned AllMfma = Gfx908 | Gfx90a | Gfx942 | Gfx950;

/// The larger shape is better: it performs more work per issue, and reuses each
/// operand that it reads from registers more often.
static const AmdRow amdRows[] = {
    // CDNA4 doubles K. V_MFMA_F32_32X32X16_F16, V_MFMA_F32_16X16X32_F16, and
    // all of CDNA: V_MFMA_F32_32X32X8_F16, V_MFMA_F32_16X16X16_F16.
    {Family::Mfma, 32, 32, 16, "f16", "f16", "f32", Gfx950},
    {Family::Mfma, 16, 16, 32, "f16", "f16", "f32", Gfx950},
    {Family::Mfma, 32, 32, 8, "f16", "f16", "f32", AllMfma},
    {Family::Mfma, 16, 16, 16, "f16", "f16", "f32", AllMfma},
    // The same of bf16 from CDNA2 on (_1K there); CDNA1 has half of K:
    // V_MFMA_F32_32X32X4_BF16, V_MFMA_F32_16X16X8_BF16. CDNA2 has these too.
    {Family::Mfma, 32, 32, 16, "bf16", "bf16", "f32", Gfx950},
    {Family::Mfma, 16, 16, 32, "bf16", "bf16", "f32", Gfx950},
    {Family::Mfma, 32, 32, 8, "bf16", "bf16", "f32", Gfx90a | Gfx942 | Gfx950},
    {Family::Mfma, 16, 16, 16, "bf16", "bf16", "f32", Gfx90a | Gfx942 | Gfx950},
    {Family::Mfma, 32, 32, 4, "bf16", "bf16", "f32", Gfx908 | Gfx90a},
    {Family::Mfma, 16, 16, 8, "bf16", "bf16", "f32", Gfx908 | Gfx90a},
    // V_MFMA_F32_32X32X4_XF32, V_MFMA_F32_16X16X8_XF32: CDNA3 only.
    {Family::Mfma, 32, 32, 4, "f32", "f32", "f32", Gfx942, /*xf32=*/true},
    {Family::Mfma, 16, 16, 8, "f32", "f32", "f32", Gfx942, /*xf32=*/true},
    // V_MFMA_F32_32X32X2_F32, V_MFMA_F32_16X16X4_F32: f32 as it is.
    {Family::Mfma, 32, 32, 2, "f32", "f32", "f32", AllMfma},
    {Family::Mfma, 16, 16, 4, "f32", "f32", "f32", AllMfma},
    // V_MFMA_F64_16X16X4_F64.
    {Family::Mfma, 16, 16, 4, "f64", "f64", "f64", Gfx90a | Gfx942 | Gfx950},
    // Signed; unsigned ones take several. K has doubled twice:
    // V_MFMA_I32_32X32X32_I8 of CDNA4,
    // V_MFMA_I32_32X32X16_I8 of CDNA3, V_MFMA_I32_32X32X8_I8 before.
    {Family::Mfma, 32, 32, 32, "i8", "i8", "i32", Gfx950},
    {Family::Mfma, 16, 16, 64, "i8", "i8", "i32", Gfx950},
    {Family::Mfma, 32, 32, 16, "i8", "i8", "i32", Gfx942 | Gfx950},
    {Family::Mfma, 16, 16, 32, "i8", "i8", "i32", Gfx942 | Gfx950},
    {Family::Mfma, 32, 32, 8, "i8", "i8", "i32", Gfx908 | Gfx90a},
    {Family::Mfma, 16, 16, 16, "i8", "i8", "i32", Gfx908 | Gfx90a},
    // V_MFMA_F32_32X32X16_FP8_FP8 and its neighbours: an exponent's bias one
    // larger and no negative zero in CDNA3, as the Open Compute Project has it
    // in CDNA4.
    {Family::Mfma, 32, 32, 16, "f8E4M3FNUZ", "f8E4M3FNUZ", "f32", Gfx942},
    {Family::Mfma, 16, 16, 32, "f8E4M3FNUZ", "f8E4M3FNUZ", "f32", Gfx942},
    {Family::Mfma, 32, 32, 16, "f8E4M3FNUZ", "f8E5M2FNUZ", "f32", Gfx942},
    {Family::Mfma, 16, 16, 32, "f8E4M3FNUZ", "f8E5M2FNUZ", "f32", Gfx942},
    {Family::Mfma, 32, 32, 16, "f8E5M2FNUZ", "f8E4M3FNUZ", "f32", Gfx942},
    {Family::Mfma, 16, 16, 32, "f8E5M2FNUZ", "f8E4M3FNUZ", "f32", Gfx942},
    {Family::Mfma, 32, 32, 16, "f8E5M2FNUZ", "f8E5M2FNUZ", "f32", Gfx942},
    {Family::Mfma, 16, 16, 32, "f8E5M2FNUZ", "f8E5M2FNUZ", "f32", Gfx942},
    // CDNA4 has more of K for these: V_MFMA_F32_32X32X64_F8F6F4 and
    // V_MFMA_F32_16X16X128_F8F6F4, without their scales.
    {Family::Mfma, 32, 32, 64, "f8E4M3FN", "f8E4M3FN", "f32", Gfx950},
    {Family::Mfma, 16, 16, 128, "f8E4M3FN", "f8E4M3FN", "f32", Gfx950},
    {Family::Mfma, 32, 32, 16, "f8E4M3FN", "f8E4M3FN", "f32", Gfx950},
    {Family::Mfma, 16, 16, 32, "f8E4M3FN", "f8E4M3FN", "f32", Gfx950},
    {Family::Mfma, 32, 32, 64, "f8E4M3FN", "f8E5M2", "f32", Gfx950},
    {Family::Mfma, 16, 16, 128, "f8E4M3FN", "f8E5M2", "f32", Gfx950},
    {Family::Mfma, 32, 32, 16, "f8E4M3FN", "f8E5M2", "f32", Gfx950},
    {Family::Mfma, 16, 16, 32, "f8E4M3FN", "f8E5M2", "f32", Gfx950},
    {Family::Mfma, 32, 32, 64, "f8E5M2", "f8E4M3FN", "f32", Gfx950},
    {Family::Mfma, 16, 16, 128, "f8E5M2", "f8E4M3FN", "f32", Gfx950},
    {Family::Mfma, 32, 32, 16, "f8E5M2", "f8E4M3FN", "f32", Gfx950},
    {Family::Mfma, 16, 16, 32, "f8E5M2", "f8E4M3FN", "f32", Gfx950},
    {Family::Mfma, 32, 32, 64, "f8E5M2", "f8E5M2", "f32", Gfx950},
    {Family::Mfma, 16, 16, 128, "f8E5M2", "f8E5M2", "f32", Gfx950},
    {Family::Mfma, 32, 32, 16, "f8E5M2", "f8E5M2", "f32", Gfx950},
    {Family::Mfma, 16, 16, 32, "f8E5M2", "f8E5M2", "f32", Gfx950},
    // V_WMMA_F32_16X16X16_F16, V_WMMA_F16_16X16X16_F16, ..._BF16,
    // V_WMMA_I32_16X16X16_IU8 and ..._IU4. RDNA3 has an element of an f16
    // accumulator in one half of a register each (OP_SEL selects which); the
    // maps count elements.
    {Family::Wmma, 16, 16, 16, "f16", "f16", "f32", Gfx11},
    {Family::Wmma, 16, 16, 16, "f16", "f16", "f16", Gfx11},
    {Family::Wmma, 16, 16, 16, "bf16", "bf16", "f32", Gfx11},
    {Family::Wmma, 16, 16, 16, "i8", "i8", "i32", Gfx11},
    {Family::Wmma, 16, 16, 16, "i4", "i4", "i32", Gfx11},
    // The same of RDNA4, V_WMMA_I32_16X16X32_IU4, and
    // V_WMMA_F32_16X16X16_FP8_FP8 and its neighbours, as the Open Compute
    // Project has these types.
    {Family::Wmma12, 16, 16, 16, "f16", "f16", "f32", Gfx12},
    {Family::Wmma12, 16, 16, 16, "f16", "f16", "f16", Gfx12},
    {Family::Wmma12, 16, 16, 16, "bf16", "bf16", "f32", Gfx12},
    {Family::Wmma12, 16, 16, 16, "i8", "i8", "i32", Gfx12},
    {Family::Wmma12, 16, 16, 32, "i4", "i4", "i32", Gfx12},
    {Family::Wmma12, 16, 16, 16, "i4", "i4", "i32", Gfx12},
    {Family::Wmma12, 16, 16, 16, "f8E4M3FN", "f8E4M3FN", "f32", Gfx12},
    {Family::Wmma12, 16, 16, 16, "f8E4M3FN", "f8E5M2", "f32", Gfx12},
    {Family::Wmma12, 16, 16, 16, "f8E5M2", "f8E4M3FN", "f32", Gfx12},
    {Family::Wmma12, 16, 16, 16, "f8E5M2", "f8E5M2", "f32", Gfx12},
};

//===----------------------------------------------------------------------===//
// Lane maps
//===----------------------------------------------------------------------===//

/// The map of a: the first lane bits count rows. Along K, a lane has a run of
/// elements, the last lane bits count runs, and if lanes have more than one
/// run, registers count the other runs.
static LaneMap getOperandMap(int64_t rows, int64_t k, int64_t lanes) {
  constexpr int64_t longestRun = 16;
  int64_t run = std::min(rows * k / lanes, longestRun),
          ofLanes = run * lanes / rows;
  return LaneMap(
      concatSteps(countSteps(0, 1, rows), countSteps(1, run, ofLanes)),
      concatSteps(countSteps(1, 1, run), countSteps(1, ofLanes, k)));
}

static void setMfmaMaps(MatrixInstruction &row) {
  row.aMap = getOperandMap(row.m, row.k, /*lanes=*/64);
  row.bMap = getOperandMap(row.n, row.k, /*lanes=*/64).transpose();
  // The first lane bits count columns. Registers count four consecutive rows,
  // then lanes and registers count the groups of four; for f64, lanes count the
  // four rows.
  Steps columns = countSteps(1, 1, row.n);
  int64_t lanesOfRow = 64 / row.n;
  row.accMap =
      row.accType == "f64"
          ? LaneMap(concatSteps(columns, countSteps(0, 1, lanesOfRow)),
                    countSteps(0, lanesOfRow, row.m))
          : LaneMap(concatSteps(columns, countSteps(0, 4, 4 * lanesOfRow)),
                    concatSteps(countSteps(0, 1, 4),
                                countSteps(0, 4 * lanesOfRow, row.m)));
}

static void setWmmaMaps(MatrixInstruction &row) {
  row.aMap = LaneMap(concatSteps(countSteps(0, 1, row.m), Step{0, 0}),
                     countSteps(1, 1, row.k));
  row.bMap = LaneMap(concatSteps(countSteps(1, 1, row.n), Step{0, 0}),
                     countSteps(0, 1, row.k));
  // The upper lanes have the odd rows.
  row.accMap = LaneMap(concatSteps(countSteps(1, 1, row.n), Step{1, 0}),
                       countSteps(0, 2, row.m));
}

/// For 16-bit operands, the document has runs of four elements of K, two in
/// each lane; here it is one run of eight, for a and for b, which is loaded at
/// once.
static void setWmma12Maps(MatrixInstruction &row) {
  row.aMap = getOperandMap(row.m, row.k, /*lanes=*/32);
  row.bMap = getOperandMap(row.n, row.k, /*lanes=*/32).transpose();
  // The upper lanes have the lower half of the rows.
  row.accMap = LaneMap(
      concatSteps(countSteps(1, 1, row.n), countSteps(0, row.m / 2, row.m)),
      countSteps(0, 1, row.m / 2));
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static void setNameAndTypes(MatrixInstruction &row, llvm::StringRef family,
                            llvm::StringRef a, llvm::StringRef b,
                            llvm::StringRef acc) {
  row.aType = a.str();
  row.bType = b.str();
  row.accType = acc.str();
  row.name =
      (family + ".m" + llvm::Twine(row.m) + "n" + llvm::Twine(row.n) + "k" +
       llvm::Twine(row.k) + "." + acc + "." + (row.tf32 ? "xf32" : a))
          .str();
  if (a != b)
    row.name += "." + b.str();
}

static MatrixInstruction makeInstruction(const AmdRow &from) {
  MatrixInstruction row;
  row.m = from.m;
  row.n = from.n;
  row.k = from.k;
  row.tf32 = from.xf32;
  switch (from.family) {
  case Family::Mfma:
    setNameAndTypes(row, "mfma", from.a, from.b, from.acc);
    setMfmaMaps(row);
    break;
  case Family::Wmma:
    setNameAndTypes(row, "wmma", from.a, from.b, from.acc);
    setWmmaMaps(row);
    break;
  case Family::Wmma12:
    setNameAndTypes(row, "wmma12", from.a, from.b, from.acc);
    setWmma12Maps(row);
    break;
  }
  return row;
}

/// Instructions that multiply a few elements of K in each lane, which has a
/// block of the accumulator of its own, as for scalar FMAs; the elements of K
/// are adjacent in its registers. This layout is not documented by AMD; it is
/// defined here.
static void addDotInstructions(Chip &chip) {
  struct Dot {
    const char *family;
    int64_t k;
    const char *operand, *acc;
  };
  static const Dot dots[] = {{"dot2", 2, "f16", "f32"},
                             {"dot4", 4, "i8", "i32"}};
  // The tile, and how many rows of how many lanes.
  static const std::array<int64_t, 4> shapes[] = {{32, 32, 8, 8},
                                                  {16, 16, 8, 8},
                                                  {8, 8, 8, 8},
                                                  {1, 64, 1, 64},
                                                  {64, 1, 64, 1}};
  for (const Dot &dot : dots)
    for (auto [m, n, laneRows, laneCols] : shapes) {
      MatrixInstruction row;
      row.m = m;
      row.n = n;
      row.k = dot.k;
      row.matrixUnit = false;
      row.dotProduct = true;
      row.signedOnly = dot.acc == llvm::StringRef("i32");
      setNameAndTypes(row, dot.family, dot.operand, dot.operand, dot.acc);
      int64_t down = m / laneRows, across = n / laneCols;
      Steps lanes =
                concatSteps(countSteps(1, across, n), countSteps(0, down, m)),
            aLanes, bLanes;
      for (Step step : lanes) {
        aLanes.push_back({step[0], 0});
        bLanes.push_back({0, step[1]});
      }
      row.aMap = LaneMap(
          aLanes, concatSteps(countSteps(1, 1, dot.k), countSteps(0, 1, down)));
      row.bMap = LaneMap(bLanes, concatSteps(countSteps(0, 1, dot.k),
                                             countSteps(1, 1, across)));
      row.accMap = LaneMap(
          lanes, concatSteps(countSteps(1, 1, across), countSteps(0, 1, down)));
      chip.instructions.push_back(std::move(row));
    }
}

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

Chip mlir::tessera::makeAmdChip(const AmdChipRow &of) {
  bool rdna = of.bit & (Gfx11 | Gfx12);
  Chip chip = makeGpuChip(of.name, "hip", of.devices);
  chip.subgroupSize = rdna ? 32 : 64;
  chip.workgroupMemoryBytes = of.workgroupKiB * 1024;
  chip.asyncCopy = false;
  // An instruction can name 256 vector registers, and on CDNA as many more
  // for accumulators (CDNA1: for these only).
  chip.registersPerThread =
      std::min<int64_t>(of.registersOfLane, rdna ? 256 : 512);
  chip.registersPerWorkgroup = 4 * of.registersOfLane * chip.subgroupSize;
  chip.processors = of.processors;
  chip.dies = of.dies;
  // "AMD Instinct MI300 Instruction Set Architecture" and "RDNA3 Instruction
  // Set Architecture": four SIMD units keep 8 or 16 waves each. A workgroup
  // processor of RDNA has the LDS of two compute units.
  chip.unit = {/*subgroups=*/rdna ? 64 : 32, /*workgroups=*/0,
               /*memoryBytes=*/chip.workgroupMemoryBytes * (rdna ? 2 : 1)};
  chip.packsColumns = true;
  // CDNA3 and CDNA4 ISA, "Memory buffer load to LDS": a dword, on CDNA4 three
  // and four of them as well.
  if (of.bit & Gfx942)
    chip.ldsCopyBytes = {4};
  if (of.bit & Gfx950) {
    chip.ldsCopyBytes = {4, 16};
    chip.transposingReadBits = 8 | 16;
  }
  setAmdSchedules(chip, of);
  for (const AmdRow &row : amdRows)
    if (row.chips & of.bit)
      chip.instructions.push_back(makeInstruction(row));
  if (of.bit == Gfx906)
    addDotInstructions(chip);
  addScalarInstructions(chip);
  return chip;
}

namespace mlir::tessera {
const TargetInfo &getAMDTarget() {
  static const TargetInfo target = [] {
    TargetInfo target{"hip"};
    target.vendor = "AMD";
    target.dialects = {"amdgpu", "rocdl"};
    target.addChips = [](std::vector<Chip> &chips) {
      for (const AmdChipRow &row : amdChipRows)
        chips.push_back(makeAmdChip(row));
    };
    return target;
  }();
  return target;
}
} // namespace mlir::tessera
