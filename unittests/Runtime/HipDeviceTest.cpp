//===- HipDeviceTest.cpp - AMD's GPUs -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests the device on a fake HIP, without ROCm or a GPU. The last test queries
// this machine, and reports that it has no device if so.
//
//===----------------------------------------------------------------------===//

#include "HIP/HipDevice.h"
#include "CodeObjectBytes.h"
#include "FakeHip.h"
#include "Runtime/OffloadBundle.h"
#include "TestUtils.h"
#include "WorkSubmitter.h"

#include <cstring>
#include <vector>

using namespace tessera::runtime;

namespace {

class FakeHipTest : public FakeDeviceTest {
protected:
  void SetUp() override {
    fake = &state;
    driver = makeFakeDriver();
  }
  void TearDown() override {
    device.reset();
    EXPECT_TRUE(state.memory.empty());
    EXPECT_EQ(state.streams, 0);
    EXPECT_EQ(state.events, 0);
    EXPECT_EQ(state.modules, state.unloads);
    fake = nullptr;
  }

  static std::string makeCode(const std::string &target) {
    return makeCodeObject(target, {{"small", {8, 4}, 1024}, {"big", {}, 256}});
  }
  void open() {
    ASSERT_NO_FATAL_FAILURE(keep(openHipDevice(driver, 0)));
    ASSERT_TRUE(load("kernels", makeCode("gfx90a")).ok());
  }
  Status load(const char *name, std::string bytes) {
    return FakeDeviceTest::load(KernelImage::HSACO, name, std::move(bytes));
  }

  FakeHip state;
  HipDriver driver;
};

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

TEST_F(FakeHipTest, Lists) {
  state.deviceCount = 2;
  std::vector<DeviceInfo> devices;
  EXPECT_EQ(listHipDevices(driver, devices), "");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].target, "hip");
  EXPECT_EQ(devices[1].ordinal, 1);
  EXPECT_EQ(devices[1].chip, "gfx90a");
  EXPECT_EQ(devices[1].targetId, "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(devices[1].name, "AMD Instinct MI210");
  EXPECT_EQ(devices[1].driver.find("HIP 6.4.43484"), 0u);
  EXPECT_EQ(devices[1].subgroupSize, 64);
  EXPECT_EQ(devices[1].memoryBytes, size_t(256) << 20);
  EXPECT_EQ(devices[1].workgroupMemoryBytes, 65536u);
  EXPECT_EQ(devices[1].l2Bytes, size_t(8) << 20);
  EXPECT_EQ(devices[1].computeUnits, 104);
  EXPECT_EQ(devices[1].clockMHz, 1700);
  // Nothing was opened for that.
  EXPECT_EQ(state.streams, 0);
  EXPECT_EQ(state.current, -1);
}

TEST_F(FakeHipTest, FindsTheTargetIdInEitherLayout) {
  for (size_t offset : {size_t(396), size_t(1160), size_t(1400)}) {
    state.targetIdOffset = offset;
    for (const char *id : {"gfx1100", "gfx906:sramecc+:xnack-", "gfx950"}) {
      state.targetId = id;
      std::vector<DeviceInfo> devices;
      EXPECT_EQ(listHipDevices(driver, devices), "");
      ASSERT_EQ(devices.size(), 1u);
      EXPECT_EQ(devices[0].targetId, id);
      EXPECT_EQ(devices[0].chip,
                std::string(id).substr(0, devices[0].chip.size()));
      EXPECT_EQ(devices[0].chip.find(':'), std::string::npos);
    }
  }
  // One without a name of its own.
  state.name = "";
  std::vector<DeviceInfo> devices;
  EXPECT_EQ(listHipDevices(driver, devices), "");
  EXPECT_EQ(devices[0].name, "AMD gfx950");
  state.targetId = "Vega";
  devices.clear();
  EXPECT_EQ(
      listHipDevices(driver, devices),
      "device 0: hipGetDevicePropertiesR0600 reports no gcnArchName for ");
  EXPECT_TRUE(devices.empty());
}

