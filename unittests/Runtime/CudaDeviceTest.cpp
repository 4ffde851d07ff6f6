//===- CudaDeviceTest.cpp - NVIDIA GPUs -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two halves. The first runs anywhere: the device on a fake driver of functions
// in this file, which count calls, reject them and fail on request. The second
// runs kernels in PTX on a real device, and is skipped without one.
//
//===----------------------------------------------------------------------===//

#include "CUDA/CudaDevice.h"
#include "TestUtils.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

using namespace tessera::runtime;

namespace {

//===----------------------------------------------------------------------===//
// A driver for tests
//===----------------------------------------------------------------------===//

/// The kernels' parameters, in the order of `FakeDriver::kernels`.
constexpr const char *fakePtx =
    ".visible .entry small(\n.param .u64 small_param_0,\n"
    ".param .u32 small_param_1\n)\n{ ret; }\n.visible .entry big()\n{ ret; }\n";

struct FakeKernel {
  std::string name;
  std::map<int, int> attributes;
  std::vector<size_t> parameters;
};

/// The recorded calls of the driver, and its configured results.
struct FakeDriver {
  std::map<int, int> attributes = {
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 50 << 20},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
  };
  int deviceCount = 1;
  size_t totalBytes = 256 << 20, usedBytes = 0;
  std::map<CUdeviceptr, size_t> memory;
  FakeKernel kernels[2] = {
      {"small",
       {{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, 24},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 0},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 49152}},
       {8, 4}},
      {"big",
       {{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 256},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, 255},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1024},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 64},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48128}},
       {}},
  };
  /// Given once by the next wait, and after that by every call.
  CUresult fault = CUDA_SUCCESS;
  bool faulted = false;
  CUresult loadResult = CUDA_SUCCESS;
  CUresult linkResult = CUDA_SUCCESS;
  int links = 0;
  int version = 12040;
  /// Options of the last linker, as bits.
  uint64_t linkOptions = 0;
  std::string cubin;
  char *linkErrors = nullptr;
  CUresult launchResult = CUDA_SUCCESS;
  int retains = 0, releases = 0, resets = 0;
  /// Calls that the driver rejects although nothing is wrong.
  int failures = 0;
  int modules = 0, unloads = 0, launches = 0, raises = 0, allocations = 0;
  unsigned lastGrid[3] = {}, lastBlock[3] = {}, lastShared = 0;
  std::vector<int> lastArgs;
  CUresult encodeResult = CUDA_SUCCESS;
  unsigned long long lastAddress = 0, lastSize = 0, lastStride = 0;
  unsigned lastBox = 0;
  /// The operations on each stream: "launch own", "note caller".
  std::vector<std::string> log;
  CUcontext current = nullptr;

  static std::string nameStream(CUstream stream) {
    return reinterpret_cast<int *>(stream) == &fakeCallersStream ? "caller"
           : stream                                              ? "own"
                                                                 : "default";
  }
  void note(const char *what, CUstream stream) {
    log.push_back(std::string(what) + " " + nameStream(stream));
  }
  static int fakeCallersStream, fakeForeignStream;

  CUresult state() const { return faulted ? fault : CUDA_SUCCESS; }
};
int FakeDriver::fakeCallersStream, FakeDriver::fakeForeignStream;
FakeDriver *fake = nullptr;

/// "Device" memory is the host's.
void *toHost(CUdeviceptr ptr) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void *>(static_cast<uintptr_t>(ptr));
}

CUresult fakeErrorName(CUresult error, const char **name) {
  *name = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == CUDA_ERROR_INVALID_PTX   ? "CUDA_ERROR_INVALID_PTX"
                                              : "CUDA_ERROR_SOME";
  return CUDA_SUCCESS;
}
CUresult fakeErrorString(CUresult error, const char **text) {
  *text = error == CUDA_ERROR_INVALID_PTX ? "a PTX JIT compilation failed"
                                          : "some error";
  return CUDA_SUCCESS;
}
CUresult fakeWait() {
  if (fake->fault != CUDA_SUCCESS)
    fake->faulted = true;
  return fake->state();
}

