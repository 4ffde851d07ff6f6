//===- LevelZeroDriver.h - The part of Level Zero in use --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Own declarations of the functions of libze_loader.so.1, found with dlopen:
// building needs no headers of Level Zero, and the same binary starts on
// machines without it. Numbers, structures and signatures are those of the
// oneAPI Level Zero Specification (ze_api.h of 1.2 and, where noted, later),
// and for one structure those of Intel's driver (ze_intel_gpu.h). Debian 12's
// headers (libze-dev 1.8) have neither zeInitDrivers nor the version of a
// device's hardware.
//
// Which devices the loader offers, and the layers that check calls, depend on
// its own environment variables (ZE_AFFINITY_MASK, ZE_FLAT_DEVICE_HIERARCHY,
// ZE_ENABLE_VALIDATION_LAYER).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZERODRIVER_H
#define TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZERODRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::runtime {

// Level Zero's own names.
// NOLINTBEGIN(readability-identifier-naming)

using ze_result_t = int32_t;
using ze_driver_handle_t = struct _ze_driver_handle_t *;
using ze_device_handle_t = struct _ze_device_handle_t *;
using ze_context_handle_t = struct _ze_context_handle_t *;
using ze_command_list_handle_t = struct _ze_command_list_handle_t *;
using ze_event_pool_handle_t = struct _ze_event_pool_handle_t *;
using ze_event_handle_t = struct _ze_event_handle_t *;
using ze_module_handle_t = struct _ze_module_handle_t *;
using ze_module_build_log_handle_t = struct _ze_module_build_log_handle_t *;
using ze_kernel_handle_t = struct _ze_kernel_handle_t *;

/// Results that the runtime distinguishes.
enum : ze_result_t {
  ZE_RESULT_SUCCESS = 0,
  ZE_RESULT_NOT_READY = 1,
  ZE_RESULT_ERROR_DEVICE_LOST = 0x70000001,
  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY = 0x70000002,
  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY = 0x70000003,
  ZE_RESULT_ERROR_MODULE_BUILD_FAILURE = 0x70000004,
  ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET = 0x70000006,
  ZE_RESULT_ERROR_UNINITIALIZED = 0x78000001,
  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE = 0x78000003,
  ZE_RESULT_ERROR_INVALID_ARGUMENT = 0x78000004,
  ZE_RESULT_ERROR_INVALID_NULL_HANDLE = 0x78000005,
  ZE_RESULT_ERROR_UNSUPPORTED_SIZE = 0x78000009,
  ZE_RESULT_ERROR_INVALID_KERNEL_NAME = 0x78000011,
};

/// Which structure it is (ze_structure_type_t).
enum : uint32_t {
  ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES = 0x1,
  ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES = 0x3,
  ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES = 0x4,
  ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES = 0x5,
  ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES = 0x6,
  ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES = 0x7,
  ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES = 0x9,
  ZE_STRUCTURE_TYPE_CONTEXT_DESC = 0xd,
  ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC = 0xe,
  ZE_STRUCTURE_TYPE_EVENT_POOL_DESC = 0x10,
  ZE_STRUCTURE_TYPE_EVENT_DESC = 0x11,
  ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC = 0x15,
  ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC = 0x16,
  ZE_STRUCTURE_TYPE_MODULE_DESC = 0x1b,
  ZE_STRUCTURE_TYPE_KERNEL_DESC = 0x1d,
  ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES = 0x1e,
  /// ZE_extension_float_atomics.
  ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES = 0x10003,
  /// ZE_extension_device_ip_version.
  ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT = 0x1000f,
  /// Since 1.2: as ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, with the timer's
  /// resolution in ticks a second rather than in nanoseconds.
  ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 = 0x20006,
  /// Since 1.10.
  ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC = 0x20021,
  /// ZE_intel_experimental_device_module_dp_properties.
  ZE_STRUCTURE_INTEL_DEVICE_MODULE_DP_EXP_PROPERTIES = 0x30013,
};

enum : uint32_t {
  ZE_INIT_FLAG_GPU_ONLY = 1 << 0,
  ZE_INIT_DRIVER_TYPE_FLAG_GPU = 1 << 0,
  ZE_DEVICE_TYPE_GPU = 1,
  ZE_DEVICE_TYPE_CPU = 2,
  ZE_DEVICE_PROPERTY_FLAG_INTEGRATED = 1 << 0,
  ZE_DEVICE_MODULE_FLAG_FP16 = 1 << 0,
  ZE_DEVICE_MODULE_FLAG_FP64 = 1 << 1,
  ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD = 1 << 1,
  ZE_INTEL_DEVICE_MODULE_EXP_FLAG_DPAS = 1 << 1,
  ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE = 1 << 0,
  ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS = 2,
  ZE_COMMAND_QUEUE_PRIORITY_NORMAL = 0,
  ZE_EVENT_POOL_FLAG_HOST_VISIBLE = 1 << 0,
  ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP = 1 << 2,
  ZE_EVENT_SCOPE_FLAG_HOST = 1 << 2,
  ZE_MODULE_FORMAT_IL_SPIRV = 0,
};

