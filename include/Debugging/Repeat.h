//===- Repeat.h - One run after the other -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_REPEAT_H
#define DEBUGGING_REPEAT_H

#include "Execution/Execution.h"

#include <functional>

namespace tessera::execution {

/// The bytes that fill memory before the first run, and before a second one: an
/// element that holds the former in the first run and the latter in the second
/// was written in neither, whatever the type.
constexpr uint8_t firstPoison = 0xFF, secondPoison = 0xC3;

/// Counts for each output the elements that no run writes, `mask` gets a 1 for
/// each of them. Runs a second time if the first run, whose outputs are given,
/// has left the poison anywhere. Memref arguments hold what the command line
/// gave them, and have none.
LogicalResult findUnwritten(runtime::Device &device, Execution &execution,
                            const std::vector<Output> &outputs,
                            std::vector<std::vector<uint8_t>> &mask,
                            Report &report);

/// Compares a run with the reference, in silence: true if it is within its
/// tolerance. Absent where no reference was asked for.
using CompareRun =
    std::function<FailureOr<bool>(const std::vector<Output> &outputs)>;

/// --repeat, --verify: runs again and compares every output with the first
/// run's, bit by bit. Where a kernel adds in no fixed order, bits may differ,
/// and runs are compared with the reference instead.
LogicalResult repeat(const ProgramOptions &options, runtime::Device &device,
                     const compiler::CompiledProgram &program,
                     const Entry &entry, Execution &execution,
                     const std::vector<Output> &outputs,
                     const CompareRun &compareRun, Report &report);

} // namespace tessera::execution

#endif // DEBUGGING_REPEAT_H
