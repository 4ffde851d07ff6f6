//===- DefaultSchedule.cpp - The schedule of a contraction ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Schedule.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tessera;

StagedTiles mlir::tessera::getStagedTiles(ContractOp op, ScheduleAttr schedule,
                                          const Chip &chip) {
  int64_t bm = schedule.getWorkgroup()[0], bn = schedule.getWorkgroup()[1],
          k = schedule.getK();
  StagedTiles tiles;
  MatrixForm form = getMatrixForm(op);
  tiles.a = isStoredTransposed(op, form, 0) ? std::array<int64_t, 2>{k, bm}
                                            : std::array<int64_t, 2>{bm, k};
  tiles.b = isStoredTransposed(op, form, 1) ? std::array<int64_t, 2>{bn, k}
                                            : std::array<int64_t, 2>{k, bn};
  int64_t aBytes = getElementBytes(getElementTypeOrSelf(op.getLhs().getType())),
          bBytes = getElementBytes(getElementTypeOrSelf(op.getRhs().getType()));
  int64_t padding = schedule.getSwizzle() ? 0 : chip.rowPaddingBytes;
  tiles.aPadding = padding / aBytes;
  tiles.bPadding = padding / bBytes;
  tiles.bytes = schedule.getStages() *
                (tiles.a[0] * (tiles.a[1] + tiles.aPadding) * aBytes +
                 tiles.b[0] * (tiles.b[1] + tiles.bPadding) * bBytes);
  return tiles;
}

static const MatrixInstruction *
select(ContractOp op, const Chip &chip, std::array<int64_t, 2> tile, int64_t k,
       SmallVectorImpl<std::string> *why = nullptr) {
  return selectInstruction(chip, op.getProductType(0), op.getProductType(1),
                           op.getAccumulatorType(), op.getPrecision(), tile[0],
                           tile[1], k, why);
}

ScheduleAttr mlir::tessera::getDefaultSchedule(ContractOp op,
                                               const Chip &chip) {
  std::array<int64_t, 3> extents = getStaticExtents(op);
  int64_t operandBytes =
      std::max(getElementBytes(getElementTypeOrSelf(op.getLhs().getType())),
               getElementBytes(getElementTypeOrSelf(op.getRhs().getType())));

  // The class of instruction: any K will do for the question.
  const MatrixInstruction *instruction =
      select(op, chip, chip.matrixDefaults.subgroup, 4096);
  bool matrixUnit = instruction && instruction->matrixUnit;
  const ScheduleDefaults &defaults =
      matrixUnit ? chip.matrixDefaults : chip.scalarDefaults;
  std::array<int64_t, 2> workgroup = defaults.workgroup,
                         subgroup = defaults.subgroup;
  int64_t stages = defaults.stages;
  MatrixForm form = getMatrixForm(op);
  if (form.gather[0] || form.gather[1])
    stages = std::max<int64_t>(stages, 1);

  // The defaults are for accumulators of 4 bytes; wider ones fill the
  // registers with half the columns.
  if (getElementBytes(op.getAccumulatorType()) > 4 && subgroup[1] % 2 == 0) {
    workgroup[1] /= 2;
    subgroup[1] /= 2;
  }

  // Without staging, a step is one fragment: no longer than the default says.
  int64_t step = std::max(defaults.kBytes / operandBytes, int64_t(1));
  instruction = select(op, chip, subgroup, stages == 0 ? step : 4096);
  int64_t kFragment = instruction ? instruction->k : 1;
  int64_t k = std::max(defaults.kBytes / operandBytes / kFragment, int64_t(1)) *
              kFragment;

  // Whether a subgroup's tile still has an instruction of the same class.
  auto isGood = [&](std::array<int64_t, 2> tile) {
    const MatrixInstruction *row = select(op, chip, tile, kFragment);
    return row && row->matrixUnit == matrixUnit;
  };
  /// Halves the tile along `d`, the workgroup's before the subgroup's.
  auto halve = [&](unsigned d) {
    if (workgroup[d] % 2)
      return false;
    if ((workgroup[d] / 2) % subgroup[d] == 0) {
      workgroup[d] /= 2;
      return true;
    }
    std::array<int64_t, 2> smaller = subgroup;
    smaller[d] /= 2;
    if (subgroup[d] % 2 || !isGood(smaller))
      return false;
    subgroup = smaller;
    workgroup[d] /= 2;
    return true;
  };
  for (unsigned d : {0, 1})
    while (ShapedType::isStatic(extents[d]) && workgroup[d] / 2 >= extents[d] &&
           halve(d))
      continue;
  while (ShapedType::isStatic(extents[2]) && k / 2 >= extents[2] &&
         (k / 2) % kFragment == 0)
    k /= 2;

  auto make = [&] {
    return ScheduleAttr::get(op.getContext(), workgroup, subgroup, k, kFragment,
                             stages, {1, 1}, /*interleave=*/0,
                             /*swizzle=*/false,
                             /*splitK=*/1, /*raster=*/0, /*persistent=*/0);
  };
  // More stages than there are steps would only cost memory.
  if (ShapedType::isStatic(extents[2]) && stages > 1)
    stages = std::max<int64_t>(
        1, std::min<int64_t>(stages, llvm::divideCeil(extents[2], k)));
  while (getStagedTiles(op, make(), chip).bytes > chip.workgroupMemoryBytes) {
    if (stages > 2)
      --stages;
    else if (k % 2 == 0 && (k / 2) % kFragment == 0)
      k /= 2;
    else if (stages > 1)
      --stages;
    else if (!halve(0) && !halve(1))
      stages = 0;
  }
  return make();
}

LogicalResult mlir::tessera::checkSchedule(ContractOp op, ScheduleAttr schedule,
                                           const Chip &chip) {
  ArrayRef<int64_t> workgroup = schedule.getWorkgroup(),
                    subgroup = schedule.getSubgroup(),
                    vthread = schedule.getVthread();
  int64_t subgroups =
      (workgroup[0] / subgroup[0]) * (workgroup[1] / subgroup[1]);
  int64_t threads = subgroups * chip.subgroupSize;
  if (threads > chip.maxThreads)
    return op.emitError() << "the schedule needs " << threads
                          << " threads in a workgroup (" << subgroups
                          << " subgroups of " << chip.subgroupSize << "), and "
                          << chip.name << " has " << chip.maxThreads
                          << "; enlarge 'subgroup' or reduce 'workgroup'";
  int64_t bytes = getStagedTiles(op, schedule, chip).bytes;
  if (bytes > chip.workgroupMemoryBytes)
    return op.emitError() << "the schedule needs " << bytes
                          << " bytes of workgroup memory, and " << chip.name
                          << " has " << chip.workgroupMemoryBytes
                          << "; reduce 'stages', 'k' or 'workgroup'";
  SmallVector<std::string> why;
  if (!select(op, chip, {subgroup[0] / vthread[0], subgroup[1] / vthread[1]},
              schedule.getKFragment(), &why)) {
    InFlightDiagnostic diag = op.emitError()
                              << chip.name
                              << " has no instruction for the fragments of "
                                 "this schedule";
    for (const std::string &line : why)
      diag.attachNote() << line;
    return diag;
  }
  return success();
}
