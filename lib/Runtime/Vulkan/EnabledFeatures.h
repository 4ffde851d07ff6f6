//===- EnabledFeatures.h - Enabled features of a VkDevice ----*- C++ -*----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_ENABLEDFEATURES_H
#define TESSERA_LIB_RUNTIME_VULKAN_ENABLEDFEATURES_H

#include "VulkanDriver.h"

#include <string>

namespace tessera::runtime {

/// The features that kernels may use, by the structures of Vulkan 1.3 whatever
/// structures the device was made with; all others are not set.
struct EnabledFeatures {
  VkPhysicalDeviceFeatures core = {};
  VkPhysicalDeviceVulkan11Features vulkan11 = {};
  VkPhysicalDeviceVulkan12Features vulkan12 = {};
  VkPhysicalDeviceVulkan13Features vulkan13 = {};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomicFloat = {};
  bool cooperativeMatrix = false, bfloat16Matrix = false,
       matrixFunctions = false, executables = false;
};

EnabledFeatures readEnabledFeatures(const VkDeviceCreateInfo &info);

/// The names of the features that `has` has and `enabled` has not, of those
/// that a program may use without a mention in its chip; empty if there is
/// none.
std::string listMissingFeatures(const EnabledFeatures &has,
                                const EnabledFeatures &enabled);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_ENABLEDFEATURES_H
