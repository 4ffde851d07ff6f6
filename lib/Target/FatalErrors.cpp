//===- FatalErrors.cpp - LLVM's fatal errors as ordinary ones -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llvm::CrashRecoveryContext does the same for signals too, for which it takes
// over the signal handlers of the process: they are the host program's.
//
//===----------------------------------------------------------------------===//

#include "Target/FatalErrors.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include <csetjmp>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESSERA_LEAK_SANITIZER
#endif
#endif
#ifdef TESSERA_LEAK_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

using namespace mlir::tessera;

namespace {
/// Where a fatal error of this thread goes.
struct Recovery {
  std::jmp_buf buffer;
  std::string why;
  Recovery *outer;
};
} // namespace

static thread_local Recovery *recovery = nullptr;

/// LLVM's handler for the whole process.
static void handleFatalError(void *, const char *reason, bool isCrash) {
  if (Recovery *here = recovery) {
    here->why = reason;
    std::longjmp(here->buffer, 1);
  }
  // The default behaviour of LLVM without a handler.
  std::string text = "LLVM ERROR: " + std::string(reason) + "\n";
  [[maybe_unused]] ssize_t written =
      ::write(STDERR_FILENO, text.data(), text.size());
  if (isCrash)
    std::abort();
  std::exit(1);
}

// A mutex rather than std::call_once: see `registerBackEnd`.
static void installHandler() {
  static std::mutex one;
  static bool isInstalled = false;
  std::lock_guard<std::mutex> lock(one);
  if (!isInstalled)
    llvm::install_fatal_error_handler(handleFatalError);
  isInstalled = true;
}

/// An action that is left by longjmp leaks what it has allocated, of which the
/// leak sanitizer is not to tell.
static void ignoreLeaks([[maybe_unused]] bool isIgnoring) {
#ifdef TESSERA_LEAK_SANITIZER
  isIgnoring ? __lsan_disable() : __lsan_enable();
#endif
}

bool mlir::tessera::recoverFatalErrors(llvm::function_ref<void()> action,
                                       std::string &why) {
  installHandler();
  Recovery here;
  here.outer = recovery;
  const void *stackTrace = llvm::SavePrettyStackState();
  ignoreLeaks(true);
  if (setjmp(here.buffer) != 0) {
    ignoreLeaks(false);
    // The entries above were in frames that are gone.
    llvm::RestorePrettyStackState(stackTrace);
    recovery = here.outer;
    why = here.why;
    return false;
  }
  recovery = &here;
  action();
  ignoreLeaks(false);
  recovery = here.outer;
  return true;
}
