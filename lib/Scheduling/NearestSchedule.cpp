//===- NearestSchedule.cpp - The nearest legal schedule -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search enumerates the subsets of one, two, three and four of the fields
// on which the violated constraints depend, and for each subset the
// combinations of candidate values. Values that the attribute itself rejects,
// or that exceed the chip by a simple bound, are dropped; the others are
// checked in the order of their distance, and the first legal schedule is the
// result.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "llvm/ADT/SmallSet.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

using Field = ScheduleField;
using Kind = ScheduleFieldInfo::Kind;

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {

class Search {
public:
  Search(ContractOp op, ScheduleAttr schedule, const Chip &chip,
         ArrayRef<ScheduleProblem> problems)
      : op(op), form(getMatrixForm(op)), chip(chip), from(schedule),
        rows(getPermittedInstructions(op, form, chip,
                                      schedule.getSubgroupsPerFragment())),
        lhsBits(getElementBits(getElementTypeOrSelf(op.getLhs().getType()))),
        rhsBits(getElementBits(getElementTypeOrSelf(op.getRhs().getType()))),
        reduction(getStaticExtents(op, form)[2]) {
    if (rows.empty())
      rows = getPermittedInstructions(op, form, chip, /*group=*/1);
    for (const ScheduleProblem &problem : problems)
      for (Field field : problem.fields)
        if (!llvm::is_contained(fields, field))
          fields.push_back(field);
    for (Field field : fields)
      candidates.push_back(getCandidates(field));
  }

  /// The nearest with exactly `count` fields changed, or null.
  ScheduleAttr find(unsigned count);

private:
  struct Found {
    double distance;
    ScheduleNumbers numbers;
  };

  SmallVector<int64_t> getCandidates(Field field) const;
  double getDistance(const ScheduleNumbers &to) const;
  bool mayFit(const ScheduleNumbers &to) const;
  void enumerate(ScheduleNumbers numbers, size_t first, unsigned count);

  ContractOp op;
  MatrixForm form;
  const Chip &chip;
  ScheduleNumbers from;
  SmallVector<const MatrixInstruction *> rows;
  int64_t lhsBits, rhsBits;
  /// The extent of K, or kDynamic.
  int64_t reduction;
  /// The fields that may change, the preferred ones first, and their values.
  SmallVector<Field> fields;
  SmallVector<SmallVector<int64_t>> candidates;
  std::vector<Found> found;
  size_t visited = 0;
};

} // namespace

/// No tile is larger, in any dimension.
static constexpr int64_t maxTile = 1024;

/// No more are considered with one number of changes, and checked in full: a
/// schedule that is wrong in every field is not worth a long search.
static constexpr size_t mostVisited = 1 << 20, mostChecked = 4096;

SmallVector<int64_t> Search::getCandidates(Field field) const {
  llvm::SmallSet<int64_t, 16> values;
  int64_t now = from[field];
  auto add = [&](int64_t value, int64_t least, int64_t most) {
    if (value != now && value >= least && value <= most)
      values.insert(value);
  };
  auto addNear = [&](int64_t factor) {
    add(now / factor * factor, 1, maxTile);
    add((now / factor + 1) * factor, 1, maxTile);
  };
  auto addPowers = [&](int64_t most) {
    for (int64_t power = 1; power <= most; power *= 2)
      add(power, 1, most);
  };
  // All other values of flags and enums, and smaller ones of integers.
  auto addOfKind = [&](const ScheduleFieldInfo &info) {
    if (info.kind == Kind::Integer || info.kind == Kind::Pair)
      addPowers(now);
    else
      for (int64_t value = info.least; value <= info.most; ++value)
        add(value, info.least, info.most);
  };
  switch (field) {
  case Field::WorkgroupM:
  case Field::WorkgroupN:
  case Field::SubgroupM:
  case Field::SubgroupN:
  case Field::K:
  case Field::KFragment:
    addPowers(maxTile);
    add(now * 2, 1, maxTile);
    for (int64_t value = now; value % 2 == 0; value /= 2)
      add(value / 2, 1, maxTile);
    if (int64_t longest = getLargestStep(op, form))
      for (int64_t step = longest; step > 0; --step)
        if (longest % step == 0 &&
            (field == Field::K || field == Field::KFragment))
          add(step, 1, maxTile);
    for (const MatrixInstruction *row : rows)
      addNear(field == Field::K || field == Field::KFragment ? row->k
              : field == Field::WorkgroupM || field == Field::SubgroupM
                  ? row->m
                  : row->n);
    if (field == Field::WorkgroupM)
      addNear(from[Field::SubgroupM]);
    if (field == Field::WorkgroupN)
      addNear(from[Field::SubgroupN]);
    break;
  case Field::Stages:
    for (int64_t stages = 0; stages < std::min<int64_t>(now, 16); ++stages)
      add(stages, 0, 16);
    add(1, 0, 16);
    break;
  case Field::Interleave:
    addPowers(from[Field::VthreadM] * from[Field::VthreadN]);
    break;
  case Field::SplitK:
    addPowers(now);
    if (!ShapedType::isDynamic(reduction))
      add(llvm::divideCeil(reduction, from[Field::K]), 1, now);
    break;
  case Field::SubgroupsPerFragment:
    for (const MatrixInstruction &row : chip.instructions)
      add(row.subgroups, 1, row.subgroups);
    break;
  case Field::Raster:
  case Field::Persistent:
    add(0, 0, now);
    add(std::numeric_limits<int32_t>::max(), 0, now);
    if (field == Field::Persistent) {
      int64_t clustered = from[Field::ClusterM] * from[Field::ClusterN];
      add(now / clustered * clustered, 0, now);
    }
    break;
  default:
    addOfKind(getScheduleField(field));
    break;
  }
  return SmallVector<int64_t>(values.begin(), values.end());
}

