//===- Interrupt.cpp - Signals that ask this process to end ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Interrupt.h"

#include <csignal>
#include <ctime>

using namespace tessera::support;

/// A second signal within these seconds is the first one again: `timeout` sends
/// its signal to the process, and then to the process group.
static constexpr double againSeconds = 0.5;

static volatile std::sig_atomic_t interrupt = 0;
/// When the first signal came.
static timespec first;

static void note(int signal) { interrupt = signal; }

/// Calls only what a signal handler may call.
static void noteFirst(int signal) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (interrupt == 0) {
    first = now;
    interrupt = signal;
    return;
  }
  double since = static_cast<double>(now.tv_sec - first.tv_sec) +
                 1e-9 * static_cast<double>(now.tv_nsec - first.tv_nsec);
  if (since < againSeconds)
    return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void tessera::support::handleInterrupts(InterruptHandling handling) {
  struct sigaction action = {};
  action.sa_handler = handling == InterruptHandling::First ? noteFirst : note;
  action.sa_flags = SA_RESTART;
  // The handler of one must not interrupt that of the other.
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int tessera::support::getInterrupt() { return interrupt; }
