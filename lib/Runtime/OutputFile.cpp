//===- OutputFile.cpp - Files that are whole or not there -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/OutputFile.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Files that are being written
//===----------------------------------------------------------------------===//

namespace {
/// The path of a file that is being written, where a signal's handler finds it.
struct OutputSlot {
  enum State { Free, Taken, Set };
  std::atomic<int> state;
  char path[PATH_MAX];
};
} // namespace

/// More are written at the same time, but not removed by a signal.
static OutputSlot slots[32];
static std::atomic<bool> isShuttingDown;
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<bool>::is_always_lock_free,
              "a signal's handler reads them");

void tessera::runtime::removeUnfinishedFiles() {
  isShuttingDown = true;
  for (OutputSlot &slot : slots)
    if (slot.state == OutputSlot::Set)
      ::unlink(slot.path);
}

namespace {
/// Keeps the path of a file where `removeUnfinishedFiles` finds it.
class Unfinished {
public:
  explicit Unfinished(const std::string &path) {
    if (path.size() >= PATH_MAX)
      return;
    for (OutputSlot &candidate : slots) {
      int expected = OutputSlot::Free;
      if (!candidate.state.compare_exchange_strong(expected, OutputSlot::Taken))
        continue;
      slot = &candidate;
      std::memcpy(slot->path, path.c_str(), path.size() + 1);
      slot->state = OutputSlot::Set;
      return;
    }
  }
  ~Unfinished() {
    if (slot)
      slot->state = OutputSlot::Free;
  }
  Unfinished(const Unfinished &) = delete;
  Unfinished &operator=(const Unfinished &) = delete;

private:
  OutputSlot *slot = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Whether all of it is written; else `errno` has the reason.
static bool writeParts(int file,
                       std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts)
    while (!part.empty()) {
      ssize_t done = ::write(file, part.data(), part.size());
      if (done < 0 && errno == EINTR)
        continue;
      if (done <= 0) {
        errno = done == 0 ? EIO : errno;
        return false;
      }
      part.remove_prefix(static_cast<size_t>(done));
    }
  return true;
}

static Status cannotWrite(const std::string &path) {
  return Status(StatusCode::Internal,
                "cannot write '" + path + "': " + std::strerror(errno));
}

/// Where `path` leads to, if that is a file or nothing; else empty.
static std::string getFile(const std::string &path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
    return "";
  char resolved[PATH_MAX];
  // A path that does not exist yet is used as is.
  return ::realpath(path.c_str(), resolved) ? resolved : path;
}

/// Writes a file beside `target` and renames it. `path` is for messages.
/// `keepsMode`: a file that exists keeps its permissions.
static Status replaceFile(const std::string &path, const std::string &target,
                          std::initializer_list<std::string_view> parts,
                          mode_t mode, bool keepsMode) {
  static std::atomic<unsigned> count;
  // No other process has such a name, and none of this one.
  std::string own = target + "." + std::to_string(::getpid()) + "-" +
                    std::to_string(count++) + unfinishedSuffix;
  Unfinished unfinished(own);
  if (isShuttingDown)
    return Status(StatusCode::Internal,
                  "cannot write '" + path + "': the process ends");
  // O_EXCL: neither a file nor a link of that name is followed.
  int file = ::open(own.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0)
    return cannotWrite(path);
  auto giveUp = [&] {
    Status status = cannotWrite(path);
    ::unlink(own.c_str());
    return status;
  };
  struct stat about = {};
  if (keepsMode && ::stat(target.c_str(), &about) == 0)
    (void)!::fchmod(file, about.st_mode & 07777);
  bool isWritten = writeParts(file, parts);
  int error = errno;
  if (::close(file) != 0 && isWritten)
    return giveUp();
  errno = error;
  if (!isWritten || std::rename(own.c_str(), target.c_str()) != 0)
    return giveUp();
  return Status::success();
}

Status
tessera::runtime::writeFile(const std::string &path,
                            std::initializer_list<std::string_view> parts,
                            mode_t mode) {
  std::string target = getFile(path);
  if (target.empty()) {
    int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    bool isWritten = file >= 0 && writeParts(file, parts);
    Status status = isWritten ? Status::success() : cannotWrite(path);
    if (file >= 0 && ::close(file) && isWritten)
      return cannotWrite(path);
    return status;
  }
  return replaceFile(path, target, parts, mode, /*keepsMode=*/true);
}

Status tessera::runtime::writePrivateFile(
    const std::string &path, std::initializer_list<std::string_view> parts) {
  return replaceFile(path, path, parts, S_IRUSR | S_IWUSR,
                     /*keepsMode=*/false);
}
