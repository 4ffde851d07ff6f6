//===- Process.cpp - A program run in a child process ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace fuzz;

std::string Outcome::describe() const {
  char text[64];
  switch (kind) {
  case Exited:
    return "exit status " + std::to_string(number);
  case Signalled:
    return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  case TimedOut:
    std::snprintf(text, sizeof(text), "no end after %.0f s", seconds);
    return text;
  case NotStarted:
    break;
  }
  return std::string("could not be started: ") + std::strerror(number);
}

/// The beginning of a file, which is then removed.
static std::string takeFile(const std::string &path) {
  std::string text(64 * 1024, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  unlink(path.c_str());
  return text;
}

/// In the child: what may be called between fork and exec only.
[[noreturn]] static void execute(char *const *arguments, const char *output,
                                 const char *errors, int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int in = open("/dev/null", O_RDONLY);
  int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (in >= 0 && out >= 0 && err >= 0 && dup2(in, 0) >= 0 &&
      dup2(out, 1) >= 0 && dup2(err, 2) >= 0)
    execvp(arguments[0], arguments);
  int error = errno;
  // The pipe tells the parent that nothing ran.
  ssize_t written = write(failure, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

Outcome fuzz::runCommand(const std::vector<std::string> &command,
                         double seconds, const std::string &directory,
                         const std::string &prefix) {
  Outcome outcome;
  std::string output = directory + "/" + prefix + ".out",
              errors = directory + "/" + prefix + ".err";
  std::vector<std::string> words = command;
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) {
    outcome.number = errno;
    return outcome;
  }
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  pid_t child = fork();
  if (child == 0)
    execute(arguments.data(), output.c_str(), errors.c_str(), failure[1]);
  int forkError = errno;
  close(failure[1]);
  int error = 0;
  bool failed =
      child < 0 || read(failure[0], &error, sizeof(error)) == sizeof(error);
  close(failure[0]);
  if (child < 0) {
    outcome.number = forkError;
    return outcome;
  }

  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (elapsed() > seconds) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      outcome.kind = Outcome::TimedOut;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  // What it may have left running.
  kill(-child, SIGKILL);
  outcome.seconds = elapsed();
  outcome.output = takeFile(output);
  outcome.errors = takeFile(errors);
  if (failed) {
    outcome.number = error;
  } else if (outcome.kind == Outcome::TimedOut) {
    outcome.seconds = seconds;
  } else if (WIFSIGNALED(status)) {
    outcome.kind = Outcome::Signalled;
    outcome.number = WTERMSIG(status);
  } else {
    outcome.kind = Outcome::Exited;
    outcome.number = WEXITSTATUS(status);
  }
  return outcome;
}

std::string fuzz::formatCommand(const std::vector<std::string> &command) {
  std::string line;
  for (const std::string &word : command) {
    line += line.empty() ? "" : " ";
    bool isPlain =
        !word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-./:=,@+%") == std::string::npos;
    if (isPlain) {
      line += word;
      continue;
    }
    line += '\'';
    for (char letter : word)
      line += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    line += '\'';
  }
  return line;
}
