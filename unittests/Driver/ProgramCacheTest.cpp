//===- ProgramCacheTest.cpp - Compiled programs, kept on disk -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/ProgramCache.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <functional>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::tessera;

namespace fs = llvm::sys::fs;

namespace {

ProgramKey makeKey(StringRef source, const CompileOptions &options = {},
                   StringRef file = "a.mlir") {
  ProgramKey key(source, file);
  key.add(options);
  key.addEnvironment(options, runtime::DeviceInfo());
  return key;
}

class ProgramCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(fs::createUniqueDirectory("tessera-cache", path));
    folder = std::string(path);
    // It does not exist before it is needed.
    directory = folder + "/cache";
  }
  void TearDown() override { EXPECT_FALSE(fs::remove_directories(folder)); }

  std::string getPath(const ProgramKey &key) const {
    return directory + "/" + key.getFileName();
  }
  size_t countFiles() const {
    size_t count = 0;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; it != end && !error;
         it.increment(error))
      ++count;
    return count;
  }
  /// The bytes of an entry, or that there is none.
  static std::string getPayload(const ProgramCache &cache,
                                const ProgramKey &key) {
    ProgramCache::Lookup found = cache.find(key);
    return found.payload ? std::string(found.payload->bytes) : "no entry";
  }
  std::string read(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  void write(const std::string &path, StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    stream << bytes;
    ASSERT_FALSE(error);
  }
  /// Makes a file look as if it was used that long ago.
  void age(const std::string &path, int seconds) {
    struct timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    struct timespec times[] = {now, now};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  std::string folder, directory;
};

TEST(ProgramKeyTest, EachOptionMakesAnotherKey) {
  std::vector<std::function<void(CompileOptions &)>> changes = {
      [](CompileOptions &) {},
      [](CompileOptions &options) { options.target = "cuda"; },
      [](CompileOptions &options) { options.chip = "generic"; },
      [](CompileOptions &options) { options.entry = "f"; },
      [](CompileOptions &options) { options.portableHost = true; },
  };
  for (const FlagInfo &info : getFlagInfos())
    changes.push_back([&info](CompileOptions &options) {
      for (const char *value : {"", "never", "depth_first", "row-major"})
        if (info.set(options.flags, value))
          break;
      EXPECT_TRUE(info.isGiven(options.flags)) << info.name.str();
    });
  std::set<std::string> names;
  for (const auto &change : changes) {
    CompileOptions options;
    change(options);
    EXPECT_TRUE(names.insert(makeKey("x", options).getFileName()).second);
    EXPECT_FALSE(names.insert(makeKey("x", options).getFileName()).second);
  }
}

TEST(ProgramKeyTest, EverythingElseDoesToo) {
  std::set<std::string> names;
  auto add = [&](const ProgramKey &key) {
    EXPECT_TRUE(names.insert(key.getName()).second);
    EXPECT_EQ(key.getName().size(), 16u);
    EXPECT_TRUE(StringRef(key.getFileName()).starts_with(key.getName()));
  };
  add(makeKey("x"));
  add(makeKey("y"));
  add(makeKey("x", {}, "b.mlir"));
  for (const char *chip : {"sm_80", "sm_90a"})
    for (const char *driver : {"CUDA 12.4", "CUDA 13.0"}) {
      runtime::DeviceInfo device;
      device.target = "cuda";
      device.chip = chip;
      device.driver = driver;
      ProgramKey key("x", "a.mlir");
      key.add(CompileOptions());
      key.addEnvironment(CompileOptions(), device);
      add(key);
    }
  // No two lists of parts run together.
  ProgramKey first("x", "a"), second("x", "a");
  first.add("ab", "c");
  second.add("a", "bc");
  add(first);
  add(second);
  EXPECT_EQ(getCompilerIdentity().size(), 32u);
  EXPECT_EQ(getCompilerIdentity(), getCompilerIdentity());
}

TEST_F(ProgramCacheTest, GivesBackWhatWasStored) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  ProgramCache::Lookup found = cache.find(key);
  EXPECT_FALSE(found.payload);
  EXPECT_EQ(found.why, "no entry for this source");
  EXPECT_EQ(found.defect, "");
  // Looking makes nothing.
  EXPECT_FALSE(fs::exists(directory));

  std::string payload("pay\0load", 8);
  EXPECT_EQ(cache.store(key, payload), "");
  EXPECT_EQ(getPayload(cache, key), payload);
  // Constants in it are read in place.
  EXPECT_EQ(reinterpret_cast<uintptr_t>(cache.find(key).payload->bytes.data()) %
                256,
            0u);
  EXPECT_EQ(cache.store(key, ""), "");
  EXPECT_EQ(getPayload(cache, key), "");
  EXPECT_EQ(countFiles(), 1u);
  // Other users must not be able to write files that are executed.
  struct stat info = {};
  ASSERT_EQ(stat(directory.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 077, 0u);
  ASSERT_EQ(stat(getPath(key).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 077, 0u);
}

TEST_F(ProgramCacheTest, SaysWhatTheNearestEntryDiffersIn) {
  ProgramCache cache(directory);
  CompileOptions options;
  options.chip = "x86-64-avx2";
  ASSERT_EQ(cache.store(makeKey("x", options), "1"), "");
  options.flags.allowTf32 = true;
  EXPECT_EQ(cache.find(makeKey("x", options)).why,
            "an entry of this source differs in --allow-tf32 (there off, here "
            "on)");
  options.flags.vthreadOrder = {"depth_first"};
  EXPECT_EQ(cache.find(makeKey("x", options)).why,
            "an entry of this source differs in --allow-tf32 (there off, here "
            "on), --vthread-order (there nothing, here depth_first)");
  // The nearest of several.
  ASSERT_EQ(cache.store(makeKey("x", options), "2"), "");
  options.chip = "generic";
  EXPECT_EQ(cache.find(makeKey("x", options)).why,
            "an entry of this source differs in chip (there x86-64-avx2, here "
            "generic)");
  EXPECT_EQ(cache.find(makeKey("y", options)).why,
            "an entry of this file differs in source, chip (there "
            "x86-64-avx2, here generic)");
  EXPECT_EQ(cache.find(makeKey("y", options, "b.mlir")).why,
            "no entry for this source");
}

TEST_F(ProgramCacheTest, SaysWhatOfTheSourceDiffers) {
  ProgramCache cache(directory);
  unsigned described = 0;
  auto make = [&](StringRef source, StringRef ir, StringRef schedule) {
    ProgramKey key = makeKey(source);
    key.setSourceParts([&described, ir = ir.str(), schedule = schedule.str()] {
      ++described;
      return std::vector<ProgramKey::Part>{{"IR", ir}, {"schedule", schedule}};
    });
    return key;
  };
  ASSERT_EQ(cache.store(make("a", "1", "s"), "x"), "");
  EXPECT_EQ(described, 1u);
  // A hit needs none of it.
  EXPECT_TRUE(cache.find(make("a", "other", "other")).payload);
  EXPECT_EQ(described, 1u);
  EXPECT_EQ(cache.find(make("b", "1", "s")).why,
            "an entry of this file differs in source (only the text: comments, "
            "whitespace or names)");
  EXPECT_EQ(cache.find(make("b", "1", "t")).why,
            "an entry of this file differs in source, schedule (there s, here "
            "t)");
  ProgramCache::Lookup found = cache.find(make("b", "2", "s"));
  EXPECT_EQ(found.why, "an entry of this file differs in source, IR");
  ASSERT_EQ(found.differences.size(), 2u);
  EXPECT_EQ(found.differences[1].name, "IR");
  EXPECT_EQ(found.differences[1].there, "1");
  EXPECT_EQ(found.differences[1].here, "2");
}

TEST_F(ProgramCacheTest, NoticesDamage) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  std::string payload(100, 'p');
  ASSERT_EQ(cache.store(key, payload), "");
  std::string path = getPath(key), whole = read(path);
  ASSERT_GT(whole.size(), payload.size());
  auto expectDamage = [&] {
    ProgramCache::Lookup found = cache.find(key);
    EXPECT_FALSE(found.payload);
    EXPECT_EQ(found.defect, "the cache entry " + path + " is corrupt");
  };
  // Every byte counts, and so does every length.
  for (size_t i = 0; i < whole.size(); i += 3) {
    std::string bytes = whole;
    bytes[i] ^= 1;
    write(path, bytes);
    expectDamage();
    write(path, StringRef(whole).take_front(i));
    expectDamage();
  }
  write(path, whole + "x");
  expectDamage();
  // A sound entry under a wrong name.
  ProgramKey other = makeKey("y");
  ASSERT_EQ(cache.store(other, payload), "");
  write(path, read(getPath(other)));
  expectDamage();
  write(path, whole);
  EXPECT_EQ(getPayload(cache, key), payload);
}

// Which several threads read and hash.
TEST_F(ProgramCacheTest, NoticesDamageOfLargeEntries) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  std::string payload(size_t(20) << 20, 'p');
  for (size_t i = 0; i < payload.size(); i += 4096)
    payload[i] = static_cast<char>((i >> 12) + (i >> 20));
  ASSERT_EQ(cache.store(key, payload), "");
  EXPECT_EQ(getPayload(cache, key), payload);
  std::string path = getPath(key), whole = read(path);
  for (size_t i : {size_t(100), whole.size() / 2, whole.size() - 1}) {
    std::string bytes = whole;
    bytes[i] ^= 1;
    write(path, bytes);
    EXPECT_EQ(cache.find(key).defect,
              "the cache entry " + path + " is corrupt");
  }
  // Pieces of 1 MiB that changed places.
  std::string bytes = whole;
  std::swap_ranges(bytes.begin() + (1 << 20), bytes.begin() + (2 << 20),
                   bytes.begin() + (4 << 20));
  write(path, bytes);
  EXPECT_EQ(cache.find(key).defect, "the cache entry " + path + " is corrupt");
  write(path, StringRef(whole).drop_back(size_t(1) << 20));
  EXPECT_EQ(cache.find(key).defect, "the cache entry " + path + " is corrupt");
}

