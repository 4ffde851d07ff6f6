//===- OccupancyTest.cpp - Occupancy of NVIDIA's chips --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "gtest/gtest.h"

using namespace mlir::tessera;

TEST(OccupancyTest, WorkgroupsOfAMultiprocessor) {
  auto count = [](const char *chip, int64_t registers, int64_t threads,
                  int64_t bytes) {
    return countResidentBlocks(*findChip("cuda", chip), registers, threads,
                               bytes);
  };
  // Values of CUDA's occupancy calculator: limited by warps, by registers
  // (which are allocated in units of 8 per thread), by workgroups, and by
  // memory including the part that the system reserves.
  EXPECT_EQ(count("sm_90a", 32, 256, 0), 8);
  EXPECT_EQ(count("sm_90a", 168, 384, 0), 1);
  EXPECT_EQ(count("sm_80", 33, 256, 0), 6);
  EXPECT_EQ(count("sm_80", 16, 32, 0), 32);
  EXPECT_EQ(count("sm_90a", 64, 128, 65536), 3);
  EXPECT_EQ(count("sm_80", 64, 128, 49152), 3);
  EXPECT_EQ(count("sm_86", 64, 128, 49152), 2);
  EXPECT_EQ(count("sm_75", 32, 1024, 0), 1);
  EXPECT_EQ(count("sm_70", 32, 128, 49152), 2);
  EXPECT_EQ(count("sm_89", 16, 32, 0), 24);
  EXPECT_EQ(count("sm_80", 255, 1024, 0), 0);
}

TEST(OccupancyTest, LogOfPtxas) {
  const char *log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
      "ptxas info    : Function properties for first\n"
      "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem\n"
      "ptxas info    : Compile time = 60.1 ms\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
      "ptxas info    : Function properties for second\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n";
  const char *ptx = ".visible .entry first(\n\t.param .u64 a\n)\n"
                    ".maxntid 128, 3, 1\n{\n}\n"
                    ".visible .entry second(\n\t.param .u64 a\n)\n{\n"
                    ".maxntid 7\n}\n";
  std::vector<PtxasKernel> kernels = readPtxasLog(log, ptx);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[0].registers, 168);
  EXPECT_EQ(kernels[0].spillBytes, 24);
  EXPECT_EQ(kernels[0].stackBytes, 16);
  EXPECT_EQ(kernels[0].staticBytes, 1024);
  EXPECT_EQ(kernels[0].threads, 384);
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_EQ(kernels[1].registers, 8);
  EXPECT_EQ(kernels[1].spillBytes, 0);
  EXPECT_EQ(kernels[1].staticBytes, 0);
  EXPECT_EQ(kernels[1].threads, 0);
  EXPECT_TRUE(readPtxasLog("", "").empty());
}
