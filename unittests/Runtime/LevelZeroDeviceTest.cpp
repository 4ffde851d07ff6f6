//===- LevelZeroDeviceTest.cpp - Intel's GPUs by Level Zero ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device over a library that plays Level Zero's loader (LevelZero/): it
// needs neither a driver nor a GPU.
//
//===----------------------------------------------------------------------===//

#include "LevelZero/LevelZeroDevice.h"
#include "AddKernel.h"
#include "LevelZero/FakeLevelZero.h"
#include "LevelZero/LevelZeroCapabilities.h"
#include "TestUtils.h"

#include <cstring>
#include <dlfcn.h>

using namespace tessera::runtime;

namespace {

class FakeLevelZeroTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    std::string why;
    ASSERT_TRUE(loadLevelZeroDriver(TESSERA_FAKE_LEVEL_ZERO, loaded, why))
        << why;
    // It stays loaded, so this finds the same one.
    void *library = dlopen(TESSERA_FAKE_LEVEL_ZERO, RTLD_NOW);
    getState = reinterpret_cast<decltype(getState)>(
        dlsym(library, "tesseraFakeLevelZero"));
    reset = reinterpret_cast<decltype(reset)>(
        dlsym(library, "tesseraResetFakeLevelZero"));
    makeDevice = reinterpret_cast<decltype(makeDevice)>(
        dlsym(library, "tesseraMakeFakeZeDevice"));
    ASSERT_TRUE(getState && reset && makeDevice);
  }
  void SetUp() override {
    reset();
    fake = getState();
    driver = loaded;
  }
  void TearDown() override {
    device.reset();
    for (const auto &[kind, count] : fake->live)
      EXPECT_EQ(count, 0) << kind;
    if (mayMisuse)
      return;
    for (const std::string &line : fake->violations)
      ADD_FAILURE() << line;
  }

  static FakeZeDevice makeFakeZe(const std::string &name) {
    FakeZeDevice result;
    makeDevice(name.c_str(), &result);
    return result;
  }
  void play(FakeZeDevice spec) { fake->devices = {std::move(spec)}; }
  std::vector<DeviceInfo> list(const std::string &reason = "") {
    std::vector<DeviceInfo> devices;
    EXPECT_EQ(listLevelZeroDevices(driver, devices), reason);
    return devices;
  }
  Status tryOpen(int ordinal = 0) {
    Expected<std::unique_ptr<Device>> opened =
        openLevelZeroDevice(driver, ordinal);
    if (!opened.ok())
      return opened.status();
    device = opened.take();
    return Status::success();
  }
  void open() {
    Status status = tryOpen();
    ASSERT_TRUE(status.ok()) << status.message();
    status = load();
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Status load(uint32_t alignment = 0) {
    KernelImage image;
    image.kind = KernelImage::SPIRV;
    image.name = "kernels";
    image.bytes = makeAddModule(alignment);
    return device->loadImage(image);
  }
  Status launch(void *pointer, int64_t number = 1, int32_t factor = 1,
                LaunchShape shape = {{1, 1, 1}, {16, 1, 1}}) {
    return launchWith(*device, "add", shape, pointer, number, factor);
  }

  static LevelZeroDriver loaded;
  static FakeLevelZero *(*getState)();
  static void (*reset)();
  static void (*makeDevice)(const char *, FakeZeDevice *);
  FakeLevelZero *fake = nullptr;
  LevelZeroDriver driver;
  std::unique_ptr<Device> device;
  bool mayMisuse = false;
};

LevelZeroDriver FakeLevelZeroTest::loaded;
FakeLevelZero *(*FakeLevelZeroTest::getState)() = nullptr;
void (*FakeLevelZeroTest::reset)() = nullptr;
void (*FakeLevelZeroTest::makeDevice)(const char *, FakeZeDevice *) = nullptr;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

TEST_F(FakeLevelZeroTest, LoadsWhatIsThere) {
  LevelZeroDriver none;
  std::string why;
  EXPECT_FALSE(loadLevelZeroDriver("libze_none.so.1", none, why));
  EXPECT_EQ(why, "libze_none.so.1 not found");
  // A library, and not Level Zero's.
  EXPECT_FALSE(loadLevelZeroDriver("libm.so.6", none, why));
  EXPECT_EQ(why, "libm.so.6 has no zeInit: a loader of Level Zero 1.2 or later "
                 "is required");
}

