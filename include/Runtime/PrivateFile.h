//===- PrivateFile.h - Files that only this user may write ------*- C++ -*-===//
//
// What such a file holds is executed or trusted: machine code, keys. Reading
// rejects whatever another user could have put there, and never waits.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_PRIVATEFILE_H
#define TESSERA_RUNTIME_PRIVATEFILE_H

#include "Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::runtime {

/// Whether a folder belongs to this user and nobody else can write to it. The
/// message of a failure is a whole sentence with the command that fixes it. A
/// folder that does not exist yet passes.
Status checkPrivateFolder(const std::string &path);

/// Creates a folder, and those above it, for its owner alone (0700) unless it
/// exists, and checks it as `checkPrivateFolder` does.
Status makePrivateFolder(const std::string &path);

struct PrivateFileOptions {
  /// A longer file is an error.
  uint64_t maxBytes = ~uint64_t(0);
  /// Whether others may not read the file either, as for a key.
  bool isSecret = false;
  /// Whether the path may be a symbolic link. What it leads to is checked.
  bool followsLinks = false;
  /// Sets the modification time, which tells when the file was last used.
  bool touches = false;
};

/// Reads a regular file of this user that others cannot write. `isAbsent` is
/// set if there is no such file. The message of a failure continues a sentence
/// that begins with the file's name: "is a symbolic link".
Expected<std::string> readPrivateFile(const std::string &path,
                                      const PrivateFileOptions &options,
                                      bool *isAbsent = nullptr);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_PRIVATEFILE_H
