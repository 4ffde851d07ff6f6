//===- WeightsSchedule.cpp - Schedules of narrow weights ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul of a few rows by weights of 8 or 4 bits takes as long as the weights
// take to read, if enough of them are on their way: a step of K is a whole line
// of weights of each column, however short the groups are that share a scale,
// and parts of K give each SM several workgroups. The rows are padded to those
// of the instruction, which has time for them.
//
//===----------------------------------------------------------------------===//

#include "Scheduling/WeightsSchedule.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-choose-schedule"

using namespace mlir;
using namespace mlir::tessera;

/// The most rows of lhs. More of them are limited by the matrix unit.
static constexpr int64_t mostRows = 128;
/// The bytes of a column in a step: a line of memory.
static constexpr int64_t lineBytes = 128;
/// The bytes of a step of both operands at most.
static constexpr int64_t mostStepBytes = 24 * 1024;

namespace {
/// The facts that decide the schedule.
struct WeightsProblem {
  int64_t m, n, k;
  /// Bits of a weight.
  int64_t bits;
  /// The elements of K that share a scale; 0: all.
  int64_t group;
  int64_t operandBytes;
};
} // namespace

static std::optional<WeightsProblem>
matchWeights(ContractOp op, const MatrixForm &form, const Chip &chip) {
  if (!chip.asyncCopy || !chip.hasLanes() || chip.processors == 0 ||
      op.getProducer(1).empty() || !op.getProducer(0).empty() ||
      form.gather[0] || form.gather[1] || !form.batch.empty() ||
      op.reducesRows() || !isStoredTransposed(op, form, 1) ||
      isStoredTransposed(op, form, 0))
    return std::nullopt;
  Type stored = getElementTypeOrSelf(op.getRhs()), factor = op.getFactorType(1);
  if (getElementBits(stored) > 8 || !isa<FloatType>(factor) ||
      getElementBits(stored) >= getElementBits(factor) ||
      !hasAlignedRows(op, 0, chip) || !hasAlignedRows(op, 1, chip))
    return std::nullopt;
  // A chip that multiplies 8-bit floats also converts them.
  if (isa<FloatType>(stored) &&
      !hasMatrixMultiply(chip, stored, stored,
                         Float32Type::get(op.getContext())))
    return std::nullopt;
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  if (llvm::any_of(extents,
                   [](int64_t extent) {
                     return ShapedType::isDynamic(extent) || extent == 0;
                   }) ||
      extents[0] > mostRows)
    return std::nullopt;
  return WeightsProblem{extents[0],
                        extents[1],
                        extents[2],
                        getElementBits(stored),
                        getLargestStep(op, form),
                        getElementBytes(factor)};
}

/// The parts of K: as many workgroups as the SMs hold two of, unless the sums
/// of the parts were much to move beside the weights.
static int64_t choosePartsOfWeights(const WeightsProblem &problem,
                                    int64_t tiles, int64_t steps,
                                    const Chip &chip) {
  constexpr int64_t workgroupsOfProcessor = 2, shareOfSums = 4,
                    bytesOfSum = 2 * 4;
  int64_t most = std::min(
      {workgroupsOfProcessor * chip.processors / tiles, steps / 2,
       problem.k * problem.bits / 8 / (bytesOfSum * problem.m * shareOfSums)});
  // Parts of equal length.
  for (int64_t parts = most; parts > 1 && 2 * parts > most; --parts)
    if (steps % parts == 0)
      return parts;
  return std::max<int64_t>(most, 1);
}

ScheduleAttr mlir::tessera::getWeightsSchedule(ContractOp op,
                                               const Chip &chip) {
  MatrixForm form = getMatrixForm(op);
  std::optional<WeightsProblem> problem = matchWeights(op, form, chip);
  if (!problem)
    return {};
  int64_t rows = std::max<int64_t>(16, static_cast<int64_t>(llvm::bit_ceil(
                                           static_cast<uint64_t>(problem->m))));
  ScheduleFields fields;
  fields.workgroup = {rows, 64};
  fields.subgroup = {std::min<int64_t>(rows, 64), rows <= 16 ? 16 : 32};
  if (rows == 32)
    fields.subgroup = {16, 32};
  fields.kFragment = 64;
  while (problem->group % fields.kFragment || problem->k % fields.kFragment)
    if ((fields.kFragment /= 2) < 16)
      return {};
  const MatrixInstruction *row = selectInstruction(
      chip, op.getFactorType(0), op.getFactorType(1), op.getAccumulatorType(),
      op.getPrecision(), fields.subgroup[0], fields.subgroup[1],
      fields.kFragment);
  if (!row || !row->matrixUnit ||
      !findRepetition(chip, *row, problem->bits, fields.kFragment))
    return {};

  auto getStepBytes = [&] {
    return fields.k * (rows * problem->operandBytes +
                       fields.workgroup[1] * problem->bits / 8);
  };
  fields.k = 8 * lineBytes / problem->bits;
  while (fields.k > fields.kFragment &&
         (problem->k % fields.k || getStepBytes() > mostStepBytes ||
          (problem->group && problem->group % fields.k &&
           fields.k % problem->group)))
    fields.k /= 2;
  int64_t steps = problem->k / fields.k,
          tiles = llvm::divideCeil(problem->m, rows) *
                  llvm::divideCeil(problem->n, fields.workgroup[1]);
  fields.splitK = choosePartsOfWeights(*problem, tiles, steps, chip);
  fields.stages = std::clamp<int64_t>(
      static_cast<int64_t>(llvm::divideCeil(steps, fields.splitK)), 1, 4);
  for (bool swizzle : {true, false}) {
    fields.swizzle = swizzle && chip.policy.preferSwizzle;
    auto schedule = ScheduleAttr::get(op.getContext(), fields);
    SmallVector<ScheduleProblem> problems =
        getScheduleProblems(op, schedule, chip);
    if (problems.empty())
      return schedule;
    LDBG() << op.getLoc() << ": weights: " << problems.front().message;
  }
  return {};
}