TEST_F(FakeLevelZeroTest, Lists) {
  fake->devices.push_back(makeFakeZe("dg2"));
  std::vector<DeviceInfo> devices = list();
  ASSERT_EQ(devices.size(), 2u);
  const DeviceInfo &pvc = devices[0], &dg2 = devices[1];
  EXPECT_EQ(pvc.target, "level-zero");
  EXPECT_EQ(pvc.chip, "s16-w131072-t1024-f16-f64-a32-a64-dpas");
  EXPECT_EQ(pvc.family, "pvc");
  EXPECT_EQ(pvc.chipSource,
            "hardware 12.60.4 is pvc; it has dpas, reported by the driver");
  EXPECT_EQ(pvc.name, "Intel(R) Data Center GPU Max 1550");
  EXPECT_EQ(pvc.driver, "Level Zero 1.6, driver 1.6.32224");
  EXPECT_EQ(pvc.subgroupSize, 16);
  EXPECT_EQ(pvc.memoryBytes, size_t(48) << 30);
  EXPECT_EQ(pvc.workgroupMemoryBytes, 131072u);
  EXPECT_EQ(pvc.l2Bytes, size_t(64) << 20);
  EXPECT_EQ(pvc.computeUnits, 64);
  EXPECT_EQ(pvc.clockMHz, 1600);
  EXPECT_EQ(pvc.kind, "discrete");
  EXPECT_FALSE(pvc.isSoftware);
  EXPECT_EQ(dg2.ordinal, 1);
  // The matrix unit works for the smallest subgroups.
  EXPECT_EQ(dg2.chip, "s8-w65536-t1024-f16-a32-dpas");
  EXPECT_EQ(dg2.family, "dg2");
  // Nothing was opened for that.
  EXPECT_EQ(fake->count("zeContextCreate"), 0u);
}

TEST_F(FakeLevelZeroTest, ReportsTheMatrixUnit) {
  struct Case {
    const char *name;
    bool reportsDpas, hasDpas, reportsVersion;
    uint32_t number;
    const char *family, *source;
    bool dpas;
  };
  const Case cases[] = {
      // A family for which the compiler has no chip.
      {"lnl", true, true, true, 0x64a0, "",
       "hardware 20.4.4, unknown family; it has dpas, reported by the driver",
       true},
      {"lnl", false, true, true, 0x64a0, "",
       "hardware 20.4.4, unknown family; it does not have dpas, assumed: the "
       "driver does not report it",
       false},
      {"simt", true, false, true, 0x7d55, "",
       "hardware 12.71.4, unknown family; it does not have dpas, reported by "
       "the driver",
       false},
      // Drivers that are older.
      {"bmg", false, true, true, 0xe20b, "bmg",
       "hardware 20.1.4 is bmg; it has dpas, as the whole family has", true},
      {"pvc", false, true, false, 0x0bd5, "pvc",
       "PCI number 8086:0bd5 is pvc; it has dpas, as the whole family has",
       true},
      {"dg2", false, true, false, 0x56a0, "dg2",
       "PCI number 8086:56a0 is dg2; it has dpas, as the whole family has",
       true},
      {"pvc", false, true, false, 0x1234, "",
       "PCI number 8086:1234, unknown family; it does not have dpas, assumed: "
       "the driver does not report it",
       false},
      // A driver that contradicts.
      {"bmg", true, false, true, 0xe20b, "bmg",
       "hardware 20.1.4 is bmg; it does not have dpas, reported by the driver",
       false},
  };
  for (const Case &known : cases) {
    SCOPED_TRACE(known.source);
    FakeZeDevice spec = makeFakeZe(known.name);
    spec.reportsDpas = known.reportsDpas;
    spec.hasDpas = known.hasDpas;
    spec.reportsVersion = known.reportsVersion;
    spec.properties.deviceId = known.number;
    play(spec);
    std::vector<DeviceInfo> devices = list();
    ASSERT_EQ(devices.size(), 1u);
    EXPECT_EQ(devices[0].family, known.family);
    EXPECT_EQ(devices[0].chipSource, known.source);
    EXPECT_EQ(devices[0].chip.find("-dpas") != std::string::npos, known.dpas);
  }
  // The numbers of another vendor mean nothing.
  FakeZeDevice other = makeFakeZe("pvc");
  other.reportsDpas = other.reportsVersion = false;
  other.properties.vendorId = 0x10de;
  play(other);
  EXPECT_EQ(list()[0].family, "");
  EXPECT_EQ(list()[0].chip, "s16-w131072-t1024-f16-f64-a32-a64");
}

