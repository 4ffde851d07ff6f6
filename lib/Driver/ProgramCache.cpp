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
//   checksum   32 bytes: `hashContents` of all that follows
//   parts      their number; then the name and the value of each
//   source     the same for the parts of the source, which are not a key
//   payload    its length; zeros up to a multiple of 256 bytes; its bytes
//
// where numbers are 8 bytes, little-endian, and texts follow their length.
//
//===----------------------------------------------------------------------===//

#include "Driver/ProgramCache.h"
#include "Hashing/ContentHash.h"
#include "Runtime/OutputFile.h"
#include "Runtime/PrivateFile.h"
#include "Runtime/Serialize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;
using namespace mlir::tessera;

namespace fs = llvm::sys::fs;

static constexpr StringRef magic("tessera cache 3\n", 16);
static constexpr size_t checksumBytes = 32;
static constexpr StringRef entrySuffix = ".tessera";

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

static void writeParts(std::string &bytes, ArrayRef<ProgramKey::Part> parts) {
  writeNumber(bytes, parts.size());
  for (const ProgramKey::Part &part : parts) {
    writeText(bytes, part.name);
    writeText(bytes, part.value);
  }
}

static std::string writeEntry(const ProgramKey &key, StringRef payload) {
  std::string entry = magic.str() + std::string(checksumBytes, 0);
  size_t begin = entry.size();
  writeParts(entry, key.getParts());
  writeParts(entry, key.getSourceParts());
  writeNumber(entry, payload.size());
  entry.reserve(runtime::alignContents(entry.size()) + payload.size());
  entry.resize(runtime::alignContents(entry.size()));
  entry += payload;
  entry.replace(begin - checksumBytes, checksumBytes,
                hashContents(StringRef(entry).drop_front(begin)));
  return entry;
}

namespace {
/// The contents of an entry.
struct Entry {
  std::vector<ProgramKey::Part> parts, sourceParts;
  /// A part of the file's bytes.
  StringRef payload;
};
} // namespace

static bool readParts(StringRef &bytes, std::vector<ProgramKey::Part> &parts) {
  uint64_t count = 0;
  if (!readNumber(bytes, count))
    return false;
  for (; count != 0; --count)
    if (ProgramKey::Part &part = parts.emplace_back();
        !readText(bytes, part.name) || !readText(bytes, part.value))
      return false;
  return true;
}

/// Reads an entry. False if it is not whole.
static bool readEntry(StringRef file, Entry &entry) {
  StringRef bytes = file;
  if (!bytes.consume_front(magic) || bytes.size() < checksumBytes)
    return false;
  StringRef checksum = bytes.take_front(checksumBytes);
  bytes = bytes.drop_front(checksumBytes);
  uint64_t size = 0;
  if (checksum != hashContents(bytes) || !readParts(bytes, entry.parts) ||
      !readParts(bytes, entry.sourceParts) || !readNumber(bytes, size))
    return false;
  size_t offset = file.size() - bytes.size();
  size_t begin = runtime::alignContents(offset);
  if (begin > file.size() || file.size() - begin != size)
    return false;
  entry.payload = file.drop_front(begin);
  return true;
}

//===----------------------------------------------------------------------===//
// Looking up
//===----------------------------------------------------------------------===//

namespace {
enum class Read { Done, Absent, Failed };
} // namespace

