//===- Schedules.cpp - Schedule policy of AMD's chips ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir::tessera;

void mlir::tessera::setAmdSchedules(Chip &chip, const AmdChipRow &row) {
  bool rdna = row.bit & (Gfx11 | Gfx12);
  SchedulePolicy &policy = chip.policy;
  // None of it is measured. 64x64 accumulators take 64 registers of 64 lanes;
  // 64x32 take as many of 32, beside operands of which WMMA of RDNA3 wants
  // two copies. With two stages, a step's loads are held ahead of the MFMAs of
  // the previous step.
  policy.matrixDefaults = {{128, 128}, {64, rdna ? 32 : 64}, 64, 2};
  if (row.bit & (Gfx942 | Gfx950))
    // Eight waves with 128 registers of accumulators each: three quarters of
    // the bytes that waves of 64x64 read from LDS for each MFMA. Reads that
    // transpose b have half the width, so that it should have the shorter side.
    // "AMD Instinct MI300X workload optimization" of ROCm's documentation
    // prefers MFMAs of 16x16 for all GEMMs, and "FP8 GEMM optimization on AMD
    // CDNA4-based GPUs" 256x256 by eight waves. Writing 256 KiB takes as long
    // as 1 KiB of K.
    policy.largeTiling = {/*workgroup=*/{256, 256},
                          /*subgroup=*/{64, 128},
                          /*fragment=*/{16, 16},
                          /*leastBytes=*/4096};
  if (row.bit & Gfx950)
    // MFMAs of 8-bit floats with K = 128 have 128x128: they need as many reads
    // of LDS for each clock of the matrix unit as those of f16, in half as many
    // instructions. ROCm's "Deep Dive Into 4-Wave Interleave FP8 GEMM" finds
    // four waves of 128x128, which have all registers of a SIMD unit each,
    // faster than eight.
    policy.largeTiling->subgroup = {128, 64};
  policy.preferSwizzle = true;
  policy.unrollStages = true;
  if (row.bit & Gfx950)
    // Nothing is held between steps then, and workgroup memory is 160 KiB.
    policy.directStepBytes = 128;
  policy.scalarDefaults = {{64, 64}, {32, 32}, 64, 1};
  // By count, as on NVIDIA: half of the 32 waves of a compute unit.
  policy.batchDefaults = {/*subgroups=*/4, /*resident=*/16, /*perSubgroup=*/4,
                          /*directFragments=*/4};
  // More keys would not leave registers for all of a block's values.
  if (row.bit & (Gfx12 | Gfx906))
    policy.attentionDefaults.keys = 32;
  policy.simt = {256, 1, 512, 4};
}
