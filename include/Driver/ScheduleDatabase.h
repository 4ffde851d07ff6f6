//===- ScheduleDatabase.h - Schedules measured on one device ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_SCHEDULEDATABASE_H
#define DRIVER_SCHEDULEDATABASE_H

#include "Driver/TunedSchedules.h"

namespace mlir::tessera {

/// As `readScheduleDatabase` without a device, of what was measured on a device
/// of this name alone: devices of one chip differ in how fast they are.
/// `notes` gets a line about tasks that have times of other devices only.
std::shared_ptr<const TunedSchedules>
readScheduleDatabase(llvm::StringRef path, llvm::StringRef device,
                     std::vector<std::string> &notes, std::string &why);

} // namespace mlir::tessera

#endif // DRIVER_SCHEDULEDATABASE_H
