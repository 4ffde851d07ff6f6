//===- Process.cpp - gpu-runner in a child process ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Process.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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
    std::snprintf(text, sizeof(text), "did not end after %.0f s", seconds);
    return text;
  case Interrupted:
    return "interrupted";
  case NotStarted:
    break;
  }
  return std::string("could not be started: ") + std::strerror(number);
}

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

static std::atomic<int> interrupt = 0;

void fuzz::handleInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { interrupt = number; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // If the child has ended, its exit status is more informative.
  std::signal(SIGPIPE, SIG_IGN);
}

int fuzz::getInterrupt() { return interrupt; }

//===----------------------------------------------------------------------===//
// A child
//===----------------------------------------------------------------------===//

namespace {
/// The two ends of a pipe; -1 once closed.
struct Pipe {
  int in = -1, out = -1;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) {
      out = ends[0];
      in = ends[1];
    }
  }
  ~Pipe() {
    closeIn();
    closeOut();
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;

  bool isOpen() const { return in >= 0; }
  void closeIn() { closeEnd(in); }
  void closeOut() { closeEnd(out); }

private:
  static void closeEnd(int &end) {
    if (end >= 0)
      close(end);
    end = -1;
  }
};

/// The output of a pipe. `run` reads up to a line that starts with a mark.
class Stream {
public:
  /// Reads what there is. False at the end.
  bool read(int file) {
    char part[16 * 1024];
    ssize_t length = ::read(file, part, sizeof(part));
    if (length > 0)
      text.append(part, static_cast<size_t>(length));
    return length > 0 || (length < 0 && (errno == EINTR || errno == EAGAIN));
  }

  /// True if the mark's line is there. It is then taken away with all after it,
  /// and its rest is `rest`.
  bool takeMark(const std::string &mark, std::string &rest) {
    // All but the last line was seen before.
    size_t at = text.compare(0, mark.size(), mark) == 0
                    ? 0
                    : text.find("\n" + mark, seen);
    if (at == std::string::npos) {
      seen = text.size() - std::min(text.size(), mark.size());
      return false;
    }
    size_t begin = text.find(mark, at), end = text.find('\n', begin);
    if (end == std::string::npos)
      return false;
    rest = text.substr(begin + mark.size(), end - begin - mark.size());
    text.resize(begin);
    return true;
  }

  std::string take() {
    if (text.size() > most)
      text.resize(most);
    return std::move(text);
  }

private:
  static constexpr size_t most = 64 * 1024;
  std::string text;
  size_t seen = 0;
};
} // namespace

/// A process with pipes for its standard streams.
class BatchRunner::Child {
public:
  explicit Child(const std::vector<std::string> &command);
  /// Kills what still runs.
  ~Child();

  bool isRunning() const { return pid > 0; }
  void closeInput() { input.closeIn(); }
  void write(const std::string &text);

  /// Waits for the end of the process, or for a line on both streams that
  /// starts with `mark`, if it is not empty.
  Outcome wait(const std::string &mark, double seconds);

private:
  [[noreturn]] void execute(char *const *arguments, int failure);
  void finish(int status, Outcome &outcome);

  Pipe input, output, errors;
  pid_t pid = -1;
  /// Why the process could not be started.
  int startError = 0;
};

BatchRunner::Child::Child(const std::vector<std::string> &command) {
  std::vector<std::string> words = command;
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  Pipe failure;
  if (!input.isOpen() || !output.isOpen() || !errors.isOpen() ||
      !failure.isOpen()) {
    startError = errno;
    return;
  }
  pid = fork();
  if (pid == 0)
    execute(arguments.data(), failure.in);
  startError = errno;
  failure.closeIn();
  input.closeOut();
  output.closeIn();
  errors.closeIn();
  int error = 0;
  if (pid > 0 && ::read(failure.out, &error, sizeof(error)) == sizeof(error)) {
    waitpid(pid, nullptr, 0);
    pid = -1;
    startError = error;
  }
}

