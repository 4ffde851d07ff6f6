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
#include <thread>
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

/// Opens the device that --target names in another thread, while the program is
/// read: a driver may take a fifth of a second to start. Each program opens a
/// device of its own nevertheless, which is quick while this one is open.
class EarlyDevice {
public:
  /// Does nothing if the options do not name a device, or it would not help
  /// (`isQuickWhileOpen`).
  explicit EarlyDevice(const ProgramOptions &options);
  ~EarlyDevice() { wait(); }
  EarlyDevice(const EarlyDevice &) = delete;
  EarlyDevice &operator=(const EarlyDevice &) = delete;

  /// Waits until the device is open, or cannot be opened: that is reported
  /// where the program opens it.
  void wait();

private:
  std::thread thread;
  std::unique_ptr<runtime::Device> device;
};

/// Finds what --target asks for; opens the device if `run` is set.
LogicalResult chooseTarget(const ProgramOptions &options, bool run,
                           KeptDevices &kept, Target &target, Report &report);

/// --list-devices.
void listDevices(Report &report);

} // namespace tessera::execution

#endif // EXECUTION_DEVICES_H
