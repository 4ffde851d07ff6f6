//===- ConstantsTest.cpp - Constants that are not part of code ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Device.h"
#include "Runtime/Session.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tessera::runtime;

namespace {

Constant makeConstant(const std::string &hash, std::string_view bytes,
                      std::shared_ptr<const void> owner = nullptr) {
  Constant constant;
  constant.owner = std::move(owner);
  constant.hash = hash;
  constant.size = static_cast<int64_t>(bytes.size());
  constant.bytes = bytes;
  return constant;
}

/// Memory of the host that the CPU can use in place.
struct alignas(256) HostMemory {
  char bytes[64];
};

TEST(Constants, AreSharedWhileAProgramUsesThem) {
  auto device = openDevice("cpu", 0);
  ASSERT_TRUE(device.ok());
  auto contents = std::make_shared<std::string>("x0123456789abcde");
  // Not aligned, so that it is copied.
  std::string_view bytes = std::string_view(*contents).substr(1);
  size_t before = (*device)->memoryStats().liveBytes;
  {
    DeviceConstants first(**device), second(**device);
    ASSERT_TRUE(first.load({makeConstant("a", bytes, contents)}).ok());
    void *copy = first.find(0, 15);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(std::memcmp(copy, bytes.data(), bytes.size()), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(copy) % 256, 0u);
    ASSERT_TRUE(
        second.load({makeConstant("b", "z"), makeConstant("a", bytes)}).ok());
    EXPECT_EQ(second.find(1, 15), copy);
    EXPECT_NE(second.find(0, 1), copy);
    // Another size or number.
    EXPECT_EQ(first.find(0, 14), nullptr);
    EXPECT_EQ(first.find(1, 15), nullptr);
    EXPECT_EQ(first.find(-1, 15), nullptr);
  }
  EXPECT_EQ((*device)->memoryStats().liveBytes, before);
}

TEST(Constants, OfAClaimedHashAreNotShared) {
  auto device = openDevice("cpu", 0);
  ASSERT_TRUE(device.ok());
  auto right = std::make_shared<std::string>("right"),
       wrong = std::make_shared<std::string>("wrong");
  DeviceConstants claims(**device), own(**device), other(**device);
  ASSERT_TRUE(claims.load({makeConstant("a", *wrong, wrong)}).ok());
  ASSERT_TRUE(own.load({makeConstant("a", *right, right)}).ok());
  EXPECT_EQ(std::memcmp(own.find(0, 5), "right", 5), 0);
  EXPECT_EQ(std::memcmp(claims.find(0, 5), "wrong", 5), 0);
  // Contents that may be gone are not compared.
  ASSERT_TRUE(other.load({makeConstant("b", *right)}).ok());
  void *first = other.find(0, 5);
  ASSERT_TRUE(own.load({makeConstant("b", *right, right)}).ok());
  EXPECT_NE(own.find(1, 5), first);
}

TEST(Constants, StayWhereTheCPUCanReadThem) {
  auto device = openDevice("cpu", 0);
  ASSERT_TRUE(device.ok());
  auto memory = std::make_shared<HostMemory>();
  Constant constant = makeConstant("a", {memory->bytes, sizeof(memory->bytes)});
  constant.owner = memory;
  {
    DeviceConstants constants(**device);
    ASSERT_TRUE(constants.load({constant}).ok());
    EXPECT_EQ(constants.find(0, 64), memory->bytes);
    constant.owner.reset();
    EXPECT_EQ(memory.use_count(), 2);
  }
  EXPECT_EQ(memory.use_count(), 1);
  // While memory is checked, nothing is.
  (*device)->setChecking(true);
  DeviceConstants copied(**device);
  ASSERT_TRUE(copied.load({constant}).ok());
  EXPECT_NE(copied.find(0, 64), memory->bytes);
}

TEST(Constants, WithoutContentsAreAnError) {
  auto device = openDevice("cpu", 0);
  ASSERT_TRUE(device.ok());
  DeviceConstants constants(**device);
  Constant missing = makeConstant("a", "");
  missing.size = 4;
  Status status = constants.load({missing});
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("constant 0"), std::string::npos);
  // Computed ones have none.
  missing.hash.clear();
  EXPECT_TRUE(constants.load({missing}).ok());
  EXPECT_NE(constants.find(0, 4), nullptr);
}

TEST(Constants, UnknownNumbersEndARun) {
  auto device = openDevice("cpu", 0);
  ASSERT_TRUE(device.ok());
  DeviceConstants constants(**device);
  ASSERT_TRUE(constants.load({makeConstant("a", "text")}).ok());
  Session session(**device);
  SessionScope scope(session);
  EXPECT_EQ(tessera_rt_data(0, 4), nullptr);
  EXPECT_EQ(session.status().code(), StatusCode::InvalidArgument);
  session.endRun();
  session.setConstants(&constants);
  EXPECT_EQ(tessera_rt_data(0, 4), constants.find(0, 4));
  EXPECT_TRUE(session.status().ok());
  EXPECT_EQ(tessera_rt_data(0, 5), nullptr);
  EXPECT_EQ(session.status().message(),
            "the program has no constant 0 of 5 bytes");
}

} // namespace