CudaDriver makeFakeDriver() {
  CudaDriver driver;
  driver.init = [](unsigned) { return CUDA_SUCCESS + 0; };
  driver.driverGetVersion = [](int *version) {
    *version = fake->version;
    return CUDA_SUCCESS + 0;
  };
  driver.getErrorName = fakeErrorName;
  driver.getErrorString = fakeErrorString;
  driver.deviceGet = [](CUdevice *device, int ordinal) {
    *device = ordinal + 100;
    return CUDA_SUCCESS + 0;
  };
  driver.deviceGetCount = [](int *count) {
    *count = fake->deviceCount;
    return CUDA_SUCCESS + 0;
  };
  driver.deviceGetName = [](char *name, int length, CUdevice) {
    std::strncpy(name, "Fake GPU", static_cast<size_t>(length));
    return CUDA_SUCCESS + 0;
  };
  driver.deviceTotalMem = [](size_t *bytes, CUdevice) {
    *bytes = fake->totalBytes;
    return CUDA_SUCCESS + 0;
  };
  driver.deviceGetAttribute = [](int *value, CUDeviceAttribute attribute,
                                 CUdevice) {
    auto it = fake->attributes.find(attribute);
    if (it == fake->attributes.end())
      return CUDA_ERROR_INVALID_VALUE + 0;
    *value = it->second;
    return CUDA_SUCCESS + 0;
  };
  driver.primaryCtxRetain = [](CUcontext *context, CUdevice) {
    ++fake->retains;
    *context = reinterpret_cast<CUcontext>(fake);
    return CUDA_SUCCESS + 0;
  };
  driver.primaryCtxRelease = [](CUdevice) {
    ++fake->releases;
    return CUDA_SUCCESS + 0;
  };
  driver.primaryCtxReset = [](CUdevice) {
    ++fake->resets;
    fake->fault = CUDA_SUCCESS;
    fake->faulted = false;
    return CUDA_SUCCESS + 0;
  };
  driver.ctxSetCurrent = [](CUcontext context) {
    fake->current = context;
    return CUDA_SUCCESS + 0;
  };
  driver.ctxGetCurrent = [](CUcontext *context) {
    *context = fake->current;
    return CUDA_SUCCESS + 0;
  };
  driver.memGetInfo = [](size_t *freeBytes, size_t *totalBytes) {
    *totalBytes = fake->totalBytes;
    *freeBytes = fake->totalBytes - fake->usedBytes;
    return fake->state();
  };
  driver.memAlloc = [](CUdeviceptr *ptr, size_t bytes) {
    if (fake->usedBytes + bytes > fake->totalBytes)
      return CUDA_ERROR_OUT_OF_MEMORY + 0;
    void *memory = nullptr;
    if (posix_memalign(&memory, 512, bytes) != 0)
      return CUDA_ERROR_OUT_OF_MEMORY + 0;
    *ptr = reinterpret_cast<uintptr_t>(memory);
    fake->memory[*ptr] = bytes;
    fake->usedBytes += bytes;
    ++fake->allocations;
    return fake->state();
  };
  driver.memFree = [](CUdeviceptr ptr) {
    auto it = fake->memory.find(ptr);
    if (it == fake->memory.end())
      return CUDA_ERROR_INVALID_VALUE + 0;
    fake->usedBytes -= it->second;
    fake->memory.erase(it);
    std::free(toHost(ptr));
    return fake->state();
  };
  driver.memcpyHtoDAsync = [](CUdeviceptr to, const void *from, size_t bytes,
                              CUstream) {
    std::memcpy(toHost(to), from, bytes);
    return fake->state();
  };
  driver.memcpyDtoHAsync = [](void *to, CUdeviceptr from, size_t bytes,
                              CUstream) {
    std::memcpy(to, toHost(from), bytes);
    return fake->state();
  };
  driver.memcpyDtoDAsync = [](CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
    fake->note("copy", stream);
    std::memcpy(toHost(to), toHost(from), bytes);
    return fake->state();
  };
  driver.memsetD8Async = [](CUdeviceptr ptr, unsigned char value, size_t bytes,
                            CUstream) {
    std::memset(toHost(ptr), value, bytes);
    return fake->state();
  };
  driver.moduleLoadDataEx = [](CUmodule *module, const void *image,
                               unsigned count, CUJitOption *options,
                               void **values) {
    if (fake->loadResult != CUDA_SUCCESS) {
      for (unsigned index = 0; index < count; ++index) {
        auto *buffer = static_cast<char *>(values[index]);
        if (options[index] == CU_JIT_ERROR_LOG_BUFFER)
          std::strcpy(buffer, "ptxas application ptx input, line 5; fatal   : "
                              "Parsing error near 'nonsense'\n\n");
        if (options[index] == CU_JIT_INFO_LOG_BUFFER)
          std::strcpy(buffer, "info\n");
      }
      return fake->loadResult;
    }
    EXPECT_STREQ(static_cast<const char *>(image), fakePtx);
    ++fake->modules;
    *module = reinterpret_cast<CUmodule>(fake);
    return fake->state();
  };
  driver.linkCreate = [](unsigned count, CUJitOption *options, void **values,
                         CUlinkState *state) {
    fake->linkOptions = 0;
    for (unsigned index = 0; index < count; ++index)
      fake->linkOptions |= uint64_t{1} << options[index];
    for (unsigned index = 0; index < count; ++index)
      if (options[index] == CU_JIT_ERROR_LOG_BUFFER)
        fake->linkErrors = static_cast<char *>(values[index]);
    ++fake->links;
    *state = reinterpret_cast<CUlinkState>(fake);
    return fake->state();
  };
  driver.linkAddData = [](CUlinkState, CUjitInputType type, void *data,
                          size_t bytes, const char *name, unsigned,
                          CUJitOption *, void **) {
    EXPECT_EQ(type, CU_JIT_INPUT_PTX);
    EXPECT_STREQ(name, "program");
    std::string text(static_cast<const char *>(data), bytes);
    EXPECT_EQ(text, std::string("text", 5));
    fake->cubin = std::string("cu\0bin", 6);
    if (fake->linkResult != CUDA_SUCCESS)
      std::strcpy(fake->linkErrors, "line 5; fatal\n");
    return fake->linkResult;
  };
  driver.linkComplete = [](CUlinkState, void **cubin, size_t *bytes) {
    *cubin = fake->cubin.data();
    *bytes = fake->cubin.size();
    return fake->state();
  };
  driver.linkDestroy = [](CUlinkState) {
    --fake->links;
    fake->cubin = "gone";
    return fake->state();
  };
  driver.moduleUnload = [](CUmodule) {
    ++fake->unloads;
    return fake->state();
  };
  driver.moduleGetFunction = [](CUfunction *function, CUmodule,
                                const char *name) {
    for (FakeKernel &kernel : fake->kernels)
      if (kernel.name == name) {
        *function = reinterpret_cast<CUfunction>(&kernel);
        return fake->state();
      }
    return CUDA_ERROR_NOT_FOUND + 0;
  };
  driver.funcGetAttribute = [](int *value, CUFunctionAttribute attribute,
                               CUfunction function) {
    *value = reinterpret_cast<FakeKernel *>(function)->attributes.at(attribute);
    return fake->state();
  };
  driver.funcSetAttribute = [](CUfunction function,
                               CUFunctionAttribute attribute, int value) {
    ++fake->raises;
    reinterpret_cast<FakeKernel *>(function)->attributes[attribute] = value;
    return fake->state();
  };
  driver.funcGetParamInfo = [](CUfunction function, size_t index,
                               size_t *offset, size_t *bytes) {
    auto &parameters = reinterpret_cast<FakeKernel *>(function)->parameters;
    if (index >= parameters.size()) {
      ++fake->failures;
      return CUDA_ERROR_INVALID_VALUE + 0;
    }
    *offset = 8 * index;
    *bytes = parameters[index];
    return CUDA_SUCCESS + 0;
  };
  driver.launchKernel = [](CUfunction function, unsigned gridX, unsigned gridY,
                           unsigned gridZ, unsigned blockX, unsigned blockY,
                           unsigned blockZ, unsigned sharedBytes,
                           CUstream stream, void **args, void **) {
    fake->note("launch", stream);
    auto *kernel = reinterpret_cast<FakeKernel *>(function);
    EXPECT_LE(
        static_cast<int>(sharedBytes),
        kernel->attributes.at(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
    EXPECT_EQ(args == nullptr, kernel->parameters.empty());
    ++fake->launches;
    unsigned grid[] = {gridX, gridY, gridZ};
    unsigned block[] = {blockX, blockY, blockZ};
    std::copy(grid, grid + 3, fake->lastGrid);
    std::copy(block, block + 3, fake->lastBlock);
    fake->lastShared = sharedBytes;
    return fake->launchResult ? fake->launchResult : fake->state();
  };
  driver.tensorMapEncodeTiled =
      [](void *map, CUtensorMapDataType type, unsigned rank, void *address,
         const unsigned long long *sizes, const unsigned long long *strides,
         const unsigned *box, const unsigned *elementStrides,
         CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
         CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(map) % tensorMapAlignment, 0u);
        EXPECT_EQ(type, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
        EXPECT_EQ(rank, 2u);
        EXPECT_EQ(elementStrides[1], 1u);
        EXPECT_EQ(swizzle, CU_TENSOR_MAP_SWIZZLE_64B);
        fake->lastAddress = reinterpret_cast<uintptr_t>(address);
        fake->lastSize = sizes[0];
        fake->lastStride = strides[0];
        fake->lastBox = box[1];
        std::memset(map, 7, tensorMapBytes);
        return fake->encodeResult;
      };
  driver.tensorMapEncodeIm2col =
      [](void *map, CUtensorMapDataType, unsigned rank, void *,
         const unsigned long long *sizes, const unsigned long long *,
         const int *lowerCorner, const int *upperCorner, unsigned channels,
         unsigned pixels, const unsigned *elementStrides, CUtensorMapInterleave,
         CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
        EXPECT_EQ(rank, 4u);
        EXPECT_EQ(sizes[1], 14u);
        EXPECT_EQ(lowerCorner[0], -1);
        EXPECT_EQ(upperCorner[1], -1);
        EXPECT_EQ(channels, 32u);
        EXPECT_EQ(elementStrides[2], 2u);
        fake->lastBox = pixels;
        std::memset(map, 9, tensorMapBytes);
        return fake->encodeResult;
      };
  driver.occupancy = [](int *blocks, CUfunction, int threads, size_t) {
    *blocks = 2048 / threads;
    return fake->state();
  };
  driver.streamCreate = [](CUstream *stream, unsigned flags) {
    EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
    *stream = reinterpret_cast<CUstream>(&fake->launches);
    return fake->state();
  };
  driver.streamDestroy = [](CUstream) { return fake->state(); };
  driver.streamSynchronize = [](CUstream) { return fakeWait(); };
  driver.streamGetCtx = [](CUstream stream, CUcontext *context) {
    bool isForeign =
        reinterpret_cast<int *>(stream) == &FakeDriver::fakeForeignStream;
    *context = isForeign ? reinterpret_cast<CUcontext>(stream)
                         : reinterpret_cast<CUcontext>(fake);
    return CUDA_SUCCESS + 0;
  };
  driver.streamWaitEvent = [](CUstream stream, CUevent, unsigned) {
    fake->note("wait", stream);
    return fake->state();
  };
  driver.eventCreate = [](CUevent *event, unsigned) {
    *event = reinterpret_cast<CUevent>(&fake->launches);
    return fake->state();
  };
  driver.eventDestroy = [](CUevent) { return fake->state(); };
  driver.eventRecord = [](CUevent, CUstream stream) {
    fake->note("note", stream);
    return fake->state();
  };
  driver.eventSynchronize = [](CUevent) { return fakeWait(); };
  driver.eventElapsedTime = [](float *milliseconds, CUevent, CUevent) {
    *milliseconds = 1.5f;
    return fake->state();
  };
  return driver;
}

class FakeCudaTest : public FakeDeviceTest {
protected:
  void SetUp() override {
    fake = &state;
    driver = makeFakeDriver();
  }
  void TearDown() override {
    device.reset();
    EXPECT_TRUE(state.memory.empty());
    EXPECT_EQ(state.retains, state.releases);
    EXPECT_EQ(state.modules, state.unloads);
    EXPECT_EQ(state.links, 0);
    fake = nullptr;
  }

  void open() {
    ASSERT_NO_FATAL_FAILURE(keep(openCudaDevice(driver, 0)));
    ASSERT_TRUE(load("kernels").ok());
  }
  Status load(const char *name) {
    return FakeDeviceTest::load(KernelImage::PTX, name, fakePtx);
  }

  FakeDriver state;
  CudaDriver driver;
};

TEST_F(FakeCudaTest, WorkGoesToTheCallersQueue) {
  open();
  void *queue = &FakeDriver::fakeCallersStream;
  ASSERT_TRUE(device->enterQueue(queue).ok());
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {32, 1, 1}}).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  // Nothing of the pool was in use: there is nothing to wait for.
  EXPECT_EQ(state.log, std::vector<std::string>{"launch caller"});

  state.log.clear();
  ASSERT_TRUE(device->enterQueue(nullptr).ok());
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {32, 1, 1}}).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {32, 1, 1}}).ok());
  EXPECT_EQ(state.log,
            (std::vector<std::string>{"launch default", "launch own"}));

  // Work of the own queue comes first, until it was waited for.
  state.log.clear();
  ASSERT_TRUE(device->enterQueue(queue).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  EXPECT_EQ(state.log, (std::vector<std::string>{"note own", "wait caller"}));
  state.log.clear();
  ASSERT_TRUE(device->synchronize().ok());
  ASSERT_TRUE(device->enterQueue(queue).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  EXPECT_TRUE(state.log.empty());
}

TEST_F(FakeCudaTest, MemoryOfThePoolIsHandedOutInOrder) {
  open();
  ASSERT_TRUE(device->synchronize().ok());
  ASSERT_TRUE(device->enterQueue(&FakeDriver::fakeCallersStream).ok());
  void *memory = nullptr;
  ASSERT_TRUE(device->allocate(100, &memory).ok());
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {32, 1, 1}}).ok());
  ASSERT_TRUE(device->free(memory).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  EXPECT_EQ(state.log, (std::vector<std::string>{"launch caller", "note caller",
                                                 "wait own"}));
  // Another queue gets it after that.
  state.log.clear();
  ASSERT_TRUE(device->enterQueue(nullptr).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  EXPECT_EQ(state.log, (std::vector<std::string>{"note own", "wait default"}));
}

TEST_F(FakeCudaTest, MemoryIsFreedInTheOrderOfAQueue) {
  open();
  void *memory = nullptr;
  ASSERT_TRUE(device->allocate(100, &memory).ok());
  ASSERT_TRUE(device->synchronize().ok());
  void *queue = &FakeDriver::fakeCallersStream;
  ASSERT_TRUE(device->freeInQueue(memory, queue).ok());
  EXPECT_EQ(state.log, (std::vector<std::string>{"note caller", "wait own"}));
  EXPECT_FALSE(device->freeInQueue(memory, queue).ok());
}

TEST_F(FakeCudaTest, AQueueOfAnotherContextIsRejected) {
  open();
  Status status = device->enterQueue(&FakeDriver::fakeForeignStream);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("primary context"), std::string::npos);
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {32, 1, 1}}).ok());
  EXPECT_EQ(state.log, std::vector<std::string>{"launch own"});
}

