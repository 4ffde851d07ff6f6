//===- CpuDeviceTest.cpp - The host as a device ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/CpuKernel.h"
#include "Runtime/Device.h"

#include "CPU/ThreadPool.h"
#include "CPU/Worker.h"
#include "MemoryPool.h"
#include "TestUtils.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

using namespace tessera::runtime;

namespace {

template <typename T> T &argument(void **args, int index) {
  return *static_cast<T *>(args[index]);
}

//===----------------------------------------------------------------------===//
// Kernels, as code generation would write them
//===----------------------------------------------------------------------===//

/// out[global thread] = 1 + linear ids of block and thread, packed.
void idKernel(void **args, const tessera_workgroup *group) {
  auto *out = argument<int64_t *>(args, 0);
  auto linear = [](const int64_t *id, const int64_t *dim) {
    return (id[2] * dim[1] + id[1]) * dim[0] + id[0];
  };
  int64_t block = linear(group->blockId, group->gridDim);
  int64_t thread = linear(group->threadId, group->blockDim);
  int64_t threads =
      group->blockDim[0] * group->blockDim[1] * group->blockDim[2];
  out[block * threads + thread] += 1 + block * 10000 + thread;
}

/// Inclusive prefix sum of each workgroup's part, in log2(threads) steps with
/// two barriers each. args: const int32 *in, int32 *out.
void prefixSumKernel(void **args, const tessera_workgroup *group) {
  auto *in = argument<const int32_t *>(args, 0);
  auto *out = argument<int32_t *>(args, 1);
  auto *sums = static_cast<int32_t *>(group->workgroupMemory);
  int64_t thread = group->threadId[0], threads = group->blockDim[0];
  int64_t global = group->blockId[0] * threads + thread;
  sums[thread] = in[global];
  tessera_cpu_barrier(group);
  for (int64_t distance = 1; distance < threads; distance *= 2) {
    int32_t left = thread >= distance ? sums[thread - distance] : 0;
    tessera_cpu_barrier(group);
    sums[thread] += left;
    tessera_cpu_barrier(group);
  }
  out[global] = sums[thread];
}

/// Threads below args[0] wait at a barrier.
void divergentKernel(void **args, const tessera_workgroup *group) {
  if (group->threadId[0] < argument<int64_t>(args, 0) && group->blockId[0] == 3)
    tessera_cpu_barrier(group);
}

/// The first thread leaves after one barrier, the others come to a second.
void earlyExitKernel(void **, const tessera_workgroup *group) {
  tessera_cpu_barrier(group);
  if (group->threadId[0] == 0)
    return;
  tessera_cpu_barrier(group);
}

/// *args[0] = byte args[1] of the workgroup memory, which it then writes.
void peekKernel(void **args, const tessera_workgroup *group) {
  auto *memory = static_cast<unsigned char *>(group->workgroupMemory);
  int64_t index = argument<int64_t>(args, 1);
  *argument<unsigned char *>(args, 0) = memory[index];
  memory[index] = 1;
}

/// A barrier in a workgroup of one thread.
void loneBarrierKernel(void **args, const tessera_workgroup *group) {
  tessera_cpu_barrier(group);
  argument<std::atomic<int64_t> *>(args, 0)->fetch_add(1);
}

/// Where workgroup memory is.
void addressKernel(void **args, const tessera_workgroup *group) {
  argument<void **>(args, 0)[group->blockId[0]] = group->workgroupMemory;
}

class CpuDeviceTest : public CpuKernelTest {
protected:
  void SetUp() override { open("3"); }

  void open(const char *threads) {
    CpuKernelTest::open(threads, {{"ids", idKernel},
                                  {"prefix_sum", prefixSumKernel},
                                  {"divergent", divergentKernel},
                                  {"early_exit", earlyExitKernel},
                                  {"peek", peekKernel},
                                  {"lone_barrier", loneBarrierKernel},
                                  {"address", addressKernel}});
  }