TEST_F(FakeLevelZeroTest, ReportsOptionalFeatures) {
  FakeZeDevice spec = makeFakeZe("pvc");
  spec.hasDpas = false;
  spec.reportsAtomics = false;
  spec.module.flags = ZE_DEVICE_MODULE_FLAG_FP16;
  spec.properties.flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
  spec.compute.subGroupSizes[0] = 32;
  spec.compute.numSubGroupSizes = 1;
  play(spec);
  EXPECT_EQ(list()[0].chip, "s32-w131072-t1024-f16");
  EXPECT_EQ(list()[0].kind, "integrated");
  // A matrix unit for subgroups that the compiler has no table of.
  spec.hasDpas = true;
  play(spec);
  EXPECT_EQ(list()[0].chip, "s32-w131072-t1024-f16");
  // Lanes exchange values from SPIR-V 1.3 on.
  spec.module.spirvVersionSupported = 1 << 16 | 2;
  play(spec);
  EXPECT_EQ(list()[0].chip, "s1-w131072-t1024-f16");
  spec.properties.type = ZE_DEVICE_TYPE_CPU;
  play(spec);
  EXPECT_TRUE(list()[0].isSoftware);
}

TEST_F(FakeLevelZeroTest, ListsReasons) {
  auto reject = [&](auto change, const std::string &reason) {
    FakeZeDevice spec = makeFakeZe("pvc");
    change(spec);
    play(spec);
    EXPECT_TRUE(
        list("Intel(R) Data Center GPU Max 1550 is not usable: " + reason)
            .empty());
  };
  reject([](auto &spec) { spec.properties.type = 5; },
         "it is neither a GPU nor a CPU (type 5)");
  reject([](auto &spec) { spec.module.spirvVersionSupported = 0; },
         "it does not accept SPIR-V");
  reject([](auto &spec) { spec.module.spirvVersionSupported = 1 << 16; },
         "it accepts SPIR-V 1.0, but 1.2 is required");
  reject([](auto &spec) { spec.queueGroups.resize(1); },
         "none of its queues accepts kernels");
  reject([](auto &spec) { spec.compute.maxSharedLocalMemory = 0; },
         "it does not support workgroups, or has no workgroup memory");
  play(makeFakeZe("pvc"));
  fake->failures["zeDeviceGetComputeProperties"] = ZE_RESULT_ERROR_DEVICE_LOST;
  list("Intel(R) Data Center GPU Max 1550 is not usable: "
       "zeDeviceGetComputeProperties: ZE_RESULT_ERROR_DEVICE_LOST");
  EXPECT_EQ(tryOpen().message(),
            "no level-zero device 0: this machine has 0 (Intel(R) Data Center "
            "GPU Max 1550 is not usable: zeDeviceGetComputeProperties: "
            "ZE_RESULT_ERROR_DEVICE_LOST)");
  fake->failures = {{"zeDeviceGet", 0x12345}};
  list("zeDeviceGet: error 0x12345");
  fake->failures.clear();
  fake->devices.clear();
  // (The driver's extensions are those of its first device.)
  list("the drivers report no device");
}

