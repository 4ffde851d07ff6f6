//===- LevelZeroCapabilities.cpp - Capabilities of Level Zero devices -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intel's driver reports since 24.05 whether a device has a matrix unit
// (ZE_intel_experimental_device_module_dp_properties). The device's family, and
// with older drivers the matrix unit as well, follow from the version of its
// hardware (ZE_extension_device_ip_version), else from its PCI number.
//
//===----------------------------------------------------------------------===//

#include "LevelZeroCapabilities.h"

#include "../Format.h"

#include <algorithm>
#include <cstring>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

namespace {
/// A family that the compiler has a table of, all of whose devices have `dpas`.
struct Family {
  const char *name;
  /// Versions of its hardware: major, least and greatest minor. Intel's driver
  /// counts them as (major << 22 | minor << 14 | revision), PRODUCT_CONFIG of
  /// its platforms.h.
  uint32_t major, firstMinor, lastMinor;
  /// PCI numbers, from the first one to the last (igfxfmid.h of its
  /// compiler).
  uint32_t firstDevice, lastDevice;
};
} // namespace

static const Family families[] = {
    {"dg2", 12, 55, 57, 0x4f80, 0x4f88}, {"dg2", 12, 55, 57, 0x5690, 0x56c2},
    {"pvc", 12, 60, 61, 0x0b69, 0x0b69}, {"pvc", 12, 60, 61, 0x0b6e, 0x0b6e},
    {"pvc", 12, 60, 61, 0x0bd0, 0x0bdb}, {"bmg", 20, 1, 2, 0xe202, 0xe223},
};

static constexpr uint32_t intelVendor = 0x8086;

