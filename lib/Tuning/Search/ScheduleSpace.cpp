//===- ScheduleSpace.cpp - The schedules that a task may have -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/ScheduleSpace.h"

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/AttentionSchedule.h"
#include "Scheduling/TuningTask.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

using Entry = ScheduleEntry;
using Pair = std::array<int64_t, 2>;

std::string tuning::spellPoint(const ScheduleNumbers &point) {
  std::string text;
  for (size_t i = 0; i < ScheduleNumbers::size; ++i)
    text += std::to_string(point[static_cast<Entry>(i)]) + ",";
  return text;
}

static Operation *findTask(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (!found && isTuningTask(op))
      found = op;
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

double SpaceValues::countPoints() const {
  double count = 1;
  for (size_t size :
       {workgroup.size(), subgroup.size(), vthread.size(), cluster.size(),
        k.size(), kFragment.size(), stages.size(), interleave.size(),
        swizzle.size(), splitK.size(), splitKReduction.size(), raster.size(),
        persistent.size(), group.size(), stageOutput.size(), batches.size(),
        subgroupBatches.size()})
    count *= static_cast<double>(size);
  return count;
}

/// M, N and K of a task, 1 for what it does not have, and its matrices.
static std::pair<std::array<int64_t, 3>, int64_t> getExtents(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    int64_t batch = 1;
    for (unsigned dim = 0; dim < attention.getNumBatchDims(); ++dim)
      batch *= attention.getStaticExtent(dim);
    return {{attention.getStaticExtent(AttentionOp::M),
             attention.getStaticExtent(AttentionOp::N),
             attention.getStaticExtent(AttentionOp::D)},
            batch};
  }
  auto contract = cast<ContractOp>(op);
  MatrixForm form = getMatrixForm(contract);
  return {getStaticExtents(contract, form),
          getLinearExtent(contract, form.batch)};
}

/// Sorted, each once.
static std::vector<int64_t> sorted(std::vector<int64_t> list) {
  llvm::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

/// Tiles along one dimension: those that are no larger than the smallest power
/// of two above the extent, or the smallest of all.
static std::vector<int64_t> getTiles(ArrayRef<int64_t> all, int64_t extent) {
  std::vector<int64_t> tiles;
  int64_t most =
      static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(extent)));
  for (int64_t tile : all)
    if (tile <= most || tiles.empty())
      tiles.push_back(tile);
  return tiles;
}

/// The values of one default schedule, so that it is in the space.
static void include(SpaceValues &values, ScheduleAttr schedule) {
  auto addPair = [](std::vector<Pair> &list, ArrayRef<int64_t> value) {
    Pair pair = {value[0], value[1]};
    if (!llvm::is_contained(list, pair))
      list.push_back(pair);
  };
  auto add = [](std::vector<int64_t> &list, int64_t value) {
    if (!llvm::is_contained(list, value))
      list.push_back(value);
  };
  addPair(values.workgroup, schedule.getWorkgroup());
  addPair(values.subgroup, schedule.getSubgroup());
  addPair(values.vthread, schedule.getVthread());
  addPair(values.cluster, {schedule.getClusterM(), schedule.getClusterN()});
  add(values.k, schedule.getK());
  add(values.kFragment, schedule.getKFragment());
  add(values.stages, schedule.getStages());
  add(values.interleave, schedule.getInterleave());
  add(values.swizzle, schedule.getSwizzle());
  add(values.splitK, schedule.getSplitK());
  add(values.splitKReduction,
      static_cast<int64_t>(schedule.getSplitKReduction()));
  add(values.raster, schedule.getRaster());
  add(values.persistent, schedule.getPersistent());
  add(values.group, schedule.getGroup());
  add(values.stageOutput, schedule.getStageOutput());
  add(values.batches, schedule.getBatches());
  add(values.subgroupBatches, schedule.getSubgroupBatches());
}

