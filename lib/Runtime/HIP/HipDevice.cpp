//===- HipDevice.cpp - AMD's GPUs, and Hygon's ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device is HIP's own context of it, which other users of the process share,
// and one stream. Nothing goes through the null stream.
//
//===----------------------------------------------------------------------===//

#include "HipDevice.h"

#include "../DriverDevice.h"
#include "../DriverListing.h"
#include "../Format.h"
#include "Runtime/CodeCompatibility.h"
#include "Runtime/CodeObject.h"
#include "Runtime/OffloadBundle.h"
#include "Runtime/TargetId.h"
#include "Target/AMD/ChipRows.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

using namespace tessera::runtime;

namespace {

class HipDevice final : public DriverDevice {
public:
  HipDevice(const HipDriver &driver, DeviceInfo info)
      : DriverDevice(std::move(info)), driver(driver) {}
  ~HipDevice() override;

  /// Second half of construction.
  Status open();

  Status loadImage(const KernelImage &image) override;
  void *saveCaller() override {
    driver.getDevice(&callersDevice);
    return &callersDevice;
  }
  void restoreCaller(void *state) override {
    if (int ordinal = *static_cast<int *>(state); ordinal != info().ordinal)
      driver.setDevice(ordinal);
  }
  void leaveThread(uintptr_t state) override {
    if (auto ordinal = static_cast<int>(state); ordinal != info().ordinal)
      driver.setDevice(ordinal);
  }
  bool isCapturing(void *queue) override {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    // The default stream cannot be captured.
    return queue && driver.streamIsCapturing &&
           !driver.streamIsCapturing(static_cast<hipStream_t>(queue),
                                     &status) &&
           status != hipStreamCaptureStatusNone;
  }

protected:
  int exchangeCaptureMode(int mode) override {
    auto exchanged = static_cast<hipStreamCaptureMode>(mode);
    if (driver.threadExchangeCaptureMode)
      driver.threadExchangeCaptureMode(&exchanged);
    return exchanged;
  }
  DriverResult makeCurrent() override {
    return {"hipSetDevice", driver.setDevice(info().ordinal)};
  }
  DriverResult memInfo(size_t *freeBytes, size_t *totalBytes) override {
    return {"hipMemGetInfo", driver.memGetInfo(freeBytes, totalBytes)};
  }
  DriverResult memAlloc(void **ptr, size_t bytes) override {
    return {"hipMalloc", driver.malloc(ptr, bytes)};
  }
  DriverResult memFree(void *ptr) override {
    return {"hipFree", driver.free(ptr)};
  }
  DriverResult queueCopyIn(void *to, const void *from, size_t bytes) override {
    return {"hipMemcpyAsync",
            driver.memcpyAsync(to, from, bytes, hipMemcpyHostToDevice, stream)};
  }
  DriverResult queueCopyOut(void *to, const void *from, size_t bytes) override {
    return {"hipMemcpyAsync",
            driver.memcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, stream)};
  }
  DriverResult queueCopy(void *to, const void *from, size_t bytes) override {
    return {
        "hipMemcpyAsync",
        driver.memcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream)};
  }
  DriverResult queueFill(void *ptr, uint8_t pattern, size_t bytes) override {
    return {"hipMemsetAsync", driver.memsetAsync(ptr, pattern, bytes, stream)};
  }
  DriverResult waitForStream() override {
    return {"hipStreamSynchronize", driver.streamSynchronize(stream)};
  }
  DriverResult recordBegin() override {
    return {"hipEventRecord", driver.eventRecord(beginEvent, stream)};
  }
  DriverResult recordEnd() override {
    return {"hipEventRecord", driver.eventRecord(endEvent, stream)};
  }
  DriverResult waitForEnd() override {
    return {"hipEventSynchronize", driver.eventSynchronize(endEvent)};
  }
  DriverResult elapsed(float *milliseconds) override {
    return {"hipEventElapsedTime",
            driver.eventElapsedTime(milliseconds, beginEvent, endEvent)};
  }
  DriverResult moduleUnload(void *module) override {
    DriverResult result = {
        "hipModuleUnload",
        driver.moduleUnload(static_cast<hipModule_t>(module))};
    modules.erase(module);
    return result;
  }
  DriverResult moduleGetFunction(void **function, void *module,
                                 const char *name) override {
    hipFunction_t found = nullptr;
    hipError_t result = driver.moduleGetFunction(
        &found, static_cast<hipModule_t>(module), name);
    *function = found;
    return {"hipModuleGetFunction", result};
  }
  /// A workgroup may always have all of it.
  DriverResult setDynamicLimit(void *, int64_t) override {
    return {"", hipSuccess};
  }
  DriverResult queueLaunch(void *function,
                           const LaunchRequest &request) override {
    return launchIn(stream, function, request);
  }
  DriverResult occupancy(int *workgroups, void *function, int64_t blockThreads,
                         int64_t workgroupBytes) override {
    return {"hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
            driver.occupancy(workgroups, static_cast<hipFunction_t>(function),
                             static_cast<int>(blockThreads),
                             static_cast<size_t>(workgroupBytes))};
  }

  bool takesQueues() const override { return true; }
  void setQueue(void *queue) override {
    stream = static_cast<hipStream_t>(queue);
  }
  void setOwnQueue() override { stream = ownStream; }
  DriverResult noteQueue() override {
    return {"hipEventRecord", driver.eventRecord(orderEvent, stream)};
  }
  DriverResult waitForNote() override {
    return {"hipStreamWaitEvent",
            driver.streamWaitEvent(stream, orderEvent, /*flags=*/0)};
  }

  bool takesConcurrentCalls() const override { return true; }
  DriverResult launchIn(void *queue, void *function,
                        const LaunchRequest &request) override;
  DriverResult copyIn(void *queue, void *to, const void *from,
                      size_t bytes) override {
    return {"hipMemcpyAsync",
            driver.memcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice,
                               static_cast<hipStream_t>(queue))};
  }
  bool isForeign(uintptr_t &state) override {
    int ordinal = 0;
    driver.getDevice(&ordinal);
    state = static_cast<uintptr_t>(ordinal);
    return ordinal != info().ordinal;
  }

  bool takesGraphs() const override { return hasGraphFunctions(driver); }
  DriverResult graphCreate(void **graph) override {
    return {"hipGraphCreate",
            driver.graphCreate(reinterpret_cast<hipGraph_t *>(graph),
                               /*flags=*/0)};
  }
  DriverResult graphAddLaunch(void *graph, void *previous, void **node,
                              void *function,
                              const LaunchRequest &request) override;
  DriverResult graphAddCopy(void *graph, void *previous, void **node, void *to,
                            const void *from, size_t bytes) override;
  DriverResult graphInstantiate(void *graph, void **instance) override {
    return {
        "hipGraphInstantiateWithFlags",
        driver.graphInstantiate(reinterpret_cast<hipGraphExec_t *>(instance),
                                static_cast<hipGraph_t>(graph), /*flags=*/0)};
  }
  DriverResult graphSetLaunch(void *instance, void *node, void *function,
                              const LaunchRequest &request) override;
  DriverResult graphSetCopy(void *instance, void *node, void *to,
                            const void *from, size_t bytes) override {
    return {"hipGraphExecMemcpyNodeSetParams1D",
            driver.graphExecMemcpyNodeSetParams(
                static_cast<hipGraphExec_t>(instance),
                static_cast<hipGraphNode_t>(node), to, from, bytes,
                hipMemcpyDeviceToDevice)};
  }
  DriverResult graphLaunch(void *instance, void *queue) override {
    return {"hipGraphLaunch",
            driver.graphLaunch(static_cast<hipGraphExec_t>(instance),
                               static_cast<hipStream_t>(queue))};
  }
  void graphDestroy(void *graph) override {
    driver.graphDestroy(static_cast<hipGraph_t>(graph));
  }
  void graphDestroyInstance(void *instance) override {
    driver.graphExecDestroy(static_cast<hipGraphExec_t>(instance));
  }
  void *getQueue() override { return stream; }

  std::string describe(DriverResult result) const override {
    return driver.describe(result.call, result.code);
  }
  DriverFailure classify(int code) const override;
  Status checkOwnLimits(const LaunchRequest &request,
                        const LoadedKernel &kernel) const override;
  LoadedKernel describeKernel(void *function, void *module,
                              const char *name) const override;
  std::vector<std::string> listKernels(void *module) const override;
  const char *driverName() const override { return "HIP"; }
  size_t lastCacheBytes() const override;

