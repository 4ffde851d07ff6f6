//===- CudaDevice.cpp - NVIDIA GPUs ---------------------------------------===//
//
// A device is the primary context, which other users of the process share, and
// one stream of its own. Nothing goes through the null stream.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "../Format.h"
#include "TensorMap.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_map>

using namespace tessera::runtime;

namespace {

/// True for errors of running kernels, after which the context is of no use.
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

/// A loaded kernel.
struct Function {
  CUfunction handle = nullptr;
  KernelResources resources;
  /// Dynamic workgroup memory that launches may ask for at present.
  int64_t dynamicLimit = 0;
  /// Size of each parameter in bytes, where the driver can tell.
  bool parametersKnown = false;
  std::vector<int64_t> parameters;
};

/// What the driver's compiler says, and the options by which it does.
class JitLogs {
public:
  JitLogs() : errors(bytes + 1), infos(bytes + 1) {
    // Numbers are passed as pointers of that value.
    values[0] = infos.data();
    values[1] = values[3] = toPointer(bytes);
    values[2] = errors.data();
    values[4] = toPointer(1);
  }
  JitLogs(const JitLogs &) = delete;
  JitLogs &operator=(const JitLogs &) = delete;

  static constexpr unsigned count = 5;
  CUJitOption options[count] = {
      CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
      CU_JIT_LOG_VERBOSE,
  };
  void *values[count];

  /// Both, each on lines of its own, behind a line break.
  std::string str() const;

private:
  static constexpr size_t bytes = 64 * 1024;
  std::vector<char> errors, infos;
};

class CudaDevice final : public Device {
public:
  CudaDevice(const CudaDriver &driver, CUdevice handle, DeviceInfo info)
      : Device(std::move(info)), driver(driver), handle(handle) {}
  ~CudaDevice() override;

  /// Second half of construction.
  Status open();

  size_t freeMemory() override;
  Status copyToDevice(void *device, const void *host, size_t bytes) override;
  Status copyToHost(void *host, const void *device, size_t bytes) override;
  Status fill(void *ptr, uint8_t pattern, size_t bytes) override;
  Status loadImage(const KernelImage &image) override;
  Expected<KernelImage> assemble(const KernelImage &image) override;
  Status unloadImage(const std::string &name) override;
  Status encodeTensorMap(const TensorMapRequest &request, void *map) override;
  Status launch(const LaunchRequest &request) override;
  Status synchronize() override;
  Status timeBegin() override;
  Status timeEnd(double *milliseconds) override;
  Status flushCaches() override;
  Expected<KernelResources> resources(const char *kernel, int64_t blockThreads,
                                      int64_t workgroupBytes) override;

protected:
  Status backendAllocate(size_t bytes, void **ptr) override;
  void backendFree(void *ptr) override { driver.memFree(toDevicePtr(ptr)); }

private:
  struct Image {
    std::string name;
    CUmodule module;
  };

  /// What the driver says of an image that it does not take.
  Status refuseImage(const KernelImage &image, const char *call,
                     CUresult result, const JitLogs &logs);
  /// Turns a result into a status; remembers faults. `note` is appended.
  Status check(const char *call, CUresult result, const std::string &note = "");
  /// Makes the context current, unless the device has failed before.
  Status enter();
  int attribute(CUDeviceAttribute which) const;
  int attribute(CUFunctionAttribute which, CUfunction function) const;
  Expected<Function *> find(const char *kernel);
  Function describe(CUfunction handle) const;
  /// Lets launches of the function have that much dynamic workgroup memory.
  Status raiseDynamicLimit(const char *kernel, Function &function,
                           int64_t bytes);
  Status checkLaunch(const LaunchRequest &request, const Function &function);
  std::string kernelNames() const;
  void notePending(const char *kernel);
  std::string pendingKernels() const;

