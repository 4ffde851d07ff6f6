//===- ProcessGuard.h - Early end of the process ----------*- C++ -*-------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only for tools: these functions handle signals of the whole process, and end
// it. A library that is loaded into someone else's process must not call them.
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_PROCESSGUARD_H
#define EXECUTION_PROCESSGUARD_H

#include "Execution/RunGuard.h"

#include <memory>
#include <optional>

namespace tessera::execution {

/// Has signals that ask the process to end (SIGINT, SIGTERM, SIGHUP) report it,
/// remove files that are being written, and end it by the same signal. Those
/// that are ignored stay so.
void handleShutdownSignals();

/// Watches the runs of this process. A fault of a program on the CPU, or a run
/// that exceeds the time limit, ends the process with status 1: nothing else
/// stops a kernel that does not return.
class ProcessGuard : public RunGuard {
public:
  /// With `json`, an object on standard output reports the end as well.
  explicit ProcessGuard(bool json);
  ~ProcessGuard() override;

  /// --timeout: how long a program may run from now on; absent for any time.
  void setTimeLimit(std::optional<double> seconds);

  void enter() override;
  void leave() override;
  void beginRun() override;
  void endRun() override;
  bool watchesLaunches() override;
  void noteLaunch(const char *kernel, const char *op) override;

private:
  class FaultHandler;
  bool json;
  std::unique_ptr<FaultHandler> faults;
};

} // namespace tessera::execution

#endif // EXECUTION_PROCESSGUARD_H
