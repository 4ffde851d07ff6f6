//===- VulkanKernels.h - Compute pipelines ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANKERNELS_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANKERNELS_H

#include "../SpirvModule.h"
#include "VulkanContext.h"
#include "VulkanPipelineCache.h"

#include <memory>

namespace tessera::runtime {

/// A kernel that the driver has compiled.
struct VulkanKernel {
  VkPipeline pipeline = VK_NULL_HANDLE;
  /// The module that contains it.
  std::shared_ptr<const std::vector<uint32_t>> code;
};

/// Writes the parameters of a launch, 8 bytes each, where the kernel reads
/// them.
void packVulkanParameters(const LaunchRequest &request, char *to);

/// The limit of a kernel's push constants in bytes: each implementation has
/// these (Vulkan specification, "Required Limits").
constexpr uint32_t maxPushedBytes = 128;

/// Compiles kernels. All have one layout: the push constants are the parameters
/// of the launch, or their address.
class VulkanKernels {
public:
  /// `subgroupSize`: the lanes that subgroups must have where a kernel can
  /// require it.
  VulkanKernels(const VulkanContext &context, int subgroupSize)
      : context(context), subgroupSize(subgroupSize) {}

  DriverResult create();
  void destroy();

  VkPipelineLayout getLayout() const { return layout; }

  DriverResult createModule(const std::vector<uint32_t> &code,
                            VkShaderModule &module) const;
  void destroyModule(VkShaderModule module) const;
  DriverResult createPipeline(VkShaderModule module, const SpirvKernel &kernel,
                              VkPipelineCreateFlags flags,
                              VkPipeline &pipeline) const;
  void destroyPipeline(VkPipeline pipeline) const;

  /// The statistics that the driver reports for a kernel; empty if it reports
  /// none.
  DriverResult describe(const VulkanKernel &compiled, const SpirvKernel &kernel,
                        std::string &text) const;

  /// See `Device::useCache` and `Device::saveCache`.
  Status useCache(const std::string &directory);
  Status saveCache();

private:
  const VulkanContext &context;
  int subgroupSize;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  PipelineCache pipelines;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANKERNELS_H