static SpaceValues getAttentionValues(AttentionOp op, const Chip &chip) {
  SpaceValues values;
  auto [extents, matrices] = getExtents(op);
  for (int64_t queries : getTiles({16, 32, 64, 128, 192, 256}, extents[0]))
    for (int64_t keys :
         getTiles({16, 32, 48, 64, 96, 128, 192, 256}, extents[1]))
      values.workgroup.push_back({queries, keys});
  values.subgroup = values.workgroup;
  for (int64_t keys : getTiles({16, 32, 48, 64, 96, 128, 192, 256}, extents[1]))
    if (!llvm::is_contained(values.subgroup, Pair{16, keys}))
      values.subgroup.push_back({16, keys});
  values.vthread = {{1, 1}};
  values.cluster = {{1, 1}};
  values.k = {extents[2]};
  for (int64_t step : {8, 16, 32, 64})
    if (extents[2] % step == 0)
      values.kFragment.push_back(step);
  values.stages = {0, 1, 2, 3, 4};
  values.interleave = {0};
  values.swizzle = {0, 1};
  values.splitK = {1};
  values.splitKReduction = {0};
  values.raster = {0};
  values.persistent = {0};
  values.group = {1};
  for (const MatrixInstruction &row : chip.instructions)
    values.group.push_back(row.subgroups);
  values.group = sorted(values.group);
  values.stageOutput = {0};
  values.batches = values.subgroupBatches = {1};
  if (ScheduleAttr schedule = getDefaultSchedule(op, chip))
    include(values, schedule);
  return values;
}

SpaceValues tuning::getDefaultValues(Operation *task, const Chip &chip) {
  if (auto attention = dyn_cast<AttentionOp>(task))
    return getAttentionValues(attention, chip);
  auto op = cast<ContractOp>(task);
  MatrixForm form = getMatrixForm(op);
  auto [extents, matrices] = getExtents(op);
  SpaceValues values;
  values.group = {1};
  std::vector<int64_t> steps;
  int64_t bits = 0;
  for (unsigned side : {0, 1})
    bits = std::max(bits, getElementBits(op.getProductType(side)));
  for (const MatrixInstruction &row : chip.instructions)
    values.group.push_back(row.subgroups);
  values.group = sorted(values.group);
  values.group.erase(
      std::remove_if(
          values.group.begin(), values.group.end(),
          [&](int64_t group) {
            return getPermittedInstructions(op, form, chip, group).empty();
          }),
      values.group.end());
  int64_t leastM = 16, leastN = 16;
  for (int64_t group : values.group)
    for (const MatrixInstruction *row :
         getPermittedInstructions(op, form, chip, group)) {
      steps.push_back(row->k);
      leastM = std::min(leastM, row->m);
      leastN = std::min(leastN, row->n);
    }
  bool isMatrix =
      hasMatrixProduct(chip, op.getProductType(0), op.getProductType(1),
                       op.getAccumulatorType());
  std::vector<int64_t> all = {16, 32, 64, 96, 128, 192, 256};
  if (leastM < 16 || leastN < 16)
    all.insert(all.begin(), 8);
  // Plain FMAs take small tiles of a thread.
  if (!isMatrix)
    all = {4, 8, 16, 32, 64, 128};
  for (int64_t m : getTiles(all, extents[0]))
    for (int64_t n : getTiles(all, extents[1]))
      values.workgroup.push_back({m, n});
  values.subgroup = values.workgroup;
  values.vthread = {{1, 1}};
  values.cluster = {{1, 1}};
  if (chip.clusterWorkgroups > 1 && chip.bulkCopies) {
    values.cluster.push_back({2, 1});
    values.cluster.push_back({1, 2});
  }
  for (int64_t bytes : {16, 32, 64, 128, 256})
    values.k.push_back(bytes * 8 / bits);
  for (int64_t step : sorted(steps))
    for (int64_t times : {1, 2, 4})
      values.kFragment.push_back(step * times);
  values.kFragment = sorted(values.kFragment);
  values.stages = {0, 1};
  if (chip.asyncCopy)
    values.stages = {0, 1, 2, 3, 4, 5, 6, 8};
  else if (chip.hasLanes())
    values.stages = {0, 1, 2};
  values.interleave = {0};
  values.swizzle = {0, 1};
  int64_t parts = std::max<int64_t>(1, extents[2] / (4 * values.k.front()));
  for (int64_t part : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32})
    if (part == 1 || part <= parts)
      values.splitK.push_back(part);
  // Added up in a fixed order only: what is atomic is for those who ask for it.
  values.splitKReduction = {static_cast<int64_t>(SplitReduction::Ordered)};
  if (chip.clusterWorkgroups > 1)
    values.splitKReduction.push_back(
        static_cast<int64_t>(SplitReduction::Cluster));
  values.raster = {0, 4, 8, 16, 32};
  values.persistent = {0};
  if (chip.processors)
    values.persistent.insert(values.persistent.end(),
                             {chip.processors, 2 * chip.processors});
  values.stageOutput = {0, 1};
  values.batches = values.subgroupBatches = {1};
  if (matrices > 1)
    for (int64_t count : {2, 4, 8, 16, 32})
      if (count <= matrices) {
        values.batches.push_back(count);
        values.subgroupBatches.push_back(count);
      }
  ScheduleAttr schedule = getDefaultSchedule(op, chip);
  if (schedule)
    include(values, schedule);
  return values;
}

