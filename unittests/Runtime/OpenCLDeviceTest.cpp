//===- OpenCLDeviceTest.cpp - Any vendor's device by OpenCL ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device over functions that play OpenCL's (FakeOpenCL.h): it needs neither
// a driver nor a GPU.
//
//===----------------------------------------------------------------------===//

#include "OpenCL/OpenCLDevice.h"
#include "AddKernel.h"
#include "FakeOpenCL.h"
#include "TestUtils.h"

#include <cstring>

using namespace tessera::runtime;

namespace {

/// With memory of each kind: unified shared, and shared virtual.
class OpenCLDeviceTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    driver = makeFakeOpenCL();
    if (!GetParam()) {
      std::string &extensions = fake().extensions;
      extensions.erase(extensions.find(" cl_intel_unified_shared_memory"));
      fake().svm = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    }
  }
  void TearDown() override {
    device.reset();
    for (const auto &[handle, kind] : fake().handles)
      ADD_FAILURE() << kind << " left over";
    EXPECT_TRUE(fake().memory.empty());
    if (mayMisuse)
      return;
    for (const std::string &line : fake().violations)
      ADD_FAILURE() << line;
  }

  static FakeOpenCL &fake() { return getFakeOpenCL(); }
  static bool isUsm() { return GetParam(); }
  static std::string name(const char *usm, const char *svm) {
    return isUsm() ? usm : svm;
  }
  std::vector<DeviceInfo> list(const std::string &reason = "") {
    std::vector<DeviceInfo> devices;
    EXPECT_EQ(listOpenCLDevices(driver, devices), reason);
    return devices;
  }
  Status tryOpen(int ordinal = 0) {
    Expected<std::unique_ptr<Device>> opened =
        openOpenCLDevice(driver, ordinal);
    if (!opened.ok())
      return opened.status();
    device = opened.take();
    return Status::success();
  }
  Status load(uint32_t capability = 0) {
    KernelImage image;
    image.kind = KernelImage::SPIRV;
    image.name = "kernels";
    image.bytes = makeAddModule(/*alignment=*/0, capability);
    return device->loadImage(image);
  }
  void open() {
    Status status = tryOpen();
    ASSERT_TRUE(status.ok()) << status.message();
    status = load();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  Status launch(void *pointer, int64_t number = 1, int32_t factor = 1,
                LaunchShape shape = {{1, 1, 1}, {16, 1, 1}}) {
    return launchWith(*device, "add", shape, pointer, number, factor);
  }

  OpenCLDriver driver;
  std::unique_ptr<Device> device;
  bool mayMisuse = false;
};

INSTANTIATE_TEST_SUITE_P(Memory, OpenCLDeviceTest, testing::Bool(),
                         [](const auto &info) {
                           return std::string(info.param ? "Usm" : "Svm");
                         });

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

TEST_P(OpenCLDeviceTest, Lists) {
  fake().numDevices = 2;
  std::vector<DeviceInfo> devices = list();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].ordinal, 1);
  const DeviceInfo &info = devices[0];
  EXPECT_EQ(info.target, "opencl");
  EXPECT_EQ(info.chip, "s16-w65536-t512-f16-f64-a32");
  EXPECT_EQ(info.name, "Fake");
  EXPECT_EQ(info.driver, "Fakes 7, OpenCL 3.0");
  EXPECT_EQ(info.subgroupSize, 16);
  EXPECT_EQ(info.memoryBytes, fake().memoryBytes);
  EXPECT_EQ(info.workgroupMemoryBytes, 65536u);
  EXPECT_EQ(info.computeUnits, 12);
  EXPECT_EQ(info.clockMHz, 1500);
  EXPECT_FALSE(info.isSoftware);
  // Nothing was opened for that.
  EXPECT_EQ(fake().count("clCreateContext"), 0u);
}