  const CudaDriver &driver;
  CUdevice handle;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUevent beginEvent = nullptr;
  CUevent endEvent = nullptr;
  bool timing = false;
  CUdeviceptr scratch = 0;
  size_t scratchBytes = 0;
  unsigned char scratchPattern = 0;
  int64_t maxGrid[3] = {0, 0, 0};
  int64_t maxBlock[3] = {0, 0, 0};
  int64_t maxBlockThreads = 0;
  /// In the order of loading; the last one wins.
  std::vector<Image> images;
  /// Kernels used so far.
  std::unordered_map<std::string, Function> functions;
  /// Kernels launched since the last wait, and how often.
  std::vector<std::pair<std::string, uint64_t>> pending;
  Status fault;
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
  if (CUresult result = driver.primaryCtxRetain(&context, handle)) {
    context = nullptr;
    return fail("cuDevicePrimaryCtxRetain", result);
  }
  if (CUresult result = driver.ctxSetCurrent(context))
    return fail("cuCtxSetCurrent", result);
  if (CUresult result = driver.streamCreate(&stream, CU_STREAM_NON_BLOCKING))
    return fail("cuStreamCreate", result);
  if (CUresult result = driver.eventCreate(&beginEvent, CU_EVENT_DEFAULT))
    return fail("cuEventCreate", result);
  if (CUresult result = driver.eventCreate(&endEvent, CU_EVENT_DEFAULT))
    return fail("cuEventCreate", result);
  deviceInfo.freeBytes = freeMemory();
  maxGrid[0] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  maxGrid[1] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  maxGrid[2] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  maxBlock[0] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  maxBlock[1] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  maxBlock[2] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  maxBlockThreads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  return Status::success();
}

CudaDevice::~CudaDevice() {
  if (!context)
    return;
  driver.ctxSetCurrent(context);
  if (stream)
    driver.streamSynchronize(stream);
  releaseMemory();
  if (scratch)
    driver.memFree(scratch);
  for (const Image &image : images)
    driver.moduleUnload(image.module);
  for (CUevent event : {beginEvent, endEvent})
    if (event)
      driver.eventDestroy(event);
  if (stream)
    driver.streamDestroy(stream);
  // The context outlives us where others use it. After a fault it is of no use
  // to anyone: a reset lets the next one start afresh.
  if (!fault.ok())
    driver.primaryCtxReset(handle);
  driver.primaryCtxRelease(handle);
}

Status CudaDevice::check(const char *call, CUresult result,
                         const std::string &note) {
  if (result == CUDA_SUCCESS)
    return Status::success();
  std::string message = driver.describe(call, result);
  if (isFault(result)) {
    fault = Status(StatusCode::LaunchFailed,
                   "a kernel failed: " + message + pendingKernels());
    return fault;
  }
  return Status(result == CUDA_ERROR_OUT_OF_MEMORY ? StatusCode::OutOfMemory
                                                   : StatusCode::Internal,
                message + note);
}

Status CudaDevice::enter() {
  if (!fault.ok())
    return fault;
  return check("cuCtxSetCurrent", driver.ctxSetCurrent(context));
}

void CudaDevice::notePending(const char *kernel) {
  // The latest ones are the likeliest to come again.
  for (auto it = pending.rbegin(); it != pending.rend(); ++it)
    if (it->first == kernel) {
      ++it->second;
      return;
    }
  pending.emplace_back(kernel, 1);
}

std::string CudaDevice::pendingKernels() const {
  constexpr size_t most = 16;
  if (pending.empty())
    return "";
  std::string text = "; launched since the last wait: ";
  for (size_t index = 0; index < std::min(most, pending.size()); ++index) {
    const auto &[name, count] = pending[index];
    text += (index ? ", " : "") + name;
    if (count > 1)
      text += format(" (%llu times)", static_cast<unsigned long long>(count));
  }
  if (pending.size() > most)
    text += format(" and %zu more", pending.size() - most);
  return text;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

size_t CudaDevice::freeMemory() {
  size_t freeBytes = 0, totalBytes = 0;
  if (driver.ctxSetCurrent(context) ||
      driver.memGetInfo(&freeBytes, &totalBytes))
    return 0;
  return freeBytes;
}

Status CudaDevice::backendAllocate(size_t bytes, void **ptr) {
  if (Status status = enter(); !status.ok())
    return status;
  CUdeviceptr address = 0;
  Status status = check("cuMemAlloc", driver.memAlloc(&address, bytes));
  if (status.ok())
    *ptr = toPointer(address);
  return status;
}

Status CudaDevice::copyToDevice(void *device, const void *host, size_t bytes) {
  if (Status status = enter(); !status.ok() || bytes == 0)
    return status;
  Status status =
      check("cuMemcpyHtoDAsync",
            driver.memcpyHtoDAsync(toDevicePtr(device), host, bytes, stream),
            format(" (%zu bytes)", bytes));
  return status.ok() ? synchronize() : status;
}

Status CudaDevice::copyToHost(void *host, const void *device, size_t bytes) {
  if (Status status = enter(); !status.ok() || bytes == 0)
    return status;
  Status status =
      check("cuMemcpyDtoHAsync",
            driver.memcpyDtoHAsync(host, toDevicePtr(device), bytes, stream),
            format(" (%zu bytes)", bytes));
  return status.ok() ? synchronize() : status;
}

Status CudaDevice::fill(void *ptr, uint8_t pattern, size_t bytes) {
  if (Status status = enter(); !status.ok() || bytes == 0)
    return status;
  return check("cuMemsetD8Async",
               driver.memsetD8Async(toDevicePtr(ptr), pattern, bytes, stream),
               format(" (%zu bytes)", bytes));
}

Status CudaDevice::flushCaches() {
  if (Status status = enter(); !status.ok())
    return status;
  if (!scratch) {
    scratchBytes = std::max<size_t>(2 * info().l2Bytes, 32 << 20);
    Status status =
        check("cuMemAlloc", driver.memAlloc(&scratch, scratchBytes),
              format(" (%zu bytes to flush the cache with)", scratchBytes));
    if (!status.ok()) {
      scratch = 0;
      return status;
    }
  }
  return check(
      "cuMemsetD8Async",
      driver.memsetD8Async(scratch, ++scratchPattern, scratchBytes, stream));
}

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

std::string JitLogs::str() const {
  std::string text;
  for (const std::string &log : {trimmed(errors.data()), trimmed(infos.data())})
    if (!log.empty())
      text += "\n" + log;
  return text;
}

Status CudaDevice::refuseImage(const KernelImage &image, const char *call,
                               CUresult result, const JitLogs &logs) {
  Status status = check(call, result);
  if (status.code() != StatusCode::Internal)
    return status;
  return Status(StatusCode::Rejected,
                format("the driver refuses image '%s' on %s: %s",
                       image.name.c_str(), info().chip.c_str(),
                       status.message().c_str()) +
                    logs.str());
}

Expected<KernelImage> CudaDevice::assemble(const KernelImage &image) {
  if (image.kind != KernelImage::PTX)
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name + "' is no PTX");
  if (!driver.linkCreate || !driver.linkAddData || !driver.linkComplete ||
      !driver.linkDestroy)
    return Status(StatusCode::InvalidArgument,
                  "libcuda.so.1 has no cuLinkCreate: the driver is too old");
  if (Status status = enter(); !status.ok())
    return status;
  // They are written to until the state is destroyed.
  JitLogs logs;
  CUlinkState state = nullptr;
  if (CUresult result =
          driver.linkCreate(JitLogs::count, logs.options, logs.values, &state))
    return refuseImage(image, "cuLinkCreate", result, logs);
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
    return refuseImage(image, call, result, logs);
  if (assembled.bytes.empty())
    return Status(StatusCode::Internal, "cuLinkComplete gives no cubin");
  return assembled;
}

Status CudaDevice::loadImage(const KernelImage &image) {
  if (image.kind != KernelImage::PTX && image.kind != KernelImage::Cubin)
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name +
                      "' holds host functions: a cuda device takes PTX and "
                      "cubins");
  if (image.bytes.empty())
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name + "' is empty");
  if (Status status = enter(); !status.ok())
    return status;

  JitLogs logs;
  CUmodule module = nullptr;
  // The driver takes PTX up to a zero byte, which c_str() ends with.
  CUresult result = driver.moduleLoadDataEx(
      &module, image.bytes.c_str(), JitLogs::count, logs.options, logs.values);
  if (result != CUDA_SUCCESS)
    return refuseImage(image, "cuModuleLoadDataEx", result, logs);

  bool loadedBefore =
      std::any_of(images.begin(), images.end(),
                  [&](const Image &old) { return old.name == image.name; });
  if (loadedBefore)
    if (Status status = unloadImage(image.name); !status.ok()) {
      driver.moduleUnload(module);
      return status;
    }
  functions.clear();
  images.push_back({image.name, module});
  return Status::success();
}

