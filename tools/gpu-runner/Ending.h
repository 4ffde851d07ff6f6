//===- Ending.h - Early end of the process ------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_ENDING_H
#define GPU_RUNNER_ENDING_H

#include "Report.h"

#include <optional>

namespace runner {

/// Has signals that ask the process to end (SIGINT, SIGTERM, SIGHUP) report it,
/// remove files that are being written, and end it by the same signal. Those
/// that are ignored stay so.
void handleEndingSignals();

/// --timeout: how long a program may run from now on. A program that takes
/// longer ends the process with status 1: nothing else stops a kernel that does
/// not return. With `json`, an object reports it as well.
void setTimeLimit(std::optional<double> seconds, bool json);
bool hasTimeLimit();

/// Between these two, the program runs; beginning again begins anew.
void beginTimedRun();
void endTimedRun();

/// The kernel that is launched now, for the message.
void noteLaunch(const char *kernel);

} // namespace runner

#endif // GPU_RUNNER_ENDING_H
