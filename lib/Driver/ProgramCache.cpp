//===- ProgramCache.cpp - Compiled programs, kept on disk -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry is a file, KEY-SOURCE-FILE.tessera, whose name has the digests of
// its key, of the source and of the name of the source's file:
//
//   magic      16 bytes, with the version of this format
//   checksum   32 bytes: BLAKE3 of all that follows
//   parts      their number; of each its name and its value
//   payload
//
// where numbers are 8 bytes, little-endian, and texts stand behind their
// length.
//
//===----------------------------------------------------------------------===//

#include "Driver/ProgramCache.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::tessera;

namespace fs = llvm::sys::fs;

static constexpr StringRef magic("tessera cache 1\n", 16);
static constexpr size_t checksumBytes = 32;
static constexpr StringRef entrySuffix = ".tessera";
static constexpr StringRef unfinishedSuffix = ".unfinished";

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static void writeNumber(std::string &bytes, uint64_t number) {
  char raw[8];
  llvm::support::endian::write64le(raw, number);
  bytes.append(raw, sizeof(raw));
}

static void writeText(std::string &bytes, StringRef text) {
  writeNumber(bytes, text.size());
  bytes += text;
}

static bool readNumber(StringRef &bytes, uint64_t &number) {
  if (bytes.size() < 8)
    return false;
  number = llvm::support::endian::read64le(bytes.data());
  bytes = bytes.drop_front(8);
  return true;
}

static bool readText(StringRef &bytes, std::string &text) {
  uint64_t size = 0;
  if (!readNumber(bytes, size) || size > bytes.size())
    return false;
  text = bytes.take_front(size).str();
  bytes = bytes.drop_front(size);
  return true;
}

static std::string getChecksum(StringRef bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(bytes);
  auto digest = hasher.final<checksumBytes>();
  return std::string(digest.begin(), digest.end());
}

static std::string writeEntry(const ProgramKey &key, StringRef payload) {
  std::string body;
  writeNumber(body, key.getParts().size());
  for (const ProgramKey::Part &part : key.getParts()) {
    writeText(body, part.name);
    writeText(body, part.value);
  }
  writeText(body, payload);
  return magic.str() + getChecksum(body) + body;
}

/// Reads an entry. False if it is not whole.
static bool readEntry(StringRef bytes, std::vector<ProgramKey::Part> &parts,
                      std::string &payload) {
  if (!bytes.consume_front(magic) || bytes.size() < checksumBytes)
    return false;
  StringRef checksum = bytes.take_front(checksumBytes);
  bytes = bytes.drop_front(checksumBytes);
  uint64_t count = 0;
  if (checksum != getChecksum(bytes) || !readNumber(bytes, count))
    return false;
  for (; count != 0; --count)
    if (ProgramKey::Part &part = parts.emplace_back();
        !readText(bytes, part.name) || !readText(bytes, part.value))
      return false;
  return readText(bytes, payload) && bytes.empty();
}

//===----------------------------------------------------------------------===//
// Looking up
//===----------------------------------------------------------------------===//

namespace {
enum class Read { Done, Absent, Failed };
} // namespace

/// Reads a file of this user: what an entry holds is run, so nobody else's will
/// do. With `use`, notes that it was used.
static Read readFile(const std::string &path, bool use, std::string &bytes,
                     std::string &why) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    why = "cannot be read: " + llvm::sys::StrError(errno);
    return errno == ENOENT || errno == ENOTDIR ? Read::Absent : Read::Failed;
  }
  auto closer = llvm::make_scope_exit([&] { close(file); });
  struct stat info = {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    why = "is no file";
    return Read::Failed;
  }
  if (info.st_uid != geteuid()) {
    why = "belongs to another user";
    return Read::Failed;
  }
  // Copied rather than mapped: a file that is cut short meanwhile is then an
  // error like any other.
  auto buffer = llvm::MemoryBuffer::getOpenFile(
      file, path, static_cast<uint64_t>(info.st_size),
      /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!buffer) {
    why = "cannot be read: " + buffer.getError().message();
    return Read::Failed;
  }
  bytes = (*buffer)->getBuffer().str();
  if (use)
    (void)futimens(file, nullptr);
  return Read::Done;
}

/// The names of the entries in a folder.
static std::vector<std::string> listEntries(const std::string &directory,
                                            StringRef suffix) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; it != end && !error;
       it.increment(error))
    if (StringRef name = llvm::sys::path::filename(it->path());
        name.ends_with(suffix))
      names.push_back(name.str());
  return names;
}

static std::string join(const std::string &directory, StringRef name) {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  return std::string(path);
}

