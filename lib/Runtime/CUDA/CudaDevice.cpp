//===- CudaDevice.cpp - NVIDIA GPUs ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device is the primary context, which other users of the process share, and
// one stream of its own. Nothing goes through the null stream.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "../DriverDevice.h"
#include "../DriverListing.h"
#include "../Format.h"
#include "DependentLaunch.h"
#include "KernelParameters.h"
#include "TensorMap.h"

#include <cstdio>
#include <cstring>
#include <unordered_set>

using namespace tessera::runtime;

namespace {

/// True for errors of running kernels, after which the context is unusable.
bool isFault(CUresult result) {
  switch (result) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_CONTAINED:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    return true;
  default:
    return false;
  }
}

CUdeviceptr toDevicePtr(const void *ptr) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(ptr));
}

void *toPointer(CUdeviceptr value) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void *>(static_cast<uintptr_t>(value));
}

/// The options of the driver's compiler: they request its log, and one thread
/// for each CPU where the driver has that option.
class JitOptions {
public:
  explicit JitOptions(const CudaDriver &driver)
      : errors(bytes + 1), infos(bytes + 1) {
    // Numbers are passed as pointers of that value.
    values[0] = infos.data();
    values[1] = values[3] = toPointer(bytes);
    values[2] = errors.data();
    values[4] = toPointer(1);
    values[5] = nullptr;
    // Older drivers reject options that they do not know.
    constexpr int firstSplitting = 13000;
    int version = 0;
    driver.driverGetVersion(&version);
    count = version >= firstSplitting ? 6 : 5;
  }
  JitOptions(const JitOptions &) = delete;
  JitOptions &operator=(const JitOptions &) = delete;

  unsigned count;
  CUJitOption options[6] = {
      CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
      CU_JIT_LOG_VERBOSE,      CU_JIT_SPLIT_COMPILE,
  };
  void *values[6];

  /// Both logs, each on separate lines, after a line break.
  std::string getLogs() const;

private:
  static constexpr size_t bytes = 64 * 1024;
  std::vector<char> errors, infos;
};

class CudaDevice final : public DriverDevice {
public:
  CudaDevice(const CudaDriver &driver, DeviceInfo info)
      : DriverDevice(std::move(info)), driver(driver) {}
  ~CudaDevice() override;

  /// Second half of construction.
  Status open();

