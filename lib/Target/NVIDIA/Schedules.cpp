//===- Schedules.cpp - Schedule policy and rates of NVIDIA's chips --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Schedule policies
//===----------------------------------------------------------------------===//

static void setPolicy(SchedulePolicy &policy, const NvidiaChipRow &row) {
  bool ampere = row.level >= 80;
  // Measured on sm_90a: docs/benchmarks/h200-schedules.md.
  policy.preferSwizzle = ampere;
  policy.matrixDefaults = {{128, 128}, {64, 64}, 64, ampere ? 4 : 1};
  policy.scalarDefaults = {{64, 64}, {32, 64}, 64, ampere ? 3 : 1};
  policy.largeScalarWorkgroup = {128, 128};
  policy.largeScalarSubgroup = {32, 64};
  policy.scalarSubgroups = 8;
  // By count: half of the 64 subgroups that a processor can hold, since each
  // has a few dozen loads in flight.
  policy.batchDefaults = {/*subgroups=*/8, /*resident=*/32, /*perSubgroup=*/4,
                          /*directFragments=*/4};
  policy.simt = {256, 1, 512, 4};
}

static void setWarpgroupPolicy(SchedulePolicy &policy) {
  // Measured on an H200, in f16 and bf16: docs/benchmarks/h200-schedules.md.
  policy.groupDefaults = {{{128, 256}, {64, 256}, 128, 8, 4, 1.00},
                          {{256, 128}, {128, 128}, 128, 8, 4, 0.97},
                          {{192, 128}, {64, 128}, 128, 8, 4, 0.95},
                          {{128, 128}, {64, 128}, 128, 8, 4, 0.93},
                          {{64, 256}, {64, 256}, 128, 8, 4, 0.82},
                          {{64, 128}, {64, 128}, 256, 8, 4, 0.75},
                          {{256, 64}, {64, 64}, 128, 8, 4, 0.70},
                          {{128, 64}, {64, 64}, 256, 8, 4, 0.67},
                          {{64, 64}, {64, 64}, 256, 8, 4, 0.50},
                          {{128, 192}, {64, 192}, 128, 8, 4, 0.97},
                          {{64, 192}, {64, 192}, 128, 8, 4, 0.79},
                          {{128, 160}, {64, 160}, 128, 8, 4, 0.95},
                          {{64, 96}, {64, 96}, 256, 8, 4, 0.64}};
  // Measured on an H200: docs/benchmarks/h200-attention.md. One group has the
  // matrix unit while the other has its softmax.
  policy.attentionDefaults = {/*groups=*/2,
                              /*keys=*/128,
                              /*stages=*/2,
                              /*persistentKeys=*/{160, 128, 80, 64, 48},
                              /*blockKeys=*/48,
                              /*unmaskedKeys=*/{208, 192},
                              /*unmaskedColumns=*/64};
  // Sums apart take as many registers again: at most 192 columns. Those of 144
  // and more, and of 192 rows, relative to 128x128 as measured at 8192 cubed
  // and 4096x2112x7168; the others for lack of measurements as above.
  for (ScheduleDefaults tiling :
       std::vector<ScheduleDefaults>({{{128, 128}, {64, 128}, 128, 8, 4, 0.90},
                                      {{128, 192}, {64, 192}, 128, 8, 4, 0.96},
                                      {{192, 128}, {64, 128}, 128, 8, 4, 0.96},
                                      {{128, 176}, {64, 176}, 128, 8, 4, 0.95},
                                      {{128, 144}, {64, 144}, 128, 8, 4, 0.93},
                                      {{64, 128}, {64, 128}, 256, 8, 4, 0.60},
                                      {{64, 64}, {64, 64}, 256, 8, 4, 0.42}})) {
    tiling.sumsApart = true;
    policy.groupDefaults.push_back(tiling);
  }
  // Few columns, and numbers of them between the powers of two.
  using Tile = std::array<int64_t, 2>;
  auto compare = [&](int64_t rows, int64_t columns, bool sumsApart) {
    ScheduleDefaults tiling{Tile{rows, columns}, Tile{64, columns}, 128, 8, 4};
    tiling.sumsApart = sumsApart;
    policy.comparedTilings.push_back(tiling);
  };
  for (auto [rows, columns] : std::vector<Tile>({{64, 16},
                                                 {64, 32},
                                                 {64, 160},
                                                 {64, 224},
                                                 {128, 16},
                                                 {128, 32},
                                                 {128, 96},
                                                 {128, 224},
                                                 {192, 64},
                                                 {192, 96},
                                                 {192, 160}}))
    compare(rows, columns, /*sumsApart=*/false);
  for (auto [rows, columns] :
       std::vector<Tile>({{64, 16}, {64, 32}, {128, 32}, {128, 64}, {192, 64}}))
    compare(rows, columns, /*sumsApart=*/true);
}

