//===- OpenCLDevice.h - Any vendor's device by OpenCL -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_OPENCL_OPENCLDEVICE_H
#define TESSERA_LIB_RUNTIME_OPENCL_OPENCLDEVICE_H

#include "OpenCLDriver.h"
#include "Runtime/Device.h"

namespace tessera::runtime {

/// Adds the devices of all platforms that kernels of Tessera can run on.
/// Returns the reason, on one line, for those that they cannot, or when there
/// is none; empty otherwise.
std::string listOpenCLDevices(const OpenCLDriver &driver,
                              std::vector<DeviceInfo> &devices);

/// Opens a device. `driver` outlives it.
Expected<std::unique_ptr<Device>> openOpenCLDevice(const OpenCLDriver &driver,
                                                   int ordinal);

/// The same on a context of the caller's, and one of its devices.
/// `InvalidArgument` where the two do not belong together.
Expected<std::unique_ptr<Device>> openOpenCLDeviceOn(const OpenCLDriver &driver,
                                                     cl_context context,
                                                     cl_device_id device);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_OPENCL_OPENCLDEVICE_H
