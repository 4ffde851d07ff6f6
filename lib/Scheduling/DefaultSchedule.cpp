//===- DefaultSchedule.cpp - The schedule of a contraction ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupTilings.h"
#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Scheduling/DieOrder.h"
#include "Scheduling/FewColumnsSchedule.h"
#include "Scheduling/OneWaveSchedule.h"
#include "Scheduling/RankSchedules.h"
#include "Scheduling/ScheduleCheck.h"
#include "Scheduling/ScheduleCorrection.h"
#include "Scheduling/ThreadCopiesSchedule.h"
#include "Scheduling/WeightsSchedule.h"
#include "Target/Intel/BlockLoads.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-choose-schedule"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// The bits of an element of lhs (0) or rhs (1) in memory. Operands that are
/// extended before the matmul occupy bytes.
static int64_t getOperandBits(ContractOp op, unsigned side) {
  Value operand = side ? op.getRhs() : op.getLhs();
  return isPacked(op.getFactorType(side))
             ? getElementBits(op.getFactorType(side))
             : 8 * getElementBytes(getElementTypeOrSelf(operand.getType()));
}

ScheduleBuilder::ScheduleBuilder(ContractOp op, const Chip &chip,
                                 bool wantsRows, bool wantsBlocks)
    : op(op), chip(chip), form(getMatrixForm(op)),
      extents(getStaticExtents(op, form)), hasWholeRows(wantsRows),
      usesBlocks(wantsBlocks),
      operandBits(std::max(getOperandBits(op, 0), getOperandBits(op, 1))),
      limit(getLargestStep(op, form)), longest(limit ? limit : 4096) {
  // Empty problems use the smallest tile.
  for (int64_t &extent : extents)
    extent = extent == 0 ? 1 : extent;
}

ScheduleAttr ScheduleBuilder::make() {
  return ScheduleAttr::get(op.getContext(), fields);
}

const MatrixInstruction *ScheduleBuilder::select(Tile tile, int64_t k) {
  return selectInstruction(
      chip, op.getFactorType(0), op.getFactorType(1), op.getAccumulatorType(),
      op.getPrecision(), tile[0], tile[1], k, /*why=*/nullptr, /*subgroups=*/1,
      /*aInMemory=*/true, op.getUnsignedA() || op.getUnsignedB());
}

bool ScheduleBuilder::hasClass(Tile tile, int64_t k) {
  const MatrixInstruction *row = select(tile, k);
  return row && row->matrixUnit == usesMatrixUnit;
}

bool ScheduleBuilder::canLoadBlocks(const MatrixInstruction &row) {
  return explainNoBlocks(op, form, 0, chip, row).empty() &&
         explainNoBlocks(op, form, 1, chip, row).empty();
}

//===----------------------------------------------------------------------===//
// The class of instructions
//===----------------------------------------------------------------------===//

bool ScheduleBuilder::suitsSmallTiles() {
  const SchedulePolicy &policy = chip.policy;
  if (!policy.smallDefaults || hasWholeRows || chip.processors == 0)
    return false;
  Tile tile = policy.matrixDefaults.workgroup;
  std::optional<int64_t> workgroups = countWorkgroups(tile);
  // Where K is one step, the time is that of the epilogue, also of columns
  // beyond the matrix: on an H200 100352x24x144 takes 41 us in tiles of 128x256
  // and 32 in tiles of 64x64.
  bool isNarrow =
      ShapedType::isStatic(extents[1]) &&
      (extents[1] <= tile[1] ||
       (ShapedType::isStatic(extents[2]) &&
        extents[2] * operandBits / 8 <= policy.smallDefaults->kBytes &&
        static_cast<int64_t>(llvm::alignTo(extents[1], tile[1])) * 8 >
            extents[1] * 9));
  return form.gather[0] || form.gather[1] || isNarrow ||
         (workgroups && *workgroups < chip.processors);
}

