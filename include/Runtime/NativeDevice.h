//===- NativeDevice.h - Devices on objects of the caller's ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens devices on a caller's own context, so that the caller's memory and
// queues can be used.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_NATIVEDEVICE_H
#define TESSERA_RUNTIME_NATIVEDEVICE_H

#include "Runtime/Device.h"

namespace tessera::runtime {

/// The caller's handles on which a device is opened. Handles that a target does
/// not use stay null.
struct NativeDevice {
  /// "opencl": `context` (cl_context), `device` (cl_device_id).
  /// "level-zero": `context` (ze_context_handle_t), `device`
  /// (ze_device_handle_t).
  /// "vulkan": `instance` (VkInstance), `physicalDevice` (VkPhysicalDevice),
  /// `device` (VkDevice), `createInfo`, and the queue.
  std::string target;
  void *context = nullptr;
  void *device = nullptr;
  void *instance = nullptr;
  void *physicalDevice = nullptr;
  /// The VkDeviceCreateInfo with which `device` was created; it lists the
  /// enabled features and extensions. It need not outlive the call.
  const void *createInfo = nullptr;
  /// The family and index of the device's own queue.
  uint32_t queueFamily = 0, queueIndex = 0;
  /// The loader's PFN_vkGetInstanceProcAddr; null for that of libvulkan.so.1.
  void *getInstanceProcAddr = nullptr;
};

/// Opens a device on the caller's handles, which must outlive it. The device
/// creates its own queue in the caller's context (on Vulkan it uses the given
/// queue). `InvalidArgument`, with the fix, for inconsistent handles;
/// `NoDevice` if the driver is missing or the device is not usable.
Expected<std::unique_ptr<Device>> openNativeDevice(const NativeDevice &native);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_NATIVEDEVICE_H
