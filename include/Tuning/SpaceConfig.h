//===- SpaceConfig.h - Values of the search space ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A JSON file that narrows or widens any parameter of the space of schedules.
// docs/Tuning.md describes it, docs/tuning-config.schema.json is its schema.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_SPACECONFIG_H
#define TUNING_SPACECONFIG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera::tuning {

/// Values for entries of a `#tessera.schedule`, each list in the order of the
/// file, without repetition and never empty; absent for a field that the
/// configuration does not mention. A pair is of M and N.
struct ScheduleValues {
  template <typename T> using List = std::optional<std::vector<T>>;

  List<std::array<int64_t, 2>> workgroup, subgroup;
  List<int64_t> k, kFragment, stages;
  List<std::array<int64_t, 2>> vthread;
  List<int64_t> interleave;
  List<bool> swizzle;
  List<int64_t> splitK;
  /// As in the attribute: "ordered", "atomic", "cluster".
  List<std::string> splitKReduction;
  List<int64_t> raster, persistent, group;
  List<bool> stageOutput;
  List<std::array<int64_t, 2>> cluster;
  List<int64_t> batches, subgroupBatches;
};

struct SpaceConfig {
  /// In the place of the default values of the entry.
  ScheduleValues parameters;
  /// Besides the default values. No entry is in both.
  ScheduleValues add;
  /// The maximum number of candidates.
  std::optional<int64_t> points;
  /// A candidate that takes more than so many times as long as the best one is
  /// not timed with care.
  std::optional<double> slowest;
};

/// Reads a configuration. An error is "NAME:LINE: PATH: " with the problem and
/// its fix: text that is not JSON, unknown names, values of another kind or out
/// of range.
llvm::Expected<SpaceConfig> parseSpaceConfig(llvm::StringRef text,
                                             llvm::StringRef name);

/// Reads the configuration from a file.
llvm::Expected<SpaceConfig> readSpaceConfig(llvm::StringRef path);

/// The kind of values of a schedule field, for the schema and for messages.
struct ParameterInfo {
  enum class Form { Integer, Pair, Flag, Reduction };
  llvm::StringLiteral name;
  Form form;
  /// The bounds of integers, and of both elements of a pair.
  int64_t least = 0, most = 0;
};

/// All schedule fields, in the order of the attribute.
llvm::ArrayRef<ParameterInfo> getScheduleParameters();

/// The maximum number of values in a list.
constexpr size_t maxParameterValues = 4096;

} // namespace mlir::tessera::tuning

#endif // TUNING_SPACECONFIG_H
