//===- LargeStack.h - Work that calls itself deeply -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_LARGESTACK_H
#define DRIVER_LARGESTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::tessera {

/// Calls `action` on a thread with a stack of 256 MiB, committed on use, and
/// waits for it. Parsers, passes and back ends recurse for each nesting level
/// of a program, and the caller's thread may have a small stack. The thread
/// blocks signals. Calls `action` on the caller's thread if no thread can be
/// created.
void runOnLargeStack(llvm::function_ref<void()> action);

} // namespace mlir::tessera

#endif // DRIVER_LARGESTACK_H
