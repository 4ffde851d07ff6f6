//===- LargeStack.cpp - Work that calls itself deeply ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/LargeStack.h"

#include <csignal>
#include <pthread.h>

static void *callAction(void *action) {
  (*static_cast<llvm::function_ref<void()> *>(action))();
  return nullptr;
}

void mlir::tessera::runOnLargeStack(llvm::function_ref<void()> action) {
  // Not llvm::thread, which ends the process if it cannot create a thread.
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    action();
    return;
  }
  // The process's signals go to its own threads; faults stay with this one.
  sigset_t signals, previous;
  sigfillset(&signals);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    sigdelset(&signals, fault);
  pthread_sigmask(SIG_SETMASK, &signals, &previous);
  pthread_t thread;
  bool isStarted = false;
  constexpr size_t largest = size_t(256) << 20, least = size_t(16) << 20;
  for (size_t bytes = largest; bytes >= least && !isStarted; bytes /= 2)
    isStarted = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                pthread_create(&thread, &attributes, callAction, &action) == 0;
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  pthread_attr_destroy(&attributes);
  if (isStarted)
    pthread_join(thread, nullptr);
  else
    action();
}