TEST_F(FakeHipTest, ListsReasons) {
  std::vector<DeviceInfo> devices;
  state.deviceCount = 0;
  EXPECT_EQ(listHipDevices(driver, devices), "HIP reports no device");
  EXPECT_EQ(openHipDevice(driver, 0).status().code(), StatusCode::NoDevice);
  state.deviceCount = 1;
  EXPECT_EQ(openHipDevice(driver, 1).status().message(),
            "no hip device 1: this machine has 1");
  state.attributes.clear();
  EXPECT_EQ(listHipDevices(driver, devices),
            "device 0: hipDeviceGetAttribute: hipErrorSome: some error");
  EXPECT_TRUE(devices.empty());
  driver.getDeviceCount = [](int *) { return hipErrorNoDevice + 0; };
  EXPECT_EQ(listHipDevices(driver, devices),
            "hipGetDeviceCount: hipErrorNoDevice: some error");
}

TEST_F(FakeHipTest, AFailedOpeningCleansUp) {
  driver.eventCreate = [](hipEvent_t *, unsigned) {
    return hipErrorOutOfMemory + 0;
  };
  Expected<std::unique_ptr<Device>> opened = openHipDevice(driver, 0);
  EXPECT_EQ(opened.status().code(), StatusCode::OutOfMemory);
  EXPECT_TRUE(contains(opened.status().message(),
                       "hip device 0 (AMD Instinct MI210) cannot be opened: "
                       "hipEventCreateWithFlags"));
  EXPECT_EQ(state.streams, 0);
}

TEST_F(FakeHipTest, Memory) {
  open();
  EXPECT_EQ(state.current, 0);
  testMemory(state.allocations);
  void *ptr = nullptr;
  Status status = device->allocate(1 << 30, &ptr);
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  EXPECT_EQ(status.message(),
            "out of memory on AMD Instinct MI210: 1073741824 bytes requested, "
            "268435200 of 268435456 free");
  // Twice the last cache, or 32 MiB: more is not there.
  ASSERT_TRUE(device->flushCaches().ok());
  EXPECT_EQ(state.usedBytes, (size_t(32) << 20) + 256);
}

TEST_F(FakeHipTest, FlushesTheCacheAfterTheL2) {
  state.targetId = "gfx1100";
  state.totalBytes = 200 << 20;
  Expected<std::unique_ptr<Device>> opened = openHipDevice(driver, 0);
  ASSERT_TRUE(opened.ok());
  device = opened.take();
  ASSERT_TRUE(device->flushCaches().ok());
  EXPECT_EQ(state.usedBytes, size_t(192) << 20);
}

TEST_F(FakeHipTest, FlushesForAsLongAsALaunchTakes) {
  Expected<std::unique_ptr<Device>> opened = openHipDevice(driver, 0);
  ASSERT_TRUE(opened.ok());
  device = opened.take();
  ASSERT_TRUE(device->flushCaches().ok());
  EXPECT_EQ(state.usedBytes, size_t(256) << 20);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

TEST_F(FakeHipTest, TheDeviceGetsItsCodeOfABundle) {
  open();
  std::string plain = makeCode("gfx90a:xnack-"), other = makeCode("gfx1100");
  Expected<std::string> bundle =
      writeOffloadBundle({{"gfx1100", other}, {"gfx90a:xnack-", plain}});
  ASSERT_TRUE(bundle.ok());
  EXPECT_TRUE(load("bundle", *bundle).ok());
  EXPECT_EQ(state.modules, 2);
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {64, 1, 1}}).ok());

  bundle = writeOffloadBundle({{"gfx1100", other}, {"gfx942", plain}});
  Status status = load("bundle", *bundle);
  EXPECT_EQ(status.code(), StatusCode::Rejected);
  EXPECT_EQ(status.message(),
            "image 'bundle' cannot be loaded on AMD Instinct MI210: no code "
            "object of the bundle runs on gfx90a:sramecc+:xnack-; it contains "
            "gfx1100, gfx942");
  EXPECT_EQ(state.modules, 2);
}