int64_t ScheduleBuilder::countBusyProcessors() const {
  const std::optional<RoundDefaults> &rounds = chip.policy.roundDefaults;
  return rounds ? rounds->processors : chip.processors;
}

int64_t ScheduleBuilder::countDividedParts(int64_t workgroups, int64_t steps) {
  constexpr int64_t leastOfPart = 2;
  int64_t processors = countBusyProcessors();
  if (2 * workgroups > processors || steps < chip.policy.dividedSteps)
    return 1;
  int64_t most = processors / workgroups;
  // All steps of a short K wait for memory at the same time.
  if (steps <= std::min(most, chip.policy.singleSteps))
    return steps;
  return std::min(most, steps / leastOfPart);
}

/// While a workgroup waits for the tiles of a step, another one of the
/// processor multiplies.
int64_t ScheduleBuilder::countPairedParts(int64_t workgroups, int64_t steps) {
  const SchedulePolicy &policy = chip.policy;
  if (!policy.smallDefaults || defaults != &*policy.smallDefaults ||
      policy.pairedSteps == 0)
    return 1;
  return std::min(2 * countBusyProcessors() / workgroups,
                  steps / policy.pairedSteps);
}

/// Where parts are too short for two workgroups of a processor, tiles of half
/// the rows are as many without more parts.
void ScheduleBuilder::halvePairedTiles() {
  constexpr int64_t fewSteps = 2;
  const SchedulePolicy &policy = chip.policy;
  if (fields.splitK == 1 || policy.pairedSteps == 0 || !policy.smallDefaults ||
      defaults != &*policy.smallDefaults ||
      fields.workgroup != defaults->workgroup ||
      extents[0] <= fields.workgroup[0])
    return;
  int64_t all = llvm::divideCeil(extents[2], fields.k);
  Tile workgroup{fields.workgroup[0] / 2, fields.workgroup[1]},
      subgroup{fields.subgroup[0] / 2, fields.subgroup[1]};
  std::optional<int64_t> workgroups = countWorkgroups(workgroup);
  if (!workgroups || all / fields.splitK >= policy.pairedSteps ||
      !hasClass(subgroup, fields.kFragment))
    return;
  int64_t parts = 2 * countBusyProcessors() / *workgroups;
  if (parts < fields.splitK || all <= parts * fewSteps)
    return;
  fields.workgroup = workgroup;
  fields.subgroup = subgroup;
  fields.splitK = parts;
}

/// The tiling whose workgroups multiply least, if nearly every processor has
/// one of them, maybe of a part of K.
const ScheduleDefaults *
ScheduleBuilder::chooseAlone(const RoundDefaults &rounds) {
  constexpr int64_t measuredBits = 16, leastOfPart = 768;
  constexpr double leastBusy = 0.8;
  if (operandBits != measuredBits)
    return nullptr;
  const ScheduleDefaults *best = nullptr;
  int64_t least = 0;
  for (const ScheduleDefaults &tiling : rounds.alone) {
    std::optional<int64_t> workgroups = countWorkgroups(tiling.workgroup);
    if (!workgroups || *workgroups > rounds.processors ||
        extents[1] % tiling.workgroup[1] != 0)
      continue;
    int64_t k = tiling.kBytes * 8 / operandBits,
            parts = countDividedParts(*workgroups, extents[2] / k);
    const MatrixInstruction *row = select(tiling.subgroup, longest);
    if (!row || !row->matrixUnit ||
        (parts > 1 && extents[2] < parts * leastOfPart) ||
        double(*workgroups * parts) < leastBusy * double(rounds.processors))
      continue;
    int64_t work = tiling.workgroup[0] * tiling.workgroup[1] *
                   llvm::divideCeil(extents[2], parts);
    if (!best || work < least) {
      best = &tiling;
      least = work;
    }
  }
  return best;
}

