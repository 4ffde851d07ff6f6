//===- Interrupt.h - Signals that ask this process to end -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SUPPORT_INTERRUPT_H
#define SUPPORT_INTERRUPT_H

namespace tessera::support {

enum class InterruptHandling {
  /// The first signal is recorded; the second one ends the process, unless it
  /// follows within half a second: `timeout` sends its signal twice.
  First,
  /// All signals are recorded.
  All,
};

/// Records SIGINT and SIGTERM from now on, in place of what they did before.
void handleInterrupts(InterruptHandling handling);
/// The last recorded signal; 0 for none.
int getInterrupt();

} // namespace tessera::support

#endif // SUPPORT_INTERRUPT_H
