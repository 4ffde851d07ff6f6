//===- RunCommandLine.h - The command line of gpu-tune run ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_RUNCOMMANDLINE_H
#define GPU_TUNE_RUNCOMMANDLINE_H

#include "Tuning/Run/RunOptions.h"

namespace tune {

/// The subcommand that is run.
enum class RunCommand { Run, Space, Replay };

/// Parses the command line. After an error, which is printed, the exit status
/// is in `status`.
bool parseRunOptions(mlir::ArrayRef<mlir::StringRef> arguments,
                     RunCommand command, RunOptions &options, int &status);

void printRunHelp(llvm::raw_ostream &os);

} // namespace tune

#endif // GPU_TUNE_RUNCOMMANDLINE_H
