//===- FewColumnsSchedule.cpp - Schedules of few columns ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul of a few rows by the weights of a network takes as long as the
// weights take to read. Instructions of several subgroups have 64 rows, and as
// few as 8 columns: with weights as lhs, workgroup memory has room for more
// bytes of them that are on their way, and the cache loads no other tiles.
// All workgroups are resident at once.
//
//===----------------------------------------------------------------------===//

#include "Scheduling/FewColumnsSchedule.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-choose-schedule"

using namespace mlir;
using namespace mlir::tessera;

/// The fewest columns of a tile that the workgroups of a cluster can divide,
/// the most, and the rows of an instruction.
static constexpr int64_t narrowTile = 16, wideTile = 32, instructionRows = 64;
/// The bytes of a row of lhs in a step.
static constexpr int64_t stepBytes = 256;
/// The bytes of lhs for which this was measured, at least: smaller ones stay in
/// the cache.
static constexpr int64_t leastBytes = 16 << 20;
/// The steps of a part of K, at least: with fewer, its start is all of the
/// time.
static constexpr int64_t leastSteps = 8;

namespace {
/// A way to divide the contraction among processors.
struct Division {
  int64_t rows, parts;
  /// Workgroups of a processor.
  int64_t resident;
};
} // namespace

/// The division by which most processors have a workgroup, and none has more
/// than two. Measured on an H200: docs/benchmarks/h200-weights.md.
static std::optional<Division> chooseDivision(int64_t rows, int64_t processors,
                                              int64_t mostParts) {
  auto count = [&](int64_t tile) {
    return static_cast<int64_t>(llvm::divideCeil(rows, tile));
  };
  int64_t tiles = count(instructionRows), pairs = count(2 * instructionRows);
  if (4 * tiles < processors)
    return std::nullopt;
  if (2 * tiles <= processors)
    return mostParts >= 2 ? std::optional(Division{instructionRows, 2, 1})
                          : std::nullopt;
  if (tiles <= processors)
    return Division{instructionRows, 1, 1};
  if (4 * pairs >= 3 * processors && pairs <= processors)
    return Division{2 * instructionRows, 1, 1};
  if (tiles <= 2 * processors)
    return Division{instructionRows, 1, 2};
  return std::nullopt;
}

ScheduleAttr mlir::tessera::getFewColumnsSchedule(ContractOp op,
                                                  const Chip &chip) {
  MatrixForm form = getMatrixForm(op);
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  auto [m, n, k] = extents;
  if (!chip.bulkCopies || chip.model.clusterParts < 2 || chip.processors == 0 ||
      form.gather[0] || form.gather[1] || !form.batch.empty() ||
      op.reducesRows() || !op.getProducer(0).empty() ||
      !op.getProducer(1).empty() ||
      llvm::any_of(extents, ShapedType::isDynamic) || n < 1 || n > wideTile ||
      !hasAlignedRows(op, 0, chip) || !hasAlignedRows(op, 1, chip))
    return {};
  int64_t bytes = getElementBytes(getElementTypeOrSelf(op.getLhs().getType()));
  // Integers of 8 bits were not measured.
  if (bytes > 2 || !isa<FloatType>(op.getFactorType(0)) ||
      m * k * bytes < leastBytes)
    return {};
  int64_t tileColumns = n <= narrowTile ? narrowTile : wideTile;
  ScheduleFields fields;
  fields.k = fields.kFragment = stepBytes / bytes;
  auto steps = static_cast<int64_t>(llvm::divideCeil(k, fields.k));
  std::optional<Division> division =
      chooseDivision(m, chip.processors, steps / leastSteps);
  if (!division || steps < leastSteps)
    return {};
  int64_t group = chip.policy.groupDefaults.empty()
                      ? 1
                      : chip.policy.groupDefaults.front().group;
  const MatrixInstruction *row = selectInstruction(
      chip, op.getFactorType(0), op.getFactorType(1), op.getAccumulatorType(),
      op.getPrecision(), instructionRows, tileColumns, fields.k,
      /*why=*/nullptr, group, /*aInMemory=*/true,
      op.getUnsignedA() || op.getUnsignedB());
  if (group < 2 || !row || !hasOrder(op, form, 0, *row) ||
      !hasOrder(op, form, 1, *row))
    return {};

  fields.workgroup = {division->rows, tileColumns};
  fields.subgroup = {instructionRows, tileColumns};
  fields.swizzle = true;
  fields.subgroupsPerFragment = group;
  fields.splitK = division->parts;
  if (division->parts > 1)
    fields.splitKReduction = SplitReduction::Cluster;
  // As many stages as there is room for.
  int64_t room = chip.workgroupMemoryBytes;
  if (division->resident > 1)
    room = chip.unit.memoryBytes / division->resident - chip.unit.systemBytes;
  room -= swizzlePatternBytes;
  for (int64_t stages = llvm::divideCeil(steps, division->parts); stages > 2;
       --stages) {
    fields.stages = stages;
    auto schedule = ScheduleAttr::get(op.getContext(), fields);
    StagedTiles tiles = getStagedTiles(op, form, schedule, chip);
    if (tiles.bytes + tiles.outputBytes > room)
      continue;
    SmallVector<ScheduleProblem> problems =
        getScheduleProblems(op, schedule, chip);
    if (problems.empty())
      return schedule;
    LDBG() << op.getLoc() << ": few columns: " << problems.front().message;
  }
  return {};
}
