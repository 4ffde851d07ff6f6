//===- VulkanContext.h - An open VkDevice -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANCONTEXT_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANCONTEXT_H

#include "../DriverDevice.h"
#include "EnabledFeatures.h"
#include "OpenVulkanDevice.h"
#include "VulkanCapabilities.h"

namespace tessera::runtime {

/// A VkDevice with its functions, which the parts of a `VulkanDevice` share.
struct VulkanContext {
  explicit VulkanContext(const VulkanDriver &driver) : driver(driver) {}
  VulkanContext(const VulkanContext &) = delete;
  VulkanContext &operator=(const VulkanContext &) = delete;

  /// Creates a VkDevice with one compute queue and each feature that a kernel
  /// may use and the physical device has. `info` names the device in messages.
  Status create(const DeviceInfo &info);
  /// Uses a VkDevice of the caller, which was created with these features.
  Status use(const VulkanObjects &objects, const EnabledFeatures &enabled,
             const DeviceInfo &info);
  /// Destroys the VkDevice, unless it is the caller's.
  void destroy();

  const VulkanDriver &driver;
  VulkanCapabilities capabilities;
  VulkanFunctions vk;
  VkDevice device = VK_NULL_HANDLE;
  bool isCallers = false;
  uint32_t queueFamily = 0;
  /// The index of the queue in the family.
  uint32_t queueIndex = 0;
  /// Valid bits of a timestamp; 0 if the queue family has no timestamps.
  uint32_t timestampBits = 0;

private:
  std::vector<VkQueueFamilyProperties> listQueueFamilies() const;
  Status findFunctions(const DeviceInfo &info);
};

/// The result of a call, for `DriverDevice`.
inline DriverResult toResult(const char *call, VkResult result) {
  return {call, static_cast<int>(result)};
}

inline DriverResult vulkanSuccess() { return {"", VK_SUCCESS}; }

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANCONTEXT_H
