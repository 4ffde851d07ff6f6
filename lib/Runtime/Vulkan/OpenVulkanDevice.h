//===- OpenVulkanDevice.h - Finding and opening devices ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_OPENVULKANDEVICE_H
#define TESSERA_LIB_RUNTIME_VULKAN_OPENVULKANDEVICE_H

#include "Runtime/Device.h"
#include "VulkanDriver.h"

namespace tessera::runtime {

/// Adds the devices that can run Tessera's kernels: Vulkan 1.3, buffer device
/// addresses, the Vulkan memory model, 64-bit integers. Returns the reason, on
/// one line, for each that cannot, or when there is none; empty otherwise.
std::string listVulkanDevices(const VulkanDriver &driver,
                              std::vector<DeviceInfo> &devices);

/// Opens a device, by its index among those listed.
Expected<std::unique_ptr<Device>> openVulkanDevice(const VulkanDriver &driver,
                                                   int ordinal);

/// The handles of a caller's device; see `NativeDevice`.
struct VulkanObjects {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physicalDevice = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  const VkDeviceCreateInfo *createInfo = nullptr;
  uint32_t queueFamily = 0, queueIndex = 0;
  PFN_vkGetInstanceProcAddr getInstanceProcAddr = nullptr;
};

/// Opens a device of the caller's, which outlives it. `InvalidArgument` names
/// what it was made without.
Expected<std::unique_ptr<Device>>
openVulkanDeviceOn(const VulkanObjects &objects);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_OPENVULKANDEVICE_H
