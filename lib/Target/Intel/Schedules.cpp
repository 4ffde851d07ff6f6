//===- Schedules.cpp - Schedule policy of Intel's chips -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir::tessera;

void mlir::tessera::setIntelSchedules(Chip &chip) {
  SchedulePolicy &policy = chip.policy;
  // None of it is measured on a device: the largest tiles of which Intel's
  // compiler spills no register (docs/Intel.md). 32x32 accumulators of 16
  // lanes take 64 registers, 16x16 of 8 take 32.
  bool wide = chip.subgroupSize == 16;
  policy.matrixDefaults = wide ? ScheduleDefaults{{128, 128}, {32, 32}, 32, 1}
                               : ScheduleDefaults{{64, 64}, {16, 16}, 64, 1};
  policy.scalarDefaults = {{64, 64}, {16, wide ? 32 : 16}, 64, 1};
  if (wide) {
    // 32x64 accumulators take 128 registers, the operands of 64 bytes of K 96.
    policy.blockDefaults = ScheduleDefaults{{256, 256}, {32, 64}, 64, 0};
    policy.blockPrefetchIterations = 2;
  }
  policy.simt = {256, 1, 8 * chip.processors, 4};
}