  Status loadImage(const KernelImage &image) override;
  Expected<KernelImage> assemble(const KernelImage &image) override;
  Status encodeTensorMap(const TensorMapRequest &request, void *map) override;
  void *saveCaller() override {
    CUcontext current = nullptr;
    driver.ctxGetCurrent(&current);
    return current;
  }
  void restoreCaller(void *state) override {
    if (state != context)
      driver.ctxSetCurrent(static_cast<CUcontext>(state));
  }
  void leaveThread(uintptr_t state) override {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    restoreCaller(reinterpret_cast<void *>(state));
  }
  bool isCapturing(void *queue) override {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    // The legacy default stream cannot be captured.
    return queue && driver.streamIsCapturing &&
           !driver.streamIsCapturing(static_cast<CUstream>(queue), &status) &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

protected:
  int exchangeCaptureMode(int mode) override {
    auto exchanged = static_cast<CUstreamCaptureMode>(mode);
    if (driver.threadExchangeCaptureMode)
      driver.threadExchangeCaptureMode(&exchanged);
    return exchanged;
  }
  DriverResult makeCurrent() override {
    return {"cuCtxSetCurrent", driver.ctxSetCurrent(context)};
  }
  DriverResult memInfo(size_t *freeBytes, size_t *totalBytes) override {
    return {"cuMemGetInfo", driver.memGetInfo(freeBytes, totalBytes)};
  }
  DriverResult memAlloc(void **ptr, size_t bytes) override {
    CUdeviceptr address = 0;
    CUresult result = driver.memAlloc(&address, bytes);
    *ptr = toPointer(address);
    return {"cuMemAlloc", result};
  }
  DriverResult memFree(void *ptr) override {
    return {"cuMemFree", driver.memFree(toDevicePtr(ptr))};
  }
  DriverResult queueCopyIn(void *to, const void *from, size_t bytes) override {
    return {"cuMemcpyHtoDAsync",
            driver.memcpyHtoDAsync(toDevicePtr(to), from, bytes, stream)};
  }
  DriverResult queueCopyOut(void *to, const void *from, size_t bytes) override {
    return {"cuMemcpyDtoHAsync",
            driver.memcpyDtoHAsync(to, toDevicePtr(from), bytes, stream)};
  }
  DriverResult queueCopy(void *to, const void *from, size_t bytes) override {
    return {"cuMemcpyDtoDAsync",
            driver.memcpyDtoDAsync(toDevicePtr(to), toDevicePtr(from), bytes,
                                   stream)};
  }
  DriverResult queueFill(void *ptr, uint8_t pattern, size_t bytes) override {
    return {"cuMemsetD8Async",
            driver.memsetD8Async(toDevicePtr(ptr), pattern, bytes, stream)};
  }
  DriverResult waitForStream() override {
    return {"cuStreamSynchronize", driver.streamSynchronize(stream)};
  }
  DriverResult recordBegin() override {
    return {"cuEventRecord", driver.eventRecord(beginEvent, stream)};
  }
  DriverResult recordEnd() override {
    return {"cuEventRecord", driver.eventRecord(endEvent, stream)};
  }
  DriverResult waitForEnd() override {
    return {"cuEventSynchronize", driver.eventSynchronize(endEvent)};
  }
  DriverResult elapsed(float *milliseconds) override {
    return {"cuEventElapsedTime",
            driver.eventElapsedTime(milliseconds, beginEvent, endEvent)};
  }
  DriverResult moduleUnload(void *module) override {
    {
      std::lock_guard<std::mutex> lock(modulesMutex);
      parameterCounts.erase(module);
      waitingModules.erase(module);
    }
    return {"cuModuleUnload",
            driver.moduleUnload(static_cast<CUmodule>(module))};
  }
  DriverResult moduleGetFunction(void **function, void *module,
                                 const char *name) override {
    CUfunction found = nullptr;
    CUresult result =
        driver.moduleGetFunction(&found, static_cast<CUmodule>(module), name);
    *function = found;
    return {"cuModuleGetFunction", result};
  }
  DriverResult setDynamicLimit(void *function, int64_t bytes) override {
    return {
        "cuFuncSetAttribute",
        driver.funcSetAttribute(static_cast<CUfunction>(function),
                                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(bytes))};
  }
  DriverResult queueLaunch(void *function,
                           const LaunchRequest &request) override {
    return launchIn(stream, function, request);
  }
  bool overlapsResident() const override {
    return overlap == DependentLaunch::Resident;
  }
  DriverResult occupancy(int *workgroups, void *function, int64_t blockThreads,
                         int64_t workgroupBytes) override {
    return {"cuOccupancyMaxActiveBlocksPerMultiprocessor",
            driver.occupancy(workgroups, static_cast<CUfunction>(function),
                             static_cast<int>(blockThreads),
                             static_cast<size_t>(workgroupBytes))};
  }

  bool takesQueues() const override { return true; }
  Status checkQueue(void *queue) override;
  void setQueue(void *queue) override { stream = static_cast<CUstream>(queue); }
  void setOwnQueue() override { stream = ownStream; }
  DriverResult noteQueue() override {
    return {"cuEventRecord", driver.eventRecord(orderEvent, stream)};
  }
  DriverResult waitForNote() override {
    return {"cuStreamWaitEvent",
            driver.streamWaitEvent(stream, orderEvent, /*flags=*/0)};
  }

  bool takesConcurrentCalls() const override { return true; }
  DriverResult launchIn(void *queue, void *function,
                        const LaunchRequest &request) override;
  DriverResult copyIn(void *queue, void *to, const void *from,
                      size_t bytes) override {
    return {"cuMemcpyDtoDAsync",
            driver.memcpyDtoDAsync(toDevicePtr(to), toDevicePtr(from), bytes,
                                   static_cast<CUstream>(queue))};
  }
  bool isForeign(uintptr_t &state) override {
    CUcontext current = nullptr;
    driver.ctxGetCurrent(&current);
    state = reinterpret_cast<uintptr_t>(current);
    return current != context;
  }

  bool takesGraphs() const override { return hasGraphFunctions(driver); }
  DriverResult graphCreate(void **graph) override {
    return {"cuGraphCreate",
            driver.graphCreate(reinterpret_cast<CUgraph *>(graph),
                               /*flags=*/0)};
  }
  DriverResult graphAddLaunch(void *graph, void *previous, void **node,
                              void *function,
                              const LaunchRequest &request) override;
  DriverResult graphAddCopy(void *graph, void *previous, void **node, void *to,
                            const void *from, size_t bytes) override;
  DriverResult graphInstantiate(void *graph, void **instance) override {
    return {"cuGraphInstantiateWithFlags",
            driver.graphInstantiate(reinterpret_cast<CUgraphExec *>(instance),
                                    static_cast<CUgraph>(graph), /*flags=*/0)};
  }
  DriverResult graphSetLaunch(void *instance, void *node, void *function,
                              const LaunchRequest &request) override;
  DriverResult graphSetCopy(void *instance, void *node, void *to,
                            const void *from, size_t bytes) override;
  DriverResult graphLaunch(void *instance, void *queue) override {
    return {"cuGraphLaunch",
            driver.graphLaunch(static_cast<CUgraphExec>(instance),
                               static_cast<CUstream>(queue))};
  }
  void graphDestroy(void *graph) override {
    driver.graphDestroy(static_cast<CUgraph>(graph));
  }
  void graphDestroyInstance(void *instance) override {
    driver.graphExecDestroy(static_cast<CUgraphExec>(instance));
  }
  void *getQueue() override { return stream; }

  std::string describe(DriverResult result) const override {
    return driver.describe(result.call, result.code);
  }
  DriverFailure classify(int code) const override;
  LoadedKernel describeKernel(void *function, void *module,
                              const char *name) const override;
  std::vector<std::string> listKernels(void *module) const override;

private:
  int attribute(CUDeviceAttribute which) const;
  int attribute(CUFunctionAttribute which, CUfunction function) const;

  std::optional<size_t> getParameterCount(void *module, const char *name) const;
  bool isWaiting(void *module) const {
    std::lock_guard<std::mutex> lock(modulesMutex);
    return waitingModules.count(module) != 0;
  }

  const CudaDriver &driver;
  /// The number of parameters of the kernels of each module.
  std::unordered_map<void *, std::unordered_map<std::string, size_t>>
      parameterCounts;
  /// The modules whose kernels may begin before the kernel before has ended.
  std::unordered_set<void *> waitingModules;
  /// Protects what is known about modules.
  mutable std::mutex modulesMutex;
  /// Whether kernels are launched so at all.
  bool takesOverlap = false;
  DependentLaunch overlap = DependentLaunch::None;
  CUdevice handle = 0;
  CUcontext context = nullptr;
  CUstream ownStream = nullptr;
  /// Where work goes at present.
  CUstream stream = nullptr;
  CUevent beginEvent = nullptr;
  CUevent endEvent = nullptr;
  CUevent orderEvent = nullptr;
};

} // namespace

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

