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

#include "Tuning/Arguments.h"

#include "llvm/ADT/Twine.h"

namespace tessera::tuning {

using llvm::ArrayRef;
using llvm::StringRef;
using mlir::tessera::tuning::Arguments;

/// The exit statuses.
enum class Exit { Done = 0, Failed = 1, Usage = 2 };

/// Prints `error: message` on standard error, a `note:` for each further line;
/// gives `status`.
int fail(Exit status, const llvm::Twine &message);
/// The same of an error.
int fail(llvm::Error error, Exit status = Exit::Failed);

/// Parses the command line. Returns an exit status if the subcommand ends here:
/// after an error or the help, which are printed. Rejects files if `others`
/// names the options that stand for them ("--db and -o").
std::optional<int> parse(Arguments &arguments, ArrayRef<StringRef> args,
                         StringRef others = "");

/// Adds the options that both sides of `gpu-tune run --listen` have: the file
/// with the key, and --token, which is rejected.
void addKeyOptions(Arguments &arguments, std::string &keyFile);

/// Tunes. Exit statuses: 3 where a task was given up; 77 without a device.
int runTune(ArrayRef<StringRef> args);
/// Compiles, checks and times the fastest recorded schedules of a database's
/// tasks again, with the compiler's own choice. Exit statuses as `runTune`; 3
/// where one of them failed.
int runReplay(ArrayRef<StringRef> args);
/// Prints how large the spaces are, and what each constraint removes of them.
int runSpace(ArrayRef<StringRef> args);
/// Works for a run on another host.
int runJoin(ArrayRef<StringRef> args);
/// The best schedule of each task.
int runBest(ArrayRef<StringRef> args);
/// A database as lines of JSON, and back.
int runExport(ArrayRef<StringRef> args);
int runImport(ArrayRef<StringRef> args);
/// Several databases as one.
int runMerge(ArrayRef<StringRef> args);
/// All there is to see, on one page.
int runReport(ArrayRef<StringRef> args);

} // namespace tessera::tuning

#endif // GPU_TUNE_COMMANDS_H
