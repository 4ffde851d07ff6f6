//===- FakeOpenCL.cpp - An OpenCL for tests -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeOpenCL.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace tessera::runtime;

namespace {

struct Kernel {
  std::string name;
  std::map<cl_uint, std::string> arguments;
};
struct Event {
  bool isDone = false;
  cl_ulong time = 0;
  void *queue = nullptr;
  /// Its queue was flushed since.
  bool isFlushed = false;
};
struct Command {
  std::function<void()> run;
  /// The events that must complete before.
  std::vector<cl_event> waits;
};
struct Queue {
  void *context = nullptr;
  cl_device_id device = nullptr;
  cl_bitfield properties = 0;
};
struct Buffer {
  void *context = nullptr;
  cl_uint type = 0;
  cl_bitfield flags = 0;
  std::string bytes;
};

/// The internal state that tests do not access.
struct World {
  FakeOpenCL state;
  /// By their queues.
  std::map<void *, std::vector<Command>> queued;
  std::map<void *, Queue> queues;
  std::map<void *, Buffer> buffers;
  std::map<void *, std::unique_ptr<Kernel>> kernels;
  std::map<void *, std::unique_ptr<Event>> events;
  uintptr_t nextHandle = 0x1000;

  ~World() {
    for (auto &[ptr, size] : state.memory)
      std::free(ptr);
  }
};

} // namespace

static std::unique_ptr<World> &getWorld() {
  static auto world = std::make_unique<World>();
  return world;
}
FakeOpenCL &tessera::runtime::getFakeOpenCL() { return getWorld()->state; }

size_t FakeOpenCL::count(const std::string &symbol) const {
  return static_cast<size_t>(std::count(calls.begin(), calls.end(), symbol));
}

static void violate(const std::string &call, const std::string &what) {
  getFakeOpenCL().violations.push_back(call + ": " + what);
}

/// At the begin of each function.
static cl_int enter(const char *symbol) {
  FakeOpenCL &fake = getFakeOpenCL();
  fake.calls.push_back(symbol);
  auto failure = fake.failures.find(symbol);
  if (failure == fake.failures.end() || fake.failAfter[symbol]-- > 0)
    return CL_SUCCESS;
  return failure->second;
}

