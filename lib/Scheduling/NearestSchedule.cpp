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

using Entry = ScheduleEntry;

//===----------------------------------------------------------------------===//
// ScheduleNumbers
//===----------------------------------------------------------------------===//

ScheduleNumbers::ScheduleNumbers(ScheduleAttr schedule)
    : values{schedule.getWorkgroup()[0],
             schedule.getWorkgroup()[1],
             schedule.getSubgroup()[0],
             schedule.getSubgroup()[1],
             schedule.getK(),
             schedule.getKFragment(),
             schedule.getStages(),
             schedule.getVthread()[0],
             schedule.getVthread()[1],
             schedule.getInterleave(),
             schedule.getSwizzle(),
             schedule.getSplitK(),
             static_cast<int64_t>(schedule.getSplitKReduction()),
             schedule.getRaster(),
             schedule.getPersistent(),
             schedule.getGroup(),
             schedule.getStageOutput(),
             schedule.getClusterM(),
             schedule.getClusterN(),
             schedule.getBatches(),
             schedule.getSubgroupBatches()} {}

bool ScheduleNumbers::isValid() const {
  const ScheduleNumbers &s = *this;
  for (Entry entry :
       {Entry::WorkgroupM, Entry::WorkgroupN, Entry::SubgroupM,
        Entry::SubgroupN, Entry::K, Entry::KFragment, Entry::VThreadM,
        Entry::VThreadN, Entry::SplitK, Entry::Group, Entry::ClusterM,
        Entry::ClusterN, Entry::Batches, Entry::SubgroupBatches})
    if (s[entry] <= 0)
      return false;
  for (Entry entry :
       {Entry::Stages, Entry::Interleave, Entry::Raster, Entry::Persistent})
    if (s[entry] < 0)
      return false;
  return s[Entry::WorkgroupM] % s[Entry::SubgroupM] == 0 &&
         s[Entry::WorkgroupN] % s[Entry::SubgroupN] == 0 &&
         s[Entry::SubgroupM] % s[Entry::VThreadM] == 0 &&
         s[Entry::SubgroupN] % s[Entry::VThreadN] == 0 &&
         s[Entry::K] % s[Entry::KFragment] == 0 &&
         s[Entry::Batches] % s[Entry::SubgroupBatches] == 0 &&
         s[Entry::Interleave] <= s[Entry::VThreadM] * s[Entry::VThreadN] &&
         (s[Entry::Swizzle] == 0 || s[Entry::Stages] > 0);
}

ScheduleAttr ScheduleNumbers::getAttr(MLIRContext *context) const {
  if (!isValid())
    return {};
  const ScheduleNumbers &s = *this;
  return ScheduleAttr::get(
      context, {s[Entry::WorkgroupM], s[Entry::WorkgroupN]},
      {s[Entry::SubgroupM], s[Entry::SubgroupN]}, s[Entry::K],
      s[Entry::KFragment], s[Entry::Stages],
      {s[Entry::VThreadM], s[Entry::VThreadN]}, s[Entry::Interleave],
      s[Entry::Swizzle] != 0, s[Entry::SplitK],
      static_cast<SplitReduction>(s[Entry::SplitKReduction]), s[Entry::Raster],
      s[Entry::Persistent], s[Entry::Group], s[Entry::StageOutput] != 0,
      s[Entry::ClusterM], s[Entry::ClusterN], s[Entry::Batches],
      s[Entry::SubgroupBatches]);
}

