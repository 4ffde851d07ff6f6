//===- LevelZeroDevice.h - Intel's GPUs by Level Zero -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZERODEVICE_H
#define TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZERODEVICE_H

#include "LevelZeroDriver.h"

#include "Runtime/Device.h"

namespace tessera::runtime {

/// Adds the devices of all drivers that kernels of Tessera can run on. Returns
/// the reason, on one line, for those that they cannot, or when there is none;
/// empty otherwise.
std::string listLevelZeroDevices(const LevelZeroDriver &driver,
                                 std::vector<DeviceInfo> &devices);

/// Opens a device. `driver` outlives it.
Expected<std::unique_ptr<Device>>
openLevelZeroDevice(const LevelZeroDriver &driver, int ordinal);

/// The same in a context of the caller's, which outlives it, for a device of
/// that. `InvalidArgument` for a device that is not listed.
Expected<std::unique_ptr<Device>>
openLevelZeroDeviceOn(const LevelZeroDriver &driver,
                      ze_context_handle_t context, ze_device_handle_t device);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZERODEVICE_H
