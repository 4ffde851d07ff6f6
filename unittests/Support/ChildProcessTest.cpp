//===- ChildProcessTest.cpp - Processes that this one starts --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/ChildProcess.h"
#include "Support/Interrupt.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera::support;

namespace {

/// Waits for the end of a process; its wait status.
int waitFor(ChildProcess &process) {
  while (true) {
    if (std::optional<int> status = process.poll())
      return *status;
    usleep(1000);
  }
}

std::string readAll(int file) {
  std::string text;
  char part[256];
  ssize_t length;
  while ((length = read(file, part, sizeof(part))) > 0)
    text.append(part, static_cast<size_t>(length));
  return text;
}

TEST(ChildProcessTest, ReturnsExitStatus) {
  ChildProcess process;
  ASSERT_EQ(process.start("sh", {"sh", "-c", "exit 3"}, {}), 0);
  EXPECT_EQ(describeStatus(waitFor(process)), "exit status 3");
  EXPECT_FALSE(process.isRunning());
}

TEST(ChildProcessTest, ReturnsErrnoOfExec) {
  ChildProcess process;
  EXPECT_EQ(process.start("/nonexistent/program", {"program"}, {}), ENOENT);
  EXPECT_FALSE(process.isRunning());
}

// Descriptors may trade numbers.
TEST(ChildProcessTest, PassesFiles) {
  int first[2], second[2];
  ASSERT_EQ(pipe2(first, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(second, O_CLOEXEC), 0);
  ChildProcess process;
  ASSERT_EQ(process.start("sh",
                          {"sh", "-c",
                           "echo one >&" + std::to_string(second[1]) +
                               "; echo two >&" + std::to_string(first[1])},
                          {{first[1], second[1]}, {second[1], first[1]}}),
            0);
  close(first[1]);
  close(second[1]);
  EXPECT_EQ(readAll(first[0]), "one\n");
  EXPECT_EQ(readAll(second[0]), "two\n");
  EXPECT_EQ(waitFor(process), 0);
  close(first[0]);
  close(second[0]);
}

TEST(ChildProcessTest, BeginsToKillWithoutWaiting) {
  ChildProcess process;
  ASSERT_EQ(process.start("sleep", {"sleep", "1000"}, {}), 0);
  process.beginKill();
  EXPECT_TRUE(process.isRunning()) << "it has been reaped";
  EXPECT_EQ(describeStatus(waitFor(process)), "signal 9 (Killed)");
  process.beginKill();
  EXPECT_EQ(process.kill(), std::nullopt);
}

TEST(ChildProcessTest, KillsDescendants) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ChildProcess process;
  ASSERT_EQ(process.start("sh",
                          {"sh", "-c", "sleep 1000 & echo started; sleep 1000"},
                          {{ends[1], 1}}),
            0);
  close(ends[1]);
  char letter = 0;
  ASSERT_EQ(read(ends[0], &letter, 1), 1);
  EXPECT_FALSE(process.poll());
  EXPECT_FALSE(process.hasEnded());
  std::optional<int> status = process.kill();
  ASSERT_TRUE(status);
  EXPECT_EQ(describeStatus(*status), "signal 9 (Killed)");
  // Ends only once no process holds the other end.
  EXPECT_EQ(letter + readAll(ends[0]), "started\n");
  close(ends[0]);
}

TEST(InterruptDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        handleInterrupts(InterruptHandling::First);
        // The second of these is the first one again.
        raise(SIGINT);
        raise(SIGINT);
        bool isRecorded = getInterrupt() == SIGINT;
        usleep(600'000);
        if (isRecorded)
          raise(SIGTERM);
        _exit(1);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptTest, RecordsSignals) {
  handleInterrupts(InterruptHandling::All);
  EXPECT_EQ(getInterrupt(), 0);
  raise(SIGTERM);
  EXPECT_EQ(getInterrupt(), SIGTERM);
  raise(SIGINT);
  EXPECT_EQ(getInterrupt(), SIGINT);
}

} // namespace
