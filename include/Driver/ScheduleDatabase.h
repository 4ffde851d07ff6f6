//===- ScheduleDatabase.h - Schedules measured on one device ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_SCHEDULEDATABASE_H
#define DRIVER_SCHEDULEDATABASE_H

#include "Driver/TunedSchedules.h"

namespace mlir::tessera {

/// Reads a schedule database like `readScheduleDatabase`, but only measurements
/// of a device of this name, since devices with the same chip differ in speed.
/// `notes` receives a line about tasks that were only measured on other
/// devices.
std::shared_ptr<const TunedSchedules>
readScheduleDatabase(llvm::StringRef path, llvm::StringRef device,
                     std::vector<std::string> &notes, std::string &why);

} // namespace mlir::tessera

#endif // DRIVER_SCHEDULEDATABASE_H
