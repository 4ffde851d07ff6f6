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
  if (schedule.getStages() < 1)
    return 0;
  StagedTiles tiles = getStagedTiles(op, form, schedule, chip);
  int64_t threads = schedule.getNumSubgroups() * chip.subgroupSize, held = 0;
  for (unsigned side : {0, 1}) {
    auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
    if (!type ||
        (!isHeld(side) && (chip.asyncCopy || schedule.getStages() < 2)))
      continue;
    int64_t elements = 1;
    for (int64_t extent : side == 0 ? tiles.a : tiles.b)
      elements *= extent;
    int64_t ofThread = llvm::divideCeil(elements, threads);
    if (isHeld(side)) {
      // Two aligned accesses for the bytes of one (ShiftedReads.h), and for
      // each pair of them where the data begins, and how much of it is in
      // bounds.
      held += llvm::divideCeil(
          5 * ofThread * getElementBits(type.getElementType()), 2 * 32);
      continue;
    }
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

void ScheduleBuilder::holdParts() {
  constexpr int64_t mostSteps = 4;
  std::optional<int64_t> workgroups = countWorkgroups(fields.workgroup);
  if (!instruction || !usesMatrixUnit || !hasKnownLatency() || hasWholeRows ||
      (!isHeld(0) && !isHeld(1)) || limit != 0 || fields.batches > 1 ||
      fields.stages == 0 || ShapedType::isDynamic(extents[2]) || !workgroups ||
      *workgroups * fields.splitK > chip.processors)
    return;
  auto steps = static_cast<int64_t>(llvm::divideCeil(extents[2], fields.k)),
       ofPart = static_cast<int64_t>(llvm::divideCeil(steps, fields.splitK));
  if (ofPart < 2 || ofPart > mostSteps)
    return;
  ScheduleFields before = fields;
  const MatrixInstruction *with = instruction;
  fields.k = llvm::alignTo(llvm::divideCeil(extents[2], fields.splitK),
                           fields.kFragment);
  // The rounded step may need fewer parts.
  fields.splitK = llvm::divideCeil(extents[2], fields.k);
  fields.stages = 1;
  shareHeld();
  if (!isTight() &&
      getStagedTiles(op, form, make(), chip).bytes <= chip.workgroupMemoryBytes)
    return;
  fields = before;
  instruction = with;
}

/// Tiles without workgroup memory fill the registers with sums, and the
/// epilogue has elements of such a matrix in registers for each of them.
void ScheduleBuilder::fitEpilogue() {
  int64_t matrices = llvm::count_if(op.getExtras(), [](Value extra) {
    auto type = dyn_cast<ShapedType>(extra.getType());
    return type && type.getRank() > 1;
  });
  if (!usesBlocks || !instruction || matrices == 0)
    return;
  Tile &workgroup = fields.workgroup, &subgroup = fields.subgroup;
  while (estimateRegisters(op, make(), chip, *instruction).accumulators *
                 (1 + matrices) >
             chip.getMostRegisters() / 4 * 3 &&
         subgroup[1] % 2 == 0 &&
         hasClass({subgroup[0], subgroup[1] / 2}, fields.kFragment)) {
    subgroup[1] /= 2;
    workgroup[1] /= 2;
    instruction = select(subgroup, fields.kFragment);
  }
}

bool ScheduleBuilder::splitSubgroup() {
  // As many threads as two of the default workgroups have.
  constexpr int64_t most = 8;
  Tile &subgroup = fields.subgroup;
  for (unsigned d : {subgroup[0] >= subgroup[1] ? 0U : 1U,
                     subgroup[0] >= subgroup[1] ? 1U : 0U}) {
    Tile smaller = subgroup;
    smaller[d] /= 2;
    if (hasWholeRows || subgroup[d] % 2 ||
        2 * make().getNumSubgroups() > most ||
        !hasClass(smaller, fields.kFragment))
      continue;
    subgroup = smaller;
    instruction = select(subgroup, fields.kFragment);
    return true;
  }
  return false;
}

/// A quarter of the registers is reserved for addresses, of which block loads
/// need few.
bool ScheduleBuilder::isTight() {
  RegisterEstimate needed = estimateRegisters(op, make(), chip, *instruction);
  return needed.getTotal() + estimateHeld() >= chip.registersPerThread / 4 * 3;
}

void ScheduleBuilder::shareHeld() {
  // Measured on an H100: 32x50257x768 takes 36 us with half of the registers
  // and 41 with three quarters.
  auto isTighter = [&] {
    RegisterEstimate needed = estimateRegisters(op, make(), chip, *instruction);
    return needed.getTotal() + estimateHeld() >= chip.registersPerThread / 2;
  };
  while ((isHeld(0) || isHeld(1)) && isTighter() && splitSubgroup())
    continue;
}

void ScheduleBuilder::fitRegisters() {
  if (!instruction || !usesMatrixUnit || usesBlocks ||
      chip.registersPerThread == 0)
    return;
  shareHeld();
  while (canHalveStep() && isTight())
    fields.k /= 2;
}