TEST_F(FakeCudaTest, TheCallersContextIsPutBack) {
  open();
  auto *callers = reinterpret_cast<CUcontext>(&FakeDriver::fakeCallersStream);
  state.current = callers;
  void *kept = device->saveCaller();
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {32, 1, 1}}).ok());
  EXPECT_EQ(state.current, reinterpret_cast<CUcontext>(&state));
  device->restoreCaller(kept);
  EXPECT_EQ(state.current, callers);
  device.reset();
  EXPECT_EQ(state.current, callers);
}

TEST_F(FakeCudaTest, KernelsAreThoseOfTheirImage) {
  open();
  ASSERT_TRUE(load("others").ok());
  LaunchRequest request;
  request.kernel = "small";
  int64_t pointer = 0;
  int32_t number = 0;
  void *args[] = {&pointer, &number};
  request.args = args;
  request.numArgs = 2;
  request.image = "kernels";
  EXPECT_TRUE(device->launch(request).ok());
  request.image = "none";
  EXPECT_EQ(device->launch(request).code(), StatusCode::InvalidArgument);
}

TEST_F(FakeCudaTest, CopiesOnTheDevice) {
  open();
  void *from = nullptr, *to = nullptr;
  ASSERT_TRUE(device->allocate(4, &from).ok());
  ASSERT_TRUE(device->allocate(4, &to).ok());
  std::memcpy(from, "abc", 4);
  ASSERT_TRUE(device->copyOnDevice(to, from, 4).ok());
  EXPECT_STREQ(static_cast<char *>(to), "abc");
  EXPECT_EQ(state.log, std::vector<std::string>{"copy own"});
}

