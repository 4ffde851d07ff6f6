//===- VulkanStatistics.cpp - Pipeline statistics of a driver -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanStatistics.h"

#include "../Format.h"

#include <vector>

using namespace tessera::runtime;

static std::string getValue(const VkPipelineExecutableStatisticKHR &statistic) {
  switch (statistic.format) {
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
    return statistic.value.b32 ? "yes" : "no";
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
    return std::to_string(statistic.value.i64);
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
    return std::to_string(statistic.value.u64);
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
    return format("%g", statistic.value.f64);
  default:
    return "?";
  }
}

std::string tessera::runtime::describePipeline(const VulkanFunctions &vk,
                                               VkDevice device,
                                               VkPipeline pipeline) {
  auto whole = make<VkPipelineInfoKHR>(VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR);
  whole.pipeline = pipeline;
  uint32_t numExecutables = 0;
  if (vk.GetPipelineExecutableProperties(device, &whole, &numExecutables,
                                         nullptr))
    return "";
  std::string text;
  for (uint32_t i = 0; i < numExecutables; ++i) {
    auto one = make<VkPipelineExecutableInfoKHR>(
        VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR);
    one.pipeline = pipeline;
    one.executableIndex = i;
    uint32_t count = 0;
    if (vk.GetPipelineExecutableStatistics(device, &one, &count, nullptr))
      continue;
    std::vector<VkPipelineExecutableStatisticKHR> statistics(
        count, make<VkPipelineExecutableStatisticKHR>(
                   VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR));
    if (vk.GetPipelineExecutableStatistics(device, &one, &count,
                                           statistics.data()))
      continue;
    statistics.resize(count);
    for (const VkPipelineExecutableStatisticKHR &statistic : statistics)
      text += (text.empty() ? "" : ", ") + std::string(statistic.name) + " " +
              getValue(statistic);
  }
  return text;
}
