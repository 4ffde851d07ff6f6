//===- DefaultTile.cpp - The tiles of a default schedule ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// The first tile
//===----------------------------------------------------------------------===//

void ScheduleBuilder::startTile() {
  Tile &workgroup = fields.workgroup, &subgroup = fields.subgroup;
  workgroup = defaults->workgroup;
  subgroup = defaults->subgroup;
  // The defaults are for accumulators of 4 bytes; wider ones fill the
  // registers with half the columns.
  if (getElementBytes(op.getAccumulatorType()) > 4 && subgroup[1] % 2 == 0) {
    workgroup[1] /= 2;
    subgroup[1] /= 2;
  }
  hasWholeRows &= ShapedType::isStatic(extents[1]);
  // Operands of scalar FMAs need more registers, and so do reductions of rows.
  if (hasWholeRows && !usesMatrixUnit && chip.policy.scalarSubgroups > 0)
    subgroup[1] /= 2;
  if (std::optional<Tile> vectors = chooseVectorTile())
    workgroup = subgroup = *vectors;
  largestTile = subgroup[0] * subgroup[1];
  if (!hasWholeRows)
    return;
  int64_t subgroups = workgroup[0] / subgroup[0] * (workgroup[1] / subgroup[1]);
  subgroup = widenToRows();
  workgroup = {subgroup[0] * subgroups, subgroup[1]};
}

ScheduleBuilder::Tile ScheduleBuilder::widenToRows() {
  SmallVector<const MatrixInstruction *> rows =
      getPermittedInstructions(op, form, chip, /*group=*/1);
  Tile tile = fields.subgroup;
  if (rows.empty())
    return tile;
  int64_t most = tile[0] * tile[1], m = tile[0], columns = extents[1],
          n = llvm::alignTo(columns, rows.front()->n);
  while (n % 2 == 0 && n / 2 >= columns && hasClass({m, n / 2}, longest))
    n /= 2;
  while (m > 1 && m * n > most && hasClass({m / 2, n}, longest))
    m /= 2;
  return {m, n};
}

//===----------------------------------------------------------------------===//
// Smaller tiles
//===----------------------------------------------------------------------===//

bool ScheduleBuilder::halve(unsigned d) {
  Tile &workgroup = fields.workgroup, &subgroup = fields.subgroup;
  if (workgroup[d] % 2 ||
      (d == 1 && hasWholeRows && workgroup[d] / 2 < extents[d]))
    return false;
  if ((workgroup[d] / 2) % subgroup[d] == 0) {
    workgroup[d] /= 2;
    return true;
  }
  Tile smaller = subgroup;
  smaller[d] /= 2;
  if (subgroup[d] % 2 || !hasClass(smaller, fields.kFragment))
    return false;
  subgroup = smaller;
  workgroup[d] /= 2;
  return true;
}

bool ScheduleBuilder::shrink(unsigned d) {
  Tile smaller = fields.subgroup;
  smaller[d] /= 2;
  // Measured on an H100: with a few workgroups, 80x192x460 in 8-bit floats
  // takes 4.7 us in tiles of 64x64 and 3.0 in tiles of 32x32.
  std::optional<int64_t> workgroups = countWorkgroups(fields.workgroup);
  int64_t least = defaults->subgroup[d];
  if (!usesMatrixUnit)
    least = std::min<int64_t>(least, 32);
  if (usesMatrixUnit && hasKnownLatency() && form.batch.empty() &&
      steps >= fields.stages && workgroups &&
      *workgroups * 4 <= chip.processors)
    least /= 2;
  if (fields.workgroup[d] / 2 < least || fields.subgroup[d] % 2 ||
      !hasClass(smaller, fields.kFragment))
    return false;
  fields.subgroup = smaller;
  fields.workgroup[d] /= 2;
  return true;
}

/// Rows of bytes are staged, and then stored as a whole: a tile of all columns,
/// if they are few, rather than a second one that is mostly empty. Measured on
/// an H200: 100352x144x24 takes 13.9 us in tiles of 128x128 and 9.3 in 128x144.
void ScheduleBuilder::fitColumns() {
  storesBytes =
      chip.hasLanes() && usesMatrixUnit &&
      getElementBytes(getElementTypeOrSelf(op.getOutput().getType())) == 1 &&
      !isPacked(getElementTypeOrSelf(op.getOutput().getType()));
  Tile &workgroup = fields.workgroup, &subgroup = fields.subgroup;
  constexpr int64_t unit = 8;
  int64_t subgroups = workgroup[1] / subgroup[1];
  if (!storesBytes || hasWholeRows || usesBlocks ||
      ShapedType::isDynamic(extents[1]) || extents[1] % workgroup[1] == 0)
    return;
  int64_t columns = llvm::alignTo(extents[1], unit * subgroups);
  Tile fitted{subgroup[0], columns / subgroups};
  // More accumulators would leave too few registers for the epilogue.
  if (columns * 2 <= workgroup[1] || columns * 8 > workgroup[1] * 9 ||
      !hasClass(fitted, fields.kFragment))
    return;
  subgroup = fitted;
  workgroup[1] = columns;
}

