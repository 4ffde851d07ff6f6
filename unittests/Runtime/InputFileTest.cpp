//===- InputFileTest.cpp - Files, pipes, and other inputs -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/InputFile.h"
#include "Runtime/NamelessFile.h"
#include "Runtime/Npy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera::runtime;

namespace {

class InputFileTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "tessera-input-" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    path = folder + "/file";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string folder, path;
};

TEST_F(InputFileTest, ReadsFiles) {
  std::string bytes(200'000, '\0');
  bytes.back() = 'x';
  std::ofstream(path, std::ios::binary) << bytes;
  Expected<std::string> read = readInputFile(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, bytes);
  std::ofstream(path, std::ios::trunc).flush();
  read = readInputFile(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, "");
}

TEST_F(InputFileTest, ReadsPipesThatHaveAWriter) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // The writer has the pipe open before it is read, and writes more than a
  // pipe holds.
  int held = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(held, 0);
  pid_t child = fork();
  if (child == 0) {
    std::string bytes(200'000, 'x');
    int out = open(path.c_str(), O_WRONLY);
    close(held);
    bool isWritten =
        write(out, bytes.data(), bytes.size()) == ssize_t(bytes.size());
    _exit(isWritten ? 0 : 1);
  }
  // Wait for the first bytes.
  char first = 0;
  ASSERT_EQ(read(held, &first, 1), 1);
  int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  close(held);
  Expected<std::string> text = readInputFile(path);
  close(reader);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(text->size(), 200'000u - 1);
}

TEST_F(InputFileTest, RejectsWhatWouldWaitForEver) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(readInputFile(path).status().message(),
            "no process writes to this pipe");
  EXPECT_EQ(readNpy(path).status().message(), path + ": not a regular file");
}

TEST_F(InputFileTest, RejectsOtherKinds) {
  EXPECT_EQ(readInputFile(path).status().message(),
            "No such file or directory");
  EXPECT_EQ(readInputFile(folder).status().message(), "Is a directory");
  EXPECT_EQ(readInputFile("/dev/zero").status().message(),
            "it is neither a file nor a pipe; use - for standard input");
}

TEST_F(InputFileTest, NamelessFilesAreInNoFolder) {
  // Without a folder for temporary files.
  setenv("TMPDIR", (folder + "/absent").c_str(), 1);
  {
    NamelessFile file;
    ASSERT_TRUE(file.isOpen());
    EXPECT_TRUE(file.write("one "));
    EXPECT_TRUE(file.write("two"));
    EXPECT_EQ(file.read(), "one two");
    std::ifstream again(file.getPath());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(again), {}),
              "one two");
    // A program that this one starts has none of its descriptors.
    std::string copy = "cat " + file.getPathForChild() + " > " + path;
    // NOLINTNEXTLINE(bugprone-command-processor): a path of its own.
    EXPECT_EQ(std::system(copy.c_str()), 0);
  }
  unsetenv("TMPDIR");
  std::ifstream copied(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(copied), {}), "one two");
}

} // namespace
