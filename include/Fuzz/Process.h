//===- Process.h - gpu-runner in a child process ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUZZ_PROCESS_H
#define FUZZ_PROCESS_H

#include "Support/Interrupt.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fuzz {

/// How a program ended.
struct Outcome {
  enum Kind { Exited, Signalled, TimedOut, NotStarted, Interrupted };
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

/// From now on SIGINT and SIGTERM end the programs that run, and nothing else.
void handleInterrupts();
using tessera::support::getInterrupt;

/// Runs a command. It gets a process group of its own, which is killed as a
/// whole after that many seconds, and does not survive this process.
Outcome runCommand(const std::vector<std::string> &command, double seconds);

/// A `gpu-runner --batch=-`, which runs one program after another: most of the
/// time of a small one goes into starting a process and opening a device.
class BatchRunner {
public:
  explicit BatchRunner(std::string runner);
  ~BatchRunner();

  /// Runs a command line, given without the program's name. The process is
  /// started where there is none, and ended where a command ran too long.
  Outcome run(const std::vector<std::string> &arguments, double seconds);

  /// How many commands the process has run.
  uint64_t getCount() const { return count; }

  /// Ends the process.
  void stop();

private:
  class Child;
  std::string runner;
  std::unique_ptr<Child> child;
  uint64_t count = 0;

  friend Outcome runCommand(const std::vector<std::string> &, double);
};

/// The command as a line for a shell.
std::string formatCommand(const std::vector<std::string> &command);

} // namespace fuzz

#endif // FUZZ_PROCESS_H
