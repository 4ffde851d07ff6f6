//===- PrivateFile.cpp - Files that only this user may write --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/PrivateFile.h"

#include "ParallelFor.h"
#include "Runtime/LargeBuffer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera::runtime;

namespace {
/// A descriptor that is closed at the end.
struct Descriptor {
  int file;
  ~Descriptor() {
    if (file >= 0)
      ::close(file);
  }
};
} // namespace

static Status fail(const std::string &what) {
  return Status(StatusCode::InvalidArgument, what);
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

Status tessera::runtime::checkPrivateFolder(const std::string &path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0)
    return errno == ENOENT || errno == ENOTDIR
               ? Status::success()
               : fail("cannot inspect the folder " + path + ": " +
                      std::strerror(errno));
  if (!S_ISDIR(about.st_mode))
    return fail(path + " is not a folder; name a folder or a new path");
  if (about.st_uid != ::geteuid())
    return fail("the folder " + path +
                " belongs to another user, who could replace the code in it; "
                "name a folder of your own");
  if (about.st_mode & (S_IWGRP | S_IWOTH))
    return fail("other users may write to the folder " + path +
                " and could replace the code in it; run: chmod go-w '" + path +
                "'");
  return Status::success();
}

Status tessera::runtime::makePrivateFolder(const std::string &path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      // Above the first missing folder, mkdir may fail for other reasons
      // (a file system that is read-only) though the folder exists.
      int error = errno;
      struct stat about = {};
      if (::stat(part.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
        return fail("cannot make the folder " + path + ": " +
                    std::strerror(error));
    }
    if (end == std::string::npos)
      break;
  }
  return checkPrivateFolder(path);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Opens and checks a file. On success `input` is its descriptor, and `size`
/// its size.
static Status openPrivateFile(const std::string &path,
                              const PrivateFileOptions &options, bool *isAbsent,
                              Descriptor &input, uint64_t &size) {
  if (isAbsent)
    *isAbsent = false;
  // O_NONBLOCK: opening a named pipe does not wait for a writer.
  input.file =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
                               (options.followsLinks ? 0 : O_NOFOLLOW));
  if (input.file < 0) {
    if (isAbsent)
      *isAbsent = errno == ENOENT || errno == ENOTDIR;
    if (errno == ELOOP && !options.followsLinks)
      return fail("is a symbolic link");
    return fail(std::string("cannot be read: ") + std::strerror(errno));
  }
  struct stat about = {};
  if (::fstat(input.file, &about) != 0)
    return fail(std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(about.st_mode))
    return fail("is not a regular file");
  if (about.st_uid != ::geteuid())
    return fail("belongs to another user");
  if (about.st_mode & (S_IWGRP | S_IWOTH))
    return fail("can be written by other users; run: chmod go-w '" + path +
                "'");
  if (options.isSecret && (about.st_mode & (S_IRWXG | S_IRWXO)))
    return fail("can be read by other users; run: chmod 600 '" + path + "'");
  size = static_cast<uint64_t>(about.st_size);
  if (size > options.maxBytes)
    return fail("is too long: " + std::to_string(size) +
                " bytes, more than the limit of " +
                std::to_string(options.maxBytes));
  return Status::success();
}

/// Reads a part of a file until its end. Returns the number of bytes, or -1
/// with `error` set to errno.
static int64_t readPart(int file, char *to, size_t bytes, size_t offset,
                        int &error) {
  size_t done = 0;
  while (done < bytes) {
    ssize_t part = ::pread(file, to + done, bytes - done,
                           static_cast<off_t>(offset + done));
    if (part < 0 && errno == EINTR)
      continue;
    if (part < 0) {
      error = errno;
      return -1;
    }
    if (part == 0)
      break;
    done += static_cast<size_t>(part);
  }
  return static_cast<int64_t>(done);
}

// Files are read rather than mapped: one that is cut short meanwhile is then
// shorter, or an error, like any other.

Expected<std::string>
tessera::runtime::readPrivateFile(const std::string &path,
                                  const PrivateFileOptions &options,
                                  bool *isAbsent) {
  Descriptor input = {-1};
  uint64_t size = 0;
  if (Status status = openPrivateFile(path, options, isAbsent, input, size);
      !status.ok())
    return status;
  std::string bytes(size, '\0');
  int error = 0;
  int64_t done = readPart(input.file, bytes.data(), size, /*offset=*/0, error);
  if (done < 0)
    return fail(std::string("cannot be read: ") + std::strerror(error));
  bytes.resize(static_cast<size_t>(done));
  if (options.touches)
    (void)::futimens(input.file, nullptr);
  return bytes;
}

Expected<InputBytes>
tessera::runtime::readLargePrivateFile(const std::string &path,
                                       const PrivateFileOptions &options,
                                       bool *isAbsent) {
  Descriptor input = {-1};
  uint64_t size = 0;
  if (Status status = openPrivateFile(path, options, isAbsent, input, size);
      !status.ok())
    return status;
  std::shared_ptr<char> buffer = allocateLargeBuffer(size);
  if (!buffer)
    return fail("cannot be read: " + std::string(std::strerror(ENOMEM)));
  constexpr size_t pieceBytes = size_t(8) << 20;
  constexpr unsigned mostThreads = 8;
  std::atomic<int> error{0};
  std::atomic<bool> isShort{false};
  parallelFor((size + pieceBytes - 1) / pieceBytes,
              std::min(mostThreads, countProcessors()), [&](size_t i) {
                size_t offset = i * pieceBytes;
                size_t bytes = std::min<size_t>(pieceBytes, size - offset);
                int own = 0;
                int64_t done = readPart(input.file, buffer.get() + offset,
                                        bytes, offset, own);
                if (done < 0)
                  error = own;
                else if (static_cast<size_t>(done) < bytes)
                  isShort = true;
              });
  if (error != 0)
    return fail(std::string("cannot be read: ") + std::strerror(error));
  if (isShort)
    return fail("became shorter while it was read");
  if (options.touches)
    (void)::futimens(input.file, nullptr);
  return InputBytes{std::string_view(buffer.get(), size), buffer};
}