  using Shape = LaunchShape;
  template <typename... Args>
  Status launch(const char *kernel, Shape shape, Args... values) {
    return launchWith(*device, kernel, shape, values...);
  }
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_F(CpuDeviceTest, EveryThreadRunsOnceWithItsIds) {
  const Shape shapes[] = {
      {{1, 1, 1}, {1, 1, 1}},   {{5, 3, 2}, {1, 1, 1}},
      {{5, 3, 2}, {4, 3, 2}},   {{1, 1, 1}, {1, 1, 64}},
      {{700, 1, 1}, {2, 1, 1}}, {{9, 9, 1}, {1024, 1, 1}},
  };
  for (const Shape &shape : shapes) {
    int64_t blocks = shape.grid[0] * shape.grid[1] * shape.grid[2];
    int64_t threads = shape.block[0] * shape.block[1] * shape.block[2];
    std::vector<int64_t> out(static_cast<size_t>(blocks * threads));
    ASSERT_TRUE(launch("ids", shape, out.data()).ok());
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t thread = 0; thread < threads; ++thread)
        ASSERT_EQ(out[block * threads + thread], 1 + block * 10000 + thread);
  }
}

TEST_F(CpuDeviceTest, BarriersOrderWorkgroupMemory) {
  for (int64_t threads : {1, 2, 7, 128, 1024})
    for (int64_t blocks : {1, 17}) {
      std::vector<int32_t> in(static_cast<size_t>(threads * blocks));
      std::vector<int32_t> out(in.size());
      for (size_t index = 0; index < in.size(); ++index)
        in[index] = static_cast<int32_t>(index * 7919 % 101) - 50;
      Status status =
          launch("prefix_sum", {{blocks, 1, 1}, {threads, 1, 1}, threads * 4},
                 in.data(), out.data());
      ASSERT_TRUE(status.ok()) << status.message();
      for (int64_t block = 0; block < blocks; ++block) {
        int32_t sum = 0;
        for (int64_t index = block * threads; index < (block + 1) * threads;
             ++index)
          ASSERT_EQ(out[index], sum += in[index]) << threads << " " << index;
      }
    }
}

TEST_F(CpuDeviceTest, AnUnreachedBarrierIsAnError) {
  Status status = launch("divergent", {{8, 1, 1}, {64, 1, 1}}, int64_t(10));
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_EQ(status.message(),
            "kernel 'divergent', workgroup (3, 0, 0): 10 of 64 threads wait at "
            "a barrier that the other 54 ended without reaching");
  status = launch("early_exit", {{1, 1, 1}, {4, 1, 1}});
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_TRUE(contains(status.message(), "3 of 4 threads wait"));
  // All or none is fine, and the device goes on.
  EXPECT_TRUE(launch("divergent", {{8, 1, 1}, {64, 1, 1}}, int64_t(64)).ok());
  EXPECT_TRUE(launch("divergent", {{8, 1, 1}, {64, 1, 1}}, int64_t(0)).ok());
}

TEST_F(CpuDeviceTest, ALoneThreadNeedsNoBarrier) {
  std::atomic<int64_t> count{0};
  ASSERT_TRUE(launch("lone_barrier", {{1000, 2, 1}, {1, 1, 1}}, &count).ok());
  EXPECT_EQ(count, 2000);
}

TEST_F(CpuDeviceTest, AnEmptyGridDoesNothing) {
  for (int dim = 0; dim < 3; ++dim) {
    Shape shape = {{4, 4, 4}, {2, 1, 1}};
    shape.grid[dim] = 0;
    EXPECT_TRUE(launch("ids", shape, static_cast<int64_t *>(nullptr)).ok());
  }
  // Not a way around the checks.
  EXPECT_FALSE(launch("nothing", {{0, 1, 1}, {1, 1, 1}}).ok());
}

TEST_F(CpuDeviceTest, LimitsAreNamed) {
  auto message = [&](const char *kernel, Shape shape) {
    Status status = launch(kernel, shape);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    return status.message();
  };
  EXPECT_TRUE(contains(
      message("ids", {{1, 1, 1}, {1025, 1, 1}}),
      "a block of 1025x1x1 threads, but the cpu device supports at most 1024"));
  EXPECT_TRUE(
      contains(message("ids", {{1, 1, 1}, {INT64_MAX, 2, 1}}), "at most 1024"));
  EXPECT_TRUE(
      contains(message("ids", {{INT64_MAX, 2, 1}, {1, 1, 1}}), "at most 2^62"));
  EXPECT_TRUE(contains(message("ids", {{-1, 2, 1}, {1, 1, 1}}),
                       "negative grid -1x2x1"));
  EXPECT_TRUE(contains(message("ids", {{1, 2, 1}, {1, 0, 1}}), "1x0x1"));
  EXPECT_TRUE(contains(message("ids", {{1, 1, 1}, {1, 1, 1}, 2 << 20}),
                       "2097152 bytes of workgroup memory, but"));
  EXPECT_TRUE(contains(message("ids", {{1, 1, 1}, {1, 1, 1}, -4}), "-4"));
  EXPECT_TRUE(
      contains(message("oops", {{1, 1, 1}, {1, 1, 1}}),
               "kernel 'oops' is not loaded; loaded kernels: ids, prefix_sum"));
}

TEST_F(CpuDeviceTest, WorkgroupMemoryIsAlignedAndPerWorker) {
  std::vector<void *> addresses(64);
  ASSERT_TRUE(
      launch("address", {{64, 1, 1}, {1, 1, 1}, 100}, addresses.data()).ok());
  std::set<void *> distinct(addresses.begin(), addresses.end());
  EXPECT_LE(distinct.size(), 3u);
  for (void *address : distinct) {
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 64, 0u);
  }
  ASSERT_TRUE(
      launch("address", {{64, 1, 1}, {1, 1, 1}}, addresses.data()).ok());
  EXPECT_EQ(addresses[5], nullptr);
}

