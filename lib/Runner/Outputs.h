//===- Outputs.h - Outputs that options name --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNNER_OUTPUTS_H
#define LIB_RUNNER_OUTPUTS_H

#include "Execution/Execution.h"
#include "Runner/Runner.h"

namespace tessera::execution {

/// Rejects numbers in --out that a program with `count` outputs does not have.
LogicalResult checkOutputNumbers(const RunnerOptions &options, size_t count,
                                 Report &report);
/// The same before the entry has run.
LogicalResult checkOutputNumbers(const RunnerOptions &options,
                                 const Entry &entry, Report &report);

/// Rejects --entry-point-result for an entry with another result.
LogicalResult checkEntryResult(const RunnerOptions &options, const Entry &entry,
                               Report &report);
/// Prints the result as mlir-runner does: only the number.
void printEntryResult(const RunnerOptions &options,
                      const std::vector<Output> &outputs, Report &report);

/// Writes the files of --out.
LogicalResult saveOutputs(const RunnerOptions &options,
                          const std::vector<Output> &outputs, Report &report);

/// Plants the fault of --debug-corrupt-output in an output.
LogicalResult corruptOutput(const RunnerOptions &options,
                            std::vector<Output> &outputs, Report &report);

} // namespace tessera::execution

#endif // LIB_RUNNER_OUTPUTS_H
