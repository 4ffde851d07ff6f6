//===- NamelessFile.h - Files that no folder lists --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_NAMELESSFILE_H
#define TESSERA_RUNTIME_NAMELESSFILE_H

#include <string>
#include <string_view>

namespace tessera::runtime {

/// An in-memory file, or an unlinked temporary file if the system does not
/// support those. The kernel frees it when the last process that has it open
/// ends.
class NamelessFile {
public:
  NamelessFile();
  ~NamelessFile();
  NamelessFile(const NamelessFile &) = delete;
  NamelessFile &operator=(const NamelessFile &) = delete;

  /// Whether the file was created; otherwise errno contains the reason after
  /// the constructor.
  bool isOpen() const { return file >= 0; }
  int getDescriptor() const { return file; }
  /// Appends bytes. Returns false, with errno set, on failure.
  bool write(std::string_view bytes) const;
  /// Returns the bytes written so far by any process; only those before a read
  /// error, if one occurs.
  std::string read() const;
  /// A path under which this process can open the file while this object lives.
  std::string getPath() const;
  /// A path under which a child process can open the file while this object
  /// lives.
  std::string getPathForChild() const;

private:
  int file;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_NAMELESSFILE_H
