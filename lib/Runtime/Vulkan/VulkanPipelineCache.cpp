//===- VulkanPipelineCache.cpp - Compiled pipelines on disk ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanPipelineCache.h"

using namespace tessera::runtime;

Status PipelineCache::open(const VulkanFunctions &vk, VkDevice device,
                           const std::string &directory,
                           const VkPhysicalDeviceProperties &properties,
                           const VkPhysicalDeviceVulkan11Properties &identity) {
  if (cache && file.getDirectory() == directory)
    return Status::success();
  close(vk, device);
  std::string why;
  saved = file.open(directory, properties, identity, why);
  auto info = make<VkPipelineCacheCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  info.initialDataSize = saved.size();
  info.pInitialData = saved.data();
  if (VkResult result = vk.CreatePipelineCache(device, &info, nullptr, &cache))
    return Status(StatusCode::Internal,
                  describeVulkan("vkCreatePipelineCache", result));
  if (why.empty())
    return Status::success();
  return Status(StatusCode::Internal,
                file.getPath() + ": " + why + "; recompiling");
}

Status PipelineCache::save(const VulkanFunctions &vk, VkDevice device) {
  if (!cache)
    return Status::success();
  size_t bytes = 0;
  VkResult result = vk.GetPipelineCacheData(device, cache, &bytes, nullptr);
  std::string data(bytes, '\0');
  if (!result && bytes)
    result = vk.GetPipelineCacheData(device, cache, &bytes, &data[0]);
  if (result)
    return Status(StatusCode::Internal,
                  describeVulkan("vkGetPipelineCacheData", result));
  data.resize(bytes);
  if (data == saved || data.size() > DriverFile::maxBytes)
    return Status::success();
  if (Status status = file.write(data); !status.ok())
    return status;
  saved = std::move(data);
  return Status::success();
}

void PipelineCache::close(const VulkanFunctions &vk, VkDevice device) {
  if (cache)
    vk.DestroyPipelineCache(device, cache, nullptr);
  cache = VK_NULL_HANDLE;
}
