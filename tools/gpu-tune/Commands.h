//===- Commands.h - Subcommands of gpu-tune -----------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function takes the command line after the name of the subcommand, and
// returns the exit status: 0 done, 1 failed, 2 wrong command line. Failures
// have been reported on standard error.
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_COMMANDS_H
#define GPU_TUNE_COMMANDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tune {

using llvm::ArrayRef;
using llvm::StringRef;

/// The best schedule of each task.
int runBest(ArrayRef<StringRef> args);
/// A database as lines of JSON, and back.
int runExport(ArrayRef<StringRef> args);
int runImport(ArrayRef<StringRef> args);
/// Several databases as one.
int runMerge(ArrayRef<StringRef> args);
/// All there is to see, on one page.
int runReport(ArrayRef<StringRef> args);

} // namespace tune

#endif // GPU_TUNE_COMMANDS_H
