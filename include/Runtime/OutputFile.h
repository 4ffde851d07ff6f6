//===- OutputFile.h - Files that are whole or not there ---------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_OUTPUTFILE_H
#define TESSERA_RUNTIME_OUTPUTFILE_H

#include "Runtime/Status.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tessera::runtime {

/// What the names of files that are being written end with.
constexpr char unfinishedSuffix[] = ".unfinished";

/// Writes a file: to one of its own beside it, which is renamed, so that others
/// see the old file or the new one, and a failure leaves the old one. The file
/// that a link leads to is replaced, not the link. What is no file (a pipe, a
/// terminal) is written to straight away. The parts stand in the file one
/// behind the other. The message of a failure names the path and the reason.
Status writeFile(const std::string &path,
                 std::initializer_list<std::string_view> parts,
                 mode_t mode = 0666);

/// The same for a file that no other user may have part in: it is renamed onto
/// the name itself, so that a link or a pipe of that name is replaced rather
/// than followed, and it is for its owner alone (0600) whatever was there.
Status writePrivateFile(const std::string &path,
                        std::initializer_list<std::string_view> parts);

/// Removes what `writeFile` has not finished, and lets none of its calls begin
/// another file. For the end of a process: a signal's handler may call it.
void removeUnfinishedFiles();

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_OUTPUTFILE_H