/// In the child: only calls that are permitted between fork and exec.
void BatchRunner::Child::execute(char *const *arguments, int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_DFL);
  if (dup2(input.out, 0) >= 0 && dup2(output.in, 1) >= 0 &&
      dup2(errors.in, 2) >= 0)
    execvp(arguments[0], arguments);
  int error = errno;
  // The pipe reports to the parent that nothing ran.
  ssize_t written = ::write(failure, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

BatchRunner::Child::~Child() {
  if (pid <= 0)
    return;
  kill(-pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

void BatchRunner::Child::write(const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t length = ::write(input.in, text.data() + done, text.size() - done);
    if (length < 0 && errno != EINTR)
      return; // It has ended, which `wait` sees.
    done += length > 0 ? static_cast<size_t>(length) : 0;
  }
}

/// The process has ended: kills processes that it may have left running.
void BatchRunner::Child::finish(int status, Outcome &outcome) {
  kill(-pid, SIGKILL);
  pid = -1;
  if (outcome.kind == Outcome::TimedOut || outcome.kind == Outcome::Interrupted)
    return;
  outcome.kind = WIFSIGNALED(status) ? Outcome::Signalled : Outcome::Exited;
  outcome.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

Outcome BatchRunner::Child::wait(const std::string &mark, double seconds) {
  Outcome outcome;
  if (!isRunning()) {
    outcome.number = startError;
    return outcome;
  }
  auto start = std::chrono::steady_clock::now();
  Stream streams[2];
  int files[2] = {output.out, errors.out};
  bool isMarked[2] = {false, false};
  std::string rest;
  for (bool hasEnded = false; !hasEnded;) {
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    if (outcome.seconds > seconds || getInterrupt()) {
      outcome.kind = getInterrupt() ? Outcome::Interrupted : Outcome::TimedOut;
      outcome.seconds = std::min(outcome.seconds, seconds);
      kill(-pid, SIGKILL);
    }
    int status = 0;
    bool mustEnd = outcome.kind != Outcome::NotStarted;
    hasEnded = waitpid(pid, &status, mustEnd ? 0 : WNOHANG) == pid;
    if (hasEnded)
      finish(status, outcome);

    // The remaining output of an ended process is available at once.
    do {
      pollfd polls[2];
      for (int i : {0, 1})
        polls[i] = {isMarked[i] ? -1 : files[i], POLLIN, 0};
      if (poll(polls, 2, hasEnded ? 0 : 20) <= 0)
        break;
      for (int i : {0, 1})
        if (polls[i].revents && !streams[i].read(files[i]))
          files[i] = -1;
      for (int i : {0, 1})
        if (!mark.empty() && !isMarked[i])
          isMarked[i] = streams[i].takeMark(mark, rest);
    } while (hasEnded && (files[0] >= 0 || files[1] >= 0));

    if (!hasEnded && isMarked[0] && isMarked[1]) {
      outcome.kind = Outcome::Exited;
      outcome.number = static_cast<int>(std::strtol(rest.c_str(), nullptr, 10));
      hasEnded = true;
    } else if (!hasEnded && files[0] < 0 && files[1] < 0) {
      usleep(1000); // Both are closed, and the process ends soon.
    }
  }
  outcome.output = streams[0].take();
  outcome.errors = streams[1].take();
  return outcome;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Outcome fuzz::runCommand(const std::vector<std::string> &command,
                         double seconds) {
  BatchRunner::Child child(command);
  child.closeInput();
  return child.wait(/*mark=*/"", seconds);
}

BatchRunner::BatchRunner(std::string runner) : runner(std::move(runner)) {}
BatchRunner::~BatchRunner() = default;

void BatchRunner::stop() {
  child.reset();
  count = 0;
}

Outcome BatchRunner::run(const std::vector<std::string> &arguments,
                         double seconds) {
  if (!child) {
    count = 0;
    child =
        std::make_unique<Child>(std::vector<std::string>{runner, "--batch=-"});
  }
  ++count;
  child->write(formatCommand(arguments) + "\n");
  Outcome outcome = child->wait(
      "=== line " + std::to_string(count) + ": exit status ", seconds);
  if (!child->isRunning())
    child.reset();
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
