//===- RankSchedules.cpp - Schedules in the order of their times ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduling/RankSchedules.h"

#include "GroupTilings.h"
#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"
#include "Scheduling/ScheduleCorrection.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#define DEBUG_TYPE "tessera-choose-schedule"

STATISTIC(numRankedSchedules,
          "Number of schedules compared by estimated times");
STATISTIC(numFittedContractions,
          "Number of contractions whose schedules by single subgroups were "
          "compared");
STATISTIC(numCheckedSchedules, "Number of ranked schedules checked");

using namespace mlir;
using namespace mlir::tessera;

/// The bytes of a row of a step times the accumulators of a lane, beyond which
/// ptxas spills.
static constexpr int64_t bytesOfAccumulators = 8192;

/// The elements of a subgroup's tile in f64 up to which a step may be longer
/// than that by rules, if it is swizzled. Otherwise ptxas spilled in a third of
/// such schedules.
static constexpr int64_t mostOfLongSteps = 256, bytesOfDouble = 8;

/// The accesses of a lane in a step, which are unrolled, and those whose data
/// its registers hold.
static constexpr double mostAccesses = 24, mostHeldAccesses = 16;

/// Whether a producer widens the operand's elements, such as weights of few
/// bits, to which the model was not fitted.
static bool widensOperand(ContractOp op, unsigned side) {
  Value operand = side ? op.getRhs() : op.getLhs();
  return !op.getProducer(side).empty() &&
         getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth() <
             op.getFactorType(side).getIntOrFloatBitWidth();
}

bool mlir::tessera::canRankSchedules(ContractOp op, const Chip &chip) {
  MatrixForm form = getMatrixForm(op);
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  return chip.model.schedules && !op.reducesRows() && !widensOperand(op, 0) &&
         !widensOperand(op, 1) && !isPacked(op.getFactorType(0)) &&
         !isPacked(op.getFactorType(1)) &&
         op.getPrecision() != Precision::FastF8 &&
         llvm::all_of(extents,
                      [](int64_t extent) {
                        return !ShapedType::isDynamic(extent) && extent > 0;
                      }) &&
         llvm::all_of(form.batch,
                      [&](unsigned d) {
                        int64_t extent = getStaticExtent(op, d);
                        return !ShapedType::isDynamic(extent) && extent > 0;
                      }) &&
         hasMatrixMultiply(chip, op.getFactorType(0), op.getFactorType(1),
                           op.getAccumulatorType()) &&
         (!op.getFactorType(0).isF32() || op.getPrecision() == Precision::Tf32);
}

namespace {
/// Lists the schedules by single subgroups, with their work.
class SubgroupSchedules {
public:
  using Visit =
      llvm::function_ref<void(const ScheduleFields &, const ScheduleWork &)>;

  SubgroupSchedules(const ScheduledMatmul &matmul, const Chip &chip,
                    ScheduleAttr base, bool stagesOutput)
      : matmul(matmul), chip(chip), base(base.getFields()),
        stagesOutput(stagesOutput) {}

  void list(Visit visit);

private:
  /// Tiles along one dimension up to its extent.
  SmallVector<int64_t> getTiles(unsigned d) const;
  void listSteps(ScheduleFields fields, Visit visit) const;
  int64_t countUnits(const ScheduleFields &fields) const;
  bool isHeld() const { return matmul.isHeld[0] || matmul.isHeld[1]; }

  const ScheduledMatmul &matmul;
  const Chip &chip;
  ScheduleFields base;
  bool stagesOutput;
};
} // namespace

SmallVector<int64_t> SubgroupSchedules::getTiles(unsigned d) const {
  auto extent = static_cast<uint64_t>(matmul.extents[d]);
  auto most = static_cast<int64_t>(llvm::bit_ceil(extent));
  SmallVector<int64_t> tiles;
  for (int64_t tile = d == 0 ? 16 : 8; tile <= 256; tile *= 2)
    if (tile <= most || tiles.empty())
      tiles.push_back(tile);
  return tiles;
}