struct ze_init_driver_type_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC;
  const void *pNext = nullptr;
  uint32_t flags = 0;
};
struct ze_driver_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  void *pNext = nullptr;
  uint8_t uuid[16] = {};
  uint32_t driverVersion = 0;
};
struct ze_driver_extension_properties_t {
  char name[256] = {};
  uint32_t version = 0;
};
struct ze_device_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  void *pNext = nullptr;
  uint32_t type = 0;
  uint32_t vendorId = 0;
  uint32_t deviceId = 0;
  uint32_t flags = 0;
  uint32_t subdeviceId = 0;
  uint32_t coreClockRate = 0;
  uint64_t maxMemAllocSize = 0;
  uint32_t maxHardwareContexts = 0;
  uint32_t maxCommandQueuePriority = 0;
  uint32_t numThreadsPerEU = 0;
  uint32_t physicalEUSimdWidth = 0;
  uint32_t numEUsPerSubslice = 0;
  uint32_t numSubslicesPerSlice = 0;
  uint32_t numSlices = 0;
  uint64_t timerResolution = 0;
  uint32_t timestampValidBits = 0;
  uint32_t kernelTimestampValidBits = 0;
  uint8_t uuid[16] = {};
  char name[256] = {};
};
struct ze_device_ip_version_ext_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT;
  const void *pNext = nullptr;
  uint32_t ipVersion = 0;
};
struct ze_device_compute_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
  void *pNext = nullptr;
  uint32_t maxTotalGroupSize = 0;
  uint32_t maxGroupSizeX = 0, maxGroupSizeY = 0, maxGroupSizeZ = 0;
  uint32_t maxGroupCountX = 0, maxGroupCountY = 0, maxGroupCountZ = 0;
  uint32_t maxSharedLocalMemory = 0;
  uint32_t numSubGroupSizes = 0;
  uint32_t subGroupSizes[8] = {};
};
struct ze_device_module_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
  void *pNext = nullptr;
  uint32_t spirvVersionSupported = 0;
  uint32_t flags = 0;
  uint32_t fp16flags = 0, fp32flags = 0, fp64flags = 0;
  uint32_t maxArgumentsSize = 0;
  uint32_t printfBufferSize = 0;
  uint8_t nativeKernelSupported[16] = {};
};
struct ze_float_atomic_ext_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES;
  void *pNext = nullptr;
  uint32_t fp16Flags = 0, fp32Flags = 0, fp64Flags = 0;
};
struct ze_intel_device_module_dp_exp_properties_t {
  uint32_t stype = ZE_STRUCTURE_INTEL_DEVICE_MODULE_DP_EXP_PROPERTIES;
  void *pNext = nullptr;
  uint32_t flags = 0;
};
struct ze_device_memory_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  void *pNext = nullptr;
  uint32_t flags = 0;
  uint32_t maxClockRate = 0;
  uint32_t maxBusWidth = 0;
  uint64_t totalSize = 0;
  char name[256] = {};
};
struct ze_device_cache_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES;
  void *pNext = nullptr;
  uint32_t flags = 0;
  size_t cacheSize = 0;
};
struct ze_command_queue_group_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  void *pNext = nullptr;
  uint32_t flags = 0;
  size_t maxMemoryFillPatternSize = 0;
  uint32_t numQueues = 0;
};
struct ze_context_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  const void *pNext = nullptr;
  uint32_t flags = 0;
};
struct ze_command_queue_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  const void *pNext = nullptr;
  uint32_t ordinal = 0;
  uint32_t index = 0;
  uint32_t flags = 0;
  uint32_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  uint32_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
};
struct ze_event_pool_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  const void *pNext = nullptr;
  uint32_t flags = 0;
  uint32_t count = 0;
};
struct ze_event_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  const void *pNext = nullptr;
  uint32_t index = 0;
  uint32_t signal = 0;
  uint32_t wait = 0;
};
struct ze_kernel_timestamp_data_t {
  uint64_t kernelStart = 0, kernelEnd = 0;
};
struct ze_kernel_timestamp_result_t {
  ze_kernel_timestamp_data_t global, context;
};
struct ze_device_mem_alloc_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  const void *pNext = nullptr;
  uint32_t flags = 0;
  uint32_t ordinal = 0;
};
struct ze_host_mem_alloc_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  const void *pNext = nullptr;
  uint32_t flags = 0;
};
struct ze_module_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  const void *pNext = nullptr;
  uint32_t format = ZE_MODULE_FORMAT_IL_SPIRV;
  size_t inputSize = 0;
  const uint8_t *pInputModule = nullptr;
  const char *pBuildFlags = nullptr;
  const void *pConstants = nullptr;
};
struct ze_kernel_desc_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
  const void *pNext = nullptr;
  uint32_t flags = 0;
  const char *pKernelName = nullptr;
};
struct ze_kernel_properties_t {
  uint32_t stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
  void *pNext = nullptr;
  uint32_t numKernelArgs = 0;
  uint32_t requiredGroupSizeX = 0, requiredGroupSizeY = 0,
           requiredGroupSizeZ = 0;
  uint32_t requiredNumSubGroups = 0;
  uint32_t requiredSubgroupSize = 0;
  uint32_t maxSubgroupSize = 0;
  uint32_t maxNumSubgroups = 0;
  uint32_t localMemSize = 0;
  uint32_t privateMemSize = 0;
  uint32_t spillMemSize = 0;
  uint8_t uuid[32] = {};
};
struct ze_group_count_t {
  uint32_t groupCountX = 0, groupCountY = 0, groupCountZ = 0;
};