/// Reads a file of this user: the content of an entry is executed, so that
/// files of other users are rejected. With `use`, notes that it was used.
static Read readFile(const std::string &path, bool use,
                     runtime::InputBytes &bytes, std::string &why) {
  runtime::PrivateFileOptions options;
  options.touches = use;
  bool isAbsent = false;
  runtime::Expected<runtime::InputBytes> read =
      runtime::readLargePrivateFile(path, options, &isAbsent);
  if (!read.ok()) {
    why = read.status().message();
    return isAbsent ? Read::Absent : Read::Failed;
  }
  bytes = read.take();
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

/// "+avx512f -sse4a": the processor's features that are in one list alone.
static std::string listFeatures(StringRef list, StringRef other) {
  SmallVector<StringRef> features, others, own;
  list.split(features, ',');
  other.split(others, ',');
  llvm::StringSet<> known;
  for (StringRef feature : others)
    known.insert(feature);
  for (StringRef feature : features)
    if (!known.contains(feature))
      own.push_back(feature);
  return llvm::join(own, " ");
}

/// A part that is not the same there and here, for people.
static ProgramCache::Difference describe(const ProgramKey::Part &there,
                                         const ProgramKey::Part &here) {
  auto shorten = [](const std::string &digest) { return digest.substr(0, 16); };
  if (here.name == "source" || here.name == "IR" ||
      here.name == "build of the compiler")
    return {here.name, shorten(there.value), shorten(here.value)};
  if (here.name == "processor") {
    auto [otherName, otherFeatures] = StringRef(there.value).split(' ');
    auto [name, features] = StringRef(here.value).split(' ');
    auto join = [](StringRef name, const std::string &features) {
      return features.empty() ? name.str() : name.str() + " " + features;
    };
    return {here.name, join(otherName, listFeatures(otherFeatures, features)),
            join(name, listFeatures(features, otherFeatures))};
  }
  return {here.name, there.value, here.value};
}

/// The differences of two lists of parts, by name.
static std::vector<ProgramCache::Difference>
compare(ArrayRef<ProgramKey::Part> there, ArrayRef<ProgramKey::Part> here) {
  std::vector<ProgramCache::Difference> differences;
  for (const ProgramKey::Part &part : here) {
    auto *other = llvm::find_if(
        there, [&](const auto &other) { return other.name == part.name; });
    if (other != there.end() && !(*other == part))
      differences.push_back(describe(*other, part));
  }
  return differences;
}

/// "--ptxas (there on, here off)".
static std::string
formatDifference(const ProgramCache::Difference &difference) {
  // Digests are not informative.
  if (difference.name == "source" || difference.name == "IR" ||
      difference.name == "build of the compiler")
    return difference.name;
  auto quote = [](const std::string &value) {
    return value.empty() ? std::string("nothing") : value;
  };
  return difference.name + " (there " + quote(difference.there) + ", here " +
         quote(difference.here) + ")";
}

void ProgramCache::explainMiss(const ProgramKey &key, Lookup &result) const {
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
    std::vector<Difference> nearest;
    bool isDescribed = false;
    for (const std::string &name : names) {
      auto [otherSource, otherFile] = split(name);
      if ((bySource ? otherSource != source : otherFile != file) ||
          name == own || seen == most)
        continue;
      runtime::InputBytes bytes;
      std::string why;
      Entry entry;
      // Another build's may have other parts, and is reported as another
      // build's.
      if (readFile(join(directory, name), /*use=*/false, bytes, why) !=
              Read::Done ||
          !readEntry(bytes.bytes, entry))
        continue;
      ++seen;
      std::vector<Difference> differences =
          compare(entry.parts, key.getParts());
      if (differences.empty())
        continue;
      // A different source is described by its parts.
      if (differences.front().name == "source")
        llvm::append_range(differences,
                           compare(entry.sourceParts, key.getSourceParts()));
      if (differences.size() >= least)
        continue;
      least = differences.size();
      isDescribed = !entry.sourceParts.empty() && !key.getSourceParts().empty();
      nearest = std::move(differences);
    }
    if (nearest.empty())
      continue;
    std::vector<std::string> texts;
    for (const Difference &difference : nearest)
      texts.push_back(formatDifference(difference));
    bool isTextAlone = isDescribed && nearest.front().name == "source" &&
                       llvm::none_of(nearest, [](const Difference &other) {
                         return other.name == "IR" || other.name == "schedule";
                       });
    if (isTextAlone)
      texts.front() = "source (only the text: comments, whitespace or names)";
    result.why = (bySource ? "an entry of this source differs in "
                           : "an entry of this file differs in ") +
                 llvm::join(texts, ", ");
    result.differences = std::move(nearest);
    return;
  }
  result.why = "no entry for this source";
}

std::string ProgramCache::check() const {
  return runtime::checkPrivateFolder(directory).message();
}

ProgramCache::Lookup ProgramCache::find(const ProgramKey &key) const {
  Lookup result;
  if (std::string problem = check(); !problem.empty()) {
    result.why = problem;
    result.defect = problem;
    return result;
  }
  std::string path = join(directory, key.getFileName());
  runtime::InputBytes bytes;
  std::string why;
  Entry entry;
  Read read = readFile(path, /*use=*/true, bytes, why);
  if (read == Read::Absent) {
    explainMiss(key, result);
    return result;
  }
  if (read == Read::Done) {
    if (readEntry(bytes.bytes, entry) && entry.parts == key.getParts()) {
      result.payload = {entry.payload, std::move(bytes.owner)};
      return result;
    }
    why = "is corrupt";
  }
  result.why = "the cache entry " + why;
  result.defect = "the cache entry " + path + " " + why;
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
  struct File {
    std::string path;
    fs::file_status status;
  };
  std::vector<File> entries;
  uint64_t total = 0;
  for (const std::string &name : listEntries(directory, entrySuffix)) {
    File entry{join(directory, name), {}};
    if (fs::status(entry.path, entry.status, /*follow=*/false))
      continue;
    total += entry.status.getSize();
    entries.push_back(std::move(entry));
  }
  llvm::sort(entries, [](const File &a, const File &b) {
    return a.status.getLastModificationTime() <
           b.status.getLastModificationTime();
  });
  for (const File &entry : entries) {
    if (total <= limit)
      break;
    total -= entry.status.getSize();
    removeFile(entry.path);
  }
  // Removes files left by killed processes.
  auto now = std::chrono::system_clock::now();
  for (const std::string &name :
       listEntries(directory, runtime::unfinishedSuffix)) {
    std::string path = join(directory, name);
    fs::file_status status;
    if (!fs::status(path, status, /*follow=*/false) &&
        now - status.getLastModificationTime() > std::chrono::hours(1))
      removeFile(path);
  }
}

std::string ProgramCache::store(const ProgramKey &key,
                                StringRef payload) const {
  std::string bytes = writeEntry(key, payload);
  // One program must not evict all others.
  if (bytes.size() > limit / 8)
    return "the program has " + std::to_string(bytes.size()) +
           " bytes, more than an eighth of the cache limit";
  runtime::Status status = runtime::makePrivateFolder(directory);
  if (status.ok())
    status =
        runtime::writePrivateFile(join(directory, key.getFileName()), {bytes});
  if (!status.ok())
    return status.message();
  prune();
  return "";
}