TEST_F(FakeCudaTest, Lists) {
  state.deviceCount = 2;
  std::vector<DeviceInfo> devices;
  EXPECT_EQ(listCudaDevices(driver, devices), "");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].target, "cuda");
  EXPECT_EQ(devices[1].chip, "sm_90a");
  EXPECT_EQ(devices[1].name, "Fake GPU");
  EXPECT_EQ(devices[1].driver.find("CUDA 12.4"), 0u);
  EXPECT_EQ(devices[1].ordinal, 1);
  EXPECT_EQ(devices[1].subgroupSize, 32);
  EXPECT_EQ(devices[1].memoryBytes, size_t(256) << 20);
  EXPECT_EQ(devices[1].workgroupMemoryBytes, 232448u);
  EXPECT_EQ(devices[1].l2Bytes, size_t(50) << 20);
  EXPECT_EQ(devices[1].computeUnits, 132);
  EXPECT_EQ(devices[1].clockMHz, 1980);
  // Nothing was opened for that.
  EXPECT_EQ(state.retains, 0);

  const std::pair<std::pair<int, int>, const char *> chips[] = {
      {{7, 0}, "sm_70"},
      {{8, 6}, "sm_86"},
      {{8, 9}, "sm_89"},
      {{10, 0}, "sm_100a"},
      {{12, 0}, "sm_120a"}};
  for (const auto &[version, chip] : chips) {
    state.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] =
        version.first;
    state.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] =
        version.second;
    devices.clear();
    listCudaDevices(driver, devices);
    EXPECT_EQ(devices[0].chip, chip);
  }
}

TEST_F(FakeCudaTest, ListsReasons) {
  std::vector<DeviceInfo> devices;
  state.deviceCount = 0;
  EXPECT_EQ(listCudaDevices(driver, devices), "the driver reports no device");
  EXPECT_EQ(openCudaDevice(driver, 0).status().code(), StatusCode::NoDevice);
  state.deviceCount = 1;
  state.attributes.clear();
  EXPECT_EQ(listCudaDevices(driver, devices),
            "device 0: cuDeviceGetAttribute: CUDA_ERROR_SOME: some error");
  EXPECT_TRUE(devices.empty());
  driver.deviceGetCount = [](int *) { return CUDA_ERROR_NO_DEVICE + 0; };
  EXPECT_TRUE(contains(listCudaDevices(driver, devices), "cuDeviceGetCount"));
}

TEST_F(FakeCudaTest, AFailedOpeningCleansUp) {
  driver.streamCreate = [](CUstream *, unsigned) {
    return CUDA_ERROR_OUT_OF_MEMORY + 0;
  };
  Expected<std::unique_ptr<Device>> opened = openCudaDevice(driver, 0);
  EXPECT_EQ(opened.status().code(), StatusCode::OutOfMemory);
  EXPECT_TRUE(contains(opened.status().message(),
                       "cuda device 0 (Fake GPU) cannot be opened: "
                       "cuStreamCreate"));
}

TEST_F(FakeCudaTest, Memory) {
  open();
  testMemory(state.allocations);

  // The cache gives way to a large request.
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(200 << 20, &ptr).ok());
  ASSERT_TRUE(device->free(ptr).ok());
  ASSERT_TRUE(device->allocate(254 << 20, &ptr).ok());
  ASSERT_TRUE(device->free(ptr).ok());
  Status status = device->allocate(1 << 30, &ptr);
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  EXPECT_EQ(status.message(),
            "out of memory on Fake GPU: 1073741824 bytes requested, 268435200 "
            "of 268435456 free");
  ASSERT_TRUE(device->flushCaches().ok());
  EXPECT_EQ(state.memory.rbegin()->second + state.memory.begin()->second,
            (size_t(100) << 20) + 256);
}