TEST_F(FakeHipTest, RejectedImages) {
  open();
  EXPECT_EQ(
      load("gemm", makeCode("gfx942")).message(),
      "image 'gemm' cannot be loaded: AMD Instinct MI210 "
      "(gfx90a:sramecc+:xnack-) does not run code for gfx942: the device is "
      "another chip; compile for --target=hip:gfx90a");
  EXPECT_EQ(load("gemm", makeCode("gfx90a:xnack+")).code(),
            StatusCode::Rejected);
  EXPECT_EQ(load("gemm", ".amdgcn_target").message(),
            "image 'gemm' cannot be loaded on AMD Instinct MI210: no code "
            "object for HIP: not an AMD GPU ELF file");
  EXPECT_TRUE(contains(load("gemm", "").message(), "is empty"));
  state.loadResult = hipErrorInvalidImage;
  Status status = load("gemm", makeCode("gfx90a"));
  EXPECT_EQ(status.code(), StatusCode::Rejected);
  EXPECT_EQ(status.message(),
            "HIP rejected image 'gemm' on gfx90a: hipModuleLoadData: "
            "hipErrorInvalidImage: device kernel image is invalid");
  state.loadResult = hipErrorOutOfMemory;
  EXPECT_EQ(load("gemm", makeCode("gfx90a")).code(), StatusCode::OutOfMemory);
  // The images of other devices.
  KernelImage image;
  image.kind = KernelImage::PTX;
  image.name = "ptx";
  image.bytes = ".version 8.0";
  EXPECT_EQ(device->loadImage(image).message(),
            "image 'ptx' is not for HIP; a hip device accepts AMD code objects "
            "and bundles of them");
  EXPECT_EQ(device->assemble(image).status().code(),
            StatusCode::InvalidArgument);
  TensorMapRequest map;
  EXPECT_EQ(device->encodeTensorMap(map, nullptr).message(),
            "AMD Instinct MI210 does not support tensor maps");
}

TEST_F(FakeHipTest, ImagesReplaceEachOther) {
  open();
  ASSERT_TRUE(load("more", makeCode("gfx90a")).ok());
  ASSERT_TRUE(load("kernels", makeCode("gfx90a")).ok());
  EXPECT_EQ(state.modules, 3);
  EXPECT_EQ(state.unloads, 1);
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {1, 1, 1}}).ok());
  EXPECT_TRUE(device->unloadImage("more").ok());
  EXPECT_TRUE(device->unloadImage("kernels").ok());
  EXPECT_EQ(device->unloadImage("kernels").message(),
            "image 'kernels' is not loaded");
  EXPECT_EQ(state.unloads, 3);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_F(FakeHipTest, Launches) {
  open();
  static std::vector<int64_t> values;
  values.clear();
  state.onLaunch = [](const FakeKernel &kernel, void **args) {
    EXPECT_EQ(kernel.name, "small");
    values = {*static_cast<int64_t *>(args[0]),
              *static_cast<int32_t *>(args[1])};
  };
  ASSERT_TRUE(launchSmall({{5, 6, 7}, {64, 2, 1}, 4096}).ok());
  EXPECT_EQ(state.launches, 1);
  EXPECT_EQ(state.lastGrid[2], 7u);
  EXPECT_EQ(state.lastBlock[1], 2u);
  EXPECT_EQ(state.lastShared, 4096u);
  EXPECT_EQ(values, (std::vector<int64_t>{1234567890123, -5}));
  EXPECT_TRUE(launchSmall({{5, 0, 7}, {64, 2, 1}}).ok());
  EXPECT_EQ(state.launches, 1);
}

