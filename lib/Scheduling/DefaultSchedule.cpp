//===- DefaultSchedule.cpp - The schedule of a contraction ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupTilings.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Scheduling/ScheduleCheck.h"
#include "Target/Intel/BlockLoads.h"
#include "TargetInfo/Chip.h"

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
  // Those of all matrices, one below the other.
  tiles.a[0] *= schedule.getBatches();
  tiles.b[0] *= schedule.getBatches();
  int64_t aBits = getElementBits(getElementTypeOrSelf(op.getLhs().getType())),
          bBits = getElementBits(getElementTypeOrSelf(op.getRhs().getType()));
  int64_t padding = schedule.getSwizzle() ? 0 : 8 * chip.rowPaddingBytes;
  // Rows of elements that share bytes start at whole bytes.
  auto pad = [&](int64_t length, int64_t bits) {
    int64_t all = length + padding / bits;
    return (bits < 8 && !schedule.getSwizzle() ? llvm::alignTo(all, 2) : all) -
           length;
  };
  tiles.aPadding = pad(tiles.a[1], aBits);
  tiles.bPadding = pad(tiles.b[1], bBits);
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
  return selectInstruction(
      chip, op.getProductType(0), op.getProductType(1), op.getAccumulatorType(),
      op.getPrecision(), tile[0], tile[1], k, /*why=*/nullptr, /*subgroups=*/1,
      /*aInMemory=*/true, op.getUnsignedA() || op.getUnsignedB());
}

//===----------------------------------------------------------------------===//
// Choices that do not follow from the chip's default tiling
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

/// The steps that each part of a reduction keeps, to pay for adding it up.
static constexpr int64_t stepsOfPart = 32;

