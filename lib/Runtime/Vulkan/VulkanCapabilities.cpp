//===- VulkanCapabilities.cpp - Properties of a Vulkan device -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanCapabilities.h"

#include "../Format.h"

#include <algorithm>

using namespace tessera::runtime;

bool VulkanCapabilities::hasExtension(const char *name) const {
  return std::find(extensions.begin(), extensions.end(), name) !=
         extensions.end();
}

/// Reads the shapes and types of the device's cooperative matrices.
static void queryMatrices(const VulkanDriver &driver,
                          VulkanCapabilities &device) {
  uint32_t count = 0;
  driver.GetCooperativeMatrixProperties(device.handle, &count, nullptr);
  device.matrices.assign(
      count, make<VkCooperativeMatrixPropertiesKHR>(
                 VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR));
  driver.GetCooperativeMatrixProperties(device.handle, &count,
                                        device.matrices.data());
  device.matrices.resize(count);
}

void tessera::runtime::queryCapabilities(const VulkanDriver &driver,
                                         VkPhysicalDevice handle,
                                         VulkanCapabilities &device) {
  device.handle = handle;
  uint32_t count = 0;
  driver.EnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  driver.EnumerateDeviceExtensionProperties(handle, nullptr, &count,
                                            extensions.data());
  for (const VkExtensionProperties &extension : extensions)
    device.extensions.emplace_back(extension.extensionName);

  device.properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  StructureChain properties(device.properties);
  properties.add(device.properties11,
                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
  properties.add(device.properties12,
                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  properties.add(device.properties13,
                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES);
  driver.GetPhysicalDeviceProperties2(handle, &device.properties);
  // An older device does not know all structures of the chain.
  if (device.properties.properties.apiVersion < VK_API_VERSION_1_3)
    return;

  device.features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  StructureChain features(device.features);
  features.add(device.features11,
               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  features.add(device.features12,
               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  features.add(device.features13,
               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  auto addIf = [&](const char *extension, auto &structure,
                   VkStructureType type) {
    if (device.hasExtension(extension))
      features.add(structure, type);
  };
  addIf(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, device.atomicFloat,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
  addIf(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, device.cooperativeMatrix,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  addIf(VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME, device.bfloat16,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR);
  addIf(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME, device.matrixFunctions,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV);
  addIf(
      VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, device.executables,
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR);
  driver.GetPhysicalDeviceFeatures2(handle, &device.features);
  if (device.cooperativeMatrix.cooperativeMatrix &&
      driver.GetCooperativeMatrixProperties)
    queryMatrices(driver, device);
}

std::string tessera::runtime::explainUnfit(const VulkanCapabilities &device) {
  uint32_t version = device.properties.properties.apiVersion;
  if (version < VK_API_VERSION_1_3)
    return format("it supports Vulkan %u.%u, but 1.3 is required",
                  VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  if (!device.features12.bufferDeviceAddress)
    return "it does not support bufferDeviceAddress";
  if (!device.features12.vulkanMemoryModel ||
      !device.features12.vulkanMemoryModelDeviceScope)
    return "it does not support vulkanMemoryModel";
  if (!device.features.features.shaderInt64)
    return "it does not support shaderInt64";
  return "";
}

static const char *getTypeName(VkComponentTypeKHR type) {
  switch (static_cast<int>(type)) {
  case VK_COMPONENT_TYPE_FLOAT16_KHR:
    return "f16";
  case VK_COMPONENT_TYPE_FLOAT32_KHR:
    return "f32";
  case VK_COMPONENT_TYPE_FLOAT64_KHR:
    return "f64";
  case VK_COMPONENT_TYPE_BFLOAT16_KHR:
    return "bf16";
  case VK_COMPONENT_TYPE_SINT8_KHR:
    return "s8";
  case VK_COMPONENT_TYPE_UINT8_KHR:
    return "u8";
  case VK_COMPONENT_TYPE_SINT32_KHR:
    return "s32";
  case VK_COMPONENT_TYPE_UINT32_KHR:
    return "u32";
  default:
    return nullptr;
  }
}

/// The device properties that the compiler needs, as its table reads them:
/// lanes of a subgroup, bytes of workgroup memory, threads of a workgroup, the
/// floats whose NaNs are kept, whether matrices can be reduced, and the shapes
/// and types of its matrix products.
static std::string describeChip(const VulkanCapabilities &device) {
  const VkPhysicalDeviceLimits &limits = device.properties.properties.limits;
  std::string text = format("s%u-w%u-t%u", device.properties11.subgroupSize,
                            limits.maxComputeSharedMemorySize,
                            limits.maxComputeWorkGroupInvocations);
  const VkPhysicalDeviceVulkan12Properties &floats = device.properties12;
  if (floats.shaderSignedZeroInfNanPreserveFloat16)
    text += "-n16";
  if (floats.shaderSignedZeroInfNanPreserveFloat32)
    text += "-n32";
  if (floats.shaderSignedZeroInfNanPreserveFloat64)
    text += "-n64";
  if (!device.matrices.empty() && device.hasMatrixFunctions())
    text += "-reduce";
  for (const VkCooperativeMatrixPropertiesKHR &matrix : device.matrices) {
    const char *a = getTypeName(matrix.AType), *b = getTypeName(matrix.BType),
               *c = getTypeName(matrix.CType),
               *result = getTypeName(matrix.ResultType);
    if (matrix.scope != VK_SCOPE_SUBGROUP_KHR || !a || !b || !c ||
        c != result || a != b || matrix.saturatingAccumulation)
      continue;
    if (matrix.AType == VK_COMPONENT_TYPE_BFLOAT16_KHR &&
        !device.bfloat16.shaderBFloat16CooperativeMatrix)
      continue;
    text += format("-m%un%uk%u.%s.%s", matrix.MSize, matrix.NSize, matrix.KSize,
                   result, a);
  }
  return text;
}

/// The value of `DeviceInfo::kind`.
static const char *getKind(VkPhysicalDeviceType type) {
  switch (type) {
  case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    return "discrete";
  case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
    return "integrated";
  case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
    return "virtual";
  case VK_PHYSICAL_DEVICE_TYPE_CPU:
    return "software";
  default:
    return "";
  }
}

DeviceInfo tessera::runtime::describeDevice(const VulkanDriver &driver,
                                            const VulkanCapabilities &device) {
  const VkPhysicalDeviceProperties &properties = device.properties.properties;
  DeviceInfo info;
  info.target = "vulkan";
  info.chip = describeChip(device);
  info.name = properties.deviceName;
  info.driver = format("%s %s, Vulkan %u.%u.%u", device.properties12.driverName,
                       device.properties12.driverInfo,
                       VK_API_VERSION_MAJOR(properties.apiVersion),
                       VK_API_VERSION_MINOR(properties.apiVersion),
                       VK_API_VERSION_PATCH(properties.apiVersion));
  info.subgroupSize = static_cast<int>(device.properties11.subgroupSize);
  info.workgroupMemoryBytes = properties.limits.maxComputeSharedMemorySize;
  info.kind = getKind(properties.deviceType);
  info.isSoftware = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  VkPhysicalDeviceMemoryProperties memory;
  driver.GetPhysicalDeviceMemoryProperties(device.handle, &memory);
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      info.memoryBytes += memory.memoryHeaps[i].size;
  return info;
}

std::string tessera::runtime::forEachVulkanDevice(
    const VulkanDriver &driver,
    const std::function<bool(const VulkanCapabilities &)> &visit) {
  uint32_t count = 0;
  if (VkResult result =
          driver.EnumeratePhysicalDevices(driver.instance, &count, nullptr))
    return describeVulkan("vkEnumeratePhysicalDevices", result);
  std::vector<VkPhysicalDevice> handles(count);
  driver.EnumeratePhysicalDevices(driver.instance, &count, handles.data());
  handles.resize(count);
  std::string reason;
  bool any = false;
  for (VkPhysicalDevice handle : handles) {
    VulkanCapabilities device;
    queryCapabilities(driver, handle, device);
    std::string why = explainUnfit(device);
    if (!why.empty()) {
      reason += (reason.empty() ? "" : "; ") +
                std::string(device.properties.properties.deviceName) + ": " +
                why;
      continue;
    }
    any = true;
    if (!visit(device))
      break;
  }
  if (!any && reason.empty())
    return "the loader reports no device";
  return reason;
}