Status CudaDevice::unloadImage(const std::string &name) {
  auto it = std::find_if(images.begin(), images.end(), [&](const Image &image) {
    return image.name == name;
  });
  if (it == images.end())
    return Status(StatusCode::InvalidArgument,
                  "no image '" + name + "' is loaded");
  if (Status status = synchronize(); !status.ok())
    return status;
  CUmodule module = it->module;
  images.erase(it);
  functions.clear();
  return check("cuModuleUnload", driver.moduleUnload(module));
}

/// Names of the kernels that are loaded, where the driver can list them.
std::string CudaDevice::kernelNames() const {
  std::string names;
  if (driver.moduleGetFunctionCount && driver.moduleEnumerateFunctions &&
      driver.funcGetName)
    for (const Image &image : images) {
      unsigned count = 0;
      if (driver.moduleGetFunctionCount(&count, image.module))
        continue;
      std::vector<CUfunction> handles(count);
      if (driver.moduleEnumerateFunctions(handles.data(), count, image.module))
        continue;
      for (CUfunction function : handles) {
        const char *name = nullptr;
        if (!driver.funcGetName(&name, function) && name)
          names += (names.empty() ? "" : ", ") + std::string(name);
      }
    }
  if (!names.empty())
    return "loaded: " + names;
  for (const Image &image : images)
    names += (names.empty() ? "" : ", ") + image.name;
  return names.empty() ? "nothing is loaded" : "loaded images: " + names;
}

