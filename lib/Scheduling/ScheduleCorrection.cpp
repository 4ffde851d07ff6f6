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
/// Collects features in their order.
class FeatureList {
public:
  void add(StringRef name, double value) {
    assert(count < numScheduleFeatures && "too many features");
    features[count++] = {name, value};
  }
  void addLog(StringRef name, double value) { add(name, std::log2(value)); }
  /// For a number that may be 0.
  void addCount(StringRef name, double value) {
    add(name, std::log2(1 + value));
  }
  ScheduleFeatures take() const {
    assert(count == numScheduleFeatures && "a feature is missing");
    return features;
  }

private:
  ScheduleFeatures features;
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
  list.add("hasBands", fields.raster > 0);
  list.add("stageOutput", fields.stageOutput);
  list.add("swizzle", fields.swizzle);
  for (unsigned d : {0, 1}) {
    double extent = matmul.extents[d], tile = double(fields.workgroup[d]);
    list.add(d ? "paddedN" : "paddedM",
             std::ceil(extent / tile) * tile / extent);
  }
}

static void addWork(FeatureList &list, const ScheduledMatmul &matmul,
                    const ScheduleWork &work, const Chip &chip) {
  double rounds = work.units / work.processors, waves = rounds / work.resident,
         together = std::min(work.resident, std::ceil(rounds));
  list.add("isGroup", work.isGroup);
  list.add("isPersistent", work.isPersistent);
  list.add("isSerial", work.isSerial);
  list.add("addsInCluster", work.addsInCluster);
  list.addLog("units", work.units);
  list.add("rounds", rounds);
  list.add("idleOfRounds", std::ceil(rounds) / rounds);
  list.add("idleOfWaves", std::ceil(waves) / waves);
  list.add("resident", work.resident);
  list.add("together", together);
  list.addLog("steps", work.steps);
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

ScheduleFeatures mlir::tessera::describeFeatures(
    const ScheduledMatmul &matmul, const ScheduleFields &fields,
    const ScheduleWork &work, const ScheduleEstimate &estimate,
    const Chip &chip) {
  FeatureList list;
  addMatmul(list, matmul);
  addFields(list, matmul, fields);
  addWork(list, matmul, work, chip);
  addEstimate(list, estimate);
  return list.take();
}

/// The sum of the trees' leaves.
static int64_t sumTrees(ArrayRef<CorrectionTree> trees,
                        const ScheduleFeatures &features) {
  std::array<float, numScheduleFeatures> values;
  for (auto [value, feature] : llvm::zip_equal(values, features))
    value = static_cast<float>(feature.value);
  int64_t sum = 0;
  for (const CorrectionTree &tree : trees) {
    size_t leaf = 0;
    for (size_t level = 0; level < CorrectionTree::depth; ++level)
      leaf = 2 * leaf +
             (values[tree.features[level]] > tree.thresholds[level] ? 1 : 0);
    sum += tree.leaves[leaf];
  }
  return sum;
}

ScheduleEstimate mlir::tessera::estimateSchedule(const ScheduledMatmul &matmul,
                                                 const ScheduleFields &fields,
                                                 const Chip &chip) {
  const ScheduleRates &rates = *chip.model.schedules;
  ScheduleWork work = describeWork(matmul, fields, chip);
  ScheduleEstimate estimate = estimateTime(work, rates);
  if (rates.corrections.empty())
    return estimate;
  constexpr double unit = 1e-4;
  estimate.time *= std::exp(
      unit *
      double(sumTrees(rates.corrections,
                      describeFeatures(matmul, fields, work, estimate, chip))));
  return estimate;
}
