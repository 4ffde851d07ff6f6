//===- SessionTest.cpp - The runtime of host code -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Session.h"

#include "Runtime/CpuKernel.h"

#include "gtest/gtest.h"

#include <string>
#include <thread>

using namespace tessera::runtime;

namespace {

/// args: int32 *out, int32 value.
void storeKernel(void **args, const tessera_workgroup *group) {
  int32_t *out = *static_cast<int32_t **>(args[0]);
  out[group->blockId[0]] = *static_cast<int32_t *>(args[1]);
}

class SessionTest : public testing::Test {
protected:
  void SetUp() override {
    Expected<std::unique_ptr<Device>> opened = openDevice("cpu");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
    KernelImage image;
    image.name = "test";
    image.functions = {{"store", reinterpret_cast<void *>(&storeKernel)}};
    ASSERT_TRUE(device->loadImage(image).ok());
  }

  /// As compiled host code launches it.
  static void store(int32_t *out, int32_t value, int64_t grid,
                    const char *kernel = "store") {
    void *args[] = {static_cast<void *>(&out), &value};
    int64_t sizes[] = {sizeof(out), sizeof(value)};
    tessera_rt_launch(kernel, grid, 1, 1, 1, 1, 1, 0, 2, args, sizes);
  }

  std::unique_ptr<Device> device;
};

TEST_F(SessionTest, LaunchesAndKeepsARecord) {
  Session session(*device);
  SessionScope scope(session);
  auto *out = static_cast<int32_t *>(tessera_rt_alloc(3 * sizeof(int32_t)));
  ASSERT_NE(out, nullptr);
  store(out, 7, 3);
  EXPECT_TRUE(session.finish().ok());
  int32_t host[3] = {};
  ASSERT_TRUE(device->copyToHost(host, out, sizeof(host)).ok());
  EXPECT_EQ(host[0], 7);
  EXPECT_EQ(host[2], 7);
  ASSERT_EQ(session.launches().size(), 1u);
  EXPECT_EQ(session.launches()[0].kernel, "store");
  EXPECT_EQ(session.launches()[0].grid[0], 3);
  EXPECT_EQ(session.launches()[0].block[2], 1);
  session.clearLaunches();
  session.setRecording(false);
  store(out, 7, 1);
  EXPECT_TRUE(session.launches().empty());
  tessera_rt_free(out);
  tessera_rt_free(nullptr);
  EXPECT_TRUE(session.status().ok());
}

TEST_F(SessionTest, TheFirstErrorStays) {
  Session session(*device);
  SessionScope scope(session);
  auto *out = static_cast<int32_t *>(tessera_rt_alloc(sizeof(int32_t)));
  store(out, 1, 1);
  tessera_rt_report("dimension 1 of A is 7, not 8");
  // Skipped, null, and no second message.
  store(out, 2, 1);
  EXPECT_EQ(tessera_rt_alloc(16), nullptr);
  EXPECT_EQ(tessera_rt_aligned_alloc(64, 16), nullptr);
  tessera_rt_report("another");
  store(nullptr, 2, 1);
  EXPECT_EQ(session.finish().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(session.status().message(), "dimension 1 of A is 7, not 8");
  EXPECT_EQ(*out, 1);
  EXPECT_EQ(session.launches().size(), 1u);
  // Earlier allocations can still be freed.
  tessera_rt_free(out);
  EXPECT_EQ(device->memoryStats().liveBytes, 0u);
}

TEST_F(SessionTest, AFailedLaunchIsAnError) {
  Session session(*device);
  SessionScope scope(session);
  store(nullptr, 1, 1, "strore");
  EXPECT_EQ(session.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(session.status().message(),
            "kernel 'strore' is not loaded; loaded kernels: store");
  EXPECT_TRUE(session.launches().empty());
}

TEST_F(SessionTest, AnEmptyGridIsListed) {
  Session session(*device);
  SessionScope scope(session);
  store(nullptr, 1, 0);
  EXPECT_TRUE(session.status().ok());
  ASSERT_EQ(session.launches().size(), 1u);
  EXPECT_EQ(session.launches()[0].grid[0], 0);
}

TEST_F(SessionTest, AMissingTensorMapIsItsLaunchsError) {
  Session session(*device);
  SessionScope scope(session);
  alignas(tensorMapAlignment) char map[tensorMapBytes];
  auto *out = static_cast<int32_t *>(tessera_rt_alloc(3 * sizeof(int32_t)));
  int64_t sizes[] = {3}, strides[] = {1}, box[] = {4};
  auto make = [&] {
    tessera_rt_tensor_map(map, out, 0, 1, sizes, strides, 2, box, 0);
  };
  make();
  store(out, 7, 0);
  EXPECT_TRUE(session.status().ok());
  store(out, 7, 3);
  EXPECT_TRUE(session.status().ok());
  make();
  EXPECT_TRUE(session.status().ok());
  store(out, 7, 3);
  EXPECT_EQ(session.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(session.status().message(),
            "launch of 'store': " + device->info().name +
                " does not support tensor maps");
}

TEST_F(SessionTest, GuardsMemory) {
  for (bool isAfter : {false, true})
    for (int64_t alignment : {1, 4096}) {
      Session session(*device);
      session.setGuard(256);
      SessionScope scope(session);
      auto *out =
          static_cast<int32_t *>(tessera_rt_aligned_alloc(alignment, 12));
      auto *other = static_cast<int32_t *>(tessera_rt_alloc(12));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(out) % alignment, 0u);
      store(out, 7, 3);
      EXPECT_TRUE(session.finish().ok());
      EXPECT_FALSE(session.damage());
      // The last element of a guard, and the one next to the memory.
      store(isAfter ? out + 3 + 63 : out - 1, 7, 1);
      if (isAfter)
        EXPECT_TRUE(session.finish().ok());
      else
        tessera_rt_free(out);
      ASSERT_TRUE(session.damage());
      EXPECT_EQ(session.damage()->ptr, out);
      EXPECT_EQ(session.damage()->size, 12u);
      EXPECT_EQ(session.damage()->isAfter, isAfter);
      EXPECT_EQ(session.damage()->bytes, 4u);
      EXPECT_EQ(session.damage()->distance, isAfter ? 252u : 0u);
      tessera_rt_free(other);
      EXPECT_TRUE(session.status().ok());
    }
  EXPECT_EQ(device->memoryStats().liveBytes, 0u);
}

TEST_F(SessionTest, FreesWhatIsLeft) {
  {
    Session session(*device);
    SessionScope scope(session);
    tessera_rt_alloc(1000);
    tessera_rt_aligned_alloc(4096, 1000);
    EXPECT_GE(device->memoryStats().liveBytes, 2000u);
  }
  EXPECT_EQ(device->memoryStats().liveBytes, 0u);
}

TEST_F(SessionTest, ConstantsAreCopiedOnce) {
  int32_t host[4] = {1, 2, 3, 4};
  {
    Session session(*device);
    SessionScope scope(session);
    void *copy = tessera_rt_constant(host, sizeof(host));
    ASSERT_NE(copy, nullptr);
    EXPECT_NE(copy, host);
    EXPECT_FALSE(session.owns(copy));
    int32_t back[4] = {};
    ASSERT_TRUE(device->copyToHost(back, copy, sizeof(back)).ok());
    EXPECT_EQ(back[3], 4);
    // Copied once, whatever becomes of the host's memory.
    host[3] = 5;
    EXPECT_EQ(tessera_rt_constant(host, sizeof(host)), copy);
    ASSERT_TRUE(device->copyToHost(back, copy, sizeof(back)).ok());
    EXPECT_EQ(back[3], 4);
    EXPECT_NE(tessera_rt_constant(host, 8), copy);
    EXPECT_NE(tessera_rt_constant(host + 1, 8), copy);
    EXPECT_NE(tessera_rt_constant(nullptr, 0), nullptr);
    EXPECT_TRUE(session.status().ok());

    // Not host code's to free.
    tessera_rt_free(copy);
    EXPECT_EQ(session.status().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(tessera_rt_constant(host, sizeof(host)), nullptr);
  }
  EXPECT_EQ(device->memoryStats().liveBytes, 0u);
  {
    Session session(*device);
    SessionScope scope(session);
    EXPECT_EQ(tessera_rt_constant(host, -1), nullptr);
    EXPECT_NE(session.status().message().find("-1 bytes"), std::string::npos);
  }
}

TEST_F(SessionTest, ReadsScalarsBehindTheLaunchesThatComputeThem) {
  Session session(*device);
  SessionScope scope(session);
  auto *out = static_cast<int32_t *>(tessera_rt_alloc(sizeof(int32_t)));
  store(out, 7, 1);
  int32_t value = -1;
  tessera_rt_read(&value, out, sizeof(value));
  EXPECT_EQ(value, 7);
  // Zero, for which loops end.
  tessera_rt_report("a failure");
  tessera_rt_read(&value, out, sizeof(value));
  EXPECT_EQ(value, 0);
}

TEST_F(SessionTest, TheEndOfARunKeepsCopiesOfConstants) {
  static const int32_t host[] = {3, 1, 4}, others[] = {1, 5, 9};
  Session session(*device);
  SessionScope scope(session);
  void *copy = tessera_rt_constant(host, sizeof(host));
  ASSERT_NE(copy, nullptr);
  size_t live = device->memoryStats().liveBytes;
  EXPECT_NE(tessera_rt_alloc(4096), nullptr);
  void *given = tessera_rt_alloc(4096), *base = session.release(given);
  tessera_rt_report("a failure");
  // No copy without contents is found by the next run.
  EXPECT_EQ(tessera_rt_constant(others, sizeof(others)), nullptr);
  session.endRun();
  EXPECT_TRUE(session.status().ok());
  EXPECT_EQ(tessera_rt_constant(host, sizeof(host)), copy);
  EXPECT_TRUE(device->free(base).ok());
  EXPECT_EQ(device->memoryStats().liveBytes, live);
  auto *second =
      static_cast<int32_t *>(tessera_rt_constant(others, sizeof(others)));
  ASSERT_NE(second, nullptr);
  int32_t found[3] = {};
  ASSERT_TRUE(device->copyToHost(found, second, sizeof(found)).ok());
  EXPECT_EQ(found[2], 9);
}

TEST_F(SessionTest, ReleasedMemoryIsTheCallers) {
  void *base = nullptr, *aligned = nullptr;
  {
    Session session(*device);
    SessionScope scope(session);
    void *ptr = tessera_rt_alloc(100);
    EXPECT_TRUE(session.owns(ptr));
    EXPECT_EQ(session.release(ptr), ptr);
    EXPECT_FALSE(session.owns(ptr));
    EXPECT_EQ(session.release(ptr), nullptr);
    ASSERT_TRUE(device->free(ptr).ok());

    aligned = tessera_rt_aligned_alloc(8192, 100);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned) % 8192, 0u);
    base = session.release(aligned);
    ASSERT_NE(base, nullptr);
  }
  EXPECT_GT(device->memoryStats().liveBytes, 0u);
  EXPECT_TRUE(device->free(base).ok());
  EXPECT_EQ(device->memoryStats().liveBytes, 0u);
}

TEST_F(SessionTest, ChecksSizesAndPointers) {
  {
    Session session(*device);
    SessionScope scope(session);
    EXPECT_EQ(tessera_rt_alloc(-8), nullptr);
    EXPECT_NE(session.status().message().find("-8 bytes"), std::string::npos);
  }
  {
    Session session(*device);
    SessionScope scope(session);
    EXPECT_EQ(tessera_rt_aligned_alloc(48, 8), nullptr);
    EXPECT_NE(session.status().message().find("48"), std::string::npos);
  }
  {
    Session session(*device);
    SessionScope scope(session);
    EXPECT_EQ(tessera_rt_alloc(INT64_MAX), nullptr);
    EXPECT_EQ(session.status().code(), StatusCode::OutOfMemory);
  }
  {
    Session session(*device);
    SessionScope scope(session);
    void *ptr = tessera_rt_alloc(8);
    tessera_rt_free(ptr);
    tessera_rt_free(ptr);
    EXPECT_EQ(session.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(session.status().message().find("did not allocate"),
              std::string::npos);
  }
}

TEST_F(SessionTest, ChecksTheSizesOfArrays) {
  auto tryArray = [&](std::vector<int64_t> sizes) {
    Session session(*device);
    SessionScope scope(session);
    void *memory = tessera_rt_alloc_array(1, static_cast<int64_t>(sizes.size()),
                                          sizes.data(), 4, "f32 at a:1:2");
    EXPECT_EQ(memory != nullptr, session.status().ok());
    if (!memory)
      EXPECT_EQ(session.status().code(), StatusCode::InvalidArgument);
    return session.status().message();
  };
  EXPECT_EQ(tryArray({}), "");
  EXPECT_EQ(tryArray({3, 5}), "");
  // No element, whatever the other sizes are.
  EXPECT_EQ(tryArray({INT64_MAX, INT64_MAX, 0}), "");
  constexpr int64_t half = int64_t(1) << 31;
  // 2^64 bytes, which are none modulo 2^64; and 2^63.
  for (const std::vector<int64_t> &sizes :
       {std::vector<int64_t>{half, half}, {half, half / 2}})
    EXPECT_EQ(tryArray(sizes), "allocation of an array of " +
                                   std::to_string(sizes[0]) + "x" +
                                   std::to_string(sizes[1]) +
                                   "xf32 at a:1:2: it exceeds 2^63 - 1 bytes");
  EXPECT_EQ(tryArray({-2, -2}),
            "allocation of an array of -2x-2xf32 at a:1:2: the size of "
            "dimension 0 is negative");
  EXPECT_EQ(tryArray({0, -1}),
            "allocation of an array of 0x-1xf32 at a:1:2: the size of "
            "dimension 1 is negative");
  {
    // More than there is, and not more than can be.
    Session session(*device);
    SessionScope scope(session);
    int64_t sizes[] = {half, half / 4};
    EXPECT_EQ(tessera_rt_alloc_array(1, 2, sizes, 4, "f32"), nullptr);
    EXPECT_EQ(session.status().code(), StatusCode::OutOfMemory);
  }
}

TEST_F(SessionTest, NothingIsAZeroSizedAllocation) {
  Session session(*device);
  SessionScope scope(session);
  void *first = tessera_rt_alloc(0), *second = tessera_rt_alloc(0);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_NE(first, second);
}

TEST_F(SessionTest, TheHookCanReject) {
  Session session(*device);
  SessionScope scope(session);
  std::string seen;
  session.setLaunchHook([&](const LaunchRequest &request) {
    seen += request.kernel;
    if (request.grid[0] > 1)
      return Status(StatusCode::InvalidArgument, "too many");
    return Status::success();
  });
  int32_t out[2] = {};
  store(out, 5, 1);
  EXPECT_EQ(out[0], 5);
  store(out, 6, 2);
  EXPECT_EQ(out[0], 5);
  EXPECT_EQ(session.status().message(), "too many");
  EXPECT_EQ(seen, "storestore");
}

TEST_F(SessionTest, ScopesNestAndBelongToAThread) {
  EXPECT_EQ(currentSession(), nullptr);
  Session outer(*device), inner(*device);
  SessionScope outerScope(outer);
  {
    SessionScope innerScope(inner);
    EXPECT_EQ(currentSession(), &inner);
    tessera_rt_report("inner");
  }
  EXPECT_EQ(currentSession(), &outer);
  EXPECT_TRUE(outer.status().ok());
  EXPECT_FALSE(inner.status().ok());
  Session *seen = &outer;
  std::thread([&] { seen = currentSession(); }).join();
  EXPECT_EQ(seen, nullptr);
}

TEST(SessionDeathTest, WithoutASessionItSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(tessera_rt_alloc(8), "tessera_rt_alloc outside of a session");
  EXPECT_DEATH(tessera_rt_report("A is too small"), "A is too small");
}

//===----------------------------------------------------------------------===//
// Buffers that host code accesses
//===----------------------------------------------------------------------===//

// As on a device with memory of its own: kernels get the other side's address.

static int32_t *allocateShared(int64_t count) {
  return static_cast<int32_t *>(tessera_rt_alloc_shared(
      /*isSeparate=*/1, /*alignment=*/1, /*rank=*/1, &count, sizeof(int32_t),
      "i32"));
}

TEST_F(SessionTest, CopiesBuffersThatBothSidesAccess) {
  Session session(*device);
  SessionScope scope(session);
  int32_t *host = allocateShared(3);
  ASSERT_NE(host, nullptr);
  tessera_rt_host_access(host, /*isWrite=*/1);
  host[0] = 1;
  host[1] = 2;
  host[2] = 3;
  // The kernel writes the second element, at an address within the block.
  auto *onDevice = static_cast<int32_t *>(tessera_rt_to_device(host + 1));
  EXPECT_NE(onDevice, host + 1);
  store(onDevice, 7, 1);
  EXPECT_EQ(host[1], 2);
  tessera_rt_host_access(host + 2, /*isWrite=*/1);
  EXPECT_EQ(host[0], 1);
  EXPECT_EQ(host[1], 7);
  host[2] = 4;
  // The next launch gets what the host wrote.
  EXPECT_EQ(tessera_rt_to_device(host + 1), onDevice);
  EXPECT_EQ(onDevice[0], 7);
  EXPECT_EQ(onDevice[1], 4);
  tessera_rt_free(host);
  EXPECT_TRUE(session.finish().ok()) << session.status().message();
  tessera_rt_free(host);
  EXPECT_FALSE(session.status().ok());
}

TEST_F(SessionTest, SharesArgumentsAndResults) {
  void *argument = nullptr;
  ASSERT_TRUE(device->allocate(2 * sizeof(int32_t), &argument).ok());
  int32_t contents[] = {5, 6};
  ASSERT_TRUE(device->copyToDevice(argument, contents, sizeof(contents)).ok());
  {
    Session session(*device);
    SessionScope scope(session);
    auto *host = static_cast<int32_t *>(tessera_rt_share(
        argument, sizeof(contents), static_cast<int64_t>(SharedKind::Device)));
    tessera_rt_host_access(host, /*isWrite=*/1);
    EXPECT_EQ(host[1], 6);
    host[1] = 8;
    int32_t *result = allocateShared(1);
    tessera_rt_host_access(result, /*isWrite=*/1);
    *result = 9;
    void *exported = tessera_rt_export(result);
    // Twice, as two results that are one buffer.
    EXPECT_EQ(tessera_rt_export(result), exported);
    EXPECT_EQ(tessera_rt_export(host + 1),
              static_cast<char *>(argument) + sizeof(int32_t));
    EXPECT_TRUE(session.owns(exported));
    EXPECT_FALSE(session.owns(argument));
    tessera_rt_end_entry();
    EXPECT_EQ(*static_cast<int32_t *>(exported), 9);
    EXPECT_TRUE(session.finish().ok()) << session.status().message();
  }
  ASSERT_TRUE(device->copyToHost(contents, argument, sizeof(contents)).ok());
  EXPECT_EQ(contents[1], 8);
  EXPECT_TRUE(device->free(argument).ok());
}

TEST_F(SessionTest, CopiesVariablesButNotConstantsBack) {
  Session session(*device);
  SessionScope scope(session);
  int32_t variable = 1, constant = 2;
  tessera_rt_share(&variable, sizeof(variable),
                   static_cast<int64_t>(SharedKind::Variable));
  tessera_rt_share(&constant, sizeof(constant),
                   static_cast<int64_t>(SharedKind::Constant));
  store(static_cast<int32_t *>(tessera_rt_to_device(&variable)), 3, 1);
  store(static_cast<int32_t *>(tessera_rt_to_device(&constant)), 3, 1);
  tessera_rt_host_access(&variable, /*isWrite=*/0);
  tessera_rt_host_access(&constant, /*isWrite=*/0);
  EXPECT_EQ(variable, 3);
  EXPECT_EQ(constant, 2);
  // An address that is in no block is passed on.
  int32_t other = 0;
  EXPECT_EQ(tessera_rt_to_device(&other), &other);
}

static int reached;
static void accessAfterError(void **) {
  reached = 1;
  int64_t size = -1;
  (void)tessera_rt_alloc_shared(/*isSeparate=*/0, /*alignment=*/1, /*rank=*/1,
                                &size, sizeof(int32_t), "i32");
  reached = 2;
}

TEST_F(SessionTest, LeavesHostCodeThatAccessesBuffersAfterAnError) {
  Session session(*device);
  SessionScope scope(session);
  reached = 0;
  session.call(&accessAfterError, nullptr);
  EXPECT_EQ(reached, 1);
  EXPECT_NE(session.status().message().find("the size of dimension 0"),
            std::string::npos);
}

TEST_F(SessionTest, PrintsToItsSink) {
  Session session(*device);
  std::string printed;
  session.setPrintSink([&](std::string_view text) { printed += text; });
  session.print("a");
  int64_t size = 5, stride = 1;
  SessionScope scope(session);
  int32_t *host = allocateShared(4);
  EXPECT_FALSE(
      session.prepareRead(1, host, 0, &size, &stride, sizeof(int32_t)));
  EXPECT_NE(session.status().message().find("exceeds its buffer of 16 bytes"),
            std::string::npos);
  session.print("b");
  EXPECT_EQ(printed, "a");
}

} // namespace