void ScheduleBuilder::fitTile() {
  fitColumns();
  for (unsigned d : {0, 1})
    while (ShapedType::isStatic(extents[d]) &&
           fields.workgroup[d] / 2 >= extents[d] && halve(d))
      continue;
  // The threads of one subgroup would copy all of both tiles.
  if (!usesMatrixUnit && chip.policy.scalarSubgroups > 0 &&
      fields.workgroup == fields.subgroup && fields.subgroup[1] > 32 &&
      hasClass({fields.subgroup[0], 32}, fields.kFragment))
    fields.subgroup[1] = 32;
  if (ShapedType::isStatic(extents[2]))
    steps = llvm::divideCeil(extents[2], fields.k);
}

/// Whether no two elements of the output can be stored at once in each row.
static bool hasUnalignedPairs(ContractOp op) {
  return hasMisalignedRows(
      op, 2,
      2 * getElementBytes(getElementTypeOrSelf(op.getOutput().getType())));
}

/// Where no two elements can be stored at once, lanes of several rows would
/// each store one. With such stores and few steps, the time of a workgroup is
/// its prologue and epilogue, which other workgroups must hide. The operand
/// that more of them read should be the one with wide accesses.
void ScheduleBuilder::narrowForStores() {
  splitsPairs = chip.hasLanes() && usesMatrixUnit && hasUnalignedPairs(op);
  if (hasWholeRows || !splitsPairs || ShapedType::isDynamic(steps) ||
      steps > fields.stages)
    return;
  for (unsigned d : {1, 0})
    if (hasAlignedRows(op, 1 - d, chip) && shrink(d))
      break;
}

