//===- JoinFileTest.cpp - How other hosts find a run ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/JoinFile.h"
#include "Tuning/Cluster/Key.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

using namespace tessera::tuning;

namespace {

class FindRunTest : public ::testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("tessera-join", "", path));
    file = std::string(path);
    if (const char *value = getenv(keyVariable))
      keyBefore = value;
    unsetenv(keyVariable);
  }
  void TearDown() override {
    if (keyBefore)
      setenv(keyVariable, keyBefore->c_str(), 1);
    else
      unsetenv(keyVariable);
    EXPECT_FALSE(llvm::sys::fs::remove(file));
  }

  /// The message for a host that knows these addresses and the file.
  static std::string find(JoinOptions &options, const std::string &joinFile) {
    return llvm::toString(findRun(joinFile, /*keyFile=*/"", options));
  }
  static std::string find(const std::string &address, const std::string &key) {
    JoinOptions options;
    if (!address.empty())
      options.addresses = {address};
    options.key = key;
    return find(options, "");
  }

  std::string file;
  std::string key = "0123456789abcdef0123456789abcdef";
  std::optional<std::string> keyBefore;
};

TEST_F(FindRunTest, AddressesAndKeyOfTheFile) {
  EXPECT_EQ(llvm::toString(writeJoinFile(file, "127.0.0.1:80,[::1]:81", key)),
            "");
  JoinOptions options;
  EXPECT_EQ(find(options, file), "");
  EXPECT_EQ(options.addresses,
            (std::vector<std::string>{"127.0.0.1:80", "[::1]:81"}));
  EXPECT_EQ(options.key, key);
}

TEST_F(FindRunTest, TheKeyOfTheEnvironment) {
  setenv(keyVariable, key.c_str(), 1);
  JoinOptions options;
  options.addresses = {"127.0.0.1:80"};
  EXPECT_EQ(find(options, ""), "");
  EXPECT_EQ(options.key, key);
  // The file has one: the environment is not asked.
  std::string other = "fedcba9876543210fedcba9876543210";
  EXPECT_EQ(llvm::toString(writeJoinFile(file, "127.0.0.1:80", other)), "");
  EXPECT_EQ(find(options, file), "");
  EXPECT_EQ(options.key, other);
}

TEST_F(FindRunTest, WhatIsMissing) {
  EXPECT_EQ(find("127.0.0.1:80", key), "");
  EXPECT_EQ(find("", key).find("the run's address is missing"), 0u);
  EXPECT_EQ(find("127.0.0.1", key), "'127.0.0.1' is not ADDRESS:PORT");
  EXPECT_EQ(find("127.0.0.1:80", "").find("the run's key is missing"), 0u);
  EXPECT_EQ(find("127.0.0.1:80", "short"), findKeyProblem("short"));
  EXPECT_NE(findKeyProblem("short"), "");
  JoinOptions idle;
  idle.addresses = {"127.0.0.1:80"};
  idle.key = key;
  idle.jobs = 0;
  EXPECT_EQ(find(idle, ""), "");
  idle.devices = std::vector<int>();
  EXPECT_EQ(find(idle, ""),
            "--jobs=0 with --devices=none leaves nothing to do");
}

} // namespace
