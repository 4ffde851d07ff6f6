//===- OpenCLBackend.cpp - Devices of OpenCL ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Backend.h"
#include "../SpirvProfile.h"
#include "OpenCLDevice.h"

using namespace tessera::runtime;

static Expected<std::unique_ptr<Device>>
openNativeOpenCL(const NativeDevice &native) {
  return openByDriver("OpenCL", getOpenCLDriver, [&](const auto &driver) {
    return openOpenCLDeviceOn(driver, static_cast<cl_context>(native.context),
                              static_cast<cl_device_id>(native.device));
  });
}

// The initialization calls none of these functions.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const RuntimeBackend tessera::runtime::openCLBackend = {
    "opencl",
    [](std::vector<DeviceInfo> &devices) {
      return listByDriver(getOpenCLDriver, listOpenCLDevices, devices);
    },
    [](int ordinal) {
      return openByDriver("OpenCL", getOpenCLDriver, [&](const auto &driver) {
        return openOpenCLDevice(driver, ordinal);
      });
    },
    explainReportedIncompatible,
    rateReportedFit,
    openNativeOpenCL};
