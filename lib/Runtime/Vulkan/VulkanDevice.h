//===- VulkanDevice.h - Any vendor's GPU by Vulkan --------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANDEVICE_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANDEVICE_H

#include "Runtime/Device.h"

namespace tessera::runtime {

struct VulkanDriver;

/// Adds the devices that can run Tessera's kernels: Vulkan 1.3, buffer device
/// addresses, the Vulkan memory model, 64-bit integers. Gives the reason, on
/// one line, for each that cannot, or when there is none; empty otherwise.
std::string listVulkanDevices(const VulkanDriver &driver,
                              std::vector<DeviceInfo> &devices);

/// Opens a device, by its place among those listed.
Expected<std::unique_ptr<Device>> openVulkanDevice(const VulkanDriver &driver,
                                                   int ordinal);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANDEVICE_H
