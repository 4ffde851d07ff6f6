//===- ScheduleCorrection.cpp - Corrected times of schedules --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduling/ScheduleCorrection.h"

#include "TargetInfo/Chip.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mlir::tessera;

/// The same as `std::log2`, faster for powers of two, which most sizes are.
static double getLog2(double value) {
  constexpr unsigned mantissa = std::numeric_limits<double>::digits - 1;
  constexpr uint64_t bias = 1023, infinite = 2047;
  uint64_t bits = llvm::bit_cast<uint64_t>(value), exponent = bits >> mantissa;
  bool isPower = (bits & ((uint64_t(1) << mantissa) - 1)) == 0;
  return isPower && exponent > 0 && exponent < infinite
             ? double(int64_t(exponent) - int64_t(bias))
             : std::log2(value);
}

namespace {
/// Collects features in their order: the values with a stride, and maybe the
/// names.
class FeatureList {
public:
  explicit FeatureList(float *values, size_t stride = 1,
                       StringRef *names = nullptr)
      : values(values), stride(stride), names(names) {}

  size_t size() const { return count; }

  void add(StringRef name, double value) {
    assert(count < numScheduleFeatures && "too many features");
    values[count * stride] = static_cast<float>(value);
    if (names)
      names[count] = name;
    ++count;
  }
  void addLog(StringRef name, double value) { add(name, getLog2(value)); }
  /// For a number that may be 0.
  void addCount(StringRef name, double value) { add(name, getLog2(1 + value)); }

private:
  float *values;
  size_t stride;
  StringRef *names;
  size_t count = 0;
};
} // namespace

static void addMatmul(FeatureList &list, const ScheduledMatmul &matmul) {
  list.add("rate", double(matmul.rate));
  list.addLog("m", matmul.extents[0]);
  list.addLog("n", matmul.extents[1]);
  list.addLog("depth", matmul.extents[2]);
  list.addLog("matrices", matmul.matrices);
  list.add("acrossLhs", matmul.isAcross[0]);
  list.add("acrossRhs", matmul.isAcross[1]);
  list.addLog("storeBytes", matmul.storeBytes);
  list.add("isGathered", matmul.isGathered);
  list.addLog("accessLhs", matmul.accessBytes[0]);
  list.addLog("accessRhs", matmul.accessBytes[1]);
  list.add("isHeldLhs", matmul.isHeld[0]);
  list.add("isHeldRhs", matmul.isHeld[1]);
  list.add("outputBytes", matmul.outputBytes);
  list.add("epilogueOps", matmul.epilogueOps);
  list.add("extras", matmul.extras);
  list.add("extraBytes", matmul.extraBytes);
  list.add("producerOpsLhs", matmul.producerOps[0]);
  list.add("producerOpsRhs", matmul.producerOps[1]);
  list.add("producerInputsLhs", matmul.producerInputs[0]);
  list.add("producerInputsRhs", matmul.producerInputs[1]);
}

static void addFields(FeatureList &list, const ScheduledMatmul &matmul,
                      const ScheduleFields &fields) {
  list.addLog("workgroupM", double(fields.workgroup[0]));
  list.addLog("workgroupN", double(fields.workgroup[1]));
  list.addLog("subgroupM", double(fields.subgroup[0]));
  list.addLog("subgroupN", double(fields.subgroup[1]));
  list.addLog("stepBytes", double(fields.k) * matmul.operandBytes[0]);
  list.add("stages", double(fields.stages));
  list.addLog("parts", double(fields.splitK));
  list.add("clusterM", double(fields.cluster[0]));
  list.add("clusterN", double(fields.cluster[1]));
  list.addCount("bands", double(fields.raster));
  list.addLog("fragmentBytes",
              double(fields.kFragment) * matmul.operandBytes[0]);
  list.add("stageOutput", fields.stageOutput);
  list.add("swizzle", fields.swizzle);
  for (unsigned d : {0, 1}) {
    double extent = matmul.extents[d], tile = double(fields.workgroup[d]);
    list.add(d ? "paddedN" : "paddedM",
             std::ceil(extent / tile) * tile / extent);
    list.addLog(d ? "tilesN" : "tilesM", std::ceil(extent / tile));
  }
}

