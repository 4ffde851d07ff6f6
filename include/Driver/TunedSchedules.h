//===- TunedSchedules.h - Schedules that tuning found -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_TUNEDSCHEDULES_H
#define DRIVER_TUNEDSCHEDULES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::tessera {

/// What is known of one task on the chip that is compiled for.
struct TunedSchedule {
  /// `getTaskKey`.
  std::string key;
  /// The attribute as text. Empty: the compiler's own choice was the best, or
  /// there is none for this chip; `origin` says which.
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

/// Those that come with the compiler; without a source where the chip has none.
const TunedSchedules &getShippedSchedules(llvm::StringRef target,
                                          llvm::StringRef chip);

/// Makes them known to the pass `tessera-use-tuned-schedules`.
void attachTunedSchedules(ModuleOp module, const TunedSchedules &tuned);

} // namespace mlir::tessera

#endif // DRIVER_TUNEDSCHEDULES_H