TEST_F(FakeCudaTest, RejectedImages) {
  open();
  state.loadResult = CUDA_ERROR_INVALID_PTX;
  Status status = load("gemm");
  EXPECT_EQ(status.code(), StatusCode::Rejected);
  EXPECT_EQ(status.message(),
            "the driver rejected image 'gemm' on sm_90a: cuModuleLoadDataEx: "
            "CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed\n"
            "ptxas application ptx input, line 5; fatal   : Parsing error near "
            "'nonsense'\ninfo");
  state.loadResult = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_EQ(load("gemm").code(), StatusCode::OutOfMemory);
  KernelImage image;
  image.name = "host";
  EXPECT_EQ(device->loadImage(image).code(), StatusCode::InvalidArgument);
  image.kind = KernelImage::Cubin;
  EXPECT_TRUE(contains(device->loadImage(image).message(), "is empty"));
}

TEST_F(FakeCudaTest, Assembles) {
  open();
  KernelImage image;
  image.kind = KernelImage::PTX;
  image.name = "program";
  image.bytes = "text";
  Expected<KernelImage> assembled = device->assemble(image);
  ASSERT_TRUE(assembled.ok()) << assembled.status().message();
  EXPECT_EQ(assembled->kind, KernelImage::Cubin);
  EXPECT_EQ(assembled->name, "program");
  EXPECT_EQ(assembled->bytes, std::string("cu\0bin", 6));

  state.linkResult = CUDA_ERROR_INVALID_PTX;
  Status status = device->assemble(image).status();
  EXPECT_EQ(status.code(), StatusCode::Rejected);
  EXPECT_EQ(status.message(),
            "the driver rejected image 'program' on sm_90a: cuLinkAddData: "
            "CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed\n"
            "line 5; fatal");
  // Only PTX, and only where the driver can.
  EXPECT_EQ(device->assemble(*assembled).status().code(),
            StatusCode::InvalidArgument);
  driver.linkComplete = nullptr;
  EXPECT_EQ(device->assemble(image).status().code(),
            StatusCode::InvalidArgument);
}

TEST_F(FakeCudaTest, CompilesInSeveralThreads) {
  open();
  KernelImage image;
  image.kind = KernelImage::PTX;
  image.name = "program";
  image.bytes = "text";
  constexpr uint64_t split = uint64_t{1} << CU_JIT_SPLIT_COMPILE;
  ASSERT_TRUE(device->assemble(image).ok());
  EXPECT_EQ(state.linkOptions & split, 0u) << "CUDA 12.4 rejects the option";
  state.version = 13000;
  ASSERT_TRUE(device->assemble(image).ok());
  EXPECT_NE(state.linkOptions & split, 0u);
}

TEST_F(FakeCudaTest, ImagesReplaceEachOther) {
  open();
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {1, 1, 1}}).ok());
  ASSERT_TRUE(load("kernels").ok());
  EXPECT_EQ(state.modules, 2);
  EXPECT_EQ(state.unloads, 1);
  ASSERT_TRUE(load("more").ok());
  EXPECT_EQ(state.unloads, 1);
  EXPECT_TRUE(device->unloadImage("kernels").ok());
  EXPECT_TRUE(device->unloadImage("more").ok());
  EXPECT_EQ(device->unloadImage("more").code(), StatusCode::InvalidArgument);
  Status status = launchSmall({{1, 1, 1}, {1, 1, 1}});
  EXPECT_EQ(status.message(),
            "kernel 'small' is not loaded; nothing is loaded");
}

TEST_F(FakeCudaTest, Launches) {
  open();
  ASSERT_TRUE(launchSmall({{5, 4, 3}, {32, 2, 1}, 1000}).ok());
  EXPECT_EQ(state.lastGrid[0], 5u);
  EXPECT_EQ(state.lastGrid[2], 3u);
  EXPECT_EQ(state.lastBlock[0], 32u);
  EXPECT_EQ(state.lastBlock[1], 2u);
  EXPECT_EQ(state.lastShared, 1000u);
  EXPECT_EQ(state.raises, 0);
  ASSERT_TRUE(launchSmall({{5, 0, 3}, {32, 2, 1}}).ok());
  EXPECT_EQ(state.launches, 1);
  EXPECT_EQ(launch("other", {{1, 1, 1}, {1, 1, 1}}).message(),
            "kernel 'other' is not loaded; loaded images: kernels");
}

TEST_F(FakeCudaTest, TensorMaps) {
  open();
  alignas(tensorMapAlignment) char map[tensorMapBytes] = {};
  const int64_t sizes[] = {100, 60}, strides[] = {64, 1}, box[] = {128, 32};
  TensorMapRequest request;
  request.pointer = map;
  request.offset = 64;
  request.element = TensorMapElement::BF16;
  request.rank = 2;
  request.sizes = sizes;
  request.strides = strides;
  request.box = box;
  request.swizzle = 64;
  ASSERT_TRUE(device->encodeTensorMap(request, map).ok());
  EXPECT_EQ(map[127], 7);
  EXPECT_EQ(state.lastAddress, reinterpret_cast<uintptr_t>(map) + 128);
  EXPECT_EQ(state.lastSize, 60u);
  EXPECT_EQ(state.lastStride, 128u);
  EXPECT_EQ(state.lastBox, 128u);

  request.offset = 1;
  EXPECT_TRUE(contains(device->encodeTensorMap(request, map).message(),
                       "not aligned to 16 bytes"));
  request.offset = 0;
  state.encodeResult = CUDA_ERROR_INVALID_VALUE;
  EXPECT_TRUE(contains(device->encodeTensorMap(request, map).message(),
                       "cuTensorMapEncodeTiled: CUDA_ERROR_SOME"));
}

TEST_F(FakeCudaTest, TensorMapsOfWindows) {
  open();
  alignas(tensorMapAlignment) char map[tensorMapBytes] = {};
  const int64_t sizes[] = {2, 16, 14, 64}, strides[] = {14336, 896, 64, 1},
                box[] = {1, 1, 128, 32}, lower[] = {-1, -1},
                extent[] = {16, 14}, stride[] = {2, 1};
  TensorMapRequest request;
  request.pointer = map;
  request.element = TensorMapElement::F16;
  request.rank = 4;
  request.sizes = sizes;
  request.strides = strides;
  request.box = box;
  request.swizzle = 64;
  request.windowLower = lower;
  request.windowExtent = extent;
  request.windowStride = stride;
  Status status = device->encodeTensorMap(request, map);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(map[127], 9);
  EXPECT_EQ(state.lastBox, 128u);
  state.encodeResult = CUDA_ERROR_INVALID_VALUE;
  EXPECT_TRUE(contains(device->encodeTensorMap(request, map).message(),
                       "cuTensorMapEncodeIm2col: CUDA_ERROR_SOME"));
}