Function CudaDevice::describe(CUfunction handle) const {
  Function function;
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
  if (!driver.funcGetParamInfo)
    return function;
  // The driver ends the list with CUDA_ERROR_INVALID_VALUE.
  constexpr size_t most = 4096;
  for (size_t index = 0; index < most; ++index) {
    size_t offset = 0, bytes = 0;
    CUresult result = driver.funcGetParamInfo(handle, index, &offset, &bytes);
    if (result == CUDA_SUCCESS) {
      function.parameters.push_back(static_cast<int64_t>(bytes));
      continue;
    }
    function.parametersKnown = result == CUDA_ERROR_INVALID_VALUE;
    break;
  }
  return function;
}

Expected<Function *> CudaDevice::find(const char *kernel) {
  auto known = functions.find(kernel);
  if (known != functions.end())
    return &known->second;
  for (auto image = images.rbegin(); image != images.rend(); ++image) {
    CUfunction handle = nullptr;
    CUresult result = driver.moduleGetFunction(&handle, image->module, kernel);
    if (result == CUDA_ERROR_NOT_FOUND)
      continue;
    // A driver that loads lazily may refuse the code only here.
    Status status = check("cuModuleGetFunction", result);
    if (status.code() == StatusCode::Internal)
      return Status(StatusCode::Rejected,
                    format("the driver refuses kernel '%s' of image '%s' on "
                           "%s: %s",
                           kernel, image->name.c_str(), info().chip.c_str(),
                           status.message().c_str()));
    if (!status.ok())
      return status;
    return &functions.emplace(kernel, describe(handle)).first->second;
  }
  return Status(
      StatusCode::InvalidArgument,
      format("no kernel '%s' is loaded; %s", kernel, kernelNames().c_str()));
}

