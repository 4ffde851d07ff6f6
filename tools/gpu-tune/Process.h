//===- Process.h - A process that works for the run -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_PROCESS_H
#define GPU_TUNE_PROCESS_H

#include "Channel.h"

#include <optional>
#include <string>

namespace tune {

/// A worker on this host (`Child`) or on another one (`RemoteWorker`). It ends
/// with the object.
class WorkerProcess {
public:
  virtual ~WorkerProcess() = default;

  /// Null while it has not connected.
  virtual Channel *getChannel() = 0;
  /// Ends it now, and returns how it ended, as far as that is known. `isGone`:
  /// its channel has ended, so that it is dying by itself.
  virtual std::string end(bool isGone) = 0;
  /// How it ended, once its host has reported that; only for processes on other
  /// hosts.
  virtual std::optional<std::string> getEnd() const { return std::nullopt; }
};

} // namespace tune

#endif // GPU_TUNE_PROCESS_H
