//===- ChildProcess.cpp - A process that this one starts ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/ChildProcess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera::support;

/// The part of the child between fork and exec, which may call only what a
/// signal handler may call. Writes an errno to `failure` and ends if it fails.
[[noreturn]] static void execute(const char *file, char *const *arguments,
                                 ChildProcess::File *files, size_t count,
                                 pid_t parent, int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before that.
  if (getppid() != parent)
    _exit(127);
  std::signal(SIGPIPE, SIG_DFL);
  // No descriptor may be overwritten before it is duplicated.
  int free = 3;
  for (size_t i = 0; i < count; ++i)
    free = std::max(free, files[i].second + 1);
  failure = fcntl(failure, F_DUPFD_CLOEXEC, free);
  bool isGood = failure >= 0;
  for (size_t i = 0; i < count && isGood; ++i) {
    files[i].first = fcntl(files[i].first, F_DUPFD_CLOEXEC, free);
    isGood = files[i].first >= 0;
  }
  for (size_t i = 0; i < count && isGood; ++i)
    isGood = dup2(files[i].first, files[i].second) >= 0;
  if (isGood)
    execvp(file, arguments);
  int error = errno;
  ssize_t written = ::write(failure, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

int ChildProcess::start(const std::string &file,
                        const std::vector<std::string> &words,
                        const std::vector<File> &files) {
  std::vector<std::string> copies = words;
  std::vector<char *> arguments;
  for (std::string &word : copies)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<File> ours = files;
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0)
    return errno;
  pid_t parent = getpid();
  pid = fork();
  if (pid == 0)
    execute(file.c_str(), arguments.data(), ours.data(), ours.size(), parent,
            failure[1]);
  int error = pid < 0 ? errno : 0;
  close(failure[1]);
  // Ends without a byte when exec closes the other end.
  ssize_t got = 0;
  while (pid > 0 && (got = ::read(failure[0], &error, sizeof(error))) < 0 &&
         errno == EINTR)
    ;
  close(failure[0]);
  if (got == sizeof(error)) {
    waitpid(pid, nullptr, 0);
    pid = -1;
    return error;
  }
  return pid < 0 ? error : 0;
}

bool ChildProcess::hasEnded() const {
  siginfo_t info = {};
  return pid > 0 &&
         waitid(P_PID, static_cast<id_t>(pid), &info,
                WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

std::optional<int> ChildProcess::poll() {
  int status = 0;
  if (pid <= 0 || waitpid(pid, &status, WNOHANG) != pid)
    return std::nullopt;
  ::kill(-pid, SIGKILL);
  pid = -1;
  return status;
}

void ChildProcess::beginKill() {
  if (pid <= 0)
    return;
  // The group exists once the child has made it.
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
}

std::optional<int> ChildProcess::kill() {
  if (pid <= 0)
    return std::nullopt;
  beginKill();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  pid = -1;
  return status;
}

std::string tessera::support::describeSignal(int number) {
  return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

std::string tessera::support::describeStatus(int status) {
  if (WIFSIGNALED(status))
    return describeSignal(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}
