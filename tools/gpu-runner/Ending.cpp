//===- Ending.cpp - Early end of the process ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ending.h"

#include "Runtime/OutputFile.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace runner;

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

static void writeText(int file, const char *text) {
  [[maybe_unused]] ssize_t written = write(file, text, std::strlen(text));
}

/// Only what a signal's handler may call is called here.
static void end(int signal) {
  runtime::removeUnfinishedFiles();
  writeText(STDERR_FILENO, signal == SIGINT    ? "error: ended by SIGINT\n"
                           : signal == SIGTERM ? "error: ended by SIGTERM\n"
                                               : "error: ended by SIGHUP\n");
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void runner::handleEndingSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 ||
        action.sa_handler == SIG_IGN)
      continue;
    action = {};
    action.sa_handler = end;
    sigaction(signal, &action, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

namespace {
/// A thread that ends the process when a run takes too long.
class Watch {
public:
  void setLimit(std::optional<double> newLimit, bool newJSON) {
    std::lock_guard<std::mutex> lock(mutex);
    limit = newLimit;
    json = newJSON;
    // It goes with the process.
    if (limit && !std::exchange(isWatching, true))
      std::thread([this] { watch(); }).detach();
  }
  bool hasLimit() {
    std::lock_guard<std::mutex> lock(mutex);
    return limit.has_value();
  }
  void begin() {
    std::lock_guard<std::mutex> lock(mutex);
    if (!limit)
      return;
    kernel.clear();
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(*limit));
    changed.notify_one();
  }
  void end() {
    std::lock_guard<std::mutex> lock(mutex);
    deadline.reset();
    changed.notify_one();
  }
  void launch(const char *name) {
    std::lock_guard<std::mutex> lock(mutex);
    if (limit)
      kernel = name;
  }

private:
  using Clock = std::chrono::steady_clock;

  void watch() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      if (!deadline) {
        changed.wait(lock);
      } else if (Clock::now() >= *deadline) {
        giveUp();
      } else {
        Clock::time_point until = *deadline;
        changed.wait_until(lock, until);
      }
    }
  }

  [[noreturn]] void giveUp() {
    runtime::removeUnfinishedFiles();
    std::string text;
    llvm::raw_string_ostream(text)
        << "the program has not returned after " << llvm::format("%g", *limit)
        << " s (--timeout); "
        << (kernel.empty() ? std::string("it has not launched a kernel")
                           : "the last kernel launched is '" + kernel + "'");
    std::string line = "error: " + text + "\n";
    writeText(STDERR_FILENO, line.c_str());
    if (json) {
      llvm::json::Object object{{"error", llvm::json::fixUTF8(text)},
                                {"status", static_cast<int>(Exit::Failed)}};
      std::string printed =
          llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
      writeText(STDOUT_FILENO, printed.c_str());
    }
    // Nothing that waits for the device may be called any more.
    _exit(static_cast<int>(Exit::Failed));
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<double> limit;
  bool json = false, isWatching = false;
  std::optional<Clock::time_point> deadline;
  std::string kernel;
};
} // namespace

/// Never destroyed: its thread may outlive `main`.
static Watch &getWatch() {
  static auto *watch = new Watch;
  return *watch;
}

void runner::setTimeLimit(std::optional<double> seconds, bool json) {
  getWatch().setLimit(seconds, json);
}
bool runner::hasTimeLimit() { return getWatch().hasLimit(); }
void runner::beginTimedRun() { getWatch().begin(); }
void runner::endTimedRun() { getWatch().end(); }
void runner::noteLaunch(const char *kernel) { getWatch().launch(kernel); }
