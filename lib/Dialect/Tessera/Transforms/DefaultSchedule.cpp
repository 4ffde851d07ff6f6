//===- DefaultSchedule.cpp - The schedule of a contraction ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupTilings.h"

#include "Dialect/Tessera/Transforms/ScheduleCheck.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

StagedTiles mlir::tessera::getStagedTiles(ContractOp op, const MatrixForm &form,
                                          ScheduleAttr schedule,
                                          const Chip &chip) {
  int64_t bm = schedule.getWorkgroup()[0], bn = schedule.getWorkgroup()[1],
          k = schedule.getK();
  StagedTiles tiles;
  tiles.a = isStoredTransposed(op, form, 0) ? std::array<int64_t, 2>{k, bm}
                                            : std::array<int64_t, 2>{bm, k};
  tiles.b = isStoredTransposed(op, form, 1) ? std::array<int64_t, 2>{bn, k}
                                            : std::array<int64_t, 2>{k, bn};
  int64_t aBits = getElementBits(getElementTypeOrSelf(op.getLhs().getType())),
          bBits = getElementBits(getElementTypeOrSelf(op.getRhs().getType()));
  int64_t padding = schedule.getSwizzle() ? 0 : 8 * chip.rowPaddingBytes;
  tiles.aPadding = padding / aBits;
  tiles.bPadding = padding / bBits;
  tiles.bytes = schedule.getStages() *
                (tiles.a[0] * (tiles.a[1] + tiles.aPadding) * aBits +
                 tiles.b[0] * (tiles.b[1] + tiles.bPadding) * bBits) /
                8;
  Type output = schedule.getSplitK() > 1
                    ? op.getAccumulatorType()
                    : getElementTypeOrSelf(op.getOutput().getType());
  if (schedule.getStageOutput() || schedule.addsInCluster())
    tiles.outputBytes = bm * bn * getElementBits(output) / 8;
  return tiles;
}

static const MatrixInstruction *select(ContractOp op, const Chip &chip,
                                       std::array<int64_t, 2> tile, int64_t k) {
  return selectInstruction(chip, op.getProductType(0), op.getProductType(1),
                           op.getAccumulatorType(), op.getPrecision(), tile[0],
                           tile[1], k);
}

//===----------------------------------------------------------------------===//
// What does not follow from the chip's default tiling
//===----------------------------------------------------------------------===//

/// The tiles of the output in M and N, and the matrices of the batch; nothing
/// where the output's extents are unknown.
static std::optional<std::array<int64_t, 3>>
countTiles(ContractOp op, const MatrixForm &form,
           const std::array<int64_t, 3> &extents,
           std::array<int64_t, 2> workgroup) {
  if (ShapedType::isDynamic(extents[0]) || ShapedType::isDynamic(extents[1]))
    return std::nullopt;
  int64_t batches = 1;
  for (unsigned d : form.batch) {
    int64_t extent = getStaticExtent(op, d);
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    batches *= extent;
  }
  int64_t m = llvm::divideCeil(extents[0], workgroup[0]),
          n = llvm::divideCeil(extents[1], workgroup[1]);
  if (m * n * batches == 0)
    return std::nullopt;
  return std::array<int64_t, 3>{m, n, batches};
}

/// A long reduction of few tiles is cut into parts, so that most processors
/// have some: each part keeps enough steps to pay for adding it up.
static int64_t chooseSplitK(ContractOp op, const Chip &chip,
                            const MatrixForm &form,
                            const std::array<int64_t, 3> &extents,
                            std::array<int64_t, 2> workgroup, int64_t k) {
  constexpr int64_t stepsOfPart = 32;
  auto tiles = countTiles(op, form, extents, workgroup);
  int64_t extent = extents[2];
  if (!tiles || chip.processors == 0 || ShapedType::isDynamic(extent))
    return 1;
  int64_t workgroups = (*tiles)[0] * (*tiles)[1] * (*tiles)[2],
          steps = llvm::divideCeil(extent, k);
  if (workgroups * 4 > chip.processors || steps < 2 * stepsOfPart)
    return 1;
  return llvm::bit_floor(static_cast<uint64_t>(
      std::min(chip.processors / workgroups, steps / stepsOfPart)));
}