TEST_P(OpenCLDeviceTest, RejectsCapabilitiesThatTheDeviceLacks) {
  // s16-w65536-t512-f16-f64-a32: Float64 and AtomicFloat64AddEXT.
  constexpr uint32_t float64 = 10, atomicFloat64 = 6034;
  open();
  EXPECT_TRUE(load(float64).ok());
  Status status = load(atomicFloat64);
  EXPECT_EQ(status.code(), StatusCode::Rejected);
  EXPECT_EQ(status.message(),
            "image 'kernels' cannot be loaded: Fake "
            "(s16-w65536-t512-f16-f64-a32) does not run SPIR-V with the "
            "capability AtomicFloat64AddEXT: the device lacks atomic addition "
            "of f64");
}

TEST_P(OpenCLDeviceTest, ReportsOptionalFeatures) {
  auto chip = [&] { return list()[0].chip; };
  fake().subgroupSizes = {32, 64};
  EXPECT_EQ(chip(), "s32-w65536-t512-f16-f64-a32");
  // A size that no table has.
  fake().subgroupSizes = {4};
  EXPECT_EQ(chip(), "s1-w65536-t512-f16-f64-a32");
  fake().subgroupSizes = {16};
  // Lanes exchange values from SPIR-V 1.3 on.
  fake().intermediate = "SPIR-V_1.2";
  EXPECT_EQ(chip(), "s1-w65536-t512-f16-f64-a32");
  fake().intermediate = "SPIR-V_1.3";
  EXPECT_EQ(chip(), "s16-w65536-t512-f16-f64-a32");
  fake().maxSubgroups = 0;
  EXPECT_EQ(chip(), "s1-w65536-t512-f16-f64-a32");
  fake().maxSubgroups = 64;
  std::string memory = name(" cl_intel_unified_shared_memory", "");
  fake().extensions = "cl_khr_subgroup_shuffle" + memory;
  // The device's preference, if it has no query for a size.
  fake().multiple = 64;
  EXPECT_EQ(chip(), "s64-w65536-t512");
  fake().multiple = 48;
  EXPECT_EQ(chip(), "s1-w65536-t512");
  fake().type = CL_DEVICE_TYPE_CPU;
  EXPECT_TRUE(list()[0].isSoftware);
}

TEST_P(OpenCLDeviceTest, ListsReasons) {
  auto reject = [&](auto change, const std::string &reason) {
    FakeOpenCL before = fake();
    change(fake());
    EXPECT_TRUE(list(reason).empty());
    fake() = before;
  };
  reject([](auto &fake) { fake.intermediate = ""; },
         "Fake is not usable: it does not accept SPIR-V");
  reject(
      [](auto &fake) { fake.intermediate = "SPIR-V_1.0"; },
      "Fake is not usable: it accepts SPIR-V_1.0, but SPIR-V 1.2 is required");
  reject([](auto &fake) { fake.addressBits = 32; },
         "Fake is not usable: it has 32-bit addresses, but 64-bit ones are "
         "required");
  reject(
      [](auto &fake) { fake.svm = fake.usm = 0; },
      "Fake is not usable: it has neither cl_intel_unified_shared_memory nor "
      "shared virtual memory");
  reject([](auto &fake) { fake.maxBlock.resize(2); },
         "Fake is not usable: it supports workgroups of fewer than three "
         "dimensions only");
  reject([](auto &fake) { fake.numDevices = 0; },
         "the platforms report no device");
  reject([](auto &fake) { fake.numPlatforms = 0; },
         "the loader does not find a platform; set OCL_ICD_VENDORS to the "
         "folder of the drivers' .icd files (/etc/OpenCL/vendors by default)");
  reject([](auto &fake) { fake.failures = {{"clGetPlatformIDs", -6}}; },
         "clGetPlatformIDs: CL_OUT_OF_HOST_MEMORY");
  reject([](auto &fake) { fake.failures = {{"clGetDeviceIDs", -4711}}; },
         "clGetDeviceIDs: error -4711");
  fake().numDevices = 0;
  EXPECT_EQ(tryOpen().message(), "no opencl device 0: this machine has 0 (the "
                                 "platforms report no device)");
}

