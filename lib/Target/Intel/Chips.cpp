//===- Chips.cpp - Intel's chips and matrix instructions ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dpas ("dot product accumulate systolic") multiplies up to eight rows of a
// with 32 bytes of each column of b. Shapes and types are those of the OpenCL
// extension cl_intel_subgroup_matrix_multiply_accumulate, section 5.2.X of its
// changes to the SPIR-V environment: for devices whose least subgroup has 8
// lanes (Xe-HPG) and for those where it has 16 (Xe-HPC, Xe2). tf32 is that of
// cl_intel_subgroup_matrix_multiply_accumulate_tf32. The layouts are those of
// SPV_INTEL_subgroup_matrix_multiply_accumulate, section "Mapping Matrix Data
// to Invocations". With as many lanes as columns, N:
//
//   a        one row after the other, its K elements spread over the lanes. If
//            there are as many elements as lanes: lane l has column l of each
//            row. Twice or four times as many: lane l has two or four
//            consecutive ones. Half as many (tf32): the lower lanes have the
//            even rows and the upper ones the odd rows; for a single row, the
//            upper lanes are ignored.
//   b        lane l has column l, all K elements of it
//   acc      lane l has column l, one row after the other
//
// a of f16 on Xe-HPC, 8x16:
//
//        column   0     1     2   ...   15
//      row 0     0.0   1.0   2.0       15.0    (lane.element)
//      row 1     0.1   1.1   2.1       15.1
//      ...
//      row 7     0.7   1.7   2.7       15.7
//
// Not included: matmuls of i4, which the dialect does not support, those with
// sums in bf16, and subgroups of 32 lanes, in which two lanes share a column.
//
//===----------------------------------------------------------------------===//

#include "../../TargetInfo/Tables.h"
#include "Schedules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::tessera;

using Step = LaneMap::Step;
using Steps = LaneSteps;

namespace {

/// Operands of one type: `bytes` for each element, so that K is 32 of them.
struct Types {
  const char *operand, *acc;
  int64_t bytes;
  /// Where subgroups have 16 lanes only.
  bool wideOnly = false;
  bool tf32 = false;
};

} // namespace

static const Types types[] = {
    {"f16", "f32", 2},
    {"bf16", "f32", 2},
    {"f16", "f16", 2, /*wideOnly=*/true},
    {"f32", "f32", 4, /*wideOnly=*/true, /*tf32=*/true},
    // Each operand signed or unsigned.
    {"i8", "i32", 1},
};

/// The map of a: mxk over `lanes` lanes.
static LaneMap getAMap(int64_t m, int64_t k, int64_t lanes) {
  if (k >= lanes)
    return LaneMap(
        countSteps(1, k / lanes, k),
        concatSteps(countSteps(1, 1, k / lanes), countSteps(0, 1, m)));
  int64_t rows = lanes / k;
  Steps ofLanes =
      concatSteps(countSteps(1, 1, k), countSteps(0, 1, std::min(rows, m)));
  while (int64_t(1) << ofLanes.size() < lanes)
    ofLanes.push_back({0, 0});
  return LaneMap(ofLanes, countSteps(0, rows, m));
}

/// The map of b and of the accumulator: a column in each lane.
static LaneMap getColumnMap(int64_t rows, int64_t lanes) {
  return LaneMap(countSteps(1, 1, lanes), countSteps(0, 1, rows));
}

static void addDpas(Chip &chip) {
  int64_t lanes = chip.subgroupSize;
  for (const Types &of : types) {
    if (of.wideOnly && lanes < 16)
      continue;
    // With more rows, b is read from the registers less often.
    for (int64_t m : {8, 4, 2, 1}) {
      MatrixInstruction row;
      row.m = m;
      row.n = lanes;
      row.k = 32 / of.bytes;
      row.aType = row.bType = of.operand;
      row.accType = of.acc;
      row.tf32 = of.tf32;
      row.name = "dpas.m" + llvm::utostr(row.m) + "n" + llvm::utostr(row.n) +
                 "k" + llvm::utostr(row.k) + "." + of.acc + "." +
                 (of.tf32 ? "tf32" : of.operand);
      row.aMap = getAMap(row.m, row.k, lanes);
      row.bMap = getColumnMap(row.k, lanes);
      row.accMap = getColumnMap(row.m, lanes);
      chip.instructions.push_back(std::move(row));
    }
  }
}

void mlir::tessera::addIntelMatrixUnit(Chip &chip) {
  chip.accessBytes = 16;
  chip.alignedAccess = true;
  chip.rowPaddingBytes = 16;
  chip.asyncCopy = false;
  // A hardware thread runs a subgroup and has 128 registers, each of 4 bytes
  // for each lane, or 256 where half as many threads run ("oneAPI GPU
  // Optimization Guide", "Small Register Mode vs. Large Register Mode").
  // An Xe-core has 64 of them, or with subgroups of 8 lanes 128.
  chip.registersPerThread = 128;
  chip.largeRegistersPerThread = 256;
  chip.registersPerWorkgroup = 128 * 1024;
  bool wide = chip.subgroupSize == 16;
  // Where the least subgroup has 16 lanes ("cl_intel_subgroup_2d_block_io",
  // section 6.13.X.6, "Restrictions", and SPV_INTEL_2d_block_io).
  if (wide) {
    chip.blockLoads = BlockLoads{/*alignment=*/64,
                                 /*columnAlignment=*/4,
                                 /*leastWidth=*/64,
                                 /*mostWidth=*/int64_t(1) << 24,
                                 /*widthMultiple=*/4,
                                 /*pitchMultiple=*/16,
                                 /*mostRows=*/int64_t(1) << 24};
  }
  setIntelSchedules(chip);
  std::vector<MatrixInstruction> others = std::move(chip.instructions);
  chip.instructions.clear();
  addDpas(chip);
  llvm::append_range(chip.instructions, others);
}

void mlir::tessera::addIntelChips(std::vector<Chip> &chips) {
  struct Entry {
    const char *name;
    /// The lanes of subgroups with a matrix unit, which are the smallest
    /// subgroups.
    int64_t lanes;
    /// The workgroup memory of one workgroup: "SLM_Size_Per_Work_Group" of
    /// Intel's GPU Occupancy Calculator (oneAPI samples).
    int64_t workgroupKiB;
    /// Xe-cores of the largest device: Data Center GPU Max 1550 (one of its two
    /// stacks), Arc B580, Arc A770 (Intel's product pages).
    int64_t processors;
  };
  static const Entry entries[] = {
      // Xe-HPC, Ponte Vecchio.
      {"pvc", 16, 128, 64},
      // Xe2, Battlemage.
      {"bmg", 16, 128, 20},
      // Xe-HPG, Alchemist.
      {"dg2", 8, 64, 32},
  };
  for (const Entry &entry : entries) {
    Chip chip;
    chip.name = entry.name;
    chip.target = "opencl";
    chip.subgroupSize = entry.lanes;
    chip.workgroupMemoryBytes = entry.workgroupKiB * 1024;
    // "Max_Work_Group_Size", ibidem.
    chip.maxThreads = 1024;
    chip.processors = entry.processors;
    // Xe-HPG has neither arithmetic nor atomics of f64.
    chip.hasF64 = chip.hasAtomicF64 = entry.lanes == 16;
    addIntelMatrixUnit(chip);
    addScalarInstructions(chip);
    chips.push_back(std::move(chip));
  }
}