int64_t SubgroupSchedules::countUnits(const ScheduleFields &fields) const {
  int64_t count = static_cast<int64_t>(matmul.matrices);
  for (unsigned d : {0, 1})
    count *= llvm::divideCeil(static_cast<int64_t>(matmul.extents[d]),
                              fields.workgroup[d]);
  return count;
}

void SubgroupSchedules::listSteps(ScheduleFields fields, Visit visit) const {
  // The work of more workgroups than these is not worth dividing.
  constexpr int64_t mostRounds = 4;
  auto depth = static_cast<int64_t>(matmul.extents[2]);
  int64_t units = countUnits(fields), band = 8,
          rows = llvm::divideCeil(static_cast<int64_t>(matmul.extents[0]),
                                  fields.workgroup[0]);
  fields.raster =
      rows > band && units >= 4 * chip.processors * int64_t(matmul.matrices)
          ? band
          : 0;
  double bytes = double(fields.workgroup[0]) * matmul.operandBytes[0] +
                 double(fields.workgroup[1]) * matmul.operandBytes[1];
  // Rows of a step whose fragments leave room for the accumulators.
  auto operand = static_cast<int64_t>(
      std::max(matmul.operandBytes[0], matmul.operandBytes[1]));
  int64_t accumulators = fields.subgroup[0] * fields.subgroup[1] *
                         static_cast<int64_t>(matmul.sumBytes) / 4 /
                         chip.subgroupSize,
          longest = bytesOfAccumulators / std::max<int64_t>(accumulators, 1);
  bool mayLengthen =
      operand < bytesOfDouble ||
      (fields.swizzle &&
       fields.subgroup[0] * fields.subgroup[1] <= mostOfLongSteps);
  for (int64_t k : {base.k / 2, base.k, 2 * base.k, 4 * base.k}) {
    if (k < base.kFragment || k % base.kFragment ||
        (k > base.kFragment && k / 2 >= depth) ||
        (k > base.k && (k * operand > longest || !mayLengthen)))
      continue;
    fields.k = k;
    auto steps = static_cast<int64_t>(llvm::divideCeil(depth, k));
    for (int64_t parts : partsOfK) {
      if (parts > 1 &&
          (parts > steps || units * parts > mostRounds * chip.processors))
        break;
      fields.splitK = parts;
      fields.stageOutput = stagesOutput && parts == 1;
      std::optional<ScheduleWork> work;
      for (int64_t stages : {1, 2, 3, 4, 5, 6, 8}) {
        if ((stages > 1 && stages > int64_t(llvm::divideCeil(steps, parts))) ||
            double(stages * k) * bytes > double(chip.workgroupMemoryBytes) ||
            (isHeld() && stages > 2))
          break;
        // Copies that do not run ahead.
        if (stages == 1 && !isHeld() && llvm::divideCeil(steps, parts) > 1)
          continue;
        fields.stages = stages;
        if (work)
          changeStages(*work, matmul, fields, chip);
        else
          work = describeWork(matmul, fields, chip);
        if (work->accesses <= mostAccesses * work->threads &&
            work->heldAccesses <= mostHeldAccesses * work->threads)
          visit(fields, *work);
      }
    }
  }
}

void SubgroupSchedules::list(Visit visit) {
  // Accumulators of a subgroup, and subgroups of a workgroup.
  const int64_t most = 64 * 64 * 4 / int64_t(matmul.sumBytes),
                mostSubgroups = 8, fewElements = 32 * 32;
  ScheduleFields fields = base;
  fields.batches = fields.subgroupBatches = 1;
  fields.vthread = {1, 1};
  fields.interleave = 0;
  for (int64_t m : getTiles(0))
    for (int64_t n : getTiles(1))
      for (int64_t rows : {1, 2, 4, 8})
        for (int64_t columns : {1, 2, 4, 8}) {
          int64_t count = rows * columns, sm = m / rows, sn = n / columns;
          if (count > mostSubgroups || sm < 16 || sn < 8 || sm > 128 ||
              sn > 128 || sm * sn > most || sm > 8 * sn || sn > 8 * sm ||
              (count == 1 && m * n > fewElements))
            continue;
          fields.workgroup = {m, n};
          fields.subgroup = {sm, sn};
          listSteps(fields, visit);
        }
}

