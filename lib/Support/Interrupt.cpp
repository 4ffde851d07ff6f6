//===- Interrupt.cpp - Signals that ask this process to end ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Interrupt.h"

#include <csignal>

using namespace tessera::support;

static volatile std::sig_atomic_t interrupt = 0;

static void note(int signal) { interrupt = signal; }

void tessera::support::handleInterrupts(InterruptHandling handling) {
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  if (handling == InterruptHandling::First)
    action.sa_flags |= static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int tessera::support::getInterrupt() { return interrupt; }