TEST_F(FakeLevelZeroTest, FindsDriversInOldLoadersAndNewOnes) {
  const char *none =
      "the loader does not find a GPU driver (Intel's is libze_intel_gpu.so.1)";
  fake->failures = {{"zeInitDrivers", ZE_RESULT_ERROR_UNINITIALIZED}};
  list(none);
  fake->failures = {{"zeInitDrivers", 0x70020000}};
  list("zeInitDrivers: ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE");
  fake->failures.clear();
  EXPECT_EQ(list().size(), 1u);
  EXPECT_EQ(fake->count("zeInit"), 0u);
  driver.initDrivers = nullptr;
  EXPECT_EQ(list().size(), 1u);
  EXPECT_EQ(fake->count("zeInit"), 1u);
  fake->failures = {{"zeInit", ZE_RESULT_ERROR_UNINITIALIZED}};
  list(none);
  fake->failures = {{"zeDriverGet", ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY}};
  list("zeDriverGet: ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
}

TEST_F(FakeLevelZeroTest, AFailedOpeningCleansUp) {
  for (const char *call :
       {"zeContextCreate", "zeCommandListCreateImmediate", "zeEventPoolCreate",
        "zeEventCreate", "zeMemAllocHost"}) {
    SCOPED_TRACE(call);
    fake->failures = {{call, 0x70010000}};
    fake->lastError = "no access to /dev/dri";
    Status status = tryOpen();
    EXPECT_EQ(status.code(), StatusCode::NoDevice);
    EXPECT_EQ(status.message(),
              "level-zero device 0 (Intel(R) Data Center GPU Max 1550) cannot "
              "be opened: " +
                  std::string(call) +
                  ": ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS: no access to "
                  "/dev/dri");
    for (const auto &[kind, count] : fake->live)
      EXPECT_EQ(count, 0) << kind;
  }
  // The second event.
  fake->failures = {{"zeEventCreate", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY}};
  fake->failAfter = {{"zeEventCreate", 1}};
  EXPECT_EQ(tryOpen().code(), StatusCode::OutOfMemory);
  EXPECT_EQ(tryOpen(3).message(), "no level-zero device 3: this machine has 1");
}

//===----------------------------------------------------------------------===//
// Memory and the stream
//===----------------------------------------------------------------------===//

TEST_F(FakeLevelZeroTest, CopiesInOrder) {
  open();
  EXPECT_EQ(fake->lastQueueGroup, 1u);
  // More than the size of the staging buffer.
  std::vector<uint8_t> in((9 << 20) + 7), out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<uint8_t>(i * 7 + i / 251);
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(in.size(), &ptr).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(ptr) % 256, 0u);
  ASSERT_TRUE(device->copyToDevice(ptr, in.data(), in.size()).ok());
  EXPECT_EQ(fake->count("zeCommandListAppendMemoryCopy"), 3u);
  ASSERT_TRUE(device->copyToHost(out.data(), ptr, out.size()).ok());
  EXPECT_EQ(in, out);
  // Queued commands run in the order of the calls: without barriers they would
  // run in reverse order.
  ASSERT_TRUE(device->fill(ptr, 1, 64).ok());
  ASSERT_TRUE(device->fill(ptr, 2, 32).ok());
  ASSERT_TRUE(device->fill(static_cast<char *>(ptr) + 16, 3, 16).ok());
  ASSERT_TRUE(device->copyToHost(out.data(), ptr, 64).ok());
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[16], 3);
  EXPECT_EQ(out[32], 1);
  ASSERT_TRUE(device->flushCaches().ok());
  ASSERT_TRUE(device->free(ptr).ok());
  // Memory that a queued command uses is given back when that has run.
  ASSERT_TRUE(device->fill(ptr, 5, 64).ok());
  device->trim();
}

TEST_F(FakeLevelZeroTest, SaysThatMemoryIsOut) {
  open();
  void *ptr = nullptr;
  // More than the device gives at once.
  Status status = device->allocate(size_t(5) << 30, &ptr);
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  EXPECT_TRUE(contains(status.message(),
                       "out of memory on Intel(R) Data Center GPU Max 1550: "
                       "5368709120 bytes requested"));
  fake->failures = {{"zeMemAllocDevice", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY}};
  EXPECT_EQ(device->allocate(100, &ptr).code(), StatusCode::OutOfMemory);
  fake->failures = {{"zeMemAllocDevice", ZE_RESULT_ERROR_INVALID_ARGUMENT}};
  status = device->allocate(100, &ptr);
  EXPECT_EQ(status.message(),
            "zeMemAllocDevice: ZE_RESULT_ERROR_INVALID_ARGUMENT");
}

TEST_F(FakeLevelZeroTest, ReportsFailuresOfTheStream) {
  open();
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(64, &ptr).ok());
  char bytes[64] = {};
  for (const char *call : {"zeCommandListAppendMemoryCopy",
                           "zeCommandListAppendBarrier", "zeEventHostReset"}) {
    SCOPED_TRACE(call);
    fake->failures = {{call, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE}};
    std::string message =
        std::string(call) + ": ZE_RESULT_ERROR_UNSUPPORTED_FEATURE (64 bytes)";
    EXPECT_EQ(device->copyToDevice(ptr, bytes, 64).message(), message);
    EXPECT_EQ(device->copyToHost(bytes, ptr, 64).message(), message);
  }
  fake->failures = {{"zeCommandListAppendMemoryFill", 0x7ffffffe}};
  EXPECT_EQ(device->fill(ptr, 0, 64).message(),
            "zeCommandListAppendMemoryFill: ZE_RESULT_ERROR_UNKNOWN (64 "
            "bytes)");
  fake->failures.clear();
  // A kernel that fails takes the device with it.
  ASSERT_TRUE(launch(ptr).ok());
  fake->failures = {{"zeEventHostSynchronize", ZE_RESULT_ERROR_DEVICE_LOST}};
  Status status = device->synchronize();
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_EQ(status.message(),
            "a kernel failed: zeEventHostSynchronize: "
            "ZE_RESULT_ERROR_DEVICE_LOST; launched since the last wait: add");
  fake->failures.clear();
  EXPECT_EQ(device->fill(ptr, 0, 64).code(), StatusCode::LaunchFailed);
}