TEST_F(CpuDeviceTest, CheckingPoisonsWorkgroupMemory) {
  device->setChecking(true);
  unsigned char seen = 0;
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(
        launch("peek", {{1, 1, 1}, {1, 1, 1}, 64}, &seen, int64_t(63)).ok());
    EXPECT_EQ(seen, 0xFF);
  }
  Status status =
      launch("peek", {{1, 1, 1}, {1, 1, 1}, 64}, &seen, int64_t(70));
  EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
  EXPECT_TRUE(contains(status.message(), "kernel 'peek' writes past its 64 "
                                         "bytes of workgroup memory: at byte "
                                         "70"));
}

TEST_F(CpuDeviceTest, ManyShapesOneAfterTheOther) {
  // Large workgroups leave fibers in the pool that small ones must reuse.
  open("40");
  for (int64_t threads : {2, 1024, 64, 512, 3}) {
    std::vector<int64_t> out(static_cast<size_t>(80 * threads));
    Status status = launch("ids", {{80, 1, 1}, {threads, 1, 1}}, out.data());
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(out.back(), 1 + 79 * 10000 + threads - 1);
  }
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

TEST_F(CpuDeviceTest, ImagesHideAndReplaceEachOther) {
  KernelImage image;
  image.name = "other";
  image.functions = {{"ids", reinterpret_cast<void *>(&loneBarrierKernel)}};
  ASSERT_TRUE(device->loadImage(image).ok());
  std::atomic<int64_t> count{0};
  ASSERT_TRUE(launch("ids", {{3, 1, 1}, {1, 1, 1}}, &count).ok());
  EXPECT_EQ(count, 3);
  ASSERT_TRUE(device->unloadImage("other").ok());
  std::vector<int64_t> out(3);
  ASSERT_TRUE(launch("ids", {{3, 1, 1}, {1, 1, 1}}, out.data()).ok());
  EXPECT_EQ(out[2], 20001);
  EXPECT_EQ(device->unloadImage("other").code(), StatusCode::InvalidArgument);
  image.name = "test";
  ASSERT_TRUE(device->loadImage(image).ok());
  EXPECT_FALSE(launch("peek", {{1, 1, 1}, {1, 1, 1}}).ok());
}

TEST_F(CpuDeviceTest, RejectsImagesOfOthers) {
  KernelImage image;
  image.name = "gemm";
  image.kind = KernelImage::PTX;
  image.bytes = ".version 8.0";
  Status status = device->loadImage(image);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(contains(status.message(), "'gemm'"));
  image.kind = KernelImage::HostFunctions;
  image.functions = {{"missing", nullptr}};
  EXPECT_TRUE(contains(device->loadImage(image).message(),
                       "'missing' does not have an address"));
}

TEST_F(CpuDeviceTest, Resources) {
  Expected<KernelResources> known = device->resources("ids", 256, 1024);
  ASSERT_TRUE(known.ok());
  EXPECT_EQ(known->maxThreads, 1024);
  EXPECT_EQ(known->registers, -1);
  EXPECT_EQ(known->workgroupsPerUnit, 1);
  EXPECT_EQ(device->resources("ids")->workgroupsPerUnit, -1);
  EXPECT_FALSE(device->resources("none").ok());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(MemoryPoolTest, SizeClasses) {
  EXPECT_EQ(MemoryPool::sizeClass(0), 256u);
  EXPECT_EQ(MemoryPool::sizeClass(1), 256u);
  EXPECT_EQ(MemoryPool::sizeClass(256), 256u);
  EXPECT_EQ(MemoryPool::sizeClass(257), 512u);
  EXPECT_EQ(MemoryPool::sizeClass(size_t(1) << 30), size_t(1) << 30);
  EXPECT_EQ(MemoryPool::sizeClass(SIZE_MAX), 0u);
  EXPECT_EQ(MemoryPool::sizeClass((size_t(70) << 30) + 1),
            (size_t(70) << 30) + (2 << 20));
  for (size_t bytes = 1; bytes < (size_t(1) << 40); bytes += bytes / 7 + 1) {
    size_t rounded = MemoryPool::sizeClass(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_EQ(rounded % 256, 0u);
    EXPECT_EQ(MemoryPool::sizeClass(rounded), rounded);
    if (bytes >= 2048) {
      EXPECT_LE(rounded - bytes, bytes / 8);
    }
  }
}

TEST_F(CpuDeviceTest, FreedMemoryIsUsedAgain) {
  void *first = nullptr, *second = nullptr;
  ASSERT_TRUE(device->allocate(5000, &first).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 256, 0u);
  ASSERT_TRUE(device->free(first).ok());
  ASSERT_TRUE(device->allocate(5010, &second).ok());
  EXPECT_EQ(first, second);
  MemoryStats stats = device->memoryStats();
  EXPECT_EQ(stats.backendAllocations, 1u);
  EXPECT_EQ(stats.reuses, 1u);
  EXPECT_EQ(stats.liveBytes, MemoryPool::sizeClass(5000));
  EXPECT_EQ(stats.cachedBytes, 0u);
  ASSERT_TRUE(device->free(second).ok());
  EXPECT_EQ(device->memoryStats().cachedBytes, MemoryPool::sizeClass(5000));
  device->trim();
  EXPECT_EQ(device->memoryStats().cachedBytes, 0u);
  ASSERT_TRUE(device->allocate(5000, &first).ok());
  EXPECT_EQ(device->memoryStats().backendAllocations, 2u);
  EXPECT_EQ(device->memoryStats().peakBytes, MemoryPool::sizeClass(5000));
}

TEST_F(CpuDeviceTest, ZeroBytesGiveAPointerOfItsOwn) {
  void *first = nullptr, *second = nullptr;
  ASSERT_TRUE(device->allocate(0, &first).ok());
  ASSERT_TRUE(device->allocate(0, &second).ok());
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_TRUE(device->free(first).ok());
  EXPECT_TRUE(device->free(nullptr).ok());
}

TEST_F(CpuDeviceTest, FreeingTwiceIsAnError) {
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(10, &ptr).ok());
  ASSERT_TRUE(device->free(ptr).ok());
  EXPECT_EQ(device->free(ptr).code(), StatusCode::InvalidArgument);
  int local = 0;
  EXPECT_EQ(device->free(&local).code(), StatusCode::InvalidArgument);
}

TEST_F(CpuDeviceTest, OutOfMemoryNamesTheSizes) {
  int local = 0;
  void *ptr = &local;
  for (size_t bytes : {size_t(1) << 60, SIZE_MAX}) {
    Status status = device->allocate(bytes, &ptr);
    EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
    EXPECT_EQ(ptr, nullptr);
    EXPECT_TRUE(contains(status.message(),
                         std::to_string(bytes) + " bytes requested, "));
    EXPECT_TRUE(contains(status.message(),
                         " of " + std::to_string(device->info().memoryBytes) +
                             " free"));
  }
}

TEST_F(CpuDeviceTest, CopiesAndFills) {
  std::vector<unsigned char> host(1000), back(1000);
  std::iota(host.begin(), host.end(), 0);
  void *ptr = nullptr;
  ASSERT_TRUE(device->allocate(1000, &ptr).ok());
  ASSERT_TRUE(device->copyToDevice(ptr, host.data(), 1000).ok());
  ASSERT_TRUE(
      device->fill(static_cast<unsigned char *>(ptr) + 10, 0xAB, 5).ok());
  std::fill_n(host.begin() + 10, 5, 0xAB);
  ASSERT_TRUE(device->synchronize().ok());
  ASSERT_TRUE(device->copyToHost(back.data(), ptr, 1000).ok());
  EXPECT_EQ(host, back);
  EXPECT_TRUE(device->copyToHost(nullptr, ptr, 0).ok());
}

TEST_F(CpuDeviceTest, CheckingPoisonsAllocations) {
  device->setChecking(true);
  for (int run = 0; run < 2; ++run) {
    void *ptr = nullptr;
    ASSERT_TRUE(device->allocate(16, &ptr).ok());
    float values[4];
    ASSERT_TRUE(device->copyToHost(values, ptr, sizeof(values)).ok());
    EXPECT_NE(values[3], values[3]);
    ASSERT_TRUE(device->fill(ptr, 0, 16).ok());
    ASSERT_TRUE(device->free(ptr).ok());
  }
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

TEST_F(CpuDeviceTest, Time) {
  double milliseconds = -1;
  EXPECT_EQ(device->timeEnd(&milliseconds).code(), StatusCode::InvalidArgument);
  ASSERT_TRUE(device->timeBegin().ok());
  ASSERT_TRUE(device->flushCaches().ok());
  ASSERT_TRUE(device->timeEnd(&milliseconds).ok());
  EXPECT_GT(milliseconds, 0);
}

TEST_F(CpuDeviceTest, Info) {
  const DeviceInfo &info = device->info();
  EXPECT_EQ(info.target, "cpu");
  EXPECT_EQ(info.subgroupSize, 1);
  EXPECT_EQ(info.computeUnits, 3);
  EXPECT_FALSE(info.chip.empty());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.memoryBytes, size_t(1) << 20);
  EXPECT_GT(info.freeBytes, size_t(1) << 20);
  EXPECT_LE(info.freeBytes, info.memoryBytes);
  EXPECT_GE(info.workgroupMemoryBytes, size_t(256) << 10);
}

TEST(OpenDeviceTest, TheCpuIsAlwaysThereAndLast) {
  std::string why;
  std::vector<DeviceInfo> devices = listDevices(&why);
  ASSERT_FALSE(devices.empty());
  // Devices that are programs of the host follow.
  while (devices.size() > 1 && devices.back().isSoftware)
    devices.pop_back();
  EXPECT_EQ(devices.back().target, "cpu");
  // Either there is a CUDA device, or there is a line with the reason.
  if (devices.size() == 1) {
    EXPECT_EQ(why.find("cuda: "), 0u);
    EXPECT_EQ(why.back(), '\n');
    Expected<std::unique_ptr<Device>> none = openDevice("cuda");
    EXPECT_EQ(none.status().code(), StatusCode::NoDevice);
    EXPECT_TRUE(contains(none.status().message(), "no CUDA device: "));
  }
  // For one target only, the other drivers are not queried.
  std::vector<DeviceInfo> cpus = listDevices(&why, "cpu");
  ASSERT_EQ(cpus.size(), 1u);
  EXPECT_EQ(cpus[0].target, "cpu");
  EXPECT_EQ(why, "");
  EXPECT_EQ(listDevices(&why, "hip").empty(), why.find("hip: ") == 0);
  Expected<std::unique_ptr<Device>> best = openDevice("auto");
  ASSERT_TRUE(best.ok()) << best.status().message();
  EXPECT_EQ((*best)->info().target, devices.front().target);
}

TEST(OpenDeviceTest, UnknownOnes) {
  Expected<std::unique_ptr<Device>> unknown = openDevice("tpu");
  EXPECT_EQ(unknown.status().code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(contains(unknown.status().message(), "'tpu'"));
  EXPECT_EQ(openDevice("cpu", 1).status().code(), StatusCode::NoDevice);
  EXPECT_EQ(openDevice("auto", -1).status().code(), StatusCode::NoDevice);
  EXPECT_EQ(openDevice("auto", 1000).status().code(), StatusCode::NoDevice);
}

TEST(OpenDeviceTest, TheNumberOfThreadsIsChecked) {
  for (const char *text : {"", "0", "-1", "two", "3x", "100000"}) {
    setenv("TESSERA_CPU_THREADS", text, 1);
    Expected<std::unique_ptr<Device>> opened = openDevice("cpu");
    unsetenv("TESSERA_CPU_THREADS");
    EXPECT_EQ(opened.status().code(), StatusCode::InvalidArgument) << text;
    EXPECT_TRUE(contains(opened.status().message(), "TESSERA_CPU_THREADS"));
  }
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Adds the number of each worker to a sum of its own.
struct Sums {
  static constexpr unsigned workers = 4;
  std::vector<uint64_t> sums = std::vector<uint64_t>(16 * workers);

  void run(ThreadPool &pool, unsigned count) {
    pool.run(
        count,
        [](void *data, unsigned worker) {
          static_cast<Sums *>(data)->sums[size_t(16) * worker] += worker + 1;
        },
        this, ThreadPool::Attendance::Required);
  }
};

TEST(ThreadPool, EachWorkerRunsOnce) {
  ThreadPool pool(Sums::workers);
  ASSERT_EQ(pool.size(), Sums::workers);
  Sums sums;
  constexpr int runs = 2000;
  for (int run = 0; run < runs; ++run) {
    // Held and not, with fewer workers from time to time.
    run % 50 == 0 ? pool.hold() : run % 50 == 40 ? pool.release() : void();
    sums.run(pool, run % 7 == 0 ? 1 : Sums::workers);
  }
  uint64_t few = (runs + 6) / 7;
  EXPECT_EQ(sums.sums[0], static_cast<uint64_t>(runs));
  for (unsigned worker = 1; worker < Sums::workers; ++worker)
    EXPECT_EQ(sums.sums[size_t(16) * worker], (worker + 1) * (runs - few));
}

TEST(ThreadPool, ThreadsStayAwakeBetweenTheKernelsOfARun) {
  // Longer than the machine may be busy.
  ThreadPool pool(2, std::chrono::minutes(1));
  ASSERT_EQ(pool.size(), 2u);
  Sums sums;
  constexpr uint64_t runs = 100;
  for (int round = 0; round < 3; ++round) {
    uint64_t before = pool.countWakes();
    pool.hold();
    for (uint64_t run = 0; run < runs; ++run)
      sums.run(pool, 2);
    pool.release();
    EXPECT_LE(pool.countWakes() - before, 1u);
  }
  EXPECT_EQ(sums.sums[0], 3 * runs);
}

TEST(ThreadPool, ThreadsSleepAtOnceOutsideOfRuns) {
  ThreadPool pool(2, std::chrono::minutes(1));
  Sums sums;
  for (int run = 0; run < 50 && pool.countWakes() == 0; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sums.run(pool, 2);
  }
  EXPECT_GT(pool.countWakes(), 0u);
}

/// A signal that keeps the thread that receives it from its work.
struct Nap {
  static inline std::atomic<bool> begun = false, ends = false;

  static void handle(int) {
    begun = true;
    while (!ends)
      std::this_thread::yield();
  }
};

TEST(ThreadPool, NobodyWaitsForAWorkerThatHasNotJoined) {
  ThreadPool pool(2);
  ASSERT_EQ(pool.size(), 2u);
  // Only the pool's thread receives the signal.
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
  struct sigaction action = {}, old = {};
  action.sa_handler = Nap::handle;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);
  ASSERT_EQ(kill(getpid(), SIGUSR1), 0);
  while (!Nap::begun)
    std::this_thread::yield();

  std::atomic<unsigned> workers = 0;
  auto note = [](void *data, unsigned worker) {
    static_cast<std::atomic<unsigned> *>(data)->fetch_or(1u << worker);
  };
  pool.run(2, note, &workers);
  EXPECT_EQ(workers, 1u);
  Nap::ends = true;
  // It takes no part in the job that has ended, and takes part in later ones.
  pool.run(2, note, &workers, ThreadPool::Attendance::Required);
  EXPECT_EQ(workers, 3u);
  sigaction(SIGUSR1, &old, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

/// The numbers of the workgroups of a share, in order.
std::vector<int64_t> list(const Share &share, const int64_t (&grid)[3]) {
  std::vector<int64_t> ids;
  for (int64_t at = share.next; at < share.end; ++at) {
    auto [x, y, z] = share.getWorkgroup(at);
    ids.push_back((z * grid[1] + y) * grid[0] + x);
  }
  return ids;
}

TEST(Share, EachWorkgroupIsInOneShare) {
  const int64_t grids[][3] = {{1, 1, 1},  {7, 1, 1},  {2, 9, 1}, {25, 3, 4},
                              {98, 2, 1}, {3, 50, 2}, {1, 1, 5}, {64, 8, 3}};
  for (const auto &grid : grids)
    for (unsigned count : {1u, 2u, 3u, 7u}) {
      int64_t total = grid[0] * grid[1] * grid[2];
      if (total < count)
        continue;
      std::vector<int64_t> all;
      for (unsigned number = 0; number < count; ++number) {
        Share share;
        share.divide(grid, number, count);
        std::vector<int64_t> ids = list(share, grid);
        EXPECT_FALSE(ids.empty());
        all.insert(all.end(), ids.begin(), ids.end());
      }
      std::sort(all.begin(), all.end());
      std::vector<int64_t> expected(static_cast<size_t>(total));
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected);
    }
}

TEST(Share, WideGridsAreDividedByColumns) {
  Share share;
  share.divide({5, 2, 1}, 1, 2);
  EXPECT_EQ(list(share, {5, 2, 1}), (std::vector<int64_t>{3, 4, 8, 9}));
  // Each worker has some of the rows.
  share.divide({3, 8, 1}, 1, 2);
  std::vector<int64_t> half(12);
  std::iota(half.begin(), half.end(), 12);
  EXPECT_EQ(list(share, {3, 8, 1}), half);
}

TEST(Share, WorkersDoNotShareCacheLines) {
  EXPECT_EQ(alignof(Worker) % cacheLineBytes, 0u);
  EXPECT_EQ(sizeof(Worker) % cacheLineBytes, 0u);
}

} // namespace