TEST_F(FakeCudaTest, OldDriversHaveNoTensorMaps) {
  driver.tensorMapEncodeTiled = nullptr;
  open();
  alignas(tensorMapAlignment) char map[tensorMapBytes];
  EXPECT_TRUE(
      contains(device->encodeTensorMap(TensorMapRequest(), map).message(),
               "the driver is too old"));
}

TEST_F(FakeCudaTest, LargeWorkgroupMemoryIsOptedInToOnce) {
  open();
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE(launchSmall({{1, 1, 1}, {32, 1, 1}, 232448}).ok());
  EXPECT_EQ(state.raises, 1);
  ASSERT_TRUE(launch("big", {{1, 1, 1}, {32, 1, 1}, 48129}).ok());
  EXPECT_EQ(state.raises, 2);
}

TEST_F(FakeCudaTest, LimitsAreNamed) {
  open();
  auto message = [&](const char *kernel, Shape shape) {
    Status status = launch(kernel, shape);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    return status.message();
  };
  EXPECT_TRUE(contains(message("big", {{1, 65536, 1}, {1, 1, 1}}),
                       "a grid of 1x65536x1 workgroups, but Fake GPU supports "
                       "at most 65535 in y"));
  EXPECT_TRUE(
      contains(message("big", {{1, 1, 1}, {1, 1, 65}}),
               "a block of 1x1x65 threads, but Fake GPU supports at most 64 "
               "in z"));
  EXPECT_TRUE(contains(message("big", {{1, 1, 1}, {1024, 2, 1}}),
                       "at most 1024 per workgroup"));
  EXPECT_TRUE(contains(
      message("big", {{1, 1, 1}, {512, 1, 1}}),
      "this kernel allows at most 256: it uses 255 registers per thread"));
  EXPECT_TRUE(contains(message("big", {{1, 1, 1}, {32, 1, 1}, 232449}),
                       "232449 bytes of workgroup memory, but Fake GPU "
                       "supports at most 232448"));
  EXPECT_TRUE(
      contains(message("big", {{1, 1, 1}, {32, 1, 1}, 232448}),
               "232448 bytes of dynamic workgroup memory besides the kernel's "
               "own 1024, but"));
  EXPECT_EQ(state.launches, 0);
}

TEST_F(FakeCudaTest, ArgumentsAreChecked) {
  open();
  int64_t pointer = 0;
  int32_t number = 0;
  void *args[] = {&pointer, &number, &number};
  const int64_t sizes[] = {8, 8, 8};
  Shape shape = {{1, 1, 1}, {1, 1, 1}};
  EXPECT_EQ(launch("small", shape, 3, args, sizes).message(),
            "launch of 'small': 3 arguments, but the kernel takes 2");
  EXPECT_EQ(launch("small", shape, 2, args, sizes).message(),
            "launch of 'small': argument 1 has 8 bytes, but the kernel expects "
            "4");
  EXPECT_TRUE(launch("small", shape, 2, args, nullptr).ok());
  EXPECT_TRUE(launch("big", shape, 0, nullptr, nullptr).ok());
  // Tools for finding errors report each failed call.
  EXPECT_EQ(state.failures, 0);
  // A driver without this query.
  driver.funcGetParamInfo = nullptr;
  ASSERT_TRUE(load("kernels").ok());
  EXPECT_TRUE(launch("small", shape, 3, args, sizes).ok());
}

TEST_F(FakeCudaTest, ARejectedLaunch) {
  open();
  state.launchResult = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  Status status = launchSmall({{2, 1, 1}, {64, 1, 1}, 16});
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_EQ(status.message(),
            "cuLaunchKernel: CUDA_ERROR_SOME: some error (kernel 'small', grid "
            "2x1x1, block 64x1x1, 16 bytes of workgroup memory, 24 registers "
            "per thread)");
  // This is not a fault: the device remains usable.
  state.launchResult = CUDA_SUCCESS;
  EXPECT_TRUE(launchSmall({{2, 1, 1}, {64, 1, 1}, 16}).ok());
  EXPECT_TRUE(device->synchronize().ok());
}

TEST_F(FakeCudaTest, AFaultNamesTheKernelsAndStays) {
  open();
  ASSERT_TRUE(launch("big", {{1, 1, 1}, {1, 1, 1}}).ok());
  ASSERT_TRUE(device->synchronize().ok());
  ASSERT_TRUE(launchSmall({{1, 1, 1}, {1, 1, 1}}).ok());
  ASSERT_TRUE(launch("big", {{1, 1, 1}, {1, 1, 1}}).ok());
  ASSERT_TRUE(launchSmall({{1, 1, 1}, {1, 1, 1}}).ok());
  state.fault = CUDA_ERROR_ILLEGAL_ADDRESS;
  Status status = device->synchronize();
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_EQ(status.message(),
            "a kernel failed: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS: "
            "some error; launched since the last wait: small (2 times), big");
  void *ptr = nullptr;
  EXPECT_EQ(device->allocate(8, &ptr).message(), status.message());
  EXPECT_EQ(launchSmall({{1, 1, 1}, {1, 1, 1}}).message(), status.message());
  EXPECT_EQ(device->fill(ptr, 0, 8).message(), status.message());
  // Opened again it works.
  device.reset();
  EXPECT_EQ(state.resets, 1);
  open();
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {1, 1, 1}}).ok());
  EXPECT_TRUE(device->synchronize().ok());
}

TEST_F(FakeCudaTest, AFaultSurfacesInOtherWaitsToo) {
  open();
  ASSERT_TRUE(device->timeBegin().ok());
  ASSERT_TRUE(launchSmall({{1, 1, 1}, {1, 1, 1}}).ok());
  state.fault = CUDA_ERROR_ILLEGAL_ADDRESS;
  double milliseconds = 0;
  Status status = device->timeEnd(&milliseconds);
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_TRUE(contains(status.message(), "last wait: small"));
}

TEST_F(FakeCudaTest, Time) {
  open();
  double milliseconds = 0;
  EXPECT_EQ(device->timeEnd(&milliseconds).code(), StatusCode::InvalidArgument);
  ASSERT_TRUE(device->timeBegin().ok());
  ASSERT_TRUE(device->timeEnd(&milliseconds).ok());
  EXPECT_EQ(milliseconds, 1.5);
}

