//===- NativeDevice.cpp - Devices on objects of the caller's --------------===//

#include "Runtime/NativeDevice.h"

#include "LevelZero/LevelZeroDevice.h"
#include "OpenCL/OpenCLDevice.h"
#include "Vulkan/VulkanDevice.h"

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

static Expected<std::unique_ptr<Device>>
openNativeLevelZero(const NativeDevice &native) {
  std::string reason;
  const LevelZeroDriver *driver = getLevelZeroDriver(&reason);
  if (!driver)
    return Status(StatusCode::NoDevice, "no Level Zero device: " + reason);
  return openLevelZeroDeviceOn(*driver,
                               static_cast<ze_context_handle_t>(native.context),
                               static_cast<ze_device_handle_t>(native.device));
}

static Expected<std::unique_ptr<Device>>
openNativeVulkan(const NativeDevice &native) {
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

Expected<std::unique_ptr<Device>>
tessera::runtime::openNativeDevice(const NativeDevice &native) {
  if (native.target == "opencl")
    return openNativeOpenCL(native);
  if (native.target == "level-zero")
    return openNativeLevelZero(native);
  if (native.target == "vulkan")
    return openNativeVulkan(native);
  return Status(StatusCode::InvalidArgument,
                "no device of target '" + native.target +
                    "' is opened on objects of the caller's: those of opencl, "
                    "level-zero and vulkan are; on cuda the primary context is "
                    "used, and hip has one for each device");
}
