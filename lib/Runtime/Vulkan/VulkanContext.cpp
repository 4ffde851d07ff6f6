//===- VulkanContext.cpp - An open VkDevice -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanContext.h"

#include "../Format.h"

using namespace tessera::runtime;

std::vector<VkQueueFamilyProperties> VulkanContext::listQueueFamilies() const {
  uint32_t count = 0;
  driver.GetPhysicalDeviceQueueFamilyProperties(capabilities.handle, &count,
                                                nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  driver.GetPhysicalDeviceQueueFamilyProperties(capabilities.handle, &count,
                                                families.data());
  families.resize(count);
  return families;
}

static bool hasCompute(const VkQueueFamilyProperties &family) {
  return family.queueFlags & VK_QUEUE_COMPUTE_BIT;
}

Status VulkanContext::create(const DeviceInfo &info) {
  std::vector<const char *> extensions;
  VkPhysicalDeviceFeatures features = {};
  const VkPhysicalDeviceFeatures &has = capabilities.features.features;
  features.shaderInt64 = has.shaderInt64;
  features.shaderInt16 = has.shaderInt16;
  features.shaderFloat64 = has.shaderFloat64;
  auto features11 = make<VkPhysicalDeviceVulkan11Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  features11.storageBuffer16BitAccess =
      capabilities.features11.storageBuffer16BitAccess;
  StructureChain chain(features11);

  VkPhysicalDeviceVulkan12Features features12 = {};
  features12.bufferDeviceAddress = VK_TRUE;
  features12.vulkanMemoryModel = VK_TRUE;
  features12.vulkanMemoryModelDeviceScope = VK_TRUE;
  features12.shaderFloat16 = capabilities.features12.shaderFloat16;
  features12.shaderInt8 = capabilities.features12.shaderInt8;
  features12.storageBuffer8BitAccess =
      capabilities.features12.storageBuffer8BitAccess;
  features12.shaderBufferInt64Atomics =
      capabilities.features12.shaderBufferInt64Atomics;
  features12.shaderSubgroupExtendedTypes =
      capabilities.features12.shaderSubgroupExtendedTypes;
  chain.add(features12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);

  VkPhysicalDeviceVulkan13Features features13 = {};
  features13.subgroupSizeControl = capabilities.features13.subgroupSizeControl;
  features13.computeFullSubgroups =
      capabilities.features13.computeFullSubgroups;
  chain.add(features13, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);

  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomicFloat = {};
  if (capabilities.atomicFloat.shaderBufferFloat32AtomicAdd) {
    extensions.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
    atomicFloat.shaderBufferFloat32AtomicAdd = VK_TRUE;
    atomicFloat.shaderBufferFloat64AtomicAdd =
        capabilities.atomicFloat.shaderBufferFloat64AtomicAdd;
    chain.add(
        atomicFloat,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
  }
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix = {};
  if (capabilities.cooperativeMatrix.cooperativeMatrix) {
    extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    matrix.cooperativeMatrix = VK_TRUE;
    chain.add(
        matrix,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  }
  VkPhysicalDeviceShaderBfloat16FeaturesKHR bfloat16 = {};
  if (capabilities.bfloat16.shaderBFloat16CooperativeMatrix) {
    extensions.push_back(VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME);
    bfloat16.shaderBFloat16Type = VK_TRUE;
    bfloat16.shaderBFloat16CooperativeMatrix = VK_TRUE;
    chain.add(bfloat16,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR);
  }
  VkPhysicalDeviceCooperativeMatrix2FeaturesNV matrixFunctions = {};
  if (capabilities.hasMatrixFunctions()) {
    extensions.push_back(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME);
    matrixFunctions.cooperativeMatrixReductions = VK_TRUE;
    matrixFunctions.cooperativeMatrixConversions = VK_TRUE;
    matrixFunctions.cooperativeMatrixPerElementOperations = VK_TRUE;
    chain.add(
        matrixFunctions,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV);
  }
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {};
  if (capabilities.executables.pipelineExecutableInfo) {
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    executables.pipelineExecutableInfo = VK_TRUE;
    chain.add(
        executables,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR);
  }

  std::vector<VkQueueFamilyProperties> families = listQueueFamilies();
  while (queueFamily < families.size() && !hasCompute(families[queueFamily]))
    ++queueFamily;
  if (queueFamily == families.size())
    return Status(StatusCode::NoDevice,
                  info.name + " does not have a compute queue");
  timestampBits = families[queueFamily].timestampValidBits;

  float priority = 1.0f;
  auto queueInfo =
      make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queueInfo.queueFamilyIndex = queueFamily;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  auto deviceInfo =
      make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  deviceInfo.pNext = &features11;
  deviceInfo.queueCreateInfoCount = 1;
  deviceInfo.pQueueCreateInfos = &queueInfo;
  deviceInfo.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  deviceInfo.ppEnabledExtensionNames = extensions.data();
  deviceInfo.pEnabledFeatures = &features;
  if (VkResult result = driver.CreateDevice(capabilities.handle, &deviceInfo,
                                            nullptr, &device))
    return Status(StatusCode::NoDevice,
                  format("vulkan device %d (%s) cannot be opened: %s",
                         info.ordinal, info.name.c_str(),
                         describeVulkan("vkCreateDevice", result).c_str()));
  return findFunctions(info);
}

Status VulkanContext::use(const VulkanObjects &objects,
                          const EnabledFeatures &enabled,
                          const DeviceInfo &info) {
  isCallers = true;
  device = objects.device;
  queueFamily = objects.queueFamily;
  queueIndex = objects.queueIndex;
  capabilities.cooperativeMatrix.cooperativeMatrix &= enabled.cooperativeMatrix;
  capabilities.executables.pipelineExecutableInfo &= enabled.executables;
  std::vector<VkQueueFamilyProperties> families = listQueueFamilies();
  if (queueFamily >= families.size() || !hasCompute(families[queueFamily]))
    return Status(StatusCode::InvalidArgument,
                  format("queue family %u of %s does not support compute",
                         queueFamily, info.name.c_str()));
  timestampBits = families[queueFamily].timestampValidBits;
  return findFunctions(info);
}

Status VulkanContext::findFunctions(const DeviceInfo &info) {
  std::string missing;
#define TESSERA_FIND(name)                                                     \
  vk.name = reinterpret_cast<PFN_vk##name>(                                    \
      driver.GetDeviceProcAddr(device, "vk" #name));                           \
  if (!vk.name && missing.empty())                                             \
    missing = "vk" #name;
  TESSERA_VULKAN_DEVICE_FUNCTIONS(TESSERA_FIND)
#undef TESSERA_FIND
  if (!missing.empty())
    return Status(StatusCode::NoDevice, info.name + " has no " + missing);
  if (capabilities.executables.pipelineExecutableInfo) {
    vk.GetPipelineExecutableProperties =
        reinterpret_cast<PFN_vkGetPipelineExecutablePropertiesKHR>(
            driver.GetDeviceProcAddr(device,
                                     "vkGetPipelineExecutablePropertiesKHR"));
    vk.GetPipelineExecutableStatistics =
        reinterpret_cast<PFN_vkGetPipelineExecutableStatisticsKHR>(
            driver.GetDeviceProcAddr(device,
                                     "vkGetPipelineExecutableStatisticsKHR"));
  }
  return Status::success();
}

void VulkanContext::destroy() {
  if (device && vk.DestroyDevice && !isCallers)
    vk.DestroyDevice(device, nullptr);
  device = VK_NULL_HANDLE;
}
