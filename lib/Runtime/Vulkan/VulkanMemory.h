//===- VulkanMemory.h - Buffers with a device address -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANMEMORY_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANMEMORY_H

#include "VulkanContext.h"

#include <map>

namespace tessera::runtime {

/// Memory with an address on the device, mapped for the host if that was asked
/// for.
struct VulkanBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize bytes = 0;
  uint64_t address = 0;
  char *mapped = nullptr;

  /// The offset of an address in this buffer.
  VkDeviceSize getOffset(const void *ptr) const {
    return reinterpret_cast<uintptr_t>(ptr) - address;
  }
};

/// Memory that the host can map and that is coherent.
inline constexpr VkMemoryPropertyFlags vulkanHostMemory =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

/// Allocates buffers, and finds them by their addresses.
class VulkanMemory {
public:
  explicit VulkanMemory(const VulkanContext &context) : context(context) {}

  /// Creates a buffer in memory with the properties `wanted`.
  DriverResult create(VkDeviceSize bytes, VkMemoryPropertyFlags wanted,
                      VulkanBuffer &buffer) const;
  /// The same, preferably with the properties `preferred` as well.
  DriverResult create(VkDeviceSize bytes, VkMemoryPropertyFlags wanted,
                      VkMemoryPropertyFlags preferred,
                      VulkanBuffer &buffer) const;
  void destroy(VulkanBuffer &buffer) const;

  /// Allocates memory of the device; its address identifies it.
  DriverResult allocate(size_t bytes, void **ptr);
  /// Frees what `allocate` returned. No command may use it any more.
  void free(void *ptr);

  /// Makes a VkBuffer of the caller known by its address.
  Status bind(VkBuffer buffer, size_t bytes, void **address);
  /// Forgets all buffers of the caller.
  void release() {
    numReleases += objects.size();
    objects.clear();
  }
  /// How many buffers have been freed or forgotten.
  uint64_t countReleases() const { return numReleases; }

  /// The buffer that holds `bytes` bytes at an address, or null.
  const VulkanBuffer *find(const void *ptr, size_t bytes) const;

  /// Free bytes by VK_EXT_memory_budget; 0 without that extension.
  size_t getFreeBytes() const;

private:
  uint64_t getAddress(VkBuffer buffer) const;

  const VulkanContext &context;
  /// By address: allocated buffers, and those of the caller.
  std::map<uint64_t, VulkanBuffer> buffers, objects;
  uint64_t numReleases = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANMEMORY_H