/// Where workgroups of one wave would all be in a few columns of a large grid,
/// they are taken in bands.
static int64_t chooseRaster(ContractOp op, const Chip &chip,
                            const MatrixForm &form,
                            const std::array<int64_t, 3> &extents,
                            std::array<int64_t, 2> workgroup) {
  constexpr int64_t band = 8;
  auto tiles = countTiles(op, form, extents, workgroup);
  if (!tiles || chip.processors == 0)
    return 0;
  auto [m, n, batch] = *tiles;
  return m > band && m * n >= 4 * chip.processors ? band : 0;
}

bool mlir::tessera::hasAlignedRows(ContractOp op, unsigned side,
                                   const Chip &chip) {
  return hasRowsOfMultiple(op, side, chip.accessBytes);
}

bool mlir::tessera::hasRowsOfMultiple(ContractOp op, unsigned side,
                                      int64_t bytes) {
  auto type =
      dyn_cast<MemRefType>((side ? op.getRhs() : op.getLhs()).getType());
  return type && hasRowsOfMultiple(type, bytes);
}

bool mlir::tessera::hasRowsOfMultiple(MemRefType type, int64_t bytes) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t bits = getElementBits(type.getElementType());
  return llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
    return ShapedType::isStatic(stride) && stride * bits % (8 * bytes) == 0;
  });
}

/// Whether rows of both staged tiles can be swizzled.
static bool canSwizzle(ContractOp op, const StagedTiles &tiles) {
  return getSwizzlePhases(MemRefType::get(
             tiles.a, getElementTypeOrSelf(op.getLhs().getType()))) &&
         getSwizzlePhases(MemRefType::get(
             tiles.b, getElementTypeOrSelf(op.getRhs().getType())));
}

bool mlir::tessera::hasOrder(ContractOp op, const MatrixForm &form,
                             unsigned side, const MatrixInstruction &row) {
  return row.anyOrder || !row.isInMemory(side ? Role::B : Role::A) ||
         isStoredTransposed(op, form, side) == (side == 1);
}

//===----------------------------------------------------------------------===//
// The default
//===----------------------------------------------------------------------===//

/// The tile of a subgroup that holds rows of `columns` elements: with about as
/// many elements as `tile` has, where instructions of the same class permit.
static std::array<int64_t, 2>
widenToRows(ContractOp op, const MatrixForm &form, const Chip &chip,
            std::array<int64_t, 2> tile, int64_t columns,
            function_ref<bool(std::array<int64_t, 2>)> isGood) {
  SmallVector<const MatrixInstruction *> rows =
      getPermittedInstructions(op, form, chip, /*group=*/1);
  if (rows.empty())
    return tile;
  int64_t most = tile[0] * tile[1], m = tile[0],
          n = llvm::alignTo(columns, rows.front()->n);
  while (n % 2 == 0 && n / 2 >= columns && isGood({m, n / 2}))
    n /= 2;
  while (m > 1 && m * n > most && isGood({m / 2, n}))
    m /= 2;
  return {m, n};
}

