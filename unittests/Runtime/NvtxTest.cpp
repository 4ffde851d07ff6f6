//===- NvtxTest.cpp - Ranges in the timelines of NVIDIA's tools -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Nvtx.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace tessera::runtime;

namespace {

TEST(Nvtx, RangesGoToTheToolThatTheEnvironmentNames) {
  EXPECT_EQ(loadNvtxTool("/nonexistent/tool.so").push, nullptr);
  // This library is not a tool.
  EXPECT_EQ(loadNvtxTool("libdl.so.2").push, nullptr);
  NvtxTool tool = loadNvtxTool(TESSERA_FAKE_NVTX);
  ASSERT_TRUE(tool.push && tool.pop);
  void *library = dlopen(TESSERA_FAKE_NVTX, RTLD_NOW);
  auto *ranges = static_cast<char *>(dlsym(library, "tesseraRanges"));
  ASSERT_TRUE(ranges);
  tool.push("run");
  tool.push("kernel");
  tool.pop();
  tool.pop();
  EXPECT_STREQ(ranges, "(run(kernel))");
  // Without a tool, ranges are nothing.
  if (!std::getenv("NVTX_INJECTION64_PATH")) {
    NvtxRange range("nothing");
    EXPECT_EQ(getNvtxTool().push, nullptr);
  }
  EXPECT_STREQ(ranges, "(run(kernel))");
}

} // namespace