static void findFamily(LevelZeroCapabilities &capabilities, uint32_t ipVersion,
                       bool reportsDpas) {
  uint32_t major = ipVersion >> 22, minor = ipVersion >> 14 & 0xff,
           revision = ipVersion & 0x3fff;
  const ze_device_properties_t &properties = capabilities.properties;
  if (properties.vendorId == intelVendor)
    for (const Family &family : families)
      if (ipVersion ? family.major == major && family.firstMinor <= minor &&
                          minor <= family.lastMinor
                    : family.firstDevice <= properties.deviceId &&
                          properties.deviceId <= family.lastDevice)
        capabilities.family = family.name;
  std::string hardware =
      ipVersion ? format("hardware %u.%u.%u", major, minor, revision)
                : format("PCI number %04x:%04x", properties.vendorId,
                         properties.deviceId);
  capabilities.source =
      hardware + (capabilities.family.empty() ? ", unknown family"
                                              : " is " + capabilities.family);
  if (!reportsDpas)
    capabilities.hasDpas = !capabilities.family.empty();
  capabilities.source +=
      std::string(capabilities.hasDpas ? "; it has" : "; it does not have") +
      " dpas, " +
      (reportsDpas            ? "reported by the driver"
       : capabilities.hasDpas ? "as the whole family has"
                              : "assumed: the driver does not report it");
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

LevelZeroCapabilities
tessera::runtime::queryLevelZeroDevice(const LevelZeroDriver &driver,
                                       ze_driver_handle_t handle,
                                       ze_device_handle_t device) {
  LevelZeroCapabilities result;
  result.driver = handle;
  result.device = device;
  // The first failure stays; properties that are not needed to run may be
  // unknown.
  auto need = [&](const char *call, ze_result_t code) {
    if (code && result.failure.empty())
      result.failure = LevelZeroDriver::describe(call, code);
    return code == ZE_RESULT_SUCCESS;
  };
  need("zeDriverGetApiVersion",
       driver.driverGetApiVersion(handle, &result.apiVersion));
  ze_driver_properties_t ofDriver;
  if (driver.driverGetProperties(handle, &ofDriver) == ZE_RESULT_SUCCESS)
    result.driverVersion = ofDriver.driverVersion;
  std::vector<ze_driver_extension_properties_t> extensions;
  getList(extensions, [&](uint32_t *count, auto *list) {
    return driver.driverGetExtensions(handle, count, list);
  });
  auto has = [&](const char *name) {
    return std::any_of(
        extensions.begin(), extensions.end(), [&](const auto &extension) {
          return std::string(extension.name,
                             strnlen(extension.name, sizeof(extension.name))) ==
                 name;
        });
  };

  bool inTicks = result.apiVersion >= (1 << 16 | 2);
  ze_device_ip_version_ext_t version;
  ze_device_properties_t &properties = result.properties;
  properties.stype = inTicks ? ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                             : ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  if (has("ZE_extension_device_ip_version"))
    properties.pNext = &version;
  need("zeDeviceGetProperties",
       driver.deviceGetProperties(device, &properties));
  properties.pNext = nullptr;
  properties.name[sizeof(properties.name) - 1] = '\0';
  auto resolution = static_cast<double>(properties.timerResolution);
  if (resolution > 0)
    result.ticksPerSecond = inTicks ? resolution : 1e9 / resolution;

  need("zeDeviceGetComputeProperties",
       driver.deviceGetComputeProperties(device, &result.compute));
  result.compute.numSubGroupSizes =
      std::min<uint32_t>(result.compute.numSubGroupSizes, 8);

  ze_float_atomic_ext_properties_t atomics;
  ze_intel_device_module_dp_exp_properties_t products;
  bool reportsDpas = has("ZE_intel_experimental_device_module_dp_properties");
  if (has("ZE_extension_float_atomics"))
    result.module.pNext = &atomics;
  if (reportsDpas) {
    products.pNext = result.module.pNext;
    result.module.pNext = &products;
  }
  need("zeDeviceGetModuleProperties",
       driver.deviceGetModuleProperties(device, &result.module));
  result.module.pNext = nullptr;
  result.addsF32 = atomics.fp32Flags & ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD;
  result.addsF64 = atomics.fp64Flags & ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD;
  result.hasDpas = products.flags & ZE_INTEL_DEVICE_MODULE_EXP_FLAG_DPAS;
  findFamily(result, version.ipVersion, reportsDpas);

  std::vector<ze_device_memory_properties_t> memories;
  getList(memories, [&](uint32_t *count, auto *list) {
    return driver.deviceGetMemoryProperties(device, count, list);
  });
  for (const ze_device_memory_properties_t &memory : memories)
    result.memoryBytes += memory.totalSize;
  std::vector<ze_device_cache_properties_t> caches;
  getList(caches, [&](uint32_t *count, auto *list) {
    return driver.deviceGetCacheProperties(device, count, list);
  });
  for (const ze_device_cache_properties_t &cache : caches)
    result.cacheBytes = std::max<uint64_t>(result.cacheBytes, cache.cacheSize);
  std::vector<ze_command_queue_group_properties_t> groups;
  need("zeDeviceGetCommandQueueGroupProperties",
       getList(groups, [&](uint32_t *count, auto *list) {
         return driver.deviceGetQueueGroups(device, count, list);
       }));
  for (size_t i = 0; i < groups.size() && result.queueGroup < 0; ++i)
    if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE &&
        groups[i].numQueues > 0)
      result.queueGroup = static_cast<int>(i);
  return result;
}

//===----------------------------------------------------------------------===//
// Conclusions
//===----------------------------------------------------------------------===//

std::string
tessera::runtime::explainUnfit(const LevelZeroCapabilities &capabilities) {
  if (!capabilities.failure.empty())
    return capabilities.failure;
  if (capabilities.properties.type != ZE_DEVICE_TYPE_GPU &&
      capabilities.properties.type != ZE_DEVICE_TYPE_CPU)
    return format("it is neither a GPU nor a CPU (type %u)",
                  capabilities.properties.type);
  uint32_t spirv = capabilities.module.spirvVersionSupported;
  if (spirv == 0)
    return "it does not accept SPIR-V";
  if (spirv < (1 << 16 | 2))
    return format("it accepts SPIR-V %u.%u, but 1.2 is required", spirv >> 16,
                  spirv & 0xffff);
  if (capabilities.queueGroup < 0)
    return "none of its queues accepts kernels";
  if (capabilities.compute.maxTotalGroupSize == 0 ||
      capabilities.compute.maxSharedLocalMemory == 0)
    return "it does not support workgroups, or has no workgroup memory";
  return "";
}