TEST_F(ProgramCacheTest, TakesNothingFromOtherUsers) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  ASSERT_EQ(cache.store(key, "1"), "");
  if (chown(getPath(key).c_str(), geteuid() + 1, getegid()) != 0)
    GTEST_SKIP() << "needs the right to give files away";
  ProgramCache::Lookup found = cache.find(key);
  EXPECT_FALSE(found.payload);
  EXPECT_EQ(found.defect,
            "the cache entry " + getPath(key) + " belongs to another user");
}

TEST_F(ProgramCacheTest, ReplacesALinkRatherThanFollowingIt) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  ASSERT_EQ(cache.store(key, "1"), "");
  std::string victim = folder + "/victim";
  write(victim, "mine");
  ASSERT_FALSE(fs::remove(getPath(key)));
  ASSERT_EQ(symlink(victim.c_str(), getPath(key).c_str()), 0);
  EXPECT_EQ(cache.find(key).defect,
            "the cache entry " + getPath(key) + " is a symbolic link");
  EXPECT_EQ(cache.store(key, "2"), "");
  EXPECT_EQ(read(victim), "mine");
  EXPECT_EQ(getPayload(cache, key), "2");
  struct stat info = {};
  ASSERT_EQ(lstat(getPath(key).c_str(), &info), 0);
  EXPECT_TRUE(S_ISREG(info.st_mode));
  EXPECT_EQ(info.st_mode & 077, 0u);
  // Nor is a link followed that leads to nothing.
  std::string absent = folder + "/absent";
  ASSERT_FALSE(fs::remove(getPath(key)));
  ASSERT_EQ(symlink(absent.c_str(), getPath(key).c_str()), 0);
  EXPECT_EQ(cache.store(key, "3"), "");
  EXPECT_FALSE(fs::exists(absent));
}