const ScheduleDefaults *ScheduleBuilder::chooseByRounds() {
  const std::optional<RoundDefaults> &rounds = chip.policy.roundDefaults;
  constexpr int64_t longBytes = 4096;
  if (!rounds || hasWholeRows || llvm::any_of(extents, ShapedType::isDynamic) ||
      getElementBytes(op.getAccumulatorType()) != 4 || operandBits < 8 ||
      !op.getProducer(0).empty() || !op.getProducer(1).empty() ||
      extents[2] * operandBits / 8 % rounds->fewColumns.kBytes != 0)
    return nullptr;
  const ScheduleDefaults &few = rounds->fewColumns,
                         &smallest = rounds->tilings.back().defaults;
  bool isFew = extents[1] == few.workgroup[1];
  if (!isFew && extents[1] % smallest.workgroup[1] != 0)
    return nullptr;
  std::optional<int64_t> most =
      countWorkgroups((isFew ? few : smallest).workgroup);
  if (!most || *most < 2 * rounds->processors)
    return chooseAlone(*rounds);
  auto hasInstruction = [&](const ScheduleDefaults &tiling) {
    const MatrixInstruction *row = select(tiling.subgroup, longest);
    return row && row->matrixUnit;
  };
  if (isFew)
    return hasInstruction(few) ? &few : nullptr;
  bool isLong = extents[2] * operandBits / 8 >= longBytes;
  const ScheduleDefaults *best = nullptr;
  double least = 0;
  for (const RoundDefaults::Tiling &one : rounds->tilings) {
    const ScheduleDefaults &tiling = one.defaults;
    std::optional<int64_t> workgroups = countWorkgroups(tiling.workgroup);
    if (!workgroups || extents[1] % tiling.workgroup[1] != 0 ||
        !hasInstruction(tiling))
      continue;
    double time =
        one.time * double(llvm::divideCeil(*workgroups,
                                           rounds->processors * one.resident));
    // With a long K the largest one of several reads the least.
    if (!best || time < least || (time == least && isLong)) {
      best = &tiling;
      least = time;
    }
  }
  return best;
}

void ScheduleBuilder::chooseClass() {
  // Any K that a step may have answers which class has an instruction.
  const SchedulePolicy &policy = chip.policy;
  instruction = select(policy.matrixDefaults.subgroup, longest);
  usesMatrixUnit = instruction && instruction->matrixUnit;
  usesBlocks &= usesMatrixUnit && policy.blockDefaults && !hasWholeRows &&
                canLoadBlocks(*instruction);
  defaults = usesBlocks       ? &*policy.blockDefaults
             : usesMatrixUnit ? &policy.matrixDefaults
                              : &policy.scalarDefaults;
  const ScheduleDefaults *byRounds =
      usesMatrixUnit && !usesBlocks ? chooseByRounds() : nullptr;
  if (byRounds)
    defaults = byRounds;
  else if (usesMatrixUnit && !usesBlocks && suitsSmallTiles())
    defaults = &*policy.smallDefaults;
  fields.stages = defaults->stages;
  // Gathered operands must be staged.
  if (form.gather[0] || form.gather[1])
    fields.stages = std::max<int64_t>(fields.stages, 1);
}

//===----------------------------------------------------------------------===//
// Fields that do not change tiles
//===----------------------------------------------------------------------===//

bool ScheduleBuilder::finishBlocks() {
  // A load covers as much of a row as possible. Small tiles may use another
  // instruction.
  fields.kFragment = fields.k;
  instruction = select(fields.subgroup, fields.kFragment);
  return instruction && canLoadBlocks(*instruction);
}

bool ScheduleBuilder::hasKnownLatency() {
  return chip.model.stepLatency > 0 && !form.gather[0] && !form.gather[1] &&
         op.getProducer(0).empty() && op.getProducer(1).empty();
}