// NOLINTEND(readability-identifier-naming)

/// The functions in use: name in the table, symbol, parameters. All of them
/// give a ze_result_t.
#define TESSERA_LEVELZERO_FUNCTIONS(X)                                         \
  X(init, zeInit, (uint32_t flags))                                            \
  X(driverGet, zeDriverGet, (uint32_t *count, ze_driver_handle_t *drivers))    \
  X(driverGetApiVersion, zeDriverGetApiVersion,                                \
    (ze_driver_handle_t driver, uint32_t *version))                            \
  X(driverGetProperties, zeDriverGetProperties,                                \
    (ze_driver_handle_t driver, ze_driver_properties_t * properties))          \
  X(driverGetExtensions, zeDriverGetExtensionProperties,                       \
    (ze_driver_handle_t driver, uint32_t *count,                               \
     ze_driver_extension_properties_t *extensions))                            \
  X(deviceGet, zeDeviceGet,                                                    \
    (ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices)) \
  X(deviceGetProperties, zeDeviceGetProperties,                                \
    (ze_device_handle_t device, ze_device_properties_t * properties))          \
  X(deviceGetComputeProperties, zeDeviceGetComputeProperties,                  \
    (ze_device_handle_t device, ze_device_compute_properties_t * properties))  \
  X(deviceGetModuleProperties, zeDeviceGetModuleProperties,                    \
    (ze_device_handle_t device, ze_device_module_properties_t * properties))   \
  X(deviceGetMemoryProperties, zeDeviceGetMemoryProperties,                    \
    (ze_device_handle_t device, uint32_t *count,                               \
     ze_device_memory_properties_t *properties))                               \
  X(deviceGetCacheProperties, zeDeviceGetCacheProperties,                      \
    (ze_device_handle_t device, uint32_t *count,                               \
     ze_device_cache_properties_t *properties))                                \
  X(deviceGetQueueGroups, zeDeviceGetCommandQueueGroupProperties,              \
    (ze_device_handle_t device, uint32_t *count,                               \
     ze_command_queue_group_properties_t *properties))                         \
  X(contextCreate, zeContextCreate,                                            \
    (ze_driver_handle_t driver, const ze_context_desc_t *desc,                 \
     ze_context_handle_t *context))                                            \
  X(contextDestroy, zeContextDestroy, (ze_context_handle_t context))           \
  X(commandListCreateImmediate, zeCommandListCreateImmediate,                  \
    (ze_context_handle_t context, ze_device_handle_t device,                   \
     const ze_command_queue_desc_t *desc, ze_command_list_handle_t *list))     \
  X(commandListDestroy, zeCommandListDestroy, (ze_command_list_handle_t list)) \
  X(appendBarrier, zeCommandListAppendBarrier,                                 \
    (ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t waits,  \
     ze_event_handle_t *waitFor))                                              \
  X(appendMemoryCopy, zeCommandListAppendMemoryCopy,                           \
    (ze_command_list_handle_t list, void *to, const void *from, size_t size,   \
     ze_event_handle_t signal, uint32_t waits, ze_event_handle_t *waitFor))    \
  X(appendMemoryFill, zeCommandListAppendMemoryFill,                           \
    (ze_command_list_handle_t list, void *ptr, const void *pattern,            \
     size_t patternSize, size_t size, ze_event_handle_t signal,                \
     uint32_t waits, ze_event_handle_t *waitFor))                              \
  X(appendLaunchKernel, zeCommandListAppendLaunchKernel,                       \
    (ze_command_list_handle_t list, ze_kernel_handle_t kernel,                 \
     const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t waits, \
     ze_event_handle_t *waitFor))                                              \
  X(eventPoolCreate, zeEventPoolCreate,                                        \
    (ze_context_handle_t context, const ze_event_pool_desc_t *desc,            \
     uint32_t deviceCount, ze_device_handle_t *devices,                        \
     ze_event_pool_handle_t *pool))                                            \
  X(eventPoolDestroy, zeEventPoolDestroy, (ze_event_pool_handle_t pool))       \
  X(eventCreate, zeEventCreate,                                                \
    (ze_event_pool_handle_t pool, const ze_event_desc_t *desc,                 \
     ze_event_handle_t *event))                                                \
  X(eventDestroy, zeEventDestroy, (ze_event_handle_t event))                   \
  X(eventHostReset, zeEventHostReset, (ze_event_handle_t event))               \
  X(eventHostSynchronize, zeEventHostSynchronize,                              \
    (ze_event_handle_t event, uint64_t nanoseconds))                           \
  X(eventQueryKernelTimestamp, zeEventQueryKernelTimestamp,                    \
    (ze_event_handle_t event, ze_kernel_timestamp_result_t * result))          \
  X(memAllocDevice, zeMemAllocDevice,                                          \
    (ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,      \
     size_t size, size_t alignment, ze_device_handle_t device, void **ptr))    \
  X(memAllocHost, zeMemAllocHost,                                              \
    (ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,        \
     size_t size, size_t alignment, void **ptr))                               \
  X(memFree, zeMemFree, (ze_context_handle_t context, void *ptr))              \
  X(moduleCreate, zeModuleCreate,                                              \
    (ze_context_handle_t context, ze_device_handle_t device,                   \
     const ze_module_desc_t *desc, ze_module_handle_t *module,                 \
     ze_module_build_log_handle_t *log))                                       \
  X(moduleDestroy, zeModuleDestroy, (ze_module_handle_t module))               \
  X(buildLogGetString, zeModuleBuildLogGetString,                              \
    (ze_module_build_log_handle_t log, size_t *size, char *text))              \
  X(buildLogDestroy, zeModuleBuildLogDestroy,                                  \
    (ze_module_build_log_handle_t log))                                        \
  X(kernelCreate, zeKernelCreate,                                              \
    (ze_module_handle_t module, const ze_kernel_desc_t *desc,                  \
     ze_kernel_handle_t *kernel))                                              \
  X(kernelDestroy, zeKernelDestroy, (ze_kernel_handle_t kernel))               \
  X(kernelSetGroupSize, zeKernelSetGroupSize,                                  \
    (ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z))           \
  X(kernelSetArgument, zeKernelSetArgumentValue,                               \
    (ze_kernel_handle_t kernel, uint32_t index, size_t size,                   \
     const void *value))                                                       \
  X(kernelGetProperties, zeKernelGetProperties,                                \
    (ze_kernel_handle_t kernel, ze_kernel_properties_t * properties))