/// Tiles become smaller if SMs would be idle, and K is too short to be split.
/// Without a matrix unit, a quarter of the tile gives more workgroups than two
/// parts of K do, and needs no kernel that adds these up; where the chip has a
/// measured number of subgroups, tiles become smaller after K is divided.
void ScheduleBuilder::fillProcessors() {
  if (hasWholeRows || chip.processors == 0 || ShapedType::isDynamic(steps))
    return;
  keepsK = !usesMatrixUnit && chip.hasLanes() &&
           chip.policy.scalarSubgroups == 0 && chooseSplitK() == 2;
  bool dividesK = !usesMatrixUnit && chip.policy.scalarSubgroups > 0;
  int64_t divided = usesMatrixUnit && chip.policy.dividedSteps > 0
                        ? chip.policy.dividedSteps
                        : 2 * stepsOfPart;
  if (steps >= divided && !keepsK && !dividesK)
    return;
  Tile &workgroup = fields.workgroup;
  auto isIdle = [&] {
    std::optional<int64_t> workgroups = countWorkgroups(workgroup);
    return workgroups &&
           *workgroups * (dividesK ? chooseSplitK() : 1) < chip.processors;
  };
  // Subgroups that load by blocks share nothing: fewer of them will do.
  auto leaveOut = [&](unsigned d) {
    if (!usesBlocks || workgroup[d] <= 2 * fields.subgroup[d])
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

/// Whether the large tiling suits the contraction: copies of whole accesses run
/// ahead, lhs is stored by rows, the sums start from a constant, and the
/// epilogue reads at most vectors. Otherwise registers would be spilled: by
/// loads of elements for that many sums, whose addresses are live besides.
bool ScheduleBuilder::suitsLargeTiling(const LargeTiling &large) {
  bool isStatic = llvm::none_of(extents, ShapedType::isDynamic);
  if (!isStatic || !op.getInit() || !usesMatrixUnit || usesBlocks ||
      hasWholeRows || fields.stages < 2 ||
      fields.workgroup != defaults->workgroup ||
      fields.subgroup != defaults->subgroup ||
      getElementBytes(op.getAccumulatorType()) != 4 ||
      (operandBits != 8 && operandBits != 16) ||
      isStoredTransposed(op, form, 0) || op.getUnsignedA() ||
      op.getUnsignedB() || extents[2] * operandBits / 8 < large.leastBytes)
    return false;
  for (Value extra : op.getExtras())
    if (auto type = dyn_cast<ShapedType>(extra.getType());
        type && type.getRank() > 1)
      return false;
  for (unsigned side : {0, 1})
    if (form.gather[side] || !op.getProducer(side).empty() ||
        isPacked(op.getFactorType(side)) || isHeld(side) ||
        !hasAlignedRows(op, side, chip))
      return false;
  // Loads straight to workgroup memory copy whole tiles only. The longer steps
  // that they permit would take too many registers otherwise.
  return chooseStepBytes() == defaults->kBytes ||
         (extents[0] % large.workgroup[0] == 0 &&
          extents[1] % large.workgroup[1] == 0);
}

/// The most bytes that a lane reads from workgroup memory at once.
static constexpr int64_t widestRead = 16;

void ScheduleBuilder::useLargeTiling(const LargeTiling &large) {
  if (!suitsLargeTiling(large))
    return;
  std::optional<int64_t> few = countWorkgroups(large.workgroup),
                         many = countWorkgroups(fields.workgroup);
  // The number of elements that the processor with most tiles computes.
  auto countElements = [&](int64_t workgroups, Tile tile) {
    return llvm::divideCeil(workgroups, chip.processors) * tile[0] * tile[1];
  };
  if (!few || !many || chip.processors == 0 ||
      countElements(*few, large.workgroup) >
          countElements(*many, fields.workgroup))
    return;
  ScheduleFields before = fields;
  const MatrixInstruction *with = instruction,
                          *row = select(large.fragment, longest);
  fields.workgroup = large.workgroup;
  fields.subgroup = large.subgroup;
  // A step may be too short for the instruction of these fragments.
  if (row && row->matrixUnit && Tile{row->m, row->n} == large.fragment &&
      fields.k % row->k == 0) {
    instruction = row;
    fields.kFragment = row->k;
    // Where each operand of an instruction is two reads of a lane, square tiles
    // read less for each. Loads straight to workgroup memory hold no registers.
    if (row->m * row->k * operandBits / 8 > chip.subgroupSize * widestRead &&
        chooseStepBytes() != defaults->kBytes)
      fields.subgroup[0] = fields.subgroup[1] =
          std::max(large.subgroup[0], large.subgroup[1]);
    fields.vthread = {fields.subgroup[0] / large.fragment[0],
                      fields.subgroup[1] / large.fragment[1]};
  }
  fields.swizzle = prefersSwizzle();
  if (hasClass(fields.subgroup, fields.kFragment) &&
      getStagedTiles(op, form, make(), chip).bytes <= chip.workgroupMemoryBytes)
    return;
  fields = before;
  instruction = with;
}

void ScheduleBuilder::enlargeTile() {
  const SchedulePolicy &policy = chip.policy;
  if (policy.largeTiling)
    useLargeTiling(*policy.largeTiling);
  Tile large =
           usesMatrixUnit ? policy.largeWorkgroup : policy.largeScalarWorkgroup,
       subgroup =
           usesMatrixUnit ? defaults->subgroup : policy.largeScalarSubgroup;
  if (hasWholeRows || large[0] <= 0 ||
      (usesMatrixUnit && defaults != &policy.matrixDefaults) ||
      fields.workgroup != defaults->workgroup ||
      fields.subgroup != defaults->subgroup ||
      !hasClass(subgroup, fields.kFragment))
    return;
  // A tile may exceed the matrix where smaller ones do not.
  int64_t before = 1, after = 1;
  for (unsigned d : {0, 1})
    if (ShapedType::isStatic(extents[d])) {
      before *= llvm::alignTo(extents[d], fields.workgroup[d]);
      after *= llvm::alignTo(extents[d], large[d]);
    }
  std::optional<int64_t> workgroups = countWorkgroups(large);
  if (workgroups && *workgroups >= chip.processors && after * 8 <= before * 9) {
    fields.workgroup = large;
    fields.subgroup = subgroup;
  }
}

/// Twice the columns, by subgroups of twice the rows, halve the reads of
/// workgroup memory for each element of lhs. Measured on an H200 in f32: 4096
/// cubed takes 3003 us so, in bands of 8, and 3166 in tiles of 128x128; 2048
/// cubed 379 and 401, 8192 cubed 23.8 and 24.7 ms.
void ScheduleBuilder::widenScalarTile() {
  constexpr int64_t wordBits = 32, longest = 16;
  Tile from = chip.policy.largeScalarWorkgroup,
       part = chip.policy.largeScalarSubgroup, wide{from[0], 2 * from[1]},
       subgroup{2 * part[0], part[1]};
  if (usesMatrixUnit || !chip.model.schedules || operandBits != wordBits ||
      fields.workgroup != from || fields.subgroup != part || form.gather[0] ||
      form.gather[1] || fields.stages < 2 || fields.k > longest || isHeld(0) ||
      isHeld(1) || !hasClass(subgroup, fields.kFragment))
    return;
  std::optional<int64_t> few = countWorkgroups(wide),
                         many = countWorkgroups(from);
  auto countRounds = [&](int64_t workgroups) -> int64_t {
    return llvm::divideCeil(workgroups, chip.processors);
  };
  if (!few || !many || 2 * countRounds(*few) > countRounds(*many))
    return;
  fields.workgroup = wide;
  fields.subgroup = subgroup;
  ++fields.stages;
}

//===----------------------------------------------------------------------===//
// Numbers of tiles
//===----------------------------------------------------------------------===//

std::optional<std::array<int64_t, 3>>
ScheduleBuilder::countTiles(Tile workgroup) {
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

std::optional<int64_t> ScheduleBuilder::countWorkgroups(Tile workgroup) {
  auto tiles = countTiles(workgroup);
  if (!tiles)
    return std::nullopt;
  return (*tiles)[0] * (*tiles)[1] * (*tiles)[2];
}
