//===- FakeLevelZero.h - A Level Zero for tests -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The recorded calls and configured results of a fake Level Zero loader. Memory
// is host memory. Commands appended to a command list run when an event is
// waited for; commands without a barrier in between run in reverse order, so
// that a missing barrier produces wrong results. Each handle is checked in each
// call: misuse adds a line to `violations`.
//
// Programs may run on it as well (LD_PRELOAD): TESSERA_FAKE_ZE names the device
// that it plays, pvc, bmg, dg2, lnl or simt; pocl is one whose kernels are run
// by PoCL. TESSERA_FAKE_ZE_LOSE=N has it lost at the wait behind N others. At
// the program's end misuse is printed, and is the exit status 70.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_LEVELZERO_FAKELEVELZERO_H
#define TESSERA_UNITTESTS_RUNTIME_LEVELZERO_FAKELEVELZERO_H

#include "LevelZero/LevelZeroDriver.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tessera::runtime {

struct FakeZeDevice {
  ze_device_properties_t properties;
  ze_device_compute_properties_t compute;
  ze_device_module_properties_t module;
  /// Extensions of the driver, and the device properties that they report.
  bool reportsDpas = true, hasDpas = true;
  bool reportsVersion = true;
  uint32_t ipVersion = 0;
  bool reportsAtomics = true, addsF32 = true, addsF64 = true;
  uint64_t memoryBytes = uint64_t(48) << 30, cacheBytes = 64 << 20;
  std::vector<ze_command_queue_group_properties_t> queueGroups;
};

/// A launch that was run.
struct FakeZeLaunch {
  std::string kernel;
  uint32_t grid[3], block[3];
  /// The bytes of each argument.
  std::vector<std::string> arguments;
};

struct FakeLevelZero {
  std::vector<FakeZeDevice> devices;
  uint32_t apiVersion = 1 << 16 | 6;
  uint32_t driverVersion = 1 << 24 | 6 << 16 | 32224;
  /// The status that a function returns, by its symbol, after `failAfter`
  /// calls, until the entry is removed.
  std::map<std::string, ze_result_t> failures;
  std::map<std::string, int> failAfter;
  std::string buildLog, lastError;
  /// The reported properties of command lists.
  bool listsAreImmediate = true;
  /// Differences between kernels and their modules; 0: none.
  uint32_t lanes = 0, parameterCount = 0, spillBytes = 0;
  /// The device's counter, and the ticks of a kernel.
  uint64_t clock = 1000, ticksOfKernel = 0;

  std::vector<std::string> calls, violations;
  std::vector<FakeZeLaunch> launches;
  std::function<void(const FakeZeLaunch &)> onLaunch;
  /// Objects and allocations that are there, by kind: "context", "memory".
  std::map<std::string, int> live;
  /// The build flags of the last call.
  std::string lastBuildFlags;
  uint32_t lastQueueGroup = 0, lastEventPoolFlags = 0;

  size_t count(const std::string &symbol) const {
    size_t times = 0;
    for (const std::string &call : calls)
      times += call == symbol;
    return times;
  }
};

} // namespace tessera::runtime

/// The state, which lives as long as the library.
extern "C" tessera::runtime::FakeLevelZero *tesseraFakeLevelZero();
/// One of `pvc`, `bmg`, `dg2`, `lnl` (a matrix unit, of no family that the
/// compiler has) and `simt` (none).
extern "C" void tesseraMakeFakeZeDevice(const char *name,
                                        tessera::runtime::FakeZeDevice *device);
/// Forgets everything: one device, a pvc.
extern "C" void tesseraResetFakeLevelZero();

#endif // TESSERA_UNITTESTS_RUNTIME_LEVELZERO_FAKELEVELZERO_H
