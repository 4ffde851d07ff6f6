//===- LevelZeroCapabilities.h - Capabilities of a device -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZEROCAPABILITIES_H
#define TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZEROCAPABILITIES_H

#include "LevelZeroDriver.h"

#include "Runtime/Device.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::runtime {

/// The properties of a device.
struct LevelZeroCapabilities {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  /// The driver's API version: 1.3 as (1 << 16 | 3).
  uint32_t apiVersion = 0;
  uint32_t driverVersion = 0;
  ze_device_properties_t properties;
  ze_device_compute_properties_t compute;
  ze_device_module_properties_t module;
  uint64_t memoryBytes = 0, cacheBytes = 0;
  /// Ticks of a kernel's timestamps in a second.
  double ticksPerSecond = 0;
  /// The first group of queues that takes kernels; -1 if there is none.
  int queueGroup = -1;
  bool addsF32 = false, addsF64 = false;
  /// Whether the device has `dpas`.
  bool hasDpas = false;
  /// By what that, and the family, are known; in messages.
  std::string source;
  /// "pvc", "bmg" or "dg2"; empty for others.
  std::string family;
  /// The status of a failed query: the device is then not usable.
  std::string failure;
};

/// A list that `get` fills in, which is called like zeDeviceGet.
template <typename Element, typename Get>
ze_result_t getList(std::vector<Element> &list, Get get) {
  uint32_t count = 0;
  if (ze_result_t result = get(&count, static_cast<Element *>(nullptr)))
    return result;
  list.resize(count);
  ze_result_t result = count ? get(&count, list.data()) : ZE_RESULT_SUCCESS;
  list.resize(std::min<size_t>(count, list.size()));
  return result;
}

/// Asks the driver for all of it.
LevelZeroCapabilities queryLevelZeroDevice(const LevelZeroDriver &driver,
                                           ze_driver_handle_t handle,
                                           ze_device_handle_t device);

/// Why Tessera's kernels cannot run on a device; empty if they can.
std::string explainUnfit(const LevelZeroCapabilities &capabilities);

DeviceInfo describeDevice(const LevelZeroCapabilities &capabilities);

/// Milliseconds from one timestamp of a device to a later one. Only
/// `kernelTimestampValidBits` of a counter are valid, and it may have wrapped
/// once in between.
double getElapsedMilliseconds(const LevelZeroCapabilities &capabilities,
                              uint64_t begin, uint64_t end);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZEROCAPABILITIES_H