static void addWork(FeatureList &list, const ScheduledMatmul &matmul,
                    const ScheduleFields &fields, const ScheduleWork &work,
                    const Chip &chip) {
  double rounds = work.units / work.processors, waves = rounds / work.resident,
         together = std::min(work.resident, std::ceil(rounds));
  list.add("isGroup", work.isGroup);
  list.add("isPersistent", work.isPersistent);
  list.add("isSerial", work.isSerial);
  list.add("addsInCluster", work.addsInCluster);
  list.addLog("units", work.units);
  list.add("rounds", rounds);
  list.add("lastRound", rounds - std::ceil(rounds) + 1);
  list.add("idleOfRounds", std::ceil(rounds) / rounds);
  list.add("idleOfWaves", std::ceil(waves) / waves);
  list.add("resident", work.resident);
  list.add("together", together);
  list.addLog("threadsOfProcessor", together * work.threads);
  list.addLog("steps", work.steps);
  list.add("paddedK",
           work.steps * work.parts * double(fields.k) / matmul.extents[2]);
  list.addLog("threads", work.threads);
  list.addLog("loaded", work.loaded);
  list.addLog("inFlight", work.loaded * work.ahead * together);
  list.addLog("inFlightOfAll",
              work.loaded * work.ahead *
                  std::min(work.units, together * work.processors));
  list.add("ahead", work.ahead);
  list.addLog("stored", work.stored);
  list.add("split", work.splits / work.loaded);
  list.addCount("accesses", work.accesses / work.threads);
  list.addCount("heldAccesses", work.heldAccesses / work.threads);
  list.addCount("singles", work.singles);
  list.addCount("stores", work.stores / work.threads);
  list.addLog("bytesOfStore", work.stored / work.stores);
  list.add("copies", work.copies);
  list.addCount("copiedBytes", work.copiedBytes);
  list.addLog("reuse", work.products / work.loaded);
  list.addLog("sharedReuse", work.products / work.shared);
  // The sums and fragments of a lane.
  list.addLog("lane", work.products / work.threads / double(chip.subgroupSize));
  list.addLog("bytes", matmul.bytes);
  list.addLog("traffic", work.units * work.steps * work.loaded / matmul.bytes);
  list.addCount("sums", work.parts * work.sums);
}

static void addEstimate(FeatureList &list, const ScheduleEstimate &estimate) {
  // A share that hardly contributes is as good as none.
  auto addShare = [&](StringRef name, double time) {
    constexpr double least = 1e-3;
    list.addLog(name, std::max(least, time / estimate.time));
  };
  list.addLog("time", estimate.time);
  list.addLog("turns", estimate.rounds);
  static constexpr StringRef names[numStepLimits] = {
      "timeOfProducts", "timeOfShared",  "timeOfLoads",    "timeOfSingles",
      "timeOfCache",    "timeOfLatency", "timeOfAccesses", "timeOfHeld"};
  for (auto [name, time] : llvm::zip_equal(names, estimate.limits))
    addShare(name, time);
  addShare("timeOfStores", estimate.stores);
  addShare("timeOfMemory", estimate.memory);
  addShare("timeOfSums", estimate.sums);
}

/// The number of features of the matmul, which come first.
static constexpr size_t numMatmulFeatures = 21;

/// The features of a schedule, after those of the matmul.
static void addSchedule(FeatureList &list, const ScheduledMatmul &matmul,
                        const ScheduleFields &fields, const ScheduleWork &work,
                        const ScheduleEstimate &estimate, const Chip &chip) {
  addFields(list, matmul, fields);
  addWork(list, matmul, fields, work, chip);
  addEstimate(list, estimate);
}

