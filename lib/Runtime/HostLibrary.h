//===- HostLibrary.h - Host code of a bundle --------------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_HOSTLIBRARY_H
#define TESSERA_LIB_RUNTIME_HOSTLIBRARY_H

#include "Runtime/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

/// A file in memory, or a temporary one where the system has no such thing. It
/// goes away with this object.
class NamelessFile {
public:
  NamelessFile();
  ~NamelessFile();
  NamelessFile(const NamelessFile &) = delete;
  NamelessFile &operator=(const NamelessFile &) = delete;

  /// False, with errno set, if that is not possible.
  bool write(const std::string &bytes) const;
  /// By which it can be opened, as long as this object lives.
  std::string getPath() const;

private:
  int file;
  std::string path;
};

/// A shared library that was never a file, in this process until it is
/// destroyed.
///
/// What it calls it finds in a table of its own, `tessera_imports`, which is
/// filled in here: nothing depends on what else the process has loaded, or
/// shows.
class HostLibrary {
public:
  /// `Rejected` where the system does not load it, or has not what it calls.
  static Expected<std::unique_ptr<HostLibrary>>
  load(const std::string &bytes, const std::vector<std::string> &imports);
  ~HostLibrary();
  HostLibrary(const HostLibrary &) = delete;
  HostLibrary &operator=(const HostLibrary &) = delete;

  /// The address of a function, or null.
  void *find(const std::string &name) const;

private:
  HostLibrary() = default;

  /// Kept, since the system takes libraries of one path to be one library.
  NamelessFile file;
  void *handle = nullptr;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_HOSTLIBRARY_H
