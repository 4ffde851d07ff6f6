//===- OpenCLDevice.cpp - Any vendor's device by OpenCL -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is unified shared memory of the device (the extension
// cl_intel_unified_shared_memory), else shared virtual memory: both give
// pointers, which may point anywhere into an allocation. Kernels are SPIR-V, of
// which the runtime reads what parameters they take.
//
//===----------------------------------------------------------------------===//

#include "OpenCLDevice.h"

#include "../Format.h"
#include "../OpenOrdinal.h"
#include "../SpirvDevice.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Capabilities of a device
//===----------------------------------------------------------------------===//

namespace {

/// The properties of a device.
struct Capabilities {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::string platformName, name, version, driver, intermediate;
  /// Each name is surrounded by spaces.
  std::string extensions;
  cl_bitfield type = 0, svm = 0, usm = 0;
  cl_ulong memoryBytes = 0, cacheBytes = 0, localBytes = 0;
  cl_uint computeUnits = 0, clock = 0, addressBits = 0, maxSubgroups = 0;
  size_t maxThreads = 0, multiple = 0;
  std::vector<size_t> maxBlock, subgroupSizes;
  bool addsF32 = false, addsF64 = false;

  bool has(const char *extension) const {
    return extensions.find(" " + std::string(extension) + " ") !=
           std::string::npos;
  }
  /// Takes SPIR-V of 1.`minor`.
  bool takes(int minor) const {
    return intermediate.find(format("SPIR-V_1.%d", minor)) != std::string::npos;
  }
  bool hasUsm() const {
    return has("cl_intel_unified_shared_memory") && usm != 0;
  }
};

} // namespace