ScheduleFeatures mlir::tessera::describeFeatures(
    const ScheduledMatmul &matmul, const ScheduleFields &fields,
    const ScheduleWork &work, const ScheduleEstimate &estimate,
    const Chip &chip) {
  std::array<float, numScheduleFeatures> values;
  std::array<StringRef, numScheduleFeatures> names;
  FeatureList list(values.data(), 1, names.data());
  addMatmul(list, matmul);
  assert(list.size() == numMatmulFeatures && "a feature is missing");
  addSchedule(list, matmul, fields, work, estimate, chip);
  assert(list.size() == numScheduleFeatures && "a feature is missing");
  ScheduleFeatures features;
  for (auto [feature, name, value] : llvm::zip_equal(features, names, values))
    feature = {name, value};
  return features;
}

/// Vectors of features, and of answers and leaves. Compilers do not vectorize
/// loops in builds with few optimizations.
using Floats = float __attribute__((vector_size(32)));
using Integers = int32_t __attribute__((vector_size(32)));
static constexpr size_t lanes = sizeof(Floats) / sizeof(float);

namespace {
/// The features of several schedules, those of one kind next to each other, so
/// that vectors compare them with a threshold.
class FeatureBlock {
public:
  static constexpr size_t size = 64;
  using Sums = std::array<int32_t, size>;

  explicit FeatureBlock(const ScheduledMatmul &matmul);
  void set(size_t index, const ScheduledMatmul &matmul,
           const ScheduleFields &fields, const ScheduleWork &work,
           const ScheduleEstimate &estimate, const Chip &chip) {
    FeatureList list(&values[numMatmulFeatures][index], size);
    addSchedule(list, matmul, fields, work, estimate, chip);
    assert(list.size() == numScheduleFeatures - numMatmulFeatures &&
           "a feature is missing");
  }
  /// Must be called when the first `count` schedules are set.
  void finish(size_t count);
  /// The sums of the trees' leaves for these schedules.
  void sumTrees(ArrayRef<CorrectionTree> trees, Sums &sums) const;

private:
  /// The least and the greatest value of a feature; infinite if one of the
  /// values is not a number.
  using Range = std::array<float, 2>;
  Range getRange(size_t feature) const;

  /// The common answers of a block's schedules to the questions of a tree. Most
  /// of these schedules have the same tile, and with it the same answers to
  /// many questions.
  struct Answers {
    /// The leaf of a schedule that answers no to all of the open questions:
    /// those to which the schedules have several answers.
    size_t leaf = 0;
    std::array<size_t, CorrectionTree::depth> open = {};
    size_t numOpen = 0;
  };
  Answers getAnswers(const CorrectionTree &tree) const;
  /// The answers to a question, -1 for yes, of a vector of schedules.
  Integers compare(const CorrectionTree &tree, size_t level,
                   size_t first) const {
    Floats column;
    std::memcpy(&column, &values[tree.features[level]][first], sizeof(column));
    return column > tree.thresholds[level];
  }
  /// Adds the leaves of a tree with so many open questions.
  template <size_t numOpen>
  void addLeaves(const CorrectionTree &tree, const Answers &answers,
                 Sums &sums) const;

  std::array<std::array<float, size>, numScheduleFeatures> values{};
  std::array<Range, numScheduleFeatures> ranges{};
  /// The number of schedules, rounded up to whole vectors.
  size_t numLanes = size;
};
} // namespace

FeatureBlock::FeatureBlock(const ScheduledMatmul &matmul) {
  std::array<float, numScheduleFeatures> ofMatmul;
  FeatureList list(ofMatmul.data());
  addMatmul(list, matmul);
  for (size_t feature = 0; feature < numMatmulFeatures; ++feature) {
    values[feature].fill(ofMatmul[feature]);
    ranges[feature] = getRange(feature);
  }
}

