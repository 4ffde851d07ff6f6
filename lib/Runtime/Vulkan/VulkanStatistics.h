//===- VulkanStatistics.h - Pipeline statistics of a driver ---*- C++ -*---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANSTATISTICS_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANSTATISTICS_H

#include "VulkanDriver.h"

namespace tessera::runtime {

/// The statistics that the driver reports for a pipeline that was created with
/// VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR
/// (VK_KHR_pipeline_executable_properties), in its own words: "Register Count
/// 168, Stack Size 0". Empty if it reports none.
std::string describePipeline(const VulkanFunctions &vk, VkDevice device,
                             VkPipeline pipeline);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANSTATISTICS_H