/// The schedule that `op` has when it does not say; with whole rows in the tile
/// of a subgroup, if wanted and known.
static ScheduleAttr makeDefaultSchedule(ContractOp op, const Chip &chip,
                                        bool wholeRows) {
  MatrixForm form = getMatrixForm(op);
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  // What is empty gets the tiles of what is smallest.
  for (int64_t &extent : extents)
    extent = extent == 0 ? 1 : extent;
  int64_t operandBytes =
      std::max(getElementBytes(getElementTypeOrSelf(op.getLhs().getType())),
               getElementBytes(getElementTypeOrSelf(op.getRhs().getType())));

  // The class of instruction: any K that a step may have will do for the
  // question.
  int64_t limit = getLargestStep(op, form), longest = limit ? limit : 4096;
  const MatrixInstruction *instruction =
      select(op, chip, chip.matrixDefaults.subgroup, longest);
  bool matrixUnit = instruction && instruction->matrixUnit;
  if (!wholeRows)
    if (ScheduleAttr grouped = chooseGroupSchedule(op, chip, form, extents))
      return grouped;
  const ScheduleDefaults &defaults =
      matrixUnit ? chip.matrixDefaults : chip.scalarDefaults;
  std::array<int64_t, 2> workgroup = defaults.workgroup,
                         subgroup = defaults.subgroup;
  int64_t stages = defaults.stages;
  if (form.gather[0] || form.gather[1])
    stages = std::max<int64_t>(stages, 1);

  // The defaults are for accumulators of 4 bytes; wider ones fill the
  // registers with half the columns.
  if (getElementBytes(op.getAccumulatorType()) > 4 && subgroup[1] % 2 == 0) {
    workgroup[1] /= 2;
    subgroup[1] /= 2;
  }

  // Whether a subgroup's tile has an instruction of this class for some K.
  auto hasClass = [&](std::array<int64_t, 2> tile) {
    const MatrixInstruction *row = select(op, chip, tile, longest);
    return row && row->matrixUnit == matrixUnit;
  };
  wholeRows &= ShapedType::isStatic(extents[1]);
  if (wholeRows) {
    int64_t subgroups =
        workgroup[0] / subgroup[0] * (workgroup[1] / subgroup[1]);
    subgroup = widenToRows(op, form, chip, subgroup, extents[1], hasClass);
    workgroup = {subgroup[0] * subgroups, subgroup[1]};
  }

  // Without staging, a step is one fragment: no longer than the default says.
  int64_t step = std::max(defaults.kBytes / operandBytes, int64_t(1));
  instruction = select(op, chip, subgroup,
                       stages == 0 ? std::gcd(step, longest) : longest);
  int64_t kFragment = instruction ? instruction->k : 1;
  int64_t k = std::max(defaults.kBytes / operandBytes / kFragment, int64_t(1)) *
              kFragment;

  // A producer's inputs may limit the step. kFragment divides the limit.
  while (limit && limit % k)
    k -= kFragment;

  // Whether a subgroup's tile still has an instruction of the same class.
  auto isGood = [&](std::array<int64_t, 2> tile) {
    const MatrixInstruction *row = select(op, chip, tile, kFragment);
    return row && row->matrixUnit == matrixUnit;
  };
  /// Halves the tile along `d`, the workgroup's before the subgroup's.
  auto halve = [&](unsigned d) {
    if (workgroup[d] % 2 ||
        (d == 1 && wholeRows && workgroup[d] / 2 < extents[d]))
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
  bool swizzle = false;
  int64_t splitK = 1, raster = 0;
  auto make = [&] {
    return ScheduleAttr::get(op.getContext(), workgroup, subgroup, k, kFragment,
                             stages, /*vthread=*/{1, 1}, /*interleave=*/0,
                             swizzle, splitK, SplitReduction::Ordered, raster,
                             /*persistent=*/0, /*group=*/1,
                             /*stageOutput=*/false, /*clusterM=*/1,
                             /*clusterN=*/1);
  };
  // More stages than there are steps would only cost memory.
  if (ShapedType::isStatic(extents[2]) && stages > 1)
    stages = std::max<int64_t>(
        1, std::min<int64_t>(stages, llvm::divideCeil(extents[2], k)));
  while (getStagedTiles(op, form, make(), chip).bytes >
         chip.workgroupMemoryBytes) {
    if (stages > 2)
      --stages;
    else if (k % 2 == 0 && (k / 2) % kFragment == 0)
      k /= 2;
    else if (stages > 1)
      --stages;
    else if (!halve(0) && !halve(1))
      stages = 0;
  }
  swizzle = chip.preferSwizzle && stages > 0 && hasAlignedRows(op, 0, chip) &&
            hasAlignedRows(op, 1, chip) &&
            canSwizzle(op, getStagedTiles(op, form, make(), chip));
  splitK = wholeRows ? 1 : chooseSplitK(op, chip, form, extents, workgroup, k);
  raster = chooseRaster(op, chip, form, extents, workgroup);
  return make();
}

ScheduleAttr mlir::tessera::getDefaultSchedule(ContractOp op,
                                               const Chip &chip) {
  return makeDefaultSchedule(op, chip, op.reducesRows());
}

bool mlir::tessera::canReduceRows(ContractOp op, const Chip &chip) {
  if (ScheduleAttr schedule = op.getScheduleAttr())
    return holdsRows(op, schedule);
  int64_t columns = getStaticExtents(op, getMatrixForm(op))[1];
  if (columns == 0 || columns > chip.maxRow)
    return false;
  ScheduleAttr schedule = makeDefaultSchedule(op, chip, /*wholeRows=*/true);
  return holdsRows(op, schedule) &&
         getScheduleProblems(op, schedule, chip).empty();
}
