//===- LargeStack.h - Work that calls itself deeply -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_LARGESTACK_H
#define DRIVER_LARGESTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::tessera {

/// Calls `action` on a thread with a stack of 256 MiB, of which the system
/// provides what is used, and waits for it. Parsers, passes and back ends call
/// themselves for each level of a program, and a caller's own thread may have
/// little stack. The thread takes no signals from others. Calls `action` on the
/// caller's own thread where the system provides no other.
void runOnLargeStack(llvm::function_ref<void()> action);

} // namespace mlir::tessera

#endif // DRIVER_LARGESTACK_H
