//===- ProcessGuard.cpp - Early end of the process ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/ProcessGuard.h"

#include "Execution/Report.h"
#include "Runtime/OutputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace tessera::execution;

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

void tessera::execution::handleShutdownSignals() {
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
// Faults
//===----------------------------------------------------------------------===//

static const char *describeFault(int signal) {
  switch (signal) {
  case SIGFPE:
    return "the program divided an integer by zero";
  case SIGILL:
    return "the program executed llvm.unreachable (undefined behaviour)";
  case SIGABRT:
    return "the program called abort";
  default:
    return "the program accessed unmapped memory; an index is out of bounds, "
           "or a recursion is infinite";
  }
}

static bool faultInJSON = false;

/// An invalid operation of a program on the CPU ends the process: this prints
/// what it was. Only what a signal handler may call is called here.
static void reportFault(int signal) {
  runtime::removeUnfinishedFiles();
  const char *text = describeFault(signal);
  writeText(STDERR_FILENO, "error: ");
  writeText(STDERR_FILENO, text);
  writeText(STDERR_FILENO, "\n");
  if (faultInJSON) {
    writeText(STDOUT_FILENO, "{\n  \"error\": \"");
    writeText(STDOUT_FILENO, text);
    writeText(STDOUT_FILENO, "\",\n  \"status\": 1\n}\n");
  }
  _exit(static_cast<int>(Exit::Failed));
}

static constexpr int faultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                       SIGABRT};

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
    op.clear();
    launches = 0;
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(*limit));
    changed.notify_one();
  }
  void end() {
    std::lock_guard<std::mutex> lock(mutex);
    deadline.reset();
    changed.notify_one();
  }
  void launch(const char *name, const char *computed) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!limit)
      return;
    kernel = name;
    op = computed;
    ++launches;
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
    llvm::raw_string_ostream os(text);
    os << "the program has not returned after " << llvm::format("%g", *limit)
       << " s (--timeout); ";
    if (kernel.empty())
      os << "it has not launched a kernel";
    else
      os << "the last kernel launched is '" << kernel << "'";
    if (!op.empty())
      os << " of " << op;
    if (launches > 1)
      os << ", after " << launches - 1
         << (launches == 2 ? " other launch" : " other launches");
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
  /// The last kernel and its op, and the launches of this run.
  std::string kernel, op;
  int64_t launches = 0;
};
} // namespace

/// Never destroyed: its thread may outlive `main`.
static Watch &getWatch() {
  static auto *watch = new Watch;
  return *watch;
}

//===----------------------------------------------------------------------===//
// ProcessGuard
//===----------------------------------------------------------------------===//

/// Catches faults of the running program.
class ProcessGuard::FaultHandler {
public:
  FaultHandler() = default;
  FaultHandler(const FaultHandler &) = delete;
  FaultHandler &operator=(const FaultHandler &) = delete;

  void install() {
    // A separate signal stack, since the program's stack may be exhausted.
    stack_t stack = {};
    stack.ss_sp = handlerStack;
    stack.ss_size = sizeof(handlerStack);
    sigaltstack(&stack, &previousStack);
    struct sigaction action = {};
    action.sa_handler = reportFault;
    action.sa_flags = SA_ONSTACK;
    for (auto [signal, old] : llvm::zip_equal(faultSignals, previous))
      sigaction(signal, &action, &old);
  }
  void remove() {
    for (auto [signal, old] : llvm::zip_equal(faultSignals, previous))
      sigaction(signal, &old, nullptr);
    sigaltstack(&previousStack, nullptr);
  }

private:
  alignas(16) char handlerStack[64 * 1024];
  stack_t previousStack = {};
  struct sigaction previous[std::size(faultSignals)] = {};
};

ProcessGuard::ProcessGuard(bool json)
    : json(json), faults(std::make_unique<FaultHandler>()) {}
ProcessGuard::~ProcessGuard() = default;

void ProcessGuard::setTimeLimit(std::optional<double> seconds) {
  getWatch().setLimit(seconds, json);
}

void ProcessGuard::enter() {
  faultInJSON = json;
  faults->install();
}
void ProcessGuard::leave() { faults->remove(); }

void ProcessGuard::beginRun() {
  // Flush, so that the output is visible if the program does not return.
  llvm::outs().flush();
  getWatch().begin();
}
void ProcessGuard::endRun() { getWatch().end(); }

bool ProcessGuard::watchesLaunches() { return getWatch().hasLimit(); }
void ProcessGuard::noteLaunch(const char *kernel, const char *op) {
  getWatch().launch(kernel, op);
}
