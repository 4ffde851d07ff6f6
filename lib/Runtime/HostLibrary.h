//===- HostLibrary.h - Host code of a bundle --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_HOSTLIBRARY_H
#define TESSERA_LIB_RUNTIME_HOSTLIBRARY_H

#include "Runtime/NamelessFile.h"
#include "Runtime/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

/// A shared library that was never a file, in this process until it is
/// destroyed.
///
/// Its imports are in a table of its own, `tessera_imports`, which is filled in
/// here: nothing depends on the other libraries that the process has loaded, or
/// on their visible symbols.
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