/// A text that `get` fills in, which is called like clGetDeviceInfo.
template <typename Get> static std::string getText(Get get) {
  size_t size = 0;
  if (get(0, nullptr, &size) != CL_SUCCESS || size == 0)
    return "";
  std::string text(size, '\0');
  get(size, text.data(), nullptr);
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

/// One value, by a function that is called like clGetMemObjectInfo.
template <typename Function, typename Handle, typename T>
static cl_int getOne(Function function, Handle handle, cl_uint which,
                     T &value) {
  return function(handle, which, sizeof(T), static_cast<void *>(&value),
                  nullptr);
}

static Capabilities query(const OpenCLDriver &driver, cl_platform_id platform,
                          cl_device_id device) {
  Capabilities result;
  result.platform = platform;
  result.device = device;
  auto text = [&](cl_uint which) {
    return getText([&](size_t size, void *value, size_t *needed) {
      return driver.getDeviceInfo(device, which, size, value, needed);
    });
  };
  // Queries that a device does not support keep the default.
  auto number = [&](cl_uint which, auto &value) {
    auto copy = value;
    if (driver.getDeviceInfo(device, which, sizeof(copy), &copy, nullptr) ==
        CL_SUCCESS)
      value = copy;
  };
  auto list = [&](cl_uint which) {
    size_t size = 0;
    std::vector<size_t> values;
    if (driver.getDeviceInfo(device, which, 0, nullptr, &size) == CL_SUCCESS) {
      values.resize(size / sizeof(size_t));
      driver.getDeviceInfo(device, which, size, values.data(), nullptr);
    }
    return values;
  };
  result.platformName = getText([&](size_t size, void *value, size_t *needed) {
    return driver.getPlatformInfo(platform, CL_PLATFORM_NAME, size, value,
                                  needed);
  });
  result.name = text(CL_DEVICE_NAME);
  result.version = text(CL_DEVICE_VERSION);
  result.driver = text(CL_DRIVER_VERSION);
  result.intermediate = text(CL_DEVICE_IL_VERSION);
  result.extensions = " " + text(CL_DEVICE_EXTENSIONS) + " ";
  number(CL_DEVICE_TYPE, result.type);
  number(CL_DEVICE_SVM_CAPABILITIES, result.svm);
  number(CL_DEVICE_GLOBAL_MEM_SIZE, result.memoryBytes);
  number(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, result.cacheBytes);
  number(CL_DEVICE_LOCAL_MEM_SIZE, result.localBytes);
  number(CL_DEVICE_MAX_COMPUTE_UNITS, result.computeUnits);
  number(CL_DEVICE_MAX_CLOCK_FREQUENCY, result.clock);
  number(CL_DEVICE_ADDRESS_BITS, result.addressBits);
  number(CL_DEVICE_MAX_NUM_SUB_GROUPS, result.maxSubgroups);
  number(CL_DEVICE_MAX_WORK_GROUP_SIZE, result.maxThreads);
  number(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, result.multiple);
  result.maxBlock = list(CL_DEVICE_MAX_WORK_ITEM_SIZES);
  if (result.has("cl_intel_unified_shared_memory"))
    number(CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL, result.usm);
  if (result.has("cl_intel_required_subgroup_size"))
    result.subgroupSizes = list(CL_DEVICE_SUB_GROUP_SIZES_INTEL);
  if (result.has("cl_ext_float_atomics")) {
    cl_bitfield f32 = 0, f64 = 0;
    number(CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT, f32);
    number(CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT, f64);
    result.addsF32 = f32 & CL_GLOBAL_FP_ATOMIC_ADD_EXT;
    result.addsF64 = f64 & CL_GLOBAL_FP_ATOMIC_ADD_EXT;
  }
  return result;
}

/// Why Tessera's kernels cannot run on a device; empty if they can.
static std::string explainUnfit(const Capabilities &capabilities) {
  bool takesSpirv = false;
  for (int minor = 2; minor <= 6; ++minor)
    takesSpirv |= capabilities.takes(minor);
  if (!takesSpirv)
    return capabilities.intermediate.empty()
               ? "it does not accept SPIR-V"
               : "it accepts " + capabilities.intermediate +
                     ", but SPIR-V 1.2 is required";
  if (capabilities.addressBits != 64)
    return format("it has %u-bit addresses, but 64-bit ones are required",
                  capabilities.addressBits);
  if (!capabilities.hasUsm() &&
      !(capabilities.svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
    return "it has neither cl_intel_unified_shared_memory nor shared virtual "
           "memory";
  if (capabilities.maxBlock.size() < 3)
    return "it supports workgroups of fewer than three dimensions only";
  return "";
}

/// The lanes that a subgroup is asked to have; 1 where the device has none that
/// exchange values.
static int chooseSubgroupSize(const Capabilities &capabilities) {
  if (capabilities.maxSubgroups == 0 || !capabilities.takes(3) ||
      !capabilities.has("cl_khr_subgroup_shuffle"))
    return 1;
  auto isFit = [](size_t size) {
    return size >= 8 && size <= 128 && (size & (size - 1)) == 0;
  };
  if (capabilities.subgroupSizes.empty())
    return isFit(capabilities.multiple)
               ? static_cast<int>(capabilities.multiple)
               : 1;
  // Intel's compiler has 8, 16 and 32, of which 16 leaves most registers to a
  // thread without wasting lanes.
  for (size_t size : {16, 32, 8, 64, 128})
    if (std::find(capabilities.subgroupSizes.begin(),
                  capabilities.subgroupSizes.end(),
                  size) != capabilities.subgroupSizes.end())
      return static_cast<int>(size);
  return 1;
}

/// The device properties that the compiler needs, in the format of the
/// compiler's table reads it.
static std::string describeChip(const Capabilities &capabilities) {
  std::string text =
      format("s%d-w%llu-t%zu", chooseSubgroupSize(capabilities),
             static_cast<unsigned long long>(capabilities.localBytes),
             capabilities.maxThreads);
  if (capabilities.has("cl_khr_fp16"))
    text += "-f16";
  if (capabilities.has("cl_khr_fp64"))
    text += "-f64";
  if (capabilities.addsF32)
    text += "-a32";
  if (capabilities.addsF64)
    text += "-a64";
  return text;
}

static DeviceInfo describe(const Capabilities &capabilities) {
  DeviceInfo info;
  info.target = "opencl";
  info.chip = describeChip(capabilities);
  info.name = capabilities.name;
  info.driver = capabilities.platformName + " " + capabilities.driver + ", " +
                capabilities.version;
  info.subgroupSize = chooseSubgroupSize(capabilities);
  info.memoryBytes = capabilities.memoryBytes;
  info.workgroupMemoryBytes = capabilities.localBytes;
  info.l2Bytes = capabilities.cacheBytes;
  info.computeUnits = static_cast<int>(capabilities.computeUnits);
  info.clockMHz = static_cast<int>(capabilities.clock);
  info.isSoftware = capabilities.type & CL_DEVICE_TYPE_CPU;
  return info;
}

/// Calls `visit` with each device that is fit until it returns false. Returns
/// the reason for those that are not, or that there is none.
template <typename Visit>
static std::string forEachDevice(const OpenCLDriver &driver, Visit visit) {
  cl_uint count = 0;
  cl_int result = driver.getPlatformIDs(0, nullptr, &count);
  if (result != CL_SUCCESS && result != CL_PLATFORM_NOT_FOUND_KHR)
    return OpenCLDriver::describe("clGetPlatformIDs", result);
  if (count == 0)
    return "the loader does not find a platform; set OCL_ICD_VENDORS to the "
           "folder of the drivers' .icd files (/etc/OpenCL/vendors by default)";
  std::vector<cl_platform_id> platforms(count);
  driver.getPlatformIDs(count, platforms.data(), nullptr);
  std::string reason;
  auto add = [&](const std::string &text) {
    reason += (reason.empty() ? "" : "; ") + text;
  };
  bool found = false;
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    result =
        driver.getDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices);
    if (result == CL_DEVICE_NOT_FOUND || (result == CL_SUCCESS && !devices))
      continue;
    if (result != CL_SUCCESS) {
      add(OpenCLDriver::describe("clGetDeviceIDs", result));
      continue;
    }
    std::vector<cl_device_id> ids(devices);
    driver.getDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(),
                        nullptr);
    for (cl_device_id id : ids) {
      Capabilities capabilities = query(driver, platform, id);
      found = true;
      std::string unfit = explainUnfit(capabilities);
      if (!unfit.empty())
        add(capabilities.name + " is not usable: " + unfit);
      else if (!visit(capabilities))
        return reason;
    }
  }
  if (!found && reason.empty())
    return "the platforms report no device";
  return reason;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

namespace {

class OpenCLDevice final : public SpirvDevice {
public:
  OpenCLDevice(const OpenCLDriver &driver, Capabilities capabilities,
               DeviceInfo info)
      : SpirvDevice(std::move(info),
                    {"clCreateKernel", CL_INVALID_KERNEL_NAME}),
        driver(driver), capabilities(std::move(capabilities)) {}
  ~OpenCLDevice() override;

  /// Second half of construction. With a context of the caller's, in that.
  Status open(cl_context callers = nullptr);

  Status bindObject(MemoryObject kind, void *object, size_t bytes,
                    bool mayWrite, void **address) override;
  std::optional<uint64_t> countSubmissions() const override { return flushes; }
  void releaseObjects() override {
    objects.clear();
    nextObject = firstObject;
  }

protected:
  DriverResult memAlloc(void **ptr, size_t bytes) override;
  DriverResult memFree(void *ptr) override;
  DriverResult queueCopyIn(void *to, const void *from, size_t bytes) override {
    return queueCopy(to, from, bytes);
  }
  DriverResult queueCopyOut(void *to, const void *from, size_t bytes) override {
    return queueCopy(to, from, bytes);
  }
  DriverResult queueCopy(void *to, const void *from, size_t bytes) override;
  DriverResult queueFill(void *ptr, uint8_t pattern, size_t bytes) override {
    if (usesUsm())
      return {"clEnqueueMemFillINTEL",
              extensions.enqueueMemFill(queue, ptr, &pattern, 1, bytes, 0,
                                        nullptr, nullptr)};
    return {"clEnqueueSVMMemFill",
            driver.enqueueSVMMemFill(queue, ptr, &pattern, 1, bytes, 0, nullptr,
                                     nullptr)};
  }
  DriverResult waitForStream() override {
    return {"clFinish", driver.finish(queue)};
  }
  DriverResult recordBegin() override { return mark(beginEvent); }
  DriverResult recordEnd() override { return mark(endEvent); }
  DriverResult waitForEnd() override {
    return {"clWaitForEvents", driver.waitForEvents(1, &endEvent)};
  }
  DriverResult elapsed(float *milliseconds) override;
  bool takesQueues() const override { return true; }
  Status checkQueue(void *other) override;
  void setQueue(void *other) override {
    queue = static_cast<cl_command_queue>(other);
  }
  void setOwnQueue() override { queue = ownQueue; }
  DriverResult noteQueue() override;
  DriverResult waitForNote() override {
    return {"clEnqueueBarrierWithWaitList",
            driver.enqueueBarrier(queue, 1, &orderEvent, nullptr)};
  }
  DriverResult flushQueue() override {
    ++flushes;
    return {"clFlush", driver.flush(queue)};
  }
  DriverResult queueLaunch(void *function,
                           const LaunchRequest &request) override;
  Status build(const KernelImage &image, const SpirvModule &code,
               Module &module) override;
  void release(Module &module) override;

  std::string describe(DriverResult result) const override {
    return OpenCLDriver::describe(result.call, result.code);
  }
  DriverFailure classify(int code) const override;

private:
  /// A buffer of the caller's, by an address that stands for it: no pointer of
  /// a driver is so high. Kernels get the buffer itself.
  struct Object {
    cl_mem buffer;
    size_t bytes;
  };
  static constexpr uint64_t firstObject = uint64_t(1) << 62;

  bool usesUsm() const { return extensions.deviceMemAlloc; }
  /// Objects begin at multiples of CL_DEVICE_MEM_BASE_ADDR_ALIGN, 128 bytes at
  /// least, and are passed whole.
  bool isAddress(uintptr_t number) const override {
    return number < firstObject;
  }
  /// The object that an address is in, and how far; null if it is in none.
  const Object *findObject(const void *address, size_t &offset) const;
  DriverResult copyPointers(void *to, const void *from, size_t bytes,
                            cl_uint blocking);
  DriverResult mark(cl_event &event);
  DriverResult setArgument(cl_kernel kernel, cl_uint index,
                           const SpirvParameter &parameter, const void *value);
  Status checkSubgroups(const KernelImage &image, const SpirvKernel &kernel,
                        cl_kernel handle);
  std::string buildLog(cl_program program) const;

  const OpenCLDriver &driver;
  OpenCLExtensions extensions;
  Capabilities capabilities;
  cl_context context = nullptr;
  cl_command_queue ownQueue = nullptr;
  /// Which work goes to: `ownQueue`, or the caller's.
  cl_command_queue queue = nullptr;
  cl_event beginEvent = nullptr, endEvent = nullptr, orderEvent = nullptr;
  uint64_t flushes = 0;
  /// By the addresses that stand for them.
  std::map<uint64_t, Object> objects;
  uint64_t nextObject = firstObject;
  /// By the address handed out, that which the driver gave.
  std::map<void *, void *> allocations;
};

} // namespace

Status OpenCLDevice::open(cl_context callers) {
  auto fail = [&](const char *call, cl_int result) {
    return Status(result == CL_OUT_OF_HOST_MEMORY ? StatusCode::OutOfMemory
                                                  : StatusCode::NoDevice,
                  format("opencl device %d (%s) cannot be opened: %s",
                         info().ordinal, info().name.c_str(),
                         OpenCLDriver::describe(call, result).c_str()));
  };
  cl_int result = CL_SUCCESS;
  if (callers) {
    result = driver.retainContext(callers);
    if (result)
      return fail("clRetainContext", result);
    context = callers;
  } else {
    context = driver.createContext(nullptr, 1, &capabilities.device, nullptr,
                                   nullptr, &result);
    if (!context)
      return fail("clCreateContext", result);
  }
  const cl_ulong properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                 0};
  queue = ownQueue = driver.createCommandQueue(context, capabilities.device,
                                               properties, &result);
  if (!ownQueue)
    return fail("clCreateCommandQueueWithProperties", result);
  if (capabilities.hasUsm()) {
    extensions.find(driver, capabilities.platform);
    if (!extensions.deviceMemAlloc || !extensions.memBlockingFree ||
        !extensions.setKernelArgMem || !extensions.enqueueMemcpy ||
        !extensions.enqueueMemFill)
      return Status(StatusCode::NoDevice,
                    info().name + " reports cl_intel_unified_shared_memory but "
                                  "does not export its functions");
  }
  int64_t block[3];
  for (int dim = 0; dim < 3; ++dim)
    block[dim] = static_cast<int64_t>(capabilities.maxBlock[dim]);
  // OpenCL limits the number of threads, which must fit a size_t, not that of
  // workgroups.
  const int64_t grid[3] = {INT32_MAX, INT32_MAX, INT32_MAX};
  setLimits(grid, block, static_cast<int64_t>(capabilities.maxThreads));
  return Status::success();
}

