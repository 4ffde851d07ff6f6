//===- EnabledFeatures.cpp - Enabled features of a VkDevice ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EnabledFeatures.h"

using namespace tessera::runtime;

// A feature may be asked for by the structure of its version of Vulkan, or by
// one of its own, from when it was an extension.

EnabledFeatures
tessera::runtime::readEnabledFeatures(const VkDeviceCreateInfo &info) {
  EnabledFeatures result;
  if (info.pEnabledFeatures)
    result.core = *info.pEnabledFeatures;
  for (const auto *at = static_cast<const VkBaseInStructure *>(info.pNext); at;
       at = at->pNext) {
    auto as = [&](const auto &type) {
      return reinterpret_cast<decltype(&type)>(at);
    };
    switch (static_cast<int>(at->sType)) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2:
      result.core = as(VkPhysicalDeviceFeatures2())->features;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
      result.vulkan11 = *as(result.vulkan11);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES:
      result.vulkan11.storageBuffer16BitAccess =
          as(VkPhysicalDevice16BitStorageFeatures())->storageBuffer16BitAccess;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
      result.vulkan12 = *as(result.vulkan12);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES:
      result.vulkan12.bufferDeviceAddress =
          as(VkPhysicalDeviceBufferDeviceAddressFeatures())
              ->bufferDeviceAddress;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES: {
      const auto *model = as(VkPhysicalDeviceVulkanMemoryModelFeatures());
      result.vulkan12.vulkanMemoryModel = model->vulkanMemoryModel;
      result.vulkan12.vulkanMemoryModelDeviceScope =
          model->vulkanMemoryModelDeviceScope;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES: {
      const auto *narrow = as(VkPhysicalDeviceShaderFloat16Int8Features());
      result.vulkan12.shaderFloat16 = narrow->shaderFloat16;
      result.vulkan12.shaderInt8 = narrow->shaderInt8;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES:
      result.vulkan12.storageBuffer8BitAccess =
          as(VkPhysicalDevice8BitStorageFeatures())->storageBuffer8BitAccess;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES:
      result.vulkan12.shaderBufferInt64Atomics =
          as(VkPhysicalDeviceShaderAtomicInt64Features())
              ->shaderBufferInt64Atomics;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES:
      result.vulkan12.shaderSubgroupExtendedTypes =
          as(VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures())
              ->shaderSubgroupExtendedTypes;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
      result.vulkan13 = *as(result.vulkan13);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES: {
      const auto *sizes = as(VkPhysicalDeviceSubgroupSizeControlFeatures());
      result.vulkan13.subgroupSizeControl = sizes->subgroupSizeControl;
      result.vulkan13.computeFullSubgroups = sizes->computeFullSubgroups;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT:
      result.atomicFloat = *as(result.atomicFloat);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR:
      result.cooperativeMatrix =
          as(VkPhysicalDeviceCooperativeMatrixFeaturesKHR())->cooperativeMatrix;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR: {
      const auto *bfloat16 = as(VkPhysicalDeviceShaderBfloat16FeaturesKHR());
      result.bfloat16Matrix = bfloat16->shaderBFloat16Type &&
                              bfloat16->shaderBFloat16CooperativeMatrix;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV: {
      const auto *matrix = as(VkPhysicalDeviceCooperativeMatrix2FeaturesNV());
      result.matrixFunctions = matrix->cooperativeMatrixReductions &&
                               matrix->cooperativeMatrixConversions &&
                               matrix->cooperativeMatrixPerElementOperations;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR:
      result.executables =
          as(VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR())
              ->pipelineExecutableInfo;
      break;
    default:
      break;
    }
  }
  return result;
}

std::string
tessera::runtime::listMissingFeatures(const EnabledFeatures &has,
                                      const EnabledFeatures &enabled) {
  std::string names;
#define TESSERA_COMPARE(group, name)                                           \
  if (has.group.name && !enabled.group.name)                                   \
    names += (names.empty() ? "" : ", ") + std::string(#name);
  TESSERA_COMPARE(core, shaderInt64)
  TESSERA_COMPARE(core, shaderInt16)
  TESSERA_COMPARE(core, shaderFloat64)
  TESSERA_COMPARE(vulkan11, storageBuffer16BitAccess)
  TESSERA_COMPARE(vulkan12, bufferDeviceAddress)
  TESSERA_COMPARE(vulkan12, vulkanMemoryModel)
  TESSERA_COMPARE(vulkan12, vulkanMemoryModelDeviceScope)
  TESSERA_COMPARE(vulkan12, shaderFloat16)
  TESSERA_COMPARE(vulkan12, shaderInt8)
  TESSERA_COMPARE(vulkan12, storageBuffer8BitAccess)
  TESSERA_COMPARE(vulkan12, shaderBufferInt64Atomics)
  TESSERA_COMPARE(vulkan12, shaderSubgroupExtendedTypes)
  TESSERA_COMPARE(vulkan13, subgroupSizeControl)
  TESSERA_COMPARE(vulkan13, computeFullSubgroups)
  TESSERA_COMPARE(atomicFloat, shaderBufferFloat32AtomicAdd)
  TESSERA_COMPARE(atomicFloat, shaderBufferFloat64AtomicAdd)
#undef TESSERA_COMPARE
  return names;
}