TEST_F(FakeCudaTest, Resources) {
  open();
  Expected<KernelResources> resources = device->resources("big", 128, 100000);
  ASSERT_TRUE(resources.ok()) << resources.status().message();
  EXPECT_EQ(resources->registers, 255);
  EXPECT_EQ(resources->spillBytes, 64);
  EXPECT_EQ(resources->staticWorkgroupBytes, 1024);
  EXPECT_EQ(resources->maxThreads, 256);
  EXPECT_EQ(resources->workgroupsPerUnit, 16);
  EXPECT_EQ(state.raises, 1);
  EXPECT_EQ(device->resources("big")->workgroupsPerUnit, -1);
  EXPECT_EQ(device->resources("big", 128, 1 << 20)->workgroupsPerUnit, 0);
  EXPECT_EQ(device->resources("none").status().code(),
            StatusCode::InvalidArgument);
}

//===----------------------------------------------------------------------===//
// A real device
//===----------------------------------------------------------------------===//

/// affine: out[i] = in[i] * factor + i, for i below count.
/// reverse: out[i] = in[last - i] within each workgroup, by way of dynamic
///   workgroup memory of 4 bytes a thread.
/// fault: writes through a null pointer.
const char ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64

.extern .shared .align 16 .b8 dynamic_memory[];

.visible .entry affine(.param .u64 out, .param .u64 in, .param .f32 factor,
                       .param .u32 count)
{
  .reg .pred %p;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  ld.param.u32 %r4, [count];
  setp.ge.u32 %p, %r3, %r4;
  @%p bra DONE;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  ld.param.f32 %f0, [factor];
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd0, %rd2;
  add.s64 %rd4, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  cvt.rn.f32.u32 %f2, %r3;
  fma.rn.f32 %f3, %f1, %f0, %f2;
  st.global.f32 [%rd4], %f3;
DONE:
  ret;
}

.visible .entry reverse(.param .u64 out, .param .u64 in)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<6>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd0, %rd2;
  add.s64 %rd4, %rd1, %rd2;
  ld.global.u32 %r4, [%rd3];
  mov.u32 %r5, dynamic_memory;
  mad.lo.s32 %r6, %r2, 4, %r5;
  st.shared.u32 [%r6], %r4;
  bar.sync 0;
  sub.s32 %r7, %r1, %r2;
  sub.s32 %r7, %r7, 1;
  mad.lo.s32 %r6, %r7, 4, %r5;
  ld.shared.u32 %r8, [%r6];
  st.global.u32 [%rd4], %r8;
  ret;
}

.visible .entry fault()
{
  .reg .b64 %rd<1>;
  mov.u64 %rd0, 0;
  st.global.u64 [%rd0], %rd0;
  ret;
}
)";

class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    Expected<std::unique_ptr<Device>> opened = openDevice("cuda");
    if (opened.status().code() == StatusCode::NoDevice)
      GTEST_SKIP() << opened.status().message();
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
    ASSERT_TRUE(load("kernels", ptx).ok());
  }
  Status load(const char *name, const char *text) {
    KernelImage image;
    image.kind = KernelImage::PTX;
    image.name = name;
    image.bytes = text;
    return device->loadImage(image);
  }
  template <typename... Args>
  Status launch(const char *kernel, int64_t grid, int64_t block,
                int64_t workgroupBytes, Args... values) {
    void *args[] = {static_cast<void *>(&values)..., nullptr};
    int64_t sizes[] = {sizeof(Args)..., 0};
    LaunchRequest request;
    request.kernel = kernel;
    request.grid[0] = grid;
    request.block[0] = block;
    request.workgroupBytes = workgroupBytes;
    request.numArgs = sizeof...(values);
    request.args = args;
    request.argSizes = sizes;
    return device->launch(request);
  }
  void *allocate(size_t bytes) {
    void *ptr = nullptr;
    Status status = device->allocate(bytes, &ptr);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(ptr) % 256, 0u);
    return ptr;
  }

  std::unique_ptr<Device> device;
};

TEST_F(CudaDeviceTest, Info) {
  const DeviceInfo &info = device->info();
  EXPECT_EQ(info.chip.find("sm_"), 0u);
  EXPECT_EQ(info.driver.find("CUDA "), 0u);
  EXPECT_EQ(info.subgroupSize, 32);
  EXPECT_GT(info.freeBytes, 0u);
  EXPECT_LE(info.freeBytes, info.memoryBytes);
  EXPECT_GE(info.workgroupMemoryBytes, size_t(48) << 10);
  EXPECT_GT(info.l2Bytes, 0u);
  EXPECT_GT(info.computeUnits, 0);
  EXPECT_GT(info.clockMHz, 0);
  RecordProperty("device", info.name + " " + info.chip + " " + info.driver);
}

TEST_F(CudaDeviceTest, RunsKernels) {
  constexpr uint32_t count = 100000;
  std::vector<float> in(count), out(count);
  for (uint32_t index = 0; index < count; ++index)
    in[index] = static_cast<float>(index % 17);
  void *deviceIn = allocate(count * 4), *deviceOut = allocate(count * 4);
  ASSERT_TRUE(device->copyToDevice(deviceIn, in.data(), count * 4).ok());
  ASSERT_TRUE(device->fill(deviceOut, 0xFF, count * 4).ok());
  ASSERT_TRUE(device->flushCaches().ok());
  ASSERT_TRUE(device->timeBegin().ok());
  Status status =
      launch("affine", 400, 256, 0, deviceOut, deviceIn, 3.0f, count);
  ASSERT_TRUE(status.ok()) << status.message();
  double milliseconds = -1;
  ASSERT_TRUE(device->timeEnd(&milliseconds).ok());
  EXPECT_GT(milliseconds, 0);
  ASSERT_TRUE(device->copyToHost(out.data(), deviceOut, count * 4).ok());
  for (uint32_t index = 0; index < count; ++index)
    ASSERT_EQ(out[index], in[index] * 3 + static_cast<float>(index));
}

