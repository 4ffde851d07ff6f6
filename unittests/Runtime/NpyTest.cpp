//===- NpyTest.cpp - Reading and writing .npy files -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Npy.h"

#include "TestUtils.h"

#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace tessera::runtime;

namespace {

class NpyTest : public testing::Test {
protected:
  void SetUp() override {
    path =
        testing::TempDir() + "tessera-npy-" + std::to_string(getpid()) + ".npy";
  }
  void TearDown() override { unlink(path.c_str()); }

  void write(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::string read() {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  /// A file of version 1.0 with that header.
  static std::string file(const std::string &header, size_t dataBytes) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xFF);
    bytes += static_cast<char>(header.size() >> 8);
    return bytes + header + std::string(dataBytes, '\x11');
  }
  static std::string header(const std::string &descr,
                            const std::string &shape) {
    return "{'descr': '" + descr +
           "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  }
  /// The message that reading these bytes returns.
  std::string messageFor(const std::string &bytes) {
    write(bytes);
    Expected<NpyArray> array = readNpy(path);
    EXPECT_FALSE(array.ok());
    if (array.ok())
      return "";
    EXPECT_EQ(array.status().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(array.status().message().find(path + ": "), 0u)
        << array.status().message();
    return array.status().message();
  }

  std::string path;
};

TEST_F(NpyTest, RoundTrip) {
  const char *descrs[] = {"<f2", "<f4", "<f8", "|i1", "|u1", "<i2",
                          "<i4", "<i8", "|b1", "|V2", "|V1"};
  const std::vector<int64_t> shapes[] = {{},     {1},       {7},
                                         {3, 5}, {2, 0, 4}, {2, 3, 4, 5}};
  for (const char *descr : descrs)
    for (const std::vector<int64_t> &shape : shapes) {
      size_t bytes = npyElementBytes(descr);
      ASSERT_NE(bytes, 0u);
      for (int64_t dim : shape)
        bytes *= static_cast<size_t>(dim);
      std::vector<std::byte> data(bytes);
      for (size_t index = 0; index < bytes; ++index)
        data[index] = std::byte(index * 37);
      ASSERT_TRUE(writeNpy(path, descr, shape, data.data()).ok());
      Expected<NpyArray> array = readNpy(path);
      ASSERT_TRUE(array.ok()) << array.status().message();
      EXPECT_EQ(array->descr, descr);
      EXPECT_EQ(array->shape, shape);
      EXPECT_EQ(array->data, data);
      EXPECT_EQ(array->note.empty(), descr[1] != 'V');
    }
}

TEST_F(NpyTest, WritesWhatNumPyWrites) {
  const float data[2] = {1, 2};
  ASSERT_TRUE(writeNpy(path, "<f4", {2}, data).ok());
  std::string expected =
      std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  expected.resize(127, ' ');
  expected += "\n";
  expected.append(reinterpret_cast<const char *>(data), sizeof(data));
  EXPECT_EQ(read(), expected);
}

TEST_F(NpyTest, ReadsOtherForms) {
  const std::pair<std::string, std::string> descrs[] = {
      {"<i1", "|i1"}, {"<V2", "|V2"}, {"<V1", "|V1"},
      {"<f1", "|V1"}, {"|f1", "|V1"}, {"<b1", "|b1"}};
  for (const auto &[text, descr] : descrs) {
    write(file(header(text, "(2, 3)"), 6 * npyElementBytes(descr)));
    Expected<NpyArray> array = readNpy(path);
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->descr, descr);
  }
  // Any order of keys, either quote, long integers, no last comma.
  write(
      file("{\"shape\":(2L,3L),\"fortran_order\" : False,'descr':'<f4'}", 24));
  Expected<NpyArray> array = readNpy(path);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
  // With one dimension both orders are the same.
  write(file("{'descr':'<f4','fortran_order':True,'shape':(2,)}", 8));
  EXPECT_TRUE(readNpy(path).ok());
}

TEST_F(NpyTest, ReadsVersion2) {
  std::string text = header("<f4", "(2, 2)");
  std::string bytes("\x93NUMPY\x02\x00", 8);
  bytes += static_cast<char>(text.size());
  bytes += std::string(3, '\0') + text + std::string(16, '\1');
  write(bytes);
  Expected<NpyArray> array = readNpy(path);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->data.size(), 16u);
}

TEST_F(NpyTest, RejectsFilesOtherThanNpy) {
  EXPECT_TRUE(contains(messageFor(""), "not a .npy file"));
  EXPECT_TRUE(contains(messageFor("\x93NUM"), "not a .npy file"));
  EXPECT_TRUE(contains(messageFor("PK\3\4 a zip archive"), "not a .npy file"));
  EXPECT_TRUE(
      contains(messageFor(std::string("\x93NUMPY\x03\x00", 8)), "version 3.0"));
  EXPECT_TRUE(contains(readNpy("/nowhere/a.npy").status().message(),
                       "/nowhere/a.npy: No such file"));
  EXPECT_TRUE(contains(readNpy(testing::TempDir()).status().message(),
                       "not a regular file"));
}

TEST_F(NpyTest, RejectsTruncatedFiles) {
  std::string whole = file(header("<f4", "(3, 4)"), 48);
  write(whole);
  ASSERT_TRUE(readNpy(path).ok());
  for (size_t length = 0; length < whole.size(); ++length) {
    std::string message = messageFor(whole.substr(0, length));
    if (length >= whole.size() - 48) {
      EXPECT_TRUE(
          contains(message, "needs 48 bytes of data, but the file has " +
                                std::to_string(length - (whole.size() - 48))));
    }
  }
  EXPECT_TRUE(contains(messageFor(whole + "x"), "the file has 49"));
}

TEST_F(NpyTest, RejectsHugeShapes) {
  // None of these allocates anything.
  EXPECT_TRUE(
      contains(messageFor(file(header("<f4", "(4294967296, 4294967296)"), 4)),
               "more elements than memory can hold"));
  EXPECT_TRUE(
      contains(messageFor(file(header("<f8", "(2305843009213693952,)"), 4)),
               "more elements than memory can hold"));
  EXPECT_TRUE(
      contains(messageFor(file(header("<f8", "(99999999999999999999,)"), 4)),
               "exceeds 64 bits"));
  EXPECT_TRUE(contains(messageFor(file(header("|i1", "(1099511627776,)"), 4)),
                       "needs 1099511627776 bytes of data"));
  // Empty, whatever the other dimensions are.
  write(file(header("<f8", "(2305843009213693952, 0)"), 0));
  EXPECT_TRUE(readNpy(path).ok());
}

TEST_F(NpyTest, RejectsOtherLayouts) {
  EXPECT_TRUE(
      contains(messageFor(file(
                   "{'descr':'<f4','fortran_order':True,'shape':(2,2)}", 16)),
               "Fortran order"));
  EXPECT_TRUE(contains(messageFor(file(header(">f4", "(2,)"), 8)),
                       "'>f4' is not supported: it is big-endian; save "
                       "array.astype('<f4')"));
  EXPECT_TRUE(contains(messageFor(file(header("<c8", "(2,)"), 16)),
                       "'<c8' is not supported"));
  EXPECT_TRUE(contains(messageFor(file(header("<U3", "(2,)"), 24)), "'<U3'"));
  EXPECT_TRUE(contains(messageFor(file(header("", "(2,)"), 24)), "''"));
  EXPECT_TRUE(contains(
      messageFor(file("{'descr': [('x', '<f4')], 'fortran_order': False, "
                      "'shape': (2,), }",
                      8)),
      "structured"));
}

TEST_F(NpyTest, RejectsMalformedHeaders) {
  const char *headers[] = {
      "",
      "{",
      "{}",
      "hello",
      "{'descr'}",
      "{'descr': }",
      "{'descr': '<f4'",
      "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
  };
  for (const char *text : headers)
    EXPECT_TRUE(contains(messageFor(file(text, 8)), "header")) << text;
  // The header's length exceeds the file.
  EXPECT_TRUE(contains(messageFor(std::string("\x93NUMPY\x01\x00\xff\xff", 10)),
                       "ends within its header"));
}

TEST_F(NpyTest, RejectsInvalidArrays) {
  EXPECT_EQ(writeNpy(path, "<f3", {1}, path.data()).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(writeNpy(path, "<f4", {-1}, path.data()).code(),
            StatusCode::InvalidArgument);
  Status status = writeNpy("/nowhere/a.npy", "|u1", {1}, path.data());
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_TRUE(contains(status.message(), "cannot write '/nowhere/a.npy': "
                                         "No such file"));
}

} // namespace
