//===- CallersVulkanDevice.cpp - Devices on a caller's VkDevice -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Format.h"
#include "OpenVulkanDevice.h"
#include "VulkanDevice.h"

using namespace tessera::runtime;

namespace {
/// Holds the functions of the caller's instance, which must outlive the
/// device.
struct CallersInstance {
  VulkanDriver driver;
};
class CallersVulkanDevice final : private CallersInstance, public VulkanDevice {
public:
  CallersVulkanDevice(const VulkanDriver &driver, VkPhysicalDevice handle,
                      DeviceInfo info)
      : CallersInstance{driver},
        VulkanDevice(CallersInstance::driver, handle, std::move(info)) {}
};
} // namespace

/// The features of a device that kernels may use.
static EnabledFeatures getFeatures(const VulkanCapabilities &device) {
  EnabledFeatures has;
  has.core = device.features.features;
  has.vulkan11 = device.features11;
  has.vulkan12 = device.features12;
  has.vulkan13 = device.features13;
  // The feature takes effect with an extension only.
  if (device.atomicFloat.shaderBufferFloat32AtomicAdd)
    has.atomicFloat = device.atomicFloat;
  return has;
}

/// Whether a device was created with that queue.
static bool hasQueue(const VkDeviceCreateInfo &info, uint32_t family,
                     uint32_t index) {
  for (uint32_t i = 0; i < info.queueCreateInfoCount; ++i) {
    const VkDeviceQueueCreateInfo &queues = info.pQueueCreateInfos[i];
    if (queues.queueFamilyIndex == family && queues.flags == 0 &&
        index < queues.queueCount)
      return true;
  }
  return false;
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openVulkanDeviceOn(const VulkanObjects &objects) {
  auto invalid = [](const std::string &text) {
    return Status(StatusCode::InvalidArgument, text);
  };
  if (!objects.instance || !objects.physicalDevice || !objects.device ||
      !objects.createInfo)
    return invalid(
        "a Vulkan device requires a VkInstance, a VkPhysicalDevice, a VkDevice "
        "and the VkDeviceCreateInfo that it was created with; one is null");
  if (objects.createInfo->sType != VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO)
    return invalid("createInfo is not a VkDeviceCreateInfo");
  VulkanDriver driver;
  std::string missing = findVulkanFunctions(objects.getInstanceProcAddr,
                                            objects.instance, driver);
  if (!missing.empty())
    return invalid(
        "the VkInstance does not provide " + missing +
        ": create it for Vulkan 1.3 (VkApplicationInfo::apiVersion)");
  VulkanCapabilities device;
  queryCapabilities(driver, objects.physicalDevice, device);
  std::string name = device.properties.properties.deviceName;
  if (std::string unfit = explainUnfit(device); !unfit.empty())
    return Status(StatusCode::NoDevice, name + " is not usable: " + unfit);
  EnabledFeatures enabled = readEnabledFeatures(*objects.createInfo);
  missing = listMissingFeatures(getFeatures(device), enabled);
  if (!missing.empty())
    return invalid(
        "the VkDevice was created without features that programs may use and " +
        name + " has: " + missing);
  if (!hasQueue(*objects.createInfo, objects.queueFamily, objects.queueIndex))
    return invalid(format("the VkDevice was created without queue %u of family "
                          "%u, or that queue is protected",
                          objects.queueIndex, objects.queueFamily));
  // Only enabled features count.
  if (!enabled.cooperativeMatrix)
    device.matrices.clear();
  if (!enabled.bfloat16Matrix)
    device.bfloat16.shaderBFloat16CooperativeMatrix = VK_FALSE;
  if (!enabled.matrixFunctions)
    device.matrixFunctions.cooperativeMatrixReductions = VK_FALSE;
  DeviceInfo info = describeDevice(driver, device);
  info.ordinal = -1;
  int next = 0;
  (void)forEachVulkanDevice(driver, [&](const VulkanCapabilities &other) {
    if (other.handle == objects.physicalDevice)
      info.ordinal = next;
    return other.handle != objects.physicalDevice && ++next;
  });
  auto opened = std::make_unique<CallersVulkanDevice>(
      driver, objects.physicalDevice, std::move(info));
  if (Status status = opened->open(objects, enabled); !status.ok())
    return status;
  return std::unique_ptr<Device>(std::move(opened));
}