TEST_F(FakeHipTest, LaunchesAreSubmittedAsAGraph) {
  addFakeGraphs(driver);
  open();
  Expected<LoadedKernel *> kernel = device->findKernel("small", "kernels");
  ASSERT_TRUE(kernel.ok());
  ASSERT_TRUE(device->hasGraphs());
  {
    WorkSubmitter submitter(*device);
    KeptGraph kept(*device);
    void *memory = nullptr;
    ASSERT_TRUE(device->allocate(64, &memory).ok());
    auto run = [&](int64_t grid, int64_t first, int32_t second, size_t bytes) {
      submitter.begin(&kept, LaunchMode::Graph, 3, std::nullopt);
      void *args[] = {&first, &second};
      const int64_t sizes[] = {8, 4};
      LaunchRequest request;
      request.kernel = "small";
      request.grid[0] = grid;
      request.block[0] = 64;
      request.workgroupBytes = 16;
      request.numArgs = 2;
      request.args = args;
      request.argSizes = sizes;
      if (Status status = submitter.launch(**kernel, request); !status.ok())
        return status;
      // The values are copied.
      first = second = 0;
      EXPECT_TRUE(submitter.copy(memory, memory, bytes).ok());
      request.grid[0] = 1;
      EXPECT_TRUE(submitter.launch(**kernel, request).ok());
      return submitter.submit();
    };
    ASSERT_TRUE(run(2, 1234567890123, -5, 8).ok());
    EXPECT_EQ(state.nodes,
              (std::vector<std::string>{"small 2 64 16: 1234567890123 -5",
                                        "copy 8", "small 1 64 16: 0 0"}));
    EXPECT_EQ(state.launches, 0);
    EXPECT_EQ(state.graphLaunches, 1);
    ASSERT_TRUE(run(3, 1, 2, 16).ok());
    EXPECT_EQ(state.nodes,
              (std::vector<std::string>{"small 3 64 16: 1 2", "copy 16",
                                        "small 1 64 16: 0 0"}));
    EXPECT_EQ(state.graphLaunches, 2);
    EXPECT_EQ(submitter.getStatistics().updates, 2u);
    // Limits are checked as for a launch, and a failure has the kernel's name.
    EXPECT_EQ(run(int64_t(1) << 40, 1, 2, 16).code(),
              StatusCode::InvalidArgument);
    state.launchResult = hipErrorLaunchOutOfResources;
    Status status = run(3, 1, 2, 16);
    EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
    EXPECT_EQ(status.message(), "hipGraphLaunch: hipErrorSome: some error (a "
                                "graph of small, small)");
    EXPECT_EQ(state.instances, 1);
    ASSERT_TRUE(device->free(memory).ok());
  }
  EXPECT_EQ(state.instances, 0);
  EXPECT_EQ(state.graphs, 0);
}

TEST_F(FakeHipTest, ChecksLaunches) {
  open();
  auto message = [&](const char *kernel, Shape shape) {
    Status status = launch(kernel, shape);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    return status.message();
  };
  EXPECT_EQ(message("absent", {{1, 1, 1}, {1, 1, 1}}),
            "kernel 'absent' is not loaded; loaded kernels: small, big");
  EXPECT_TRUE(contains(message("big", {{1, 65537, 1}, {1, 1, 1}}),
                       "a grid of 1x65537x1 workgroups, but AMD Instinct MI210 "
                       "supports at most 65536 in y"));
  EXPECT_TRUE(contains(message("big", {{1 << 26, 1, 1}, {64, 1, 1}}),
                       "67108864 workgroups of 64 threads in x, but HIP "
                       "supports at most 4294967295 threads"));
  EXPECT_EQ(message("big", {{1, 1, 1}, {512, 1, 1}}),
            "launch of 'big': a block of 512x1x1 threads, but this kernel "
            "allows at most 256: it was compiled for that workgroup size "
            "(amdgpu-flat-work-group-size)");
  EXPECT_TRUE(contains(
      message("big", {{1, 1, 1}, {64, 1, 1}, 65536}),
      "65536 bytes of dynamic workgroup memory besides the kernel's own "
      "1024, but"));
  // Against the code object's own list.
  int64_t pointer = 0;
  void *args[] = {&pointer, &pointer, &pointer};
  const int64_t sizes[] = {8, 8, 8};
  Shape shape = {{1, 1, 1}, {1, 1, 1}};
  EXPECT_EQ(launch("small", shape, 3, args, sizes).message(),
            "launch of 'small': 3 arguments, but the kernel takes 2");
  EXPECT_EQ(launch("small", shape, 2, args, sizes).message(),
            "launch of 'small': argument 1 has 8 bytes, but the kernel expects "
            "4");
  EXPECT_EQ(state.launches, 0);
}