namespace {
/// Collects the schedules that take least time by the rates alone.
class FastestByRates {
public:
  explicit FastestByRates(size_t most) : most(most) {
    // Few contractions have more schedules.
    constexpr size_t expected = 16384;
    size_t room = std::min(most, expected / 2) * 2 + 2;
    fields.reserve(room);
    times.reserve(room);
  }

  void add(const ScheduleFields &schedule, double time);
  /// Ends the collection: the fastest schedules in the order in which they were
  /// added, so that those of one tile are neighbors.
  void finish() {
    if (fields.size() > most)
      dropSlowest();
  }

  std::vector<ScheduleFields> fields;

private:
  void dropSlowest();

  size_t most;
  std::vector<double> times;
  /// No schedule that takes as long is among the fastest, unless an earlier
  /// one.
  double limit = std::numeric_limits<double>::infinity();
};
} // namespace

void FastestByRates::add(const ScheduleFields &schedule, double time) {
  if (time >= limit)
    return;
  fields.push_back(schedule);
  times.push_back(time);
  if (fields.size() / 2 > most)
    dropSlowest();
}

void FastestByRates::dropSlowest() {
  std::vector<uint32_t> order(fields.size());
  std::iota(order.begin(), order.end(), 0);
  auto isFaster = [&](uint32_t a, uint32_t b) {
    return std::pair(times[a], a) < std::pair(times[b], b);
  };
  auto last = order.begin() + static_cast<ptrdiff_t>(most);
  std::nth_element(order.begin(), last, order.end(), isFaster);
  uint32_t first = *last;
  limit = times[first];
  size_t count = 0;
  for (uint32_t index = 0; index < order.size(); ++index)
    if (std::pair(times[index], index) < std::pair(limit, first)) {
      fields[count] = fields[index];
      times[count++] = times[index];
    }
  fields.resize(count);
  times.resize(count);
}

/// The schedules that trees of other fits refine at most.
static constexpr size_t mostRefined = 128;

/// Estimates the schedules that the first fit expects to be among the fastest
/// by all fits. `order` are all schedules by `times`. Returns whether there are
/// several fits.
static bool refineFastest(const ScheduledMatmul &matmul,
                          ArrayRef<ScheduleFields> schedules,
                          ArrayRef<uint32_t> order, const Chip &chip,
                          MutableArrayRef<double> times) {
  constexpr double slowest = 1.25;
  if (order.empty() || getRefinements(matmul, *chip.model.schedules).empty())
    return false;
  ArrayRef<uint32_t> fastest =
      order.take_front(mostRefined).take_while([&](uint32_t index) {
        return times[index] <= slowest * times[order[0]];
      });
  std::vector<ScheduleFields> fields;
  for (uint32_t index : fastest)
    fields.push_back(schedules[index]);
  std::vector<double> refined(fields.size());
  estimateSchedules(matmul, fields, chip, refined);
  for (auto [index, time] : llvm::zip_equal(fastest, refined))
    times[index] = time;
  return true;
}

namespace {
/// Schedules and their times by the first fit.
struct FittedSchedules {
  std::vector<ScheduleFields> fields;
  std::vector<double> times;
};
} // namespace

/// Adds the times of `schedules` by the first fit.
static FittedSchedules fitSchedules(const ScheduledMatmul &matmul,
                                    std::vector<ScheduleFields> schedules,
                                    const Chip &chip) {
  FittedSchedules fitted{std::move(schedules), {}};
  fitted.times.resize(fitted.fields.size());
  estimateSchedules(matmul, fitted.fields, chip, fitted.times,
                    /*isRefined=*/false);
  numRankedSchedules += fitted.fields.size();
  return fitted;
}

