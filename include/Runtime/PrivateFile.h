//===- PrivateFile.h - Files that only this user may write ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contents of a private file are executed or trusted: machine code, keys.
// Reading rejects a file that another user could have written, and never
// blocks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_PRIVATEFILE_H
#define TESSERA_RUNTIME_PRIVATEFILE_H

#include "Runtime/InputFile.h"
#include "Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::runtime {

/// Checks that a folder belongs to this user and that no other user can write
/// to it. The message of a failure is a complete sentence with the command that
/// fixes it. A folder that does not exist yet passes.
Status checkPrivateFolder(const std::string &path);

/// Creates a folder, and those above it, for its owner alone (0700) unless it
/// exists, and checks it as `checkPrivateFolder` does.
Status makePrivateFolder(const std::string &path);

struct PrivateFileOptions {
  /// A longer file is an error.
  uint64_t maxBytes = ~uint64_t(0);
  /// Whether other users must not be able to read the file, as for a key.
  bool isSecret = false;
  /// Whether the path may be a symbolic link; its target is then checked.
  bool followsLinks = false;
  /// Whether to set the modification time, which records the last use of the
  /// file.
  bool touches = false;
};

/// Reads a regular file of this user that others cannot write. `isAbsent` is
/// set if the file does not exist. The message of a failure continues a
/// sentence that starts with the file's name: "is a symbolic link".
Expected<std::string> readPrivateFile(const std::string &path,
                                      const PrivateFileOptions &options,
                                      bool *isAbsent = nullptr);

/// The same for a large file, whose contents are aligned to 256 bytes and are
/// read by several threads.
Expected<InputBytes> readLargePrivateFile(const std::string &path,
                                          const PrivateFileOptions &options,
                                          bool *isAbsent = nullptr);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_PRIVATEFILE_H