TEST_F(FakeHipTest, ARejectedLaunch) {
  open();
  state.launchResult = hipErrorLaunchOutOfResources;
  Status status = launchSmall({{2, 1, 1}, {64, 1, 1}, 16});
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_EQ(status.message(),
            "hipModuleLaunchKernel: hipErrorSome: some error (kernel 'small', "
            "grid 2x1x1, block 64x1x1, 16 bytes of workgroup memory, 24 "
            "registers per thread)");
  // This is not a fault: the device remains usable.
  state.launchResult = hipSuccess;
  EXPECT_TRUE(launchSmall({{2, 1, 1}, {64, 1, 1}, 16}).ok());
}

TEST_F(FakeHipTest, AFaultNamesTheKernelsAndStays) {
  open();
  ASSERT_TRUE(launchSmall({{1, 1, 1}, {1, 1, 1}}).ok());
  ASSERT_TRUE(launch("big", {{1, 1, 1}, {1, 1, 1}}).ok());
  state.fault = hipErrorIllegalAddress;
  Status status = device->synchronize();
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_EQ(status.message(),
            "a kernel failed: hipStreamSynchronize: hipErrorIllegalAddress: "
            "some error; launched since the last wait: small, big");
  EXPECT_EQ(launchSmall({{1, 1, 1}, {1, 1, 1}}).message(), status.message());
  device.reset();
  EXPECT_EQ(state.resets, 1);
  open();
  EXPECT_TRUE(launchSmall({{1, 1, 1}, {1, 1, 1}}).ok());
  EXPECT_TRUE(device->synchronize().ok());
}

TEST_F(FakeHipTest, TimeAndResources) {
  open();
  double milliseconds = 0;
  EXPECT_EQ(device->timeEnd(&milliseconds).code(), StatusCode::InvalidArgument);
  ASSERT_TRUE(device->timeBegin().ok());
  ASSERT_TRUE(device->timeEnd(&milliseconds).ok());
  EXPECT_EQ(milliseconds, 1.5);
  Expected<KernelResources> resources = device->resources("big", 128, 8192);
  ASSERT_TRUE(resources.ok()) << resources.status().message();
  EXPECT_EQ(resources->registers, 200);
  EXPECT_EQ(resources->spillBytes, 64);
  EXPECT_EQ(resources->staticWorkgroupBytes, 1024);
  EXPECT_EQ(resources->maxThreads, 256);
  EXPECT_EQ(resources->workgroupsPerUnit, 16);
  EXPECT_EQ(device->resources("big", 128, 65536)->workgroupsPerUnit, 0);
}

//===----------------------------------------------------------------------===//
// This machine
//===----------------------------------------------------------------------===//

TEST(HipDeviceTest, OpensWhatIsHere) {
  Expected<std::unique_ptr<Device>> opened = openDevice("hip");
  if (opened.status().code() == StatusCode::NoDevice) {
    EXPECT_TRUE(contains(opened.status().message(), "no HIP device: "));
    GTEST_SKIP() << opened.status().message();
  }
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  std::unique_ptr<Device> device = opened.take();
  EXPECT_EQ(device->info().targetId.find(device->info().chip), 0u);
  EXPECT_GT(device->info().workgroupMemoryBytes, 0u);
  char host[3] = {1, 2, 3}, back[3] = {};
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(3, &ptr).ok());
  ASSERT_TRUE(device->copyToDevice(ptr, host, 3).ok());
  ASSERT_TRUE(device->fill(ptr, 9, 1).ok());
  ASSERT_TRUE(device->copyToHost(back, ptr, 3).ok());
  EXPECT_EQ(back[0], 9);
  EXPECT_EQ(back[2], 3);
}

} // namespace