private:
  /// The bytes from which a module was loaded. HIP refers to the bytes for as
  /// long as the module lives.
  struct Module {
    std::string bytes;
    std::vector<CodeObjectKernel> kernels;
  };

  int attribute(hipDeviceAttribute_t which) const;
  int attribute(hipFunction_attribute which, hipFunction_t function) const;
  /// The image's code object for this device.
  Expected<Module> chooseCode(const KernelImage &image) const;

  const HipDriver &driver;
  hipStream_t ownStream = nullptr;
  /// Where work goes at present.
  hipStream_t stream = nullptr;
  hipEvent_t beginEvent = nullptr;
  hipEvent_t endEvent = nullptr;
  hipEvent_t orderEvent = nullptr;
  int callersDevice = 0;
  std::map<void *, std::unique_ptr<Module>> modules;
};

} // namespace

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

int HipDevice::attribute(hipDeviceAttribute_t which) const {
  int value = 0;
  driver.deviceGetAttribute(&value, which, info().ordinal);
  return value;
}

int HipDevice::attribute(hipFunction_attribute which,
                         hipFunction_t function) const {
  int value = 0;
  driver.funcGetAttribute(&value, which, function);
  return value;
}

Status HipDevice::open() {
  auto fail = [&](DriverResult result) {
    return Status(classify(result.code) == DriverFailure::OutOfMemory
                      ? StatusCode::OutOfMemory
                      : StatusCode::NoDevice,
                  format("hip device %d (%s) cannot be opened: %s",
                         info().ordinal, info().name.c_str(),
                         describe(result).c_str()));
  };
  if (DriverResult result = makeCurrent(); result.failed())
    return fail(result);
  if (hipError_t result = driver.streamCreate(&ownStream, hipStreamNonBlocking))
    return fail({"hipStreamCreateWithFlags", result});
  stream = ownStream;
  for (hipEvent_t *event : {&beginEvent, &endEvent})
    if (hipError_t result = driver.eventCreate(event, hipEventDefault))
      return fail({"hipEventCreateWithFlags", result});
  if (hipError_t result =
          driver.eventCreate(&orderEvent, hipEventDisableTiming))
    return fail({"hipEventCreateWithFlags", result});
  deviceInfo.freeBytes = freeMemory();
  setLimits({attribute(hipDeviceAttributeMaxGridDimX),
             attribute(hipDeviceAttributeMaxGridDimY),
             attribute(hipDeviceAttributeMaxGridDimZ)},
            {attribute(hipDeviceAttributeMaxBlockDimX),
             attribute(hipDeviceAttributeMaxBlockDimY),
             attribute(hipDeviceAttributeMaxBlockDimZ)},
            attribute(hipDeviceAttributeMaxThreadsPerBlock));
  return Status::success();
}

