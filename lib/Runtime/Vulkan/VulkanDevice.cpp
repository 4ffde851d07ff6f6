//===- VulkanDevice.cpp - Any vendor's GPU by Vulkan ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanDevice.h"

#include "../Format.h"
#include "../OpenOrdinal.h"
#include "../ParallelFor.h"
#include "OpenVulkanDevice.h"
#include "Runtime/Vulkan.h"
#include "VulkanSelfTest.h"

#include <algorithm>
#include <climits>
#include <cstring>

using namespace tessera::runtime;

static constexpr VkDeviceSize stagingBytes = 32 << 20;
/// Stands for a kernel that a module does not have: not a VkResult.
static constexpr int unknownKernelCode = INT_MAX;

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

VulkanDevice::VulkanDevice(const VulkanDriver &driver, VkPhysicalDevice handle,
                           DeviceInfo info)
    : SpirvDevice(std::move(info),
                  DriverResult{"vkCreateComputePipelines", unknownKernelCode}),
      context(driver), memory(context), queue(context, memory),
      kernels(context, this->info().subgroupSize) {
  queryCapabilities(driver, handle, context.capabilities);
}

Status VulkanDevice::open() {
  Status status = context.create(info());
  return status.ok() ? prepare() : status;
}

Status VulkanDevice::open(const VulkanObjects &objects,
                          const EnabledFeatures &enabled) {
  Status status = context.use(objects, enabled, info());
  return status.ok() ? prepare() : status;
}

Status VulkanDevice::prepare() {
  if (Status status = check(queue.create()); !status.ok())
    return status;
  if (Status status = check(kernels.create()); !status.ok())
    return status;
  // The host reads cached memory fast.
  Status status =
      check(memory.create(stagingBytes, vulkanHostMemory,
                          VK_MEMORY_PROPERTY_HOST_CACHED_BIT, staging));
  deviceInfo.freeBytes = freeMemory();
  const VkPhysicalDeviceLimits &limits =
      context.capabilities.properties.properties.limits;
  int64_t grid[3], block[3];
  std::copy_n(limits.maxComputeWorkGroupCount, 3, grid);
  std::copy_n(limits.maxComputeWorkGroupSize, 3, block);
  setLimits(grid, block, limits.maxComputeWorkGroupInvocations);
  return status;
}

VulkanDevice::~VulkanDevice() {
  if (!context.device)
    return;
  // Only the owner of all queues may wait for the whole device.
  if (context.isCallers) {
    (void)queue.finish();
    (void)queue.awaitOthers(VK_NULL_HANDLE);
  } else if (context.vk.DeviceWaitIdle) {
    context.vk.DeviceWaitIdle(context.device);
  }
  queue.discard();
  releaseAll();
  memory.destroy(staging);
  queue.destroy();
  kernels.destroy();
  context.destroy();
}

DriverFailure VulkanDevice::classify(int code) const {
  switch (code) {
  case VK_ERROR_OUT_OF_DEVICE_MEMORY:
  case VK_ERROR_OUT_OF_HOST_MEMORY:
    return DriverFailure::OutOfMemory;
  case VK_ERROR_DEVICE_LOST:
    return DriverFailure::Fault;
  case unknownKernelCode:
    return DriverFailure::NotFound;
  default:
    return DriverFailure::Other;
  }
}

Status VulkanDevice::useCache(const std::string &directory) {
  Status status = kernels.useCache(directory);
  Status other =
      tested.open(directory, context.capabilities.properties.properties,
                  context.capabilities.properties11);
  return status.ok() ? other : status;
}

