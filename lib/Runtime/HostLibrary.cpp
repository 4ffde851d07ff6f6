//===- HostLibrary.cpp - Host code of a bundle ----------------------------===//

#include "HostLibrary.h"

#include "Runtime/HostImports.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// NamelessFile
//===----------------------------------------------------------------------===//

NamelessFile::NamelessFile() : file(memfd_create("tessera", MFD_CLOEXEC)) {
  if (file >= 0)
    return;
  // Not on kernels before 3.17, nor in some sandboxes.
  const char *folder = std::getenv("TMPDIR");
  path = std::string(folder && *folder ? folder : "/tmp") + "/tesseraXXXXXX";
  file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0)
    path.clear();
}

NamelessFile::~NamelessFile() {
  if (file >= 0)
    close(file);
  if (!path.empty())
    unlink(path.c_str());
}

bool NamelessFile::write(const std::string &bytes) const {
  if (file < 0)
    return false;
  const char *from = bytes.data();
  size_t left = bytes.size();
  while (left > 0) {
    ssize_t written = ::write(file, from, left);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    from += written;
    left -= static_cast<size_t>(written);
  }
  return true;
}

std::string NamelessFile::getPath() const {
  return path.empty() ? "/proc/self/fd/" + std::to_string(file) : path;
}

//===----------------------------------------------------------------------===//
// HostLibrary
//===----------------------------------------------------------------------===//

/// The loader has a lock of its own, which ThreadSanitizer does not see: it
/// would take what one thread writes to a library for a race with what another
/// has written to one that was unloaded before, at the same place.
static std::mutex &getLoaderMutex() {
  static std::mutex mutex;
  return mutex;
}

Expected<std::unique_ptr<HostLibrary>>
HostLibrary::load(const std::string &bytes,
                  const std::vector<std::string> &imports) {
  auto fail = [](const std::string &what) {
    return Status(StatusCode::Rejected, "host code of the program: " + what);
  };
  std::unique_ptr<HostLibrary> library(new HostLibrary);
  if (!library->file.write(bytes))
    return fail(std::string("it cannot be written to memory or to a temporary "
                            "file: ") +
                std::strerror(errno));
  {
    std::lock_guard<std::mutex> lock(getLoaderMutex());
    library->handle =
        dlopen(library->file.getPath().c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!library->handle) {
    const char *why = dlerror();
    return fail(why ? why : "it cannot be loaded");
  }
  if (imports.empty())
    return library;
  auto *table = static_cast<void **>(library->find("tessera_imports"));
  if (!table)
    return fail("it has no table of imports");
  for (const std::string &import : imports) {
    void *function = findHostImport(import.c_str());
    if (!function)
      return fail("it calls '" + import +
                  "', which neither this runtime nor the system has");
    *table++ = function;
  }
  return library;
}

HostLibrary::~HostLibrary() {
  if (!handle)
    return;
  std::lock_guard<std::mutex> lock(getLoaderMutex());
  dlclose(handle);
}

void *HostLibrary::find(const std::string &name) const {
  return dlsym(handle, name.c_str());
}
