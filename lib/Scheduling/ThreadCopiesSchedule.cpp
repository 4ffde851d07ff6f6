//===- ThreadCopiesSchedule.cpp - Rows that threads copy ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA reads rows that begin at multiples of 16 bytes. Operands with other rows
// are copied to aligned ones (PackOperands.cpp), by a kernel that takes as long
// as a small matmul. All threads can copy pieces of 8 bytes to the same
// swizzled tiles instead, and need more instructions for it: a long K is faster
// with aligned copies or by single subgroups. The model of schedules compares
// them.
//
//===----------------------------------------------------------------------===//

#include "Scheduling/ThreadCopiesSchedule.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/RankSchedules.h"
#include "Scheduling/ScheduleCheck.h"
#include "Scheduling/ScheduleModel.h"
#include "TargetInfo/Chip.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-choose-schedule"

using namespace mlir;
using namespace mlir::tessera;

/// The narrowest pieces that threads copy.
static constexpr int64_t pieceBytes = 8;

/// The nanoseconds of a schedule of groups of subgroups whose threads copy
/// pieces of the operands. The trees were not fitted to any.
static double estimateThreadCopies(ContractOp op, const ScheduleFields &fields,
                                   const Chip &chip) {
  ScheduledMatmul matmul(op, chip);
  matmul.copies = matmul.copiedBytes = matmul.transposedElements = 0;
  for (unsigned side : {0, 1}) {
    matmul.isCopied[side] = matmul.isBulk[side] = matmul.isHeld[side] = false;
    matmul.accessBytes[side] = std::max<double>(
        pieceBytes,
        hasAlignedRows(op, side, chip) ? double(chip.accessBytes) : 0);
  }
  return estimateTime(describeWork(matmul, fields, chip), *chip.model.schedules)
      .time;
}

/// Whether the model expects another schedule of `op` to take less time, with
/// copies of the operands where it needs them.
static bool isSlowerThanRanked(ContractOp op, const ScheduleFields &fields,
                               const Chip &chip, ScheduleRankings &rankings) {
  if (!canRankSchedules(op, chip))
    return false;
  double time = estimateThreadCopies(op, fields, chip);
  size_t checks = 0;
  ScheduleChecker checker(op, chip);
  for (const RankedSchedule &one : rankings.rank(op, chip)) {
    if (one.time >= time || checks++ == ScheduleRankings::mostOfKind)
      break;
    auto schedule = ScheduleAttr::get(op.getContext(), one.fields);
    if (!checker.isLegal(schedule))
      continue;
    LDBG() << op.getLoc() << ": copies by threads take " << time
           << " ns by the model, and " << schedule << " takes " << one.time;
    return true;
  }
  return false;
}

ScheduleAttr
mlir::tessera::getThreadCopiesSchedule(ContractOp op, const Chip &chip,
                                       ScheduleRankings &rankings) {
  MatrixForm form = getMatrixForm(op);
  auto [m, n, k] = getStaticExtents(op, form);
  int64_t group = chip.policy.groupDefaults.empty()
                      ? 1
                      : chip.policy.groupDefaults.front().group,
          matrices = getLinearExtent(op, form.batch);
  if (!chip.bulkCopies || !chip.asyncCopy || group < 2 ||
      chip.processors == 0 || form.gather[0] || form.gather[1] ||
      op.reducesRows() || !op.getProducer(0).empty() ||
      !op.getProducer(1).empty() ||
      (hasAlignedRows(op, 0, chip) && hasAlignedRows(op, 1, chip)) ||
      !hasRowsOfMultiple(op, 0, pieceBytes) ||
      !hasRowsOfMultiple(op, 1, pieceBytes) ||
      llvm::any_of(
          std::array{m, n, k, matrices},
          [](int64_t extent) {
            return ShapedType::isDynamic(extent) || extent < 1;
          }))
    return {};

  constexpr int64_t lineBytes = 128, leastSteps = 2, mostStages = 4,
                    instructionRows = 64, leastUnits = 4;
  int64_t bytes =
      std::max(getElementBytes(getElementTypeOrSelf(op.getLhs().getType())),
               getElementBytes(getElementTypeOrSelf(op.getRhs().getType())));
  ScheduleFields fields;
  fields.k = fields.kFragment = lineBytes / bytes;
  fields.swizzle = true;
  fields.subgroupsPerFragment = group;
  int64_t steps = llvm::divideCeil(k, fields.k);
  if (steps < leastSteps)
    return {};
  // The smallest tiles of which each SM has one at most, and that leave no more
  // than three quarters of the SMs without one.
  using Tile = std::array<int64_t, 2>;
  for (Tile tile : {Tile{64, 64}, Tile{64, 128}, Tile{128, 128}}) {
    int64_t units =
        llvm::divideCeil(m, tile[0]) * llvm::divideCeil(n, tile[1]) * matrices;
    if (units > chip.processors)
      continue;
    if (units * leastUnits < chip.processors)
      return {};
    fields.workgroup = tile;
    fields.subgroup = {instructionRows, tile[1]};
    const MatrixInstruction *row = selectInstruction(
        chip, op.getFactorType(0), op.getFactorType(1), op.getAccumulatorType(),
        op.getPrecision(), instructionRows, tile[1], fields.k, /*why=*/nullptr,
        group, /*aInMemory=*/true, op.getUnsignedA() || op.getUnsignedB());
    if (!row || !hasOrder(op, form, 0, *row) || !hasOrder(op, form, 1, *row))
      return {};
    for (fields.stages = std::min(mostStages, steps);
         fields.stages >= leastSteps; --fields.stages) {
      auto schedule = ScheduleAttr::get(op.getContext(), fields);
      SmallVector<ScheduleProblem> problems =
          getScheduleProblems(op, schedule, chip);
      if (problems.empty())
        return isSlowerThanRanked(op, fields, chip, rankings) ? ScheduleAttr()
                                                              : schedule;
      LDBG() << op.getLoc()
             << ": copies by threads: " << problems.front().message;
    }
    return {};
  }
  return {};
}
