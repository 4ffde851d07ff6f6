//===- VulkanBackend.cpp - Devices of Vulkan ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Backend.h"
#include "../SpirvProfile.h"
#include "OpenVulkanDevice.h"
#include "VulkanDriver.h"

using namespace tessera::runtime;

static Expected<std::unique_ptr<Device>>
openNative(const NativeDevice &native) {
  VulkanObjects objects;
  objects.instance = static_cast<VkInstance>(native.instance);
  objects.physicalDevice = static_cast<VkPhysicalDevice>(native.physicalDevice);
  objects.device = static_cast<VkDevice>(native.device);
  objects.createInfo =
      static_cast<const VkDeviceCreateInfo *>(native.createInfo);
  objects.queueFamily = native.queueFamily;
  objects.queueIndex = native.queueIndex;
  objects.getInstanceProcAddr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(native.getInstanceProcAddr);
  return openVulkanDeviceOn(objects);
}

// The initialization calls none of these functions.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const RuntimeBackend tessera::runtime::vulkanBackend = {
    "vulkan",
    [](std::vector<DeviceInfo> &devices) {
      return listByDriver(getVulkanDriver, listVulkanDevices, devices);
    },
    [](int ordinal) {
      return openByDriver("Vulkan", getVulkanDriver, [&](const auto &driver) {
        return openVulkanDevice(driver, ordinal);
      });
    },
    explainReportedIncompatible,
    rateReportedFit,
    openNative};
