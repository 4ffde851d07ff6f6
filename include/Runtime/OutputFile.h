//===- OutputFile.h - Files that are whole or not there ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_OUTPUTFILE_H
#define TESSERA_RUNTIME_OUTPUTFILE_H

#include "Runtime/Status.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tessera::runtime {

/// Suffix of the names of files that are being written.
constexpr char unfinishedSuffix[] = ".unfinished";

/// Writes a file atomically: to a temporary file in the same folder, which is
/// then renamed, so that a failure leaves the old file. The target of a
/// symbolic link is replaced, not the link. Paths that are not files (a pipe, a
/// terminal) are written directly. The file is the concatenation of the parts.
/// The message of a failure names the path and the reason.
Status writeFile(const std::string &path,
                 std::initializer_list<std::string_view> parts,
                 mode_t mode = 0666);

/// Writes a private file: it is renamed onto the path itself, so that a link or
/// a pipe of that name is replaced rather than followed, and only its owner can
/// access it (0600).
Status writePrivateFile(const std::string &path,
                        std::initializer_list<std::string_view> parts);

/// Removes the unfinished files of `writeFile`, and prevents its calls from
/// starting another file. For process exit: a signal handler may call it.
void removeUnfinishedFiles();

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_OUTPUTFILE_H
