//===- DriverListing.h - Listing and opening by ordinals --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA and HIP number their devices, and report them by the same calls under
// different names. A structure `Api` has the differences:
//
//   Driver, DeviceT       the functions of the API; the device
//   target, name          "cuda", "CUDA"
//   prefix                of the functions: "cu"
//   countCall             the function that counts devices: "cuDeviceGetCount"
//   noDevice              the reason if there is none
//   attributes            the attributes of the fields of `DriverAttributes`
//   getCount              calls `countCall`
//   finish                sets the chip and the versions in a `DeviceInfo`;
//                         `NoDevice` if it cannot
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_DRIVERLISTING_H
#define TESSERA_LIB_RUNTIME_DRIVERLISTING_H

#include "Format.h"
#include "Runtime/Device.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

/// Attributes of a device in the units of the driver.
struct DriverAttributes {
  int subgroupSize = 0;
  int workgroupBytes = 0;
  int l2Bytes = 0;
  int computeUnits = 0;
  int clockKHz = 0;
};

/// The status of a call that failed while device `ordinal` was queried.
template <typename Api>
Status queryFailed(const typename Api::Driver &driver, int ordinal,
                   const std::string &call, int result) {
  return Status(StatusCode::NoDevice,
                format("device %d: %s", ordinal,
                       driver.describe(call.c_str(), result).c_str()));
}

/// The properties that a driver reports without opening the device; a reason on
/// failure.
template <typename Api>
Expected<DeviceInfo> queryByOrdinal(const typename Api::Driver &driver,
                                    int ordinal) {
  auto fail = [&](const char *function, int result) {
    return queryFailed<Api>(driver, ordinal,
                            std::string(Api::prefix) + function, result);
  };
  int handle = 0;
  if (int result = driver.deviceGet(&handle, ordinal))
    return fail("DeviceGet", result);
  DeviceInfo info;
  info.target = Api::target;
  info.ordinal = ordinal;
  char name[256] = {};
  if (int result = driver.deviceGetName(name, sizeof(name) - 1, handle))
    return fail("DeviceGetName", result);
  info.name = name;
  if (int result = driver.deviceTotalMem(&info.memoryBytes, handle))
    return fail("DeviceTotalMem", result);
  DriverAttributes values;
  for (const auto &[which, field] : Api::attributes)
    if (int result = driver.deviceGetAttribute(&(values.*field), which, handle))
      return fail("DeviceGetAttribute", result);
  info.subgroupSize = values.subgroupSize;
  info.workgroupMemoryBytes = static_cast<size_t>(values.workgroupBytes);
  info.l2Bytes = static_cast<size_t>(values.l2Bytes);
  info.computeUnits = values.computeUnits;
  info.clockMHz = values.clockKHz / 1000;
  if (Status status = Api::finish(driver, handle, info); !status.ok())
    return status;
  return info;
}

/// Appends the devices. Returns the reason for each that cannot be used, or the
/// reason why there is none; empty otherwise.
template <typename Api>
std::string listByOrdinal(const typename Api::Driver &driver,
                          std::vector<DeviceInfo> &devices) {
  int count = 0;
  if (int result = Api::getCount(driver, count))
    return driver.describe(Api::countCall, result);
  if (count == 0)
    return Api::noDevice;
  std::string reason;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Expected<DeviceInfo> info = queryByOrdinal<Api>(driver, ordinal);
    if (info.ok())
      devices.push_back(info.take());
    else
      reason += (reason.empty() ? "" : "; ") + info.status().message();
  }
  return reason;
}

template <typename Api>
Expected<std::unique_ptr<Device>>
openByOrdinal(const typename Api::Driver &driver, int ordinal) {
  int count = 0;
  if (int result = Api::getCount(driver, count))
    return Status(StatusCode::NoDevice,
                  std::string("no ") + Api::name +
                      " device: " + driver.describe(Api::countCall, result));
  if (ordinal < 0 || ordinal >= count)
    return Status(StatusCode::NoDevice,
                  format("no %s device %d: this machine has %d", Api::target,
                         ordinal, count));
  Expected<DeviceInfo> info = queryByOrdinal<Api>(driver, ordinal);
  if (!info.ok())
    return info.status();
  auto device = std::make_unique<typename Api::DeviceT>(driver, info.take());
  if (Status status = device->open(); !status.ok())
    return status;
  return std::unique_ptr<Device>(std::move(device));
}

/// The driver's version with that of the kernel's driver, if it is known.
inline std::string describeVersions(std::string version,
                                    const std::string &kernelDriver) {
  if (!kernelDriver.empty())
    version += ", driver " + kernelDriver;
  return version;
}

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_DRIVERLISTING_H
