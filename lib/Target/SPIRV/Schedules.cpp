//===- Schedules.cpp - Schedule policy of reported chips ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir::tessera;

/// Sets the rates of an H200 through Vulkan (docs/benchmarks/h200-vulkan.md).
/// Copies and their start are those of NVIDIA's table.
static void setLargeModel(PerformanceModel &model) {
  model.mma = 1150;
  model.copyStart = 2000;
  model.copies = 2500;
  // A convolution of 7x7 over 32 images of 224x224x3 took 0.54 ms, of which by
  // an estimate less than 0.2 are left.
  model.savedByRuns = 9.0e-5;
}

/// Those of an H200 through Vulkan (docs/benchmarks/h200-vulkan.md). Workgroup
/// memory limits workgroups to one, two and three for each SM with 27, 19 and
/// 14 KiB. 25088x128x512 takes 27.7 us in tiles of 64x64, 25.5 in 128x128 and
/// 21.8 in 64x128, and 1568x2048x1024 53.4, 39.2 and, in two rounds, 52.9. In
/// 96x128, 25088x128x1152 takes 34.1 us instead of 37.2 in 64x128, and
/// 6272x1024x256 20.8 instead of 22.0. A 3x3 convolution of 32x14x14x256 takes
/// 47.2 us in tiles of 64x64, and 32.6 in 132 of 96x128; that of 32x7x7x512
/// 59.7, and 38.4 in three parts of 40 of 160x128. Those of one image of
/// 28x28x512, 28x28x256 to 512 and 56x56x256 take 52.0, 27.8 and 29.8 us in
/// tiles of 64x64, and 25.1 in six parts of 160x128, 18.4 in three and 23.7 in
/// two of 96x128; that of 112x112x64 to 128 takes 17.5, and 11.4 in 96x128.
static RoundDefaults getLargeRounds() {
  return {/*processors=*/132,
          {{{{128, 128}, {64, 64}, 64, 1}, /*resident=*/2, /*time=*/1},
           {{{128, 256}, {64, 64}, 64, 1}, /*resident=*/1, /*time=*/1},
           {{{96, 128}, {48, 64}, 64, 1}, /*resident=*/2, /*time=*/0.8},
           {{{64, 128}, {32, 64}, 64, 1}, /*resident=*/3, /*time=*/0.82}},
          /*fewColumns=*/{{128, 64}, {64, 32}, 64, 1},
          /*alone=*/
          {{{96, 128}, {48, 64}, 128, 1}, {{160, 128}, {80, 32}, 128, 1}}};
}

void mlir::tessera::setReportedSchedules(Chip &chip) {
  SchedulePolicy &policy = chip.policy;
  bool wide = chip.subgroupSize >= 32;
  // Four subgroups of 64x64 tiles keep a large GPU's matrix unit busy from
  // workgroup memory, and eight slightly better; if there are few lanes, other
  // resources are scarce too. With rows of 128 bytes, matmuls took 1.2 times as
  // long on an H200; convolutions and narrow matrices are faster with them, in
  // smaller tiles (docs/benchmarks/h200-vulkan.md).
  if (wide) {
    policy.matrixDefaults = {{128, 128}, {64, 64}, 64, 1};
    policy.largeWorkgroup = {128, 256};
    policy.smallDefaults = {{64, 64}, {32, 32}, 128, 1};
    policy.roundDefaults = getLargeRounds();
    policy.dividedSteps = 12;
    // In tiles of 64x64, 36x384x832 takes 7.2 us in 6 parts and 5.9 in 13; a
    // 3x3 convolution of 14x14x512 takes 18.4 us in 4 parts, for each SM one,
    // and 14.2 in 8 parts of 9 steps; that of 14x14x256 takes 9.9 us in 8 parts
    // of 5 steps and 11.2 in 18 of 2, and 8.4 in 9 parts of tiles of 32x64.
    policy.singleSteps = 16;
    policy.pairedSteps = 9;
    setLargeModel(chip.model);
  } else {
    policy.matrixDefaults = {{32, 32}, {16, 16}, 32, 1};
  }
  policy.scalarDefaults = wide ? ScheduleDefaults{{64, 64}, {32, 32}, 64, 1}
                               : ScheduleDefaults{{32, 64}, {16, 32}, 32, 1};
  policy.simt = {wide ? 256 : 64, 1, wide ? 512 : 64, 4};
}

void mlir::tessera::setLanelessSchedules(Chip &chip) {
  SchedulePolicy &policy = chip.policy;
  policy.matrixDefaults = policy.scalarDefaults = {{16, 32}, {4, 8}, 32, 1};
  policy.simt = {16, 1, 16, 4};
}