#define ENTER(symbol)                                                          \
  if (cl_int entered = enter(#symbol))                                         \
  return entered
#define ENTER_MAKING(symbol)                                                   \
  *error = enter(#symbol);                                                     \
  if (*error != CL_SUCCESS)                                                    \
  return nullptr

template <typename Handle> static Handle make(const char *kind) {
  World &world = *getWorld();
  // A handle is a number that must not be dereferenced.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto *handle = reinterpret_cast<void *>(world.nextHandle += 16);
  world.state.handles[handle] = kind;
  return static_cast<Handle>(handle);
}
static bool is(const char *call, const void *handle, const std::string &kind) {
  auto found = getFakeOpenCL().handles.find(const_cast<void *>(handle));
  if (found != getFakeOpenCL().handles.end() && found->second == kind)
    return true;
  violate(call, "no such " + kind);
  return false;
}
static cl_int release(const char *call, void *handle, const char *kind) {
  getFakeOpenCL().calls.push_back(call);
  if (is(call, handle, kind) && getFakeOpenCL().retained[handle]-- == 0) {
    getFakeOpenCL().handles.erase(handle);
    getFakeOpenCL().retained.erase(handle);
  }
  return CL_SUCCESS;
}

/// The bytes of an allocation from `ptr` on; 0 where it is in none.
static size_t bytesFrom(const void *ptr) {
  for (auto &[base, size] : getFakeOpenCL().memory) {
    auto offset = static_cast<const char *>(ptr) - static_cast<char *>(base);
    if (offset >= 0 && static_cast<size_t>(offset) < size)
      return size - static_cast<size_t>(offset);
  }
  return 0;
}
static void *allocate(size_t size) {
  FakeOpenCL &fake = getFakeOpenCL();
  size_t used = size;
  for (auto &[base, bytes] : fake.memory)
    used += bytes;
  if (used > fake.memoryBytes)
    return nullptr;
  // Aligned to 16 at most, as drivers may: the runtime aligns to more.
  auto *ptr = static_cast<char *>(std::malloc(size));
  fake.memory[ptr] = size;
  return ptr;
}
static void give(const char *call, void *ptr) {
  if (!getFakeOpenCL().memory.erase(ptr))
    violate(call, "no such memory");
  else
    std::free(ptr);
}

/// Runs the commands of a queue, and those of other queues that they wait for.
static void runQueue(void *queue) {
  std::vector<Command> commands = std::move(getWorld()->queued[queue]);
  getWorld()->queued[queue].clear();
  for (Command &command : commands) {
    for (cl_event event : command.waits) {
      Event &awaited = *getWorld()->events[event];
      if (!awaited.isDone)
        runQueue(awaited.queue);
      if (!awaited.isDone)
        violate("clEnqueueBarrierWithWaitList", "it never ends");
    }
    command.run();
  }
}
static void runAll() {
  for (auto &[queue, commands] : getWorld()->queued)
    runQueue(queue);
}
static bool isIdle() {
  for (auto &[queue, commands] : getWorld()->queued)
    if (!commands.empty())
      return false;
  return true;
}
static void add(void *queue, std::function<void()> run,
                std::vector<cl_event> waits = {}) {
  getWorld()->queued[queue].push_back({std::move(run), std::move(waits)});
}

template <typename T>
static cl_int answer(const T *values, size_t count, size_t size, void *value,
                     size_t *needed) {
  size_t bytes = count * sizeof(T);
  if (needed)
    *needed = bytes;
  if (!value)
    return CL_SUCCESS;
  if (size < bytes)
    return CL_INVALID_VALUE;
  std::memcpy(value, static_cast<const void *>(values), bytes);
  return CL_SUCCESS;
}
static cl_int answer(const std::string &text, size_t size, void *value,
                     size_t *needed) {
  return answer(text.c_str(), text.size() + 1, size, value, needed);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static cl_platform_id getPlatform(unsigned number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<cl_platform_id>(uintptr_t(0x100 + number));
}
static cl_device_id getDevice(unsigned number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<cl_device_id>(uintptr_t(0x200 + number));
}

static cl_int getPlatformIDs(cl_uint entries, cl_platform_id *platforms,
                             cl_uint *count) {
  ENTER(clGetPlatformIDs);
  FakeOpenCL &fake = getFakeOpenCL();
  if (count)
    *count = fake.numPlatforms;
  for (unsigned i = 0; i < std::min(entries, fake.numPlatforms); ++i)
    platforms[i] = getPlatform(i);
  return fake.numPlatforms ? CL_SUCCESS : CL_PLATFORM_NOT_FOUND_KHR;
}
static cl_int getPlatformInfo(cl_platform_id, cl_uint which, size_t size,
                              void *value, size_t *needed) {
  ENTER(clGetPlatformInfo);
  return which == CL_PLATFORM_NAME
             ? answer(std::string("Fakes"), size, value, needed)
             : static_cast<cl_int>(CL_INVALID_VALUE);
}
static cl_int getDeviceIDs(cl_platform_id, cl_bitfield, cl_uint entries,
                           cl_device_id *devices, cl_uint *count) {
  ENTER(clGetDeviceIDs);
  FakeOpenCL &fake = getFakeOpenCL();
  if (count)
    *count = fake.numDevices;
  for (unsigned i = 0; i < std::min(entries, fake.numDevices); ++i)
    devices[i] = getDevice(i);
  return fake.numDevices ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}
static cl_int getDeviceInfo(cl_device_id, cl_uint which, size_t size,
                            void *value, size_t *needed) {
  ENTER(clGetDeviceInfo);
  FakeOpenCL &fake = getFakeOpenCL();
  auto one = [&](auto number) {
    return answer(&number, 1, size, value, needed);
  };
  auto list = [&](const std::vector<size_t> &values) {
    return answer(values.data(), values.size(), size, value, needed);
  };
  switch (which) {
  case CL_DEVICE_PLATFORM:
    return one(getPlatform(0));
  case CL_DEVICE_NAME:
    return answer(fake.name, size, value, needed);
  case CL_DEVICE_VERSION:
    return answer(std::string("OpenCL 3.0"), size, value, needed);
  case CL_DRIVER_VERSION:
    return answer(std::string("7"), size, value, needed);
  case CL_DEVICE_IL_VERSION:
    return answer(fake.intermediate, size, value, needed);
  case CL_DEVICE_EXTENSIONS:
    return answer(fake.extensions, size, value, needed);
  case CL_DEVICE_TYPE:
    return one(fake.type);
  case CL_DEVICE_SVM_CAPABILITIES:
    return one(fake.svm);
  case CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL:
    return one(fake.usm);
  case CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT:
    return one(fake.addsF32);
  case CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT:
    return one(fake.addsF64);
  case CL_DEVICE_GLOBAL_MEM_SIZE:
    return one(static_cast<cl_ulong>(fake.memoryBytes));
  case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
    return one(cl_ulong(1 << 10));
  case CL_DEVICE_LOCAL_MEM_SIZE:
    return one(cl_ulong(65536));
  case CL_DEVICE_MAX_COMPUTE_UNITS:
    return one(cl_uint(12));
  case CL_DEVICE_MAX_CLOCK_FREQUENCY:
    return one(cl_uint(1500));
  case CL_DEVICE_ADDRESS_BITS:
    return one(fake.addressBits);
  case CL_DEVICE_MAX_NUM_SUB_GROUPS:
    return one(fake.maxSubgroups);
  case CL_DEVICE_MAX_WORK_GROUP_SIZE:
    return one(fake.maxThreads);
  case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
    return one(fake.multiple);
  case CL_DEVICE_MAX_WORK_ITEM_SIZES:
    return list(fake.maxBlock);
  case CL_DEVICE_SUB_GROUP_SIZES_INTEL:
    return list(fake.subgroupSizes);
  default:
    violate("clGetDeviceInfo", "unknown number " + std::to_string(which));
    return CL_INVALID_VALUE;
  }
}

static cl_context
createContext(const intptr_t *, cl_uint count, const cl_device_id *,
              void (*)(const char *, const void *, size_t, void *), void *,
              cl_int *error) {
  ENTER_MAKING(clCreateContext);
  if (count != 1)
    violate("clCreateContext", "not one device");
  return make<cl_context>("context");
}
static cl_int releaseContext(cl_context context) {
  return release("clReleaseContext", context, "context");
}
static cl_int retainContext(cl_context context) {
  ENTER(clRetainContext);
  if (is("clRetainContext", context, "context"))
    ++getFakeOpenCL().retained[context];
  return CL_SUCCESS;
}
static cl_int getContextInfo(cl_context context, cl_uint which, size_t size,
                             void *value, size_t *needed) {
  ENTER(clGetContextInfo);
  if (which != CL_CONTEXT_DEVICES)
    return CL_INVALID_VALUE;
  // A program may pass any value.
  if (getFakeOpenCL().handles[context] != "context")
    return -34; // CL_INVALID_CONTEXT
  cl_device_id device = getDevice(0);
  return answer(&device, 1, size, value, needed);
}
static cl_int getCommandQueueInfo(cl_command_queue queue, cl_uint which,
                                  size_t size, void *value, size_t *needed) {
  ENTER(clGetCommandQueueInfo);
  auto found = getWorld()->queues.find(queue);
  if (found == getWorld()->queues.end())
    return -36; // CL_INVALID_COMMAND_QUEUE
  const Queue &known = found->second;
  switch (which) {
  case CL_QUEUE_CONTEXT:
    return answer(&known.context, 1, size, value, needed);
  case CL_QUEUE_DEVICE:
    return answer(&known.device, 1, size, value, needed);
  case CL_QUEUE_PROPERTIES:
    return answer(&known.properties, 1, size, value, needed);
  default:
    return CL_INVALID_VALUE;
  }
}
static cl_command_queue createCommandQueue(cl_context context, cl_device_id,
                                           const cl_ulong *properties,
                                           cl_int *error) {
  ENTER_MAKING(clCreateCommandQueueWithProperties);
  is("clCreateCommandQueueWithProperties", context, "context");
  // Times are asked for, and the order of the calls is kept.
  if (!properties || properties[0] != CL_QUEUE_PROPERTIES ||
      properties[1] != CL_QUEUE_PROFILING_ENABLE || properties[2] != 0)
    violate("clCreateCommandQueueWithProperties", "other properties");
  return make<cl_command_queue>("queue");
}
static cl_int releaseCommandQueue(cl_command_queue queue) {
  runQueue(queue);
  return release("clReleaseCommandQueue", queue, "queue");
}
static cl_int flush(cl_command_queue queue) {
  ENTER(clFlush);
  is("clFlush", queue, "queue");
  for (auto &[handle, event] : getWorld()->events)
    event->isFlushed |= event->queue == queue;
  return CL_SUCCESS;
}
static cl_int finish(cl_command_queue queue) {
  ENTER(clFinish);
  is("clFinish", queue, "queue");
  runQueue(queue);
  return CL_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static cl_program createProgramWithIL(cl_context context, const void *il,
                                      size_t length, cl_int *error) {
  ENTER_MAKING(clCreateProgramWithIL);
  is("clCreateProgramWithIL", context, "context");
  uint32_t magic = 0;
  if (length >= 4)
    std::memcpy(&magic, il, 4);
  if (magic != 0x07230203 || length % 4)
    violate("clCreateProgramWithIL", "no SPIR-V");
  return make<cl_program>("program");
}
static cl_int buildProgram(cl_program program, cl_uint, const cl_device_id *,
                           const char *, void (*)(cl_program, void *), void *) {
  ENTER(clBuildProgram);
  is("clBuildProgram", program, "program");
  return CL_SUCCESS;
}
static cl_int getProgramBuildInfo(cl_program program, cl_device_id,
                                  cl_uint which, size_t size, void *value,
                                  size_t *needed) {
  ENTER(clGetProgramBuildInfo);
  is("clGetProgramBuildInfo", program, "program");
  return which == CL_PROGRAM_BUILD_LOG
             ? answer(getFakeOpenCL().buildLog, size, value, needed)
             : static_cast<cl_int>(CL_INVALID_VALUE);
}
static cl_int releaseProgram(cl_program program) {
  return release("clReleaseProgram", program, "program");
}
static cl_kernel createKernel(cl_program program, const char *name,
                              cl_int *error) {
  ENTER_MAKING(clCreateKernel);
  is("clCreateKernel", program, "program");
  auto handle = make<cl_kernel>("kernel");
  getWorld()->kernels[handle] = std::make_unique<Kernel>();
  getWorld()->kernels[handle]->name = name;
  return handle;
}
static cl_int releaseKernel(cl_kernel kernel) {
  return release("clReleaseKernel", kernel, "kernel");
}
static cl_int getKernelWorkGroupInfo(cl_kernel kernel, cl_device_id,
                                     cl_uint which, size_t size, void *value,
                                     size_t *needed) {
  ENTER(clGetKernelWorkGroupInfo);
  is("clGetKernelWorkGroupInfo", kernel, "kernel");
  return which == CL_KERNEL_PRIVATE_MEM_SIZE
             ? answer(&getFakeOpenCL().privateBytes, 1, size, value, needed)
             : static_cast<cl_int>(CL_INVALID_VALUE);
}
static cl_int getKernelSubGroupInfo(cl_kernel kernel, cl_device_id,
                                    cl_uint which, size_t inputSize,
                                    const void *, size_t size, void *value,
                                    size_t *needed) {
  ENTER(clGetKernelSubGroupInfo);
  is("clGetKernelSubGroupInfo", kernel, "kernel");
  return which == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE &&
                 inputSize == 3 * sizeof(size_t)
             ? answer(&getFakeOpenCL().lanes, 1, size, value, needed)
             : static_cast<cl_int>(CL_INVALID_VALUE);
}
static cl_int setArgument(const char *call, cl_kernel kernel, cl_uint index,
                          const void *value, size_t size) {
  if (is(call, kernel, "kernel"))
    getWorld()->kernels[kernel]->arguments[index].assign(
        static_cast<const char *>(value), size);
  return CL_SUCCESS;
}
static cl_int setKernelArg(cl_kernel kernel, cl_uint index, size_t size,
                           const void *value) {
  ENTER(clSetKernelArg);
  return setArgument("clSetKernelArg", kernel, index, value, size);
}
static cl_int setPointer(const char *call, cl_kernel kernel, cl_uint index,
                         const void *pointer) {
  if (pointer && !bytesFrom(pointer)) {
    violate(call, "a pointer to no memory of the device's");
    return -50; // CL_INVALID_ARG_VALUE
  }
  return setArgument(call, kernel, index, static_cast<const void *>(&pointer),
                     sizeof(pointer));
}
static cl_int setKernelArgSVM(cl_kernel kernel, cl_uint index,
                              const void *value) {
  ENTER(clSetKernelArgSVMPointer);
  return setPointer("clSetKernelArgSVMPointer", kernel, index, value);
}
static cl_int setKernelArgMem(cl_kernel kernel, cl_uint index,
                              const void *value) {
  ENTER(clSetKernelArgMemPointerINTEL);
  return setPointer("clSetKernelArgMemPointerINTEL", kernel, index, value);
}
static cl_int enqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                   cl_uint dimensions, const size_t *,
                                   const size_t *global, const size_t *local,
                                   cl_uint, const cl_event *, cl_event *) {
  ENTER(clEnqueueNDRangeKernel);
  if (!is("clEnqueueNDRangeKernel", queue, "queue") ||
      !is("clEnqueueNDRangeKernel", kernel, "kernel"))
    return CL_INVALID_VALUE;
  FakeCLLaunch launch;
  launch.kernel = getWorld()->kernels[kernel]->name;
  launch.arguments = getWorld()->kernels[kernel]->arguments;
  for (cl_uint dim = 0; dim < dimensions; ++dim) {
    launch.global[dim] = global[dim];
    launch.local[dim] = local[dim];
    if (local[dim] == 0 || global[dim] % local[dim])
      violate("clEnqueueNDRangeKernel", "workgroups that are not whole");
  }
  add(queue, [launch] {
    getFakeOpenCL().launches.push_back(launch);
    getFakeOpenCL().clock += getFakeOpenCL().kernelTime;
  });
  return CL_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Events and memory
//===----------------------------------------------------------------------===//

static cl_int enqueueMarker(cl_command_queue queue, cl_uint, const cl_event *,
                            cl_event *event) {
  ENTER(clEnqueueMarkerWithWaitList);
  is("clEnqueueMarkerWithWaitList", queue, "queue");
  *event = make<cl_event>("event");
  auto &made = getWorld()->events[*event] = std::make_unique<Event>();
  made->queue = queue;
  add(queue, [marker = made.get()] {
    marker->isDone = true;
    marker->time = getFakeOpenCL().clock;
  });
  return CL_SUCCESS;
}
static cl_int enqueueBarrier(cl_command_queue queue, cl_uint waits,
                             const cl_event *waitFor, cl_event *) {
  ENTER(clEnqueueBarrierWithWaitList);
  is("clEnqueueBarrierWithWaitList", queue, "queue");
  for (cl_uint i = 0; i < waits; ++i)
    if (is("clEnqueueBarrierWithWaitList", waitFor[i], "event") &&
        !getWorld()->events[waitFor[i]]->isFlushed)
      violate("clEnqueueBarrierWithWaitList", "its queue is not flushed");
  add(queue, [] {}, {waitFor, waitFor + waits});
  return CL_SUCCESS;
}
static cl_int waitForEvents(cl_uint count, const cl_event *events) {
  ENTER(clWaitForEvents);
  for (cl_uint i = 0; i < count; ++i)
    if (is("clWaitForEvents", events[i], "event"))
      runQueue(getWorld()->events[events[i]]->queue);
  return CL_SUCCESS;
}
static cl_int releaseEvent(cl_event event) {
  return release("clReleaseEvent", event, "event");
}
static cl_int getEventProfilingInfo(cl_event event, cl_uint which, size_t size,
                                    void *value, size_t *needed) {
  ENTER(clGetEventProfilingInfo);
  if (!is("clGetEventProfilingInfo", event, "event"))
    return CL_INVALID_VALUE;
  const Event &marker = *getWorld()->events[event];
  if (!marker.isDone)
    return -7; // CL_PROFILING_INFO_NOT_AVAILABLE
  // It started long before the commands that it waits for had ended.
  cl_ulong time = which == CL_PROFILING_COMMAND_END ? marker.time : 1;
  return answer(&time, 1, size, value, needed);
}

static void *svmAlloc(cl_context context, cl_bitfield, size_t size, cl_uint) {
  if (enter("clSVMAlloc"))
    return nullptr;
  is("clSVMAlloc", context, "context");
  return allocate(size);
}
static void svmFree(cl_context context, void *ptr) {
  getFakeOpenCL().calls.push_back("clSVMFree");
  is("clSVMFree", context, "context");
  // It waits for nothing.
  if (!isIdle())
    violate("clSVMFree", "commands are queued");
  give("clSVMFree", ptr);
}
static void *deviceMemAlloc(cl_context context, cl_device_id, const cl_ulong *,
                            size_t size, cl_uint, cl_int *error) {
  ENTER_MAKING(clDeviceMemAllocINTEL);
  is("clDeviceMemAllocINTEL", context, "context");
  void *ptr = allocate(size);
  *error = ptr ? CL_SUCCESS : CL_INVALID_BUFFER_SIZE;
  return ptr;
}
static cl_int memBlockingFree(cl_context context, void *ptr) {
  ENTER(clMemBlockingFreeINTEL);
  is("clMemBlockingFreeINTEL", context, "context");
  runAll();
  give("clMemBlockingFreeINTEL", ptr);
  return CL_SUCCESS;
}

static cl_int queueCopy(const char *call, cl_command_queue queue, void *to,
                        const void *from, size_t size, cl_uint blocking) {
  is(call, queue, "queue");
  // One side at least is the device's.
  if (bytesFrom(to) < size && bytesFrom(from) < size)
    violate(call, "beyond memory of the device's");
  add(queue, [=] { std::memmove(to, from, size); });
  if (blocking)
    runQueue(queue);
  return CL_SUCCESS;
}
static cl_int enqueueSVMMemcpy(cl_command_queue queue, cl_uint blocking,
                               void *to, const void *from, size_t size, cl_uint,
                               const cl_event *, cl_event *) {
  ENTER(clEnqueueSVMMemcpy);
  return queueCopy("clEnqueueSVMMemcpy", queue, to, from, size, blocking);
}
static cl_int enqueueMemcpy(cl_command_queue queue, cl_uint blocking, void *to,
                            const void *from, size_t size, cl_uint,
                            const cl_event *, cl_event *) {
  ENTER(clEnqueueMemcpyINTEL);
  return queueCopy("clEnqueueMemcpyINTEL", queue, to, from, size, blocking);
}
static cl_int queueFill(const char *call, cl_command_queue queue, void *ptr,
                        const void *pattern, size_t patternSize, size_t size) {
  is(call, queue, "queue");
  if (patternSize != 1 || bytesFrom(ptr) < size)
    violate(call, "beyond memory of the device's");
  int value = *static_cast<const unsigned char *>(pattern);
  add(queue, [=] { std::memset(ptr, value, size); });
  return CL_SUCCESS;
}
static cl_int enqueueSVMMemFill(cl_command_queue queue, void *ptr,
                                const void *pattern, size_t patternSize,
                                size_t size, cl_uint, const cl_event *,
                                cl_event *) {
  ENTER(clEnqueueSVMMemFill);
  return queueFill("clEnqueueSVMMemFill", queue, ptr, pattern, patternSize,
                   size);
}
static cl_int enqueueMemFill(cl_command_queue queue, void *ptr,
                             const void *pattern, size_t patternSize,
                             size_t size, cl_uint, const cl_event *,
                             cl_event *) {
  ENTER(clEnqueueMemFillINTEL);
  return queueFill("clEnqueueMemFillINTEL", queue, ptr, pattern, patternSize,
                   size);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static cl_int getMemObjectInfo(cl_mem object, cl_uint which, size_t size,
                               void *value, size_t *needed) {
  ENTER(clGetMemObjectInfo);
  auto found = getWorld()->buffers.find(object);
  if (found == getWorld()->buffers.end())
    return -38; // CL_INVALID_MEM_OBJECT
  const Buffer &buffer = found->second;
  size_t bytes = buffer.bytes.size();
  switch (which) {
  case CL_MEM_TYPE:
    return answer(&buffer.type, 1, size, value, needed);
  case CL_MEM_FLAGS:
    return answer(&buffer.flags, 1, size, value, needed);
  case CL_MEM_SIZE:
    return answer(&bytes, 1, size, value, needed);
  case CL_MEM_CONTEXT:
    return answer(&buffer.context, 1, size, value, needed);
  default:
    return CL_INVALID_VALUE;
  }
}
/// The address in a buffer; null, with a violation, if it is out of bounds.
static char *locate(const char *call, cl_mem object, size_t offset,
                    size_t size) {
  if (!is(call, object, "buffer"))
    return nullptr;
  std::string &bytes = getWorld()->buffers[object].bytes;
  if (offset + size <= bytes.size())
    return bytes.data() + offset;
  violate(call, "beyond the buffer");
  return nullptr;
}
static cl_int enqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                cl_uint blocking, size_t offset, size_t size,
                                void *to, cl_uint, const cl_event *,
                                cl_event *) {
  ENTER(clEnqueueReadBuffer);
  is("clEnqueueReadBuffer", queue, "queue");
  if (char *from = locate("clEnqueueReadBuffer", buffer, offset, size))
    add(queue, [=] { std::memcpy(to, from, size); });
  if (blocking)
    runQueue(queue);
  return CL_SUCCESS;
}
static cl_int enqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                 cl_uint blocking, size_t offset, size_t size,
                                 const void *from, cl_uint, const cl_event *,
                                 cl_event *) {
  ENTER(clEnqueueWriteBuffer);
  is("clEnqueueWriteBuffer", queue, "queue");
  if (char *to = locate("clEnqueueWriteBuffer", buffer, offset, size))
    add(queue, [=] { std::memcpy(to, from, size); });
  if (blocking)
    runQueue(queue);
  return CL_SUCCESS;
}

cl_context tessera::runtime::makeFakeContext() {
  return make<cl_context>("context");
}
cl_command_queue tessera::runtime::makeFakeQueue(cl_context context,
                                                 cl_bitfield properties) {
  auto queue = make<cl_command_queue>("queue");
  getWorld()->queues[queue] = {context, getDevice(0), properties};
  return queue;
}
cl_mem tessera::runtime::makeFakeBuffer(cl_context context, size_t bytes,
                                        cl_bitfield flags, cl_uint type) {
  auto buffer = make<cl_mem>("buffer");
  getWorld()->buffers[buffer] = {context, type, flags, std::string(bytes, 0)};
  return buffer;
}
std::string &tessera::runtime::getFakeBuffer(cl_mem buffer) {
  return getWorld()->buffers[buffer].bytes;
}
void tessera::runtime::releaseFake(void *handle) {
  runAll();
  getFakeOpenCL().handles.erase(handle);
}

static void *getExtension(cl_platform_id, const char *name) {
  FakeOpenCL &fake = getFakeOpenCL();
  if (std::find(fake.missing.begin(), fake.missing.end(), name) !=
      fake.missing.end())
    return nullptr;
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TESSERA_GIVE(member, symbol, result, parameters)                       \
  if (std::string(name) == #symbol)                                            \
    return reinterpret_cast<void *>(&member);
  TESSERA_OPENCL_EXTENSIONS(TESSERA_GIVE)
#undef TESSERA_GIVE
  // NOLINTEND(bugprone-macro-parentheses)
  return nullptr;
}

OpenCLDriver tessera::runtime::makeFakeOpenCL() {
  getWorld() = std::make_unique<World>();
  OpenCLDriver driver;
#define TESSERA_SET(member, symbol, result, parameters)                        \
  driver.member = &::member;
  TESSERA_OPENCL_FUNCTIONS(TESSERA_SET)
#undef TESSERA_SET
  return driver;
}