//===----------------------------------------------------------------------===//
// Legal points
//===----------------------------------------------------------------------===//

ScheduleSpace::ScheduleSpace(ModuleOp task, const Chip &chip,
                             SpaceValues values, bool isEnumerated)
    : task(task), op(findTask(task)), chip(chip), values(std::move(values)) {
  std::tie(extents, matrices) = getExtents(op);
  if (isa<ContractOp>(op) && !chip.policy.groupDefaults.empty()) {
    repacked = OwningOpRef<ModuleOp>(task.clone());
    PassManager pm(task.getContext());
    TesseraRepackOperandsOptions options;
    options.target = chip.target;
    options.chip = chip.name;
    pm.addNestedPass<func::FuncOp>(createTesseraRepackOperands(options));
    if (succeeded(pm.run(*repacked)))
      repackedOp = findTask(*repacked);
  }
  if (isEnumerated)
    enumerateCores();
}

ScheduleSpace::~ScheduleSpace() = default;

std::string ScheduleSpace::explain(ScheduleAttr schedule) const {
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    std::string why = explainSchedule(attention, schedule, chip);
    return StringRef(why).split(':').first.str();
  }
  auto explainFor = [&](Operation *which) -> std::string {
    auto problems =
        getScheduleProblems(cast<ContractOp>(which), schedule, chip);
    return problems.empty() ? "" : problems.front().label;
  };
  std::string why = explainFor(op);
  // Such a schedule has operands copied.
  if (!why.empty() && repackedOp && schedule.getGroup() > 1 &&
      schedule.getSwizzle())
    return explainFor(repackedOp);
  return why;
}

/// Another spelling of a point that is in the space as well, or a waste that no
/// time could speak for.
static std::string explainWaste(const ScheduleNumbers &point,
                                const std::array<int64_t, 3> &extents,
                                int64_t matrices, bool isAttention) {
  if (point[Entry::SplitK] == 1 && point[Entry::SplitKReduction] != 0)
    return "same as another: nothing is added up";
  if (point[Entry::Interleave] != 0 &&
      point[Entry::VThreadM] * point[Entry::VThreadN] == 1)
    return "same as another: one virtual thread";
  if (isAttention)
    return "";
  int64_t m = llvm::divideCeilSigned(extents[0], point[Entry::WorkgroupM]),
          n = llvm::divideCeilSigned(extents[1], point[Entry::WorkgroupN]);
  int64_t tiles = m * n *
                  llvm::divideCeilSigned(matrices, point[Entry::Batches]) *
                  point[Entry::SplitK];
  if (point[Entry::Raster] >= m && point[Entry::Raster] != 0)
    return "same as another: one band has all tiles";
  if (point[Entry::Persistent] >= tiles && point[Entry::Persistent] != 0)
    return "same as another: a workgroup for each tile";
  int64_t steps = llvm::divideCeilSigned(extents[2], point[Entry::K]);
  if (point[Entry::Stages] >
          llvm::divideCeilSigned(steps, point[Entry::SplitK]) &&
      point[Entry::Stages] > 1 && point[Entry::Persistent] == 0)
    return "more stages than steps";
  return "";
}