HipDevice::~HipDevice() {
  // Without a stream, opening failed, and nothing is held.
  if (!ownStream)
    return;
  makeCurrent();
  releaseAll();
  for (hipEvent_t event : {beginEvent, endEvent, orderEvent})
    if (event)
      driver.eventDestroy(event);
  driver.streamDestroy(ownStream);
  // After a fault the device is unusable: a reset lets the next user start
  // afresh.
  if (hasFault())
    driver.deviceReset();
}

DriverFailure HipDevice::classify(int code) const {
  switch (code) {
  case hipErrorECCNotCorrectable:
  case hipErrorIllegalAddress:
  case hipErrorLaunchTimeOut:
  case hipErrorContextIsDestroyed:
  case hipErrorAssert:
  case hipErrorLaunchFailure:
    return DriverFailure::Fault;
  case hipErrorOutOfMemory:
    return DriverFailure::OutOfMemory;
  case hipErrorNotFound:
    return DriverFailure::NotFound;
  default:
    return DriverFailure::Other;
  }
}

size_t HipDevice::lastCacheBytes() const {
  int64_t bytes = mlir::tessera::getLastCacheBytes(info().chip);
  return bytes > 0 ? static_cast<size_t>(bytes) : info().l2Bytes;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Expected<HipDevice::Module>
HipDevice::chooseCode(const KernelImage &image) const {
  auto reject = [&](const std::string &why) {
    return Status(StatusCode::Rejected, "image '" + image.name +
                                            "' cannot be loaded on " +
                                            info().name + ": " + why);
  };
  std::string_view code = image.bytes;
  if (isOffloadBundle(code)) {
    Expected<std::vector<BundleEntry>> entries = readOffloadBundle(code);
    if (!entries.ok())
      return reject(entries.status().message());
    Expected<BundleEntry> entry = selectBundleEntry(*entries, info().targetId);
    if (!entry.ok())
      return reject(entry.status().message());
    code = entry->code;
  }
  Expected<CodeObject> object = readCodeObject(code);
  if (!object.ok())
    return reject(object.status().message());
  std::optional<TargetId> target = parseTargetId(object->target),
                          device = parseTargetId(info().targetId);
  // HIP returns only hipErrorNoBinaryForGpu.
  if (target && device && !runsOnTarget(*target, *device))
    return Status(
        StatusCode::Rejected,
        "image '" + image.name + "' cannot be loaded: " +
            describeIncompatible(
                info(), "code for " + target->str(),
                explainTargetIncompatible(target->str(), info().targetId)) +
            "; compile for --target=hip:" + device->processor);
  Module module;
  module.bytes = code;
  module.kernels = std::move(object->kernels);
  return module;
}

Status HipDevice::loadImage(const KernelImage &image) {
  if (image.kind != KernelImage::HSACO)
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name +
                      "' is not for HIP; a hip device accepts AMD code objects "
                      "and bundles of them");
  if (image.bytes.empty())
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name + "' is empty");
  if (Status status = enter(); !status.ok())
    return status;
  Expected<Module> chosen = chooseCode(image);
  if (!chosen.ok())
    return chosen.status();
  // A short string's bytes move with it; these stay where they are.
  auto held = std::make_unique<Module>(chosen.take());
  hipModule_t module = nullptr;
  if (hipError_t result = driver.moduleLoadData(&module, held->bytes.data()))
    return rejectImage(image, {"hipModuleLoadData", result});
  modules[module] = std::move(held);
  return addModule(image.name, module);
}

