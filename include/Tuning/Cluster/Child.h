//===- Child.h - A process of our own ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_CHILD_H
#define TUNING_CLUSTER_CHILD_H

#include "Runtime/NamelessFile.h"
#include "Support/ChildProcess.h"
#include "Tuning/Cluster/WorkerProcess.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::tuning {

/// This program once more, as a worker: `gpu-tune worker ARGUMENTS`, with a
/// channel to it. It does not outlive this process. Its output goes to a
/// file, whose last words are reported when it dies.
class Child : public WorkerProcess {
public:
  /// The descriptor of the channel in the worker.
  static constexpr int channelFile = 3;

  /// Keeps the arguments of `main`, for `start`: a program that was started by
  /// way of the dynamic loader starts itself in the same way.
  static void setProgram(int argc, char **argv);

  /// Null, and the reason in `why`, if it cannot be started.
  static std::unique_ptr<Child> start(const std::vector<std::string> &arguments,
                                      std::string &why);
  /// The same with `line`, a connected socket, as the channel: `getChannel`
  /// returns null. It is closed here.
  static std::unique_ptr<Child> start(const std::vector<std::string> &arguments,
                                      int line, std::string &why);
  /// Ends it.
  ~Child() override;
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  Channel *getChannel() override {
    return channel.getFile() < 0 ? nullptr : &channel;
  }
  /// Whether it has ended by itself.
  bool hasEnded() const { return process.hasEnded(); }
  /// Ends it now (SIGKILL), waits for it, and returns how it ended: "signal 11
  /// (Segmentation fault)", with its last words. `isGone`: the channel has
  /// ended, so that it is dying by itself.
  std::string end(bool isGone) override;
  void beginEnd() override { process.beginKill(); }

private:
  explicit Child(std::unique_ptr<::tessera::runtime::NamelessFile> log)
      : channel(-1), log(std::move(log)) {}

  ::tessera::support::ChildProcess process;
  Channel channel;
  /// Its output.
  std::unique_ptr<::tessera::runtime::NamelessFile> log;
};

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_CHILD_H
