//===- ProgramCache.h - Compiled programs, kept on disk ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/Cache.md has the rules and the format.
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_PROGRAMCACHE_H
#define DRIVER_PROGRAMCACHE_H

#include "Driver/Compiler.h"

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera {

/// All inputs that determine the result of a compilation, part by part.
class ProgramKey {
public:
  struct Part {
    std::string name;
    std::string value;
    bool operator==(const Part &other) const {
      return name == other.name && value == other.value;
    }
  };

  /// The program's text, and its file name, which appears in reports.
  ProgramKey(llvm::StringRef source, llvm::StringRef file);

  /// Adds a part by its value, which messages print.
  void add(llvm::StringRef name, llvm::StringRef value) {
    parts.push_back({name.str(), value.str()});
  }
  /// Adds every field of the options.
  void add(const CompileOptions &options);
  /// Adds the environment that the code depends on: this build of the compiler,
  /// the host CPU, the device with its driver, and ptxas if `options` request
  /// it.
  void addEnvironment(const CompileOptions &options,
                      const runtime::DeviceInfo &device);

  /// Describes the parts of the source: the parts that `describe` returns are
  /// stored in entries to explain misses, but are not part of the key.
  /// `describe` is called once, on a miss.
  void setSourceParts(std::function<std::vector<Part>()> describe) {
    describeSource = std::move(describe);
  }
  const std::vector<Part> &getSourceParts() const;

  const std::vector<Part> &getParts() const { return parts; }
  /// 16 digits that identify the entry in messages and begin the name of its
  /// file.
  std::string getName() const { return getDigest().substr(0, 16); }
  /// The name of the entry's file.
  std::string getFileName() const;

private:
  std::string getDigest() const;

  /// The first two are the source and the file.
  std::vector<Part> parts;
  mutable std::function<std::vector<Part>()> describeSource;
  mutable std::vector<Part> sourceParts;
};

/// The parts of a program for `ProgramKey::setSourceParts`: "IR", a digest
/// without locations and schedules, and "schedule", the schedules.
std::vector<ProgramKey::Part> describeSourceParts(ModuleOp module);

/// Identifies this build of the compiler by the build ids of the executable and
/// its shared libraries. They are collected at the first call, which must
/// therefore precede any `dlopen`.
llvm::StringRef getCompilerIdentity();

/// A folder of cache entries, one file each, shared by processes.
class ProgramCache {
public:
  static constexpr uint64_t defaultLimit = uint64_t(2) << 30;

  /// All entries together take up to `limit` bytes. The folder is created on
  /// demand.
  explicit ProgramCache(std::string directory, uint64_t limit = defaultLimit)
      : directory(std::move(directory)), limit(limit) {}

  /// A part of a key in which the nearest entry differs, with both values.
  /// Digests are truncated to 16 digits.
  struct Difference {
    std::string name, there, here;
  };

  struct Lookup {
    /// The stored payload, aligned to 256 bytes; absent on a miss.
    std::optional<runtime::InputBytes> payload;
    /// On a miss, the differences from the nearest entry, or that there is
    /// none.
    std::string why;
    /// The differences from the nearest entry, part by part.
    std::vector<Difference> differences;
    /// Why an existing entry cannot be used; empty if there is none.
    std::string defect;
  };
  Lookup find(const ProgramKey &key) const;

  /// Returns an empty string if the folder can be trusted: it belongs to this
  /// user and others cannot write to it, or it does not exist yet. Otherwise
  /// returns the problem and its fix; `find` and `store` then do nothing.
  std::string check() const;

  /// Stores an entry, replacing one with the same key, and evicts the least
  /// recently used entries above the limit. Returns the reason if it cannot
  /// store the entry.
  std::string store(const ProgramKey &key, llvm::StringRef payload) const;

  const std::string &getDirectory() const { return directory; }

private:
  void explainMiss(const ProgramKey &key, Lookup &result) const;
  void prune() const;

  std::string directory;
  uint64_t limit;
};

} // namespace mlir::tessera

#endif // DRIVER_PROGRAMCACHE_H