/// Functions that older loaders lack; null there.
#define TESSERA_LEVELZERO_OPTIONAL(X)                                          \
  X(initDrivers, zeInitDrivers,                                                \
    (uint32_t *count, ze_driver_handle_t *drivers,                             \
     ze_init_driver_type_desc_t *desc))                                        \
  X(driverGetLastErrorDescription, zeDriverGetLastErrorDescription,            \
    (ze_driver_handle_t driver, const char **text))                            \
  X(commandListIsImmediate, zeCommandListIsImmediate,                          \
    (ze_command_list_handle_t list, uint8_t *isImmediate))                     \
  X(commandListGetContext, zeCommandListGetContextHandle,                      \
    (ze_command_list_handle_t list, ze_context_handle_t * context))            \
  X(commandListGetDevice, zeCommandListGetDeviceHandle,                        \
    (ze_command_list_handle_t list, ze_device_handle_t * device))

// NOLINTBEGIN(bugprone-macro-parentheses)
#define TESSERA_DECLARE(member, symbol, parameters)                            \
  ze_result_t(*member) parameters = nullptr;

/// Level Zero's functions, each under its name above.
struct LevelZeroDriver {
  TESSERA_LEVELZERO_FUNCTIONS(TESSERA_DECLARE)
  TESSERA_LEVELZERO_OPTIONAL(TESSERA_DECLARE)

  /// "zeModuleCreate: ZE_RESULT_ERROR_MODULE_BUILD_FAILURE".
  static std::string describe(const char *call, ze_result_t result);
};
#undef TESSERA_DECLARE
// NOLINTEND(bugprone-macro-parentheses)

/// The functions of the loader `library`, a name or a path for dlopen. False,
/// and the reason in `why`, where it cannot be loaded or lacks one.
bool loadLevelZeroDriver(const char *library, LevelZeroDriver &driver,
                         std::string &why);

/// Level Zero's loader on this machine, loaded on the first call; null, and the
/// reason in `why`, when there is none.
const LevelZeroDriver *getLevelZeroDriver(std::string *why);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_LEVELZERO_LEVELZERODRIVER_H