/// The schedules of `op` by single subgroups that the rates select.
static FittedSchedules fitBySubgroups(ContractOp op,
                                      const ScheduledMatmul &matmul,
                                      const Chip &chip, size_t most) {
  ++numFittedContractions;
  FastestByRates fastest(most);
  auto add = [&](const ScheduleFields &fields, const ScheduleWork &work) {
    fastest.add(fields, estimateNanoseconds(work, *chip.model.schedules));
  };
  ScheduleBuilder builder(op, chip, /*wantsRows=*/false,
                          /*wantsBlocks=*/false);
  if (ScheduleAttr base = builder.buildBySubgroups()) {
    add(base.getFields(), describeWork(matmul, base.getFields(), chip));
    // Several matrices in one workgroup are left as they are.
    if (base.getStages() > 0 && base.getBatches() == 1)
      SubgroupSchedules(matmul, chip, base, builder.wantsStagedOutput())
          .list(add);
  }
  fastest.finish();
  return fitSchedules(matmul, std::move(fastest.fields), chip);
}

/// The schedules of `op` by groups of subgroups.
static std::vector<ScheduleFields> listByGroups(ContractOp op,
                                                const Chip &chip) {
  std::vector<ScheduleFields> schedules;
  forEachGroupSchedule(op, chip, [&](ScheduleAttr schedule) {
    schedules.push_back(schedule.getFields());
  });
  return schedules;
}

/// Sorts the indices of `times`.
static void sortByTime(ArrayRef<double> times, std::vector<uint32_t> &order) {
  llvm::stable_sort(
      order, [&](uint32_t a, uint32_t b) { return times[a] < times[b]; });
}

/// The indices of `times` in their order.
static std::vector<uint32_t> getOrder(ArrayRef<double> times) {
  std::vector<uint32_t> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  sortByTime(times, order);
  return order;
}

/// The schedules of both kinds by their times by all fits.
static std::vector<RankedSchedule> rankFitted(const ScheduledMatmul &matmul,
                                              FittedSchedules bySubgroups,
                                              const FittedSchedules &byGroups,
                                              const Chip &chip) {
  std::vector<ScheduleFields> &schedules = bySubgroups.fields;
  std::vector<double> &times = bySubgroups.times;
  llvm::append_range(schedules, byGroups.fields);
  llvm::append_range(times, byGroups.times);
  std::vector<uint32_t> order = getOrder(times);
  if (refineFastest(matmul, schedules, order, chip, times))
    sortByTime(times, order);
  std::vector<RankedSchedule> ranked;
  ranked.reserve(order.size());
  for (uint32_t index : order)
    ranked.push_back({schedules[index], times[index]});
  return ranked;
}

std::vector<RankedSchedule>
mlir::tessera::rankSchedules(ContractOp op, ContractOp packed, const Chip &chip,
                             size_t mostBySubgroups) {
  ScheduledMatmul matmul(op, chip);
  FittedSchedules byGroups =
      fitSchedules(matmul, listByGroups(packed, chip), chip);
  return rankFitted(matmul, fitBySubgroups(op, matmul, chip, mostBySubgroups),
                    byGroups, chip);
}

//===----------------------------------------------------------------------===//
// Rankings that passes share
//===----------------------------------------------------------------------===//

struct ScheduleRankings::Contraction {
  /// A copy of the op.
  OwningOpRef<ContractOp> op;
  const Chip *chip;
  /// The fastest schedules by single subgroups, in their order. A ranking needs
  /// those that trees may refine, and as many as it has of a kind after them.
  std::optional<FittedSchedules> bySubgroups;
  std::optional<std::vector<ScheduleFields>> byGroups;
};

ScheduleRankings::ScheduleRankings() = default;
ScheduleRankings::ScheduleRankings(Operation *) {}
ScheduleRankings::~ScheduleRankings() = default;

size_t ScheduleRankings::getIndex(ContractOp op, const Chip &chip) {
  auto ignoreValues = [](Value, Value) { return success(); };
  auto known = llvm::find_if(contractions, [&](const auto &other) {
    return other->chip == &chip &&
           OperationEquivalence::isEquivalentTo(
               other->op.get(), op, ignoreValues, /*markEquivalent=*/nullptr,
               OperationEquivalence::IgnoreLocations);
  });
  auto index = static_cast<size_t>(known - contractions.begin());
  if (known != contractions.end())
    return index;
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  IRMapping arguments;
  for (Value value : used)
    arguments.map(value, operands.addArgument(value.getType(), op.getLoc()));
  contractions.push_back(std::make_unique<Contraction>(
      Contraction{cast<ContractOp>(op->clone(arguments)), &chip, {}, {}}));
  return index;
}