TEST_F(ProgramCacheTest, DoesNotWaitForAPipe) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  ASSERT_EQ(cache.store(key, "1"), "");
  ASSERT_FALSE(fs::remove(getPath(key)));
  ASSERT_EQ(mkfifo(getPath(key).c_str(), 0600), 0);
  EXPECT_EQ(cache.find(key).defect,
            "the cache entry " + getPath(key) + " is not a regular file");
  EXPECT_EQ(cache.store(key, "2"), "");
  EXPECT_EQ(getPayload(cache, key), "2");
}

TEST_F(ProgramCacheTest, TakesNoEntryThatOthersCanWrite) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  ASSERT_EQ(cache.store(key, "1"), "");
  ASSERT_EQ(chmod(getPath(key).c_str(), 0620), 0);
  EXPECT_EQ(cache.find(key).defect,
            "the cache entry " + getPath(key) +
                " can be written by other users; run: chmod go-w '" +
                getPath(key) + "'");
}

TEST_F(ProgramCacheTest, UsesNoFolderThatOthersCanWrite) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  EXPECT_EQ(cache.check(), "");
  ASSERT_EQ(cache.store(key, "1"), "");
  EXPECT_EQ(cache.check(), "");
  for (mode_t mode : {0720, 0702, 0777, 01777}) {
    ASSERT_EQ(chmod(directory.c_str(), mode), 0);
    std::string problem =
        "other users may write to the folder " + directory +
        " and could replace the code in it; run: chmod go-w '" + directory +
        "'";
    EXPECT_EQ(cache.check(), problem);
    EXPECT_EQ(cache.store(key, "2"), problem);
    EXPECT_FALSE(cache.find(key).payload);
    EXPECT_EQ(cache.find(key).defect, problem);
  }
  ASSERT_EQ(chmod(directory.c_str(), 0755), 0);
  EXPECT_EQ(getPayload(cache, key), "1");
}

