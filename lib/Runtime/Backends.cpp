//===- Backends.cpp - Finding devices -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backend.h"
#include "Runtime/DeviceClock.h"

#include <cstring>
#include <iterator>

using namespace tessera::runtime;

/// The best ones first, and last the CPU, which every machine has.
static constexpr const RuntimeBackend *backends[] = {
    &cudaBackend,      &hipBackend,    &vulkanBackend,
    &levelZeroBackend, &openCLBackend, &cpuBackend};

const RuntimeBackend *
tessera::runtime::findRuntimeBackend(const std::string &target) {
  for (const RuntimeBackend *backend : backends)
    if (target == backend->target)
      return backend;
  return nullptr;
}

bool tessera::runtime::isQuickWhileOpen(const std::string &target) {
  const RuntimeBackend *backend = findRuntimeBackend(target);
  return backend && backend->isQuickWhileOpen;
}

std::vector<DeviceInfo>
tessera::runtime::listDevices(std::string *why, const std::string &target) {
  // A program that stands for a device is no better than the CPU itself.
  std::vector<DeviceInfo> devices, software;
  if (why)
    why->clear();
  for (const RuntimeBackend *backend : backends) {
    if (target != "auto" && target != backend->target)
      continue;
    std::vector<DeviceInfo> found;
    std::string reason = backend->list(found);
    for (DeviceInfo &device : found)
      (device.isSoftware ? software : devices).push_back(std::move(device));
    if (why && !reason.empty())
      *why += std::string(backend->target) + ": " + reason + "\n";
  }
  std::move(software.begin(), software.end(), std::back_inserter(devices));
  return devices;
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openDevice(const std::string &target, int ordinal) {
  if (const RuntimeBackend *backend = findRuntimeBackend(target))
    return backend->open(ordinal);
  if (target == "auto") {
    std::vector<DeviceInfo> devices = listDevices();
    if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices.size())
      return Status(StatusCode::NoDevice,
                    format("no device %d: this machine has %zu", ordinal,
                           devices.size()));
    return openDevice(devices[ordinal].target, devices[ordinal].ordinal);
  }
  std::string known = std::string("auto, ") + cpuBackend.target;
  for (const RuntimeBackend *backend : backends)
    if (backend != &cpuBackend)
      known += std::string(", ") + backend->target;
  return Status(StatusCode::InvalidArgument,
                "unknown target '" + target + "'; expected " + known);
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openNativeDevice(const NativeDevice &native) {
  const RuntimeBackend *backend = findRuntimeBackend(native.target);
  if (backend && backend->openNative)
    return backend->openNative(native);
  return Status(StatusCode::InvalidArgument,
                "no device of target '" + native.target +
                    "' can be opened on a caller's handles; opencl, level-zero "
                    "and vulkan devices can (cuda uses the primary context, "
                    "and hip has one context per device)");
}

VendorLibrary::~VendorLibrary() = default;

Expected<std::unique_ptr<VendorLibrary>>
VendorLibrary::prepare(Device &device, const LibraryMatmul &matmul) {
  const DeviceInfo &info = device.info();
  const RuntimeBackend *backend = findRuntimeBackend(info.target);
  if (backend && backend->prepareLibrary)
    return backend->prepareLibrary(device, matmul);
  return Status(StatusCode::NoDevice,
                "no vendor library is known for " + info.target);
}

std::function<int64_t()>
tessera::runtime::openDeviceClock(const DeviceInfo &device) {
  const RuntimeBackend *backend = findRuntimeBackend(device.target);
  return backend && backend->openClock ? backend->openClock(device) : nullptr;
}