TEST_F(CudaDeviceTest, RunsAssembledKernels) {
  KernelImage image;
  image.kind = KernelImage::PTX;
  image.name = "kernels";
  image.bytes = ptx;
  Expected<KernelImage> assembled = device->assemble(image);
  ASSERT_TRUE(assembled.ok()) << assembled.status().message();
  EXPECT_EQ(assembled->kind, KernelImage::Cubin);
  Expected<KernelResources> before = device->resources("reverse");
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(device->loadImage(*assembled).ok());
  Expected<KernelResources> after = device->resources("reverse");
  ASSERT_TRUE(after.ok());
  // The linker may allot registers otherwise than the loader does, by a few.
  EXPECT_GT(after->registers, 0);
  EXPECT_LE(after->registers, before->registers + 8);
  EXPECT_EQ(after->staticWorkgroupBytes, before->staticWorkgroupBytes);
  constexpr uint32_t count = 1000;
  std::vector<float> in(count), out(count);
  for (uint32_t index = 0; index < count; ++index)
    in[index] = static_cast<float>(index % 17);
  void *deviceIn = allocate(count * 4), *deviceOut = allocate(count * 4);
  ASSERT_TRUE(device->copyToDevice(deviceIn, in.data(), count * 4).ok());
  Status status = launch("affine", 4, 256, 0, deviceOut, deviceIn, 3.0f, count);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(device->copyToHost(out.data(), deviceOut, count * 4).ok());
  for (uint32_t index = 0; index < count; ++index)
    ASSERT_EQ(out[index], in[index] * 3 + static_cast<float>(index));
  image.bytes = "nonsense";
  EXPECT_EQ(device->assemble(image).status().code(), StatusCode::Rejected);
}

TEST_F(CudaDeviceTest, TakesLargeWorkgroupMemory) {
  constexpr size_t threads = 1024, groups = 3;
  std::vector<uint32_t> in(threads * groups), out(in.size());
  for (size_t index = 0; index < in.size(); ++index)
    in[index] = static_cast<uint32_t>(index * 2654435761u);
  size_t bytes = in.size() * 4;
  void *deviceIn = allocate(bytes), *deviceOut = allocate(bytes);
  ASSERT_TRUE(device->copyToDevice(deviceIn, in.data(), bytes).ok());
  auto all = static_cast<int64_t>(device->info().workgroupMemoryBytes);
  for (int64_t workgroupBytes : {int64_t(4096), all}) {
    ASSERT_TRUE(device->fill(deviceOut, 0, bytes).ok());
    Status status =
        launch("reverse", groups, threads, workgroupBytes, deviceOut, deviceIn);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(device->copyToHost(out.data(), deviceOut, bytes).ok());
    for (size_t group = 0; group < groups; ++group)
      for (size_t thread = 0; thread < threads; ++thread)
        ASSERT_EQ(out[group * threads + thread],
                  in[group * threads + threads - 1 - thread]);
  }
  EXPECT_EQ(launch("reverse", 1, 32, all + 1, deviceOut, deviceIn).code(),
            StatusCode::InvalidArgument);
}

TEST_F(CudaDeviceTest, Resources) {
  Expected<KernelResources> resources =
      device->resources("reverse", 1024, 100000);
  ASSERT_TRUE(resources.ok()) << resources.status().message();
  EXPECT_GT(resources->registers, 0);
  EXPECT_EQ(resources->spillBytes, 0);
  EXPECT_GE(resources->maxThreads, 1024);
  EXPECT_GE(resources->workgroupsPerUnit,
            device->info().workgroupMemoryBytes > 100000 ? 1 : 0);
}

TEST_F(CudaDeviceTest, RejectsBadPtx) {
  std::string text = ptx;
  text.replace(text.find("fma.rn.f32"), 10, "nonsense  ");
  Status status = load("broken", text.c_str());
  EXPECT_EQ(status.code(), StatusCode::Rejected);
  EXPECT_TRUE(contains(status.message(), "CUDA_ERROR_INVALID_PTX"));
  EXPECT_TRUE(contains(status.message(), "nonsense"));
  // For a chip that does not exist.
  text = ptx;
  text.replace(text.find("sm_70"), 5, "sm_99");
  status = load("broken", text.c_str());
  EXPECT_EQ(status.code(), StatusCode::Rejected) << status.message();
}

TEST_F(CudaDeviceTest, ChecksLaunches) {
  void *ptr = allocate(16);
  EXPECT_TRUE(contains(launch("absent", 1, 1, 0).message(),
                       "kernel 'absent' is not loaded; loaded"));
  EXPECT_EQ(launch("affine", 1, 2048, 0, ptr, ptr, 1.0f, 1u).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(launch("affine", int64_t(1) << 40, 1, 0, ptr, ptr, 1.0f, 1u).code(),
            StatusCode::InvalidArgument);
  EXPECT_TRUE(launch("affine", 0, 32, 0, ptr, ptr, 1.0f, 1u).ok());
  EXPECT_TRUE(device->synchronize().ok());
}

TEST_F(CudaDeviceTest, OutOfMemory) {
  void *ptr = nullptr;
  size_t bytes = device->info().memoryBytes * 2;
  Status status = device->allocate(bytes, &ptr);
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  EXPECT_TRUE(contains(status.message(), std::to_string(bytes)));
  EXPECT_TRUE(device->allocate(0, &ptr).ok());
  EXPECT_NE(ptr, nullptr);
}

TEST_F(CudaDeviceTest, AFaultIsReportedWithItsKernel) {
  ASSERT_TRUE(launch("fault", 1, 1, 0).ok());
  Status status = device->synchronize();
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_TRUE(contains(status.message(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_TRUE(contains(status.message(), "last wait: fault"));
  EXPECT_EQ(launch("fault", 1, 1, 0).message(), status.message());
  // The next test opens the device again and finds it working.
}

TEST_F(CudaDeviceTest, WorksAgainAfterAFault) {
  ASSERT_TRUE(launch("fault", 1, 1, 0).ok());
  ASSERT_FALSE(device->synchronize().ok());
  device.reset();
  Expected<std::unique_ptr<Device>> opened = openDevice("cuda");
  if (!opened.ok())
    GTEST_SKIP() << "this driver needs a new process after a fault: "
                 << opened.status().message();
  device = opened.take();
  ASSERT_TRUE(load("kernels", ptx).ok());
  void *ptr = allocate(16);
  EXPECT_TRUE(launch("affine", 1, 4, 0, ptr, ptr, 1.0f, 4u).ok());
  EXPECT_TRUE(device->synchronize().ok());
}

} // namespace