int CudaDevice::attribute(CUDeviceAttribute which) const {
  int value = 0;
  driver.deviceGetAttribute(&value, which, handle);
  return value;
}

int CudaDevice::attribute(CUFunctionAttribute which,
                          CUfunction function) const {
  int value = 0;
  driver.funcGetAttribute(&value, which, function);
  return value;
}

Status CudaDevice::open() {
  auto fail = [&](const char *call, CUresult result) {
    return Status(result == CUDA_ERROR_OUT_OF_MEMORY ? StatusCode::OutOfMemory
                                                     : StatusCode::NoDevice,
                  format("cuda device %d (%s) cannot be opened: %s",
                         info().ordinal, info().name.c_str(),
                         driver.describe(call, result).c_str()));
  };
  if (CUresult result = driver.deviceGet(&handle, info().ordinal))
    return fail("cuDeviceGet", result);
  if (CUresult result = driver.primaryCtxRetain(&context, handle)) {
    context = nullptr;
    return fail("cuDevicePrimaryCtxRetain", result);
  }
  if (CUresult result = driver.ctxSetCurrent(context))
    return fail("cuCtxSetCurrent", result);
  if (CUresult result = driver.streamCreate(&ownStream, CU_STREAM_NON_BLOCKING))
    return fail("cuStreamCreate", result);
  stream = ownStream;
  if (CUresult result = driver.eventCreate(&beginEvent, CU_EVENT_DEFAULT))
    return fail("cuEventCreate", result);
  if (CUresult result = driver.eventCreate(&endEvent, CU_EVENT_DEFAULT))
    return fail("cuEventCreate", result);
  if (CUresult result =
          driver.eventCreate(&orderEvent, CU_EVENT_DISABLE_TIMING))
    return fail("cuEventCreate", result);
  Expected<DependentLaunch> wantedOverlap = readDependentLaunchVariable();
  if (!wantedOverlap.ok())
    return wantedOverlap.status();
  overlap = *wantedOverlap;
  // The driver with the second function also takes such launches into graphs
  // that callers capture.
  takesOverlap = overlap != DependentLaunch::None && driver.launchKernelEx &&
                 driver.graphAddDependencies;
  deviceInfo.freeBytes = freeMemory();
  setLimits({attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
             attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
             attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
            {attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
             attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
             attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
            attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  return Status::success();
}

CudaDevice::~CudaDevice() {
  if (!context)
    return;
  CUcontext callers = nullptr;
  driver.ctxGetCurrent(&callers);
  driver.ctxSetCurrent(context);
  // Without a stream, opening failed, and nothing is held.
  if (ownStream)
    releaseAll();
  for (CUevent event : {beginEvent, endEvent, orderEvent})
    if (event)
      driver.eventDestroy(event);
  if (ownStream)
    driver.streamDestroy(ownStream);
  driver.ctxSetCurrent(callers);
  // The context outlives this device where others use it. After a fault it is
  // unusable: a reset lets the next user start afresh.
  if (hasFault())
    driver.primaryCtxReset(handle);
  driver.primaryCtxRelease(handle);
}

Status CudaDevice::checkQueue(void *queue) {
  CUcontext other = nullptr;
  if (Status status =
          check({"cuStreamGetCtx",
                 driver.streamGetCtx(static_cast<CUstream>(queue), &other)});
      !status.ok())
    return status;
  if (other == context)
    return Status::success();
  return Status(
      StatusCode::InvalidArgument,
      "the stream does not belong to the primary context of the device, where "
      "kernels are loaded; create it while that context is current "
      "(cuDevicePrimaryCtxRetain), as the CUDA runtime does");
}

DriverFailure CudaDevice::classify(int code) const {
  if (isFault(code))
    return DriverFailure::Fault;
  if (code == CUDA_ERROR_OUT_OF_MEMORY)
    return DriverFailure::OutOfMemory;
  return code == CUDA_ERROR_NOT_FOUND ? DriverFailure::NotFound
                                      : DriverFailure::Other;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The log without blank ends.
static std::string trimmed(const char *log) {
  std::string text = log;
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  text.erase(0, text.find_first_not_of("\r\n"));
  return text;
}

std::string JitOptions::getLogs() const {
  std::string text;
  for (const std::string &log : {trimmed(errors.data()), trimmed(infos.data())})
    if (!log.empty())
      text += "\n" + log;
  return text;
}

Expected<KernelImage> CudaDevice::assemble(const KernelImage &image) {
  if (image.kind != KernelImage::PTX)
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name + "' is not PTX");
  if (!driver.linkCreate || !driver.linkAddData || !driver.linkComplete ||
      !driver.linkDestroy)
    return Status(StatusCode::InvalidArgument,
                  "libcuda.so.1 does not export cuLinkCreate: the driver is "
                  "too old; update it");
  // The linker takes no kernel to be alone, and ignores its register directives
  // ("'setmaxnreg' ignored to maintain compatibility across compilation units",
  // ptxas C7504): they are spilled.
  if (image.bytes.find("setmaxnreg") != std::string::npos)
    return image;
  if (Status status = enter(); !status.ok())
    return status;
  // They are written to until the state is destroyed.
  JitOptions jit(driver);
  CUlinkState state = nullptr;
  if (CUresult result =
          driver.linkCreate(jit.count, jit.options, jit.values, &state))
    return rejectImage(image, {"cuLinkCreate", result}, jit.getLogs());
  // The driver only reads it; the zero byte at its end is a part of PTX.
  std::string ptx = image.bytes;
  const char *call = "cuLinkAddData";
  CUresult result =
      driver.linkAddData(state, CU_JIT_INPUT_PTX, ptx.data(), ptx.size() + 1,
                         image.name.c_str(), 0, nullptr, nullptr);
  void *cubin = nullptr;
  size_t bytes = 0;
  if (result == CUDA_SUCCESS) {
    call = "cuLinkComplete";
    result = driver.linkComplete(state, &cubin, &bytes);
  }
  KernelImage assembled;
  assembled.kind = KernelImage::Cubin;
  assembled.name = image.name;
  // The state owns it.
  if (result == CUDA_SUCCESS && cubin)
    assembled.bytes.assign(static_cast<const char *>(cubin), bytes);
  driver.linkDestroy(state);
  if (result != CUDA_SUCCESS)
    return rejectImage(image, {call, result}, jit.getLogs());
  if (assembled.bytes.empty())
    return Status(StatusCode::Internal, "cuLinkComplete returned no cubin");
  return assembled;
}

Status CudaDevice::loadImage(const KernelImage &image) {
  if (image.kind != KernelImage::PTX && image.kind != KernelImage::Cubin)
    return Status(
        StatusCode::InvalidArgument,
        "image '" + image.name +
            "' contains host functions; a cuda device accepts PTX and cubins");
  if (image.bytes.empty())
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name + "' is empty");
  if (Status status = enter(); !status.ok())
    return status;

  JitOptions jit(driver);
  CUmodule module = nullptr;
  // The driver takes PTX up to a zero byte, which c_str() ends with.
  CUresult result = driver.moduleLoadDataEx(&module, image.bytes.c_str(),
                                            jit.count, jit.options, jit.values);
  if (result != CUDA_SUCCESS)
    return rejectImage(image, {"cuModuleLoadDataEx", result}, jit.getLogs());
  Status status = addModule(image.name, module);
  if (status.ok()) {
    std::lock_guard<std::mutex> lock(modulesMutex);
    parameterCounts[module] = countKernelParameters(image.bytes);
    if (takesOverlap && hasWaitingKernels(image.bytes))
      waitingModules.insert(module);
  }
  return status;
}

std::vector<std::string> CudaDevice::listKernels(void *loaded) const {
  std::vector<std::string> names;
  auto module = static_cast<CUmodule>(loaded);
  unsigned count = 0;
  if (!driver.moduleGetFunctionCount || !driver.moduleEnumerateFunctions ||
      !driver.funcGetName || driver.moduleGetFunctionCount(&count, module))
    return names;
  std::vector<CUfunction> handles(count);
  if (driver.moduleEnumerateFunctions(handles.data(), count, module))
    return names;
  for (CUfunction function : handles) {
    const char *name = nullptr;
    if (!driver.funcGetName(&name, function) && name)
      names.emplace_back(name);
  }
  return names;
}

std::optional<size_t> CudaDevice::getParameterCount(void *module,
                                                    const char *name) const {
  std::lock_guard<std::mutex> lock(modulesMutex);
  auto counts = parameterCounts.find(module);
  if (counts == parameterCounts.end())
    return std::nullopt;
  auto found = counts->second.find(name);
  return found == counts->second.end() ? std::nullopt
                                       : std::optional(found->second);
}

LoadedKernel CudaDevice::describeKernel(void *loaded, void *module,
                                        const char *name) const {
  auto handle = static_cast<CUfunction>(loaded);
  LoadedKernel function;
  function.handle = handle;
  KernelResources &resources = function.resources;
  resources.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, handle);
  resources.spillBytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, handle);
  resources.staticWorkgroupBytes =
      attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, handle);
  resources.maxThreads =
      attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, handle);
  function.dynamicLimit =
      attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, handle);
  function.waits = isWaiting(module);
  function.threadLimit =
      format("it uses %d registers per thread", resources.registers);
  std::optional<size_t> count = getParameterCount(module, name);
  if (!driver.funcGetParamInfo || !count)
    return function;
  function.parametersKnown = true;
  for (size_t index = 0; index < *count; ++index) {
    size_t offset = 0, bytes = 0;
    if (driver.funcGetParamInfo(handle, index, &offset, &bytes)) {
      function.parametersKnown = false;
      break;
    }
    function.parameters.push_back(static_cast<int64_t>(bytes));
  }
  return function;
}

