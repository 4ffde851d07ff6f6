//===- InputFile.h - Reading the files that a user names --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_INPUTFILE_H
#define TESSERA_RUNTIME_INPUTFILE_H

#include "Runtime/Status.h"

#include <memory>
#include <string>
#include <string_view>

namespace tessera::runtime {

/// Reads all of a file: a regular one, or a pipe that some process has open for
/// writing, as a shell's `<(command)` is. `-` is standard input. The message of
/// a failure (`InvalidArgument`) contains the reason without the path. Paths
/// that are neither a file nor a pipe are rejected, and so is a named pipe
/// without a writer, because opening it would block forever.
Expected<std::string> readInputFile(const std::string &path);

/// The contents of a file, and what keeps them alive.
struct InputBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

/// Like `readInputFile`, but maps a regular file, which must not shrink while
/// the contents are used.
Expected<InputBytes> mapInputFile(const std::string &path);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_INPUTFILE_H