OpenCLDevice::~OpenCLDevice() {
  if (ownQueue) {
    releaseAll();
    for (cl_event event : {beginEvent, endEvent, orderEvent})
      if (event)
        driver.releaseEvent(event);
    driver.releaseCommandQueue(ownQueue);
  }
  if (context)
    driver.releaseContext(context);
}

DriverFailure OpenCLDevice::classify(int code) const {
  switch (code) {
  case CL_MEM_OBJECT_ALLOCATION_FAILURE:
  case CL_OUT_OF_HOST_MEMORY:
  case CL_INVALID_BUFFER_SIZE:
    return DriverFailure::OutOfMemory;
  case CL_DEVICE_NOT_AVAILABLE:
  case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
    return DriverFailure::Fault;
  case CL_INVALID_KERNEL_NAME:
    return DriverFailure::NotFound;
  default:
    return DriverFailure::Other;
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

DriverResult OpenCLDevice::memAlloc(void **ptr, size_t bytes) {
  // Drivers need not align to more than a long16.
  constexpr size_t alignment = 256;
  void *base = nullptr;
  cl_int result = CL_SUCCESS;
  size_t whole = std::max<size_t>(bytes, 1) + alignment - 1;
  if (usesUsm()) {
    base = extensions.deviceMemAlloc(context, capabilities.device, nullptr,
                                     whole, 0, &result);
  } else {
    base = driver.svmAlloc(context, CL_MEM_READ_WRITE, whole, 0);
    result = base ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
  }
  if (!base)
    return {usesUsm() ? "clDeviceMemAllocINTEL" : "clSVMAlloc", result};
  auto address = reinterpret_cast<uintptr_t>(base);
  *ptr = static_cast<char *>(base) + (-address & (alignment - 1));
  allocations[*ptr] = base;
  return {"", CL_SUCCESS};
}

DriverResult OpenCLDevice::memFree(void *ptr) {
  auto found = allocations.find(ptr);
  if (found == allocations.end())
    return {"", CL_SUCCESS};
  void *base = found->second;
  allocations.erase(found);
  if (usesUsm())
    return {"clMemBlockingFreeINTEL",
            extensions.memBlockingFree(context, base)};
  // Queued work may still use it.
  DriverResult result = waitForStream();
  driver.svmFree(context, base);
  return result;
}

DriverResult OpenCLDevice::copyPointers(void *to, const void *from,
                                        size_t bytes, cl_uint blocking) {
  if (usesUsm())
    return {"clEnqueueMemcpyINTEL",
            extensions.enqueueMemcpy(queue, blocking, to, from, bytes, 0,
                                     nullptr, nullptr)};
  return {"clEnqueueSVMMemcpy",
          driver.enqueueSVMMemcpy(queue, blocking, to, from, bytes, 0, nullptr,
                                  nullptr)};
}

DriverResult OpenCLDevice::queueCopy(void *to, const void *from, size_t bytes) {
  size_t fromOffset = 0, toOffset = 0;
  const Object *source = findObject(from, fromOffset),
               *target = findObject(to, toOffset);
  if (!source && !target)
    return copyPointers(to, from, bytes, clFalse);
  // No command copies between a buffer and a pointer of the device's: by way of
  // the host, which waits.
  std::vector<char> copy(bytes);
  DriverResult result =
      source ? DriverResult{"clEnqueueReadBuffer",
                            driver.enqueueReadBuffer(
                                queue, source->buffer, clTrue, fromOffset,
                                bytes, copy.data(), 0, nullptr, nullptr)}
             : copyPointers(copy.data(), from, bytes, clTrue);
  if (result.failed())
    return result;
  if (target)
    return {"clEnqueueWriteBuffer",
            driver.enqueueWriteBuffer(queue, target->buffer, clTrue, toOffset,
                                      bytes, copy.data(), 0, nullptr, nullptr)};
  return copyPointers(to, copy.data(), bytes, clTrue);
}

//===----------------------------------------------------------------------===//
// Objects of the caller's
//===----------------------------------------------------------------------===//

Status OpenCLDevice::bindObject(MemoryObject kind, void *object, size_t bytes,
                                bool mayWrite, void **address) {
  if (kind != MemoryObject::ClMem)
    return Device::bindObject(kind, object, bytes, mayWrite, address);
  auto buffer = static_cast<cl_mem>(object);
  cl_uint type = 0;
  cl_bitfield flags = 0;
  size_t size = 0;
  cl_context other = nullptr;
  auto get = [&](cl_uint which, auto &value) {
    return getOne(driver.getMemObjectInfo, buffer, which, value);
  };
  for (cl_int result : {get(CL_MEM_TYPE, type), get(CL_MEM_FLAGS, flags),
                        get(CL_MEM_SIZE, size), get(CL_MEM_CONTEXT, other)})
    if (result)
      return Status(StatusCode::InvalidArgument,
                    "not a cl_mem: " +
                        OpenCLDriver::describe("clGetMemObjectInfo", result));
  if (type != CL_MEM_OBJECT_BUFFER)
    return Status(StatusCode::InvalidArgument,
                  "the cl_mem is an image or a pipe, not a buffer");
  if (other != context)
    return Status(StatusCode::InvalidArgument,
                  "the cl_mem belongs to another cl_context than the device; "
                  "open the device on that one (tesseraDeviceOpenNative)");
  if (size < bytes)
    return Status(StatusCode::InvalidArgument,
                  format("the cl_mem has %zu bytes, but the array needs %zu",
                         size, bytes));
  if (mayWrite && (flags & CL_MEM_READ_ONLY))
    return Status(StatusCode::InvalidArgument,
                  "the program may write it, but the cl_mem was created with "
                  "CL_MEM_READ_ONLY");
  objects[nextObject] = {buffer, size};
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  *address = reinterpret_cast<void *>(static_cast<uintptr_t>(nextObject));
  constexpr uint64_t page = 4096;
  nextObject += (size / page + 1) * page;
  return Status::success();
}

const OpenCLDevice::Object *OpenCLDevice::findObject(const void *address,
                                                     size_t &offset) const {
  uint64_t number = reinterpret_cast<uintptr_t>(address);
  auto after = objects.upper_bound(number);
  if (after == objects.begin())
    return nullptr;
  auto found = std::prev(after);
  offset = number - found->first;
  return offset < found->second.bytes ? &found->second : nullptr;
}

//===----------------------------------------------------------------------===//
// Queues of the caller's
//===----------------------------------------------------------------------===//

Status OpenCLDevice::checkQueue(void *other) {
  auto theirs = static_cast<cl_command_queue>(other);
  cl_context itsContext = nullptr;
  cl_device_id itsDevice = nullptr;
  cl_bitfield properties = 0;
  auto get = [&](cl_uint which, auto &value) {
    return getOne(driver.getCommandQueueInfo, theirs, which, value);
  };
  if (!theirs)
    return Status(StatusCode::InvalidArgument,
                  "the queue is null: OpenCL has no default queue");
  for (cl_int result :
       {get(CL_QUEUE_CONTEXT, itsContext), get(CL_QUEUE_DEVICE, itsDevice),
        get(CL_QUEUE_PROPERTIES, properties)})
    if (result)
      return Status(
          StatusCode::InvalidArgument,
          "the queue is not a cl_command_queue: " +
              OpenCLDriver::describe("clGetCommandQueueInfo", result));
  if (itsContext != context)
    return Status(StatusCode::InvalidArgument,
                  "the queue belongs to another cl_context than the device; "
                  "open the device on that one (tesseraDeviceOpenNative)");
  if (itsDevice != capabilities.device)
    return Status(StatusCode::InvalidArgument,
                  "the queue belongs to another device than " + info().name);
  if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    return Status(
        StatusCode::InvalidArgument,
        "the queue is out of order, but a program's kernels must run in order; "
        "create one without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
  return Status::success();
}

DriverResult OpenCLDevice::noteQueue() {
  if (DriverResult result = mark(orderEvent); result.failed())
    return result;
  // Waiting for an event blocks forever if its queue is not flushed.
  return flushQueue();
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

DriverResult OpenCLDevice::mark(cl_event &event) {
  if (event)
    driver.releaseEvent(event);
  event = nullptr;
  return {"clEnqueueMarkerWithWaitList",
          driver.enqueueMarker(queue, 0, nullptr, &event)};
}

DriverResult OpenCLDevice::elapsed(float *milliseconds) {
  cl_ulong begin = 0, end = 0;
  for (auto [event, time] : {std::pair(beginEvent, &begin), {endEvent, &end}})
    if (cl_int result = driver.getEventProfilingInfo(
            event, CL_PROFILING_COMMAND_END, sizeof(*time), time, nullptr))
      return {"clGetEventProfilingInfo", result};
  *milliseconds = static_cast<float>(static_cast<double>(end - begin) * 1e-6);
  return {"", CL_SUCCESS};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::string OpenCLDevice::buildLog(cl_program program) const {
  std::string log = getText([&](size_t size, void *value, size_t *needed) {
    return driver.getProgramBuildInfo(program, capabilities.device,
                                      CL_PROGRAM_BUILD_LOG, size, value,
                                      needed);
  });
  log.erase(log.find_last_not_of(" \r\n\t") + 1);
  return log.empty() ? "; its build log is empty" : "; build log:\n" + log;
}

void OpenCLDevice::release(Module &module) {
  for (Function &function : module.functions)
    driver.releaseKernel(static_cast<cl_kernel>(function.handle));
  for (void *program : module.handles)
    driver.releaseProgram(static_cast<cl_program>(program));
}

Status OpenCLDevice::checkSubgroups(const KernelImage &image,
                                    const SpirvKernel &kernel,
                                    cl_kernel handle) {
  if (kernel.subgroupSize == 0)
    return Status::success();
  size_t block[3], lanes = 0;
  for (int dim = 0; dim < 3; ++dim)
    block[dim] = static_cast<size_t>(kernel.block[dim]);
  cl_int result = driver.getKernelSubGroupInfo(
      handle, capabilities.device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
      sizeof(block), block, sizeof(lanes), &lanes, nullptr);
  if (result == CL_SUCCESS && lanes == static_cast<size_t>(kernel.subgroupSize))
    return Status::success();
  return Status(
      StatusCode::Rejected,
      format("kernel '%s' of image '%s' is compiled for subgroups of %lld "
             "lanes, but %s ",
             kernel.name.c_str(), image.name.c_str(),
             static_cast<long long>(kernel.subgroupSize), info().name.c_str()) +
          (result
               ? "does not report its subgroup size (" +
                     OpenCLDriver::describe("clGetKernelSubGroupInfo", result) +
                     ")"
               : format("uses subgroups of %zu", lanes)));
}

Status OpenCLDevice::build(const KernelImage &image, const SpirvModule &code,
                           Module &module) {
  cl_int result = CL_SUCCESS;
  cl_program program =
      driver.createProgramWithIL(context, code.words.data(),
                                 code.words.size() * sizeof(uint32_t), &result);
  if (!program)
    return rejectImage(image, {"clCreateProgramWithIL", result});
  module.handles.push_back(program);
  result = driver.buildProgram(program, 1, &capabilities.device, "", nullptr,
                               nullptr);
  if (result)
    return rejectImage(image, {"clBuildProgram", result}, buildLog(program));
  for (const SpirvKernel &kernel : code.kernels) {
    cl_kernel handle =
        driver.createKernel(program, kernel.name.c_str(), &result);
    if (!handle)
      return rejectImage(image, {"clCreateKernel", result},
                         " (kernel '" + kernel.name + "')" + buildLog(program));
    module.functions.push_back({handle, kernel});
    if (Status status = checkSubgroups(image, kernel, handle); !status.ok())
      return status;
    cl_ulong privateBytes = 0;
    if (driver.getKernelWorkGroupInfo(
            handle, capabilities.device, CL_KERNEL_PRIVATE_MEM_SIZE,
            sizeof(privateBytes), &privateBytes, nullptr) == CL_SUCCESS)
      module.functions.back().spillBytes = static_cast<int64_t>(privateBytes);
  }
  return Status::success();
}

DriverResult OpenCLDevice::setArgument(cl_kernel kernel, cl_uint index,
                                       const SpirvParameter &parameter,
                                       const void *value) {
  if (!parameter.isPointer)
    return {"clSetKernelArg",
            driver.setKernelArg(kernel, index,
                                static_cast<size_t>(parameter.bytes), value)};
  void *pointer = nullptr;
  std::memcpy(static_cast<void *>(&pointer), value, sizeof(pointer));
  size_t offset = 0;
  if (const Object *object = findObject(pointer, offset)) {
    // Host code passes where arrays begin, and offsets beside that.
    if (offset != 0)
      return {"clSetKernelArg (within a cl_mem)",
              CL_MISALIGNED_SUB_BUFFER_OFFSET};
    return {"clSetKernelArg",
            driver.setKernelArg(kernel, index, sizeof(cl_mem),
                                static_cast<const void *>(&object->buffer))};
  }
  if (usesUsm())
    return {"clSetKernelArgMemPointerINTEL",
            extensions.setKernelArgMem(kernel, index, pointer)};
  return {"clSetKernelArgSVMPointer",
          driver.setKernelArgSVM(kernel, index, pointer)};
}

DriverResult OpenCLDevice::queueLaunch(void *handle,
                                       const LaunchRequest &request) {
  auto *function = static_cast<Function *>(handle);
  auto kernel = static_cast<cl_kernel>(function->handle);
  for (int64_t i = 0; i < request.numArgs; ++i)
    if (DriverResult result =
            setArgument(kernel, static_cast<cl_uint>(i),
                        function->kernel.parameters[static_cast<size_t>(i)],
                        request.args[i]);
        result.failed())
      return result;
  size_t global[3], local[3];
  for (int dim = 0; dim < 3; ++dim) {
    local[dim] = static_cast<size_t>(request.block[dim]);
    global[dim] = static_cast<size_t>(request.grid[dim]) * local[dim];
  }
  return {"clEnqueueNDRangeKernel",
          driver.enqueueNDRangeKernel(queue, kernel, 3, nullptr, global, local,
                                      0, nullptr, nullptr)};
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

std::string
tessera::runtime::listOpenCLDevices(const OpenCLDriver &driver,
                                    std::vector<DeviceInfo> &devices) {
  int next = 0;
  return forEachDevice(driver, [&](const Capabilities &capabilities) {
    devices.push_back(describe(capabilities));
    devices.back().ordinal = next++;
    return true;
  });
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openOpenCLDevice(const OpenCLDriver &driver, int ordinal) {
  return openOrdinal<OpenCLDevice>(
      "opencl", ordinal,
      [&](auto visit) { return forEachDevice(driver, visit); },
      [&](const Capabilities &capabilities) {
        DeviceInfo info = describe(capabilities);
        info.ordinal = ordinal;
        return std::make_unique<OpenCLDevice>(driver, capabilities,
                                              std::move(info));
      });
}

Expected<std::unique_ptr<Device>>
tessera::runtime::openOpenCLDeviceOn(const OpenCLDriver &driver,
                                     cl_context context, cl_device_id device) {
  auto invalid = [](const std::string &text) {
    return Status(StatusCode::InvalidArgument, text);
  };
  if (!context || !device)
    return invalid("an OpenCL device requires a cl_context and one of its "
                   "cl_device_ids; one is null");
  size_t size = 0;
  cl_int result =
      driver.getContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &size);
  std::vector<cl_device_id> devices(size / sizeof(cl_device_id));
  if (result == CL_SUCCESS)
    result =
        driver.getContextInfo(context, CL_CONTEXT_DEVICES, size,
                              static_cast<void *>(devices.data()), nullptr);
  if (result)
    return invalid("not a cl_context: " +
                   OpenCLDriver::describe("clGetContextInfo", result));
  if (std::find(devices.begin(), devices.end(), device) == devices.end())
    return invalid("the cl_device_id does not belong to the cl_context");
  cl_platform_id platform = nullptr;
  result = getOne(driver.getDeviceInfo, device, CL_DEVICE_PLATFORM, platform);
  if (result)
    return invalid("not a cl_device_id: " +
                   OpenCLDriver::describe("clGetDeviceInfo", result));
  Capabilities capabilities = query(driver, platform, device);
  if (std::string unfit = explainUnfit(capabilities); !unfit.empty())
    return Status(StatusCode::NoDevice,
                  capabilities.name + " is not usable: " + unfit);
  DeviceInfo info = describe(capabilities);
  // By its index among all; a part of a device has none.
  info.ordinal = -1;
  int next = 0;
  (void)forEachDevice(driver, [&](const Capabilities &other) {
    if (other.device == device)
      info.ordinal = next;
    return other.device != device && ++next;
  });
  auto opened = std::make_unique<OpenCLDevice>(driver, std::move(capabilities),
                                               std::move(info));
  if (Status status = opened->open(context); !status.ok())
    return status;
  return std::unique_ptr<Device>(std::move(opened));
}