Status CudaDevice::encodeTensorMap(const TensorMapRequest &request, void *map) {
  if (Status status = enter(); !status.ok())
    return status;
  if (!driver.tensorMapEncodeTiled || !driver.tensorMapEncodeIm2col)
    return Status(
        StatusCode::InvalidArgument,
        "libcuda.so.1 does not export cuTensorMapEncodeTiled: the driver is "
        "too old for kernels that take tensor maps; update it");
  Expected<TiledTensor> tensor = describeTiledTensor(request);
  if (!tensor.ok())
    return tensor.status();
  if (tensor->isImage)
    return check(
        {"cuTensorMapEncodeIm2col",
         driver.tensorMapEncodeIm2col(
             map, tensor->type, tensor->rank, toPointer(tensor->address),
             tensor->sizes, tensor->strides, tensor->lowerCorner,
             tensor->upperCorner, tensor->channels, tensor->pixels,
             tensor->steps, CU_TENSOR_MAP_INTERLEAVE_NONE, tensor->swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)});
  return check({"cuTensorMapEncodeTiled",
                driver.tensorMapEncodeTiled(
                    map, tensor->type, tensor->rank, toPointer(tensor->address),
                    tensor->sizes, tensor->strides, tensor->box, tensor->steps,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, tensor->swizzle,
                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)});
}

