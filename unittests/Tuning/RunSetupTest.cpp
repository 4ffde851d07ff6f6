//===- RunSetupTest.cpp - Options of a run that depend on others ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/RunSetup.h"

#include "Tuning/Cluster/JoinFile.h"
#include "Tuning/Cluster/Key.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sys/stat.h>

using namespace tessera::tuning;
using llvm::StringRef;

namespace {

DeviceChoice parseChoice(StringRef value) {
  DeviceChoice choice;
  EXPECT_EQ(llvm::toString(parseDevices(value, choice)), "");
  return choice;
}

TEST(DeviceChoiceTest, Values) {
  EXPECT_EQ(parseChoice("3,0").devices, (std::vector<int>{3, 0}));
  EXPECT_FALSE(parseChoice("all").devices);
  EXPECT_FALSE(parseChoice("all").isOwn);
  EXPECT_TRUE(parseChoice("own").isOwn);
  EXPECT_FALSE(parseChoice("own").devices);
  EXPECT_TRUE(parseChoice("none").isNone());
  EXPECT_FALSE(parseChoice("0").isNone());
  DeviceChoice choice = parseChoice("7");
  for (StringRef wrong : {"", "1,", "-1", "a", "0,none"})
    EXPECT_EQ(llvm::toString(parseDevices(wrong, choice)),
              "--devices=" + wrong.str() +
                  ": expected numbers separated by ',', or all, own, none");
  EXPECT_EQ(choice.devices, std::vector<int>{7});
}

/// A run that would tune for the CPU.
class RunSetupTest : public ::testing::Test {
protected:
  RunSetupTest() {
    unsetenv(keyVariable);
    options.work = {"8x8x8:f32"};
    options.trials = 1;
    request.target = "cpu";
    request.devices.devices = {0};
  }

  /// How the command ends; `Done` if it does not end yet.
  RunEnd complete() {
    messages.clear();
    llvm::raw_string_ostream os(messages);
    return completeOptions(request, options, os).value_or(RunEnd::Done);
  }