bool ScheduleBuilder::hasSlowProducer() {
  auto isSlow = [](Operation &nested) {
    // The others are one instruction.
    return isa<arith::DivFOp>(nested) ||
           (isa<math::MathDialect>(nested.getDialect()) &&
            !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
                 math::FloorOp, math::FmaOp, math::RoundEvenOp, math::TruncOp>(
                nested));
  };
  return llvm::any_of(llvm::seq(2u), [&](unsigned side) {
    return llvm::any_of(op.getProducer(side).getOps(), isSlow);
  });
}

/// A long reduction of few tiles is split into parts, so that most SMs have
/// work: each part keeps enough steps to pay for the final reduction.
int64_t ScheduleBuilder::chooseSplitK() {
  std::optional<int64_t> workgroups = countWorkgroups(fields.workgroup);
  int64_t extent = extents[2];
  if (!workgroups || chip.processors == 0 || ShapedType::isDynamic(extent))
    return 1;
  if (usesMatrixUnit && hasKnownLatency())
    return estimateParts(*workgroups);
  int64_t all = llvm::divideCeil(extent, fields.k) * lengthened;
  if (int64_t resident = chip.policy.scalarSubgroups;
      resident > 0 && !usesMatrixUnit) {
    int64_t subgroups = *workgroups * make().getNumSubgroups(),
            parts = std::min(resident * chip.processors / subgroups,
                             all / stepsOfPart);
    // Two parts gain as much as the kernel that adds them up takes.
    return parts < 4 ? 1 : llvm::bit_floor(static_cast<uint64_t>(parts));
  }
  if (chip.policy.dividedSteps > 0 && usesMatrixUnit)
    return std::max(countDividedParts(*workgroups, all),
                    countPairedParts(*workgroups, all));
  // Measured on an H200: 32x28x672 of which one operand is divided takes 118 us
  // as 42 steps of one workgroup, and 9.2 in 32 parts.
  constexpr int64_t leastSlowSteps = 4;
  bool isSlow = usesMatrixUnit && hasSlowProducer();
  int64_t ofPart = isSlow ? 1 : stepsOfPart;
  if (*workgroups * 4 > chip.processors ||
      all < (isSlow ? leastSlowSteps : 2 * stepsOfPart))
    return 1;
  return llvm::bit_floor(static_cast<uint64_t>(
      std::min(chip.processors / *workgroups, all / ofPart)));
}

/// If the workgroups of one wave would cover only a few columns of a large
/// grid, the grid is traversed in bands. Bands also give each die tiles that
/// share operands.
int64_t ScheduleBuilder::chooseRaster() {
  constexpr int64_t band = 8;
  auto tiles = countTiles(fields.workgroup);
  if (!tiles || chip.processors == 0)
    return 0;
  auto [m, n, batch] = *tiles;
  bool isWide = !usesMatrixUnit && chip.policy.largeScalarWorkgroup[1] > 0 &&
                fields.workgroup[1] > chip.policy.largeScalarWorkgroup[1];
  if (isWide)
    return m > band ? band : 0;
  if (chip.dies > 1)
    return m >= band && m * n >= chip.dies * countTilesOfDie(chip, band) ? band
                                                                         : 0;
  return m > band && m * n >= 4 * chip.processors ? band : 0;
}

/// Whether rows of both staged tiles can be swizzled.
static bool canSwizzleTiles(ContractOp op, const StagedTiles &tiles) {
  return getSwizzlePhases(MemRefType::get(
             tiles.a, getElementTypeOrSelf(op.getLhs().getType()))) &&
         getSwizzlePhases(MemRefType::get(
             tiles.b, getElementTypeOrSelf(op.getRhs().getType())));
}

bool ScheduleBuilder::prefersSwizzle() {
  return chip.policy.preferSwizzle && fields.stages > 0 &&
         hasAlignedRows(op, 0, chip) && hasAlignedRows(op, 1, chip) &&
         canSwizzleTiles(op, getStagedTiles(op, form, make(), chip));
}

