//===- ScheduleDatabase.h - Schedules measured on one device ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_SCHEDULEDATABASE_H
#define DRIVER_SCHEDULEDATABASE_H

#include "Driver/TunedSchedules.h"

namespace mlir::tessera {

/// Which records of a database count.
struct RecordFilter {
  /// Only measurements of a device of this name, unless it is empty: devices
  /// with the same chip differ in speed.
  std::string device;
  /// Only schedules that were at least so many times as fast as the compiler's
  /// own choice in the same final comparison, in which the confidence intervals
  /// of the two times do not overlap; 0 for all records.
  double gain = 0;
  /// Stands for the database's path in the origins, unless it is empty.
  std::string source;
};

/// Reads the records of a schedule database that `filter` selects. `notes`
/// receives a line about tasks that were only measured on other devices.
std::shared_ptr<const TunedSchedules>
readScheduleDatabase(llvm::StringRef path, const RecordFilter &filter,
                     std::vector<std::string> &notes, std::string &why);

} // namespace mlir::tessera

#endif // DRIVER_SCHEDULEDATABASE_H
