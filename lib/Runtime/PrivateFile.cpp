//===- PrivateFile.cpp - Files that only this user may write --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/PrivateFile.h"

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

Expected<std::string>
tessera::runtime::readPrivateFile(const std::string &path,
                                  const PrivateFileOptions &options,
                                  bool *isAbsent) {
  if (isAbsent)
    *isAbsent = false;
  // O_NONBLOCK: opening a named pipe does not wait for a writer.
  Descriptor input = {
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
                               (options.followsLinks ? 0 : O_NOFOLLOW))};
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
  auto size = static_cast<uint64_t>(about.st_size);
  if (size > options.maxBytes)
    return fail("is too long: " + std::to_string(size) +
                " bytes, more than the limit of " +
                std::to_string(options.maxBytes));
  // Read rather than mapped: a file that is cut short meanwhile is then an
  // error like any other.
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t part = ::read(input.file, &bytes[done], bytes.size() - done);
    if (part < 0 && errno == EINTR)
      continue;
    if (part < 0)
      return fail(std::string("cannot be read: ") + std::strerror(errno));
    if (part == 0)
      break;
    done += static_cast<size_t>(part);
  }
  bytes.resize(done);
  if (options.touches)
    (void)::futimens(input.file, nullptr);
  return bytes;
}