/// Where each SM has at most one workgroup, which computes a part of K, only
/// its own copies hide the latency of memory: words of tf32 have steps of a
/// whole line, and more of them ahead. Measured on an H200: 16x4096x4096
/// takes 35.6 us in steps of 16 elements by two subgroups of 16x64, and 20.3 in
/// six steps of 32 by four of 16x32; 128x4096x4096 takes 41.2 us and 36.2.
void ScheduleBuilder::lengthenParts() {
  constexpr int64_t wordBits = 32, elements = 32, leastSubgroups = 4,
                    mostStages = 6, leastColumns = 32, mostBytes = 128 << 10;
  std::optional<int64_t> workgroups = countWorkgroups(fields.workgroup);
  if (!usesMatrixUnit || !hasKnownLatency() || operandBits != wordBits ||
      fields.splitK == 1 || fields.stages < 2 || fields.k >= elements ||
      isHeld(0) || isHeld(1) || !workgroups ||
      *workgroups * fields.splitK > chip.processors ||
      extents[2] / fields.splitK < elements * mostStages)
    return;
  ScheduleFields before = fields;
  fields.k = elements;
  auto countSubgroups = [&] { return make().getNumSubgroups(); };
  while (
      countSubgroups() < leastSubgroups &&
      fields.subgroup[1] >= 2 * leastColumns &&
      hasClass({fields.subgroup[0], fields.subgroup[1] / 2}, fields.kFragment))
    fields.subgroup[1] /= 2;
  for (fields.stages = mostStages; fields.stages >= before.stages;
       --fields.stages)
    if (getStagedTiles(op, form, make(), chip).bytes <= mostBytes &&
        getScheduleProblems(op, make(), chip).empty())
      return;
  fields = before;
}

void ScheduleBuilder::finish() {
  fields.swizzle = prefersSwizzle();
  if (!hasWholeRows && fields.batches == 1 && !keepsK)
    fields.splitK = chooseSplitK();
  halvePairedTiles();
  holdParts();
  lengthenParts();
  fields.stageOutput = (splitsPairs || storesBytes) && fields.stages > 0 &&
                       fields.splitK == 1 && fields.batches == 1;
  if (fields.stageOutput && !getScheduleProblems(op, make(), chip).empty()) {
    LDBG() << op.getLoc()
           << ": the output is not staged: the schedule would "
              "not be legal";
    fields.stageOutput = false;
  }
  if (fields.batches == 1)
    fields.raster = chooseRaster();
}

//===----------------------------------------------------------------------===//
// The default
//===----------------------------------------------------------------------===//

ScheduleAttr ScheduleBuilder::build(std::string *prediction) {
  if (!hasWholeRows)
    if (ScheduleAttr schedule = getWeightsSchedule(op, chip)) {
      LDBG() << op.getLoc() << ": narrow weights: " << schedule;
      return schedule;
    }
  if (!hasWholeRows)
    if (ScheduleAttr schedule = getFewColumnsSchedule(op, chip)) {
      LDBG() << op.getLoc() << ": few columns: " << schedule;
      return schedule;
    }
  if (!hasWholeRows)
    if (ScheduleAttr grouped =
            chooseGroupSchedule(op, chip, form, extents, prediction)) {
      LDBG() << op.getLoc()
             << ": instructions of several subgroups: " << grouped;
      return grouped;
    }
  return buildBySubgroups(prediction);
}

ScheduleAttr ScheduleBuilder::buildBySubgroups(std::string *prediction) {
  chooseClass();
  LDBG() << op.getLoc() << ": "
         << (usesBlocks       ? "the matrix unit with block loads"
             : usesMatrixUnit ? "the matrix unit"
                              : "scalar instructions")
         << (hasWholeRows ? ", tiles of whole rows" : "");
  startTile();
  chooseStep();
  fitEpilogue();
  fitTile();
  narrowForStores();
  fillProcessors();
  enlargeTile();
  widenScalarTile();
  lengthenStep();
  fitStep();
  fitStages();
  chooseBatches();
  fitMemory();
  fitRegisters();
  if (usesBlocks && !finishBlocks()) {
    LDBG() << op.getLoc()
           << ": the final tile has no block loads: again "
              "without them";
    return ScheduleBuilder(op, chip, hasWholeRows, /*wantsBlocks=*/false)
        .build(prediction);
  }
  finish();
  return make();
}

