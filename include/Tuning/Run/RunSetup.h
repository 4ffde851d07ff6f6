//===- RunSetup.h - Options of a run that depend on others ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_RUNSETUP_H
#define TUNING_RUN_RUNSETUP_H

#include "Tuning/Run/RunCommands.h"

namespace tessera::tuning {

/// The commands that have `RunOptions`.
enum class RunCommand { Run, Space, Replay };

/// Options of a command line that others depend on.
struct RunRequest {
  RunCommand command = RunCommand::Run;
  /// --target=TARGET[:CHIP]; empty if it is not given.
  std::string target;
  /// --key-file; empty if it is not given.
  std::string keyFile;
  /// --share: "time", "equal", or empty if it is not given.
  std::string share;
  /// --candidates: "search", "ranked", "guided", or empty if it is not given.
  std::string candidates;
  DeviceChoice devices;
};

/// Checks the options of a command line together, and fills in those that
/// depend on others: chip, devices and key. After an error, which is printed,
/// returns how the command ends.
std::optional<RunEnd> completeOptions(const RunRequest &request,
                                      RunOptions &options,
                                      llvm::raw_ostream &messages);

/// Parses the value of --kinds: "matmul,window".
llvm::Error parseKinds(llvm::StringRef text, std::vector<TaskKind> &kinds);

/// Sets target, chip and devices of a run. `text` is the value of --target,
/// TARGET[:CHIP]; a number in place of the chip names one device. Without a
/// chip in it, the chip is that of the first device. `devices` is empty, and
/// `noDevice` has the reason, if this host has not all of `wanted`. An error if
/// target or chip are unknown, or the chip cannot be determined.
llvm::Error chooseTarget(llvm::StringRef text, const DeviceChoice &wanted,
                         RunOptions &options);

} // namespace tessera::tuning

#endif // TUNING_RUN_RUNSETUP_H
