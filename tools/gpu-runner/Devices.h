//===- Devices.h - Which device, and what to compile for --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_DEVICES_H
#define GPU_RUNNER_DEVICES_H

#include "Options.h"

#include "Runtime/Device.h"

#include <memory>

namespace runner {

/// What a program is compiled for, and the device that is to run it.
struct Target {
  /// "cpu" or "cuda".
  std::string name;
  /// A chip that the compiler knows.
  std::string chip;
  /// Null if nothing is to be run.
  std::unique_ptr<runtime::Device> device;
};

/// Finds what --target asks for; opens the device if `run` is set.
LogicalResult chooseTarget(const Options &options, bool run, Target &target,
                           Report &report);

/// --list-devices.
void listDevices(Report &report);

} // namespace runner

#endif // GPU_RUNNER_DEVICES_H