static ScheduleAttr makeDefaultSchedule(ContractOp op, const Chip &chip,
                                        bool wantsRows,
                                        std::string *prediction = nullptr) {
  return ScheduleBuilder(op, chip, wantsRows, /*wantsBlocks=*/true)
      .build(prediction);
}

ScheduleAttr mlir::tessera::getScheduleByRules(ContractOp op, const Chip &chip,
                                               std::string *prediction) {
  return makeDefaultSchedule(op, chip, op.reducesRows(), prediction);
}

/// Where each SM has at most one workgroup of f64, one subgroup for each
/// quarter of it leaves the matrix unit idle while it loads fragments: two of
/// half the rows, with longer steps. Measured on an H200: 1024 cubed by 128x64,
/// with lhs by columns, takes 54.6 us with subgroups of 64x32 in steps of 16,
/// and 50.0 us with 32x32 in steps of 32. The model of schedules was fitted to
/// few steps as long.
static ScheduleAttr divideLongTile(ContractOp op, const Chip &chip,
                                   ScheduleAttr schedule) {
  constexpr int64_t longBits = 64, elements = 32, fewSubgroups = 4,
                    leastRows = 32, stages = 3;
  MatrixForm form = getMatrixForm(op);
  ScheduleFields fields = schedule.getFields();
  auto [m, n, k] = getStaticExtents(op, form);
  int64_t matrices = getLinearExtent(op, form.batch);
  if (std::min(getOperandBits(op, 0), getOperandBits(op, 1)) != longBits ||
      !chip.model.schedules || fields.stages < stages || fields.k >= elements ||
      !fields.swizzle || fields.batches > 1 ||
      fields.subgroup[0] < 2 * leastRows || op.reducesRows() ||
      schedule.getNumSubgroups() > fewSubgroups ||
      llvm::any_of(std::array{m, n, k, matrices}, ShapedType::isDynamic) ||
      k / fields.splitK < elements * fewSubgroups)
    return schedule;
  auto count = [](int64_t extent, int64_t tile) -> int64_t {
    return llvm::divideCeil(extent, tile);
  };
  if (count(m, fields.workgroup[0]) * count(n, fields.workgroup[1]) * matrices *
          fields.splitK >
      chip.processors)
    return schedule;
  fields.subgroup[0] /= 2;
  fields.k = elements;
  fields.stages = stages;
  auto divided = ScheduleAttr::get(op.getContext(), fields);
  return getScheduleProblems(op, divided, chip).empty() ? divided : schedule;
}

