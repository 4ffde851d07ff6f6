//===- SanitizerOptions.cpp - Options of the sanitizers -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// LLVM's allocators, where they are inlined into our code, poison what they
/// have not handed out yet; LLVM's own library, which is not instrumented,
/// hands it out without unpoisoning it.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
