//===- DefaultBatches.cpp - Small matrices of a batch by default ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "Scheduling/ScheduleCheck.h"

using namespace mlir;
using namespace mlir::tessera;

bool ScheduleBuilder::isSmall() {
  const auto &[m, n] = fields.workgroup;
  return chip.policy.batchDefaults.subgroups > 1 && !form.batch.empty() &&
         fields.workgroup == fields.subgroup && m * n < largestTile &&
         ShapedType::isStatic(extents[0]) && ShapedType::isStatic(extents[1]) &&
         extents[0] <= m && extents[1] <= n;
}

void ScheduleBuilder::shortenFragments() {
  // No fragment is longer than an instruction, or than K, if the same tile has
  // a shorter one.
  int64_t &kFragment = fields.kFragment;
  if (kFragment % instruction->k == 0)
    kFragment = instruction->k;
  if (ShapedType::isDynamic(extents[2]))
    return;
  const MatrixInstruction *shorter = select(
      fields.subgroup, llvm::PowerOf2Ceil(static_cast<uint64_t>(extents[2])));
  if (!shorter || shorter->matrixUnit != usesMatrixUnit ||
      shorter->k >= kFragment || shorter->m != instruction->m ||
      shorter->n != instruction->n || kFragment % shorter->k != 0)
    return;
  instruction = shorter;
  kFragment = shorter->k;
  fields.k = llvm::alignTo(std::min(fields.k, extents[2]), kFragment);
}

bool ScheduleBuilder::mayHold(int64_t fragments, int64_t matrices) {
  RegisterEstimate one = estimateRegisters(op, make(), chip, *instruction);
  return chip.registersPerThread == 0 ||
         matrices * one.accumulators + fragments * one.operands <=
             chip.registersPerThread / 2;
}

int64_t ScheduleBuilder::chooseDirectFragments() {
  int64_t fragments = llvm::divideCeil(extents[2], fields.kFragment);
  if (!usesMatrixUnit || ShapedType::isDynamic(extents[2]) || form.gather[0] ||
      form.gather[1] || fragments > chip.policy.batchDefaults.directFragments ||
      !mayHold(fragments, 1) ||
      (limit && limit % (fragments * fields.kFragment) != 0))
    return 1;
  fields.k = fragments * fields.kFragment;
  fields.stages = 0;
  return fragments;
}

std::array<int64_t, 2> ScheduleBuilder::countMatrices(int64_t fragments) {
  const BatchDefaults &batch = chip.policy.batchDefaults;
  int64_t count = getLinearExtent(op, form.batch);
  if (ShapedType::isDynamic(count) || chip.processors == 0)
    return {batch.subgroups, 1};
  auto divide = [&](int64_t by) {
    return static_cast<int64_t>(llvm::divideCeil(count, by));
  };
  // Subgroups beyond those that are resident would run later.
  int64_t each = 1;
  while (each * 2 <= batch.perSubgroup && mayHold(fragments, each * 2) &&
         divide(each) > chip.processors * batch.resident)
    each *= 2;
  // Each SM gets a workgroup, if there are enough.
  int64_t subgroups = batch.subgroups;
  while (subgroups > 1 && divide(each * subgroups) < chip.processors)
    subgroups /= 2;
  return {subgroups * each, each};
}

void ScheduleBuilder::chooseBatches() {
  if (!isSmall())
    return;
  instruction = select(fields.subgroup, fields.kFragment);
  if (!instruction)
    return;
  shortenFragments();
  auto [batches, subgroupBatches] = countMatrices(chooseDirectFragments());
  fields.batches = batches;
  fields.subgroupBatches = subgroupBatches;
}
