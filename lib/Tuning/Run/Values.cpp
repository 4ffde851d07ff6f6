//===- Values.cpp - A configuration, applied to a space -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/Values.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

static int64_t toNumber(int64_t value) { return value; }
static int64_t toNumber(bool value) { return value; }
static int64_t toNumber(const std::string &value) {
  // The configuration has been checked.
  return static_cast<int64_t>(
      symbolizeSplitReduction(value).value_or(SplitReduction::Ordered));
}
static std::array<int64_t, 2> toNumber(const std::array<int64_t, 2> &value) {
  return value;
}

template <typename Value, typename T>
static void apply(const std::optional<std::vector<Value>> &given, bool isMore,
                  std::vector<T> &values) {
  if (!given)
    return;
  if (!isMore)
    values.clear();
  for (const Value &value : *given)
    if (T number = toNumber(value); !llvm::is_contained(values, number))
      values.push_back(number);
}

void tune::applyConfig(const SpaceConfig &config, SpaceValues &values) {
  for (bool isMore : {false, true}) {
    const ScheduleValues &from = isMore ? config.add : config.parameters;
    apply(from.workgroup, isMore, values.workgroup);
    apply(from.subgroup, isMore, values.subgroup);
    apply(from.k, isMore, values.k);
    apply(from.kFragment, isMore, values.kFragment);
    apply(from.stages, isMore, values.stages);
    apply(from.vthread, isMore, values.vthread);
    apply(from.interleave, isMore, values.interleave);
    apply(from.swizzle, isMore, values.swizzle);
    apply(from.splitK, isMore, values.splitK);
    apply(from.splitKReduction, isMore, values.splitKReduction);
    apply(from.raster, isMore, values.raster);
    apply(from.persistent, isMore, values.persistent);
    apply(from.group, isMore, values.group);
    apply(from.stageOutput, isMore, values.stageOutput);
    apply(from.cluster, isMore, values.cluster);
    apply(from.batches, isMore, values.batches);
    apply(from.subgroupBatches, isMore, values.subgroupBatches);
  }
}
