//===- VulkanKernels.cpp - Compute pipelines ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanKernels.h"

#include "VulkanStatistics.h"

#include <cstring>

using namespace tessera::runtime;

void tessera::runtime::packVulkanParameters(const LaunchRequest &request,
                                            char *to) {
  for (int64_t i = 0; i < request.numArgs; ++i) {
    std::memset(to + 8 * i, 0, 8);
    std::memcpy(to + 8 * i, request.args[i],
                request.argSizes ? static_cast<size_t>(request.argSizes[i])
                                 : 8);
  }
}

DriverResult VulkanKernels::create() {
  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, maxPushedBytes};
  auto info = make<VkPipelineLayoutCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  return toResult(
      "vkCreatePipelineLayout",
      context.vk.CreatePipelineLayout(context.device, &info, nullptr, &layout));
}

void VulkanKernels::destroy() {
  pipelines.close(context.vk, context.device);
  if (layout)
    context.vk.DestroyPipelineLayout(context.device, layout, nullptr);
}

DriverResult VulkanKernels::createModule(const std::vector<uint32_t> &code,
                                         VkShaderModule &module) const {
  auto info = make<VkShaderModuleCreateInfo>(
      VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  info.codeSize = code.size() * sizeof(uint32_t);
  info.pCode = code.data();
  return toResult(
      "vkCreateShaderModule",
      context.vk.CreateShaderModule(context.device, &info, nullptr, &module));
}

void VulkanKernels::destroyModule(VkShaderModule module) const {
  context.vk.DestroyShaderModule(context.device, module, nullptr);
}

DriverResult VulkanKernels::createPipeline(VkShaderModule module,
                                           const SpirvKernel &kernel,
                                           VkPipelineCreateFlags flags,
                                           VkPipeline &pipeline) const {
  const VulkanCapabilities &capabilities = context.capabilities;
  int64_t threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  auto size = make<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
  size.requiredSubgroupSize = static_cast<uint32_t>(subgroupSize);
  auto create = make<VkComputePipelineCreateInfo>(
      VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  create.flags = flags;
  create.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  create.stage.module = module;
  create.stage.pName = kernel.name.c_str();
  if (capabilities.features13.subgroupSizeControl &&
      (capabilities.properties13.requiredSubgroupSizeStages &
       VK_SHADER_STAGE_COMPUTE_BIT))
    create.stage.pNext = &size;
  if (capabilities.features13.computeFullSubgroups &&
      kernel.block[0] % subgroupSize == 0 && threads)
    create.stage.flags =
        VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  create.layout = layout;
  return toResult("vkCreateComputePipelines",
                  context.vk.CreateComputePipelines(context.device,
                                                    pipelines.get(), 1, &create,
                                                    nullptr, &pipeline));
}

void VulkanKernels::destroyPipeline(VkPipeline pipeline) const {
  context.vk.DestroyPipeline(context.device, pipeline, nullptr);
}

DriverResult VulkanKernels::describe(const VulkanKernel &compiled,
                                     const SpirvKernel &kernel,
                                     std::string &text) const {
  if (!context.vk.GetPipelineExecutableProperties ||
      !context.vk.GetPipelineExecutableStatistics)
    return vulkanSuccess();
  // Needs a pipeline of its own: pipelines with statistics must not come from
  // the driver's cache (Vulkan Specification, "Pipeline Properties").
  VkShaderModule module = VK_NULL_HANDLE;
  DriverResult result = createModule(*compiled.code, module);
  if (result.failed())
    return result;
  VkPipeline pipeline = VK_NULL_HANDLE;
  result = createPipeline(
      module, kernel, VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, pipeline);
  destroyModule(module);
  if (result.failed())
    return result;
  text = describePipeline(context.vk, context.device, pipeline);
  destroyPipeline(pipeline);
  return result;
}

Status VulkanKernels::useCache(const std::string &directory) {
  return pipelines.open(context.vk, context.device, directory,
                        context.capabilities.properties.properties,
                        context.capabilities.properties11);
}

Status VulkanKernels::saveCache() {
  return pipelines.save(context.vk, context.device);
}
