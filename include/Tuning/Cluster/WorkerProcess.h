//===- WorkerProcess.h - A process that works for the run -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_WORKERPROCESS_H
#define TUNING_CLUSTER_WORKERPROCESS_H

#include "Tuning/Cluster/Channel.h"

#include <optional>
#include <string>

namespace tessera::tuning {

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
  /// Lets it end now, without waiting for it: `end` or the destructor does.
  virtual void beginEnd() {}
  /// How it ended, once its host has reported it; only for other hosts.
  virtual std::optional<std::string> getEnd() const { return std::nullopt; }
};

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_WORKERPROCESS_H
