//===- NamelessFile.cpp - Files that no folder lists ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/NamelessFile.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tessera::runtime;

static int openNameless() {
  int file = memfd_create("tessera", MFD_CLOEXEC);
  if (file >= 0)
    return file;
  // Some sandboxes have no memfd_create.
  const char *folder = std::getenv("TMPDIR");
  std::string path =
      std::string(folder && *folder ? folder : "/tmp") + "/tesseraXXXXXX";
  file = mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0)
    unlink(path.c_str());
  return file;
}

NamelessFile::NamelessFile() : file(openNameless()) {}

NamelessFile::~NamelessFile() {
  if (file >= 0)
    close(file);
}

bool NamelessFile::write(std::string_view bytes) const {
  if (file < 0)
    return false;
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string NamelessFile::read() const {
  std::string text;
  char buffer[4096];
  while (file >= 0) {
    ssize_t got =
        pread(file, buffer, sizeof(buffer), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

std::string NamelessFile::getPath() const {
  return "/proc/self/fd/" + std::to_string(file);
}

std::string NamelessFile::getPathForChild() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
}