bool ScheduleSpace::isLegal(const Point &point, std::string *why) const {
  // Decided by few, and asked often.
  Point key = point;
  if (point[Entry::ClusterM] * point[Entry::ClusterN] == 1)
    key[Entry::Raster] = 0;
  std::string problem =
      explainWaste(point, extents, matrices, isa<AttentionOp>(op));
  if (problem.empty()) {
    auto [place, isNew] = known.try_emplace(spellPoint(key));
    if (isNew) {
      ScheduleAttr schedule = key.getAttr(op->getContext());
      place->second = schedule ? explain(schedule) : "schedule_c1 to c6";
    }
    problem = place->second;
  }
  if (why)
    *why = problem;
  return problem.empty();
}

void ScheduleSpace::removeCores(StringRef why, double count) {
  removedCores[why.str()] += count;
}

void ScheduleSpace::enumerateCores() {
  MLIRContext *context = op->getContext();
  auto size = [](const auto &list) { return static_cast<double>(list.size()); };
  // Combinations of what is chosen later.
  double perStages = size(values.swizzle),
         perK = perStages * size(values.stages), perFragment = perK,
         perTile = perFragment * size(values.k) * size(values.kFragment),
         perSubgroup = perTile * size(values.vthread);
  auto contract = dyn_cast<ContractOp>(op);
  Point start(ScheduleAttr::get(context, {1, 1}, {1, 1}, 1, 1, 0, {1, 1}, 0,
                                false, 1, SplitReduction::Ordered, 0, 0, 1,
                                false, 1, 1, 1, 1));
  for (int64_t group : values.group) {
    SmallVector<const MatrixInstruction *> rows;
    if (contract)
      rows = getPermittedInstructions(contract, getMatrixForm(contract), chip,
                                      group);
    Point point = start;
    point[Entry::Group] = group;
    for (Pair workgroup : values.workgroup)
      for (Pair subgroup : values.subgroup) {
        if (workgroup[0] % subgroup[0] || workgroup[1] % subgroup[1]) {
          removeCores("schedule_c2", perSubgroup);
          continue;
        }
        int64_t subgroups =
            workgroup[0] / subgroup[0] * workgroup[1] / subgroup[1] * group;
        if (subgroups * chip.subgroupSize > chip.maxThreads) {
          removeCores("schedule_c8", perSubgroup);
          continue;
        }
        std::tie(point[Entry::WorkgroupM], point[Entry::WorkgroupN]) =
            std::tie(workgroup[0], workgroup[1]);
        std::tie(point[Entry::SubgroupM], point[Entry::SubgroupN]) =
            std::tie(subgroup[0], subgroup[1]);
        for (Pair vthread : values.vthread) {
          if (subgroup[0] % vthread[0] || subgroup[1] % vthread[1]) {
            removeCores("schedule_c3", perTile);
            continue;
          }
          std::tie(point[Entry::VThreadM], point[Entry::VThreadN]) =
              std::tie(vthread[0], vthread[1]);
          for (int64_t k : values.k)
            for (int64_t fragment : values.kFragment) {
              if (k % fragment) {
                removeCores("schedule_c4", perFragment);
                continue;
              }
              if (contract && llvm::none_of(rows, [&](const auto *row) {
                    return subgroup[0] / vthread[0] % row->m == 0 &&
                           subgroup[1] / vthread[1] % row->n == 0 &&
                           fragment % row->k == 0;
                  })) {
                removeCores("schedule_c7", perFragment);
                continue;
              }
              point[Entry::K] = k;
              point[Entry::KFragment] = fragment;
              for (int64_t stages : values.stages)
                for (int64_t swizzle : values.swizzle) {
                  point[Entry::Stages] = stages;
                  point[Entry::Swizzle] = swizzle;
                  std::string why;
                  if (stages == 0 && swizzle)
                    removeCores("schedule_c6", 1);
                  else if (isLegal(point, &why))
                    cores.push_back(point);
                  else
                    removeCores(why, 1);
                }
            }
        }
      }
  }
}