//===----------------------------------------------------------------------===//
// The caller's objects
//===----------------------------------------------------------------------===//

/// A device in a context of a program that calls Level Zero itself, which has
/// lists created before the device's and after it, the former of which run
/// first.
class LevelZeroCallersTest : public FakeLevelZeroTest {
protected:
  void SetUp() override {
    FakeLevelZeroTest::SetUp();
    ASSERT_EQ(driver.init(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_SUCCESS);
    uint32_t one = 1;
    ASSERT_EQ(driver.driverGet(&one, &handle), ZE_RESULT_SUCCESS);
    ASSERT_EQ(driver.deviceGet(handle, &one, &id), ZE_RESULT_SUCCESS);
    context = makeContext();
    before = makeList(context);
    Expected<std::unique_ptr<Device>> opened =
        openLevelZeroDeviceOn(driver, context, id);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
    ASSERT_TRUE(load().ok());
    after = makeList(context);
  }
  void TearDown() override {
    device.reset();
    for (ze_command_list_handle_t list : lists)
      EXPECT_EQ(driver.commandListDestroy(list), ZE_RESULT_SUCCESS);
    // The caller's are still there.
    for (ze_context_handle_t made : contexts)
      EXPECT_EQ(driver.contextDestroy(made), ZE_RESULT_SUCCESS);
    FakeLevelZeroTest::TearDown();
  }
  ze_context_handle_t makeContext() {
    ze_context_desc_t desc;
    contexts.push_back(nullptr);
    EXPECT_EQ(driver.contextCreate(handle, &desc, &contexts.back()),
              ZE_RESULT_SUCCESS);
    return contexts.back();
  }
  ze_command_list_handle_t makeList(ze_context_handle_t context) {
    ze_command_queue_desc_t desc;
    desc.ordinal = 1;
    lists.push_back(nullptr);
    EXPECT_EQ(
        driver.commandListCreateImmediate(context, id, &desc, &lists.back()),
        ZE_RESULT_SUCCESS);
    return lists.back();
  }
  uint8_t readFirst(void *ptr) {
    uint8_t byte = 0;
    EXPECT_TRUE(device->copyToHost(&byte, ptr, 1).ok());
    return byte;
  }

  ze_driver_handle_t handle = nullptr;
  ze_device_handle_t id = nullptr;
  ze_context_handle_t context = nullptr;
  ze_command_list_handle_t before = nullptr, after = nullptr;
  std::vector<ze_context_handle_t> contexts;
  std::vector<ze_command_list_handle_t> lists;
};

TEST_F(LevelZeroCallersTest, IsInTheContext) {
  EXPECT_EQ(fake->live["context"], 1);
  EXPECT_EQ(device->info().ordinal, 0);
  auto reject = [&](ze_context_handle_t context, ze_device_handle_t id,
                    const char *text) {
    Status status = openLevelZeroDeviceOn(driver, context, id).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(contains(status.message(), text));
  };
  reject(nullptr, id, "one is null");
  int foreign = 0;
  reject(context, reinterpret_cast<ze_device_handle_t>(&foreign),
         "is not a usable GPU that zeDeviceGet lists");
}

TEST_F(LevelZeroCallersTest, ListsRunInOrder) {
  for (ze_command_list_handle_t list : {before, after}) {
    void *ptr = nullptr, *other = nullptr;
    ASSERT_TRUE(device->allocate(64, &ptr).ok());
    // More often than there are notes.
    for (uint8_t value = 0; value < 100; value += 3) {
      ASSERT_TRUE(device->fill(ptr, value, 64).ok());
      ASSERT_TRUE(device->enterQueue(list).ok());
      // Memory of the pool, by which the lists meet.
      ASSERT_TRUE(device->allocate(64, &other).ok());
      ASSERT_TRUE(device->copyOnDevice(other, ptr, 64).ok());
      ASSERT_TRUE(device->fill(ptr, 200, 64).ok());
      ASSERT_TRUE(device->leaveQueue().ok());
      ASSERT_TRUE(device->copyOnDevice(ptr, other, 1).ok());
      if (value % 2) {
        EXPECT_EQ(readFirst(ptr), value);
        EXPECT_EQ(readFirst(static_cast<char *>(ptr) + 1), 200);
      }
      ASSERT_TRUE(device->freeInQueue(other, list).ok());
    }
    ASSERT_TRUE(device->free(ptr).ok());
  }
  EXPECT_GT(fake->count("zeEventHostReset"), 16u);
}

TEST_F(LevelZeroCallersTest, ARunComesAfterWhatIsThere) {
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(64, &ptr).ok());
  ASSERT_TRUE(device->synchronize().ok());
  // Without a barrier, the last command runs first.
  uint8_t pattern = 5;
  ASSERT_EQ(driver.appendMemoryFill(before, ptr, &pattern, 1, 64, nullptr, 0,
                                    nullptr),
            ZE_RESULT_SUCCESS);
  size_t waits = fake->count("zeEventHostSynchronize");
  ASSERT_TRUE(device->enterQueue(before).ok());
  ASSERT_TRUE(device->fill(ptr, 6, 64).ok());
  ASSERT_TRUE(launch(ptr).ok());
  ASSERT_TRUE(device->leaveQueue().ok());
  EXPECT_TRUE(fake->launches.empty());
  EXPECT_EQ(fake->count("zeEventHostSynchronize"), waits);
  EXPECT_EQ(readFirst(ptr), 6);
  EXPECT_EQ(fake->launches.size(), 1u);
}