/// Where each SM has at most one workgroup of bytes, whose steps each begin
/// with a barrier, steps of two lines take less time than of one. Measured on
/// an H200: 128x4096x4096 in i8, with N along the rows of rhs, takes 14.9 us by
/// 64x64 in steps of 128, and 13.0 in steps of 256.
static ScheduleAttr lengthenStepOfBytes(ContractOp op, const Chip &chip,
                                        ScheduleAttr schedule) {
  constexpr int64_t byteBits = 8, line = 128, mostStages = 4, leastSteps = 8;
  MatrixForm form = getMatrixForm(op);
  ScheduleFields fields = schedule.getFields();
  auto [m, n, k] = getStaticExtents(op, form);
  int64_t matrices = getLinearExtent(op, form.batch);
  if (std::max(getOperandBits(op, 0), getOperandBits(op, 1)) != byteBits ||
      !op.getFactorType(0).isInteger() || !chip.model.schedules ||
      fields.subgroupsPerFragment > 1 || fields.k != line ||
      fields.splitK > 1 || fields.stages < 2 || !fields.swizzle ||
      fields.batches > 1 || op.reducesRows() || form.gather[0] ||
      form.gather[1] || isStoredTransposed(op, form, 1) ||
      llvm::any_of(std::array{m, n, k, matrices}, ShapedType::isDynamic) ||
      k < 2 * line * leastSteps)
    return schedule;
  auto count = [](int64_t extent, int64_t tile) -> int64_t {
    return llvm::divideCeil(extent, tile);
  };
  if (count(m, fields.workgroup[0]) * count(n, fields.workgroup[1]) * matrices >
      chip.processors)
    return schedule;
  fields.k = 2 * line;
  fields.stages = std::min(fields.stages, mostStages);
  auto longer = ScheduleAttr::get(op.getContext(), fields);
  return getScheduleProblems(op, longer, chip).empty() ? longer : schedule;
}

/// Divides the long tile of the schedule that the model chose, or, since the
/// model does not know the gain of divided tiles, that of the rules.
static ScheduleAttr divideChosenTile(ContractOp op, const Chip &chip,
                                     ScheduleAttr improved,
                                     ScheduleAttr rules) {
  ScheduleAttr divided = divideLongTile(op, chip, improved);
  if (divided != improved || improved == rules)
    return divided;
  ScheduleAttr dividedRules = divideLongTile(op, chip, rules);
  if (dividedRules == rules)
    return improved;
  constexpr double gain = 54.6 / 50.0;
  ScheduledMatmul matmul(op, chip);
  auto estimate = [&](ScheduleAttr schedule) {
    return estimateSchedule(matmul, schedule.getFields(), chip).time;
  };
  return estimate(improved) < estimate(rules) / gain ? improved : dividedRules;
}

ScheduleAttr mlir::tessera::getDefaultSchedule(ContractOp op, const Chip &chip,
                                               std::string *prediction,
                                               ScheduleRankings *rankings) {
  std::optional<ScheduleRankings> own;
  if (!rankings)
    rankings = &own.emplace();
  // The model was not fitted to tiles of few columns.
  if (ScheduleAttr schedule = getFewColumnsSchedule(op, chip))
    return schedule;
  // Nor was it fitted to groups of subgroups whose threads copy rows.
  if (ScheduleAttr schedule = getThreadCopiesSchedule(op, chip, *rankings))
    return schedule;
  std::string byRules;
  ScheduleAttr rules =
      getScheduleByRules(op, chip, prediction ? &byRules : nullptr);
  if (prediction)
    *prediction = byRules;
  ScheduleAttr improved =
      improveSchedule(op, chip, rules, prediction, *rankings);
  if (!improved)
    return improved;
  if (ScheduleAttr wave =
          getOneWaveSchedule(op, chip, improved, /*isExchanged=*/false)) {
    LDBG() << op.getLoc() << ": one wave: " << wave << " rather than "
           << improved;
    if (prediction)
      prediction->clear();
    return wave;
  }
  ScheduleAttr divided = divideChosenTile(op, chip, improved, rules);
  if (prediction && divided == divideLongTile(op, chip, rules))
    *prediction = byRules;
  return lengthenStepOfBytes(op, chip, divided);
}

bool mlir::tessera::canReduceRows(ContractOp op, const Chip &chip) {
  if (ScheduleAttr schedule = op.getScheduleAttr())
    return holdsRows(op, schedule);
  int64_t columns = getStaticExtents(op, getMatrixForm(op))[1];
  if (columns == 0 || columns > chip.policy.maxRow)
    return false;
  ScheduleAttr schedule = makeDefaultSchedule(op, chip, /*wantsRows=*/true);
  return holdsRows(op, schedule) &&
         getScheduleProblems(op, schedule, chip).empty();
}
