//===- Runner.h - One program, from its file to its results -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include "Debugging/PlantedFault.h"
#include "Execution/Devices.h"
#include "Execution/Options.h"

namespace tessera::execution {

/// The type of a result that mlir-runner prints.
enum class EntryResult { Void, I32, I64, F32 };
/// By its name, "void" or an MLIR type; nothing for another one.
std::optional<EntryResult> readEntryResult(llvm::StringRef name);

/// Which program runs, and what is done with its results.
struct RunnerOptions : ProgramOptions {
  /// --entry is given.
  bool hasEntry = false;
  /// --entry-point-result: prints the result as mlir-runner does.
  std::optional<EntryResult> entryResult;
  /// --out: number of an output, and the file to write it to.
  std::vector<std::pair<unsigned, std::string>> outputs;
  /// --bench: measures the time of a run.
  bool bench = false;
  /// --explain: prints the explanation.
  bool explain = false;
  /// --explain=json: the explanation is in the JSON object alone.
  bool explainAsJSON = false;
  /// --debug-corrupt-output: plants a fault in this output after the run, to
  /// show that --verify finds it.
  std::optional<unsigned> corruptOutput;
  PlantedFault plantedFault = PlantedFault::Element;
  /// --debug-corrupt-kernel: plants a fault in an output of this step in each
  /// run, to show that --verify finds and names it.
  std::optional<unsigned> corruptKernel;
  PlantedFault plantedKernelFault = PlantedFault::Element;
};

/// Reads the program that the options name, and does what they ask for:
/// compares targets (`diff`), compiles to a stage (`emit`), or runs the
/// program, checks its outputs and measures it. Results, errors and the exit
/// status are in the report. The result of `emit` is in `code`, which is empty
/// otherwise. Reading a bundle changes `options` to what the bundle was
/// compiled with.
LogicalResult runProgram(RunnerOptions &options, KeptDevices &kept,
                         std::string &code, Report &report);

} // namespace tessera::execution

#endif // RUNNER_RUNNER_H