Status VulkanDevice::saveCache() {
  Status status = kernels.saveCache();
  Status other = tested.save();
  return status.ok() ? other : status;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

DriverResult VulkanDevice::memInfo(size_t *freeBytes, size_t *totalBytes) {
  *freeBytes = memory.getFreeBytes();
  *totalBytes = info().memoryBytes;
  return success();
}

DriverResult VulkanDevice::memFree(void *ptr) {
  // Recorded and submitted commands may use the memory. The next call reports a
  // failure.
  (void)check(queue.finish());
  (void)check(queue.awaitOthers(VK_NULL_HANDLE));
  memory.free(ptr);
  return success();
}

Status VulkanDevice::checkRange(const void *ptr, size_t bytes) const {
  if (bytes == 0 || memory.find(ptr, bytes))
    return Status::success();
  return Status(StatusCode::InvalidArgument,
                format("%zu bytes at %p were not allocated on %s", bytes, ptr,
                       info().name.c_str()));
}

Status VulkanDevice::copyToDevice(void *to, const void *host, size_t bytes) {
  Status status = checkRange(to, bytes);
  return status.ok() ? SpirvDevice::copyToDevice(to, host, bytes) : status;
}

Status VulkanDevice::copyToHost(void *host, const void *from, size_t bytes) {
  Status status = checkRange(from, bytes);
  return status.ok() ? SpirvDevice::copyToHost(host, from, bytes) : status;
}

Status VulkanDevice::copyOnDevice(void *to, const void *from, size_t bytes) {
  for (const void *ptr : {static_cast<const void *>(to), from})
    if (Status status = checkRange(ptr, bytes); !status.ok())
      return status;
  return SpirvDevice::copyOnDevice(to, from, bytes);
}

Status VulkanDevice::fill(void *ptr, uint8_t pattern, size_t bytes) {
  Status status = checkRange(ptr, bytes);
  return status.ok() ? SpirvDevice::fill(ptr, pattern, bytes) : status;
}

DriverResult VulkanDevice::queueCopyIn(void *to, const void *from,
                                       size_t bytes) {
  const VulkanBuffer &buffer = *memory.find(to, bytes);
  VkDeviceSize offset = buffer.getOffset(to);
  for (size_t done = 0; done < bytes;) {
    size_t part = std::min<size_t>(bytes - done, stagingBytes);
    // The staging buffer may be in use.
    if (DriverResult result = queue.finish(); result.failed())
      return result;
    std::memcpy(staging.mapped, static_cast<const char *>(from) + done, part);
    if (DriverResult result =
            queue.copy(staging, 0, buffer, offset + done, part);
        result.failed())
      return result;
    done += part;
  }
  return queue.finish();
}

DriverResult VulkanDevice::queueCopyOut(void *to, const void *from,
                                        size_t bytes) {
  const VulkanBuffer &buffer = *memory.find(from, bytes);
  VkDeviceSize offset = buffer.getOffset(from);
  for (size_t done = 0; done < bytes;) {
    size_t part = std::min<size_t>(bytes - done, stagingBytes);
    if (DriverResult result =
            queue.copy(buffer, offset + done, staging, 0, part);
        result.failed())
      return result;
    if (DriverResult result = queue.finish(); result.failed())
      return result;
    std::memcpy(static_cast<char *>(to) + done, staging.mapped, part);
    done += part;
  }
  return success();
}

DriverResult VulkanDevice::queueCopy(void *to, const void *from, size_t bytes) {
  const VulkanBuffer &source = *memory.find(from, bytes),
                     &target = *memory.find(to, bytes);
  return queue.copy(source, source.getOffset(from), target,
                    target.getOffset(to), bytes);
}

DriverResult VulkanDevice::queueFill(void *ptr, uint8_t pattern, size_t bytes) {
  const VulkanBuffer &buffer = *memory.find(ptr, bytes);
  VkDeviceSize offset = buffer.getOffset(ptr);
  // The command fills words; the bytes around these are copied.
  VkDeviceSize first = (offset + 3) / 4 * 4, last = (offset + bytes) / 4 * 4;
  if (first < last) {
    if (DriverResult result = queue.begin(); result.failed())
      return result;
    context.vk.CmdFillBuffer(queue.commands(), buffer.buffer, first,
                             last - first, 0x01010101u * pattern);
    queue.addBarrier();
  } else {
    first = last = offset + bytes;
  }
  const VkDeviceSize parts[2][2] = {{offset, first}, {last, offset + bytes}};
  for (const auto &[begin, end] : parts) {
    if (begin >= end)
      continue;
    if (DriverResult result = queue.finish(); result.failed())
      return result;
    std::memset(staging.mapped, pattern, end - begin);
    if (DriverResult result =
            queue.copy(staging, 0, buffer, begin, end - begin);
        result.failed())
      return result;
  }
  // No other queue waits for the use of the staging buffer in a queue of the
  // caller.
  return queue.isInQueue() ? queue.finish() : success();
}

//===----------------------------------------------------------------------===//
// Queues and objects of the caller
//===----------------------------------------------------------------------===//

Status VulkanDevice::enterQueue(void *other) {
  if (!other)
    return Status(StatusCode::InvalidArgument,
                  "the queue is null: Vulkan has no default queue");
  if (Status status = enter(); !status.ok())
    return status;
  Status status = check(queue.enter(static_cast<VkQueue>(other)));
  allocationsBefore = countAllocations();
  return status;
}

Status VulkanDevice::leaveQueue() {
  if (!queue.isInQueue())
    return Status::success();
  Status status = enter();
  if (!status.ok())
    queue.discard();
  Status left = check(queue.leave(countAllocations() != allocationsBefore));
  return status.ok() ? left : status;
}

Status VulkanDevice::freeInQueue(void *ptr, void *other) {
  Status status = enter();
  if (status.ok())
    status = check(queue.guardPool(static_cast<VkQueue>(other)));
  Status freed = free(ptr);
  return status.ok() ? freed : status;
}

Status VulkanDevice::bindObject(MemoryObject kind, void *object, size_t bytes,
                                bool mayWrite, void **address) {
  if (kind != MemoryObject::VkBuffer)
    return Device::bindObject(kind, object, bytes, mayWrite, address);
  return memory.bind(reinterpret_cast<VkBuffer>(object), bytes, address);
}

Status VulkanDevice::timeBegin() {
  if (context.timestampBits == 0)
    return Status(StatusCode::Internal,
                  info().name + " does not support timestamps");
  return SpirvDevice::timeBegin();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

bool VulkanDevice::hasFeature(const std::string &feature) const {
  const VulkanCapabilities &has = context.capabilities;
  if (feature == "f16")
    return has.features12.shaderFloat16;
  if (feature == "f64")
    return has.features.features.shaderFloat64;
  if (feature == "a32")
    return has.atomicFloat.shaderBufferFloat32AtomicAdd;
  return feature == "a64" && has.atomicFloat.shaderBufferFloat64AtomicAdd;
}

DriverResult VulkanDevice::compile(const SpirvModule &code,
                                   std::vector<Function> &functions) const {
  auto words = std::make_shared<const std::vector<uint32_t>>(code.words);
  VkShaderModule handle = VK_NULL_HANDLE;
  DriverResult result = kernels.createModule(*words, handle);
  if (result.failed())
    return result;
  for (const SpirvKernel &kernel : code.kernels) {
    auto compiled = std::make_unique<VulkanKernel>();
    compiled->code = words;
    result =
        kernels.createPipeline(handle, kernel, /*flags=*/0, compiled->pipeline);
    if (result.failed())
      break;
    functions.push_back({compiled.release(), kernel});
  }
  kernels.destroyModule(handle);
  return result;
}

Status VulkanDevice::build(const KernelImage &image, const SpirvModule &code,
                           Module &module) {
  return buildAll(image, {code}, module);
}

Status VulkanDevice::buildAll(const KernelImage &image,
                              const std::vector<SpirvModule> &code,
                              Module &module) {
  for (const SpirvModule &part : code)
    if (Status status = testMatmuls(image.name, part.words); !status.ok())
      return status;
  // A driver compiles large kernels for seconds, on the thread that asks for
  // it; a network has a hundred.
  std::vector<std::vector<Function>> functions(code.size());
  std::vector<DriverResult> results(code.size(), vulkanSuccess());
  parallelFor(code.size(), countProcessors(),
              [&](size_t i) { results[i] = compile(code[i], functions[i]); });
  for (const std::vector<Function> &compiled : functions)
    module.functions.insert(module.functions.end(), compiled.begin(),
                            compiled.end());
  for (const DriverResult &result : results)
    if (result.failed())
      return rejectImage(image, result);
  return Status::success();
}

void VulkanDevice::release(Module &module) {
  // Submitted commands may use the pipelines.
  (void)check(queue.awaitOthers(VK_NULL_HANDLE));
  for (Function &function : module.functions) {
    std::unique_ptr<VulkanKernel> kernel(
        static_cast<VulkanKernel *>(function.handle));
    kernels.destroyPipeline(kernel->pipeline);
  }
}

LoadedKernel VulkanDevice::describeKernel(void *function, void *module,
                                          const char *name) const {
  LoadedKernel result = SpirvDevice::describeKernel(function, module, name);
  // The parameters are a block of memory, whose layout SPIR-V does not state.
  result.parametersKnown = false;
  return result;
}

Status VulkanDevice::checkOwnLimits(const LaunchRequest &request,
                                    const LoadedKernel &kernel) const {
  if (Status status = SpirvDevice::checkOwnLimits(request, kernel);
      !status.ok())
    return status;
  int64_t pushed =
      static_cast<const Function *>(kernel.handle)->kernel.pushedArguments;
  if (pushed > 0 && (pushed != request.numArgs || 8 * pushed > maxPushedBytes))
    return reject(
        request,
        format("%lld arguments, but this kernel takes %lld, and at most %u can "
               "be push constants",
               static_cast<long long>(request.numArgs),
               static_cast<long long>(pushed), maxPushedBytes / 8));
  if (static_cast<VkDeviceSize>(request.numArgs) >
      queue.getMaxParameterBytes() / 8)
    return reject(request, "too many arguments");
  for (int64_t i = 0; request.argSizes && i < request.numArgs; ++i)
    if (request.argSizes[i] > 8)
      return reject(
          request,
          format("argument %lld has %lld bytes, but at most 8 can be passed",
                 static_cast<long long>(i),
                 static_cast<long long>(request.argSizes[i])));
  return Status::success();
}

DriverResult VulkanDevice::queueLaunch(void *function,
                                       const LaunchRequest &request) {
  const auto *loaded = static_cast<const Function *>(function);
  const auto *kernel = static_cast<const VulkanKernel *>(loaded->handle);
  auto bytes = static_cast<uint32_t>(8 * request.numArgs);
  char pushed[maxPushedBytes];
  if (loaded->kernel.pushedArguments > 0) {
    if (DriverResult result = queue.begin(); result.failed())
      return result;
    packVulkanParameters(request, pushed);
  } else {
    VulkanQueue::Parameters parameters;
    if (DriverResult result = queue.takeParameters(bytes, parameters);
        result.failed())
      return result;
    packVulkanParameters(request, parameters.mapped);
    std::memcpy(pushed, &parameters.address, sizeof(parameters.address));
    bytes = sizeof(parameters.address);
  }
  const uint32_t grid[] = {static_cast<uint32_t>(request.grid[0]),
                           static_cast<uint32_t>(request.grid[1]),
                           static_cast<uint32_t>(request.grid[2])};
  queue.recordLaunch(queue.commands(), kernel->pipeline, kernels.getLayout(),
                     pushed, bytes, grid);
  return success();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static VulkanGraph *getGraph(void *graph) {
  return static_cast<VulkanGraph *>(graph);
}

/// Nodes are the numbers of steps, from 1 on: null stands for none.
static void *makeNode(const VulkanGraph &graph) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void *>(graph.size());
}

static size_t getStep(void *node) {
  return reinterpret_cast<uintptr_t>(node) - 1;
}

DriverResult VulkanDevice::graphCreate(void **graph) {
  *graph = new VulkanGraph(queue, memory, kernels.getLayout());
  return success();
}

DriverResult VulkanDevice::graphAddLaunch(void *graph, void *, void **node,
                                          void *function,
                                          const LaunchRequest &request) {
  const auto *loaded = static_cast<const Function *>(function);
  const auto *kernel = static_cast<const VulkanKernel *>(loaded->handle);
  getGraph(graph)->addLaunch(kernel->pipeline,
                             loaded->kernel.pushedArguments > 0, request);
  *node = makeNode(*getGraph(graph));
  return success();
}

DriverResult VulkanDevice::graphAddCopy(void *graph, void *, void **node,
                                        void *to, const void *from,
                                        size_t bytes) {
  getGraph(graph)->addCopy(to, from, bytes);
  *node = makeNode(*getGraph(graph));
  return success();
}

DriverResult VulkanDevice::graphInstantiate(void *graph, void **instance) {
  // The graph owns its recorded commands.
  *instance = graph;
  return getGraph(graph)->create();
}

DriverResult VulkanDevice::graphSetLaunch(void *instance, void *node, void *,
                                          const LaunchRequest &request) {
  return getGraph(instance)->setLaunch(getStep(node), request);
}

DriverResult VulkanDevice::graphSetCopy(void *instance, void *node, void *to,
                                        const void *from, size_t bytes) {
  return getGraph(instance)->setCopy(getStep(node), to, from, bytes);
}

DriverResult VulkanDevice::graphLaunch(void *instance, void *) {
  return getGraph(instance)->launch();
}

bool VulkanDevice::graphMustWait(void *instance, bool isChanged) {
  return getGraph(instance)->mustWait(isChanged);
}

void VulkanDevice::graphDestroy(void *graph) { delete getGraph(graph); }

Expected<KernelResources> VulkanDevice::resources(const char *kernel,
                                                  int64_t blockThreads,
                                                  int64_t workgroupBytes) {
  Expected<KernelResources> found =
      SpirvDevice::resources(kernel, blockThreads, workgroupBytes);
  const Function *function = found.ok() ? findFunction(kernel) : nullptr;
  if (!function)
    return found;
  KernelResources result = found.take();
  if (Status status = check(
          kernels.describe(*static_cast<const VulkanKernel *>(function->handle),
                           function->kernel, result.account));
      !status.ok())
    return status;
  return result;
}

//===----------------------------------------------------------------------===//
// Self-tests
//===----------------------------------------------------------------------===//

Status VulkanDevice::testMatmuls(const std::string &image,
                                 const std::vector<uint32_t> &code) {
  if (isTesting)
    return Status::success();
  auto lanes = static_cast<uint32_t>(info().subgroupSize);
  bool fails = getVulkanSettings().failsSelfTests;
  for (const MatrixMultiply &matmul : readMatrixMultiplies(code)) {
    std::string name = matmul.getName();
    if (!canTest(matmul) || (tested.contains(name) && !fails))
      continue;
    Status status = runSelfTest(matmul, lanes, fails,
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
                 getChipWithoutMatmuls(info().chip).c_str()));
    tested.add(name);
  }
  return Status::success();
}

Status VulkanDevice::runTest(const std::vector<uint32_t> &code,
                             std::vector<std::vector<uint8_t>> &contents) {
  KernelImage image;
  image.kind = KernelImage::SPIRV;
  image.name = selfTestKernel;
  image.bytes.assign(reinterpret_cast<const char *>(code.data()),
                     code.size() * sizeof(uint32_t));
  isTesting = true;
  Status status = loadImage(image);
  isTesting = false;
  if (!status.ok())
    return status;
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
  if (Status end = unloadImage(selfTestKernel); status.ok())
    status = end;
  for (void *buffer : buffers)
    if (buffer)
      backendFree(buffer);
  return status;
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

std::string
tessera::runtime::listVulkanDevices(const VulkanDriver &driver,
                                    std::vector<DeviceInfo> &devices) {
  int ordinal = 0;
  return forEachVulkanDevice(driver, [&](const VulkanCapabilities &device) {
    DeviceInfo info = describeDevice(driver, device);
    info.ordinal = ordinal++;
    devices.push_back(std::move(info));
    return true;
  });
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openVulkanDevice(const VulkanDriver &driver, int ordinal) {
  return openOrdinal<VulkanDevice>(
      "vulkan", ordinal,
      [&](auto visit) { return forEachVulkanDevice(driver, visit); },
      [&](const VulkanCapabilities &device) {
        DeviceInfo info = describeDevice(driver, device);
        info.ordinal = ordinal;
        return std::make_unique<VulkanDevice>(driver, device.handle,
                                              std::move(info));
      });
}
