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

#include "Dialect/Tessera/IR/ScheduleFieldInfo.h"

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

#define SCHEDULE_PAIR(Name, name, ...) List<std::array<int64_t, 2>> name;
#define SCHEDULE_NUMBER(Name, name) List<int64_t> name;
#include "Dialect/Tessera/IR/ScheduleFields.def"
};

struct SpaceConfig {
  /// Instead of the default values of the field.
  ScheduleValues parameters;
  /// In addition to the default values. No field is in both.
  ScheduleValues add;
  /// The maximum number of candidates.
  std::optional<int64_t> points;
  /// A candidate that takes more than so many times as long as the best one is
  /// not timed with care.
  std::optional<double> slowest;
  /// Warnings about former names of fields, each a line "NAME:LINE: ...".
  std::vector<std::string> warnings;
};

/// Reads a configuration. An error is "NAME:LINE: PATH: ", the problem and its
/// fix: text that is not JSON, unknown names, values of another kind or out of
/// range.
llvm::Expected<SpaceConfig> parseSpaceConfig(llvm::StringRef text,
                                             llvm::StringRef name);

/// Reads the configuration from a file.
llvm::Expected<SpaceConfig> readSpaceConfig(llvm::StringRef path);

/// The JSON schema of configurations: docs/tuning-config.schema.json.
std::string makeConfigSchema();

/// The maximum number of values in a list.
constexpr size_t maxParameterValues = 4096;

} // namespace mlir::tessera::tuning

#endif // TUNING_SPACECONFIG_H
