//===- VulkanDevice.cpp - Any vendor's GPU by Vulkan ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is buffers with a device address, which is what the rest of the
// program takes for a pointer. A kernel's parameters are copied to a block of
// their own, 8 bytes each, and its address is the kernel's only push constant.
//
// Work is recorded to a command buffer, with a barrier after each step, and
// submitted when somebody waits or when it is long. Work for a queue of the
// caller's has command buffers of its own, and is submitted when the call ends.
//
//===----------------------------------------------------------------------===//

#include "VulkanDevice.h"

#include "../Format.h"
#include "../OpenOrdinal.h"
#include "EnabledFeatures.h"
#include "TestedProducts.h"
#include "VulkanDriver.h"
#include "VulkanPipelineCache.h"
#include "VulkanSelfTest.h"
#include "VulkanStatistics.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Capabilities of a device
//===----------------------------------------------------------------------===//

namespace {

/// Properties and features, as one chain each.
struct Abilities {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties2 properties = {};
  VkPhysicalDeviceVulkan11Properties properties11 = {};
  VkPhysicalDeviceVulkan12Properties properties12 = {};
  VkPhysicalDeviceVulkan13Properties properties13 = {};
  VkPhysicalDeviceFeatures2 features = {};
  VkPhysicalDeviceVulkan11Features features11 = {};
  VkPhysicalDeviceVulkan12Features features12 = {};
  VkPhysicalDeviceVulkan13Features features13 = {};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomicFloat = {};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR cooperativeMatrix = {};
  VkPhysicalDeviceShaderBfloat16FeaturesKHR bfloat16 = {};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {};
  std::vector<VkCooperativeMatrixPropertiesKHR> matrices;
  std::vector<std::string> extensions;

  bool hasExtension(const char *name) const {
    return std::find(extensions.begin(), extensions.end(), name) !=
           extensions.end();
  }
};

} // namespace