FeatureBlock::Range FeatureBlock::getRange(size_t feature) const {
  const std::array<float, size> &column = values[feature];
  Floats least, most;
  std::memcpy(&least, column.data(), sizeof(least));
  most = least;
  Integers isNumber = least == least;
  for (size_t first = lanes; first < numLanes; first += lanes) {
    Floats some;
    std::memcpy(&some, &column[first], sizeof(some));
    least = some < least ? some : least;
    most = some > most ? some : most;
    isNumber &= some == some;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Range range{least[0], most[0]};
  for (size_t lane = 0; lane < lanes; ++lane) {
    if (!isNumber[lane])
      return {-infinity, infinity};
    range[0] = std::min<float>(range[0], least[lane]);
    range[1] = std::max<float>(range[1], most[lane]);
  }
  return range;
}

void FeatureBlock::finish(size_t count) {
  numLanes = llvm::alignTo(count, lanes);
  for (size_t feature = numMatmulFeatures; feature < numScheduleFeatures;
       ++feature) {
    float *column = values[feature].data();
    std::fill(column + count, column + numLanes, column[count - 1]);
    ranges[feature] = getRange(feature);
  }
}

/// The bit of a leaf's index that is the answer to the question of `level`.
static size_t getBit(size_t level) {
  return size_t(1) << (CorrectionTree::depth - 1 - level);
}

FeatureBlock::Answers
FeatureBlock::getAnswers(const CorrectionTree &tree) const {
  Answers answers;
  for (size_t level = 0; level < CorrectionTree::depth; ++level) {
    auto [least, most] = ranges[tree.features[level]];
    if (least > tree.thresholds[level])
      answers.leaf |= getBit(level);
    else if (most > tree.thresholds[level])
      answers.open[answers.numOpen++] = level;
  }
  return answers;
}

/// The sum of the terms of all sets of questions that have the answer yes. The
/// bits of a term's index are the questions of its set.
template <size_t count>
__attribute__((always_inline)) static inline Integers
sumTerms(const std::array<Integers, count> &isYes, const int32_t *terms) {
  Integers sum = {};
  sum += terms[0];
  if constexpr (count > 0) {
    std::array<Integers, count - 1> others;
    std::copy_n(isYes.begin(), count - 1, others.begin());
    sum = sumTerms(others, terms) +
          (isYes[count - 1] &
           sumTerms(others, terms + (size_t(1) << (count - 1))));
  }
  return sum;
}

template <size_t numOpen>
void FeatureBlock::addLeaves(const CorrectionTree &tree, const Answers &answers,
                             Sums &sums) const {
  // A leaf is the sum of the terms of all subsets of its answers, which needs
  // no load for each schedule.
  std::array<int32_t, size_t(1) << numOpen> terms;
  for (size_t set = 0; set < terms.size(); ++set) {
    size_t leaf = answers.leaf;
    for (size_t i = 0; i < numOpen; ++i)
      if (set >> i & 1)
        leaf |= getBit(answers.open[i]);
    terms[set] = tree.leaves[leaf];
  }
  for (size_t bit = 1; bit < terms.size(); bit *= 2)
    for (size_t set = 0; set < terms.size(); ++set)
      if (set & bit)
        terms[set] -= terms[set - bit];
  for (size_t first = 0; first < numLanes; first += lanes) {
    std::array<Integers, numOpen> isYes;
    for (size_t i = 0; i < numOpen; ++i)
      isYes[i] = compare(tree, answers.open[i], first);
    Integers sum;
    std::memcpy(&sum, &sums[first], sizeof(sum));
    sum += sumTerms(isYes, terms.data());
    std::memcpy(&sums[first], &sum, sizeof(sum));
  }
}

void FeatureBlock::sumTrees(ArrayRef<CorrectionTree> trees, Sums &sums) const {
  sums.fill(0);
  int32_t ofAll = 0;
  for (const CorrectionTree &tree : trees) {
    Answers answers = getAnswers(tree);
    switch (answers.numOpen) {
    case 0:
      ofAll += tree.leaves[answers.leaf];
      break;
    case 1:
      addLeaves<1>(tree, answers, sums);
      break;
    case 2:
      addLeaves<2>(tree, answers, sums);
      break;
    case 3:
      addLeaves<3>(tree, answers, sums);
      break;
    default:
      addLeaves<CorrectionTree::depth>(tree, answers, sums);
    }
  }
  for (int32_t &sum : sums)
    sum += ofAll;
}

ArrayRef<CorrectionTree>
mlir::tessera::getCorrections(const ScheduledMatmul &matmul,
                              const ScheduleRates &rates) {
  const CorrectionTrees &trees = rates.corrections;
  return matmul.isPlain()                      ? trees.plain
         : matmul.rate == MatmulRate::Integer8 ? trees.integers
                                               : trees.others;
}

/// The schedules of the next block: those of one tile have more features in
/// common, so a tile begins a block unless the block would be short.
static size_t countTogether(ArrayRef<ScheduleFields> schedules, size_t most) {
  size_t count = std::min(most, schedules.size());
  for (size_t at = count; count < schedules.size() && at > most / 2; --at)
    if (schedules[at].workgroup != schedules[at - 1].workgroup ||
        schedules[at].subgroup != schedules[at - 1].subgroup)
      return at;
  return count;
}

ArrayRef<CorrectionTree>
mlir::tessera::getRefinements(const ScheduledMatmul &matmul,
                              const ScheduleRates &rates) {
  return matmul.isPlain() ? rates.corrections.refinements
                          : ArrayRef<CorrectionTree>();
}

void mlir::tessera::estimateSchedules(const ScheduledMatmul &matmul,
                                      ArrayRef<ScheduleFields> schedules,
                                      const Chip &chip,
                                      MutableArrayRef<double> times,
                                      bool isRefined) {
  assert(times.size() == schedules.size() && "a time for each schedule");
  const ScheduleRates &rates = *chip.model.schedules;
  ArrayRef<CorrectionTree> corrections = getCorrections(matmul, rates),
                           refinements;
  if (isRefined && !corrections.empty())
    refinements = getRefinements(matmul, rates);
  double fits = 1;
  if (!refinements.empty())
    fits += double(refinements.size()) / double(corrections.size());
  auto block = std::make_unique<FeatureBlock>(matmul);
  FeatureBlock::Sums sums, refined{};
  size_t count = 0;
  for (size_t first = 0; first < schedules.size(); first += count) {
    count = countTogether(schedules.drop_front(first), FeatureBlock::size);
    for (size_t i = 0; i < count; ++i) {
      const ScheduleFields &fields = schedules[first + i];
      ScheduleWork work = describeWork(matmul, fields, chip);
      ScheduleEstimate estimate = estimateTime(work, rates);
      times[first + i] = estimate.time;
      if (!corrections.empty())
        block->set(i, matmul, fields, work, estimate, chip);
    }
    block->finish(count);
    block->sumTrees(corrections, sums);
    if (!refinements.empty())
      block->sumTrees(refinements, refined);
    // Leaves are ten-thousandths of the logarithm.
    constexpr double unit = 1e-4;
    for (size_t i = 0; i < count; ++i)
      times[first + i] *= std::exp(unit * double(sums[i] + refined[i]) / fits);
  }
}

ScheduleEstimate mlir::tessera::estimateSchedule(const ScheduledMatmul &matmul,
                                                 const ScheduleFields &fields,
                                                 const Chip &chip) {
  ScheduleEstimate estimate =
      estimateTime(describeWork(matmul, fields, chip), *chip.model.schedules);
  estimateSchedules(matmul, fields, chip, estimate.time);
  return estimate;
}
