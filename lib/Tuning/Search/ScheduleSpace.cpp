//===- ScheduleSpace.cpp - The schedules that a task may have -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/ScheduleSpace.h"

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
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

using Field = ScheduleField;
using Pair = std::array<int64_t, 2>;

std::string tuning::formatPoint(const ScheduleNumbers &point) {
  std::string text;
  for (size_t i = 0; i < ScheduleNumbers::size; ++i)
    text += std::to_string(point[static_cast<Field>(i)]) + ",";
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

/// The values of all fields, in their order.
static std::vector<FieldValues> getFieldLists(const SpaceValues &values) {
  std::vector<FieldValues> lists;
  forEachScheduleField(
      [&](const ScheduleFieldInfo &info, const auto &list) {
        FieldValues &all = lists.emplace_back();
        all.info = &info;
        for (const auto &value : list)
          if constexpr (std::is_same_v<decltype(value), const Pair &>)
            all.values.push_back(value);
          else
            all.values.push_back({value, 0});
      },
      values);
  return lists;
}

Pair FieldValues::get(const ScheduleNumbers &point) const {
  return {point[info->number], info->isPair() ? point[info->getSecond()] : 0};
}

void FieldValues::set(ScheduleNumbers &point, Pair value) const {
  point[info->number] = value[0];
  if (info->isPair())
    point[info->getSecond()] = value[1];
}

/// The number of combinations of these.
static double countCombinations(ArrayRef<FieldValues> lists) {
  double count = 1;
  for (const FieldValues &list : lists)
    count *= static_cast<double>(list.values.size());
  return count;
}

double SpaceValues::countPoints() const {
  return countCombinations(getFieldLists(*this));
}

/// Gives the fields that have no values their default one.
static void addMissing(SpaceValues &values) {
  forEachScheduleField(
      [](const ScheduleFieldInfo &info, auto &list) {
        if (!list.empty())
          return;
        if constexpr (std::is_same_v<decltype(list), std::vector<Pair> &>)
          list.push_back({info.defaultValue, info.defaultValue});
        else
          list.push_back(info.defaultValue);
      },
      values);
}

/// M, N and K of a task, 1 for what it does not have, and its matrices.
static std::pair<std::array<int64_t, 3>, int64_t> getExtents(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    // Folded dimensions count as rows of a tile, not as matrices.
    int64_t batch = 1;
    unsigned numBatch = attention.getNumBatchDims();
    for (unsigned dim = 0; dim < numBatch - countFoldedDims(attention); ++dim)
      batch *= attention.getStaticExtent(dim);
    return {{getRowExtent(attention), attention.getStaticExtent(AttentionOp::N),
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

/// Adds the values of a default schedule, so that it is in the space.
static void include(SpaceValues &values, ScheduleAttr schedule) {
  forEachScheduleField(
      [](const ScheduleFieldInfo &, auto &list, const auto &field) {
        auto value =
            static_cast<typename std::decay_t<decltype(list)>::value_type>(
                field);
        if (!llvm::is_contained(list, value))
          list.push_back(value);
      },
      values, schedule.getFields());
}

/// The numbers of subgroups that own a fragment of any instruction.
static std::vector<int64_t> getGroups(const Chip &chip) {
  std::vector<int64_t> groups = {1};
  for (const MatrixInstruction &row : chip.instructions)
    groups.push_back(row.subgroups);
  return sorted(std::move(groups));
}

static SpaceValues getAttentionValues(AttentionOp op, const Chip &chip) {
  SpaceValues values;
  auto [extents, matrices] = getExtents(op);
  // Groups of subgroups have 64 rows, even if there are fewer queries.
  int64_t rows = extents[0],
          leastRows = chip.policy.attentionDefaults.groups > 1 ? 64 : 1;
  std::vector<int64_t> ofKeys =
      getTiles({16, 32, 48, 64, 80, 96, 128, 160, 192, 256}, extents[1]);
  for (int64_t queries :
       getTiles({16, 32, 64, 128, 192, 256}, std::max(rows, leastRows)))
    for (int64_t keys : ofKeys)
      values.workgroup.push_back({queries, keys});
  values.subgroup = values.workgroup;
  for (int64_t keys : ofKeys)
    if (!llvm::is_contained(values.subgroup, Pair{16, keys}))
      values.subgroup.push_back({16, keys});
  values.k = {extents[2]};
  for (int64_t step : {8, 16, 32, 64})
    if (extents[2] % step == 0)
      values.kFragment.push_back(step);
  values.stages = {0, 1, 2, 3, 4};
  values.swizzle = {0, 1};
  values.subgroupsPerFragment = getGroups(chip);
  // Keys are divided into parts for few queries.
  constexpr int64_t mostRows = 128;
  for (int64_t parts : partsOfK)
    if (parts == 1 || (rows <= mostRows && extents[1] >= 64 * parts))
      values.splitK.push_back(parts);
  values.persistent = values.stageOutput = {0};
  if (rows > mostRows) {
    if (chip.processors)
      values.persistent.push_back(chip.processors);
    values.stageOutput.push_back(1);
  }
  addMissing(values);
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
  std::vector<int64_t> steps;
  int64_t bits = 0;
  for (unsigned side : {0, 1})
    bits = std::max(bits, getElementBits(op.getFactorType(side)));
  values.subgroupsPerFragment = getGroups(chip);
  llvm::erase_if(values.subgroupsPerFragment, [&](int64_t group) {
    return getPermittedInstructions(op, form, chip, group).empty();
  });
  int64_t leastM = 16, leastN = 16;
  for (int64_t group : values.subgroupsPerFragment)
    for (const MatrixInstruction *row :
         getPermittedInstructions(op, form, chip, group)) {
      steps.push_back(row->k);
      leastM = std::min(leastM, row->m);
      leastN = std::min(leastN, row->n);
    }
  bool isMatrix = hasMatrixMultiply(
      chip, op.getFactorType(0), op.getFactorType(1), op.getAccumulatorType());
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
  values.swizzle = {0, 1};
  int64_t parts = std::max<int64_t>(1, extents[2] / (4 * values.k.front()));
  for (int64_t part : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32})
    if (part == 1 || part <= parts)
      values.splitK.push_back(part);
  // Added up in a fixed order only: atomic sums are only used on request.
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
  addMissing(values);
  ScheduleAttr schedule = getDefaultSchedule(op, chip);
  if (schedule)
    include(values, schedule);
  return values;
}

//===----------------------------------------------------------------------===//
// Legal points
//===----------------------------------------------------------------------===//

/// The fields that `enumerateCores` combines.
static constexpr Field coreFields[] = {
    Field::WorkgroupM, Field::SubgroupM,           Field::VthreadM,
    Field::K,          Field::KFragment,           Field::Stages,
    Field::Swizzle,    Field::SubgroupsPerFragment};

/// The other fields. Those that are not listed here come last.
static SmallVector<Field> getOptions() {
  SmallVector<Field> options{
      Field::SplitK,     Field::SplitKReduction, Field::StageOutput,
      Field::ClusterM,   Field::Batches,         Field::SubgroupBatches,
      Field::Interleave, Field::Persistent,      Field::Raster};
  for (const ScheduleFieldInfo &info : getScheduleFields())
    if (!llvm::is_contained(coreFields, info.number) &&
        !llvm::is_contained(options, info.number))
      options.push_back(info.number);
  return options;
}

const FieldValues &ScheduleSpace::getFieldValues(Field field) const {
  return *llvm::find_if(fields, [&](const FieldValues &list) {
    return list.info->number == field;
  });
}

/// A schedule of the chip's smallest tiling for groups of subgroups.
static ScheduleAttr makeGroupSchedule(ContractOp op, const Chip &chip) {
  const ScheduleDefaults &tiling = *llvm::min_element(
      chip.policy.groupDefaults,
      [](const ScheduleDefaults &a, const ScheduleDefaults &b) {
        return a.workgroup[0] * a.workgroup[1] <
               b.workgroup[0] * b.workgroup[1];
      });
  int64_t bytes = std::max(getElementBytes(op.getFactorType(0)),
                           getElementBytes(op.getFactorType(1)));
  ScheduleFields fields;
  fields.workgroup = tiling.workgroup;
  fields.subgroup = tiling.subgroup;
  fields.k = fields.kFragment =
      std::min<int64_t>(tiling.kBytes, 128) / std::max<int64_t>(bytes, 1);
  fields.stages = 2;
  fields.swizzle = true;
  fields.subgroupsPerFragment = tiling.group;
  return ScheduleAttr::get(op.getContext(), fields);
}

ScheduleSpace::ScheduleSpace(ModuleOp task, const Chip &chip,
                             SpaceValues values, bool isEnumerated)
    : task(task), op(findTask(task)), chip(chip), values(std::move(values)),
      fields(getFieldLists(this->values)) {
  for (Field field : getOptions())
    options.push_back(getFieldValues(field));
  std::tie(extents, matrices) = getExtents(op);
  if (isa<ContractOp>(op) && !chip.policy.groupDefaults.empty()) {
    packed = OwningOpRef<ModuleOp>(task.clone());
    auto copy = cast<ContractOp>(findTask(*packed));
    MatrixForm form = getMatrixForm(copy);
    // Operands are copied for a schedule by hand even where the compiler's own
    // choice would not gain by it.
    if (!form.gather[0] && !form.gather[1])
      copy.setScheduleAttr(makeGroupSchedule(copy, chip));
    PassManager pm(task.getContext());
    attachChip(*packed, chip);
    pm.addNestedPass<func::FuncOp>(createTesseraPackOperands());
    if (succeeded(pm.run(*packed))) {
      packedOp = findTask(*packed);
      cast<ContractOp>(packedOp).removeScheduleAttr();
    }
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
  if (!why.empty() && packedOp && schedule.getSubgroupsPerFragment() > 1 &&
      schedule.getSwizzle())
    return explainFor(packedOp);
  return why;
}

/// The reason why another point of the space is the same program, or why the
/// point cannot be fast.
static std::string explainWaste(const ScheduleNumbers &point,
                                const std::array<int64_t, 3> &extents,
                                int64_t matrices, bool isAttention) {
  if (point[Field::SplitK] == 1 && point[Field::SplitKReduction] != 0)
    return "same as another: nothing is added up";
  if (point[Field::Interleave] != 0 &&
      point[Field::VthreadM] * point[Field::VthreadN] == 1)
    return "same as another: one virtual thread";
  if (isAttention)
    return "";
  int64_t m = llvm::divideCeilSigned(extents[0], point[Field::WorkgroupM]),
          n = llvm::divideCeilSigned(extents[1], point[Field::WorkgroupN]);
  int64_t tiles = m * n *
                  llvm::divideCeilSigned(matrices, point[Field::Batches]) *
                  point[Field::SplitK];
  if (point[Field::Raster] >= m && point[Field::Raster] != 0)
    return "same as another: one band has all tiles";
  if (point[Field::Persistent] >= tiles && point[Field::Persistent] != 0)
    return "same as another: a workgroup for each tile";
  int64_t steps = llvm::divideCeilSigned(extents[2], point[Field::K]);
  if (point[Field::Stages] >
          llvm::divideCeilSigned(steps, point[Field::SplitK]) &&
      point[Field::Stages] > 1 && point[Field::Persistent] == 0)
    return "more stages than steps";
  return "";
}

bool ScheduleSpace::isLegal(const Point &point, std::string *why) const {
  // Decided by few, and asked often.
  Point key = point;
  if (point[Field::ClusterM] * point[Field::ClusterN] == 1)
    key[Field::Raster] = 0;
  std::string problem =
      explainWaste(point, extents, matrices, isa<AttentionOp>(op));
  if (problem.empty()) {
    auto [position, isNew] = known.try_emplace(formatPoint(key));
    if (isNew) {
      ScheduleAttr schedule = key.getAttr(op->getContext());
      position->second = schedule ? explain(schedule) : "schedule_c1 to c6";
    }
    problem = position->second;
  }
  if (why)
    *why = problem;
  return problem.empty();
}

void ScheduleSpace::removeCores(StringRef why, double count) {
  removedCores[why.str()] += count;
}

void ScheduleSpace::enumerateCores() {
  auto size = [](const auto &list) { return static_cast<double>(list.size()); };
  // Combinations of what is chosen later.
  double perStages = size(values.swizzle),
         perK = perStages * size(values.stages), perFragment = perK,
         perTile = perFragment * size(values.k) * size(values.kFragment),
         perSubgroup = perTile * size(values.vthread);
  auto contract = dyn_cast<ContractOp>(op);
  ScheduleFields simplest;
  simplest.workgroup = simplest.subgroup = {1, 1};
  simplest.k = simplest.kFragment = 1;
  simplest.stages = 0;
  Point start(simplest);
  for (int64_t group : values.subgroupsPerFragment) {
    SmallVector<const MatrixInstruction *> rows;
    if (contract)
      rows = getPermittedInstructions(contract, getMatrixForm(contract), chip,
                                      group);
    Point point = start;
    point[Field::SubgroupsPerFragment] = group;
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
        std::tie(point[Field::WorkgroupM], point[Field::WorkgroupN]) =
            std::tie(workgroup[0], workgroup[1]);
        std::tie(point[Field::SubgroupM], point[Field::SubgroupN]) =
            std::tie(subgroup[0], subgroup[1]);
        for (Pair vthread : values.vthread) {
          if (subgroup[0] % vthread[0] || subgroup[1] % vthread[1]) {
            removeCores("schedule_c3", perTile);
            continue;
          }
          std::tie(point[Field::VthreadM], point[Field::VthreadN]) =
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
              point[Field::K] = k;
              point[Field::KFragment] = fragment;
              for (int64_t stages : values.stages)
                for (int64_t swizzle : values.swizzle) {
                  point[Field::Stages] = stages;
                  point[Field::Swizzle] = swizzle;
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
  return countCombinations(options);
}

/// Calls `visit` for each combination of the options from `first` on, until it
/// returns false.
bool ScheduleSpace::forEachOptions(Point point,
                                   llvm::function_ref<bool(Point &)> visit,
                                   size_t first) const {
  if (first == options.size())
    return visit(point);
  const FieldValues &option = options[first];
  return llvm::all_of(option.values, [&](Pair value) {
    option.set(point, value);
    return forEachOptions(point, visit, first + 1);
  });
}

void ScheduleSpace::expand(
    const Point &core, size_t limit,
    llvm::function_ref<void(const Point &)> visit) const {
  forEachOptions(core, [&](Point &point) {
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
    forEachOptions(cores[index], [&](Point &point) {
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

/// Options at random; each is changed with the probability `change`.
void ScheduleSpace::drawOptions(Point &point, double change,
                                std::mt19937_64 &random) const {
  for (const FieldValues &option : options)
    if (toss(change, random))
      option.set(point, pick(option.values, random));
}

ScheduleNumbers ScheduleSpace::withOptions(const Point &core,
                                           std::mt19937_64 &random) const {
  for (int tries = 0; tries < 32; ++tries) {
    Point point = core;
    drawOptions(point, 0.4, random);
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
  auto position = llvm::find(list, now);
  if (position == list.end() || list.size() == 1 || toss(0.3, random))
    return pick(list, random);
  bool isUp = toss(0.5, random);
  if (isUp ? position + 1 == list.end() : position == list.begin())
    isUp = !isUp;
  return isUp ? *(position + 1) : *(position - 1);
}

namespace {
/// One mutation: it changes a field, and with a probability another one.
struct Move {
  Field first;
  std::optional<Field> second = std::nullopt;
  double probability = 1;
};
} // namespace

/// Related fields change together. A field that is not listed here has a move
/// of its own.
static std::vector<Move> getMoves() {
  std::vector<Move> moves = {
      {Field::WorkgroupM},
      {Field::SubgroupM},
      {Field::WorkgroupM, Field::SubgroupM},
      {Field::K, Field::KFragment, 0.3},
      {Field::KFragment},
      {Field::Stages},
      {Field::Swizzle, Field::SubgroupsPerFragment, 0.5},
      {Field::VthreadM, Field::Interleave},
      {Field::SplitK, Field::SplitKReduction},
      {Field::Raster, Field::Persistent},
      {Field::StageOutput, Field::ClusterM, 0.5},
      {Field::Batches, Field::SubgroupBatches},
  };
  for (const ScheduleFieldInfo &info : getScheduleFields())
    if (llvm::none_of(moves, [&](const Move &move) {
          return move.first == info.number || move.second == info.number;
        }))
      moves.push_back({info.number});
  return moves;
}

ScheduleNumbers ScheduleSpace::mutate(const Point &from,
                                      std::mt19937_64 &random) const {
  const std::vector<Move> moves = getMoves();
  auto change = [&](Point &point, Field field) {
    const FieldValues &list = getFieldValues(field);
    bool isAnywhere = list.info->isPair() && !toss(0.5, random);
    list.set(point, isAnywhere ? pick(list.values, random)
                               : step(list.values, list.get(point), random));
  };
  for (int tries = 0; tries < 200; ++tries) {
    Point point = from;
    int changes = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < changes; ++i) {
      const Move &move = moves[random() % moves.size()];
      change(point, move.first);
      if (move.second &&
          (move.probability == 1 || toss(move.probability, random)))
        change(point, *move.second);
    }
    if (formatPoint(point) != formatPoint(from) && isLegal(point))
      return point;
  }
  return cores.empty() ? from : draw(random);
}

ScheduleNumbers ScheduleSpace::cross(const Point &a, const Point &b,
                                     std::mt19937_64 &random) const {
  for (int tries = 0; tries < 50; ++tries) {
    Point point = a;
    for (size_t i = 0; i < Point::size; ++i)
      if (toss(0.5, random))
        point[static_cast<Field>(i)] = b[static_cast<Field>(i)];
    if (isLegal(point))
      return point;
  }
  return a;
}
