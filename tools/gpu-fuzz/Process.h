//===- Process.h - A program run in a child process -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_FUZZ_PROCESS_H
#define GPU_FUZZ_PROCESS_H

#include <string>
#include <vector>

namespace fuzz {

/// How a child process ended.
struct Outcome {
  enum Kind { Exited, Signalled, TimedOut, NotStarted };
  Kind kind = NotStarted;
  /// The exit status, the signal's number, or errno.
  int number = 0;
  double seconds = 0;
  /// Standard output, then standard error; the beginnings, if they are long.
  std::string output, errors;

  bool exited(int status) const { return kind == Exited && number == status; }
  /// "exit status 3", "signal 11 (Segmentation fault)", "no end after 60 s".
  std::string describe() const;
};

/// Runs a command, whose standard streams are files in `directory` that start
/// with `prefix`. It gets a process group of its own, which is killed as a
/// whole after that many seconds, and does not survive this process.
Outcome runCommand(const std::vector<std::string> &command, double seconds,
                   const std::string &directory, const std::string &prefix);

/// The command as a line for a shell.
std::string formatCommand(const std::vector<std::string> &command);

} // namespace fuzz

#endif // GPU_FUZZ_PROCESS_H
