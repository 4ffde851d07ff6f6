//===- Commands.h - Subcommands of gpu-tune -----------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each takes the command line after its name, and returns the exit status: 0
// done, 1 failed, 2 the command line is wrong. The reason of a failure has been
// printed on standard error.
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_COMMANDS_H
#define GPU_TUNE_COMMANDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tune {

using llvm::ArrayRef;
using llvm::StringRef;

/// Tunes. Exit statuses: 3 where a task was given up; 77 without a device.
int runTune(ArrayRef<StringRef> arguments);
/// Compiles, checks and times the fastest recorded schedules of a database's
/// tasks again, with the compiler's own choice. Exit statuses as `runTune`; 3
/// where one of them failed.
int runReplay(ArrayRef<StringRef> arguments);
/// Prints how large the spaces are, and what each constraint removes of them.
int runSpace(ArrayRef<StringRef> arguments);
/// Works for a run on another host.
int runJoin(ArrayRef<StringRef> arguments);
/// `gpu-tune worker compile|measure ...`: a process that the tuner starts.
int runWorker(ArrayRef<StringRef> arguments);
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