Status CudaDevice::raiseDynamicLimit(const char *kernel, Function &function,
                                     int64_t bytes) {
  if (bytes <= function.dynamicLimit)
    return Status::success();
  Status status = check(
      "cuFuncSetAttribute",
      driver.funcSetAttribute(function.handle,
                              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              static_cast<int>(bytes)),
      format(" (kernel '%s', %lld bytes of workgroup memory)", kernel,
             static_cast<long long>(bytes)));
  if (status.ok())
    function.dynamicLimit = bytes;
  return status;
}

Status CudaDevice::checkLaunch(const LaunchRequest &request,
                               const Function &function) {
  static const char axis[] = "xyz";
  for (int dim = 0; dim < 3; ++dim) {
    if (request.grid[dim] > maxGrid[dim])
      return refuse(
          request, format("a grid of %s workgroups, but %s has at most %lld "
                          "in %c",
                          formatDims(request.grid).c_str(), info().name.c_str(),
                          static_cast<long long>(maxGrid[dim]), axis[dim]));
    if (request.block[dim] > maxBlock[dim])
      return refuse(request,
                    format("a block of %s threads, but %s has at most %lld in "
                           "%c",
                           formatDims(request.block).c_str(),
                           info().name.c_str(),
                           static_cast<long long>(maxBlock[dim]), axis[dim]));
  }
  // No overflow: each factor is within the device's limits.
  int64_t threads = request.block[0] * request.block[1] * request.block[2];
  if (threads > maxBlockThreads)
    return refuse(request,
                  format("a block of %s threads, but %s has at most %lld for a "
                         "workgroup",
                         formatDims(request.block).c_str(), info().name.c_str(),
                         static_cast<long long>(maxBlockThreads)));
  const KernelResources &resources = function.resources;
  if (resources.maxThreads > 0 && threads > resources.maxThreads)
    return refuse(request,
                  format("a block of %s threads, but this kernel allows at "
                         "most %d: it takes %d registers a thread",
                         formatDims(request.block).c_str(),
                         resources.maxThreads, resources.registers));
  if (request.workgroupBytes + resources.staticWorkgroupBytes >
      static_cast<int64_t>(info().workgroupMemoryBytes))
    return refuse(request,
                  format("%lld bytes of workgroup memory beside the kernel's "
                         "own %lld, but %s has at most %zu for a workgroup",
                         static_cast<long long>(request.workgroupBytes),
                         static_cast<long long>(resources.staticWorkgroupBytes),
                         info().name.c_str(), info().workgroupMemoryBytes));
  if (!function.parametersKnown)
    return Status::success();
  auto count = static_cast<int64_t>(function.parameters.size());
  if (request.numArgs != count)
    return refuse(request, format("%lld arguments, but the kernel has %lld",
                                  static_cast<long long>(request.numArgs),
                                  static_cast<long long>(count)));
  if (request.argSizes)
    for (int64_t index = 0; index < count; ++index)
      if (request.argSizes[index] != function.parameters[index])
        return refuse(
            request,
            format("argument %lld has %lld bytes, but the kernel's has %lld",
                   static_cast<long long>(index),
                   static_cast<long long>(request.argSizes[index]),
                   static_cast<long long>(function.parameters[index])));
  return Status::success();
}