/// "--allow-tf32 (there on, here off)".
static std::string describeDifference(const ProgramKey::Part &there,
                                      const ProgramKey::Part &here) {
  if (here.name == "source" || here.name == "build of the compiler")
    return here.name;
  auto quote = [](const std::string &value) {
    return value.empty() ? std::string("nothing") : value;
  };
  // Features stand there as a digest, which says nothing.
  if (here.name == "processor")
    return here.name + " (there " +
           StringRef(there.value).split(' ').first.str() + ", here " +
           StringRef(here.value).split(' ').first.str() + ")";
  return here.name + " (there " + quote(there.value) + ", here " +
         quote(here.value) + ")";
}

std::string ProgramCache::explainMiss(const ProgramKey &key) const {
  // KEY-SOURCE-FILE.tessera.
  auto split = [](StringRef name) {
    name.consume_back(entrySuffix);
    auto [digest, rest] = name.split('-');
    return rest.split('-');
  };
  std::string own = key.getFileName();
  auto [source, file] = split(own);
  std::vector<std::string> names = listEntries(directory, entrySuffix);
  // Enough to find a near one.
  constexpr size_t most = 32;
  for (bool bySource : {true, false}) {
    size_t seen = 0, least = ~size_t(0);
    std::string text;
    for (const std::string &name : names) {
      auto [otherSource, otherFile] = split(name);
      if ((bySource ? otherSource != source : otherFile != file) ||
          name == own || seen == most)
        continue;
      std::string bytes, payload, why;
      std::vector<ProgramKey::Part> parts;
      // Another build's may have other parts, and says so as another build's.
      if (readFile(join(directory, name), /*use=*/false, bytes, why) !=
              Read::Done ||
          !readEntry(bytes, parts, payload))
        continue;
      ++seen;
      std::vector<std::string> differences;
      for (const ProgramKey::Part &here : key.getParts()) {
        auto there = llvm::find_if(
            parts, [&](const auto &part) { return part.name == here.name; });
        if (there != parts.end() && !(*there == here))
          differences.push_back(describeDifference(*there, here));
      }
      if (differences.empty() || differences.size() >= least)
        continue;
      least = differences.size();
      text = llvm::join(differences, ", ");
    }
    if (!text.empty())
      return (bySource ? "an entry of this source has another "
                       : "an entry of this file has another ") +
             text;
  }
  return "no entry of this source";
}

ProgramCache::Lookup ProgramCache::find(const ProgramKey &key) const {
  Lookup result;
  std::string path = join(directory, key.getFileName());
  std::string bytes, payload, why;
  std::vector<ProgramKey::Part> parts;
  Read read = readFile(path, /*use=*/true, bytes, why);
  if (read == Read::Absent) {
    result.why = explainMiss(key);
    return result;
  }
  if (read == Read::Done) {
    if (readEntry(bytes, parts, payload) && parts == key.getParts()) {
      result.payload = std::move(payload);
      return result;
    }
    why = "is damaged";
  }
  result.why = "its entry " + why;
  result.defect = "the cache's entry " + path + " " + why;
  return result;
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// It may be gone already, by another process.
static void removeFile(const Twine &path) {
  [[maybe_unused]] std::error_code error = fs::remove(path);
}

void ProgramCache::prune() const {
  struct Entry {
    std::string path;
    fs::file_status status;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  for (const std::string &name : listEntries(directory, entrySuffix)) {
    Entry entry{join(directory, name), {}};
    if (fs::status(entry.path, entry.status))
      continue;
    total += entry.status.getSize();
    entries.push_back(std::move(entry));
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return a.status.getLastModificationTime() <
           b.status.getLastModificationTime();
  });
  for (const Entry &entry : entries) {
    if (total <= limit)
      break;
    total -= entry.status.getSize();
    removeFile(entry.path);
  }
  // What processes that were killed have left.
  auto now = std::chrono::system_clock::now();
  for (const std::string &name : listEntries(directory, unfinishedSuffix)) {
    std::string path = join(directory, name);
    fs::file_status status;
    if (!fs::status(path, status) &&
        now - status.getLastModificationTime() > std::chrono::hours(1))
      removeFile(path);
  }
}

std::string ProgramCache::store(const ProgramKey &key,
                                StringRef payload) const {
  std::string bytes = writeEntry(key, payload);
  // One program is not to push out all others.
  if (bytes.size() > limit / 8)
    return "this one takes " + std::to_string(bytes.size()) +
           " bytes, more than an eighth of the cache";
  if (std::error_code error = fs::create_directories(
          directory, /*IgnoreExisting=*/true, fs::owner_all))
    return "cannot make the folder " + directory + ": " + error.message();
  int file = -1;
  llvm::SmallString<128> path;
  if (std::error_code error = fs::createUniqueFile(
          join(directory, "%%%%%%%%%%%%") + unfinishedSuffix, file, path,
          fs::OF_None, fs::owner_read | fs::owner_write))
    return "cannot write to " + directory + ": " + error.message();
  std::error_code error;
  {
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (!error)
    error = fs::rename(path, join(directory, key.getFileName()));
  if (error) {
    removeFile(path);
    return "cannot write to " + directory + ": " + error.message();
  }
  prune();
  return "";
}
