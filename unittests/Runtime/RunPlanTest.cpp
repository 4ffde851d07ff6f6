//===- RunPlanTest.cpp - Where a run's temporaries are --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunPlan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tessera::runtime;

namespace {

PlannedBlock makeBlock(size_t bytes, size_t begin, size_t end) {
  PlannedBlock block;
  block.bytes = bytes;
  block.begin = begin;
  block.end = end;
  return block;
}

/// Whether some event lies within both lifetimes, by trying all.
bool liveTogether(const PlannedBlock &a, const PlannedBlock &b, size_t events) {
  auto isLive = [](const PlannedBlock &block, size_t event) {
    return block.begin <= event && event < block.end;
  };
  for (size_t event = 0; event <= events; ++event)
    if (isLive(a, event) && isLive(b, event))
      return true;
  return false;
}

TEST(RunPlan, BlocksInUseDoNotOverlap) {
  std::mt19937 random(1);
  auto draw = [&](size_t most) { return random() % (most + 1); };
  for (int run = 0; run < 300; ++run) {
    std::vector<PlannedBlock> blocks;
    std::vector<size_t> live;
    size_t events = 0, most = 1 + draw(40);
    for (; events < 2 * most; ++events) {
      if (!live.empty() && draw(1)) {
        size_t which = draw(live.size() - 1);
        blocks[live[which]].end = events;
        live.erase(live.begin() + static_cast<ptrdiff_t>(which));
        continue;
      }
      PlannedBlock block =
          makeBlock(draw(3) ? draw(5000) : 0, events, SIZE_MAX);
      block.alignment = size_t(256) << (draw(7) ? 0 : draw(5));
      block.result = draw(9) ? -1 : 0;
      live.push_back(blocks.size());
      blocks.push_back(block);
    }
    size_t bytes = placeBlocks(blocks), peak = 0, sum = 0;
    for (const PlannedBlock &a : blocks) {
      if (a.result >= 0)
        continue;
      ASSERT_EQ(a.offset % 256, 0u);
      ASSERT_GE(a.reserved(), std::max<size_t>(a.bytes, 1));
      ASSERT_LE(a.offset + a.reserved(), bytes);
      sum += a.reserved();
      // The memory begins at the next address of its alignment, wherever the
      // workspace is.
      for (size_t base : {size_t(256), size_t(3 * 256), size_t(5 * 1024)}) {
        size_t address =
            (base + a.offset + a.alignment - 1) / a.alignment * a.alignment;
        ASSERT_LE(address + a.bytes, base + a.offset + a.reserved());
      }
      size_t liveBytes = 0;
      for (const PlannedBlock &b : blocks) {
        if (b.result >= 0)
          continue;
        if (b.begin <= a.begin && a.begin < b.end)
          liveBytes += b.reserved();
        if (&a == &b || !liveTogether(a, b, events))
          continue;
        ASSERT_TRUE(a.offset + a.reserved() <= b.offset ||
                    b.offset + b.reserved() <= a.offset);
      }
      peak = std::max(peak, liveBytes);
    }
    EXPECT_GE(bytes, peak);
    EXPECT_LE(bytes, sum);
  }
}

TEST(RunPlan, MemoryIsUsedAgain) {
  // A chain: each is freed after the next one is there.
  std::vector<PlannedBlock> chain;
  for (size_t index = 0; index < 10; ++index)
    chain.push_back(makeBlock(1000, 2 * index, 2 * index + 3));
  EXPECT_EQ(placeBlocks(chain), 2 * 1024u);
  // Results are elsewhere.
  chain.clear();
  chain.push_back(makeBlock(1000, 0, SIZE_MAX));
  chain[0].result = 0;
  EXPECT_EQ(placeBlocks(chain), 0u);
}

} // namespace