std::vector<std::string> HipDevice::listKernels(void *module) const {
  std::vector<std::string> names;
  for (const CodeObjectKernel &kernel : modules.at(module)->kernels)
    names.push_back(kernel.name);
  return names;
}

LoadedKernel HipDevice::describeKernel(void *loaded, void *module,
                                       const char *name) const {
  auto handle = static_cast<hipFunction_t>(loaded);
  LoadedKernel function;
  function.handle = handle;
  function.dynamicLimit = static_cast<int64_t>(info().workgroupMemoryBytes);
  KernelResources &resources = function.resources;
  resources.registers = attribute(HIP_FUNC_ATTRIBUTE_NUM_REGS, handle);
  resources.spillBytes = attribute(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, handle);
  resources.staticWorkgroupBytes =
      attribute(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, handle);
  resources.maxThreads =
      attribute(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, handle);
  for (const CodeObjectKernel &kernel : modules.at(module)->kernels) {
    if (kernel.name != name)
      continue;
    // HIP may tell the device's limit; a launch beyond the kernel's own fails
    // without a reason.
    if (kernel.maxThreads > 0 &&
        (resources.maxThreads == 0 || kernel.maxThreads < resources.maxThreads))
      resources.maxThreads = static_cast<int>(kernel.maxThreads);
    function.threadLimit =
        "it was compiled for that workgroup size (amdgpu-flat-work-group-size)";
    function.parametersKnown = true;
    function.parameters = kernel.arguments;
  }
  return function;
}