double Search::getDistance(const ScheduleNumbers &to) const {
  double distance = 0;
  for (auto [order, field] : llvm::enumerate(fields)) {
    if (to[field] == from[field])
      continue;
    const ScheduleFieldInfo &info = getScheduleField(field);
    if (info.kind == Kind::Flag || info.kind == Kind::Enum) {
      distance += 4 + 0.01 * double(order);
      continue;
    }
    bool mayBeZero = info.least == 0;
    distance += std::fabs(std::log2(double(to[field] + mayBeZero)) -
                          std::log2(double(from[field] + mayBeZero)));
    // Ties are resolved in favour of the preferred field. Odd sizes are only
    // used on request.
    distance += 0.01 * double(order);
    if (!mayBeZero && !llvm::isPowerOf2_64(to[field]))
      distance += 0.5;
  }
  // Where it makes no other difference, square tiles read the least.
  double m = double(to[Field::SubgroupM]), n = double(to[Field::SubgroupN]);
  return distance + 0.02 * std::fabs(std::log2(m / n));
}

bool Search::mayFit(const ScheduleNumbers &to) const {
  if (!to.isValid())
    return false;
  int64_t subgroups = to[Field::WorkgroupM] / to[Field::SubgroupM] *
                      (to[Field::WorkgroupN] / to[Field::SubgroupN]) *
                      (to[Field::Batches] / to[Field::SubgroupBatches]);
  if (subgroups * to[Field::SubgroupsPerFragment] * chip.subgroupSize >
      chip.maxThreads)
    return false;
  int64_t bits = to[Field::WorkgroupM] * to[Field::K] * lhsBits +
                 to[Field::WorkgroupN] * to[Field::K] * rhsBits;
  if (to[Field::Stages] * to[Field::Batches] * bits / 8 >
      chip.workgroupMemoryBytes)
    return false;
  int64_t m = to[Field::SubgroupM] / to[Field::VthreadM],
          n = to[Field::SubgroupN] / to[Field::VthreadN],
          k = to[Field::KFragment];
  return llvm::any_of(rows, [&](const MatrixInstruction *row) {
    return m % row->m == 0 && n % row->n == 0 && k % row->k == 0;
  });
}

void Search::enumerate(ScheduleNumbers numbers, size_t first, unsigned count) {
  if (count == 0) {
    if (visited++ < mostVisited && mayFit(numbers))
      found.push_back({getDistance(numbers), numbers});
    return;
  }
  for (size_t i = first; i + count <= fields.size() && visited < mostVisited;
       ++i)
    for (int64_t value : candidates[i]) {
      ScheduleNumbers changed = numbers;
      changed[fields[i]] = value;
      enumerate(changed, i + 1, count - 1);
    }
}

ScheduleAttr Search::find(unsigned count) {
  found.clear();
  visited = 0;
  enumerate(from, 0, count);
  llvm::stable_sort(found, [](const Found &l, const Found &r) {
    return l.distance < r.distance;
  });
  for (const Found &one : ArrayRef(found).take_front(mostChecked)) {
    ScheduleAttr schedule = one.numbers.getAttr(op.getContext());
    if (schedule && getScheduleProblems(op, schedule, chip).empty())
      return schedule;
  }
  return {};
}

ScheduleAttr
mlir::tessera::getNearestSchedule(ContractOp op, ScheduleAttr schedule,
                                  const Chip &chip,
                                  ArrayRef<ScheduleProblem> problems) {
  Search search(op, schedule, chip, problems);
  for (unsigned count : {1, 2, 3, 4})
    if (ScheduleAttr nearest = search.find(count))
      return nearest;
  ScheduleAttr fallback = getDefaultSchedule(op, chip);
  return getScheduleProblems(op, fallback, chip).empty() ? fallback
                                                         : ScheduleAttr();
}
