//===- Relay.h - An encrypted line to a worker ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_RELAY_H
#define TUNING_CLUSTER_RELAY_H

#include "Tuning/Cluster/Channel.h"

#include <thread>

namespace tessera::tuning {

/// Passes bytes between a worker of this host, whose line is not encrypted, and
/// its connection to the run, until either of them ends. A worker is another
/// program, which cannot take over the state of an encrypted connection.
class Relay {
public:
  /// Takes both over; `worker` is a connected socket.
  Relay(Channel run, int worker);
  /// Ends both connections.
  ~Relay();
  Relay(const Relay &) = delete;
  Relay &operator=(const Relay &) = delete;

private:
  void pass();

  Channel run;
  Channel worker;
  std::thread thread;
};

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_RELAY_H