Status HipDevice::checkOwnLimits(const LaunchRequest &request,
                                 const LoadedKernel &) const {
  static const char axis[] = "xyz";
  // A dispatch counts threads, not workgroups, in 32 bits.
  for (int dim = 0; dim < 3; ++dim)
    if (request.grid[dim] > int64_t(UINT32_MAX) / request.block[dim])
      return reject(request,
                    format("%lld workgroups of %lld threads in %c, but HIP "
                           "supports at most %u threads in a grid dimension: "
                           "use a persistent schedule, or another axis",
                           static_cast<long long>(request.grid[dim]),
                           static_cast<long long>(request.block[dim]),
                           axis[dim], UINT32_MAX));
  return Status::success();
}

DriverResult HipDevice::launchIn(void *queue, void *function,
                                 const LaunchRequest &request) {
  auto dim = [](int64_t value) { return static_cast<unsigned>(value); };
  return {"hipModuleLaunchKernel",
          driver.launchKernel(
              static_cast<hipFunction_t>(function), dim(request.grid[0]),
              dim(request.grid[1]), dim(request.grid[2]), dim(request.block[0]),
              dim(request.block[1]), dim(request.block[2]),
              dim(request.workgroupBytes), static_cast<hipStream_t>(queue),
              request.numArgs ? request.args : nullptr, nullptr)};
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static hipKernelNodeParams makeNode(void *function,
                                    const LaunchRequest &request) {
  auto dim = [](int64_t value) { return static_cast<unsigned>(value); };
  hipKernelNodeParams node;
  node.function = function;
  node.gridX = dim(request.grid[0]);
  node.gridY = dim(request.grid[1]);
  node.gridZ = dim(request.grid[2]);
  node.blockX = dim(request.block[0]);
  node.blockY = dim(request.block[1]);
  node.blockZ = dim(request.block[2]);
  node.sharedBytes = dim(request.workgroupBytes);
  node.args = request.numArgs ? request.args : nullptr;
  return node;
}

DriverResult HipDevice::graphAddLaunch(void *graph, void *previous, void **node,
                                       void *function,
                                       const LaunchRequest &request) {
  hipKernelNodeParams parameters = makeNode(function, request);
  auto before = static_cast<hipGraphNode_t>(previous);
  return {"hipGraphAddKernelNode",
          driver.graphAddKernelNode(reinterpret_cast<hipGraphNode_t *>(node),
                                    static_cast<hipGraph_t>(graph), &before,
                                    before ? 1 : 0, &parameters)};
}

DriverResult HipDevice::graphAddCopy(void *graph, void *previous, void **node,
                                     void *to, const void *from, size_t bytes) {
  auto before = static_cast<hipGraphNode_t>(previous);
  return {"hipGraphAddMemcpyNode1D",
          driver.graphAddMemcpyNode(reinterpret_cast<hipGraphNode_t *>(node),
                                    static_cast<hipGraph_t>(graph), &before,
                                    before ? 1 : 0, to, from, bytes,
                                    hipMemcpyDeviceToDevice)};
}

DriverResult HipDevice::graphSetLaunch(void *instance, void *node,
                                       void *function,
                                       const LaunchRequest &request) {
  hipKernelNodeParams parameters = makeNode(function, request);
  return {"hipGraphExecKernelNodeSetParams",
          driver.graphExecKernelNodeSetParams(
              static_cast<hipGraphExec_t>(instance),
              static_cast<hipGraphNode_t>(node), &parameters)};
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

/// "gfx90a:sramecc+:xnack-" from HIP's properties, whose layout differs between
/// versions and vendors: the text after the device's name that is a target ID.
static std::string findTargetId(const std::vector<char> &properties) {
  constexpr size_t nameBytes = 256;
  static const char prefix[] = {'g', 'f', 'x'};
  auto position = properties.begin() + nameBytes;
  while (true) {
    position = std::search(position, properties.end(), prefix, prefix + 3);
    if (position == properties.end())
      return "";
    auto end = std::find(position, properties.end(), '\0');
    std::string text(position, end);
    if (std::optional<TargetId> id = parseTargetId(text))
      return id->str();
    position += 3;
  }
}

/// The version of the kernel's driver where it is one of ROCm's own, "6.12.12";
/// empty for that of the kernel itself.
static std::string getAmdDriverVersion() {
  for (const char *path :
       {"/sys/module/amdgpu/version", "/sys/module/hydcu/version"}) {
    std::FILE *file = std::fopen(path, "r");
    if (!file)
      continue;
    char line[128] = {};
    char *got = std::fgets(line, sizeof(line), file);
    std::fclose(file);
    if (got)
      return std::string(line, std::strcspn(line, " \r\n"));
  }
  return "";
}

namespace {

struct HipApi {
  using Driver = HipDriver;
  using DeviceT = HipDevice;
  static constexpr const char *target = "hip", *name = "HIP", *prefix = "hip",
                              *countCall = "hipGetDeviceCount",
                              *noDevice = "HIP reports no device";
  static constexpr std::pair<hipDeviceAttribute_t, int DriverAttributes::*>
      attributes[] = {
          {hipDeviceAttributeWarpSize, &DriverAttributes::subgroupSize},
          {hipDeviceAttributeMaxSharedMemoryPerBlock,
           &DriverAttributes::workgroupBytes},
          {hipDeviceAttributeL2CacheSize, &DriverAttributes::l2Bytes},
          {hipDeviceAttributeMultiprocessorCount,
           &DriverAttributes::computeUnits},
          {hipDeviceAttributeClockRate, &DriverAttributes::clockKHz},
  };

  static hipError_t getCount(const HipDriver &driver, int &count) {
    return driver.getDeviceCount(&count);
  }

  static Status finish(const HipDriver &driver, hipDevice_t, DeviceInfo &info) {
    // More than the structure of any version takes.
    std::vector<char> properties(64 << 10);
    if (hipError_t result =
            driver.getProperties(properties.data(), info.ordinal))
      return queryFailed<HipApi>(driver, info.ordinal, driver.getPropertiesName,
                                 result);
    info.targetId = findTargetId(properties);
    std::optional<TargetId> target = parseTargetId(info.targetId);
    if (!target)
      return Status(StatusCode::NoDevice,
                    format("device %d: %s reports no gcnArchName for %s",
                           info.ordinal, driver.getPropertiesName,
                           info.name.c_str()));
    info.chip = target->processor;
    if (info.name.empty())
      info.name = "AMD " + info.chip;
    int version = 0;
    driver.runtimeGetVersion(&version);
    info.driver =
        describeVersions(format("HIP %d.%d.%d", version / 10000000,
                                version / 100000 % 100, version % 100000),
                         getAmdDriverVersion());
    return Status::success();
  }
};

} // namespace

std::string tessera::runtime::listHipDevices(const HipDriver &driver,
                                             std::vector<DeviceInfo> &devices) {
  return listByOrdinal<HipApi>(driver, devices);
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openHipDevice(const HipDriver &driver, int ordinal) {
  return openByOrdinal<HipApi>(driver, ordinal);
}