/// Asks for all of them. `abilities` does not move afterwards: the structures
/// point to each other.
static void query(const VulkanDriver &driver, VkPhysicalDevice handle,
                  Abilities &abilities) {
  abilities.handle = handle;
  uint32_t count = 0;
  driver.EnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  driver.EnumerateDeviceExtensionProperties(handle, nullptr, &count,
                                            extensions.data());
  for (const VkExtensionProperties &extension : extensions)
    abilities.extensions.emplace_back(extension.extensionName);

  abilities.properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  abilities.properties11.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  abilities.properties12.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  abilities.properties13.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
  abilities.properties.pNext = &abilities.properties11;
  abilities.properties11.pNext = &abilities.properties12;
  abilities.properties12.pNext = &abilities.properties13;
  driver.GetPhysicalDeviceProperties2(handle, &abilities.properties);
  // An older device knows only some of the chain.
  if (abilities.properties.properties.apiVersion < VK_API_VERSION_1_3)
    return;

  abilities.features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  abilities.features11.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  abilities.features12.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  abilities.features13.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  abilities.features.pNext = &abilities.features11;
  abilities.features11.pNext = &abilities.features12;
  abilities.features12.pNext = &abilities.features13;
  void **end = &abilities.features13.pNext;
  if (abilities.hasExtension(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME)) {
    abilities.atomicFloat.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
    *end = &abilities.atomicFloat;
    end = &abilities.atomicFloat.pNext;
  }
  if (abilities.hasExtension(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) {
    abilities.cooperativeMatrix.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
    *end = &abilities.cooperativeMatrix;
    end = &abilities.cooperativeMatrix.pNext;
  }
  if (abilities.hasExtension(VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME)) {
    abilities.bfloat16.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR;
    *end = &abilities.bfloat16;
    end = &abilities.bfloat16.pNext;
  }
  if (abilities.hasExtension(
          VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME)) {
    abilities.executables.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    *end = &abilities.executables;
    end = &abilities.executables.pNext;
  }
  driver.GetPhysicalDeviceFeatures2(handle, &abilities.features);
  if (!abilities.cooperativeMatrix.cooperativeMatrix ||
      !driver.GetCooperativeMatrixProperties)
    return;
  count = 0;
  driver.GetCooperativeMatrixProperties(handle, &count, nullptr);
  abilities.matrices.resize(count);
  for (VkCooperativeMatrixPropertiesKHR &matrix : abilities.matrices) {
    matrix = {};
    matrix.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  }
  driver.GetCooperativeMatrixProperties(handle, &count,
                                        abilities.matrices.data());
  abilities.matrices.resize(count);
}

/// Why Tessera's kernels cannot run on a device; empty if they can.
static std::string explainUnfit(const Abilities &abilities) {
  uint32_t version = abilities.properties.properties.apiVersion;
  if (version < VK_API_VERSION_1_3)
    return format("it supports Vulkan %u.%u, but 1.3 is required",
                  VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  if (!abilities.features12.bufferDeviceAddress)
    return "it does not support bufferDeviceAddress";
  if (!abilities.features12.vulkanMemoryModel ||
      !abilities.features12.vulkanMemoryModelDeviceScope)
    return "it does not support vulkanMemoryModel";
  if (!abilities.features.features.shaderInt64)
    return "it does not support shaderInt64";
  return "";
}

static const char *getTypeName(VkComponentTypeKHR type) {
  switch (static_cast<int>(type)) {
  case VK_COMPONENT_TYPE_FLOAT16_KHR:
    return "f16";
  case VK_COMPONENT_TYPE_FLOAT32_KHR:
    return "f32";
  case VK_COMPONENT_TYPE_FLOAT64_KHR:
    return "f64";
  case VK_COMPONENT_TYPE_BFLOAT16_KHR:
    return "bf16";
  case VK_COMPONENT_TYPE_SINT8_KHR:
    return "s8";
  case VK_COMPONENT_TYPE_UINT8_KHR:
    return "u8";
  case VK_COMPONENT_TYPE_SINT32_KHR:
    return "s32";
  case VK_COMPONENT_TYPE_UINT32_KHR:
    return "u32";
  default:
    return nullptr;
  }
}

/// The device properties that the compiler needs, in the format of the
/// compiler's table reads it: lanes of a subgroup, bytes of workgroup memory,
/// threads of a workgroup, the floats whose NaNs are kept, and the shapes and
/// types of its matrix products.
static std::string describeChip(const Abilities &abilities) {
  const VkPhysicalDeviceLimits &limits = abilities.properties.properties.limits;
  std::string text = format("s%u-w%u-t%u", abilities.properties11.subgroupSize,
                            limits.maxComputeSharedMemorySize,
                            limits.maxComputeWorkGroupInvocations);
  const VkPhysicalDeviceVulkan12Properties &floats = abilities.properties12;
  if (floats.shaderSignedZeroInfNanPreserveFloat16)
    text += "-n16";
  if (floats.shaderSignedZeroInfNanPreserveFloat32)
    text += "-n32";
  if (floats.shaderSignedZeroInfNanPreserveFloat64)
    text += "-n64";
  for (const VkCooperativeMatrixPropertiesKHR &matrix : abilities.matrices) {
    const char *a = getTypeName(matrix.AType), *b = getTypeName(matrix.BType),
               *c = getTypeName(matrix.CType),
               *result = getTypeName(matrix.ResultType);
    if (matrix.scope != VK_SCOPE_SUBGROUP_KHR || !a || !b || !c ||
        c != result || a != b || matrix.saturatingAccumulation)
      continue;
    if (matrix.AType == VK_COMPONENT_TYPE_BFLOAT16_KHR &&
        !abilities.bfloat16.shaderBFloat16CooperativeMatrix)
      continue;
    text += format("-m%un%uk%u.%s.%s", matrix.MSize, matrix.NSize, matrix.KSize,
                   result, a);
  }
  return text;
}

/// As `DeviceInfo::kind` has it.
static const char *getKind(VkPhysicalDeviceType type) {
  switch (type) {
  case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    return "discrete";
  case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
    return "integrated";
  case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
    return "virtual";
  case VK_PHYSICAL_DEVICE_TYPE_CPU:
    return "software";
  default:
    return "";
  }
}

static DeviceInfo describe(const VulkanDriver &driver,
                           const Abilities &abilities) {
  const VkPhysicalDeviceProperties &properties =
      abilities.properties.properties;
  DeviceInfo info;
  info.target = "vulkan";
  info.chip = describeChip(abilities);
  info.name = properties.deviceName;
  info.driver =
      format("%s %s, Vulkan %u.%u.%u", abilities.properties12.driverName,
             abilities.properties12.driverInfo,
             VK_API_VERSION_MAJOR(properties.apiVersion),
             VK_API_VERSION_MINOR(properties.apiVersion),
             VK_API_VERSION_PATCH(properties.apiVersion));
  info.subgroupSize = static_cast<int>(abilities.properties11.subgroupSize);
  info.workgroupMemoryBytes = properties.limits.maxComputeSharedMemorySize;
  info.kind = getKind(properties.deviceType);
  info.isSoftware = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  VkPhysicalDeviceMemoryProperties memory;
  driver.GetPhysicalDeviceMemoryProperties(abilities.handle, &memory);
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      info.memoryBytes += memory.memoryHeaps[i].size;
  return info;
}

/// Calls `visit(abilities)` for each device that can run kernels. Gives the
/// reason for those that cannot.
template <typename Visit>
static std::string forEachDevice(const VulkanDriver &driver, Visit visit) {
  uint32_t count = 0;
  if (VkResult result =
          driver.EnumeratePhysicalDevices(driver.instance, &count, nullptr))
    return describeVulkan("vkEnumeratePhysicalDevices", result);
  std::vector<VkPhysicalDevice> handles(count);
  driver.EnumeratePhysicalDevices(driver.instance, &count, handles.data());
  handles.resize(count);
  std::string reason;
  bool any = false;
  for (VkPhysicalDevice handle : handles) {
    Abilities abilities;
    query(driver, handle, abilities);
    std::string why = explainUnfit(abilities);
    if (!why.empty()) {
      reason += (reason.empty() ? "" : "; ") +
                std::string(abilities.properties.properties.deviceName) + ": " +
                why;
      continue;
    }
    any = true;
    if (!visit(abilities))
      break;
  }
  if (!any && reason.empty())
    return "the loader reports no device";
  return reason;
}

std::string
tessera::runtime::listVulkanDevices(const VulkanDriver &driver,
                                    std::vector<DeviceInfo> &devices) {
  int ordinal = 0;
  return forEachDevice(driver, [&](const Abilities &abilities) {
    DeviceInfo info = describe(driver, abilities);
    info.ordinal = ordinal++;
    devices.push_back(std::move(info));
    return true;
  });
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

namespace {

/// Memory with an address on the device, and in the host's memory if it can.
struct Buffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize bytes = 0;
  uint64_t address = 0;
  char *mapped = nullptr;
};

/// A command buffer and what is needed until it has run.
struct Submission {
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  /// Parameters of the launches that are recorded.
  Buffer parameters;
  VkDeviceSize used = 0;
  /// Where it was submitted, if its completion has not been observed.
  VkQueue queue = VK_NULL_HANDLE;
  /// Memory of the pool may be in use until it is done.
  bool usesPool = false;
};

struct Kernel {
  /// Its module.
  std::shared_ptr<const std::vector<uint32_t>> code;
  /// Threads of a workgroup, which are compiled in.
  int64_t block[3] = {0, 0, 0};
  VkPipeline pipeline = VK_NULL_HANDLE;
};

struct Image {
  std::string name;
  std::unordered_map<std::string, Kernel> kernels;
};

/// For tests: self-tests read B the wrong way.
bool turnsSelfTests = false;

class VulkanDevice : public Device {
public:
  VulkanDevice(const VulkanDriver &driver, VkPhysicalDevice handle,
               DeviceInfo info)
      : Device(std::move(info)), driver(driver) {
    query(driver, handle, abilities);
  }
  ~VulkanDevice() override;

  /// Second half of construction: with a device of its own, or the caller's.
  Status open();
  Status open(const VulkanObjects &objects, const EnabledFeatures &enabled);

  Status enterQueue(void *queue) override;
  Status leaveQueue() override;
  Status freeInQueue(void *ptr, void *queue) override;
  Status bindObject(MemoryObject kind, void *object, size_t bytes,
                    bool mayWrite, void **address) override;
  void releaseObjects() override { objects.clear(); }

  size_t freeMemory() override;
  Status copyToDevice(void *device, const void *host, size_t bytes) override;
  Status copyToHost(void *host, const void *device, size_t bytes) override;
  Status fill(void *ptr, uint8_t pattern, size_t bytes) override;
  Status loadImage(const KernelImage &image) override;
  Status unloadImage(const std::string &name) override;
  Status launch(const LaunchRequest &request) override;
  Status synchronize() override;
  Status timeBegin() override;
  Status timeEnd(double *milliseconds) override;
  Status flushCaches() override;
  Expected<KernelResources> resources(const char *kernel, int64_t blockThreads,
                                      int64_t workgroupBytes) override;
  Status useCache(const std::string &directory) override;
  Status saveCache() override {
    Status status = pipelines.save(vk, device);
    Status other = tested.save();
    return status.ok() ? other : status;
  }

protected:
  Status backendAllocate(size_t bytes, void **ptr) override;
  void backendFree(void *ptr) override;

private:
  Status check(const char *call, VkResult result, const std::string &note = "");
  Status createBuffer(VkDeviceSize bytes, VkMemoryPropertyFlags wanted,
                      Buffer &buffer);
  void destroyBuffer(Buffer &buffer);
  /// Finds the functions of the device, and makes what it needs.
  Status prepare();
  Status createSubmission(VkDeviceSize parameterBytes, Submission &submission);
  void destroySubmission(Submission &submission);
  /// A submission for a queue of the caller's; waits for one where there are
  /// too many under way.
  Expected<Submission *> takeSubmission();
  /// Waits for a submission that is under way.
  Status await(Submission &submission);
  /// Waits for what queues but this one do with memory of the pool; null stands
  /// for no queue.
  Status awaitOthers(VkQueue queue);
  /// Hands what is recorded to the current queue.
  Status submit();
  uint64_t countAllocations() const {
    MemoryStats stats = memoryStats();
    return stats.backendAllocations + stats.reuses;
  }
  /// The buffer that holds so many bytes at an address.
  Expected<Buffer *> find(const void *ptr, size_t bytes);
  /// Makes the command buffer take commands.
  Status begin();
  /// Later commands see the effects of earlier ones.
  void addBarrier();
  /// Hands what is recorded to the device and waits for it.
  Status finish();
  Status copy(Buffer &from, VkDeviceSize fromOffset, Buffer &to,
              VkDeviceSize toOffset, VkDeviceSize bytes);
  /// Adds the kernels of a module to `image`, as far as that goes.
  Status loadModule(Image &image, const uint32_t *words, size_t count);
  void destroyKernels(const Image &image);
  /// Has the driver compile the kernel of this name of a module.
  VkResult createPipeline(VkShaderModule module, const std::string &name,
                          const Kernel &kernel, VkPipelineCreateFlags flags,
                          VkPipeline &pipeline);
  VkResult createModule(const std::vector<uint32_t> &code,
                        VkShaderModule &module);
  /// Searches all images if none is named.
  Expected<Kernel *> findKernel(const char *name, const char *imageName);
  /// Tests each matmul of a module that has not been tested on the device.
  Status testProducts(const std::string &image,
                      const std::vector<uint32_t> &code);
  /// Runs the kernel of a self-test: see `RunSelfTest`.
  Status runTest(const std::vector<uint32_t> &code,
                 std::vector<std::vector<uint8_t>> &contents);

  const VulkanDriver &driver;
  Abilities abilities;
  VulkanFunctions vk;
  VkDevice device = VK_NULL_HANDLE;
  bool isCallers = false;
  VkQueue ownQueue = VK_NULL_HANDLE;
  /// Which work goes to: `ownQueue`, or the caller's.
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t queueFamily = 0;
  VkCommandPool commandPool = VK_NULL_HANDLE;
  /// The submissions to the own queue, and to the caller's queues, ordered by
  /// their last run.
  Submission own;
  std::vector<std::unique_ptr<Submission>> callers;
  Submission *current = &own;
  /// As in `DriverDevice`.
  bool isInQueue = false;
  bool usesPool = false;
  uint64_t allocationsBefore = 0;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkQueryPool queries = VK_NULL_HANDLE;
  uint32_t timestampBits = 0;
  bool recording = false, timing = false;
  unsigned numRecorded = 0;
  /// Between the host and the device.
  Buffer staging;
  Buffer scratch;
  uint8_t scratchPattern = 0;
  /// By their addresses; and buffers of the caller's that are bound.
  std::map<uint64_t, Buffer> buffers, objects;
  /// In the order of loading; the last one wins.
  std::vector<Image> images;
  PipelineCache pipelines;
  TestedProducts tested;
  std::string pending;
  Status fault;
};

constexpr VkDeviceSize stagingBytes = 32 << 20;
constexpr VkDeviceSize parameterBytes = 1 << 20;
/// The same for queues of the caller's, and how many submissions to those may
/// be under way.
constexpr VkDeviceSize callersParameterBytes = 1 << 18;
constexpr size_t maxSubmissions = 32;
/// Commands of one submission.
constexpr unsigned maxRecorded = 4096;

} // namespace

Status VulkanDevice::check(const char *call, VkResult result,
                           const std::string &note) {
  if (result == VK_SUCCESS)
    return Status::success();
  std::string message = describeVulkan(call, result) + note;
  switch (result) {
  case VK_ERROR_OUT_OF_DEVICE_MEMORY:
  case VK_ERROR_OUT_OF_HOST_MEMORY:
    return Status(StatusCode::OutOfMemory, message);
  case VK_ERROR_DEVICE_LOST:
    fault = Status(StatusCode::LaunchFailed,
                   "a kernel failed: " + message +
                       (pending.empty()
                            ? ""
                            : "; launched since the last wait: " + pending));
    return fault;
  default:
    return Status(StatusCode::Internal, message);
  }
}

Status VulkanDevice::open() {
  // Everything that a kernel may use and the device has.
  std::vector<const char *> extensions;
  VkPhysicalDeviceFeatures features = {};
  const VkPhysicalDeviceFeatures &has = abilities.features.features;
  features.shaderInt64 = has.shaderInt64;
  features.shaderInt16 = has.shaderInt16;
  features.shaderFloat64 = has.shaderFloat64;
  auto features11 = make<VkPhysicalDeviceVulkan11Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  features11.storageBuffer16BitAccess =
      abilities.features11.storageBuffer16BitAccess;
  auto features12 = make<VkPhysicalDeviceVulkan12Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  features12.bufferDeviceAddress = VK_TRUE;
  features12.vulkanMemoryModel = VK_TRUE;
  features12.vulkanMemoryModelDeviceScope = VK_TRUE;
  features12.shaderFloat16 = abilities.features12.shaderFloat16;
  features12.shaderInt8 = abilities.features12.shaderInt8;
  features12.storageBuffer8BitAccess =
      abilities.features12.storageBuffer8BitAccess;
  features12.shaderBufferInt64Atomics =
      abilities.features12.shaderBufferInt64Atomics;
  features12.shaderSubgroupExtendedTypes =
      abilities.features12.shaderSubgroupExtendedTypes;
  auto features13 = make<VkPhysicalDeviceVulkan13Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  features13.subgroupSizeControl = abilities.features13.subgroupSizeControl;
  features13.computeFullSubgroups = abilities.features13.computeFullSubgroups;
  features11.pNext = &features12;
  features12.pNext = &features13;
  void **end = &features13.pNext;
  auto atomicFloat = make<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
  if (abilities.atomicFloat.shaderBufferFloat32AtomicAdd) {
    extensions.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
    atomicFloat.shaderBufferFloat32AtomicAdd = VK_TRUE;
    atomicFloat.shaderBufferFloat64AtomicAdd =
        abilities.atomicFloat.shaderBufferFloat64AtomicAdd;
    *end = &atomicFloat;
    end = &atomicFloat.pNext;
  }
  auto matrix = make<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  if (abilities.cooperativeMatrix.cooperativeMatrix) {
    extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    matrix.cooperativeMatrix = VK_TRUE;
    *end = &matrix;
    end = &matrix.pNext;
  }
  auto bfloat16 = make<VkPhysicalDeviceShaderBfloat16FeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR);
  if (abilities.bfloat16.shaderBFloat16CooperativeMatrix) {
    extensions.push_back(VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME);
    bfloat16.shaderBFloat16Type = VK_TRUE;
    bfloat16.shaderBFloat16CooperativeMatrix = VK_TRUE;
    *end = &bfloat16;
    end = &bfloat16.pNext;
  }

  auto executables = make<
      VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR);
  if (abilities.executables.pipelineExecutableInfo) {
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    executables.pipelineExecutableInfo = VK_TRUE;
    *end = &executables;
    end = &executables.pNext;
  }

  uint32_t count = 0;
  driver.GetPhysicalDeviceQueueFamilyProperties(abilities.handle, &count,
                                                nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  driver.GetPhysicalDeviceQueueFamilyProperties(abilities.handle, &count,
                                                families.data());
  while (queueFamily < count &&
         !(families[queueFamily].queueFlags & VK_QUEUE_COMPUTE_BIT))
    ++queueFamily;
  if (queueFamily == count)
    return Status(StatusCode::NoDevice,
                  info().name + " does not have a compute queue");
  timestampBits = families[queueFamily].timestampValidBits;

  float priority = 1.0f;
  auto queueInfo =
      make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queueInfo.queueFamilyIndex = queueFamily;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  auto deviceInfo =
      make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  deviceInfo.pNext = &features11;
  deviceInfo.queueCreateInfoCount = 1;
  deviceInfo.pQueueCreateInfos = &queueInfo;
  deviceInfo.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  deviceInfo.ppEnabledExtensionNames = extensions.data();
  deviceInfo.pEnabledFeatures = &features;
  if (VkResult result =
          driver.CreateDevice(abilities.handle, &deviceInfo, nullptr, &device))
    return Status(StatusCode::NoDevice,
                  format("vulkan device %d (%s) cannot be opened: %s",
                         info().ordinal, info().name.c_str(),
                         describeVulkan("vkCreateDevice", result).c_str()));
  if (Status status = prepare(); !status.ok())
    return status;
  vk.GetDeviceQueue(device, queueFamily, 0, &ownQueue);
  queue = ownQueue;
  return Status::success();
}

Status VulkanDevice::open(const VulkanObjects &objects,
                          const EnabledFeatures &enabled) {
  isCallers = true;
  device = objects.device;
  queueFamily = objects.queueFamily;
  abilities.cooperativeMatrix.cooperativeMatrix &= enabled.cooperativeMatrix;
  abilities.executables.pipelineExecutableInfo &= enabled.executables;
  uint32_t count = 0;
  driver.GetPhysicalDeviceQueueFamilyProperties(abilities.handle, &count,
                                                nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  driver.GetPhysicalDeviceQueueFamilyProperties(abilities.handle, &count,
                                                families.data());
  if (queueFamily >= count ||
      !(families[queueFamily].queueFlags & VK_QUEUE_COMPUTE_BIT))
    return Status(StatusCode::InvalidArgument,
                  format("queue family %u of %s does not support compute",
                         queueFamily, info().name.c_str()));
  timestampBits = families[queueFamily].timestampValidBits;
  if (Status status = prepare(); !status.ok())
    return status;
  vk.GetDeviceQueue(device, queueFamily, objects.queueIndex, &ownQueue);
  queue = ownQueue;
  return Status::success();
}

Status VulkanDevice::prepare() {
  std::string missing;
#define TESSERA_FIND(name)                                                     \
  vk.name = reinterpret_cast<PFN_vk##name>(                                    \
      driver.GetDeviceProcAddr(device, "vk" #name));                           \
  if (!vk.name && missing.empty())                                             \
    missing = "vk" #name;
  TESSERA_VULKAN_DEVICE_FUNCTIONS(TESSERA_FIND)
#undef TESSERA_FIND
  if (!missing.empty())
    return Status(StatusCode::NoDevice, info().name + " has no " + missing);
  if (abilities.executables.pipelineExecutableInfo) {
    vk.GetPipelineExecutableProperties =
        reinterpret_cast<PFN_vkGetPipelineExecutablePropertiesKHR>(
            driver.GetDeviceProcAddr(device,
                                     "vkGetPipelineExecutablePropertiesKHR"));
    vk.GetPipelineExecutableStatistics =
        reinterpret_cast<PFN_vkGetPipelineExecutableStatisticsKHR>(
            driver.GetDeviceProcAddr(device,
                                     "vkGetPipelineExecutableStatisticsKHR"));
  }

  auto poolInfo =
      make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  poolInfo.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  poolInfo.queueFamilyIndex = queueFamily;
  if (Status status =
          check("vkCreateCommandPool",
                vk.CreateCommandPool(device, &poolInfo, nullptr, &commandPool));
      !status.ok())
    return status;
  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               sizeof(uint64_t)};
  auto layoutInfo = make<VkPipelineLayoutCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layoutInfo.pushConstantRangeCount = 1;
  layoutInfo.pPushConstantRanges = &range;
  if (Status status =
          check("vkCreatePipelineLayout",
                vk.CreatePipelineLayout(device, &layoutInfo, nullptr, &layout));
      !status.ok())
    return status;
  auto queryInfo =
      make<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
  queryInfo.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queryInfo.queryCount = 2;
  if (Status status =
          check("vkCreateQueryPool",
                vk.CreateQueryPool(device, &queryInfo, nullptr, &queries));
      !status.ok())
    return status;
  VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                               VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  // The host reads what is cached fast, and kernels what is the device's.
  Status status = createBuffer(
      stagingBytes, host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, staging);
  if (!status.ok())
    status = createBuffer(stagingBytes, host, staging);
  if (!status.ok())
    return status;
  if (status.ok())
    status = createSubmission(parameterBytes, own);
  Device::deviceInfo.freeBytes = freeMemory();
  return status;
}

Status VulkanDevice::createSubmission(VkDeviceSize bytes,
                                      Submission &submission) {
  auto commandInfo = make<VkCommandBufferAllocateInfo>(
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  commandInfo.commandPool = commandPool;
  commandInfo.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commandInfo.commandBufferCount = 1;
  if (Status status = check("vkAllocateCommandBuffers",
                            vk.AllocateCommandBuffers(device, &commandInfo,
                                                      &submission.commands));
      !status.ok())
    return status;
  auto fenceInfo = make<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  if (Status status =
          check("vkCreateFence",
                vk.CreateFence(device, &fenceInfo, nullptr, &submission.fence));
      !status.ok())
    return status;
  VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                               VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  Status status = createBuffer(
      bytes, host | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, submission.parameters);
  if (!status.ok())
    status = createBuffer(bytes, host, submission.parameters);
  return status;
}

void VulkanDevice::destroySubmission(Submission &submission) {
  // The command buffer goes with its pool.
  destroyBuffer(submission.parameters);
  if (submission.fence)
    vk.DestroyFence(device, submission.fence, nullptr);
}

VulkanDevice::~VulkanDevice() {
  if (!device)
    return;
  // Only the owner of all queues may wait for the whole device.
  if (isCallers) {
    (void)finish();
    (void)awaitOthers(VK_NULL_HANDLE);
  } else if (vk.DeviceWaitIdle) {
    vk.DeviceWaitIdle(device);
  }
  recording = false;
  releaseMemory();
  for (Buffer *buffer : {&staging, &scratch})
    if (buffer->buffer)
      destroyBuffer(*buffer);
  destroySubmission(own);
  for (auto &submission : callers)
    destroySubmission(*submission);
  for (Image &image : images)
    destroyKernels(image);
  pipelines.close(vk, device);
  if (queries)
    vk.DestroyQueryPool(device, queries, nullptr);
  if (layout)
    vk.DestroyPipelineLayout(device, layout, nullptr);
  if (commandPool)
    vk.DestroyCommandPool(device, commandPool, nullptr);
  if (vk.DestroyDevice && !isCallers)
    vk.DestroyDevice(device, nullptr);
}

Status VulkanDevice::useCache(const std::string &directory) {
  Status status =
      pipelines.open(vk, device, directory, abilities.properties.properties,
                     abilities.properties11);
  Status other = tested.open(directory, abilities.properties.properties,
                             abilities.properties11);
  return status.ok() ? other : status;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status VulkanDevice::createBuffer(VkDeviceSize bytes,
                                  VkMemoryPropertyFlags wanted,
                                  Buffer &buffer) {
  auto info = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  Status status =
      check("vkCreateBuffer",
            vk.CreateBuffer(device, &info, nullptr, &buffer.buffer));
  if (!status.ok())
    return status;
  VkMemoryRequirements needs;
  vk.GetBufferMemoryRequirements(device, buffer.buffer, &needs);
  VkPhysicalDeviceMemoryProperties memory;
  driver.GetPhysicalDeviceMemoryProperties(abilities.handle, &memory);
  uint32_t type = 0;
  while (type < memory.memoryTypeCount &&
         (!(needs.memoryTypeBits >> type & 1) ||
          (memory.memoryTypes[type].propertyFlags & wanted) != wanted))
    ++type;
  if (type == memory.memoryTypeCount) {
    destroyBuffer(buffer);
    return Status(StatusCode::Internal,
                  deviceInfo.name +
                      " has no memory of the kind that is required");
  }
  auto flags = make<VkMemoryAllocateFlagsInfo>(
      VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate =
      make<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.pNext = &flags;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = type;
  status =
      check("vkAllocateMemory",
            vk.AllocateMemory(device, &allocate, nullptr, &buffer.memory),
            format(" (%llu bytes)", static_cast<unsigned long long>(bytes)));
  if (status.ok())
    status =
        check("vkBindBufferMemory",
              vk.BindBufferMemory(device, buffer.buffer, buffer.memory, 0));
  if (status.ok() && (wanted & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)) {
    void *mapped = nullptr;
    status = check("vkMapMemory", vk.MapMemory(device, buffer.memory, 0,
                                               VK_WHOLE_SIZE, 0, &mapped));
    buffer.mapped = static_cast<char *>(mapped);
  }
  if (!status.ok()) {
    destroyBuffer(buffer);
    return status;
  }
  auto address = make<VkBufferDeviceAddressInfo>(
      VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  address.buffer = buffer.buffer;
  buffer.address = vk.GetBufferDeviceAddress(device, &address);
  buffer.bytes = bytes;
  return Status::success();
}

void VulkanDevice::destroyBuffer(Buffer &buffer) {
  if (buffer.buffer)
    vk.DestroyBuffer(device, buffer.buffer, nullptr);
  if (buffer.memory)
    vk.FreeMemory(device, buffer.memory, nullptr);
  buffer = Buffer();
}

size_t VulkanDevice::freeMemory() {
  if (!abilities.hasExtension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME))
    return 0;
  auto budget = make<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  auto memory = make<VkPhysicalDeviceMemoryProperties2>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  memory.pNext = &budget;
  driver.GetPhysicalDeviceMemoryProperties2(abilities.handle, &memory);
  size_t bytes = 0;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i)
    if ((memory.memoryProperties.memoryHeaps[i].flags &
         VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
        budget.heapBudget[i] > budget.heapUsage[i])
      bytes += budget.heapBudget[i] - budget.heapUsage[i];
  return bytes;
}

Status VulkanDevice::backendAllocate(size_t bytes, void **ptr) {
  if (!fault.ok())
    return fault;
  Buffer buffer;
  if (Status status =
          createBuffer(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, buffer);
      !status.ok())
    return status;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  *ptr = reinterpret_cast<void *>(static_cast<uintptr_t>(buffer.address));
  buffers[buffer.address] = buffer;
  return Status::success();
}

void VulkanDevice::backendFree(void *ptr) {
  // Nothing that is recorded may use it any more; an error shows at the next
  // call.
  (void)finish();
  (void)awaitOthers(VK_NULL_HANDLE);
  auto found = buffers.find(reinterpret_cast<uintptr_t>(ptr));
  if (found == buffers.end())
    return;
  destroyBuffer(found->second);
  buffers.erase(found);
}

Expected<Buffer *> VulkanDevice::find(const void *ptr, size_t bytes) {
  uint64_t address = reinterpret_cast<uintptr_t>(ptr);
  for (std::map<uint64_t, Buffer> *known : {&buffers, &objects}) {
    auto after = known->upper_bound(address);
    if (after == known->begin())
      continue;
    Buffer &buffer = std::prev(after)->second;
    if (address + bytes <= buffer.address + buffer.bytes)
      return &buffer;
  }
  return Status(StatusCode::InvalidArgument,
                format("%zu bytes at %p were not allocated on %s", bytes, ptr,
                       info().name.c_str()));
}

Status VulkanDevice::copy(Buffer &from, VkDeviceSize fromOffset, Buffer &to,
                          VkDeviceSize toOffset, VkDeviceSize bytes) {
  if (Status status = begin(); !status.ok())
    return status;
  VkBufferCopy region = {fromOffset, toOffset, bytes};
  vk.CmdCopyBuffer(current->commands, from.buffer, to.buffer, 1, &region);
  addBarrier();
  return Status::success();
}

Status VulkanDevice::copyToDevice(void *to, const void *host, size_t bytes) {
  if (bytes == 0)
    return fault;
  Expected<Buffer *> found = find(to, bytes);
  if (!found.ok())
    return found.status();
  VkDeviceSize offset = reinterpret_cast<uintptr_t>(to) - (*found)->address;
  for (size_t done = 0; done < bytes;) {
    size_t part = std::min<size_t>(bytes - done, stagingBytes);
    // The staging buffer may be in use.
    if (Status status = finish(); !status.ok())
      return status;
    std::memcpy(staging.mapped, static_cast<const char *>(host) + done, part);
    if (Status status = copy(staging, 0, **found, offset + done, part);
        !status.ok())
      return status;
    done += part;
  }
  return finish();
}

Status VulkanDevice::copyToHost(void *host, const void *from, size_t bytes) {
  if (bytes == 0)
    return fault;
  Expected<Buffer *> found = find(from, bytes);
  if (!found.ok())
    return found.status();
  VkDeviceSize offset = reinterpret_cast<uintptr_t>(from) - (*found)->address;
  for (size_t done = 0; done < bytes;) {
    size_t part = std::min<size_t>(bytes - done, stagingBytes);
    if (Status status = copy(**found, offset + done, staging, 0, part);
        !status.ok())
      return status;
    if (Status status = finish(); !status.ok())
      return status;
    std::memcpy(static_cast<char *>(host) + done, staging.mapped, part);
    done += part;
  }
  return Status::success();
}

Status VulkanDevice::fill(void *ptr, uint8_t pattern, size_t bytes) {
  if (bytes == 0)
    return fault;
  Expected<Buffer *> found = find(ptr, bytes);
  if (!found.ok())
    return found.status();
  VkDeviceSize offset = reinterpret_cast<uintptr_t>(ptr) - (*found)->address;
  // The command fills words; the remaining bytes are copied.
  VkDeviceSize first = (offset + 3) / 4 * 4, last = (offset + bytes) / 4 * 4;
  if (first < last) {
    if (Status status = begin(); !status.ok())
      return status;
    vk.CmdFillBuffer(current->commands, (*found)->buffer, first, last - first,
                     0x01010101u * pattern);
    addBarrier();
  } else {
    first = last = offset + bytes;
  }
  const VkDeviceSize parts[2][2] = {{offset, first}, {last, offset + bytes}};
  for (const auto &[begin, end] : parts) {
    if (begin >= end)
      continue;
    if (Status status = finish(); !status.ok())
      return status;
    std::memset(staging.mapped, pattern, end - begin);
    if (Status status = copy(staging, 0, **found, begin, end - begin);
        !status.ok())
      return status;
  }
  // No other code waits for the use of a queue of the caller's of the staging
  // buffer.
  return isInQueue ? finish() : Status::success();
}

Status VulkanDevice::flushCaches() {
  if (!fault.ok())
    return fault;
  // The driver does not report the size of the cache.
  constexpr VkDeviceSize bytes = 256 << 20;
  if (!scratch.buffer)
    if (Status status =
            createBuffer(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, scratch);
        !status.ok())
      return status;
  if (Status status = begin(); !status.ok())
    return status;
  vk.CmdFillBuffer(current->commands, scratch.buffer, 0, bytes,
                   0x01010101u * ++scratchPattern);
  addBarrier();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

Status VulkanDevice::begin() {
  if (!fault.ok())
    return fault;
  if (recording && numRecorded >= maxRecorded)
    if (Status status = finish(); !status.ok())
      return status;
  ++numRecorded;
  if (recording)
    return Status::success();
  numRecorded = 1;
  if (!isInQueue)
    if (Status status = awaitOthers(ownQueue); !status.ok())
      return status;
  auto info = make<VkCommandBufferBeginInfo>(
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  if (Status status = check("vkResetCommandBuffer",
                            vk.ResetCommandBuffer(current->commands, 0));
      !status.ok())
    return status;
  Status status = check("vkBeginCommandBuffer",
                        vk.BeginCommandBuffer(current->commands, &info));
  recording = status.ok();
  // Makes host writes to mapped buffers visible.
  if (recording)
    addBarrier();
  return status;
}

void VulkanDevice::addBarrier() {
  auto barrier = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  vk.CmdPipelineBarrier(current->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
                            VK_PIPELINE_STAGE_HOST_BIT,
                        0, 1, &barrier, 0, nullptr, 0, nullptr);
}

Status VulkanDevice::submit() {
  recording = false;
  if (Status status =
          check("vkEndCommandBuffer", vk.EndCommandBuffer(current->commands));
      !status.ok())
    return status;
  auto submit = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &current->commands;
  if (Status status = check("vkQueueSubmit",
                            vk.QueueSubmit(queue, 1, &submit, current->fence));
      !status.ok())
    return status;
  current->queue = queue;
  return Status::success();
}

Status VulkanDevice::await(Submission &submission) {
  if (!submission.queue)
    return Status::success();
  submission.queue = VK_NULL_HANDLE;
  submission.usesPool = false;
  if (Status status = check(
          "vkWaitForFences",
          vk.WaitForFences(device, 1, &submission.fence, VK_TRUE, UINT64_MAX));
      !status.ok())
    return status;
  submission.used = 0;
  return check("vkResetFences", vk.ResetFences(device, 1, &submission.fence));
}

Status VulkanDevice::finish() {
  if (!fault.ok())
    return fault;
  if (!recording)
    return Status::success();
  if (Status status = submit(); !status.ok())
    return status;
  if (Status status = await(*current); !status.ok())
    return status;
  pending.clear();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Objects of the caller
//===----------------------------------------------------------------------===//
//
// Memory of the pool is handed out again while work that uses it is under way,
// which is right within one queue. Where another one gets it, the host waits
// first: semaphores that count are a feature that a caller's device need not
// have.

Status VulkanDevice::awaitOthers(VkQueue queue) {
  for (auto &submission : callers)
    if (submission->queue && submission->queue != queue &&
        (submission->usesPool || !queue))
      if (Status status = await(*submission); !status.ok())
        return status;
  return Status::success();
}

Expected<Submission *> VulkanDevice::takeSubmission() {
  auto take = [&](size_t index) {
    // The last one is the last to be done.
    std::rotate(callers.begin() + static_cast<ptrdiff_t>(index),
                callers.begin() + static_cast<ptrdiff_t>(index) + 1,
                callers.end());
    return callers.back().get();
  };
  for (size_t index = 0; index < callers.size(); ++index) {
    Submission &submission = *callers[index];
    if (submission.queue &&
        vk.GetFenceStatus(device, submission.fence) == VK_SUCCESS)
      if (Status status = await(submission); !status.ok())
        return status;
    if (!submission.queue)
      return take(index);
  }
  if (callers.size() >= maxSubmissions) {
    if (Status status = await(*callers.front()); !status.ok())
      return status;
    return take(0);
  }
  auto made = std::make_unique<Submission>();
  Status status = createSubmission(callersParameterBytes, *made);
  if (!status.ok()) {
    destroySubmission(*made);
    return status;
  }
  callers.push_back(std::move(made));
  return callers.back().get();
}

Status VulkanDevice::enterQueue(void *other) {
  if (!other)
    return Status(StatusCode::InvalidArgument,
                  "the queue is null: Vulkan has no default queue");
  auto theirs = static_cast<VkQueue>(other);
  if (Status status = finish(); !status.ok())
    return status;
  if (Status status = awaitOthers(theirs); !status.ok())
    return status;
  Expected<Submission *> taken = takeSubmission();
  if (!taken.ok())
    return taken.status();
  current = *taken;
  queue = theirs;
  isInQueue = true;
  usesPool = false;
  allocationsBefore = countAllocations();
  return Status::success();
}

Status VulkanDevice::leaveQueue() {
  if (!isInQueue)
    return Status::success();
  Status status = fault;
  if (status.ok() && recording) {
    status = submit();
    current->usesPool = usesPool || countAllocations() != allocationsBefore;
  }
  isInQueue = recording = false;
  queue = ownQueue;
  current = &own;
  return status;
}

Status VulkanDevice::freeInQueue(void *ptr, void *other) {
  auto theirs = static_cast<VkQueue>(other);
  Expected<Submission *> taken = takeSubmission();
  Status status = taken.ok() ? fault : taken.status();
  if (status.ok()) {
    // Submits only a fence, after all work queued so far.
    status = check("vkQueueSubmit",
                   vk.QueueSubmit(theirs, 0, nullptr, (*taken)->fence));
    if (status.ok()) {
      (*taken)->queue = theirs;
      (*taken)->usesPool = true;
    }
  }
  Status freed = free(ptr);
  return status.ok() ? freed : status;
}

Status VulkanDevice::bindObject(MemoryObject kind, void *object, size_t bytes,
                                bool mayWrite, void **address) {
  if (kind != MemoryObject::VkBuffer)
    return Device::bindObject(kind, object, bytes, mayWrite, address);
  Buffer bound;
  bound.buffer = reinterpret_cast<VkBuffer>(object);
  bound.bytes = bytes;
  // Its memory requirement is at least its size, which cannot be queried.
  VkMemoryRequirements needs;
  vk.GetBufferMemoryRequirements(device, bound.buffer, &needs);
  if (needs.size < bytes)
    return Status(
        StatusCode::InvalidArgument,
        format("the VkBuffer has at most %llu bytes, but the array needs %zu",
               static_cast<unsigned long long>(needs.size), bytes));
  auto info = make<VkBufferDeviceAddressInfo>(
      VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  info.buffer = bound.buffer;
  bound.address = vk.GetBufferDeviceAddress(device, &info);
  if (bound.address == 0)
    return Status(StatusCode::InvalidArgument,
                  "the VkBuffer does not have a device address: create it with "
                  "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, and its memory "
                  "with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT");
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  *address = reinterpret_cast<void *>(static_cast<uintptr_t>(bound.address));
  // The same buffer may be bound more than once.
  Buffer &known = objects[bound.address];
  bound.bytes = std::max(bound.bytes, known.bytes);
  known = bound;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Waiting and time
//===----------------------------------------------------------------------===//

Status VulkanDevice::synchronize() { return finish(); }

Status VulkanDevice::timeBegin() {
  if (timestampBits == 0)
    return Status(StatusCode::Internal,
                  info().name + " does not support timestamps");
  if (Status status = finish(); !status.ok())
    return status;
  if (Status status = begin(); !status.ok())
    return status;
  vk.CmdResetQueryPool(current->commands, queries, 0, 2);
  vk.CmdWriteTimestamp(current->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                       queries, 0);
  timing = true;
  return Status::success();
}

Status VulkanDevice::timeEnd(double *milliseconds) {
  if (!timing)
    return Status(StatusCode::InvalidArgument, "timeEnd without timeBegin");
  timing = false;
  if (Status status = begin(); !status.ok())
    return status;
  vk.CmdWriteTimestamp(current->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                       queries, 1);
  if (Status status = finish(); !status.ok())
    return status;
  uint64_t ticks[2] = {0, 0};
  if (Status status = check(
          "vkGetQueryPoolResults",
          vk.GetQueryPoolResults(
              device, queries, 0, 2, sizeof(ticks), ticks, sizeof(uint64_t),
              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
      !status.ok())
    return status;
  uint64_t elapsed = ticks[1] - ticks[0];
  if (timestampBits < 64)
    elapsed &= (uint64_t(1) << timestampBits) - 1;
  *milliseconds = static_cast<double>(elapsed) *
                  abilities.properties.properties.limits.timestampPeriod * 1e-6;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// Constants of the SPIR-V specification.
enum : uint32_t {
  spirvMagic = 0x07230203,
  spirvHeaderWords = 5,
  opEntryPoint = 15,
  opExecutionMode = 16,
  modeLocalSize = 17,
};
} // namespace

/// The words of the first module in `words`: up to the next one.
static size_t getModuleLength(const uint32_t *words, size_t count) {
  size_t at = spirvHeaderWords;
  while (at < count && words[at] != spirvMagic) {
    uint32_t length = words[at] >> 16;
    if (length == 0 || at + length > count)
      return 0;
    at += length;
  }
  return std::min(at, count);
}

VkResult VulkanDevice::createModule(const std::vector<uint32_t> &code,
                                    VkShaderModule &module) {
  auto info = make<VkShaderModuleCreateInfo>(
      VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  info.codeSize = code.size() * sizeof(uint32_t);
  info.pCode = code.data();
  return vk.CreateShaderModule(device, &info, nullptr, &module);
}

VkResult VulkanDevice::createPipeline(VkShaderModule module,
                                      const std::string &name,
                                      const Kernel &kernel,
                                      VkPipelineCreateFlags flags,
                                      VkPipeline &pipeline) {
  int64_t threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  auto size = make<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
  size.requiredSubgroupSize = static_cast<uint32_t>(info().subgroupSize);
  auto create = make<VkComputePipelineCreateInfo>(
      VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  create.flags = flags;
  create.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  create.stage.module = module;
  create.stage.pName = name.c_str();
  if (abilities.features13.subgroupSizeControl &&
      (abilities.properties13.requiredSubgroupSizeStages &
       VK_SHADER_STAGE_COMPUTE_BIT))
    create.stage.pNext = &size;
  if (abilities.features13.computeFullSubgroups &&
      kernel.block[0] % info().subgroupSize == 0 && threads)
    create.stage.flags =
        VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  create.layout = layout;
  return vk.CreateComputePipelines(device, pipelines.get(), 1, &create, nullptr,
                                   &pipeline);
}

Status VulkanDevice::runTest(const std::vector<uint32_t> &code,
                             std::vector<std::vector<uint8_t>> &contents) {
  VkShaderModule module = VK_NULL_HANDLE;
  if (VkResult result = createModule(code, module))
    return check("vkCreateShaderModule", result);
  Kernel kernel;
  kernel.block[0] = info().subgroupSize;
  kernel.block[1] = kernel.block[2] = 1;
  Status status = check("vkCreateComputePipelines",
                        createPipeline(module, selfTestKernel, kernel,
                                       /*flags=*/0, kernel.pipeline));
  vk.DestroyShaderModule(device, module, nullptr);
  if (!status.ok())
    return status;
  // As an image of its own, the last one.
  images.push_back({selfTestKernel, {{selfTestKernel, kernel}}});
  std::vector<void *> buffers(contents.size()), arguments(contents.size());
  for (size_t i = 0; i < contents.size() && status.ok(); ++i) {
    status = backendAllocate(contents[i].size(), &buffers[i]);
    if (status.ok())
      status = copyToDevice(buffers[i], contents[i].data(), contents[i].size());
    arguments[i] = static_cast<void *>(&buffers[i]);
  }
  if (status.ok()) {
    LaunchRequest request;
    request.kernel = request.image = selfTestKernel;
    request.block[0] = info().subgroupSize;
    request.numArgs = static_cast<int64_t>(arguments.size());
    request.args = arguments.data();
    status = launch(request);
  }
  for (size_t i = 0; i < contents.size() && status.ok(); ++i)
    status = copyToHost(contents[i].data(), buffers[i], contents[i].size());
  if (Status end = finish(); status.ok())
    status = end;
  for (void *buffer : buffers)
    if (buffer)
      backendFree(buffer);
  vk.DestroyPipeline(device, kernel.pipeline, nullptr);
  images.pop_back();
  return status;
}

Status VulkanDevice::testProducts(const std::string &image,
                                  const std::vector<uint32_t> &code) {
  auto lanes = static_cast<uint32_t>(info().subgroupSize);
  for (const MatrixProduct &product : readMatrixProducts(code)) {
    std::string name = product.getName();
    if (!canTest(product) || (tested.contains(name) && !turnsSelfTests))
      continue;
    Status status = runSelfTest(product, lanes, turnsSelfTests,
                                [this](const auto &test, auto &contents) {
                                  return runTest(test, contents);
                                });
    if (!status.ok())
      return Status(
          status.code(),
          format("image '%s' needs cooperative matrix multiplies, %s, that %s "
                 "computes wrongly: in a self-test, %s; to run without its "
                 "matrix unit, use --target=vulkan:%s",
                 image.c_str(), name.c_str(), info().name.c_str(),
                 status.message().c_str(),
                 getChipWithoutProducts(info().chip).c_str()));
    tested.add(name);
  }
  return Status::success();
}

Status VulkanDevice::loadModule(Image &image, const uint32_t *words,
                                size_t count) {
  std::unordered_map<uint32_t, Kernel> entries;
  std::unordered_map<uint32_t, std::string> entryNames;
  for (size_t at = spirvHeaderWords; at < count; at += words[at] >> 16) {
    uint32_t code = words[at] & 0xffff;
    if (code == opEntryPoint)
      entryNames[words[at + 2]] =
          reinterpret_cast<const char *>(words + at + 3);
    else if (code == opExecutionMode && words[at + 2] == modeLocalSize)
      for (int dim = 0; dim < 3; ++dim)
        entries[words[at + 1]].block[dim] = words[at + 3 + dim];
  }
  auto code =
      std::make_shared<const std::vector<uint32_t>>(words, words + count);
  if (Status status = testProducts(image.name, *code); !status.ok())
    return status;
  VkShaderModule module = VK_NULL_HANDLE;
  auto refuse = [&](const char *call, VkResult result) {
    Status status = check(call, result);
    if (status.code() != StatusCode::Internal)
      return status;
    return Status(StatusCode::Rejected,
                  format("the driver rejected image '%s' on %s: %s",
                         image.name.c_str(), this->info().name.c_str(),
                         status.message().c_str()));
  };
  if (VkResult result = createModule(*code, module))
    return refuse("vkCreateShaderModule", result);
  Status status;
  for (auto &[id, name] : entryNames) {
    Kernel kernel = entries[id];
    kernel.code = code;
    VkResult result =
        createPipeline(module, name, kernel, /*flags=*/0, kernel.pipeline);
    if (result) {
      status = refuse("vkCreateComputePipelines", result);
      break;
    }
    Kernel &slot = image.kernels[name];
    if (slot.pipeline)
      vk.DestroyPipeline(device, slot.pipeline, nullptr);
    slot = kernel;
  }
  vk.DestroyShaderModule(device, module, nullptr);
  return status;
}

void VulkanDevice::destroyKernels(const Image &image) {
  for (const auto &entry : image.kernels)
    vk.DestroyPipeline(device, entry.second.pipeline, nullptr);
}

Status VulkanDevice::loadImage(const KernelImage &image) {
  if (image.kind != KernelImage::SPIRV)
    return Status(
        StatusCode::InvalidArgument,
        "image '" + image.name +
            "' is not SPIR-V, and a vulkan device accepts nothing else");
  if (Status status = finish(); !status.ok())
    return status;
  for (const Image &old : images)
    if (old.name == image.name) {
      if (Status status = unloadImage(image.name); !status.ok())
        return status;
      break;
    }
  std::vector<uint32_t> words(image.bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), image.bytes.data(),
              words.size() * sizeof(uint32_t));
  Image loaded;
  loaded.name = image.name;
  for (size_t at = 0; at < words.size();) {
    size_t length =
        words.size() - at > spirvHeaderWords && words[at] == spirvMagic
            ? getModuleLength(words.data() + at, words.size() - at)
            : 0;
    if (length == 0)
      return Status(StatusCode::InvalidArgument,
                    "image '" + image.name + "' is malformed SPIR-V");
    if (Status status = loadModule(loaded, words.data() + at, length);
        !status.ok()) {
      destroyKernels(loaded);
      return status;
    }
    at += length;
  }
  images.push_back(std::move(loaded));
  return Status::success();
}

Status VulkanDevice::unloadImage(const std::string &name) {
  auto it = std::find_if(images.begin(), images.end(), [&](const Image &image) {
    return image.name == name;
  });
  if (it == images.end())
    return Status(StatusCode::InvalidArgument,
                  "image '" + name + "' is not loaded");
  if (Status status = finish(); !status.ok())
    return status;
  if (Status status = awaitOthers(VK_NULL_HANDLE); !status.ok())
    return status;
  destroyKernels(*it);
  images.erase(it);
  return Status::success();
}

Expected<Kernel *> VulkanDevice::findKernel(const char *name,
                                            const char *imageName) {
  std::string names;
  for (auto image = images.rbegin(); image != images.rend(); ++image) {
    if (imageName && image->name != imageName)
      continue;
    auto found = image->kernels.find(name);
    if (found != image->kernels.end())
      return &found->second;
    for (const auto &entry : image->kernels)
      names += (names.empty() ? "loaded kernels: " : ", ") + entry.first;
  }
  return Status(StatusCode::InvalidArgument,
                format("kernel '%s' is not loaded; %s", name,
                       names.empty() ? "nothing is loaded" : names.c_str()));
}

Status VulkanDevice::launch(const LaunchRequest &request) {
  if (Status status = checkRequest(request); !status.ok())
    return status;
  Expected<Kernel *> found = findKernel(request.kernel, request.image);
  if (!found.ok())
    return found.status();
  if (isEmptyGrid(request))
    return fault;
  const Kernel &kernel = **found;
  const VkPhysicalDeviceLimits &limits = abilities.properties.properties.limits;
  for (int dim = 0; dim < 3; ++dim) {
    if (request.block[dim] != kernel.block[dim])
      return refuse(request, "a block of " + formatDims(request.block) +
                                 " threads, but this kernel is compiled for " +
                                 formatDims(kernel.block));
    if (request.grid[dim] >
        static_cast<int64_t>(limits.maxComputeWorkGroupCount[dim]))
      return refuse(
          request,
          format("a grid of %s workgroups, but %s supports at most %u in %c",
                 formatDims(request.grid).c_str(), info().name.c_str(),
                 limits.maxComputeWorkGroupCount[dim], "xyz"[dim]));
  }
  auto bytes = static_cast<VkDeviceSize>(8 * request.numArgs);
  if (bytes > current->parameters.bytes)
    return refuse(request, "too many arguments");
  if (current->used + bytes > current->parameters.bytes)
    if (Status status = finish(); !status.ok())
      return status;
  if (Status status = begin(); !status.ok())
    return status;
  char *block = current->parameters.mapped + current->used;
  std::memset(block, 0, bytes);
  for (int64_t i = 0; i < request.numArgs; ++i) {
    int64_t size = request.argSizes ? request.argSizes[i] : 8;
    if (size > 8)
      return refuse(
          request,
          format("argument %lld has %lld bytes, but at most 8 can be passed",
                 static_cast<long long>(i), static_cast<long long>(size)));
    std::memcpy(block + 8 * i, request.args[i], static_cast<size_t>(size));
  }
  uint64_t address = current->parameters.address + current->used;
  current->used += bytes;
  vk.CmdBindPipeline(current->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                     kernel.pipeline);
  vk.CmdPushConstants(current->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                      sizeof(address), &address);
  vk.CmdDispatch(current->commands, static_cast<uint32_t>(request.grid[0]),
                 static_cast<uint32_t>(request.grid[1]),
                 static_cast<uint32_t>(request.grid[2]));
  addBarrier();
  if (pending.size() < 200 && pending.find(request.kernel) == std::string::npos)
    pending += (pending.empty() ? "" : ", ") + std::string(request.kernel);
  return Status::success();
}

Expected<KernelResources> VulkanDevice::resources(const char *kernel, int64_t,
                                                  int64_t) {
  Expected<Kernel *> found = findKernel(kernel, /*imageName=*/nullptr);
  if (!found.ok())
    return found.status();
  KernelResources result;
  result.maxThreads = static_cast<int>((*found)->block[0] * (*found)->block[1] *
                                       (*found)->block[2]);
  if (!vk.GetPipelineExecutableProperties ||
      !vk.GetPipelineExecutableStatistics)
    return result;
  // A pipeline of its own: those that are asked about may not be taken from the
  // driver's cache (Vulkan Specification, "Pipeline Properties").
  VkShaderModule module = VK_NULL_HANDLE;
  if (VkResult failed = createModule(*(*found)->code, module))
    return check("vkCreateShaderModule", failed);
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkResult failed =
      createPipeline(module, kernel, **found,
                     VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, pipeline);
  vk.DestroyShaderModule(device, module, nullptr);
  if (failed)
    return check("vkCreateComputePipelines", failed);
  result.account = describePipeline(vk, device, pipeline);
  vk.DestroyPipeline(device, pipeline, nullptr);
  return result;
}

void tessera::runtime::turnVulkanSelfTests() { turnsSelfTests = true; }

Expected<std::unique_ptr<Device>>
tessera::runtime::openVulkanDevice(const VulkanDriver &driver, int ordinal) {
  return openOrdinal<VulkanDevice>(
      "vulkan", ordinal,
      [&](auto visit) { return forEachDevice(driver, visit); },
      [&](const Abilities &abilities) {
        DeviceInfo info = describe(driver, abilities);
        info.ordinal = ordinal;
        return std::make_unique<VulkanDevice>(driver, abilities.handle,
                                              std::move(info));
      });
}

//===----------------------------------------------------------------------===//
// Devices of the caller's
//===----------------------------------------------------------------------===//

namespace {
/// A device with the functions of the caller's instance.
struct CallersInstance {
  VulkanDriver driver;
};
class CallersVulkanDevice final : private CallersInstance, public VulkanDevice {
public:
  CallersVulkanDevice(const VulkanDriver &driver, VkPhysicalDevice handle,
                      DeviceInfo info)
      : CallersInstance{driver},
        VulkanDevice(CallersInstance::driver, handle, std::move(info)) {}
};
} // namespace

/// The features of a device, as far as kernels may use them.
static EnabledFeatures getFeatures(const Abilities &abilities) {
  EnabledFeatures has;
  has.core = abilities.features.features;
  has.vulkan11 = abilities.features11;
  has.vulkan12 = abilities.features12;
  has.vulkan13 = abilities.features13;
  // They are of use together with an extension only.
  if (abilities.atomicFloat.shaderBufferFloat32AtomicAdd)
    has.atomicFloat = abilities.atomicFloat;
  return has;
}

/// Whether a device was made with that queue.
static bool hasQueue(const VkDeviceCreateInfo &info, uint32_t family,
                     uint32_t index) {
  for (uint32_t i = 0; i < info.queueCreateInfoCount; ++i) {
    const VkDeviceQueueCreateInfo &queues = info.pQueueCreateInfos[i];
    if (queues.queueFamilyIndex == family && queues.flags == 0 &&
        index < queues.queueCount)
      return true;
  }
  return false;
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openVulkanDeviceOn(const VulkanObjects &objects) {
  auto invalid = [](const std::string &text) {
    return Status(StatusCode::InvalidArgument, text);
  };
  if (!objects.instance || !objects.physicalDevice || !objects.device ||
      !objects.createInfo)
    return invalid(
        "a Vulkan device requires a VkInstance, a VkPhysicalDevice, a VkDevice "
        "and the VkDeviceCreateInfo that it was created with; one is null");
  if (objects.createInfo->sType != VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO)
    return invalid("createInfo is not a VkDeviceCreateInfo");
  VulkanDriver driver;
  std::string missing = findVulkanFunctions(objects.getInstanceProcAddr,
                                            objects.instance, driver);
  if (!missing.empty())
    return invalid(
        "the VkInstance does not provide " + missing +
        ": create it for Vulkan 1.3 (VkApplicationInfo::apiVersion)");
  Abilities abilities;
  query(driver, objects.physicalDevice, abilities);
  std::string name = abilities.properties.properties.deviceName;
  if (std::string unfit = explainUnfit(abilities); !unfit.empty())
    return Status(StatusCode::NoDevice, name + " is not usable: " + unfit);
  EnabledFeatures enabled = readEnabledFeatures(*objects.createInfo);
  missing = listMissingFeatures(getFeatures(abilities), enabled);
  if (!missing.empty())
    return invalid(
        "the VkDevice was created without features that programs may use and " +
        name + " has: " + missing);
  if (!hasQueue(*objects.createInfo, objects.queueFamily, objects.queueIndex))
    return invalid(format("the VkDevice was created without queue %u of family "
                          "%u, or that queue is protected",
                          objects.queueIndex, objects.queueFamily));
  // Only the matmuls of enabled features are available.
  if (!enabled.cooperativeMatrix)
    abilities.matrices.clear();
  if (!enabled.bfloat16Matrix)
    abilities.bfloat16.shaderBFloat16CooperativeMatrix = VK_FALSE;
  DeviceInfo info = describe(driver, abilities);
  info.ordinal = -1;
  int next = 0;
  (void)forEachDevice(driver, [&](const Abilities &other) {
    if (other.handle == objects.physicalDevice)
      info.ordinal = next;
    return other.handle != objects.physicalDevice && ++next;
  });
  auto opened = std::make_unique<CallersVulkanDevice>(
      driver, objects.physicalDevice, std::move(info));
  if (Status status = opened->open(objects, enabled); !status.ok())
    return status;
  return std::unique_ptr<Device>(std::move(opened));
}