double ScheduleSpace::countOptions() const {
  double count = 1;
  for (size_t size :
       {values.cluster.size(), values.interleave.size(), values.splitK.size(),
        values.splitKReduction.size(), values.raster.size(),
        values.persistent.size(), values.stageOutput.size(),
        values.batches.size(), values.subgroupBatches.size()})
    count *= static_cast<double>(size);
  return count;
}

/// Calls `visit` for each combination of options, until it gives false.
static bool forEachOptions(const SpaceValues &values, ScheduleNumbers point,
                           llvm::function_ref<bool(ScheduleNumbers &)> visit) {
  for (int64_t splitK : values.splitK)
    for (int64_t reduction : values.splitKReduction)
      for (int64_t stageOutput : values.stageOutput)
        for (Pair cluster : values.cluster)
          for (int64_t batches : values.batches)
            for (int64_t perSubgroup : values.subgroupBatches)
              for (int64_t interleave : values.interleave)
                for (int64_t persistent : values.persistent)
                  for (int64_t raster : values.raster) {
                    point[Entry::SplitK] = splitK;
                    point[Entry::SplitKReduction] = reduction;
                    point[Entry::StageOutput] = stageOutput;
                    point[Entry::ClusterM] = cluster[0];
                    point[Entry::ClusterN] = cluster[1];
                    point[Entry::Batches] = batches;
                    point[Entry::SubgroupBatches] = perSubgroup;
                    point[Entry::Interleave] = interleave;
                    point[Entry::Persistent] = persistent;
                    point[Entry::Raster] = raster;
                    if (!visit(point))
                      return false;
                  }
  return true;
}

void ScheduleSpace::expand(
    const Point &core, size_t limit,
    llvm::function_ref<void(const Point &)> visit) const {
  forEachOptions(values, core, [&](Point &point) {
    if (isLegal(point)) {
      visit(point);
      --limit;
    }
    return limit > 0;
  });
}

ScheduleSpace::Count ScheduleSpace::count(size_t limit,
                                          std::mt19937_64 &random) const {
  Count result;
  double options = countOptions();
  result.all = values.countPoints();
  for (const auto &[why, cores] : removedCores)
    result.removed[why] += cores * options;
  size_t sample = cores.size();
  if (static_cast<double>(cores.size()) * options >
      static_cast<double>(limit)) {
    sample = std::max<size_t>(
        1, static_cast<size_t>(static_cast<double>(limit) / options));
    result.isEstimate = sample < cores.size();
    sample = std::min(sample, cores.size());
  }
  std::vector<size_t> order(cores.size());
  std::iota(order.begin(), order.end(), 0);
  if (result.isEstimate)
    std::shuffle(order.begin(), order.end(), random);
  double weight = sample == 0 ? 0
                              : static_cast<double>(cores.size()) /
                                    static_cast<double>(sample);
  for (size_t index : ArrayRef(order).take_front(sample))
    forEachOptions(values, cores[index], [&](Point &point) {
      std::string why;
      if (isLegal(point, &why))
        result.legal += weight;
      else
        result.removed[why] += weight;
      return true;
    });
  return result;
}

//===----------------------------------------------------------------------===//
// Points at random
//===----------------------------------------------------------------------===//

template <typename T>
static const T &pick(const std::vector<T> &list, std::mt19937_64 &random) {
  return list[random() % list.size()];
}

static bool toss(double probability, std::mt19937_64 &random) {
  return std::uniform_real_distribution<>(0, 1)(random) < probability;
}

/// Options at random, most of which are as in `core`.
static void drawOptions(const SpaceValues &values, ScheduleNumbers &point,
                        double change, std::mt19937_64 &random) {
  auto draw = [&](Entry entry, const std::vector<int64_t> &list) {
    if (toss(change, random))
      point[entry] = pick(list, random);
  };
  draw(Entry::SplitK, values.splitK);
  draw(Entry::SplitKReduction, values.splitKReduction);
  draw(Entry::StageOutput, values.stageOutput);
  draw(Entry::Batches, values.batches);
  draw(Entry::SubgroupBatches, values.subgroupBatches);
  draw(Entry::Interleave, values.interleave);
  draw(Entry::Persistent, values.persistent);
  draw(Entry::Raster, values.raster);
  if (toss(change, random)) {
    Pair cluster = pick(values.cluster, random);
    point[Entry::ClusterM] = cluster[0];
    point[Entry::ClusterN] = cluster[1];
  }
}