TEST_P(OpenCLDeviceTest, AFailedOpeningCleansUp) {
  for (const char *call :
       {"clCreateContext", "clCreateCommandQueueWithProperties"}) {
    SCOPED_TRACE(call);
    fake().failures = {{call, CL_DEVICE_NOT_AVAILABLE}};
    Status status = tryOpen();
    EXPECT_EQ(status.code(), StatusCode::NoDevice);
    EXPECT_EQ(status.message(),
              "opencl device 0 (Fake) cannot be opened: " + std::string(call) +
                  ": CL_DEVICE_NOT_AVAILABLE");
    fake().failures = {{call, CL_OUT_OF_HOST_MEMORY}};
    EXPECT_EQ(tryOpen().code(), StatusCode::OutOfMemory);
    EXPECT_TRUE(fake().handles.empty());
  }
  fake().failures.clear();
  EXPECT_EQ(tryOpen(3).message(), "no opencl device 3: this machine has 1");
  if (!isUsm())
    return;
  fake().missing = {"clEnqueueMemFillINTEL"};
  EXPECT_EQ(tryOpen().message(), "Fake reports cl_intel_unified_shared_memory "
                                 "but does not export its functions");
}

//===----------------------------------------------------------------------===//
// Memory and the stream
//===----------------------------------------------------------------------===//

TEST_P(OpenCLDeviceTest, CopiesInOrder) {
  open();
  std::vector<uint8_t> in(100007), out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<uint8_t>(i * 7 + i / 251);
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(in.size(), &ptr).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(ptr) % 256, 0u);
  ASSERT_TRUE(device->copyToDevice(ptr, in.data(), in.size()).ok());
  ASSERT_TRUE(device->copyToHost(out.data(), ptr, out.size()).ok());
  EXPECT_EQ(in, out);
  ASSERT_TRUE(device->fill(ptr, 1, 64).ok());
  ASSERT_TRUE(device->fill(ptr, 2, 32).ok());
  ASSERT_TRUE(device->fill(static_cast<char *>(ptr) + 16, 3, 16).ok());
  ASSERT_TRUE(device->copyToHost(out.data(), ptr, 64).ok());
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[16], 3);
  EXPECT_EQ(out[32], 1);
  // Each kind of memory by its own functions.
  EXPECT_GT(fake().count(name("clEnqueueMemcpyINTEL", "clEnqueueSVMMemcpy")),
            0u);
  EXPECT_EQ(fake().count(name("clEnqueueSVMMemcpy", "clEnqueueMemcpyINTEL")),
            0u);
  // Memory that a queued command uses is given back when that has run.
  ASSERT_TRUE(device->fill(ptr, 5, 64).ok());
  ASSERT_TRUE(device->free(ptr).ok());
  device->trim();
  EXPECT_TRUE(fake().memory.empty());
}

TEST_P(OpenCLDeviceTest, SaysThatMemoryIsOut) {
  open();
  void *ptr = nullptr;
  Status status = device->allocate(fake().memoryBytes, &ptr);
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  EXPECT_TRUE(contains(status.message(),
                       "out of memory on Fake: 16777216 bytes requested"));
  if (isUsm()) {
    for (cl_int code : {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY,
                        CL_INVALID_BUFFER_SIZE}) {
      fake().failures = {{"clDeviceMemAllocINTEL", code}};
      EXPECT_EQ(device->allocate(100, &ptr).code(), StatusCode::OutOfMemory);
    }
    fake().failures = {{"clDeviceMemAllocINTEL", -33}};
    EXPECT_EQ(device->allocate(100, &ptr).message(),
              "clDeviceMemAllocINTEL: CL_INVALID_DEVICE");
  } else {
    // It reports only that there is none.
    fake().failures = {{"clSVMAlloc", 1}};
    EXPECT_EQ(device->allocate(100, &ptr).code(), StatusCode::OutOfMemory);
  }
  fake().failures.clear();
  EXPECT_TRUE(device->allocate(100, &ptr).ok());
}

TEST_P(OpenCLDeviceTest, ReportsFailuresOfTheStream) {
  open();
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(64, &ptr).ok());
  char bytes[64] = {};
  std::string copy = name("clEnqueueMemcpyINTEL", "clEnqueueSVMMemcpy"),
              fill = name("clEnqueueMemFillINTEL", "clEnqueueSVMMemFill");
  fake().failures = {{copy, CL_INVALID_VALUE}};
  EXPECT_EQ(device->copyToDevice(ptr, bytes, 64).message(),
            copy + ": CL_INVALID_VALUE (64 bytes)");
  EXPECT_EQ(device->copyToHost(bytes, ptr, 64).message(),
            copy + ": CL_INVALID_VALUE (64 bytes)");
  fake().failures = {{fill, CL_OUT_OF_RESOURCES}};
  EXPECT_EQ(device->fill(ptr, 0, 64).message(),
            fill + ": CL_OUT_OF_RESOURCES (64 bytes)");
  fake().failures.clear();
  EXPECT_TRUE(device->fill(ptr, 0, 64).ok());
}

