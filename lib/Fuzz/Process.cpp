//===- Process.cpp - gpu-runner in a child process ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Process.h"

#include "Support/ChildProcess.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fuzz;
using namespace tessera;

std::string Outcome::describe() const {
  char text[64];
  switch (kind) {
  case Exited:
    return "exit status " + std::to_string(number);
  case Signalled:
    return support::describeSignal(number);
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

void fuzz::handleInterrupts() {
  support::handleInterrupts(support::InterruptHandling::All);
  // If the child has ended, its exit status is more informative.
  std::signal(SIGPIPE, SIG_IGN);
}

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

  bool isRunning() const { return process.isRunning(); }
  void closeInput() { input.closeIn(); }
  void write(const std::string &text);

  /// Waits for the end of the process, or for a line on both streams that
  /// starts with `mark`, if it is not empty.
  Outcome wait(const std::string &mark, double seconds);

private:
  Pipe input, output, errors;
  support::ChildProcess process;
  /// Why the process could not be started.
  int startError = 0;
};

BatchRunner::Child::Child(const std::vector<std::string> &command) {
  if (!input.isOpen() || !output.isOpen() || !errors.isOpen()) {
    startError = errno;
    return;
  }
  startError = process.start(command.front(), command,
                             {{input.out, 0}, {output.in, 1}, {errors.in, 2}});
  input.closeOut();
  output.closeIn();
  errors.closeIn();
}

void BatchRunner::Child::write(const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t length = ::write(input.in, text.data() + done, text.size() - done);
    if (length < 0 && errno != EINTR)
      return; // It has ended, which `wait` sees.
    done += length > 0 ? static_cast<size_t>(length) : 0;
  }
}

/// Describes a process that has ended by itself.
static void finish(int status, Outcome &outcome) {
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
      (void)process.kill();
      hasEnded = true;
    } else if (std::optional<int> status = process.poll()) {
      finish(*status, outcome);
      hasEnded = true;
    }

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
