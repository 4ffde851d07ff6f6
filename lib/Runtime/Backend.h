//===- Backend.h - The APIs by which devices are reached --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_BACKEND_H
#define TESSERA_LIB_RUNTIME_BACKEND_H

#include "Format.h"
#include "Runtime/Bundle.h"
#include "Runtime/Device.h"
#include "Runtime/NativeDevice.h"
#include "Runtime/VendorLibrary.h"

#include <functional>

namespace tessera::runtime {

/// All that differs from API to API besides its `Device`. Each folder of
/// lib/Runtime defines one; Backends.cpp lists them.
struct RuntimeBackend {
  /// "cuda".
  const char *target;
  /// Appends the devices. Returns the reason for those that cannot be used.
  std::string (*list)(std::vector<DeviceInfo> &devices);
  Expected<std::unique_ptr<Device>> (*open)(int ordinal);
  /// Why a device does not run code for a chip; see `explainIncompatible` in
  /// CodeCompatibility.h. The two chips differ.
  std::string (*explainIncompatible)(const std::string &code,
                                     const std::string &device,
                                     bool isMachineCode);
  /// How well a bundle's code, which the device runs, fits it: more is better.
  int (*rateFit)(const ProgramVariant &variant, const DeviceInfo &device);
  /// Opens a device on objects of the caller's; null where there are none.
  Expected<std::unique_ptr<Device>> (*openNative)(const NativeDevice &native) =
      nullptr;
  /// Prepares a matmul by the vendor's library; null if none is known.
  Expected<std::unique_ptr<VendorLibrary>> (*prepareLibrary)(
      Device &device, const LibraryMatmul &matmul) = nullptr;
  /// Opens a function that reads a device's clock in MHz, empty if nothing
  /// reports it; null if the API cannot report it.
  std::function<int64_t()> (*openClock)(const DeviceInfo &device) = nullptr;
  /// See `isQuickWhileOpen`.
  bool isQuickWhileOpen = false;
};

extern const RuntimeBackend cpuBackend, cudaBackend, hipBackend,
    levelZeroBackend, openCLBackend, vulkanBackend;

/// The backend of a target, or null.
const RuntimeBackend *findRuntimeBackend(const std::string &target);

/// How much of what a device of SPIR-V reports a bundle's code uses. Code of
/// the device's family is the best.
int rateReportedFit(const ProgramVariant &variant, const DeviceInfo &device);

/// Lists the devices of a driver that is found when the program runs.
template <typename Driver>
std::string listByDriver(const Driver *(*getDriver)(std::string *),
                         std::string (*list)(const Driver &,
                                             std::vector<DeviceInfo> &),
                         std::vector<DeviceInfo> &devices) {
  std::string reason;
  const Driver *driver = getDriver(&reason);
  return driver ? list(*driver, devices) : reason;
}

/// Calls `open` with the driver. `NoDevice` where there is none; `name` is the
/// API's.
template <typename Driver, typename Open>
Expected<std::unique_ptr<Device>>
openByDriver(const char *name, const Driver *(*getDriver)(std::string *),
             Open open) {
  std::string reason;
  const Driver *driver = getDriver(&reason);
  if (!driver)
    return Status(StatusCode::NoDevice,
                  format("no %s device: ", name) + reason);
  return open(*driver);
}

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_BACKEND_H