/// The lanes that a subgroup is asked to have; 1 where the device has none.
static int chooseSubgroupSize(const LevelZeroCapabilities &capabilities) {
  const uint32_t *sizes = capabilities.compute.subGroupSizes;
  const uint32_t *end = sizes + capabilities.compute.numSubGroupSizes;
  // Lanes exchange values from SPIR-V 1.3 on.
  if (capabilities.module.spirvVersionSupported < (1 << 16 | 3))
    return 1;
  // The matrix unit works for the smallest ones. Without it 16 leaves most
  // registers to a thread without wasting lanes.
  if (capabilities.hasDpas && sizes != end)
    if (uint32_t least = *std::min_element(sizes, end);
        least == 8 || least == 16)
      return static_cast<int>(least);
  for (uint32_t size : {16, 32, 8, 64, 128})
    if (std::find(sizes, end, size) != end)
      return static_cast<int>(size);
  return 1;
}

/// The device properties that the compiler needs, in the format of the
/// compiler's table reads it (lib/Target/OpenCL).
static std::string describeChip(const LevelZeroCapabilities &capabilities) {
  int lanes = chooseSubgroupSize(capabilities);
  std::string text =
      format("s%d-w%u-t%u", lanes, capabilities.compute.maxSharedLocalMemory,
             capabilities.compute.maxTotalGroupSize);
  if (capabilities.module.flags & ZE_DEVICE_MODULE_FLAG_FP16)
    text += "-f16";
  if (capabilities.module.flags & ZE_DEVICE_MODULE_FLAG_FP64)
    text += "-f64";
  if (capabilities.addsF32)
    text += "-a32";
  if (capabilities.addsF64)
    text += "-a64";
  if (capabilities.hasDpas && (lanes == 8 || lanes == 16))
    text += "-dpas";
  return text;
}

DeviceInfo
tessera::runtime::describeDevice(const LevelZeroCapabilities &capabilities) {
  const ze_device_properties_t &properties = capabilities.properties;
  DeviceInfo info;
  info.target = "level-zero";
  info.chip = describeChip(capabilities);
  info.family = capabilities.family;
  info.chipSource = capabilities.source;
  info.name = properties.name;
  info.driver =
      format("Level Zero %u.%u, driver %u.%u.%u", capabilities.apiVersion >> 16,
             capabilities.apiVersion & 0xffff, capabilities.driverVersion >> 24,
             capabilities.driverVersion >> 16 & 0xff,
             capabilities.driverVersion & 0xffff);
  info.subgroupSize = chooseSubgroupSize(capabilities);
  info.memoryBytes = capabilities.memoryBytes;
  info.workgroupMemoryBytes = capabilities.compute.maxSharedLocalMemory;
  info.l2Bytes = capabilities.cacheBytes;
  info.computeUnits =
      static_cast<int>(properties.numSlices * properties.numSubslicesPerSlice);
  info.clockMHz = static_cast<int>(properties.coreClockRate);
  info.isSoftware = properties.type == ZE_DEVICE_TYPE_CPU;
  info.kind = info.isSoftware ? "software"
              : properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED
                  ? "integrated"
                  : "discrete";
  return info;
}

double tessera::runtime::getElapsedMilliseconds(
    const LevelZeroCapabilities &capabilities, uint64_t begin, uint64_t end) {
  uint32_t bits = capabilities.properties.kernelTimestampValidBits;
  uint64_t mask =
      bits == 0 || bits >= 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
  uint64_t ticks = (end - begin) & mask;
  return static_cast<double>(ticks) * 1e3 / capabilities.ticksPerSecond;
}