TEST_F(LevelZeroCallersTest, WrongListsAreRejected) {
  auto reject = [&](void *list, const char *text) {
    Status status = device->enterQueue(list);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(contains(status.message(), text));
  };
  reject(nullptr, "the command list is null");
  reject(makeList(makeContext()), "another ze_context_handle_t");
  fake->listsAreImmediate = false;
  reject(before, "pass an immediate one (zeCommandListCreateImmediate)");
  fake->failures = {
      {"zeCommandListGetDeviceHandle", ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY}};
  reject(before, "zeCommandListGetDeviceHandle: "
                 "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
  fake->failures.clear();
  EXPECT_TRUE(launch(nullptr).ok());
  EXPECT_TRUE(device->synchronize().ok());
  // A loader without this query.
  device.reset();
  driver.commandListIsImmediate = nullptr;
  device = openLevelZeroDeviceOn(driver, context, id).take();
  reject(before, "the loader is older than Level Zero 1.9");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST_F(FakeLevelZeroTest, Launches) {
  open();
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(64, &ptr).ok());
  // Pointers may point anywhere into an allocation.
  void *inside = static_cast<char *>(ptr) + 8;
  ASSERT_TRUE(launch(inside, 1234567890123, -5, {{3, 2, 1}, {16, 1, 1}}).ok());
  ASSERT_TRUE(launch(nullptr, 7, 8).ok());
  // Nothing to do.
  ASSERT_TRUE(launch(ptr, 0, 0, {{3, 0, 1}, {16, 1, 1}}).ok());
  EXPECT_TRUE(fake->launches.empty());
  ASSERT_TRUE(device->synchronize().ok());
  ASSERT_EQ(fake->launches.size(), 2u);
  const FakeZeLaunch &first = fake->launches[0];
  EXPECT_EQ(first.kernel, "add");
  EXPECT_EQ(std::vector<uint32_t>(first.grid, first.grid + 3),
            (std::vector<uint32_t>{3, 2, 1}));
  EXPECT_EQ(std::vector<uint32_t>(first.block, first.block + 3),
            (std::vector<uint32_t>{16, 1, 1}));
  auto read = [](const std::string &bytes, auto value) {
    EXPECT_EQ(bytes.size(), sizeof(value));
    std::memcpy(static_cast<void *>(&value), bytes.data(), sizeof(value));
    return value;
  };
  // Each launch has the arguments of its time.
  EXPECT_EQ(read(first.arguments[0], static_cast<void *>(nullptr)), inside);
  EXPECT_EQ(read(first.arguments[1], int64_t(0)), 1234567890123);
  EXPECT_EQ(read(first.arguments[2], int32_t(0)), -5);
  EXPECT_EQ(read(fake->launches[1].arguments[2], int32_t(0)), 8);

  fake->spillBytes = 640;
  ASSERT_TRUE(load().ok());
  Expected<KernelResources> resources = device->resources("add", 16, 0);
  ASSERT_TRUE(resources.ok());
  EXPECT_EQ(resources->spillBytes, 640);
  EXPECT_EQ(resources->maxThreads, 16);
  EXPECT_EQ(resources->registers, -1);
  EXPECT_EQ(resources->workgroupsPerUnit, -1);
}

TEST_F(FakeLevelZeroTest, RejectsLaunches) {
  open();
  auto reject = [&](const Status &status, const char *text) {
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(contains(status.message(), text));
  };
  reject(launch(nullptr, 0, 0, {{1, 1, 1}, {8, 2, 1}}),
         "a block of 8x2x1 threads, but this kernel is compiled for 16x1x1");
  reject(launch(nullptr, 0, 0, {{1, 1, 1}, {16, 1, 1}, 200000}),
         "200000 bytes of workgroup memory, but");
  reject(launch(nullptr, 0, 0, {{int64_t(1) << 33, 1, 1}, {16, 1, 1}}),
         "supports at most 4294967295 in x");
  reject(launchWith(*device, "add", {{1, 1, 1}, {16, 1, 1}}, int64_t(1)),
         "1 arguments, but the kernel takes 3");
  reject(launchWith(*device, "sub", {{1, 1, 1}, {16, 1, 1}}),
         "kernel 'sub' is not loaded; loaded kernels: add");
  for (const char *call :
       {"zeKernelSetArgumentValue", "zeCommandListAppendLaunchKernel"}) {
    fake->failures = {{call, ZE_RESULT_ERROR_INVALID_ARGUMENT}};
    Status status = launch(nullptr);
    EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
    EXPECT_TRUE(
        contains(status.message(), std::string(call) +
                                       ": ZE_RESULT_ERROR_INVALID_ARGUMENT "
                                       "(kernel 'add', grid 1x1x1"));
  }
  EXPECT_TRUE(fake->launches.empty());
}

// Buffers that are not aligned as block loads require.
TEST_F(FakeLevelZeroTest, RejectsUnalignedBuffers) {
  open();
  ASSERT_TRUE(load(/*alignment=*/64).ok());
  void *buffer = nullptr;
  ASSERT_TRUE(device->allocate(256, &buffer).ok());
  EXPECT_TRUE(launch(buffer).ok());
  EXPECT_TRUE(launch(static_cast<char *>(buffer) + 128).ok());
  Status status = launch(static_cast<char *>(buffer) + 32);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(
      contains(status.message(), "its address must be a multiple of 64 bytes"));
  ASSERT_TRUE(device->synchronize().ok());
  EXPECT_EQ(fake->launches.size(), 2u);
  ASSERT_TRUE(device->free(buffer).ok());
}

TEST_F(FakeLevelZeroTest, RejectsImages) {
  ASSERT_TRUE(tryOpen().ok());
  KernelImage image;
  image.name = "kernels";
  image.kind = KernelImage::PTX;
  EXPECT_EQ(device->loadImage(image).message(),
            "image 'kernels' is not SPIR-V, and devices of target level-zero "
            "accept nothing else");
  image.kind = KernelImage::SPIRV;
  image.bytes = "text";
  EXPECT_EQ(device->loadImage(image).message(),
            "image 'kernels': not SPIR-V, or truncated");
  auto reject = [&](const std::string &message) {
    Status status = load();
    EXPECT_EQ(status.code(), StatusCode::Rejected);
    EXPECT_EQ(status.message(), message);
    // Nothing of it stays.
    for (const char *kind : {"module", "kernel", "log"})
      EXPECT_EQ(fake->live[kind], 0) << kind;
  };
  const std::string begin = "the driver rejected image 'kernels' on "
                            "s16-w131072-t1024-f16-f64-a32-a64-dpas: ";
  fake->failures = {{"zeModuleCreate", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE}};
  fake->buildLog = "error: undefined reference to `f'\nin kernel: 'add'\n";
  reject(begin + "zeModuleCreate: ZE_RESULT_ERROR_MODULE_BUILD_FAILURE; build "
                 "log:\nerror: undefined reference to `f'\nin "
                 "kernel: 'add'");
  fake->buildLog = "";
  reject(begin + "zeModuleCreate: ZE_RESULT_ERROR_MODULE_BUILD_FAILURE; its "
                 "build log is empty");
  for (const char *call : {"zeKernelCreate", "zeKernelGetProperties"}) {
    fake->failures = {{call, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE}};
    reject(begin + call +
           ": ZE_RESULT_ERROR_UNSUPPORTED_FEATURE (kernel 'add')");
  }
  fake->failures = {{"zeKernelSetGroupSize", 0x78000013}};
  reject(begin + "zeKernelSetGroupSize: "
                 "ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION (kernel 'add', "
                 "16x1x1 threads)");
  fake->failures.clear();
  fake->lanes = 32;
  reject("kernel 'add' of image 'kernels' is compiled for subgroups of 16 "
         "lanes, but Intel(R) Data Center GPU Max 1550 uses subgroups of 32");
  fake->lanes = 0;
  fake->parameterCount = 4;
  reject("kernel 'add' of image 'kernels' has 3 parameters, but the driver "
         "reports 4");
  fake->parameterCount = 0;
  EXPECT_TRUE(load().ok());
  // Replaces the first one.
  EXPECT_TRUE(load().ok());
  EXPECT_EQ(fake->live["module"], 1);
  EXPECT_TRUE(device->unloadImage("kernels").ok());
  EXPECT_EQ(fake->live["module"], 0);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

TEST_F(FakeLevelZeroTest, TakesTimes) {
  auto measure = [&](double expected) {
    open();
    EXPECT_EQ(fake->lastEventPoolFlags,
              ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                  ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(device->timeBegin().ok());
      ASSERT_TRUE(launch(nullptr).ok());
      ASSERT_TRUE(launch(nullptr).ok());
      double milliseconds = 0;
      Status status = device->timeEnd(&milliseconds);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_NEAR(milliseconds, expected, expected * 1e-6);
    }
    device.reset();
  };
  fake->ticksOfKernel = 62500;
  measure(10); // Ticks of 12.5 MHz.
  // The counter begins again.
  fake->clock = UINT32_MAX - 70000;
  measure(10);
  EXPECT_GT(fake->clock, uint64_t(UINT32_MAX));
  for (uint32_t bits : {64u, 0u, 36u}) {
    fake->devices[0].properties.kernelTimestampValidBits = bits;
    fake->clock = bits == 36 ? (uint64_t(1) << 36) - 5 : 1 << 20;
    if (bits)
      measure(10);
  }
  // Before 1.2 the resolution is a number of nanoseconds.
  fake->apiVersion = 1 << 16 | 1;
  fake->devices[0].properties.timerResolution = 20000000;
  measure(6.25);
  fake->apiVersion = 1 << 16 | 2;
  fake->devices[0].properties.timerResolution = 19200000;
  measure(125000 / 19200.);
}

TEST_F(FakeLevelZeroTest, RejectsTimes) {
  open();
  double milliseconds = 0;
  EXPECT_EQ(device->timeEnd(&milliseconds).message(),
            "timeEnd without timeBegin");
  for (const char *call :
       {"zeEventQueryKernelTimestamp", "zeEventHostSynchronize"}) {
    ASSERT_TRUE(device->timeBegin().ok());
    fake->failures = {{call, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY}};
    EXPECT_EQ(device->timeEnd(&milliseconds).message(),
              std::string(call) + ": ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    fake->failures.clear();
    ASSERT_TRUE(device->synchronize().ok());
  }
  device.reset();
  fake->devices[0].properties.timerResolution = 0;
  open();
  ASSERT_TRUE(device->timeBegin().ok());
  EXPECT_EQ(device->timeEnd(&milliseconds).message(),
            "zeDeviceGetProperties (timerResolution is 0): "
            "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE");
}

TEST_F(FakeLevelZeroTest, TimestampsWrapAround) {
  LevelZeroCapabilities capabilities;
  capabilities.ticksPerSecond = 1e3;
  auto elapsed = [&](uint32_t bits, uint64_t begin, uint64_t end) {
    capabilities.properties.kernelTimestampValidBits = bits;
    return getElapsedMilliseconds(capabilities, begin, end);
  };
  EXPECT_EQ(elapsed(32, 10, 30), 20);
  EXPECT_EQ(elapsed(32, UINT32_MAX, 4), 5);
  // Bits that do not count.
  EXPECT_EQ(elapsed(32, 0xabc00000010, 0xdef00000030), 0x20);
  EXPECT_EQ(elapsed(36, (uint64_t(1) << 36) - 1, 1), 2);
  EXPECT_EQ(elapsed(64, UINT64_MAX, 1), 2);
  EXPECT_EQ(elapsed(0, 5, 6), 1);
}

// The fake library itself: it must detect the misuse that it is meant to
// detect.
TEST_F(FakeLevelZeroTest, SeesMisuse) {
  mayMisuse = true;
  auto expect = [&](ze_result_t result, const char *text) {
    EXPECT_NE(result, ZE_RESULT_SUCCESS);
    ASSERT_FALSE(fake->violations.empty());
    EXPECT_TRUE(contains(fake->violations.back(), text));
  };
  uint32_t count = 0;
  expect(driver.driverGet(&count, nullptr), "zeDriverGet before zeInit");
  open();
  void *foreign = &count;
  expect(driver.memFree(static_cast<ze_context_handle_t>(foreign), foreign),
         "zeMemFree: no such handle");
  expect(driver.appendBarrier(static_cast<ze_command_list_handle_t>(foreign),
                              nullptr, 0, nullptr),
         "zeCommandListAppendBarrier: no such handle");
  // Memory that is none of the device's.
  ASSERT_TRUE(launch(foreign).code() == StatusCode::LaunchFailed);
  EXPECT_TRUE(contains(fake->violations.back(), "bytesFrom(pointer) > 0"));
}

} // namespace
