//===- NativeDevice.cpp - Devices on objects of the caller's --------------===//

#include "Runtime/NativeDevice.h"

#include "OpenCL/OpenCLDevice.h"

using namespace tessera::runtime;

static Expected<std::unique_ptr<Device>>
openNativeOpenCL(const NativeDevice &native) {
  std::string reason;
  const OpenCLDriver *driver = getOpenCLDriver(&reason);
  if (!driver)
    return Status(StatusCode::NoDevice, "no OpenCL device: " + reason);
  return openOpenCLDeviceOn(*driver, static_cast<cl_context>(native.context),
                            static_cast<cl_device_id>(native.device));
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openNativeDevice(const NativeDevice &native) {
  if (native.target == "opencl")
    return openNativeOpenCL(native);
  return Status(StatusCode::InvalidArgument,
                "no device of target '" + native.target +
                    "' is opened on objects of the caller's: those of opencl "
                    "are; on cuda the primary context is used, and hip has "
                    "one for each device");
}