std::string ScheduleNumbers::describeChange(const ScheduleNumbers &from) const {
  const ScheduleNumbers &to = *this;
  std::string text;
  auto add = [&](StringRef name, const std::string &value) {
    text += (text.empty() ? "" : ", ") + name.str() + " = " + value;
  };
  auto pair = [&](StringRef name, Entry m, Entry n) {
    if (to[m] != from[m] || to[n] != from[n])
      add(name,
          "[" + std::to_string(to[m]) + ", " + std::to_string(to[n]) + "]");
  };
  auto number = [&](StringRef name, Entry entry) {
    if (to[entry] != from[entry])
      add(name, std::to_string(to[entry]));
  };
  pair("workgroup", Entry::WorkgroupM, Entry::WorkgroupN);
  pair("subgroup", Entry::SubgroupM, Entry::SubgroupN);
  number("k", Entry::K);
  number("kFragment", Entry::KFragment);
  number("stages", Entry::Stages);
  pair("vthread", Entry::VThreadM, Entry::VThreadN);
  number("interleave", Entry::Interleave);
  if (to[Entry::Swizzle] != from[Entry::Swizzle])
    add("swizzle", to[Entry::Swizzle] ? "true" : "false");
  number("splitK", Entry::SplitK);
  if (to[Entry::SplitKReduction] != from[Entry::SplitKReduction])
    add("splitKReduction",
        stringifySplitReduction(
            static_cast<SplitReduction>(to[Entry::SplitKReduction]))
            .str());
  number("raster", Entry::Raster);
  number("persistent", Entry::Persistent);
  number("group", Entry::Group);
  if (to[Entry::StageOutput] != from[Entry::StageOutput])
    add("stageOutput", to[Entry::StageOutput] ? "true" : "false");
  pair("cluster", Entry::ClusterM, Entry::ClusterN);
  number("batches", Entry::Batches);
  number("subgroupBatches", Entry::SubgroupBatches);
  return text;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {

class Search {
public:
  Search(ContractOp op, ScheduleAttr schedule, const Chip &chip,
         ArrayRef<ScheduleProblem> problems)
      : op(op), form(getMatrixForm(op)), chip(chip), from(schedule),
        rows(getPermittedInstructions(op, form, chip, schedule.getGroup())),
        lhsBits(getElementBits(getElementTypeOrSelf(op.getLhs().getType()))),
        rhsBits(getElementBits(getElementTypeOrSelf(op.getRhs().getType()))),
        reduction(getStaticExtents(op, form)[2]) {
    if (rows.empty())
      rows = getPermittedInstructions(op, form, chip, /*group=*/1);
    for (const ScheduleProblem &problem : problems)
      for (Entry entry : problem.entries)
        if (!llvm::is_contained(entries, entry))
          entries.push_back(entry);
    for (Entry entry : entries)
      candidates.push_back(getCandidates(entry));
  }

  /// The nearest with exactly `count` entries changed, or null.
  ScheduleAttr find(unsigned count);

private:
  struct Found {
    double distance;
    ScheduleNumbers numbers;
  };

  SmallVector<int64_t> getCandidates(Entry entry) const;
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
  SmallVector<Entry> entries;
  SmallVector<SmallVector<int64_t>> candidates;
  std::vector<Found> found;
  size_t visited = 0;
};

} // namespace

/// No tile is larger, in any dimension.
static constexpr int64_t maxTile = 1024;

/// No more are looked at with one number of changes, and checked in full: a
/// schedule that is wrong in every entry is not worth a long search.
static constexpr size_t mostVisited = 1 << 20, mostChecked = 4096;

SmallVector<int64_t> Search::getCandidates(Entry entry) const {
  llvm::SmallSet<int64_t, 16> values;
  int64_t now = from[entry];
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
  switch (entry) {
  case Entry::WorkgroupM:
  case Entry::WorkgroupN:
  case Entry::SubgroupM:
  case Entry::SubgroupN:
  case Entry::K:
  case Entry::KFragment:
    addPowers(maxTile);
    add(now * 2, 1, maxTile);
    for (int64_t value = now; value % 2 == 0; value /= 2)
      add(value / 2, 1, maxTile);
    if (int64_t longest = getLargestStep(op, form))
      for (int64_t step = longest; step > 0; --step)
        if (longest % step == 0 &&
            (entry == Entry::K || entry == Entry::KFragment))
          add(step, 1, maxTile);
    for (const MatrixInstruction *row : rows)
      addNear(entry == Entry::K || entry == Entry::KFragment ? row->k
              : entry == Entry::WorkgroupM || entry == Entry::SubgroupM
                  ? row->m
                  : row->n);
    if (entry == Entry::WorkgroupM)
      addNear(from[Entry::SubgroupM]);
    if (entry == Entry::WorkgroupN)
      addNear(from[Entry::SubgroupN]);
    break;
  case Entry::Stages:
    for (int64_t stages = 0; stages < std::min<int64_t>(now, 16); ++stages)
      add(stages, 0, 16);
    add(1, 0, 16);
    break;
  case Entry::VThreadM:
  case Entry::VThreadN:
  case Entry::ClusterM:
  case Entry::ClusterN:
  case Entry::Batches:
  case Entry::SubgroupBatches:
    addPowers(now);
    break;
  case Entry::Interleave:
    addPowers(from[Entry::VThreadM] * from[Entry::VThreadN]);
    break;
  case Entry::SplitKReduction:
    for (int64_t kind : {0, 1, 2})
      if (kind != now)
        add(kind, 0, 2);
    break;
  case Entry::Swizzle:
  case Entry::StageOutput:
    add(1 - now, 0, 1);
    break;
  case Entry::SplitK:
    addPowers(now);
    if (!ShapedType::isDynamic(reduction))
      add(llvm::divideCeil(reduction, from[Entry::K]), 1, now);
    break;
  case Entry::Group:
    for (const MatrixInstruction &row : chip.instructions)
      add(row.subgroups, 1, row.subgroups);
    break;
  case Entry::Raster:
  case Entry::Persistent:
    add(0, 0, now);
    add(std::numeric_limits<int32_t>::max(), 0, now);
    if (entry == Entry::Persistent) {
      int64_t clustered = from[Entry::ClusterM] * from[Entry::ClusterN];
      add(now / clustered * clustered, 0, now);
    }
    break;
  }
  return SmallVector<int64_t>(values.begin(), values.end());
}

double Search::getDistance(const ScheduleNumbers &to) const {
  double distance = 0;
  for (auto [order, entry] : llvm::enumerate(entries)) {
    if (to[entry] == from[entry])
      continue;
    if (entry == Entry::Swizzle || entry == Entry::SplitKReduction ||
        entry == Entry::StageOutput) {
      distance += 4 + 0.01 * double(order);
      continue;
    }
    bool mayBeZero = entry == Entry::Stages || entry == Entry::Interleave ||
                     entry == Entry::Raster || entry == Entry::Persistent;
    distance += std::fabs(std::log2(double(to[entry] + mayBeZero)) -
                          std::log2(double(from[entry] + mayBeZero)));
    // Ties are resolved in favour of the preferred field. Odd sizes are only
    // used on request.
    distance += 0.01 * double(order);
    if (!mayBeZero && !llvm::isPowerOf2_64(to[entry]))
      distance += 0.5;
  }
  // Where it makes no other difference, square tiles read the least.
  double m = double(to[Entry::SubgroupM]), n = double(to[Entry::SubgroupN]);
  return distance + 0.02 * std::fabs(std::log2(m / n));
}

bool Search::mayFit(const ScheduleNumbers &to) const {
  if (!to.isValid())
    return false;
  int64_t subgroups = to[Entry::WorkgroupM] / to[Entry::SubgroupM] *
                      (to[Entry::WorkgroupN] / to[Entry::SubgroupN]) *
                      (to[Entry::Batches] / to[Entry::SubgroupBatches]);
  if (subgroups * to[Entry::Group] * chip.subgroupSize > chip.maxThreads)
    return false;
  int64_t bits = to[Entry::WorkgroupM] * to[Entry::K] * lhsBits +
                 to[Entry::WorkgroupN] * to[Entry::K] * rhsBits;
  if (to[Entry::Stages] * to[Entry::Batches] * bits / 8 >
      chip.workgroupMemoryBytes)
    return false;
  int64_t m = to[Entry::SubgroupM] / to[Entry::VThreadM],
          n = to[Entry::SubgroupN] / to[Entry::VThreadN],
          k = to[Entry::KFragment];
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
  for (size_t i = first; i + count <= entries.size() && visited < mostVisited;
       ++i)
    for (int64_t value : candidates[i]) {
      ScheduleNumbers changed = numbers;
      changed[entries[i]] = value;
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
