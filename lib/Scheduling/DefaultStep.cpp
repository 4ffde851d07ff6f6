//===- DefaultStep.cpp - Steps along K and stages of a default schedule ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

/// Whether loads can load all tiles of lhs (0) or rhs (1) directly to workgroup
/// memory, if their width divides it.
bool ScheduleBuilder::isCopiedDirectly(unsigned side) {
  auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
  if (!type || !type.hasStaticShape() || form.gather[side] ||
      !op.getProducer(side).empty() || isPacked(type.getElementType()) ||
      !hasAlignedRows(op, side, chip) ||
      !llvm::is_contained(chip.ldsCopyBytes, chip.accessBytes))
    return false;
  // Tiles whose columns are read are copied in another layout if the chip has
  // no transposing loads.
  int64_t bits = getElementBits(type.getElementType());
  bool readsColumns = isStoredTransposed(op, form, side) == (side == 0);
  return !readsColumns || (bits & chip.transposingReadBits) != 0 || bits > 16 ||
         !chip.packsColumns;
}

int64_t ScheduleBuilder::chooseStepBytes() {
  if (!usesMatrixUnit || usesBlocks)
    return defaults->kBytes;
  std::array<int64_t, 3> all = getStaticExtents(op, form);
  int64_t step = 8 * chip.policy.directStepBytes / operandBits;
  auto divides = [](int64_t tile, int64_t extent) {
    return ShapedType::isStatic(extent) && extent % tile == 0;
  };
  bool fits = chip.policy.directStepBytes > defaults->kBytes &&
              defaults->stages > 1 && divides(defaults->workgroup[0], all[0]) &&
              divides(defaults->workgroup[1], all[1]) && divides(step, all[2]);
  return fits && isCopiedDirectly(0) && isCopiedDirectly(1)
             ? chip.policy.directStepBytes
             : defaults->kBytes;
}

/// Long steps of small tiles hide the latency of few workgroups. Three for each
/// SM, which fit at once, hide it themselves, and long ones need registers: on
/// an H200 6272x2304x256 takes 62 us with steps of 64 elements and 53 with 32
/// (392 workgroups); with 200 workgroups it is 67 and 97, with 784 the same.
bool ScheduleBuilder::suitsShortSteps(int64_t workgroups) const {
  const std::optional<ScheduleDefaults> &small = chip.policy.smallDefaults;
  constexpr int64_t leastSteps = 16;
  return small && defaults == &*small && workgroups >= 2 * chip.processors &&
         workgroups < 4 * chip.processors && ShapedType::isStatic(extents[2]) &&
         extents[2] * operandBits / 8 >= leastSteps * small->kBytes;
}

void ScheduleBuilder::chooseStep() {
  // Without staging, a step is one fragment: no longer than the default.
  // Rows along K that registers hold are read in longer runs, and few
  // workgroups have more bytes in flight each.
  std::optional<int64_t> workgroups = countWorkgroups(fields.workgroup);
  bool isLong = (isHeld(0) && !isStoredTransposed(op, form, 0)) ||
                (isHeld(1) && isStoredTransposed(op, form, 1)) ||
                ((isHeld(0) || isHeld(1)) && workgroups &&
                 *workgroups <= chip.processors);
  if (chooseStepOfVectors())
    return;
  int64_t bytes = chooseStepBytes() * (isLong ? 2 : 1) /
                  (workgroups && suitsShortSteps(*workgroups) ? 2 : 1),
          step = std::max(8 * bytes / operandBits, int64_t(1));
  instruction = select(fields.subgroup,
                       fields.stages == 0 ? std::gcd(step, longest) : longest);
  fields.kFragment = instruction ? instruction->k : 1;
  fields.k = std::max(8 * bytes / operandBits / fields.kFragment, int64_t(1)) *
             fields.kFragment;
  // Elements of half a byte have short fragments for so long a step.
  if (operandBits < 8)
    fields.k = std::min(fields.k, maxUnrolledFragments * fields.kFragment);
  // A producer's inputs may limit the step. kFragment divides the limit.
  while (limit && limit % fields.k)
    fields.k -= fields.kFragment;
}

bool ScheduleBuilder::canHalveStep() {
  return fields.k % 2 == 0 && (fields.k / 2) % fields.kFragment == 0;
}

/// With few workgroups, nothing hides the latency of a step, at the beginning
/// of which the inputs of producers are read. On an H100, densenet121's matmuls
/// of 196x128 with K from 256 to 512 take 15 to 25 % less time with steps of 64
/// elements than with 32. Those of 128, whose fragments are a loop, and
/// convolutions in long steps, take more.
void ScheduleBuilder::lengthenStep() {
  // At least so many steps remain, to overlap copies and matmuls.
  constexpr int64_t leastSteps = 4;
  bool hasProducer = !op.getProducer(0).empty() || !op.getProducer(1).empty();
  if (!hasProducer || form.gather[0] || form.gather[1] || !usesMatrixUnit ||
      usesBlocks || hasWholeRows || fields.stages == 0 || !chip.asyncCopy ||
      operandBits < 8 || ShapedType::isDynamic(extents[2]) || hasSlowProducer())
    return;
  std::optional<int64_t> workgroups = countWorkgroups(fields.workgroup);
  while (workgroups && *workgroups * 4 <= chip.processors &&
         2 * fields.k <= maxUnrolledFragments * fields.kFragment &&
         extents[2] >= leastSteps * 2 * fields.k &&
         (limit == 0 || limit % (2 * fields.k) == 0)) {
    fields.k *= 2;
    lengthened *= 2;
  }
}

bool ScheduleBuilder::isHeld(unsigned side) {
  auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
  return chip.asyncCopy && type && !form.gather[side] &&
         !isPacked(type.getElementType()) && type.isLastDimUnitStride() &&
         getElementBytes(type.getElementType()) < chip.asyncCopyBytes &&
         !hasRowsOfMultiple(type, chip.asyncCopyBytes);
}

void ScheduleBuilder::fitStep() {
  int64_t extent = extents[2], kFragment = fields.kFragment;
  if (ShapedType::isDynamic(extent))
    return;
  while (fields.k / 2 >= extent && (fields.k / 2) % kFragment == 0)
    fields.k /= 2;
}

void ScheduleBuilder::fitStages() {
  // Registers hold the data of one step, whatever the number of slots.
  if (isHeld(0) || isHeld(1))
    fields.stages = std::min<int64_t>(fields.stages, 2);
  // More stages than steps would only waste memory.
  if (ShapedType::isStatic(extents[2]) && fields.stages > 1)
    fields.stages = std::max<int64_t>(
        1, std::min<int64_t>(fields.stages,
                             llvm::divideCeil(extents[2], fields.k)));
}
