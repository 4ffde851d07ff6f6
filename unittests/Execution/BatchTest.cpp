//===- BatchTest.cpp - Many command lines, in one process -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Batch.h"
#include "TestConsole.h"

#include <gtest/gtest.h>
#include <sstream>

using namespace tessera::execution;

namespace {

TEST(BatchTest, RunsTheWordsOfEachLine) {
  std::istringstream lines("a.mlir --verify\n"
                           "\n"
                           "   # not a command line\n"
                           "'b c.mlir'  --out=0=\"x y\"   \n");
  TestConsole console;
  std::vector<std::vector<std::string>> ran;
  int status =
      runBatch(lines, console.console, [&](ArrayRef<const char *> words) {
        ran.emplace_back(words.begin(), words.end());
        return 0;
      });
  EXPECT_EQ(status, 0);
  std::vector<std::vector<std::string>> expected = {
      {"a.mlir", "--verify"}, {"b c.mlir", "--out=0=x y"}};
  EXPECT_EQ(ran, expected);
}

TEST(BatchTest, ReturnsTheFirstFailure) {
  std::istringstream lines("0\n3\n\n1\n0");
  TestConsole console;
  int status =
      runBatch(lines, console.console, [](ArrayRef<const char *> words) {
        int result = 0;
        EXPECT_FALSE(StringRef(words[0]).getAsInteger(10, result));
        return result;
      });
  EXPECT_EQ(status, 3);
  // Lines are counted with those that do not run.
  const char *expected = "=== line 1: exit status 0\n"
                         "=== line 2: exit status 3\n"
                         "=== line 4: exit status 1\n"
                         "=== line 5: exit status 0\n";
  EXPECT_EQ(console.output, expected);
  EXPECT_EQ(console.errors, expected);
}

TEST(BatchTest, MissingFile) {
  TestConsole console;
  int status = runBatch("/nowhere/batch.txt", console.console,
                        [](ArrayRef<const char *>) {
                          ADD_FAILURE() << "nothing can run";
                          return 0;
                        });
  EXPECT_EQ(status, 2);
  EXPECT_TRUE(StringRef(console.errors)
                  .starts_with("error: cannot read '/nowhere/batch.txt': "))
      << console.errors;
}

} // namespace