/// A long reduction of few tiles is split into parts, so that most SMs have
/// work: each part keeps enough steps to pay for the final reduction.
static int64_t chooseSplitK(ContractOp op, const Chip &chip,
                            const MatrixForm &form,
                            const std::array<int64_t, 3> &extents,
                            std::array<int64_t, 2> workgroup, int64_t k) {
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

/// If the workgroups of one wave would cover only a few columns of a large
/// grid, the grid is traversed in bands.
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

/// The number of matrices of a batch, each of which is one subgroup's tile,
/// that a workgroup and a subgroup compute. `mayHold` returns whether a
/// subgroup has registers for a number of matrices.
static std::array<int64_t, 2>
chooseBatches(ContractOp op, const Chip &chip, const MatrixForm &form,
              function_ref<bool(int64_t)> mayHold) {
  const BatchDefaults &defaults = chip.policy.batchDefaults;
  int64_t count = getLinearExtent(op, form.batch);
  if (ShapedType::isDynamic(count) || chip.processors == 0)
    return {defaults.subgroups, 1};
  // Subgroups beyond those that are resident would run later.
  int64_t each = 1;
  while (each * 2 <= defaults.perSubgroup && mayHold(each * 2) &&
         static_cast<int64_t>(llvm::divideCeil(count, each)) >
             chip.processors * defaults.resident)
    each *= 2;
  // Each SM gets a workgroup, if there are enough.
  int64_t subgroups = defaults.subgroups;
  while (subgroups > 1 && static_cast<int64_t>(llvm::divideCeil(
                              count, each * subgroups)) < chip.processors)
    subgroups /= 2;
  return {subgroups * each, each};
}

bool mlir::tessera::hasAlignedRows(ContractOp op, unsigned side,
                                   const Chip &chip) {
  return hasRowsOfMultiple(op, side, chip.accessBytes);
}

bool mlir::tessera::hasRowsOfMultiple(ContractOp op, unsigned side,
                                      int64_t bytes) {
  auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
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

/// Whether rows of lhs (0), rhs (1) or the output (2) are known not to be
/// aligned to `bytes`.
static bool hasRowsBeside(ContractOp op, unsigned side, int64_t bytes) {
  auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  return type && !isPacked(type.getElementType()) &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.size() > 1 && strides.back() == 1 &&
         llvm::none_of(strides, ShapedType::isDynamic) &&
         !hasRowsOfMultiple(op, side, bytes);
}

/// Whether no two elements of the output can be stored at once in each row.
static bool hasUnalignedPairs(ContractOp op) {
  return hasRowsBeside(
      op, 2,
      2 * getElementBytes(getElementTypeOrSelf(op.getOutput().getType())));
}

/// Whether rows of lhs (0) or rhs (1) are not a whole number of asynchronous
/// copies.
static bool isCopiedSingly(ContractOp op, unsigned side, const Chip &chip) {
  return hasRowsBeside(op, side, chip.asyncCopyBytes);
}

/// A lower bound of the registers of a thread for data that it has loaded for
/// the next steps, if copies run ahead and are not asynchronous. Rows of
/// unknown alignment are read one element at a time; in memory of dynamic
/// extents each such element has a branch of its own until it is written. Each
/// gathered element of an image has an index of its own. Async copies to LDS
/// are counted too, since they can be disabled for a run.
static int64_t estimateHeld(ContractOp op, const MatrixForm &form,
                            ScheduleAttr schedule, const Chip &chip) {
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
      held += 3 * ofThread; // Place and condition besides.
    else if (type.hasStaticShape() || isPacked(type.getElementType()) ||
             hasRowsOfMultiple(type, 4))
      held += llvm::divideCeil(ofThread * getElementBits(type.getElementType()),
                               32);
    else
      held += 2 * ofThread;
  }
  return held;
}

/// Whether loads can load all tiles of lhs (0) or rhs (1) directly to workgroup
/// memory, if their width divides it.
static bool isCopiedDirectly(ContractOp op, const MatrixForm &form,
                             unsigned side, const Chip &chip) {
  auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
  if (!type || !type.hasStaticShape() || form.gather[side] ||
      !op.getProducer(side).empty() || isPacked(type.getElementType()) ||
      !hasAlignedRows(op, side, chip) ||
      !llvm::is_contained(chip.directCopyBytes, chip.accessBytes))
    return false;
  // Tiles whose columns are read are copied in another layout if the chip has
  // no transposing loads.
  int64_t bits = getElementBits(type.getElementType());
  bool readsColumns = isStoredTransposed(op, form, side) == (side == 0);
  return !readsColumns || bits == chip.transposingReadBits || bits > 16 ||
         !chip.interleavesColumns;
}

/// The bytes of a row of a staged operand, by default.
static int64_t chooseStepBytes(ContractOp op, const MatrixForm &form,
                               const Chip &chip,
                               const ScheduleDefaults &defaults,
                               int64_t operandBits) {
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  int64_t step = 8 * chip.policy.directStepBytes / operandBits;
  auto divides = [](int64_t tile, int64_t extent) {
    return ShapedType::isStatic(extent) && extent % tile == 0;
  };
  bool fits =
      chip.policy.directStepBytes > defaults.kBytes && defaults.stages > 1 &&
      divides(defaults.workgroup[0], extents[0]) &&
      divides(defaults.workgroup[1], extents[1]) && divides(step, extents[2]);
  return fits && isCopiedDirectly(op, form, 0, chip) &&
                 isCopiedDirectly(op, form, 1, chip)
             ? chip.policy.directStepBytes
             : defaults.kBytes;
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

/// The tile of a subgroup that holds rows of `columns` elements: with about the
/// number of elements of `tile`, if instructions of the same class permit.
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

/// Whether block loads can load both operands in the layout of `row`.
static bool canLoadBlocks(ContractOp op, const MatrixForm &form,
                          const Chip &chip, const MatrixInstruction &row) {
  return explainNoBlocks(op, form, 0, chip, row).empty() &&
         explainNoBlocks(op, form, 1, chip, row).empty();
}

/// The schedule that `op` has when it does not say; with whole rows in the tile
/// of a subgroup, if wanted and known; by block loads, if these are wanted and
/// can be.
static ScheduleAttr makeDefaultSchedule(ContractOp op, const Chip &chip,
                                        bool wholeRows,
                                        bool wantsBlocks = true) {
  MatrixForm form = getMatrixForm(op);
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  // Empty problems use the smallest tile.
  for (int64_t &extent : extents)
    extent = extent == 0 ? 1 : extent;
  // Operands that are extended before the matmul occupy bytes.
  auto getBits = [&](unsigned side) {
    Value operand = side ? op.getRhs() : op.getLhs();
    return isPacked(op.getProductType(side))
               ? getElementBits(op.getProductType(side))
               : 8 * getElementBytes(getElementTypeOrSelf(operand.getType()));
  };
  int64_t operandBits = std::max(getBits(0), getBits(1));

  // The class of instruction: any K that a step may have will do for the
  // question.
  int64_t limit = getLargestStep(op, form), longest = limit ? limit : 4096;
  const MatrixInstruction *instruction =
      select(op, chip, chip.policy.matrixDefaults.subgroup, longest);
  bool matrixUnit = instruction && instruction->matrixUnit;
  if (!wholeRows)
    if (ScheduleAttr grouped = chooseGroupSchedule(op, chip, form, extents))
      return grouped;
  wantsBlocks &= matrixUnit && chip.policy.blockDefaults && !wholeRows &&
                 canLoadBlocks(op, form, chip, *instruction);
  const ScheduleDefaults &defaults = wantsBlocks  ? *chip.policy.blockDefaults
                                     : matrixUnit ? chip.policy.matrixDefaults
                                                  : chip.policy.scalarDefaults;
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

  int64_t largestTile = subgroup[0] * subgroup[1];

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
  int64_t kBytes = matrixUnit && !wantsBlocks
                       ? chooseStepBytes(op, form, chip, defaults, operandBits)
                       : defaults.kBytes;
  int64_t step = std::max(8 * kBytes / operandBits, int64_t(1));
  instruction = select(op, chip, subgroup,
                       stages == 0 ? std::gcd(step, longest) : longest);
  int64_t kFragment = instruction ? instruction->k : 1;
  int64_t k =
      std::max(8 * kBytes / operandBits / kFragment, int64_t(1)) * kFragment;
  // Elements of half a byte have short fragments for so long a step.
  if (operandBits < 8)
    k = std::min(k, maxUnrolledFragments * kFragment);

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
  // Tiles become smaller, at least the size of the previous subgroup tile, with
  // the same number of subgroups.
  auto shrink = [&](unsigned d) {
    std::array<int64_t, 2> smaller = subgroup;
    smaller[d] /= 2;
    if (workgroup[d] / 2 < defaults.subgroup[d] || subgroup[d] % 2 ||
        !isGood(smaller))
      return false;
    subgroup = smaller;
    workgroup[d] /= 2;
    return true;
  };
  int64_t steps = ShapedType::kDynamic;
  if (ShapedType::isStatic(extents[2]))
    steps = llvm::divideCeil(extents[2], k);
  // Where no two elements can be stored at once, lanes of several rows would
  // each store one.
  bool splitsPairs = chip.hasLanes() && matrixUnit && hasUnalignedPairs(op);
  // With such stores and few steps, the time of a workgroup is its prologue and
  // epilogue, which other workgroups must hide. The operand that more of them
  // read should be the one with wide accesses.
  if (!wholeRows && splitsPairs && ShapedType::isStatic(steps) &&
      steps <= stages)
    for (unsigned d : {1, 0})
      if (hasAlignedRows(op, 1 - d, chip) && shrink(d))
        break;
  // SMs would be idle, and K is too short to be split.
  if (!wholeRows && chip.processors > 0 && ShapedType::isStatic(steps) &&
      steps < 2 * stepsOfPart) {
    auto isIdle = [&] {
      auto tiles = countTiles(op, form, extents, workgroup);
      return tiles && (*tiles)[0] * (*tiles)[1] * (*tiles)[2] < chip.processors;
    };
    // Subgroups that load by blocks share nothing: fewer of them will do.
    auto leaveOut = [&](unsigned d) {
      if (!wantsBlocks || workgroup[d] <= 2 * subgroup[d])
        return false;
      workgroup[d] /= 2;
      return true;
    };
    while (isIdle()) {
      unsigned longer = workgroup[0] >= workgroup[1] ? 0 : 1;
      if (!leaveOut(longer) && !leaveOut(1 - longer) && !shrink(longer) &&
          !shrink(1 - longer))
        break;
    }
  }
  // All SMs have work even with larger tiles.
  if (!wholeRows && matrixUnit && chip.policy.largeWorkgroup[0] > 0 &&
      workgroup == defaults.workgroup && subgroup == defaults.subgroup) {
    auto tiles = countTiles(op, form, extents, chip.policy.largeWorkgroup);
    if (tiles && (*tiles)[0] * (*tiles)[1] * (*tiles)[2] >= chip.processors)
      workgroup = chip.policy.largeWorkgroup;
  }
  while (ShapedType::isStatic(extents[2]) && k / 2 >= extents[2] &&
         (k / 2) % kFragment == 0)
    k /= 2;
  bool swizzle = false, stageOutput = false;
  int64_t splitK = 1, raster = 0, batches = 1, subgroupBatches = 1;
  auto make = [&] {
    return ScheduleAttr::get(op.getContext(), workgroup, subgroup, k, kFragment,
                             stages, /*vthread=*/{1, 1}, /*interleave=*/0,
                             swizzle, splitK, SplitReduction::Ordered, raster,
                             /*persistent=*/0, /*group=*/1, stageOutput,
                             /*clusterM=*/1, /*clusterN=*/1, batches,
                             subgroupBatches);
  };
  // Synchronous copies cannot run ahead: with few steps, the whole of K is
  // copied at once.
  if (chip.asyncCopy && ShapedType::isStatic(steps) && steps > 1 &&
      steps <= stages &&
      (isCopiedSingly(op, 0, chip) || isCopiedSingly(op, 1, chip)) &&
      limit % static_cast<int64_t>(llvm::alignTo(extents[2], kFragment)) == 0) {
    k = llvm::alignTo(extents[2], kFragment);
    stages = 1;
  }
  // More stages than steps would only waste memory.
  if (ShapedType::isStatic(extents[2]) && stages > 1)
    stages = std::max<int64_t>(
        1, std::min<int64_t>(stages, llvm::divideCeil(extents[2], k)));
  // Small matrices of a batch.
  bool isSmall =
      chip.policy.batchDefaults.subgroups > 1 && !form.batch.empty() &&
      workgroup == subgroup && workgroup[0] * workgroup[1] < largestTile &&
      ShapedType::isStatic(extents[0]) && ShapedType::isStatic(extents[1]) &&
      extents[0] <= workgroup[0] && extents[1] <= workgroup[1];
  if (isSmall)
    instruction = select(op, chip, subgroup, kFragment);
  if (isSmall && instruction) {
    // No fragment is longer than an instruction, or than K, if the same tile
    // has a shorter one.
    if (kFragment % instruction->k == 0)
      kFragment = instruction->k;
    if (const MatrixInstruction *shorter =
            ShapedType::isStatic(extents[2])
                ? select(op, chip, subgroup,
                         llvm::PowerOf2Ceil(static_cast<uint64_t>(extents[2])))
                : nullptr;
        shorter && shorter->matrixUnit == matrixUnit &&
        shorter->k < kFragment && shorter->m == instruction->m &&
        shorter->n == instruction->n && kFragment % shorter->k == 0) {
      instruction = shorter;
      kFragment = shorter->k;
      k = llvm::alignTo(std::min(k, extents[2]), kFragment);
    }
    auto mayHold = [&](int64_t fragments, int64_t matrices) {
      RegisterEstimate one = estimateRegisters(op, make(), chip, *instruction);
      return chip.registersPerThread == 0 ||
             matrices * one.accumulators + fragments * one.operands <=
                 chip.registersPerThread / 2;
    };
    int64_t fragments = llvm::divideCeil(extents[2], kFragment);
    if (matrixUnit && ShapedType::isStatic(extents[2]) && !form.gather[0] &&
        !form.gather[1] &&
        fragments <= chip.policy.batchDefaults.directFragments &&
        mayHold(fragments, 1) &&
        (!limit || limit % (fragments * kFragment) == 0)) {
      k = fragments * kFragment;
      stages = 0;
    } else {
      fragments = 1;
    }
    std::array<int64_t, 2> chosen =
        chooseBatches(op, chip, form, [&](int64_t matrices) {
          return mayHold(fragments, matrices);
        });
    batches = chosen[0];
    subgroupBatches = chosen[1];
  }
  while (getStagedTiles(op, form, make(), chip).bytes >
         chip.workgroupMemoryBytes) {
    if (batches > subgroupBatches && (batches / 2) % subgroupBatches == 0)
      batches /= 2;
    else if (stages > 2)
      --stages;
    else if (k % 2 == 0 && (k / 2) % kFragment == 0)
      k /= 2;
    else if (stages > 1)
      --stages;
    else if (!halve(0) && !halve(1))
      stages = 0;
  }
  // A quarter of the registers is reserved for addresses, of which block loads
  // need few.
  if (instruction && matrixUnit && !wantsBlocks && chip.registersPerThread > 0)
    while (k % 2 == 0 && (k / 2) % kFragment == 0 &&
           estimateRegisters(op, make(), chip, *instruction).getTotal() +
                   estimateHeld(op, form, make(), chip) >=
               chip.registersPerThread / 4 * 3)
      k /= 2;
  if (wantsBlocks) {
    // A load covers as much of a row as possible. Small tiles may use another
    // instruction.
    kFragment = k;
    instruction = select(op, chip, subgroup, kFragment);
    if (!instruction || !canLoadBlocks(op, form, chip, *instruction))
      return makeDefaultSchedule(op, chip, wholeRows, /*wantsBlocks=*/false);
  }
  swizzle = chip.policy.preferSwizzle && stages > 0 &&
            hasAlignedRows(op, 0, chip) && hasAlignedRows(op, 1, chip) &&
            canSwizzle(op, getStagedTiles(op, form, make(), chip));
  splitK = wholeRows || batches > 1
               ? 1
               : chooseSplitK(op, chip, form, extents, workgroup, k);
  stageOutput = splitsPairs && stages > 0 && splitK == 1 && batches == 1;
  if (stageOutput && !getScheduleProblems(op, make(), chip).empty())
    stageOutput = false;
  raster = batches > 1 ? 0 : chooseRaster(op, chip, form, extents, workgroup);
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
  if (columns == 0 || columns > chip.policy.maxRow)
    return false;
  ScheduleAttr schedule = makeDefaultSchedule(op, chip, /*wholeRows=*/true);
  return holdsRows(op, schedule) &&
         getScheduleProblems(op, schedule, chip).empty();
}
