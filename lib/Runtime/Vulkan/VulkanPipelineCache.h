//===- VulkanPipelineCache.h - Compiled pipelines on disk -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANPIPELINECACHE_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANPIPELINECACHE_H

#include "DriverFile.h"
#include "VulkanDriver.h"

#include "Runtime/Status.h"

#include <string>

namespace tessera::runtime {

/// A VkPipelineCache that is kept in a file, one for each device and driver.
///
/// A driver is to check the data's header only (Vulkan Specification, "Pipeline
/// Cache Header"), so that whatever was cut off or changed is found out by the
/// file's checksum.
class PipelineCache {
public:
  /// Reads the file of `directory` for the device and driver that `properties`
  /// and `identity` describe. Without such a file the cache is empty; where it
  /// is there and cannot be used, the cache is empty too, and the status has
  /// the reason.
  Status open(const VulkanFunctions &vk, VkDevice device,
              const std::string &directory,
              const VkPhysicalDeviceProperties &properties,
              const VkPhysicalDeviceVulkan11Properties &identity);

  /// Writes the file anew if there is more than it has.
  Status save(const VulkanFunctions &vk, VkDevice device);

  void close(const VulkanFunctions &vk, VkDevice device);

  /// Null before `open`.
  VkPipelineCache get() const { return cache; }

private:
  VkPipelineCache cache = VK_NULL_HANDLE;
  DriverFile file{"tessera pipelines 1\n", ".pipelines"};
  /// The contents of the file.
  std::string saved;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANPIPELINECACHE_H
