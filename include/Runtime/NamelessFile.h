//===- NamelessFile.h - Files that no folder lists --------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_NAMELESSFILE_H
#define TESSERA_RUNTIME_NAMELESSFILE_H

#include <string>
#include <string_view>

namespace tessera::runtime {

/// A file in memory, or an unlinked temporary one where the system has no such
/// thing. The kernel frees it with the last process that has it open, however
/// that process ends.
class NamelessFile {
public:
  NamelessFile();
  ~NamelessFile();
  NamelessFile(const NamelessFile &) = delete;
  NamelessFile &operator=(const NamelessFile &) = delete;

  /// Whether there is a file; errno says why not, after the constructor.
  bool isOpen() const { return file >= 0; }
  int getDescriptor() const { return file; }
  /// Appends. False, with errno set, if that is not possible.
  bool write(std::string_view bytes) const;
  /// All that has been written, by any process; what can be read of it where
  /// reading fails.
  std::string read() const;
  /// A path by which this process opens it, as long as this object lives.
  std::string getPath() const;
  /// A path by which a child of this process opens it, as long as this object
  /// lives.
  std::string getPathForChild() const;

private:
  int file;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_NAMELESSFILE_H
