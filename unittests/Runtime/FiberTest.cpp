//===- FiberTest.cpp - Cooperative threads --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/Fiber.h"

#include "gtest/gtest.h"

#include <cstring>
#include <string>

using namespace tessera::runtime;

namespace {

struct Walker {
  Fiber *fiber = nullptr;
  std::string *log = nullptr;
  char name = '?';
  int steps = 0;
};

/// Writes its name, yields, and so on.
void walk(void *data) {
  auto *walker = static_cast<Walker *>(data);
  for (int step = 0; step < walker->steps; ++step) {
    *walker->log += walker->name;
    FiberSet::yield(walker->fiber);
  }
}

TEST(FiberTest, RunsFromYieldToYield) {
  FiberSet set;
  ASSERT_TRUE(set.reserve(2));
  std::string log;
  Walker a{set.get(0), &log, 'a', 2}, b{set.get(1), &log, 'b', 1};
  set.start(0, walk, &a);
  set.start(1, walk, &b);
  EXPECT_FALSE(set.resume(0));
  EXPECT_EQ(log, "a");
  EXPECT_FALSE(set.resume(1));
  EXPECT_FALSE(set.resume(0));
  EXPECT_EQ(log, "aba");
  EXPECT_TRUE(set.resume(1));
  EXPECT_TRUE(set.resume(0));
  EXPECT_EQ(log, "aba");
}

TEST(FiberTest, IsUsedAgain) {
  FiberSet set;
  ASSERT_TRUE(set.reserve(1));
  std::string log;
  for (char name = 'a'; name < 'e'; ++name) {
    Walker walker{set.get(0), &log, name, 1};
    set.start(0, walk, &walker);
    EXPECT_FALSE(set.resume(0));
    EXPECT_TRUE(set.resume(0));
  }
  EXPECT_EQ(log, "abcd");
}

TEST(FiberTest, AnUnfinishedBodyIsAbandoned) {
  FiberSet set;
  ASSERT_TRUE(set.reserve(1));
  std::string log;
  Walker endless{set.get(0), &log, 'a', 1000}, next{set.get(0), &log, 'b', 1};
  set.start(0, walk, &endless);
  EXPECT_FALSE(set.resume(0));
  EXPECT_FALSE(set.resume(0));
  set.start(0, walk, &next);
  EXPECT_FALSE(set.resume(0));
  EXPECT_TRUE(set.resume(0));
  EXPECT_EQ(log, "aab");
}

TEST(FiberTest, ReserveKeepsWhatIsThere) {
  FiberSet set;
  ASSERT_TRUE(set.reserve(3));
  Fiber *first = set.get(0);
  ASSERT_TRUE(set.reserve(1024));
  EXPECT_EQ(set.size(), 1024u);
  EXPECT_EQ(set.get(0), first);
  ASSERT_TRUE(set.reserve(2));
  EXPECT_EQ(set.size(), 1024u);
  set.clear();
  EXPECT_EQ(set.size(), 0u);
}

/// Takes `bytes` of stack, 1 KiB a call, and touches all of it.
int useStack(int bytes) {
  volatile char frame[1024];
  for (size_t index = 0; index < sizeof(frame); ++index)
    frame[index] = static_cast<char>(index);
  return bytes <= 0 ? 0 : frame[3] + useStack(bytes - 1024);
}

TEST(FiberTest, HasItsStack) {
  FiberSet set;
  ASSERT_TRUE(set.reserve(1));
  int bytes = 64 * 1024;
  set.start(
      0,
      [](void *data) {
        int &bytes = *static_cast<int *>(data);
        bytes = useStack(bytes);
      },
      &bytes);
  EXPECT_TRUE(set.resume(0));
  EXPECT_EQ(bytes, 3 * 64);
}

TEST(FiberDeathTest, AnOverflowMeetsTheGuardPage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        FiberSet set;
        if (!set.reserve(2))
          exit(0);
        int bytes = 4 * 1024 * 1024;
        set.start(
            1,
            [](void *data) {
              int &bytes = *static_cast<int *>(data);
              bytes = useStack(bytes);
            },
            &bytes);
        set.resume(1);
        exit(0);
      },
      "");
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
/// Writes past its array, after it has been left and entered again.
void writePastArray(void *data) {
  char array[16] = {};
  volatile char *start = array;
  FiberSet::yield(*static_cast<Fiber **>(data));
  start[sizeof(array)] = 1;
}

TEST(FiberDeathTest, TheSanitizerKnowsTheStack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        FiberSet set;
        if (!set.reserve(1))
          exit(0);
        Fiber *fiber = set.get(0);
        set.start(0, writePastArray, &fiber);
        set.resume(0);
        set.resume(0);
        exit(0);
      },
      "stack-buffer-overflow");
}
#endif
#endif

} // namespace
