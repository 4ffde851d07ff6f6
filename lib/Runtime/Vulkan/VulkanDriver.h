//===- VulkanDriver.h - The part of Vulkan in use ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loader, libvulkan.so.1, is found when the program runs; building takes
// Vulkan's headers only. Which drivers the loader offers is up to its own
// environment variables (VK_DRIVER_FILES, VK_ICD_FILENAMES).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANDRIVER_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANDRIVER_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <string>

// Headers before 1.3.255 lack this extension (Vulkan Specification,
// "VK_KHR_cooperative_matrix").
#ifndef VK_KHR_cooperative_matrix
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"
constexpr auto
    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR =
        static_cast<VkStructureType>(1000506000);
constexpr auto VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR =
    static_cast<VkStructureType>(1000506001);
enum VkComponentTypeKHR : int {
  VK_COMPONENT_TYPE_FLOAT16_KHR = 0,
  VK_COMPONENT_TYPE_FLOAT32_KHR = 1,
  VK_COMPONENT_TYPE_FLOAT64_KHR = 2,
  VK_COMPONENT_TYPE_SINT8_KHR = 3,
  VK_COMPONENT_TYPE_SINT16_KHR = 4,
  VK_COMPONENT_TYPE_SINT32_KHR = 5,
  VK_COMPONENT_TYPE_SINT64_KHR = 6,
  VK_COMPONENT_TYPE_UINT8_KHR = 7,
  VK_COMPONENT_TYPE_UINT16_KHR = 8,
  VK_COMPONENT_TYPE_UINT32_KHR = 9,
  VK_COMPONENT_TYPE_UINT64_KHR = 10,
};
enum VkScopeKHR : int { VK_SCOPE_SUBGROUP_KHR = 3 };
struct VkCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void *pNext;
  uint32_t MSize, NSize, KSize;
  VkComponentTypeKHR AType, BType, CType, ResultType;
  VkBool32 saturatingAccumulation;
  VkScopeKHR scope;
};
struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
  VkStructureType sType;
  void *pNext;
  VkBool32 cooperativeMatrix;
  VkBool32 cooperativeMatrixRobustBufferAccess;
};
using PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = VkResult (*)(
    VkPhysicalDevice, uint32_t *, VkCooperativeMatrixPropertiesKHR *);
#endif

// And those before 1.4.311 this one ("VK_KHR_shader_bfloat16").
#ifndef VK_KHR_shader_bfloat16
#define VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME "VK_KHR_shader_bfloat16"
constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR =
    static_cast<VkStructureType>(1000141000);
constexpr auto VK_COMPONENT_TYPE_BFLOAT16_KHR =
    static_cast<VkComponentTypeKHR>(1000141000);
struct VkPhysicalDeviceShaderBfloat16FeaturesKHR {
  VkStructureType sType;
  void *pNext;
  VkBool32 shaderBFloat16Type;
  VkBool32 shaderBFloat16DotProduct;
  VkBool32 shaderBFloat16CooperativeMatrix;
};
#endif

// And those before 1.3.298 this one.
#ifndef VK_NV_cooperative_matrix2
#define VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME "VK_NV_cooperative_matrix2"
constexpr auto
    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV =
        static_cast<VkStructureType>(1000593000);
struct VkPhysicalDeviceCooperativeMatrix2FeaturesNV {
  VkStructureType sType;
  void *pNext;
  VkBool32 cooperativeMatrixWorkgroupScope;
  VkBool32 cooperativeMatrixFlexibleDimensions;
  VkBool32 cooperativeMatrixReductions;
  VkBool32 cooperativeMatrixConversions;
  VkBool32 cooperativeMatrixPerElementOperations;
  VkBool32 cooperativeMatrixTensorAddressing;
  VkBool32 cooperativeMatrixBlockLoads;
};
#endif

