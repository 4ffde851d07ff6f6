//===- VulkanMemory.cpp - Buffers with a device address -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanMemory.h"

#include "../Format.h"

#include <algorithm>

using namespace tessera::runtime;

uint64_t VulkanMemory::getAddress(VkBuffer buffer) const {
  auto info = make<VkBufferDeviceAddressInfo>(
      VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  info.buffer = buffer;
  return context.vk.GetBufferDeviceAddress(context.device, &info);
}

DriverResult VulkanMemory::create(VkDeviceSize bytes,
                                  VkMemoryPropertyFlags wanted,
                                  VulkanBuffer &buffer) const {
  const VulkanFunctions &vk = context.vk;
  VkDevice device = context.device;
  auto info = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (VkResult result = vk.CreateBuffer(device, &info, nullptr, &buffer.buffer))
    return toResult("vkCreateBuffer", result);
  VkMemoryRequirements needs;
  vk.GetBufferMemoryRequirements(device, buffer.buffer, &needs);
  VkPhysicalDeviceMemoryProperties memory;
  context.driver.GetPhysicalDeviceMemoryProperties(context.capabilities.handle,
                                                   &memory);
  uint32_t type = 0;
  while (type < memory.memoryTypeCount &&
         (!(needs.memoryTypeBits >> type & 1) ||
          (memory.memoryTypes[type].propertyFlags & wanted) != wanted))
    ++type;
  if (type == memory.memoryTypeCount) {
    destroy(buffer);
    return toResult("no memory type has the required properties",
                    VK_ERROR_FEATURE_NOT_PRESENT);
  }
  auto flags = make<VkMemoryAllocateFlagsInfo>(
      VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate =
      make<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.pNext = &flags;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = type;
  DriverResult result =
      toResult("vkAllocateMemory",
               vk.AllocateMemory(device, &allocate, nullptr, &buffer.memory));
  if (!result.failed())
    result =
        toResult("vkBindBufferMemory",
                 vk.BindBufferMemory(device, buffer.buffer, buffer.memory, 0));
  if (!result.failed() && (wanted & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)) {
    void *mapped = nullptr;
    result = toResult("vkMapMemory", vk.MapMemory(device, buffer.memory, 0,
                                                  VK_WHOLE_SIZE, 0, &mapped));
    buffer.mapped = static_cast<char *>(mapped);
  }
  if (result.failed()) {
    destroy(buffer);
    return result;
  }
  buffer.address = getAddress(buffer.buffer);
  buffer.bytes = bytes;
  return vulkanSuccess();
}

DriverResult VulkanMemory::create(VkDeviceSize bytes,
                                  VkMemoryPropertyFlags wanted,
                                  VkMemoryPropertyFlags preferred,
                                  VulkanBuffer &buffer) const {
  DriverResult result = create(bytes, wanted | preferred, buffer);
  return result.failed() ? create(bytes, wanted, buffer) : result;
}

void VulkanMemory::destroy(VulkanBuffer &buffer) const {
  if (buffer.buffer)
    context.vk.DestroyBuffer(context.device, buffer.buffer, nullptr);
  if (buffer.memory)
    context.vk.FreeMemory(context.device, buffer.memory, nullptr);
  buffer = VulkanBuffer();
}

DriverResult VulkanMemory::allocate(size_t bytes, void **ptr) {
  VulkanBuffer buffer;
  DriverResult result =
      create(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, buffer);
  if (result.failed())
    return result;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  *ptr = reinterpret_cast<void *>(static_cast<uintptr_t>(buffer.address));
  buffers[buffer.address] = buffer;
  return result;
}

void VulkanMemory::free(void *ptr) {
  auto found = buffers.find(reinterpret_cast<uintptr_t>(ptr));
  if (found == buffers.end())
    return;
  destroy(found->second);
  buffers.erase(found);
  ++numReleases;
}

Status VulkanMemory::bind(VkBuffer buffer, size_t bytes, void **address) {
  VulkanBuffer bound;
  bound.buffer = buffer;
  bound.bytes = bytes;
  // Its memory requirement is at least its size, which cannot be queried.
  VkMemoryRequirements needs;
  context.vk.GetBufferMemoryRequirements(context.device, buffer, &needs);
  if (needs.size < bytes)
    return Status(
        StatusCode::InvalidArgument,
        format("the VkBuffer has at most %llu bytes, but the array needs %zu",
               static_cast<unsigned long long>(needs.size), bytes));
  bound.address = getAddress(buffer);
  if (bound.address == 0)
    return Status(StatusCode::InvalidArgument,
                  "the VkBuffer does not have a device address: create it with "
                  "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, and its memory "
                  "with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT");
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  *address = reinterpret_cast<void *>(static_cast<uintptr_t>(bound.address));
  // The same buffer may be bound more than once.
  VulkanBuffer &known = objects[bound.address];
  bound.bytes = std::max(bound.bytes, known.bytes);
  // Another buffer of the caller may be bound to the same memory.
  numReleases += known.buffer && known.buffer != buffer;
  known = bound;
  return Status::success();
}

const VulkanBuffer *VulkanMemory::find(const void *ptr, size_t bytes) const {
  uint64_t address = reinterpret_cast<uintptr_t>(ptr);
  for (const std::map<uint64_t, VulkanBuffer> *known : {&buffers, &objects}) {
    auto after = known->upper_bound(address);
    if (after == known->begin())
      continue;
    const VulkanBuffer &buffer = std::prev(after)->second;
    if (address + bytes <= buffer.address + buffer.bytes)
      return &buffer;
  }
  return nullptr;
}

size_t VulkanMemory::getFreeBytes() const {
  if (!context.capabilities.hasExtension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME))
    return 0;
  auto budget = make<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  auto memory = make<VkPhysicalDeviceMemoryProperties2>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  memory.pNext = &budget;
  context.driver.GetPhysicalDeviceMemoryProperties2(context.capabilities.handle,
                                                    &memory);
  size_t bytes = 0;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i)
    if ((memory.memoryProperties.memoryHeaps[i].flags &
         VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
        budget.heapBudget[i] > budget.heapUsage[i])
      bytes += budget.heapBudget[i] - budget.heapUsage[i];
  return bytes;
}
