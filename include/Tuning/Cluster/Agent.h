//===- Agent.h - A host that works for a run elsewhere ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_AGENT_H
#define TUNING_CLUSTER_AGENT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::tuning {

/// Which devices of this host measure (--devices).
struct DeviceChoice {
  /// Their numbers; absent: all that run the chip.
  std::optional<std::vector<int>> devices;
  /// No other process on this host measures on them: each process is shown its
  /// own.
  bool isOwn = false;

  bool isNone() const { return devices && devices->empty(); }
};

/// The options of an agent.
struct JoinOptions : DeviceChoice {
  /// Where the run listens, each "ADDRESS:PORT", to be tried in turn.
  std::vector<std::string> addresses;
  /// The run's; see `readKey`.
  std::string key;
  /// Processes that compile, and for each device those that measure.
  unsigned jobs = 1, measurers = 2;
  /// Seconds to go on trying to reach the run.
  double wait = 10;
  /// An interrupt is for the run, which then ends this.
  bool ignoresInterrupt = false;
};

/// The cores that this process may use.
unsigned countCores();

/// The compile workers of this host unless --jobs is given: one core is left
/// for the others.
unsigned getDefaultJobs(unsigned cores);

/// Parses the value of `--devices`: "all", "none", "own", or numbers ("0,1").
llvm::Error parseDevices(llvm::StringRef value, DeviceChoice &choice);

/// Adds the addresses of a list that is separated by commas.
void addAddresses(llvm::StringRef list, JoinOptions &options);

/// Works for the run until it is over. Returns false, with the reason in
/// `messages`, if the run cannot be reached, rejects this host, or disappears
/// before its end. A recorded interrupt (`support::handleInterrupts`) ends it.
bool joinRun(const JoinOptions &options, llvm::raw_ostream &messages);

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_AGENT_H