namespace tessera::runtime {

#define TESSERA_VULKAN_INSTANCE_FUNCTIONS(X)                                   \
  X(EnumeratePhysicalDevices)                                                  \
  X(GetPhysicalDeviceProperties2)                                              \
  X(GetPhysicalDeviceFeatures2)                                                \
  X(GetPhysicalDeviceMemoryProperties)                                         \
  X(GetPhysicalDeviceMemoryProperties2)                                        \
  X(GetPhysicalDeviceQueueFamilyProperties)                                    \
  X(EnumerateDeviceExtensionProperties)                                        \
  X(CreateDevice)                                                              \
  X(GetDeviceProcAddr)

#define TESSERA_VULKAN_DEVICE_FUNCTIONS(X)                                     \
  X(DestroyDevice)                                                             \
  X(GetDeviceQueue)                                                            \
  X(DeviceWaitIdle)                                                            \
  X(CreateBuffer)                                                              \
  X(DestroyBuffer)                                                             \
  X(GetBufferMemoryRequirements)                                               \
  X(GetBufferDeviceAddress)                                                    \
  X(AllocateMemory)                                                            \
  X(FreeMemory)                                                                \
  X(BindBufferMemory)                                                          \
  X(MapMemory)                                                                 \
  X(CreateShaderModule)                                                        \
  X(DestroyShaderModule)                                                       \
  X(CreatePipelineLayout)                                                      \
  X(DestroyPipelineLayout)                                                     \
  X(CreateComputePipelines)                                                    \
  X(DestroyPipeline)                                                           \
  X(CreatePipelineCache)                                                       \
  X(DestroyPipelineCache)                                                      \
  X(GetPipelineCacheData)                                                      \
  X(CreateCommandPool)                                                         \
  X(DestroyCommandPool)                                                        \
  X(AllocateCommandBuffers)                                                    \
  X(FreeCommandBuffers)                                                        \
  X(BeginCommandBuffer)                                                        \
  X(EndCommandBuffer)                                                          \
  X(ResetCommandBuffer)                                                        \
  X(CmdBindPipeline)                                                           \
  X(CmdPushConstants)                                                          \
  X(CmdDispatch)                                                               \
  X(CmdPipelineBarrier)                                                        \
  X(CmdCopyBuffer)                                                             \
  X(CmdFillBuffer)                                                             \
  X(CmdExecuteCommands)                                                        \
  X(CmdResetQueryPool)                                                         \
  X(CmdWriteTimestamp)                                                         \
  X(CreateQueryPool)                                                           \
  X(DestroyQueryPool)                                                          \
  X(GetQueryPoolResults)                                                       \
  X(CreateFence)                                                               \
  X(DestroyFence)                                                              \
  X(GetFenceStatus)                                                            \
  X(ResetFences)                                                               \
  X(WaitForFences)                                                             \
  X(QueueSubmit)

/// The loader, with one instance.
struct VulkanDriver {
  VkInstance instance = VK_NULL_HANDLE;
#define TESSERA_DECLARE(name) PFN_vk##name name = nullptr;
  TESSERA_VULKAN_INSTANCE_FUNCTIONS(TESSERA_DECLARE)
#undef TESSERA_DECLARE
  /// Null where no driver has the extension.
  PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR
      GetCooperativeMatrixProperties = nullptr;
};

/// The functions of one open device.
struct VulkanFunctions {
#define TESSERA_DECLARE(name) PFN_vk##name name = nullptr;
  TESSERA_VULKAN_DEVICE_FUNCTIONS(TESSERA_DECLARE)
#undef TESSERA_DECLARE
  /// Null where the device has no VK_KHR_pipeline_executable_properties.
  PFN_vkGetPipelineExecutablePropertiesKHR GetPipelineExecutableProperties =
      nullptr;
  PFN_vkGetPipelineExecutableStatisticsKHR GetPipelineExecutableStatistics =
      nullptr;
};

/// A structure of Vulkan's, zero except for its sType.
template <typename Structure> Structure make(VkStructureType type) {
  Structure value = {};
  value.sType = type;
  return value;
}

/// "vkCreateDevice: VK_ERROR_DEVICE_LOST".
std::string describeVulkan(const char *call, VkResult result);

/// Sets what the functions of an instance are, by the loader's own function;
/// null stands for that of libvulkan.so.1. Returns the name of the first one
/// that is not there.
std::string findVulkanFunctions(PFN_vkGetInstanceProcAddr get,
                                VkInstance instance, VulkanDriver &driver);

/// The loader of this machine, with an instance; null, and the reason in
/// `why`, when there is none.
const VulkanDriver *getVulkanDriver(std::string *why);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANDRIVER_H
