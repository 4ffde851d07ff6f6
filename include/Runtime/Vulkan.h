//===- Vulkan.h - Settings of Vulkan devices --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_VULKAN_H
#define TESSERA_RUNTIME_VULKAN_H

namespace tessera::runtime {

/// Settings of all Vulkan devices of the process, which share one VkInstance.
struct VulkanSettings {
  /// Enables the validation layer, which prints to standard error. Takes effect
  /// if set before devices are listed or opened; without an installed layer, no
  /// Vulkan device is available then.
  bool validates = false;
  /// For tests: the self-tests of cooperative matrices (docs/Vulkan.md,
  /// "Self-tests") read an operand transposed, so that they fail.
  bool failsSelfTests = false;
};

void setVulkanSettings(const VulkanSettings &settings);
const VulkanSettings &getVulkanSettings();

/// Number of errors that the validation layer has reported.
unsigned countVulkanValidationErrors();

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_VULKAN_H
