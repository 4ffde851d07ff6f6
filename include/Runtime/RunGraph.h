//===- RunGraph.h - Runs of sessions as one graph ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures runs without the host: those that were recorded are submitted
// together, as often as wanted.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_RUNGRAPH_H
#define TESSERA_RUNTIME_RUNGRAPH_H

#include "Runtime/Device.h"

#include <memory>

namespace tessera::runtime {

class Session;

class RunGraph {
public:
  /// The device has graphs (`Device::hasGraphs`). It must outlive the graph, as
  /// must the images with the kernels.
  explicit RunGraph(Device &device);
  ~RunGraph();
  RunGraph(const RunGraph &) = delete;
  RunGraph &operator=(const RunGraph &) = delete;

  /// Records the launches of a session instead of queuing them, until `stop`.
  /// Memory that they use must stay allocated. The first launch begins when the
  /// recorded ones before it have ended, as between runs.
  void record(Session &session);
  static void stop(Session &session);
  /// Makes the graph of all recorded launches, each after the one before.
  Status make();
  /// Queues all of them in the current queue.
  Status launch();

private:
  Device &device;
  std::unique_ptr<WorkList> work;
  WorkGraph *graph = nullptr;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_RUNGRAPH_H
