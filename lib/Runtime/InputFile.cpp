//===- InputFile.cpp - Reading the files that a user names ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/InputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera::runtime;

namespace {
/// A descriptor, closed at the end unless it is standard input.
struct InputDescriptor {
  int file;
  ~InputDescriptor() {
    if (file > STDIN_FILENO)
      close(file);
  }
};
} // namespace

Expected<std::string> tessera::runtime::readInputFile(const std::string &path) {
  auto fail = [](const char *what) {
    return Status(StatusCode::InvalidArgument, what);
  };
  bool isStandard = path == "-";
  // A pipe without a writer would have `open` wait for one.
  InputDescriptor input = {
      isStandard
          ? STDIN_FILENO
          : open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
  struct stat status;
  if (input.file < 0 || fstat(input.file, &status) != 0)
    return fail(std::strerror(errno));
  bool isPipe = S_ISFIFO(status.st_mode);
  if (S_ISDIR(status.st_mode))
    return fail(std::strerror(EISDIR));
  if (!isStandard && !isPipe && !S_ISREG(status.st_mode))
    return fail("it is neither a file nor a pipe; use - for standard input");
  std::string text;
  if (S_ISREG(status.st_mode))
    text.reserve(static_cast<size_t>(status.st_size));
  char buffer[1 << 16];
  while (true) {
    ssize_t got = ::read(input.file, buffer, sizeof(buffer));
    if (got > 0) {
      text.append(buffer, static_cast<size_t>(got));
    } else if (got == 0) {
      if (isPipe && !isStandard && text.empty())
        return fail("no process writes to this pipe");
      return text;
    } else if (errno == EAGAIN && !isStandard) {
      // There is a writer: wait for its data.
      int flags = fcntl(input.file, F_GETFL);
      if (flags < 0 || fcntl(input.file, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return fail(std::strerror(errno));
    } else if (errno == EAGAIN) {
      pollfd wait = {input.file, POLLIN, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return fail(std::strerror(errno));
    }
  }
}

Expected<InputBytes> tessera::runtime::mapInputFile(const std::string &path) {
  InputDescriptor input = {
      path == "-"
          ? -1
          : open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
  struct stat status;
  if (input.file >= 0 && fstat(input.file, &status) == 0 &&
      S_ISREG(status.st_mode) && status.st_size > 0) {
    auto size = static_cast<size_t>(status.st_size);
    void *memory =
        mmap(nullptr, size, PROT_READ, MAP_PRIVATE, input.file, /*offset=*/0);
    if (memory != MAP_FAILED)
      return InputBytes{{static_cast<const char *>(memory), size},
                        std::shared_ptr<const void>(memory, [=](const void *) {
                          munmap(memory, size);
                        })};
  }
  Expected<std::string> text = readInputFile(path);
  if (!text.ok())
    return text.status();
  auto owner = std::make_shared<std::string>(text.take());
  return InputBytes{*owner, owner};
}
