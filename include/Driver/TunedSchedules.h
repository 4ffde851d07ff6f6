//===- TunedSchedules.h - Schedules that tuning found -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_TUNEDSCHEDULES_H
#define DRIVER_TUNEDSCHEDULES_H

#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::tessera {

/// The tuning result of one task on one chip.
struct TunedSchedule {
  std::string target, chip;
  /// `getTaskKey`.
  std::string key;
  /// The schedule attribute as text; empty if the compiler's own choice was the
  /// best.
  std::string schedule;
  /// "record 12: 0.163 ms on NVIDIA H200, 2026-11-23; 0.170 ms by the
  /// compiler's choice".
  std::string origin;
};

/// The schedules in which a compilation looks up matmuls.
struct TunedSchedules {
  /// "the shipped records for sm_90a", or a file's name. Empty if matmuls are
  /// not looked up.
  std::string source;
  std::vector<TunedSchedule> schedules;

  /// A text that identifies all schedules, for cache keys.
  std::string describe() const;
};

/// The schedules that ship with the compiler.
const TunedSchedules &getShippedSchedules();

/// Reads the best schedule of each task and chip from a `gpu-tune` database.
/// Returns null, with the reason in `why`, if it cannot be read.
std::shared_ptr<const TunedSchedules> readScheduleDatabase(llvm::StringRef path,
                                                           std::string &why);

/// Resolves the option `--schedule-db`: a database, "off" for only the
/// compiler's choices and hand-written schedules, or empty for the shipped
/// ones, for which it returns null. `why` receives the reason if a database
/// cannot be read.
std::shared_ptr<const TunedSchedules> findTunedSchedules(llvm::StringRef option,
                                                         std::string &why);

/// Attaches the schedules for a chip to the module for the pass
/// `tessera-use-tuned-schedules`, with the shipped ones as fallback; null uses
/// only the shipped ones. Does nothing if `tuned` has no source, or contains
/// nothing for the chip.
void attachTunedSchedules(ModuleOp module, const TunedSchedules *tuned,
                          llvm::StringRef target, llvm::StringRef chip);

} // namespace mlir::tessera

#endif // DRIVER_TUNEDSCHEDULES_H