/// Sets the grid, the workgroups and their memory in a structure of the driver.
template <typename Launch>
static void setShape(Launch &launch, const LaunchRequest &request) {
  auto dim = [](int64_t value) { return static_cast<unsigned>(value); };
  launch.gridX = dim(request.grid[0]);
  launch.gridY = dim(request.grid[1]);
  launch.gridZ = dim(request.grid[2]);
  launch.blockX = dim(request.block[0]);
  launch.blockY = dim(request.block[1]);
  launch.blockZ = dim(request.block[2]);
  launch.sharedBytes = dim(request.workgroupBytes);
}

DriverResult CudaDevice::launchIn(void *queue, void *function,
                                  const LaunchRequest &request) {
  auto dim = [](int64_t value) { return static_cast<unsigned>(value); };
  if (request.mayOverlap) {
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value = 1;
    CUlaunchConfig config;
    setShape(config, request);
    config.stream = static_cast<CUstream>(queue);
    config.attributes = &attribute;
    config.numAttributes = 1;
    return {"cuLaunchKernelEx",
            driver.launchKernelEx(&config, static_cast<CUfunction>(function),
                                  request.numArgs ? request.args : nullptr,
                                  nullptr)};
  }
  return {"cuLaunchKernel",
          driver.launchKernel(
              static_cast<CUfunction>(function), dim(request.grid[0]),
              dim(request.grid[1]), dim(request.grid[2]), dim(request.block[0]),
              dim(request.block[1]), dim(request.block[2]),
              dim(request.workgroupBytes), static_cast<CUstream>(queue),
              request.numArgs ? request.args : nullptr, nullptr)};
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static CUDA_KERNEL_NODE_PARAMS_v2 makeNode(void *function,
                                           const LaunchRequest &request) {
  CUDA_KERNEL_NODE_PARAMS_v2 node;
  node.function = static_cast<CUfunction>(function);
  setShape(node, request);
  node.args = request.numArgs ? request.args : nullptr;
  return node;
}

static CUDA_MEMCPY3D_v2 makeCopy(void *to, const void *from, size_t bytes) {
  CUDA_MEMCPY3D_v2 copy;
  copy.from.device = toDevicePtr(from);
  copy.to.device = toDevicePtr(to);
  copy.bytes = bytes;
  return copy;
}

DriverResult CudaDevice::graphAddLaunch(void *graph, void *previous,
                                        void **node, void *function,
                                        const LaunchRequest &request) {
  CUDA_KERNEL_NODE_PARAMS_v2 parameters = makeNode(function, request);
  auto before = static_cast<CUgraphNode>(previous);
  bool isFull = before && !request.mayOverlap;
  auto *added = reinterpret_cast<CUgraphNode *>(node);
  DriverResult result = {
      "cuGraphAddKernelNode",
      driver.graphAddKernelNode(added, static_cast<CUgraph>(graph), &before,
                                isFull ? 1 : 0, &parameters)};
  if (result.failed() || !request.mayOverlap)
    return result;
  CUgraphEdgeData edge = {};
  edge.fromPort = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return {"cuGraphAddDependencies",
          driver.graphAddDependencies(static_cast<CUgraph>(graph), &before,
                                      added, &edge, 1)};
}

DriverResult CudaDevice::graphAddCopy(void *graph, void *previous, void **node,
                                      void *to, const void *from,
                                      size_t bytes) {
  CUDA_MEMCPY3D_v2 copy = makeCopy(to, from, bytes);
  auto before = static_cast<CUgraphNode>(previous);
  return {"cuGraphAddMemcpyNode",
          driver.graphAddMemcpyNode(reinterpret_cast<CUgraphNode *>(node),
                                    static_cast<CUgraph>(graph), &before,
                                    before ? 1 : 0, &copy, context)};
}

DriverResult CudaDevice::graphSetLaunch(void *instance, void *node,
                                        void *function,
                                        const LaunchRequest &request) {
  CUDA_KERNEL_NODE_PARAMS_v2 parameters = makeNode(function, request);
  return {"cuGraphExecKernelNodeSetParams",
          driver.graphExecKernelNodeSetParams(
              static_cast<CUgraphExec>(instance),
              static_cast<CUgraphNode>(node), &parameters)};
}

DriverResult CudaDevice::graphSetCopy(void *instance, void *node, void *to,
                                      const void *from, size_t bytes) {
  CUDA_MEMCPY3D_v2 copy = makeCopy(to, from, bytes);
  return {"cuGraphExecMemcpyNodeSetParams",
          driver.graphExecMemcpyNodeSetParams(
              static_cast<CUgraphExec>(instance),
              static_cast<CUgraphNode>(node), &copy, context)};
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

/// The version of the kernel-mode driver, "580.159.03"; empty when unknown.
static std::string getNvidiaDriverVersion() {
  std::FILE *file = std::fopen("/proc/driver/nvidia/version", "r");
  if (!file)
    return "";
  char line[512] = {};
  char *got = std::fgets(line, sizeof(line), file);
  std::fclose(file);
  // The first word that is numbers and dots.
  for (char *word = got ? std::strtok(line, " \t\n") : nullptr; word;
       word = std::strtok(nullptr, " \t\n"))
    if (std::strchr(word, '.') &&
        std::strspn(word, "0123456789.") == std::strlen(word))
      return word;
  return "";
}

namespace {

struct CudaApi {
  using Driver = CudaDriver;
  using DeviceT = CudaDevice;
  static constexpr const char *target = "cuda", *name = "CUDA", *prefix = "cu",
                              *countCall = "cuDeviceGetCount",
                              *noDevice = "the driver reports no device";
  static constexpr std::pair<CUDeviceAttribute, int DriverAttributes::*>
      attributes[] = {
          {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &DriverAttributes::subgroupSize},
          {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
           &DriverAttributes::workgroupBytes},
          {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &DriverAttributes::l2Bytes},
          {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
           &DriverAttributes::computeUnits},
          {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &DriverAttributes::clockKHz},
  };

  static CUresult getCount(const CudaDriver &driver, int &count) {
    return driver.deviceGetCount(&count);
  }

  static Status finish(const CudaDriver &driver, CUdevice handle,
                       DeviceInfo &info) {
    int major = 0, minor = 0;
    for (auto [which, value] :
         {std::pair(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major),
          {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor}})
      if (CUresult result = driver.deviceGetAttribute(value, which, handle))
        return queryFailed<CudaApi>(driver, info.ordinal,
                                    "cuDeviceGetAttribute", result);
    // From 9.0 on each chip has an architecture-specific form, whose code runs
    // on that chip alone and may use all of its matrix instructions.
    info.chip = format("sm_%d%d%s", major, minor, major >= 9 ? "a" : "");
    int version = 0;
    driver.driverGetVersion(&version);
    info.driver = describeVersions(
        format("CUDA %d.%d", version / 1000, version % 1000 / 10),
        getNvidiaDriverVersion());
    return Status::success();
  }
};

} // namespace

std::string
tessera::runtime::listCudaDevices(const CudaDriver &driver,
                                  std::vector<DeviceInfo> &devices) {
  return listByOrdinal<CudaApi>(driver, devices);
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openCudaDevice(const CudaDriver &driver, int ordinal) {
  return openByOrdinal<CudaApi>(driver, ordinal);
}
