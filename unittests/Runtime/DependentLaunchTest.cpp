//===- DependentLaunchTest.cpp - Which kernels wait by themselves ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/DependentLaunch.h"

#include <gtest/gtest.h>

#include <string>

using namespace tessera::runtime;

namespace {

TEST(DependentLaunch, MarkInPtx) {
  EXPECT_TRUE(hasWaitingKernels(
      ".version 8.4\n.visible .global .align 1 .u8 tessera_kernels_wait;\n"
      ".visible .entry k()\n{ ret; }\n"));
  EXPECT_TRUE(hasWaitingKernels(
      ".visible .global .align 1 .b8 tessera_kernels_wait[1];\n"));
  // Neither another variable nor a kernel of that name is the mark.
  EXPECT_FALSE(hasWaitingKernels(
      ".visible .global .align 1 .b8 tessera_kernels_wait_1;\n"));
  EXPECT_FALSE(hasWaitingKernels(
      ".visible .global .align 1 .b8 my_tessera_kernels_wait;\n"));
  EXPECT_FALSE(
      hasWaitingKernels(".visible .entry tessera_kernels_wait()\n{ ret; }\n"));
  EXPECT_FALSE(
      hasWaitingKernels(".visible .entry tessera_kernels_wait\n{ ret; }\n"));
  EXPECT_FALSE(hasWaitingKernels("// tessera_kernels_wait"));
  EXPECT_FALSE(hasWaitingKernels(""));
}

TEST(DependentLaunch, MarkInACubin) {
  using std::string_literals::operator""s;
  EXPECT_TRUE(hasWaitingKernels("\x7f"
                                "ELF\0k\0tessera_kernels_wait\0"s));
  EXPECT_FALSE(hasWaitingKernels("\x7f"
                                 "ELF\0k\0tessera_kernels_wait_1\0"s));
  EXPECT_FALSE(hasWaitingKernels("\x7f"
                                 "ELF\0k\0_tessera_kernels_wait\0"s));
  EXPECT_FALSE(hasWaitingKernels("\x7f"
                                 "ELF\0 tessera_kernels_wait;\0"s));
  EXPECT_FALSE(hasWaitingKernels("\x7f"
                                 "ELF"s));
}

TEST(DependentLaunch, Variable) {
  auto read = [](const char *text) {
    setenv("TESSERA_DEPENDENT_LAUNCH", text, 1);
    Expected<DependentLaunch> value = readDependentLaunchVariable();
    unsetenv("TESSERA_DEPENDENT_LAUNCH");
    return value;
  };
  EXPECT_EQ(*readDependentLaunchVariable(), DependentLaunch::Resident);
  EXPECT_EQ(*read("on"), DependentLaunch::Resident);
  EXPECT_EQ(*read("unit"), DependentLaunch::OneForEachUnit);
  EXPECT_EQ(*read("off"), DependentLaunch::None);
  for (const char *text : {"", "0", "Off", "off "}) {
    Expected<DependentLaunch> value = read(text);
    ASSERT_FALSE(value.ok());
    EXPECT_EQ(value.status().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(value.status().message(),
              std::string("invalid TESSERA_DEPENDENT_LAUNCH '") + text +
                  "': expected 'on', 'unit' or 'off'");
  }
}

} // namespace
