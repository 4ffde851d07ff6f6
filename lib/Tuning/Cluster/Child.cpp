//===- Child.cpp - A process of our own -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Child.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace tessera::tuning;

/// The prefix of a command line that starts this program.
static std::vector<std::string> &getProgram() {
  static std::vector<std::string> program;
  return program;
}

void Child::setProgram(int argc, char **argv) {
  std::vector<std::string> &program = getProgram();
  program.assign({"/proc/self/exe"});
  // The loader's own words, if it was started as a program, come before ours.
  auto words = llvm::MemoryBuffer::getFileAsStream("/proc/self/cmdline");
  if (!words)
    return;
  llvm::SmallVector<llvm::StringRef> list;
  llvm::StringRef text = (*words)->getBuffer();
  text.consume_back(llvm::StringRef("\0", 1));
  text.split(list, '\0');
  auto own = static_cast<size_t>(argc);
  if (list.size() <= own)
    return;
  program.clear();
  for (llvm::StringRef word : llvm::ArrayRef(list).drop_back(own - 1))
    program.push_back(word.str());
  // The last one is the program itself, as the loader takes it.
  if (program.empty())
    program.push_back(argv[0]);
}

std::unique_ptr<Child> Child::start(const std::vector<std::string> &arguments,
                                    std::string &why) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    why = std::string("socketpair: ") + std::strerror(errno);
    return nullptr;
  }
  Channel own(ends[0]);
  std::unique_ptr<Child> child = start(arguments, ends[1], why);
  if (!child)
    return nullptr;
  child->channel = std::move(own);
  return child;
}

std::unique_ptr<Child> Child::start(const std::vector<std::string> &arguments,
                                    int line, std::string &why) {
  auto log = std::make_unique<::tessera::runtime::NamelessFile>();
  if (!log->isOpen()) {
    why = std::string("a temporary file: ") + std::strerror(errno);
    close(line);
    return nullptr;
  }
  int logFile = log->getDescriptor();
  std::vector<std::string> words = getProgram();
  std::string file = words.front();
  if (words.size() == 1)
    words.front() = "gpu-tune";
  words.push_back("worker");
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::unique_ptr<Child> child(new Child(std::move(log)));
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int error = child->process.start(file, words,
                                   {{nothing, STDIN_FILENO},
                                    {logFile, STDOUT_FILENO},
                                    {logFile, STDERR_FILENO},
                                    {line, channelFile}});
  close(nothing);
  close(line);
  if (error == 0)
    return child;
  why = std::strerror(error);
  return nullptr;
}

Child::~Child() {
  if (process.isRunning())
    (void)end(/*isGone=*/false);
}

/// The end of what a worker printed, on one line.
static std::string readLastWords(const ::tessera::runtime::NamelessFile &log) {
  std::string all = log.read();
  llvm::StringRef text = llvm::StringRef(all).trim().take_back(500);
  std::string line;
  for (char letter : text)
    line += letter == '\n' ? ' ' : letter;
  return line;
}

std::string Child::end(bool isGone) {
  // The status of one that has died by itself is more precise; it may still be
  // about to die.
  std::optional<int> status = process.poll();
  for (int i = 0; isGone && !status && i < 200; ++i) {
    usleep(10'000);
    status = process.poll();
  }
  std::string text = "ended";
  if (status)
    text = ::tessera::support::describeStatus(*status);
  else
    (void)process.kill();
  if (std::string words = readLastWords(*log); !words.empty())
    text += ": " + words;
  return text;
}
