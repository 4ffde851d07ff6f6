//===- OutputFileTest.cpp - Atomic output files ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/OutputFile.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tessera::runtime;

namespace {

class OutputFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/tessera-output-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    folder = name;
  }
  void TearDown() override {
    for (const std::string &name : list())
      unlink((folder + "/" + name).c_str());
    rmdir(folder.c_str());
  }
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    DIR *handle = opendir(folder.c_str());
    while (dirent *entry = readdir(handle))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    closedir(handle);
    return names;
  }
  static std::string read(const std::string &path) {
    std::ifstream stream(path);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  static mode_t getMode(const std::string &path) {
    struct stat about = {};
    EXPECT_EQ(stat(path.c_str(), &about), 0);
    return about.st_mode & 0777;
  }

  std::string folder;
};

TEST_F(OutputFileTest, WritesAllParts) {
  std::string path = folder + "/a", zeros("x\0y", 3);
  ASSERT_TRUE(writeFile(path, {"one ", "", zeros}).ok());
  EXPECT_EQ(read(path), "one " + zeros);
  ASSERT_TRUE(writeFile(path, {}, 0600).ok());
  EXPECT_EQ(read(path), "");
  EXPECT_EQ(list().size(), 1u);
  ASSERT_TRUE(writeFile(folder + "/b", {"2"}, 0600).ok());
  EXPECT_EQ(getMode(folder + "/b"), 0600u);
}

TEST_F(OutputFileTest, KeepsPermissionsAndLinks) {
  std::string path = folder + "/a", link = folder + "/link";
  ASSERT_TRUE(writeFile(path, {"old"}).ok());
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  ASSERT_EQ(symlink("a", link.c_str()), 0);
  ASSERT_TRUE(writeFile(link, {"new"}).ok());
  EXPECT_EQ(read(path), "new");
  EXPECT_EQ(getMode(path), 0640u);
  struct stat about = {};
  ASSERT_EQ(lstat(link.c_str(), &about), 0);
  EXPECT_TRUE(S_ISLNK(about.st_mode));
}

TEST_F(OutputFileTest, WritesToPipesStraightAway) {
  std::string path = folder + "/pipe", got;
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread reader([&] { got = read(path); });
  EXPECT_TRUE(writeFile(path, {"through ", "it"}).ok());
  reader.join();
  EXPECT_EQ(got, "through it");
  EXPECT_TRUE(writeFile("/dev/null", {"x"}).ok());
}

TEST_F(OutputFileTest, FailuresLeaveWhatWasThere) {
  Status status = writeFile(folder + "/none/a", {"x"});
  EXPECT_EQ(status.message(),
            "cannot write '" + folder + "/none/a': No such file or directory");
  EXPECT_EQ(writeFile("/dev/full", {"x"}).message(),
            "cannot write '/dev/full': No space left on device");
  EXPECT_FALSE(writeFile(folder, {"x"}).ok());
  EXPECT_TRUE(list().empty());
}

/// A process that ends while it writes leaves the file that was there, and
/// nothing else.
TEST_F(OutputFileTest, TheEndRemovesWhatIsUnfinished) {
  std::string path = folder + "/a";
  ASSERT_TRUE(writeFile(path, {"old"}).ok());
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::thread writer([&] {
      std::string part(size_t(64) << 20, 'x');
      // Would continue until it is killed.
      while (writeFile(path + "-large", {part, part, part, part}).ok())
        unlink((path + "-large").c_str());
    });
    auto isWriting = [&] {
      for (const std::string &name : list()) {
        struct stat about = {};
        if (name.find(unfinishedSuffix) != std::string::npos &&
            stat((folder + "/" + name).c_str(), &about) == 0 &&
            about.st_size > 0)
          return true;
      }
      return false;
    };
    while (!isWriting())
      usleep(1000);
    removeUnfinishedFiles();
    bool rejects = !writeFile(path, {"new"}).ok();
    _exit(rejects ? 7 : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(read(path), "old");
  for (const std::string &name : list())
    EXPECT_EQ(name.find(unfinishedSuffix), std::string::npos) << name;
}

} // namespace