Status CudaDevice::encodeTensorMap(const TensorMapRequest &request, void *map) {
  if (Status status = enter(); !status.ok())
    return status;
  if (!driver.tensorMapEncodeTiled || !driver.tensorMapEncodeIm2col)
    return Status(StatusCode::InvalidArgument,
                  "libcuda.so.1 has no cuTensorMapEncodeTiled: the driver is "
                  "too old for kernels that take tensor maps");
  Expected<TiledTensor> tensor = describeTiledTensor(request);
  if (!tensor.ok())
    return tensor.status();
  if (tensor->isImage)
    return check("cuTensorMapEncodeIm2col",
                 driver.tensorMapEncodeIm2col(
                     map, tensor->type, tensor->rank,
                     toPointer(tensor->address), tensor->sizes, tensor->strides,
                     tensor->lowerCorner, tensor->upperCorner, tensor->channels,
                     tensor->pixels, tensor->steps,
                     CU_TENSOR_MAP_INTERLEAVE_NONE, tensor->swizzle,
                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return check("cuTensorMapEncodeTiled",
               driver.tensorMapEncodeTiled(
                   map, tensor->type, tensor->rank, toPointer(tensor->address),
                   tensor->sizes, tensor->strides, tensor->box, tensor->steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, tensor->swizzle,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

Status CudaDevice::launch(const LaunchRequest &request) {
  if (Status status = checkRequest(request); !status.ok())
    return status;
  if (Status status = enter(); !status.ok())
    return status;
  Expected<Function *> found = find(request.kernel);
  if (!found.ok())
    return found.status();
  if (isEmptyGrid(request))
    return Status::success();
  Function &function = **found;
  if (Status status = checkLaunch(request, function); !status.ok())
    return status;
  if (Status status =
          raiseDynamicLimit(request.kernel, function, request.workgroupBytes);
      !status.ok())
    return status;
  auto dim = [](int64_t value) { return static_cast<unsigned>(value); };
  CUresult result = driver.launchKernel(
      function.handle, dim(request.grid[0]), dim(request.grid[1]),
      dim(request.grid[2]), dim(request.block[0]), dim(request.block[1]),
      dim(request.block[2]), dim(request.workgroupBytes), stream,
      request.numArgs ? request.args : nullptr, nullptr);
  if (result == CUDA_SUCCESS) {
    notePending(request.kernel);
    return Status::success();
  }
  Status status =
      check("cuLaunchKernel", result,
            format(" (kernel '%s', grid %s, block %s, %lld bytes of workgroup "
                   "memory, %d registers a thread)",
                   request.kernel, formatDims(request.grid).c_str(),
                   formatDims(request.block).c_str(),
                   static_cast<long long>(request.workgroupBytes),
                   function.resources.registers));
  if (status.code() == StatusCode::Internal)
    return Status(StatusCode::LaunchFailed, status.message());
  return status;
}

Expected<KernelResources> CudaDevice::resources(const char *kernel,
                                                int64_t blockThreads,
                                                int64_t workgroupBytes) {
  if (Status status = enter(); !status.ok())
    return status;
  Expected<Function *> found = find(kernel);
  if (!found.ok())
    return found.status();
  Function &function = **found;
  KernelResources result = function.resources;
  if (blockThreads <= 0)
    return result;
  // What cannot be launched at all fits zero times.
  result.workgroupsPerUnit = 0;
  if (workgroupBytes < 0 || blockThreads > maxBlockThreads ||
      workgroupBytes + result.staticWorkgroupBytes >
          static_cast<int64_t>(info().workgroupMemoryBytes))
    return result;
  if (Status status = raiseDynamicLimit(kernel, function, workgroupBytes);
      !status.ok())
    return status;
  if (Status status =
          check("cuOccupancyMaxActiveBlocksPerMultiprocessor",
                driver.occupancy(&result.workgroupsPerUnit, function.handle,
                                 static_cast<int>(blockThreads),
                                 static_cast<size_t>(workgroupBytes)));
      !status.ok())
    return status;
  return result;
}

//===----------------------------------------------------------------------===//
// Waiting and time
//===----------------------------------------------------------------------===//

Status CudaDevice::synchronize() {
  if (Status status = enter(); !status.ok())
    return status;
  Status status =
      check("cuStreamSynchronize", driver.streamSynchronize(stream));
  if (status.ok())
    pending.clear();
  return status;
}

Status CudaDevice::timeBegin() {
  if (Status status = enter(); !status.ok())
    return status;
  timing = true;
  return check("cuEventRecord", driver.eventRecord(beginEvent, stream));
}

Status CudaDevice::timeEnd(double *milliseconds) {
  if (!timing)
    return Status(StatusCode::InvalidArgument, "timeEnd without timeBegin");
  timing = false;
  if (Status status = enter(); !status.ok())
    return status;
  if (Status status =
          check("cuEventRecord", driver.eventRecord(endEvent, stream));
      !status.ok())
    return status;
  if (Status status =
          check("cuEventSynchronize", driver.eventSynchronize(endEvent));
      !status.ok())
    return status;
  pending.clear();
  float elapsed = 0;
  Status status =
      check("cuEventElapsedTime",
            driver.eventElapsedTime(&elapsed, beginEvent, endEvent));
  *milliseconds = elapsed;
  return status;
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

/// The version of the kernel-mode driver, "580.159.03"; empty when unknown.
static std::string getKernelDriverVersion() {
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

/// What the driver tells of a device without opening it; a reason on failure.
static Expected<DeviceInfo> query(const CudaDriver &driver, int ordinal,
                                  CUdevice *handle) {
  auto fail = [&](const char *call, CUresult result) {
    return Status(StatusCode::NoDevice,
                  format("device %d: %s", ordinal,
                         driver.describe(call, result).c_str()));
  };
  if (CUresult result = driver.deviceGet(handle, ordinal))
    return fail("cuDeviceGet", result);
  DeviceInfo info;
  info.target = "cuda";
  info.ordinal = ordinal;
  char name[256] = {};
  if (CUresult result = driver.deviceGetName(name, sizeof(name) - 1, *handle))
    return fail("cuDeviceGetName", result);
  info.name = name;
  if (CUresult result = driver.deviceTotalMem(&info.memoryBytes, *handle))
    return fail("cuDeviceTotalMem", result);

  int major = 0, minor = 0, workgroupBytes = 0, l2Bytes = 0, clock = 0;
  const std::pair<CUDeviceAttribute, int *> attributes[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &info.subgroupSize},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &workgroupBytes},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2Bytes},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info.computeUnits},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &clock},
  };
  for (const auto &[which, value] : attributes)
    if (CUresult result = driver.deviceGetAttribute(value, which, *handle))
      return fail("cuDeviceGetAttribute", result);
  // From 9.0 on each chip has an architecture-specific form, whose code runs
  // on that chip alone and may use all of its matrix instructions.
  info.chip = format("sm_%d%d%s", major, minor, major >= 9 ? "a" : "");
  info.workgroupMemoryBytes = static_cast<size_t>(workgroupBytes);
  info.l2Bytes = static_cast<size_t>(l2Bytes);
  info.clockMHz = clock / 1000;

  int version = 0;
  driver.driverGetVersion(&version);
  info.driver = format("CUDA %d.%d", version / 1000, version % 1000 / 10);
  std::string kernelDriver = getKernelDriverVersion();
  if (!kernelDriver.empty())
    info.driver += ", driver " + kernelDriver;
  return info;
}

std::string
tessera::runtime::listCudaDevices(const CudaDriver &driver,
                                  std::vector<DeviceInfo> &devices) {
  int count = 0;
  if (CUresult result = driver.deviceGetCount(&count))
    return driver.describe("cuDeviceGetCount", result);
  if (count == 0)
    return "the driver reports no device";
  std::string reason;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice handle = 0;
    Expected<DeviceInfo> info = query(driver, ordinal, &handle);
    if (info.ok())
      devices.push_back(info.take());
    else
      reason += (reason.empty() ? "" : "; ") + info.status().message();
  }
  return reason;
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openCudaDevice(const CudaDriver &driver, int ordinal) {
  int count = 0;
  if (CUresult result = driver.deviceGetCount(&count))
    return Status(StatusCode::NoDevice,
                  "no CUDA device: " +
                      driver.describe("cuDeviceGetCount", result));
  if (ordinal < 0 || ordinal >= count)
    return Status(
        StatusCode::NoDevice,
        format("no cuda device %d: this machine has %d", ordinal, count));
  CUdevice handle = 0;
  Expected<DeviceInfo> info = query(driver, ordinal, &handle);
  if (!info.ok())
    return info.status();
  auto device = std::make_unique<CudaDevice>(driver, handle, info.take());
  if (Status status = device->open(); !status.ok())
    return status;
  return std::unique_ptr<Device>(std::move(device));
}
