//===- DefaultResources.cpp - Memory and registers of default schedules ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"

using namespace mlir;
using namespace mlir::tessera;

void ScheduleBuilder::fitMemory() {
  auto canHalveBatches = [&] {
    return fields.batches > fields.subgroupBatches &&
           (fields.batches / 2) % fields.subgroupBatches == 0;
  };
  while (getStagedTiles(op, form, make(), chip).bytes >
         chip.workgroupMemoryBytes) {
    if (canHalveBatches())
      fields.batches /= 2;
    else if (fields.stages > 2)
      --fields.stages;
    else if (canHalveStep())
      fields.k /= 2;
    else if (fields.stages > 1)
      --fields.stages;
    else if (!halve(0) && !halve(1))
      fields.stages = 0;
  }
}

/// A lower bound of the registers of a thread for data that it has loaded for
/// the next steps, if copies run ahead and are not asynchronous. Rows of
/// unknown alignment are read one element at a time; in memory of dynamic
/// extents each such element has a branch of its own until it is written. Each
/// gathered element of an image has an index of its own. Async copies to LDS
/// are counted too, since they can be disabled for a run.
int64_t ScheduleBuilder::estimateHeld() {
  ScheduleAttr schedule = make();
  if (chip.asyncCopy || schedule.getStages() < 2)
    return 0;
  StagedTiles tiles = getStagedTiles(op, form, schedule, chip);
  int64_t threads = schedule.getNumSubgroups() * chip.subgroupSize, held = 0;
  for (unsigned side : {0, 1}) {
    auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
    if (!type)
      continue;
    int64_t elements = 1;
    for (int64_t extent : side == 0 ? tiles.a : tiles.b)
      elements *= extent;
    int64_t ofThread = llvm::divideCeil(elements, threads);
    if (form.gather[side] && !hasRowsOfMultiple(type, 4))
      held += 3 * ofThread; // An index and a condition in addition.
    else if (type.hasStaticShape() || isPacked(type.getElementType()) ||
             hasRowsOfMultiple(type, 4))
      held += llvm::divideCeil(ofThread * getElementBits(type.getElementType()),
                               32);
    else
      held += 2 * ofThread;
  }
  return held;
}

/// A quarter of the registers is reserved for addresses, of which block loads
/// need few.
void ScheduleBuilder::fitRegisters() {
  if (!instruction || !usesMatrixUnit || usesBlocks ||
      chip.registersPerThread == 0)
    return;
  auto isTight = [&] {
    RegisterEstimate needed = estimateRegisters(op, make(), chip, *instruction);
    return needed.getTotal() + estimateHeld() >=
           chip.registersPerThread / 4 * 3;
  };
  while (canHalveStep() && isTight())
    fields.k /= 2;
}
