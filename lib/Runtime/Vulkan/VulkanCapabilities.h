//===- VulkanCapabilities.h - Properties of a Vulkan device -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANCAPABILITIES_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANCAPABILITIES_H

#include "Runtime/Device.h"
#include "VulkanDriver.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::runtime {

/// Links structures to a pNext chain, in the order of the calls.
class StructureChain {
public:
  template <typename Structure>
  explicit StructureChain(Structure &head) : end(&head.pNext) {}

  /// Appends a structure, which must not move while the chain is in use.
  template <typename Structure>
  void add(Structure &structure, VkStructureType type) {
    structure.sType = type;
    *end = &structure;
    end = &structure.pNext;
  }

private:
  void **end;
};

/// Properties and features of a physical device. Structures point to each
/// other: an object must not move or be copied.
struct VulkanCapabilities {
  VulkanCapabilities() = default;
  VulkanCapabilities(const VulkanCapabilities &) = delete;
  VulkanCapabilities &operator=(const VulkanCapabilities &) = delete;

  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties2 properties = {};
  VkPhysicalDeviceVulkan11Properties properties11 = {};
  VkPhysicalDeviceVulkan12Properties properties12 = {};
  VkPhysicalDeviceVulkan13Properties properties13 = {};
  VkPhysicalDeviceFeatures2 features = {};
  VkPhysicalDeviceVulkan11Features features11 = {};
  VkPhysicalDeviceVulkan12Features features12 = {};
  VkPhysicalDeviceVulkan13Features features13 = {};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomicFloat = {};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR cooperativeMatrix = {};
  VkPhysicalDeviceShaderBfloat16FeaturesKHR bfloat16 = {};
  VkPhysicalDeviceCooperativeMatrix2FeaturesNV matrixFunctions = {};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {};
  std::vector<VkCooperativeMatrixPropertiesKHR> matrices;
  std::vector<std::string> extensions;

  bool hasExtension(const char *name) const;
  /// Whether cooperative matrices have row reductions, functions of elements,
  /// and conversions of accumulators to operands.
  bool hasMatrixFunctions() const {
    return matrixFunctions.cooperativeMatrixReductions &&
           matrixFunctions.cooperativeMatrixConversions &&
           matrixFunctions.cooperativeMatrixPerElementOperations;
  }
};

/// Reads all capabilities of the physical device.
void queryCapabilities(const VulkanDriver &driver, VkPhysicalDevice handle,
                       VulkanCapabilities &device);

/// The reason why Tessera's kernels cannot run on the device; empty if they
/// can.
std::string explainUnfit(const VulkanCapabilities &device);

/// The device's description; the ordinal is left to the caller.
DeviceInfo describeDevice(const VulkanDriver &driver,
                          const VulkanCapabilities &device);

/// Calls `visit` for each device that can run kernels, until it returns false.
/// Returns the reason for each device that cannot, or the reason why there is
/// no device; empty otherwise.
std::string forEachVulkanDevice(
    const VulkanDriver &driver,
    const std::function<bool(const VulkanCapabilities &)> &visit);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANCAPABILITIES_H
