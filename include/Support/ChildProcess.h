//===- ChildProcess.h - A process that this one starts ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SUPPORT_CHILDPROCESS_H
#define SUPPORT_CHILDPROCESS_H

#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace tessera::support {

/// A process in a group of its own, which is killed as a whole and does not
/// survive this process.
class ChildProcess {
public:
  ChildProcess() = default;
  /// Kills what still runs.
  ~ChildProcess() { (void)kill(); }
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;

  /// A descriptor of this process, and its number in the child.
  using File = std::pair<int, int>;

  /// Starts `file`, which is searched in PATH if it has no '/', with the
  /// command line `words`. Descriptors that `files` does not name stay open in
  /// the child unless they are closed on exec. Returns 0, or the errno of what
  /// failed, exec included.
  int start(const std::string &file, const std::vector<std::string> &words,
            const std::vector<File> &files);

  bool isRunning() const { return pid > 0; }
  /// Whether the process has ended, without reaping it.
  bool hasEnded() const;
  /// The wait status of a process that has ended, once; its descendants are
  /// killed. Absent while it runs.
  std::optional<int> poll();
  /// Kills the process and its descendants; returns its wait status. Absent if
  /// none runs.
  std::optional<int> kill();
  /// Kills the process and its descendants without waiting for their end.
  void beginKill();

private:
  pid_t pid = -1;
};

/// The text of a wait status: "exit status 3", "signal 11 (Segmentation
/// fault)".
std::string describeStatus(int status);
/// "signal 11 (Segmentation fault)".
std::string describeSignal(int number);

} // namespace tessera::support

#endif // SUPPORT_CHILDPROCESS_H
