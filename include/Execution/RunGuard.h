//===- RunGuard.h - The surroundings of a run -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_RUNGUARD_H
#define EXECUTION_RUNGUARD_H

namespace tessera::execution {

/// A process that must not be at the mercy of the programs it runs implements
/// this interface, to handle faults and to limit the time of a run. The
/// libraries call it; they neither handle signals nor end the process.
class RunGuard {
public:
  virtual ~RunGuard() = default;

  /// Between these two, this thread executes code of the program, or waits for
  /// it. They do not nest.
  virtual void enter() {}
  virtual void leave() {}

  /// A run begins, and has ended. To begin again begins anew.
  virtual void beginRun() {}
  virtual void endRun() {}

  /// Whether `noteLaunch` must be called in each run, and not only in the
  /// first.
  virtual bool watchesLaunches() { return false; }
  /// The kernel that is launched now, and the op that it computes: its name and
  /// location, or an empty string.
  virtual void noteLaunch(const char *kernel, const char *op) {}
};

} // namespace tessera::execution

#endif // EXECUTION_RUNGUARD_H