static void setTensorMemoryPolicy(SchedulePolicy &policy) {
  // None of this was measured. Speeds are what workgroup memory can feed, of
  // 128 bytes in each of the chip's clocks.
  policy.groupDefaults = {{{128, 256}, {128, 256}, 128, 8, 8, 1.00},
                          {{256, 128}, {128, 128}, 128, 8, 4, 0.95},
                          {{128, 128}, {128, 128}, 128, 8, 4, 0.85},
                          {{128, 64}, {128, 64}, 256, 8, 4, 0.55}};
  // Weights would have to go from registers to workgroup memory.
  policy.attentionDefaults.groups = 0;
}

//===----------------------------------------------------------------------===//
// Measured rates
//===----------------------------------------------------------------------===//

/// Measured on an H100 by few workgroups with K in parts
/// (docs/Rationale/Tiling.md). In f64, steps of 128x64x16 take 850 ns in a
/// workgroup alone, and 1490 in two.
static void setSubgroupModel(PerformanceModel &model) {
  model.stepLatency = 800;
  model.subgroupShare = 0.5;
  model.f64Share = 0.45;
  model.f64Alone = 1.14;
  model.singleLoad = 1.2;
}

/// Measured on an H200 (docs/benchmarks/h200-quantized.md): two vectors for
/// 128x256 elements are 1.1 us; 100352x256x64 in tiles of 128x256 and 128x128,
/// and of 192x128 and 256x128.
static void setEpilogueModel(PerformanceModel &model) {
  model.lateVectors = 2.75;
  model.epilogueOfTwo = 5.2;
  model.epilogueOfMore = 4.0;
}

/// Measured on an H200: docs/benchmarks/h200-schedules.md.
static void setWarpgroupModel(PerformanceModel &model) {
  model.mma = 3170;
  model.tile = 600;
  model.epilogue = 0.012;
  setEpilogueModel(model);
  // Not measured: about what two barriers and an empty wgmma pipeline take.
  model.step = 30;
  model.memory = 3500;
  model.processorMemory = 36;
  model.tiles = 13200;
  // 1000 cubed, whose rows begin within lines, by 64 workgroups of 128x128.
  model.processorTiles = 125;
  model.splitLines = 2.4;
  model.lineBytes = 128;
  model.start = 5000;
  model.clusterMemory = 6;
  model.clusterParts = 2;
  // Workgroups of a cluster are in the same part of the chip (GPC), of 16 or 18
  // SMs. On an H200, 128 in clusters of four took twice as long as 112.
  model.clusterIdle = {12, 20};
  model.sharing = 0.03;
  model.copyStart = 2000;
  model.copies = 2500;
  model.transposedElements = 700;
  // At 4096 cubed, bf16 with such rows took 0.9 ms, and 0.2 by groups; by
  // single subgroups i8 took 0.42 ms and tf32 1.05 ms, and by groups 0.12 and
  // 0.36.
  model.savedByRows = 1.0e-5;
  model.savedByOrder = 0.4e-5;
  model.savedByOrderOfWords = 1.0e-5;
  // A convolution of 7x7 over 32 images of 224x224x3 took 0.42 ms, of which by
  // an estimate less than 0.1 are left.
  model.savedByRuns = 8.0e-5;
  setSubgroupModel(model);
  model.schedules = getWarpgroupRates();
}

static void setTensorMemoryModel(PerformanceModel &model) {
  // Those of sm_90a, by the ratio of the datasheets' figures (dense f16 and
  // memory of B200 and H200).
  model.mma = 6400;
  model.tile = 600;
  model.epilogue = 0.012;
  setEpilogueModel(model);
  model.step = 30;
  model.memory = 5800;
  model.processorMemory = 54;
  model.tiles = 22000;
  model.processorTiles = 200;
  model.splitLines = 2.4;
  model.lineBytes = 128;
  model.start = 5000;
  model.copyStart = 2000;
  model.copies = 4100;
  model.transposedElements = 1200;
  model.savedByRows = 0.5e-5;
  model.savedByOrder = 0.2e-5;
  model.savedByOrderOfWords = 0.5e-5;
  model.savedByRuns = 4.0e-5;
  setSubgroupModel(model);
}

void mlir::tessera::setNvidiaSchedules(Chip &chip, const NvidiaChipRow &row) {
  setPolicy(chip.policy, row);
  switch (row.unit) {
  case NvidiaChipRow::MmaSync:
    break;
  case NvidiaChipRow::Warpgroups:
    setWarpgroupPolicy(chip.policy);
    setWarpgroupModel(chip.model);
    break;
  case NvidiaChipRow::TensorMemory:
    setTensorMemoryPolicy(chip.policy);
    setTensorMemoryModel(chip.model);
    break;
  }
}
