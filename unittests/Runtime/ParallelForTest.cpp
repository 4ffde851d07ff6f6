//===- ParallelForTest.cpp - Independent work on several threads ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelFor.h"

#include <atomic>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <vector>

using namespace tessera::runtime;

namespace {

TEST(ParallelForTest, CallsWithEachIndexOnce) {
  for (unsigned threads : {0u, 1u, 3u, 100u}) {
    std::vector<std::atomic<int>> calls(17);
    parallelFor(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    for (const std::atomic<int> &count : calls)
      EXPECT_EQ(count, 1);
  }
  parallelFor(0, 4, [](size_t) { ADD_FAILURE(); });
}

TEST(ParallelForTest, CallsAtTheSameTime) {
  // Each call waits until both have begun.
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
  parallelFor(2, 2, [&](size_t) {
    std::unique_lock<std::mutex> lock(mutex);
    ++begun;
    changed.notify_all();
    changed.wait(lock, [&] { return begun == 2; });
  });
  EXPECT_EQ(begun, 2);
}

} // namespace
