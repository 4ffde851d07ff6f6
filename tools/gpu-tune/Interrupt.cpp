//===- Interrupt.cpp - The first Ctrl-C -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"

#include <csignal>

static volatile std::sig_atomic_t interrupt = 0;

static void note(int signal) { interrupt = signal; }

void tune::handleInterrupts() {
  struct sigaction action = {};
  action.sa_handler = note;
  // The next one does what it does by default.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int tune::getInterrupt() { return interrupt; }
