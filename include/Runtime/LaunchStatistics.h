//===- LaunchStatistics.h - How runs were submitted -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_LAUNCHSTATISTICS_H
#define TESSERA_RUNTIME_LAUNCHSTATISTICS_H

#include <cstdint>
#include <string>

namespace tessera::runtime {

/// How the launches of a run are queued.
enum class LaunchMode {
  /// Several launches as one graph, from the second run on.
  Auto,
  /// One by one.
  Direct,
  /// As one graph of the driver's, from the first run on. Only where that is
  /// impossible (`DirectReason`), one by one.
  Graph,
};

/// Why the launches of a run were queued one by one.
enum class DirectReason {
  /// They were not.
  None,
  /// `LaunchMode::Direct`.
  Asked,
  NoGraphs,
  /// Memory is checked, or each launch is measured.
  Watched,
  FewLaunches,
  FirstRun,
  Captured,
  /// Host code reads a scalar of the device.
  ReadsScalars,
  LaunchesVary,
  /// The graph cannot be changed while its last launch is under way.
  UnderWay,
  UnknownArguments,
  GraphFailed,
};

/// "the queue is being captured".
const char *describe(DirectReason reason);

struct LaunchStatistics {
  /// Runs that were submitted as one graph, and those whose launches were
  /// queued one by one.
  uint64_t graphRuns = 0, directRuns = 0;
  /// Runs, among these, with the operands, results and workspace of an earlier
  /// one, whose launches were repeated without executing host code.
  uint64_t repeatedRuns = 0;
  /// Graphs that were made, and nodes that were changed for a later run.
  uint64_t graphs = 0, updates = 0;
  /// Launches of the last run that need not wait for the end of the kernel
  /// before, since their threads do.
  uint64_t overlaps = 0;
  /// The reason of the last run.
  DirectReason whyDirect = DirectReason::None;
  /// The error of the driver that `GraphFailed` stands for.
  std::string failure;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_LAUNCHSTATISTICS_H