/// Drops all but the `most` fastest schedules, and sorts these.
static FittedSchedules takeFastest(size_t most, const FittedSchedules &from) {
  std::vector<uint32_t> order = getOrder(from.times);
  FittedSchedules fastest;
  for (uint32_t index : ArrayRef(order).take_front(most)) {
    fastest.fields.push_back(from.fields[index]);
    fastest.times.push_back(from.times[index]);
  }
  return fastest;
}

ArrayRef<RankedSchedule>
ScheduleRankings::rank(ContractOp op, ContractOp packed, const Chip &chip) {
  size_t ofOp = getIndex(op, chip), ofPacked = getIndex(packed, chip);
  auto known = llvm::find_if(rankings, [&](const Ranking &other) {
    return other.op == ofOp && other.packed == ofPacked;
  });
  if (known != rankings.end())
    return known->schedules;
  ScheduledMatmul matmul(op, chip);
  auto &bySubgroups = contractions[ofOp]->bySubgroups;
  if (!bySubgroups)
    bySubgroups =
        takeFastest(mostRefined + mostOfKind,
                    fitBySubgroups(op, matmul, chip, mostComparedBySubgroups));
  auto &byGroups = contractions[ofPacked]->byGroups;
  if (!byGroups)
    byGroups = listByGroups(packed, chip);
  Ranking &ranking = rankings.emplace_back(Ranking{ofOp, ofPacked, {}});
  std::array<size_t, 2> counts{0, 0};
  for (const RankedSchedule &one : rankFitted(
           matmul, *bySubgroups, fitSchedules(matmul, *byGroups, chip), chip))
    if (counts[one.fields.subgroupsPerFragment > 1]++ < mostOfKind)
      ranking.schedules.push_back(one);
  return ranking.schedules;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Whether the model was fitted to contractions like this one: it was to all of
/// 16 bits, to plain matmuls of all types, and to epilogues with operands of
/// integers of 8 bits, for whose images rules chose better.
static bool isFitted(const ScheduledMatmul &matmul) {
  bool hasProducer = matmul.producerOps[0] > 0 || matmul.producerOps[1] > 0;
  return matmul.isPlain() || matmul.rate == MatmulRate::Half ||
         (matmul.rate == MatmulRate::Integer8 && !matmul.isGathered &&
          !hasProducer);
}

ScheduleAttr mlir::tessera::improveSchedule(ContractOp op, const Chip &chip,
                                            ScheduleAttr base,
                                            std::string *prediction,
                                            ScheduleRankings &rankings) {
  if (!base || base.getBatches() > 1 || !canRankSchedules(op, chip))
    return base;
  const ScheduleRates &rates = *chip.model.schedules;
  ScheduledMatmul matmul(op, chip);
  if (!isFitted(matmul))
    return base;
  double margin = rates.margins[size_t(matmul.rate)];
  if (margin == 0)
    return base;
  ScheduleEstimate ofBase = estimateSchedule(matmul, base.getFields(), chip);
  if (ofBase.time > rates.longest)
    return base;
  size_t checked = 0;
  ScheduleChecker checker(op, chip);
  for (const RankedSchedule &one : rankings.rank(op, chip)) {
    if (one.time * margin >= ofBase.time ||
        checked++ == ScheduleRankings::mostOfKind)
      break;
    ++numCheckedSchedules;
    auto schedule = ScheduleAttr::get(op.getContext(), one.fields);
    if (!checker.isLegal(schedule))
      continue;
    LDBG() << op.getLoc() << ": by the model, " << one.time
           << " ns: " << schedule << " rather than " << ofBase.time
           << " ns: " << base;
    if (prediction) {
      constexpr double nsOfUs = 1000;
      StringRef limit = estimateSchedule(matmul, one.fields, chip).limit;
      prediction->clear();
      llvm::raw_string_ostream(*prediction)
          << llvm::format("%.1f us, limited by ", one.time / nsOfUs) << limit
          << llvm::format("; by rules, %.1f us: ", ofBase.time / nsOfUs)
          << base;
    }
    return schedule;
  }
  return base;
}
