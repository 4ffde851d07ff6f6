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

/// All that decides over what a program is compiled to, part by part.
class ProgramKey {
public:
  struct Part {
    std::string name;
    std::string value;
    bool operator==(const Part &other) const {
      return name == other.name && value == other.value;
    }
  };

  /// The program's text, and the name of its file, which its reports have.
  ProgramKey(llvm::StringRef source, llvm::StringRef file);

  /// Adds a part by its value, which messages show.
  void add(llvm::StringRef name, llvm::StringRef value) {
    parts.push_back({name.str(), value.str()});
  }
  /// Adds every field of the options.
  void add(const CompileOptions &options);
  /// Adds what the code depends on besides: this build of the compiler, the
  /// host's processor, the device with its driver, and ptxas where `options`
  /// ask for it.
  void addEnvironment(const CompileOptions &options,
                      const runtime::DeviceInfo &device);

  /// Says of the source what it consists of: the parts that `describe` gives
  /// are kept in entries, and tell why one was missed, but decide over nothing.
  /// Called once, on a miss.
  void setSourceParts(std::function<std::vector<Part>()> describe) {
    describeSource = std::move(describe);
  }
  const std::vector<Part> &getSourceParts() const;

  const std::vector<Part> &getParts() const { return parts; }
  /// 16 digits: what people are shown, and what the entry's file begins with.
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

/// What a program consists of, for `ProgramKey::setSourceParts`: "IR", a digest
/// of it without its places and schedules, and "schedule", those schedules.
std::vector<ProgramKey::Part> describeSourceParts(ModuleOp module);

/// Names this build of the compiler: the build ids of the program and of the
/// libraries that it was started with. They are taken at the first call, which
/// therefore comes before any `dlopen`.
llvm::StringRef getCompilerIdentity();

/// A folder of entries, one file each, which processes share.
class ProgramCache {
public:
  static constexpr uint64_t defaultLimit = uint64_t(512) << 20;

  /// Entries take up to `limit` bytes together. The folder is made when it is
  /// needed.
  explicit ProgramCache(std::string directory, uint64_t limit = defaultLimit)
      : directory(std::move(directory)), limit(limit) {}

  /// A part of a key in which the nearest entry differs, with its value there
  /// and here. Digests are their first 16 digits.
  struct Difference {
    std::string name, there, here;
  };

  struct Lookup {
    /// What was stored; absent on a miss.
    std::optional<std::string> payload;
    /// Of a miss: what the nearest entry differs in, or that there is none.
    std::string why;
    /// The same part by part.
    std::vector<Difference> differences;
    /// An entry that is there and cannot be used; empty if there is none.
    std::string defect;
  };
  Lookup find(const ProgramKey &key) const;

  /// Empty if the folder can be trusted: it belongs to this user and others
  /// cannot write to it, or it does not exist yet. Otherwise what is wrong and
  /// how to fix it; `find` and `store` then do nothing.
  std::string check() const;

  /// Stores an entry, in place of one of the same key, and removes those used
  /// longest ago while there is too much. Gives the reason if it cannot.
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
