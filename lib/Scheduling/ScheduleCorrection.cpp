//===- ScheduleCorrection.cpp - Corrected times of schedules --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduling/ScheduleCorrection.h"

#include "TargetInfo/Chip.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// Collects features in their order: the values with a stride, and maybe the
/// names.
class FeatureList {
public:
  explicit FeatureList(float *values, size_t stride = 1,
                       StringRef *names = nullptr)
      : values(values), stride(stride), names(names) {}
  ~FeatureList() {
    assert(count == numScheduleFeatures && "a feature is missing");
  }

  void add(StringRef name, double value) {
    assert(count < numScheduleFeatures && "too many features");
    values[count * stride] = static_cast<float>(value);
    if (names)
      names[count] = name;
    ++count;
  }
  void addLog(StringRef name, double value) { add(name, std::log2(value)); }
  /// For a number that may be 0.
  void addCount(StringRef name, double value) {
    add(name, std::log2(1 + value));
  }

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

static void addFeatures(FeatureList list, const ScheduledMatmul &matmul,
                        const ScheduleFields &fields, const ScheduleWork &work,
                        const ScheduleEstimate &estimate, const Chip &chip) {
  addMatmul(list, matmul);
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
  addFeatures(FeatureList(values.data(), 1, names.data()), matmul, fields, work,
              estimate, chip);
  ScheduleFeatures features;
  for (auto [feature, name, value] : llvm::zip_equal(features, names, values))
    feature = {name, value};
  return features;
}

namespace {
/// The features of several schedules, those of one kind next to each other, so
/// that vectors compare them with a threshold.
struct FeatureBlock {
  static constexpr size_t size = 64;
  std::array<std::array<float, size>, numScheduleFeatures> values{};
  using Sums = std::array<int32_t, size>;

  void set(size_t index, const ScheduledMatmul &matmul,
           const ScheduleFields &fields, const ScheduleWork &work,
           const ScheduleEstimate &estimate, const Chip &chip) {
    addFeatures(FeatureList(&values[0][index], size), matmul, fields, work,
                estimate, chip);
  }
  /// The sums of the trees' leaves for the first `count` schedules.
  void sumTrees(ArrayRef<CorrectionTree> trees, size_t count, Sums &sums) const;
};
} // namespace

void FeatureBlock::sumTrees(ArrayRef<CorrectionTree> trees, size_t count,
                            Sums &sums) const {
  // Whole vectors.
  count = llvm::alignTo(count, 8);
  sums.fill(0);
  for (const CorrectionTree &tree : trees) {
    Sums leaves{};
    for (size_t level = 0; level < CorrectionTree::depth; ++level) {
      const float *column = values[tree.features[level]].data();
      float threshold = tree.thresholds[level];
      for (size_t i = 0; i < count; ++i)
        leaves[i] = 2 * leaves[i] + (column[i] > threshold ? 1 : 0);
    }
    for (size_t i = 0; i < count; ++i)
      sums[i] += tree.leaves[static_cast<size_t>(leaves[i])];
  }
}

ArrayRef<CorrectionTree>
mlir::tessera::getCorrections(const ScheduledMatmul &matmul,
                              const ScheduleRates &rates) {
  size_t half = rates.corrections.size() / 2;
  return matmul.isPlain() ? rates.corrections.take_front(half)
                          : rates.corrections.drop_front(half);
}

ArrayRef<CorrectionTree>
mlir::tessera::getRefinements(const ScheduledMatmul &matmul,
                              const ScheduleRates &rates) {
  return matmul.isPlain() ? rates.refinements : ArrayRef<CorrectionTree>();
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
  auto block = std::make_unique<FeatureBlock>();
  FeatureBlock::Sums sums, refined{};
  for (size_t first = 0; first < schedules.size();
       first += FeatureBlock::size) {
    size_t count = std::min(FeatureBlock::size, schedules.size() - first);
    for (size_t i = 0; i < count; ++i) {
      const ScheduleFields &fields = schedules[first + i];
      ScheduleWork work = describeWork(matmul, fields, chip);
      ScheduleEstimate estimate = estimateTime(work, rates);
      times[first + i] = estimate.time;
      if (!corrections.empty())
        block->set(i, matmul, fields, work, estimate, chip);
    }
    block->sumTrees(corrections, count, sums);
    if (!refinements.empty())
      block->sumTrees(refinements, count, refined);
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