ScheduleNumbers ScheduleSpace::withOptions(const Point &core,
                                           std::mt19937_64 &random) const {
  for (int tries = 0; tries < 32; ++tries) {
    Point point = core;
    drawOptions(values, point, 0.4, random);
    if (isLegal(point))
      return point;
  }
  return core;
}

ScheduleNumbers ScheduleSpace::draw(std::mt19937_64 &random) const {
  return withOptions(pick(cores, random), random);
}

/// A value next to the one that a list is at, in its order.
template <typename T>
static T step(const std::vector<T> &list, const T &now,
              std::mt19937_64 &random) {
  auto place = llvm::find(list, now);
  if (place == list.end() || list.size() == 1 || toss(0.3, random))
    return pick(list, random);
  bool isUp = toss(0.5, random);
  if (isUp ? place + 1 == list.end() : place == list.begin())
    isUp = !isUp;
  return isUp ? *(place + 1) : *(place - 1);
}

ScheduleNumbers ScheduleSpace::mutate(const Point &from,
                                      std::mt19937_64 &random) const {
  for (int tries = 0; tries < 200; ++tries) {
    Point point = from;
    auto number = [&](Entry entry, const std::vector<int64_t> &list) {
      point[entry] = step(list, point[entry], random);
    };
    auto pair = [&](Entry m, Entry n, const std::vector<Pair> &list) {
      Pair value = toss(0.5, random)
                       ? step(list, Pair{point[m], point[n]}, random)
                       : pick(list, random);
      point[m] = value[0];
      point[n] = value[1];
    };
    int changes = 1 + static_cast<int>(random() % 3);
    for (int change = 0; change < changes; ++change)
      switch (random() % 12) {
      case 0:
        pair(Entry::WorkgroupM, Entry::WorkgroupN, values.workgroup);
        break;
      case 1:
        pair(Entry::SubgroupM, Entry::SubgroupN, values.subgroup);
        break;
      case 2: // Both, in proportion.
        pair(Entry::WorkgroupM, Entry::WorkgroupN, values.workgroup);
        pair(Entry::SubgroupM, Entry::SubgroupN, values.subgroup);
        break;
      case 3:
        number(Entry::K, values.k);
        if (toss(0.3, random))
          number(Entry::KFragment, values.kFragment);
        break;
      case 4:
        number(Entry::KFragment, values.kFragment);
        break;
      case 5:
        number(Entry::Stages, values.stages);
        break;
      case 6:
        number(Entry::Swizzle, values.swizzle);
        if (toss(0.5, random))
          number(Entry::Group, values.group);
        break;
      case 7:
        pair(Entry::VThreadM, Entry::VThreadN, values.vthread);
        number(Entry::Interleave, values.interleave);
        break;
      case 8:
        number(Entry::SplitK, values.splitK);
        number(Entry::SplitKReduction, values.splitKReduction);
        break;
      case 9:
        number(Entry::Raster, values.raster);
        number(Entry::Persistent, values.persistent);
        break;
      case 10:
        number(Entry::StageOutput, values.stageOutput);
        if (toss(0.5, random))
          pair(Entry::ClusterM, Entry::ClusterN, values.cluster);
        break;
      default:
        number(Entry::Batches, values.batches);
        number(Entry::SubgroupBatches, values.subgroupBatches);
        break;
      }
    if (spellPoint(point) != spellPoint(from) && isLegal(point))
      return point;
  }
  return draw(random);
}

ScheduleNumbers ScheduleSpace::cross(const Point &a, const Point &b,
                                     std::mt19937_64 &random) const {
  for (int tries = 0; tries < 50; ++tries) {
    Point point = a;
    for (size_t i = 0; i < Point::size; ++i)
      if (toss(0.5, random))
        point[static_cast<Entry>(i)] = b[static_cast<Entry>(i)];
    if (isLegal(point))
      return point;
  }
  return a;
}