  RunOptions options;
  RunRequest request;
  std::string messages;
};

TEST_F(RunSetupTest, TakesTheChipOfTheDevice) {
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_EQ(options.compile.target, "cpu");
  EXPECT_NE(options.compile.chip, "");
  EXPECT_EQ(options.devices, std::vector<int>{0});
  EXPECT_EQ(options.noDevice, "");
  // Only hand-written and own schedules are compared.
  EXPECT_TRUE(options.compile.tuned);
}

TEST_F(RunSetupTest, NoDevices) {
  request.devices = parseChoice("none");
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_NE(options.compile.chip, "");
  EXPECT_TRUE(options.devices.empty());
  EXPECT_EQ(options.noDevice, "--devices=none");
}

TEST_F(RunSetupTest, MissingDevice) {
  // Devices that exist are not used without the missing one.
  request.devices.devices = {0, 99};
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_TRUE(options.devices.empty());
  EXPECT_TRUE(StringRef(options.noDevice).starts_with("no device cpu:99 here"))
      << options.noDevice;
  // Without a device and without a chip, nothing can be compiled.
  options = RunOptions();
  options.work = {"8x8x8:f32"};
  request.target = "cpu:98";
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_TRUE(StringRef(messages).contains("name a chip after ':'"))
      << messages;
}

TEST_F(RunSetupTest, UnknownTargets) {
  request.target = "cpu:emulate=sm_80";
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_EQ(messages, "error: emulated chips cannot be timed: name the chip's "
                      "own target\n");
  request.target = "cuba:sm_80";
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_TRUE(StringRef(messages).starts_with("error: unknown target 'cuba'; "
                                              "expected "))
      << messages;
  request.target = "cuda:sm_42";
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_TRUE(StringRef(messages).starts_with("error: unknown chip 'sm_42' of "
                                              "cuda; expected one of "))
      << messages;
  request.target = "";
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_TRUE(StringRef(messages).contains("--target is missing"));
}

TEST_F(RunSetupTest, ChecksOptionsTogether) {
  options.jobs = 0;
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_TRUE(StringRef(messages).contains("--jobs=0 leaves no compile worker"))
      << messages;
  options.jobs = 1;
  options.trials.reset();
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_TRUE(StringRef(messages).contains("the tuning budget is missing"));
  // A space has no budget.
  request.command = RunCommand::Space;
  EXPECT_EQ(complete(), RunEnd::Done) << messages;
  request.command = RunCommand::Replay;
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_TRUE(StringRef(messages).contains("replay does not accept work"));
  options.work.clear();
  options.replay = 9;
  EXPECT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_EQ(options.leaders, 9u);
  // Without a final comparison there is none in a replay either.
  options.leaders = 0;
  EXPECT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_EQ(options.leaders, 0u);
  request.devices = parseChoice("none");
  EXPECT_EQ(complete(), RunEnd::NoDevice);
}

TEST_F(RunSetupTest, ProgramsShareTheBudgetByTime) {
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_FALSE(options.weighByTime);
  options.work.push_back("a.mlir");
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_TRUE(options.weighByTime);
  request.share = "equal";
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_FALSE(options.weighByTime);
}

TEST_F(RunSetupTest, HostsNeedAKey) {
  options.listen = "";
  EXPECT_EQ(complete(), RunEnd::Usage);
  EXPECT_TRUE(StringRef(messages).contains("--listen requires a key"))
      << messages;
  // A join file implies that hosts join, and receives a new key.
  options.listen.reset();
  options.joinFile = "file";
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_EQ(options.listen, "");
  EXPECT_EQ(options.key, "");
  EXPECT_FALSE(options.isOwnKey);
  setenv(keyVariable, "0123456789abcdef", 1);
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  EXPECT_EQ(options.key, "0123456789abcdef");
  EXPECT_TRUE(options.isOwnKey);
  unsetenv(keyVariable);
}

TEST(JoinFileTest, ThereAndBack) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-join", folder));
  std::string file = folder.str().str() + "/join";
  EXPECT_EQ(llvm::toString(writeJoinFile(file, "10.0.0.1:80,[::1]:81", "key")),
            "");
  JoinOptions options;
  options.addresses = {"first:1"};
  EXPECT_EQ(llvm::toString(readJoinFile(file, options)), "");
  EXPECT_EQ(options.addresses,
            (std::vector<std::string>{"first:1", "10.0.0.1:80", "[::1]:81"}));
  EXPECT_EQ(options.key, "key");
  // Other users must not read the key.
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_TRUE(StringRef(llvm::toString(readJoinFile(file, options)))
                  .starts_with("--join-file=" + file +
                               ": the file can be read by other users"));
  EXPECT_EQ(options.addresses.size(), 3u);
  EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
}

/// `gpu-tune space`.
TEST_F(RunSetupTest, CountsSpaces) {
  request.command = RunCommand::Space;
  options.json = true;
  ASSERT_EQ(complete(), RunEnd::Done) << messages;
  std::string output, text;
  llvm::raw_string_ostream outputStream(output), textStream(text);
  ASSERT_EQ(countSpaces(options, {outputStream, textStream}), RunEnd::Done)
      << text;
  auto parsed = llvm::json::parse(output);
  ASSERT_TRUE(static_cast<bool>(parsed)) << output;
  const llvm::json::Array *tasks = parsed->getAsObject()->getArray("tasks");
  ASSERT_TRUE(tasks && tasks->size() == 1) << output;
  const llvm::json::Object &task = *(*tasks)[0].getAsObject();
  // A constraint removed each combination that is not legal.
  double removed = 0;
  for (const auto &[why, points] : *task.getObject("removed"))
    removed += points.getAsNumber().value_or(0);
  double legal = task.getNumber("legal").value_or(0);
  EXPECT_GE(legal, 1);
  EXPECT_EQ(task.getNumber("combinations"), removed + legal) << output;
  EXPECT_LE(task.getInteger("promising_tilings"), task.getInteger("tilings"));
  EXPECT_GE(task.getInteger("promising_tilings"), 1);
  EXPECT_TRUE(StringRef(text).contains(" legal\n")) << text;
  options.work = {"8x8:f32"};
  EXPECT_EQ(countSpaces(options, {outputStream, textStream}), RunEnd::Failed);
  EXPECT_TRUE(StringRef(text).contains("'8x8:f32' is not a shape")) << text;
}

} // namespace
