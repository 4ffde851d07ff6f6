//===- RunCommands.h - Commands that measure or count schedules -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The commands print their results on the output of a console: as text, or with
// `RunOptions::json` as one JSON object, with the text on the messages. Errors
// are on the messages. They record interrupts (`support::handleInterrupts`)
// once they have something to measure, and restore nothing: they are for the
// end of a process.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_RUNCOMMANDS_H
#define TUNING_RUN_RUNCOMMANDS_H

#include "Tuning/Cluster/Agent.h"
#include "Tuning/Cluster/Mpi.h"
#include "Tuning/Run/RunOptions.h"
#include "Tuning/Run/TaskList.h"
#include "Tuning/SpaceConfig.h"

namespace tessera::tuning {

namespace tuning = mlir::tessera::tuning;

/// How a command ended: the exit status of a process.
enum class RunEnd {
  Done = 0,
  /// It failed, and has reported the error.
  Failed = 1,
  /// The options are invalid.
  Usage = 2,
  /// A task was given up, or a schedule of a replay failed.
  GivenUp = 3,
  /// No device is available, so nothing was measured.
  NoDevice = 77,
};

struct RunConsole {
  llvm::raw_ostream &output, &messages;
  /// The messages are shown on a terminal, where a line may change.
  bool isTerminal = false;
};

/// Reads the configuration and collects the tasks of `options.work`. Absent on
/// success.
std::optional<RunEnd> collectWork(const RunOptions &options,
                                  mlir::MLIRContext &context,
                                  std::vector<Task> &tasks,
                                  compiler::tuning::SpaceConfig &config,
                                  llvm::raw_ostream &messages);

/// Tunes. `command` is the command line, which the database keeps. `ranks` are
/// the other processes of a launcher, which receive the addresses; null if
/// there are none.
RunEnd tuneTasks(RunOptions options, llvm::StringRef command, Ranks *ranks,
                 const RunConsole &console);

/// Works for the run of rank 0. `keyFile` is this rank's --key-file; may be
/// empty.
RunEnd joinRankZero(JoinOptions options, const std::string &keyFile,
                    Ranks &ranks, llvm::raw_ostream &messages);

/// Compiles, checks and times the fastest recorded schedules of a database's
/// tasks again, with the compiler's own choice.
RunEnd replayRecords(const RunOptions &options, llvm::StringRef command,
                     const RunConsole &console);

/// Prints how large the spaces are, and what each constraint removes of them.
RunEnd countSpaces(const RunOptions &options, const RunConsole &console);

} // namespace tessera::tuning

#endif // TUNING_RUN_RUNCOMMANDS_H
