//===- Devices.h - Which device, and what to compile for --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_DEVICES_H
#define EXECUTION_DEVICES_H

#include "Execution/Options.h"

#include "Runtime/Device.h"

#include <memory>
#include <vector>

namespace tessera::execution {

/// The chip that a program is compiled for, and the device that runs it.
struct Target {
  /// "cpu", "cuda", "hip", "vulkan", "opencl" or "level-zero".
  std::string name;
  /// A chip that the compiler knows.
  std::string chip;
  /// Null if the program does not run.
  std::unique_ptr<runtime::Device> device;
};

/// Keeps devices open from one program of a process to the next: to open the
/// first on a GPU takes its driver most of a second. Each program opens a
/// device of its own nevertheless, so that none sees the state that another
/// left.
class KeptDevices {
public:
  /// Keeps the device with this description open.
  void keep(const runtime::DeviceInfo &info);
  /// Closes them all: after a fault, a device is usable again once no process
  /// has it open.
  void close() { devices.clear(); }

private:
  std::vector<std::unique_ptr<runtime::Device>> devices;
};

/// Finds what --target asks for; opens the device if `run` is set.
LogicalResult chooseTarget(const ProgramOptions &options, bool run,
                           KeptDevices &kept, Target &target, Report &report);

/// --list-devices.
void listDevices(Report &report);

} // namespace tessera::execution

#endif // EXECUTION_DEVICES_H
