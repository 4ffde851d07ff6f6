//===- CommandLine.h - The command line of gpu-runner -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_COMMANDLINE_H
#define GPU_RUNNER_COMMANDLINE_H

#include "Runner/Runner.h"

namespace tessera::execution {

/// The options of the library, and those of this program alone.
struct Options : RunnerOptions {
  /// --timeout: seconds that a run may take; absent for any time.
  std::optional<double> timeout;
  bool json = false;
  bool vulkanValidation = false;
  /// -o; empty for standard output.
  std::string outputFile;
  /// --batch: the file with the command lines; "-" is standard input.
  std::string batch;
  bool listDevices = false;
  bool version = false;
  bool help = false;
  /// For tests only: Vulkan's self-tests read an operand the wrong way.
  bool transposeSelfTests = false;
};

/// True when --json or --explain=json is among the arguments. It decides where
/// all output goes, including errors about the other options.
bool wantsJSON(ArrayRef<const char *> arguments);

/// Parses the command line without the program's name.
LogicalResult parseOptions(ArrayRef<const char *> arguments, Options &options,
                           Report &report);

void printHelp(llvm::raw_ostream &os);
void printVersion(llvm::raw_ostream &os);

} // namespace tessera::execution

#endif // GPU_RUNNER_COMMANDLINE_H
