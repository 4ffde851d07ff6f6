//===- HipDevice.h - AMD's GPUs, and Hygon's --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_HIP_HIPDEVICE_H
#define TESSERA_LIB_RUNTIME_HIP_HIPDEVICE_H

#include "HipDriver.h"
#include "Runtime/Device.h"

namespace tessera::runtime {

/// Adds HIP's devices. Returns the reason, on one line, when a device cannot be
/// listed or there is none; empty otherwise.
std::string listHipDevices(const HipDriver &driver,
                           std::vector<DeviceInfo> &devices);

/// Opens a device. `driver` is initialized and outlives it.
Expected<std::unique_ptr<Device>> openHipDevice(const HipDriver &driver,
                                                int ordinal);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_HIP_HIPDEVICE_H
