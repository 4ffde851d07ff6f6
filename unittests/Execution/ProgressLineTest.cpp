//===- ProgressLineTest.cpp - The line of --progress ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/ProgressLine.h"

#include "gtest/gtest.h"

using namespace tessera::execution;

TEST(ProgressLineTest, IsALineForEachStageWithoutATerminal) {
  std::string text;
  llvm::raw_string_ostream os(text);
  {
    ProgressLine line(os, /*isTerminal=*/false);
    line.update({"schedule", 0, 0});
    line.update({"vendor", 54, 0});
    line.update({"vendor", 54, 1});
    line.update({"vendor", 54, 54});
    line.update({"jit", 1, 0});
    line.update({});
    // A second compilation.
    line.update({"jit", 0, 0});
    line.update({});
  }
  EXPECT_EQ(text, "compiling: stage schedule\n"
                  "compiling: stage vendor, 54 kernels\n"
                  "compiling: stage jit, 1 kernel\n"
                  "compiling: stage jit\n");
}

TEST(ProgressLineTest, IsErasedOnATerminal) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ProgressLine line(os, /*isTerminal=*/true);
  line.update({"vendor", 54, 0});
  EXPECT_EQ(text, "compiling: stage vendor, 54 kernels, 0 s");
  line.update({"llvm", 54, 3});
  EXPECT_EQ(text, "compiling: stage vendor, 54 kernels, 0 s\r\033[K"
                  "compiling: stage llvm, 3 of 54 kernels, 0 s");
  // Another message is printed.
  text.clear();
  line.clear();
  line.clear();
  EXPECT_EQ(text, "\r\033[K");
  text.clear();
  line.update({"host", 0, 0});
  line.update({});
  EXPECT_EQ(text, "compiling: stage host, 0 s\r\033[K");
}
