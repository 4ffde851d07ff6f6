//===- DefaultParts.cpp - Parts of K of default schedules -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time of a matmul by instructions of single subgroups, with K in so many
// parts, is estimated as
//
//   rounds * steps of a part * max(latency / steps in flight,
//                                  work of the SM's workgroups in a step,
//                                  bytes of all workgroups / cache bandwidth)
//   + the kernel that adds up the parts
//
// and not less than the operands take to read once,
// where a round is as many workgroups as are resident at a time. With few
// workgroups the latency decides, and parts shorten the sequence of steps.
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

/// Registers of a thread, for the number of resident workgroups.
static constexpr int64_t assumedRegisters = 168;

int64_t ScheduleBuilder::estimateParts(int64_t workgroups) {
  const PerformanceModel &rates = chip.model;
  ScheduleAttr schedule = make();
  StagedTiles tiles = getStagedTiles(op, form, schedule, chip);
  auto [rows, columns] = fields.workgroup;
  int64_t bytes = llvm::divideCeil(operandBits, 8),
          steps = llvm::divideCeil(extents[2], fields.k) * lengthened,
          threads = schedule.getNumSubgroups() * chip.subgroupSize,
          resident = std::max<int64_t>(1, chip.registersPerWorkgroup /
                                              (threads * assumedRegisters));
  if (tiles.bytes > 0 && chip.unit.memoryBytes > 0)
    resident = std::min(
        resident,
        std::max<int64_t>(1, chip.unit.memoryBytes /
                                 (tiles.bytes + chip.unit.systemBytes)));
  bool held = isHeld(0) || isHeld(1);
  double ahead = held ? 1 : double(std::max<int64_t>(1, fields.stages - 1)),
         k = double(fields.k), processors = double(chip.processors),
         loaded = k * double(rows + columns) * double(bytes),
         work = double(rows * columns) * k * double(bytes) /
                (2 * rates.subgroupShare * rates.mma) /
                (bytes == 8 ? rates.f64Share : 1),
         least = work * (bytes == 8 ? rates.f64Alone : 1);
  // No instruction transposes elements of one byte, except pairs of columns of
  // rhs.
  const MatrixInstruction *row = select(fields.subgroup, fields.kFragment);
  bool hasPairs = row && findColumnPairs(chip, *row, fields.subgroup[1]);
  for (unsigned side : {0, 1})
    if (bytes == 1 && isStoredTransposed(op, form, side) == (side == 0) &&
        !(side == 1 && hasPairs)) {
      int64_t sharing = fields.workgroup[1 - side] / fields.subgroup[1 - side];
      work = std::max(work, double(fields.workgroup[side] * sharing) * k /
                                double(chip.subgroupSize) * rates.singleLoad);
    }

  double outputs = 1;
  for (unsigned d : {0, 1})
    outputs *= double(extents[d]);
  if (auto count = countTiles(fields.workgroup))
    outputs *= double((*count)[2]);
  outputs *= double(getElementBytes(op.getAccumulatorType()));

  // Each operand once, at least.
  double all =
      double(extents[2]) * double(extents[0] + extents[1]) * double(bytes);

  int64_t best = 1;
  double shortest = 0;
  for (int64_t parts : partsOfK) {
    if (parts > 1 && 2 * parts > steps + 1)
      break;
    double units = double(workgroups * parts),
           ofProcessor = std::ceil(units / processors),
           rounds = std::ceil(ofProcessor / double(resident)),
           together = std::min(ofProcessor, double(resident)),
           busy = std::min(units, processors * double(resident)),
           step = std::max({rates.stepLatency / ahead, least, together * work,
                            together * loaded / rates.processorTiles,
                            busy * loaded / rates.tiles}),
           time = std::max(
               rounds * double(llvm::divideCeil(steps, parts)) * step,
               all / std::min(rates.memory, busy * rates.processorMemory));
    if (parts > 1)
      time += rates.copyStart + 2 * double(parts) * outputs / rates.memory;
    if (parts == 1 || time < shortest) {
      best = parts;
      shortest = time;
    }
  }
  return best;
}
