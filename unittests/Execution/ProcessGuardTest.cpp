//===- ProcessGuardTest.cpp - Early end of the process --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each death test runs in a new process, in which no other thread exists.
//
//===----------------------------------------------------------------------===//

#include "Execution/ProcessGuard.h"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

using namespace tessera::execution;

namespace {

class ProcessGuardTest : public ::testing::Test {
protected:
  ProcessGuardTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// Waits for the end of the process.
[[noreturn]] void waitForever() {
  while (true)
    pause();
}

TEST_F(ProcessGuardTest, EndsByTheSameSignal) {
  auto raiseHandled = [](int signal) {
    // A parent process may have had it ignored, as nohup does.
    std::signal(signal, SIG_DFL);
    handleShutdownSignals();
    raise(signal);
  };
  EXPECT_EXIT(raiseHandled(SIGTERM), testing::KilledBySignal(SIGTERM),
              "^error: ended by SIGTERM\n$");
  EXPECT_EXIT(raiseHandled(SIGHUP), testing::KilledBySignal(SIGHUP),
              "^error: ended by SIGHUP\n$");
}

TEST_F(ProcessGuardTest, IgnoredSignalsStayIgnored) {
  auto raiseIgnored = [] {
    std::signal(SIGHUP, SIG_IGN);
    handleShutdownSignals();
    raise(SIGHUP);
    _exit(5);
  };
  EXPECT_EXIT(raiseIgnored(), testing::ExitedWithCode(5), "^$");
}

TEST_F(ProcessGuardTest, ReportsFaultsOfThePrograms) {
  auto fault = [](int signal) {
    ProcessGuard guard(/*json=*/false);
    guard.enter();
    raise(signal);
  };
  EXPECT_EXIT(fault(SIGFPE), testing::ExitedWithCode(1),
              "error: the program divided an integer by zero");
  EXPECT_EXIT(fault(SIGSEGV), testing::ExitedWithCode(1),
              "error: the program accessed unmapped memory");
}

TEST_F(ProcessGuardTest, LeavesOtherFaultsAlone) {
  auto faultOfTool = [] {
    std::signal(SIGFPE, [](int) { _exit(6); });
    ProcessGuard guard(/*json=*/false);
    guard.enter();
    guard.leave();
    raise(SIGFPE);
  };
  EXPECT_EXIT(faultOfTool(), testing::ExitedWithCode(6), "^$");
}

TEST_F(ProcessGuardTest, EndsARunThatTakesTooLong) {
  auto hang = [](const char *kernel) {
    ProcessGuard guard(/*json=*/false);
    guard.setTimeLimit(0.25);
    guard.beginRun();
    if (kernel && guard.watchesLaunches())
      guard.noteLaunch(kernel, "");
    waitForever();
  };
  EXPECT_EXIT(hang("kernel_7"), testing::ExitedWithCode(1),
              "error: the program has not returned after 0.25 s "
              "\\(--timeout\\); the last kernel launched is 'kernel_7'");
  EXPECT_EXIT(hang(nullptr), testing::ExitedWithCode(1),
              "it has not launched a kernel");
}

TEST_F(ProcessGuardTest, NamesTheOpAndTheLaunches) {
  auto hang = [] {
    ProcessGuard guard(/*json=*/false);
    guard.setTimeLimit(0.25);
    guard.beginRun();
    guard.noteLaunch("kernel_1", "'linalg.fill' (p.mlir:2:3)");
    // A run that begins anew counts anew.
    guard.beginRun();
    guard.noteLaunch("kernel_1", "'linalg.fill' (p.mlir:2:3)");
    guard.noteLaunch("kernel_1", "'linalg.fill' (p.mlir:2:3)");
    guard.noteLaunch("kernel_2", "'linalg.matmul' (p.mlir:4:3)");
    waitForever();
  };
  EXPECT_EXIT(hang(), testing::ExitedWithCode(1),
              "the last kernel launched is 'kernel_2' of 'linalg.matmul' "
              "\\(p.mlir:4:3\\), after 2 other launches");
}

TEST_F(ProcessGuardTest, LimitsOnlyRuns) {
  // Without a run, or without a limit, the alarm ends the process.
  auto compile = [](bool hasLimit) {
    ProcessGuard guard(/*json=*/false);
    guard.setTimeLimit(0.001);
    if (!hasLimit) {
      guard.setTimeLimit(std::nullopt);
      guard.beginRun();
    }
    if (guard.watchesLaunches() != hasLimit)
      _exit(8);
    std::signal(SIGALRM, [](int) { _exit(7); });
    ualarm(20000, 0);
    waitForever();
  };
  EXPECT_EXIT(compile(true), testing::ExitedWithCode(7), "^$");
  EXPECT_EXIT(compile(false), testing::ExitedWithCode(7), "^$");
}

} // namespace