TEST_F(ProgramCacheTest, UsesNoFolderOfAnotherUser) {
  ProgramCache cache(directory);
  ProgramKey key = makeKey("x");
  ASSERT_EQ(cache.store(key, "1"), "");
  if (chown(directory.c_str(), geteuid() + 1, getegid()) != 0)
    GTEST_SKIP() << "needs the right to give files away";
  std::string problem = "the folder " + directory +
                        " belongs to another user, who could replace the code "
                        "in it; name a folder of your own";
  EXPECT_EQ(cache.check(), problem);
  EXPECT_EQ(cache.store(key, "2"), problem);
  EXPECT_FALSE(cache.find(key).payload);
}

TEST_F(ProgramCacheTest, RemovesWhatWasUsedLongestAgo) {
  // The key, which contains the CPU's features, takes up to 2000 bytes.
  ProgramCache cache(directory, /*limit=*/200000);
  std::string payload(22000, 'p');
  std::vector<ProgramKey> keys;
  for (int i = 0; i < 8; ++i)
    keys.push_back(makeKey("source " + std::to_string(i)));
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(cache.store(keys[i], payload), "");
    age(getPath(keys[i]), 1000 - 100 * i);
  }
  EXPECT_EQ(countFiles(), 6u);
  // Use counts, not age.
  EXPECT_TRUE(cache.find(keys[0]).payload);
  for (int i = 6; i < 8; ++i)
    ASSERT_EQ(cache.store(keys[i], payload), "");
  // 200000 bytes hold 8 of 22000 and their heads, or fewer.
  ProgramKey last = makeKey("last");
  ASSERT_EQ(cache.store(last, payload), "");
  EXPECT_TRUE(fs::exists(getPath(keys[0])));
  EXPECT_FALSE(fs::exists(getPath(keys[1])));
  EXPECT_TRUE(fs::exists(getPath(last)));
  uint64_t total = 0, size = 0;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; it != end && !error;
       it.increment(error))
    total += fs::file_size(it->path(), size) ? 0 : size;
  EXPECT_LE(total, 200000u);

  // Too large to be kept at all.
  ProgramKey large = makeKey("large");
  std::string problem = cache.store(large, std::string(26000, 'p'));
  EXPECT_NE(problem.find("more than an eighth of the cache"), std::string::npos)
      << problem;
  EXPECT_FALSE(fs::exists(getPath(large)));

  // Files of a killed process are removed, files that another process writes
  // are kept.
  write(directory + "/old.unfinished", "x");
  write(directory + "/new.unfinished", "x");
  write(directory + "/somebody's file", "x");
  age(directory + "/old.unfinished", 7200);
  age(directory + "/somebody's file", 7200);
  ASSERT_EQ(cache.store(last, payload), "");
  EXPECT_FALSE(fs::exists(directory + "/old.unfinished"));
  EXPECT_TRUE(fs::exists(directory + "/new.unfinished"));
  EXPECT_TRUE(fs::exists(directory + "/somebody's file"));
}

TEST_F(ProgramCacheTest, SaysWhyItCannotStore) {
  write(folder + "/file", "x");
  ProgramCache cache(folder + "/file/cache");
  EXPECT_TRUE(StringRef(cache.store(makeKey("x"), "1"))
                  .starts_with("cannot make the folder " + folder));
  EXPECT_EQ(cache.find(makeKey("x")).defect, "");
}

TEST_F(ProgramCacheTest, WritersAndReadersAtOnce) {
  // Every file that is found is complete, although writers replace and remove
  // files.
  ProgramCache cache(directory, /*limit=*/100000);
  std::atomic<int> hits{0}, defects{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        int number = (i + thread) % 20;
        ProgramKey key = makeKey("source " + std::to_string(number));
        std::string payload(10000, static_cast<char>('a' + number));
        ProgramCache::Lookup found = cache.find(key);
        defects += !found.defect.empty();
        if (found.payload) {
          ++hits;
          defects += found.payload->bytes != payload;
        }
        defects += !cache.store(key, payload).empty();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(defects, 0);
  EXPECT_GT(hits, 0);
}

} // namespace
