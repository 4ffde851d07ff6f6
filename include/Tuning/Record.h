//===- Record.h - Record of a schedule ----------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RECORD_H
#define TUNING_RECORD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera::tuning {

/// The outcome of a candidate.
enum class Outcome {
  /// Right, and timed.
  Measured,
  /// Right, and so slow that it was not timed with care.
  Slow,
  /// It computed other numbers than the reference.
  Wrong,
  /// The compiler rejected it, or ended.
  NotCompiled,
  /// Its code keeps registers in memory.
  Spills,
  /// The device rejected it, or it failed there.
  NotRun,
  /// It did not come back in time.
  Hung,
  /// The process that ran it died.
  Crashed,
};

/// "measured", "slow", "wrong", "not compiled", "spills", "not run", "hung",
/// "crashed".
llvm::StringRef getOutcomeName(Outcome outcome);
std::optional<Outcome> parseOutcome(llvm::StringRef name);

/// A matmul or an attention by itself, for one chip: the unit of tuning.
struct TaskId {
  /// `getTaskKey` of the op: 16 digits.
  std::string key;
  /// "cuda", "sm_90a".
  std::string target, chip;
};

/// Where and by what a time was taken. All of it decides over whether two times
/// can be compared.
struct Environment {
  /// The device's name and its driver's version; empty without a device.
  std::string device, driver;
  /// "Tessera 0.1.0", and which build of it (`getCompilerIdentity`).
  std::string compiler, build;
  /// The machine's name.
  std::string host;
  /// The features of the device that its chip's name does not imply
  /// ("gfx90a:sramecc+:xnack-"; `getFeatures`); empty if there are none.
  std::string features;
};

/// One candidate, tried.
struct Record {
  TaskId task;
  Environment environment;
  /// The attribute as text; empty for what the compiler chooses by itself,
  /// whose choice is `chosen`.
  std::string schedule, chosen;
  Outcome outcome = Outcome::Measured;
  /// The message of the compiler, the driver or the comparison, unless the
  /// outcome is `Measured`.
  std::string error;
  /// Milliseconds of each timed run, in their order; empty if there is none.
  std::vector<double> times;
  /// Their median, and the bounds of its 95 % confidence interval.
  double median = 0, low = 0, high = 0;
  /// The same of runs that each directly followed another one, with warm
  /// caches; 0 if there are none.
  double warmMedian = 0, warmLow = 0, warmHigh = 0;
  /// The device's clock in MHz before and after; 0 if it is unknown.
  int64_t clockBefore = 0, clockAfter = 0;
  /// Milliseconds that compiling took.
  double compileTime = 0;
  /// The estimate of the machine model in milliseconds; 0 if there is none.
  double expected = 0;
  /// Whether the time is of the final comparison, in which the leaders take
  /// turns with each other and with the library.
  bool isFinal = false;
  /// UTC, "2026-11-23T04:05:06Z"; see `getTimestamp`.
  std::string when;
  /// The number of its run; see `Database::beginRun`. 0 for none.
  int64_t run = 0;
};

/// The time by which records are compared: the geometric mean of the medians
/// with cold and with warm caches, or the former if `isWarm` is false.
double getComparedTime(const Record &record, bool isWarm);

/// A vendor's library on the same task, in the same run.
struct Baseline {
  TaskId task;
  Environment environment;
  /// "cuBLASLt 13.0.2".
  std::string library;
  std::vector<double> times;
  double median = 0, low = 0, high = 0;
  std::string when;
  int64_t run = 0;
};

/// A schedule's text in which former names of fields are replaced by the
/// present ones. Records have the present ones.
std::string useCurrentNames(llvm::StringRef schedule);

/// The reverse: the text that the first version would have written. Digests are
/// of such texts, so that a record is the same one before and after.
std::string useFormerNames(llvm::StringRef schedule);

/// The present time as records have it.
std::string getTimestamp();

/// An error about a record that a database rejects: a number that is not
/// finite, a task without a key, a time of `Measured` that is not positive or
/// not between its bounds.
llvm::Error validate(const Record &record);
llvm::Error validate(const Baseline &baseline);

} // namespace mlir::tessera::tuning

#endif // TUNING_RECORD_H