TEST_P(OpenCLDeviceTest, ALostDeviceIsOfNoUse) {
  // Drivers report it by one of these: the device is no longer available, or
  // the status of a wait for commands one of which has failed.
  for (auto [code, text] :
       {std::pair(CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"),
        std::pair(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                  "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST")}) {
    open();
    void *ptr = nullptr;
    ASSERT_TRUE(device->allocate(64, &ptr).ok());
    ASSERT_TRUE(launch(ptr).ok());
    ASSERT_TRUE(launch(ptr).ok());
    fake().failures = {{"clFinish", code}};
    Status status = device->synchronize();
    EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
    EXPECT_EQ(status.message(),
              std::string("a kernel failed: clFinish: ") + text +
                  "; launched since the last wait: add (2 times)");
    fake().failures.clear();
    EXPECT_EQ(device->fill(ptr, 0, 64).code(), StatusCode::LaunchFailed);
    EXPECT_EQ(launch(ptr).code(), StatusCode::LaunchFailed);
    device.reset();
  }
}

//===----------------------------------------------------------------------===//
// The caller's objects
//===----------------------------------------------------------------------===//

/// A device in a context of a program that calls OpenCL itself.
class OpenCLCallersTest : public OpenCLDeviceTest {
protected:
  void SetUp() override {
    OpenCLDeviceTest::SetUp();
    context = makeFakeContext();
    queue = makeFakeQueue(context);
    buffer = makeFakeBuffer(context, 256);
    Expected<std::unique_ptr<Device>> opened =
        openOpenCLDeviceOn(driver, context, getDevice());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
    ASSERT_TRUE(load().ok());
  }
  void TearDown() override {
    device.reset();
    for (void *handle : callers)
      releaseFake(handle);
    releaseFake(buffer);
    releaseFake(queue);
    // Nothing of the caller's was given back but by the caller.
    EXPECT_EQ(fake().retained[context], 0);
    releaseFake(context);
    OpenCLDeviceTest::TearDown();
  }
  cl_device_id getDevice() {
    cl_device_id id = nullptr;
    driver.getDeviceIDs(nullptr, CL_DEVICE_TYPE_ALL, 1, &id, nullptr);
    return id;
  }
  template <typename Handle> Handle keep(Handle handle) {
    callers.push_back(handle);
    return handle;
  }
  uint8_t readFirst(void *ptr) {
    uint8_t byte = 0;
    EXPECT_TRUE(device->copyToHost(&byte, ptr, 1).ok());
    return byte;
  }

  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;
  std::vector<void *> callers;
};

INSTANTIATE_TEST_SUITE_P(Memory, OpenCLCallersTest, testing::Bool(),
                         [](const auto &info) {
                           return std::string(info.param ? "Usm" : "Svm");
                         });

TEST_P(OpenCLCallersTest, IsInTheContext) {
  EXPECT_EQ(fake().count("clCreateContext"), 0u);
  EXPECT_EQ(device->info().ordinal, 0);
  EXPECT_EQ(device->info().chip, "s16-w65536-t512-f16-f64-a32");
  auto reject = [&](cl_context context, cl_device_id id, const char *text) {
    Status status = openOpenCLDeviceOn(driver, context, id).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(contains(status.message(), text));
  };
  reject(nullptr, getDevice(), "one is null");
  int foreign = 0;
  reject(reinterpret_cast<cl_context>(&foreign), getDevice(),
         "not a cl_context: clGetContextInfo: CL_INVALID_CONTEXT");
  fake().handles.erase(&foreign);
  reject(context, reinterpret_cast<cl_device_id>(&foreign),
         "the cl_device_id does not belong to the cl_context");
  fake().intermediate = "";
  Status status = openOpenCLDeviceOn(driver, context, getDevice()).status();
  EXPECT_EQ(status.code(), StatusCode::NoDevice);
  EXPECT_EQ(status.message(), "Fake is not usable: it does not accept SPIR-V");
}

TEST_P(OpenCLCallersTest, WorkGoesToTheQueueInOrder) {
  void *ptr = nullptr, *other = nullptr;
  ASSERT_TRUE(device->allocate(64, &ptr).ok());
  ASSERT_TRUE(device->fill(ptr, 1, 64).ok());
  ASSERT_TRUE(device->enterQueue(queue).ok());
  ASSERT_TRUE(launch(ptr).ok());
  ASSERT_TRUE(device->fill(ptr, 2, 64).ok());
  // Memory of the pool, by which the queues meet.
  ASSERT_TRUE(device->allocate(64, &other).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  // Nothing has waited, but all has been handed to the driver.
  EXPECT_TRUE(fake().launches.empty());
  EXPECT_EQ(fake().calls.back(), "clEnqueueBarrierWithWaitList");
  EXPECT_GE(fake().count("clFlush"), 2u);
  // The own queue follows the caller's, which follows earlier work.
  EXPECT_EQ(readFirst(ptr), 2);
  EXPECT_EQ(fake().launches.size(), 1u);
  // The other way round: the caller waits for its queue alone.
  ASSERT_TRUE(device->fill(ptr, 3, 64).ok());
  ASSERT_TRUE(device->enterQueue(queue).ok());
  ASSERT_TRUE(launch(ptr).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  driver.finish(queue);
  EXPECT_EQ(fake().launches.size(), 2u);
  EXPECT_EQ(*static_cast<uint8_t *>(ptr), 3);
  // A run of several kernels is handed to the driver once, at its end.
  ASSERT_TRUE(device->synchronize().ok());
  for (bool isCallers : {true, false}) {
    size_t flushes = fake().count("clFlush"),
           launches = fake().count("clEnqueueNDRangeKernel");
    uint64_t submissions = *device->countSubmissions();
    ASSERT_TRUE(!isCallers || device->enterQueue(queue).ok());
    {
      Device::Run run(*device);
      for (int kernel = 0; kernel < 3; ++kernel)
        ASSERT_TRUE(launch(nullptr).ok());
      EXPECT_EQ(fake().count("clFlush"), flushes);
      ASSERT_TRUE(run.end().ok());
    }
    ASSERT_TRUE(!isCallers || device->leaveQueue().ok());
    EXPECT_EQ(fake().count("clEnqueueNDRangeKernel"), launches + 3);
    EXPECT_EQ(fake().count("clFlush"), flushes + 1);
    EXPECT_EQ(*device->countSubmissions(), submissions + 1);
  }
  // A queue that shares nothing is never waited for.
  ASSERT_TRUE(device->synchronize().ok());
  size_t barriers = fake().count("clEnqueueBarrierWithWaitList");
  ASSERT_TRUE(device->enterQueue(queue).ok());
  ASSERT_TRUE(launch(nullptr).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  EXPECT_EQ(fake().count("clEnqueueBarrierWithWaitList"), barriers);
  EXPECT_EQ(fake().calls.back(), "clFlush");
  // Memory that the queue may still use.
  ASSERT_TRUE(device->freeInQueue(other, queue).ok());
  EXPECT_EQ(fake().count("clEnqueueBarrierWithWaitList"), barriers + 1);
}

TEST_P(OpenCLCallersTest, WrongQueuesAreRejected) {
  auto reject = [&](void *queue, const char *text) {
    Status status = device->enterQueue(queue);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(contains(status.message(), text));
  };
  int foreign = 0;
  reject(nullptr, "OpenCL has no default queue");
  reject(&foreign,
         "the queue is not a cl_command_queue: clGetCommandQueueInfo: "
         "CL_INVALID_COMMAND_QUEUE");
  reject(keep(makeFakeQueue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)),
         "create one without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
  cl_context another = keep(makeFakeContext());
  reject(keep(makeFakeQueue(another)), "another cl_context than the device");
  EXPECT_TRUE(launch(nullptr).ok());
  EXPECT_TRUE(device->synchronize().ok());
}

TEST_P(OpenCLCallersTest, KernelsGetBuffersOfTheCallers) {
  void *first = nullptr, *second = nullptr, *memory = nullptr;
  cl_mem small = keep(makeFakeBuffer(context, 8));
  ASSERT_TRUE(
      device->bindObject(MemoryObject::ClMem, buffer, 256, true, &first).ok());
  ASSERT_TRUE(
      device->bindObject(MemoryObject::ClMem, small, 8, false, &second).ok());
  EXPECT_NE(first, second);
  ASSERT_TRUE(launch(first).ok());
  ASSERT_TRUE(launch(second).ok());
  // An address within an array is rejected.
  EXPECT_TRUE(contains(launch(static_cast<char *>(first) + 4).message(),
                       "clSetKernelArg (within a cl_mem)"));
  ASSERT_TRUE(device->synchronize().ok());
  ASSERT_EQ(fake().launches.size(), 2u);
  auto given = [&](size_t index) {
    cl_mem mem = nullptr;
    EXPECT_EQ(fake().launches[index].arguments[0].size(), sizeof(cl_mem));
    std::memcpy(static_cast<void *>(&mem),
                fake().launches[index].arguments[0].data(), sizeof(cl_mem));
    return mem;
  };
  EXPECT_EQ(given(0), buffer);
  EXPECT_EQ(given(1), small);

  // Copies, ordered with the queued commands.
  ASSERT_TRUE(device->allocate(256, &memory).ok());
  getFakeBuffer(buffer).assign(256, '\7');
  ASSERT_TRUE(device->fill(memory, 1, 256).ok());
  ASSERT_TRUE(
      device->copyOnDevice(memory, static_cast<char *>(first) + 8, 16).ok());
  EXPECT_EQ(readFirst(memory), 7);
  EXPECT_EQ(readFirst(static_cast<char *>(memory) + 16), 1);
  ASSERT_TRUE(device->fill(memory, 9, 8).ok());
  ASSERT_TRUE(device->copyOnDevice(second, memory, 8).ok());
  EXPECT_EQ(getFakeBuffer(small), std::string(8, '\11'));
  ASSERT_TRUE(device->copyOnDevice(first, second, 8).ok());
  EXPECT_EQ(getFakeBuffer(buffer)[0], 9);
  EXPECT_EQ(getFakeBuffer(buffer)[8], 7);

  // They are forgotten with the run.
  device->releaseObjects();
  mayMisuse = true;
  EXPECT_EQ(launch(first).code(), StatusCode::LaunchFailed);
}

TEST_P(OpenCLCallersTest, WrongBuffersAreRejected) {
  auto reject = [&](void *object, const char *text, bool mayWrite = false) {
    void *address = nullptr;
    Status status =
        device->bindObject(MemoryObject::ClMem, object, 64, mayWrite, &address);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(contains(status.message(), text));
  };
  int foreign = 0;
  reject(&foreign, "not a cl_mem: clGetMemObjectInfo: CL_INVALID_MEM_OBJECT");
  reject(keep(makeFakeBuffer(context, 60)),
         "the cl_mem has 60 bytes, but the array needs 64");
  reject(keep(makeFakeBuffer(context, 64, CL_MEM_READ_ONLY)),
         "the program may write it, but the cl_mem was created with "
         "CL_MEM_READ_ONLY",
         /*mayWrite=*/true);
  reject(keep(makeFakeBuffer(context, 64, CL_MEM_READ_WRITE, 0x10F1)),
         "the cl_mem is an image or a pipe, not a buffer");
  cl_context another = keep(makeFakeContext());
  reject(keep(makeFakeBuffer(another, 64)),
         "the cl_mem belongs to another cl_context");
  void *address = nullptr;
  EXPECT_EQ(
      device->bindObject(MemoryObject::VkBuffer, buffer, 1, false, &address)
          .message(),
      "target opencl does not accept a VkBuffer; target vulkan does");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST_P(OpenCLDeviceTest, Launches) {
  open();
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(64, &ptr).ok());
  // Pointers may point anywhere into an allocation.
  void *inside = static_cast<char *>(ptr) + 8;
  ASSERT_TRUE(launch(inside, 1234567890123, -5, {{3, 2, 1}, {16, 1, 1}}).ok());
  ASSERT_TRUE(launch(nullptr, 7, 8).ok());
  // Nothing to do.
  ASSERT_TRUE(launch(ptr, 0, 0, {{3, 0, 1}, {16, 1, 1}}).ok());
  EXPECT_TRUE(fake().launches.empty());
  ASSERT_TRUE(device->synchronize().ok());
  ASSERT_EQ(fake().launches.size(), 2u);
  FakeCLLaunch &first = fake().launches[0];
  EXPECT_EQ(first.kernel, "add");
  // OpenCL counts threads, not workgroups.
  EXPECT_EQ(std::vector<size_t>(first.global, first.global + 3),
            (std::vector<size_t>{48, 2, 1}));
  EXPECT_EQ(std::vector<size_t>(first.local, first.local + 3),
            (std::vector<size_t>{16, 1, 1}));
  auto read = [](const std::string &bytes, auto value) {
    EXPECT_EQ(bytes.size(), sizeof(value));
    std::memcpy(static_cast<void *>(&value), bytes.data(), sizeof(value));
    return value;
  };
  ASSERT_EQ(first.arguments.size(), 3u);
  // Each launch has the arguments of its time.
  EXPECT_EQ(read(first.arguments[0], static_cast<void *>(nullptr)), inside);
  EXPECT_EQ(read(first.arguments[1], int64_t(0)), 1234567890123);
  EXPECT_EQ(read(first.arguments[2], int32_t(0)), -5);
  EXPECT_EQ(read(fake().launches[1].arguments[2], int32_t(0)), 8);

  fake().privateBytes = 640;
  ASSERT_TRUE(load().ok());
  Expected<KernelResources> resources = device->resources("add", 16, 0);
  ASSERT_TRUE(resources.ok());
  EXPECT_EQ(resources->spillBytes, 640);
  EXPECT_EQ(resources->maxThreads, 16);
  EXPECT_EQ(resources->registers, -1);
}

TEST_P(OpenCLDeviceTest, RejectsLaunches) {
  open();
  auto reject = [&](const Status &status, const char *text) {
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(contains(status.message(), text));
  };
  reject(launch(nullptr, 0, 0, {{1, 1, 1}, {8, 2, 1}}),
         "a block of 8x2x1 threads, but this kernel is compiled for 16x1x1");
  reject(launch(nullptr, 0, 0, {{1, 1, 1}, {16, 1, 1}, 200000}),
         "200000 bytes of workgroup memory, but");
  reject(launchWith(*device, "add", {{1, 1, 1}, {16, 1, 1}}, int64_t(1)),
         "1 arguments, but the kernel takes 3");
  reject(launchWith(*device, "sub", {{1, 1, 1}, {16, 1, 1}}),
         "kernel 'sub' is not loaded; loaded kernels: add");
  std::string pointer =
      name("clSetKernelArgMemPointerINTEL", "clSetKernelArgSVMPointer");
  for (const std::string &call : {std::string("clSetKernelArg"), pointer,
                                  std::string("clEnqueueNDRangeKernel")}) {
    fake().failures = {{call, CL_OUT_OF_RESOURCES}};
    Status status = launch(nullptr);
    EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
    EXPECT_TRUE(contains(status.message(),
                         call + ": CL_OUT_OF_RESOURCES (kernel 'add', grid "
                                "1x1x1"));
  }
  EXPECT_TRUE(fake().launches.empty());
}

TEST_P(OpenCLDeviceTest, RejectsImages) {
  ASSERT_TRUE(tryOpen().ok());
  KernelImage image;
  image.name = "kernels";
  image.kind = KernelImage::PTX;
  EXPECT_EQ(device->loadImage(image).message(),
            "image 'kernels' is not SPIR-V, and devices of target opencl "
            "accept nothing else");
  image.kind = KernelImage::SPIRV;
  image.bytes = "text";
  EXPECT_EQ(device->loadImage(image).message(),
            "image 'kernels': not SPIR-V, or truncated");
  auto reject = [&](const std::string &message) {
    Status status = load();
    EXPECT_EQ(status.code(), StatusCode::Rejected);
    EXPECT_EQ(status.message(), message);
    // Nothing of it stays: a context and a queue do.
    EXPECT_EQ(fake().handles.size(), 2u);
  };
  const std::string begin = "the driver rejected image 'kernels' on "
                            "s16-w65536-t512-f16-f64-a32: ";
  fake().failures = {{"clCreateProgramWithIL", CL_INVALID_VALUE}};
  reject(begin + "clCreateProgramWithIL: CL_INVALID_VALUE");
  fake().failures = {{"clBuildProgram", CL_BUILD_PROGRAM_FAILURE}};
  fake().buildLog = "error: undefined reference to `f'\n";
  reject(begin + "clBuildProgram: CL_BUILD_PROGRAM_FAILURE; build log:\nerror: "
                 "undefined reference to `f'");
  fake().buildLog = "";
  reject(begin + "clBuildProgram: CL_BUILD_PROGRAM_FAILURE; its build log is "
                 "empty");
  fake().failures = {{"clCreateKernel", CL_INVALID_KERNEL_NAME}};
  EXPECT_TRUE(contains(load().message(), "CL_INVALID_KERNEL_NAME"));
  EXPECT_EQ(fake().handles.size(), 2u);
  fake().failures = {{"clGetKernelSubGroupInfo", -59}};
  reject("kernel 'add' of image 'kernels' is compiled for subgroups of 16 "
         "lanes, but Fake does not report its subgroup size "
         "(clGetKernelSubGroupInfo: CL_INVALID_OPERATION)");
  fake().failures.clear();
  fake().lanes = 32;
  reject("kernel 'add' of image 'kernels' is compiled for subgroups of 16 "
         "lanes, but Fake uses subgroups of 32");
  fake().lanes = 16;
  EXPECT_TRUE(load().ok());
  // Replaces the first one.
  EXPECT_TRUE(load().ok());
  EXPECT_EQ(fake().handles.size(), 4u);
  EXPECT_TRUE(device->unloadImage("kernels").ok());
  EXPECT_EQ(fake().handles.size(), 2u);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

TEST_P(OpenCLDeviceTest, TakesTimes) {
  open();
  fake().kernelTime = 2500000;
  double milliseconds = 0;
  EXPECT_EQ(device->timeEnd(&milliseconds).message(),
            "timeEnd without timeBegin");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(device->timeBegin().ok());
    ASSERT_TRUE(launch(nullptr).ok());
    ASSERT_TRUE(launch(nullptr).ok());
    Status status = device->timeEnd(&milliseconds);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_NEAR(milliseconds, 5, 1e-6);
  }
  for (const char *call : {"clGetEventProfilingInfo", "clWaitForEvents"}) {
    ASSERT_TRUE(device->timeBegin().ok());
    fake().failures = {{call, -7}};
    EXPECT_EQ(device->timeEnd(&milliseconds).message(),
              std::string(call) + ": CL_PROFILING_INFO_NOT_AVAILABLE");
    fake().failures.clear();
  }
  ASSERT_TRUE(device->synchronize().ok());
}

// The fake functions themselves: they must detect the misuse that they are
// meant to detect.
TEST_P(OpenCLDeviceTest, SeesMisuse) {
  mayMisuse = true;
  open();
  int foreign = 0;
  auto expect = [&](const char *text) {
    ASSERT_FALSE(fake().violations.empty());
    EXPECT_TRUE(contains(fake().violations.back(), text));
  };
  driver.finish(reinterpret_cast<cl_command_queue>(&foreign));
  expect("clFinish: no such queue");
  driver.releaseKernel(reinterpret_cast<cl_kernel>(&foreign));
  expect("clReleaseKernel: no such kernel");
  // Memory that is none of the device's.
  EXPECT_EQ(launch(&foreign).code(), StatusCode::LaunchFailed);
  expect("a pointer to no memory of the device's");
  char bytes[16];
  EXPECT_TRUE(device->copyToHost(bytes, bytes, sizeof(bytes)).ok());
  expect("beyond memory of the device's");
}

} // namespace
