//===- Interrupt.h - The first Ctrl-C ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_INTERRUPT_H
#define GPU_TUNE_INTERRUPT_H

namespace tune {

/// From now on the first SIGINT or SIGTERM is noted, and the second one ends
/// the process.
void handleInterrupts();
/// The signal that came; 0 for none.
int getInterrupt();

} // namespace tune

#endif // GPU_TUNE_INTERRUPT_H
