//===- NativeDevice.h - Devices on objects of the caller's ------*- C++ -*-===//
//
// A program that has a context of its own wants its memory and its queues
// used, and those are of that context.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_NATIVEDEVICE_H
#define TESSERA_RUNTIME_NATIVEDEVICE_H

#include "Runtime/Device.h"

namespace tessera::runtime {

/// What a device is opened on. Handles that a target does not name stay null.
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
  /// The VkDeviceCreateInfo that `device` was made with, which says what
  /// features and extensions it has. It need not live on.
  const void *createInfo = nullptr;
  /// The device's own queue: of which family, and which of that.
  uint32_t queueFamily = 0, queueIndex = 0;
  /// The loader's PFN_vkGetInstanceProcAddr; null for that of libvulkan.so.1.
  void *getInstanceProcAddr = nullptr;
};

/// Opens a device on objects of the caller's, which outlive it. It keeps to the
/// caller's context and makes a queue of its own there (on Vulkan it uses the
/// one that is named). `InvalidArgument` for what does not fit together, with
/// the mend; `NoDevice` where the driver is not there or the device is of no
/// use.
Expected<std::unique_ptr<Device>> openNativeDevice(const NativeDevice &native);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_NATIVEDEVICE_H
