//===- EnabledFeaturesTest.cpp - Features of a VkDevice -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Vulkan/EnabledFeatures.h"

#include <gtest/gtest.h>

using namespace tessera::runtime;

namespace {

/// A device with all features enabled.
EnabledFeatures makeFull() {
  EnabledFeatures has;
  has.core.shaderInt64 = has.core.shaderInt16 = VK_TRUE;
  has.vulkan11.storageBuffer16BitAccess = VK_TRUE;
  has.vulkan12.bufferDeviceAddress = VK_TRUE;
  has.vulkan12.vulkanMemoryModel = VK_TRUE;
  has.vulkan12.vulkanMemoryModelDeviceScope = VK_TRUE;
  has.vulkan12.shaderFloat16 = has.vulkan12.shaderInt8 = VK_TRUE;
  has.vulkan12.storageBuffer8BitAccess = VK_TRUE;
  has.vulkan13.subgroupSizeControl = VK_TRUE;
  return has;
}

TEST(EnabledFeatures, WithoutAnyAllAreMissing) {
  VkDeviceCreateInfo info = {};
  EXPECT_EQ(listMissingFeatures(makeFull(), readEnabledFeatures(info)),
            "shaderInt64, shaderInt16, storageBuffer16BitAccess, "
            "bufferDeviceAddress, vulkanMemoryModel, "
            "vulkanMemoryModelDeviceScope, shaderFloat16, shaderInt8, "
            "storageBuffer8BitAccess, subgroupSizeControl");
  // Features that the device lacks are not reported as missing.
  EXPECT_EQ(listMissingFeatures({}, readEnabledFeatures(info)), "");
}

TEST(EnabledFeatures, StructuresOfExtensionsCount) {
  VkPhysicalDeviceFeatures core = {};
  core.shaderInt64 = core.shaderInt16 = VK_TRUE;
  auto storage16 = make<VkPhysicalDevice16BitStorageFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES);
  storage16.storageBuffer16BitAccess = VK_TRUE;
  auto storage8 = make<VkPhysicalDevice8BitStorageFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES);
  storage8.storageBuffer8BitAccess = VK_TRUE;
  storage8.pNext = &storage16;
  auto narrow = make<VkPhysicalDeviceShaderFloat16Int8Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
  narrow.shaderFloat16 = narrow.shaderInt8 = VK_TRUE;
  narrow.pNext = &storage8;
  auto address = make<VkPhysicalDeviceBufferDeviceAddressFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
  address.bufferDeviceAddress = VK_TRUE;
  address.pNext = &narrow;
  auto model = make<VkPhysicalDeviceVulkanMemoryModelFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES);
  model.vulkanMemoryModel = model.vulkanMemoryModelDeviceScope = VK_TRUE;
  model.pNext = &address;
  auto sizes = make<VkPhysicalDeviceSubgroupSizeControlFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  sizes.pNext = &model;
  auto matrix = make<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  matrix.cooperativeMatrix = VK_TRUE;
  matrix.pNext = &sizes;
  VkDeviceCreateInfo info = {};
  info.pEnabledFeatures = &core;
  info.pNext = &matrix;
  EnabledFeatures enabled = readEnabledFeatures(info);
  EXPECT_EQ(listMissingFeatures(makeFull(), enabled), "subgroupSizeControl");
  EXPECT_TRUE(enabled.cooperativeMatrix);
  EXPECT_FALSE(enabled.bfloat16Matrix);
}

} // namespace
