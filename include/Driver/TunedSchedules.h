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

/// What is known of one task on one chip.
struct TunedSchedule {
  std::string target, chip;
  /// `getTaskKey`.
  std::string key;
  /// The attribute as text. Empty: the compiler's own choice was the best.
  std::string schedule;
  /// "record 12: 0.163 ms on NVIDIA H200, 2026-11-23; 0.170 ms by the
  /// compiler's choice".
  std::string origin;
};

/// The schedules that a compilation looks products up in.
struct TunedSchedules {
  /// "the shipped records for sm_90a", or a file's name. Empty: products are
  /// not looked up.
  std::string source;
  std::vector<TunedSchedule> schedules;

  /// All of it, for keys of caches.
  std::string describe() const;
};

/// Those that come with the compiler.
const TunedSchedules &getShippedSchedules();

/// The best of each task in a database of `gpu-tune`, for every chip. Null, and
/// the reason in `why`, if it cannot be read.
std::shared_ptr<const TunedSchedules> readScheduleDatabase(llvm::StringRef path,
                                                           std::string &why);

/// What an option `--schedule-db` says: a database, "off" for no schedules but
/// the compiler's choice and those by hand, and nothing for the shipped ones,
/// which is null here. The reason in `why` if a database cannot be read.
std::shared_ptr<const TunedSchedules> findTunedSchedules(llvm::StringRef option,
                                                         std::string &why);

/// Makes those for a chip known to the pass `tessera-use-tuned-schedules`;
/// where they do not know a task, the shipped ones do. Null: these alone.
/// Nothing where `tuned` has no source, or nothing is known of the chip.
void attachTunedSchedules(ModuleOp module, const TunedSchedules *tuned,
                          llvm::StringRef target, llvm::StringRef chip);

} // namespace mlir::tessera

#endif // DRIVER_TUNEDSCHEDULES_H
