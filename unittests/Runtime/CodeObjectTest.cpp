//===- CodeObjectTest.cpp - AMD code objects, target IDs, bundles ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/CodeObject.h"
#include "CodeObjectBytes.h"
#include "HIP/MessagePack.h"
#include "Runtime/OffloadBundle.h"
#include "Runtime/TargetId.h"
#include "TestUtils.h"

using namespace tessera::runtime;

namespace {

//===----------------------------------------------------------------------===//
// Target IDs
//===----------------------------------------------------------------------===//

bool runs(const char *code, const char *device) {
  return runsOnTarget(*parseTargetId(code), *parseTargetId(device));
}

TEST(TargetIdTest, Parses) {
  std::optional<TargetId> id = parseTargetId("gfx90a:xnack-:sramecc+");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->processor, "gfx90a");
  EXPECT_EQ(id->str(), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(parseTargetId("gfx1100")->str(), "gfx1100");
  EXPECT_EQ(parseTargetId("gfx9-4-generic")->processor, "gfx9-4-generic");
  for (const char *text : {"", "sm_90a", "gfx90a:", "gfx90a:xnack", "gfx90a:+",
                           "gfx90a:xnack+:", "gfx90a:xnack+:xnack-",
                           "gfx90a sramecc+", "GFX90A", "gfx90a-"})
    EXPECT_FALSE(parseTargetId(text)) << text;
}

TEST(TargetIdTest, AFeatureThatIsNotNamedMatchesAny) {
  const char *device = "gfx90a:sramecc+:xnack-";
  EXPECT_TRUE(runs("gfx90a", device));
  EXPECT_TRUE(runs("gfx90a:xnack-", device));
  EXPECT_TRUE(runs("gfx90a:sramecc+:xnack-", device));
  EXPECT_FALSE(runs("gfx90a:xnack+", device));
  EXPECT_FALSE(runs("gfx90a:sramecc-:xnack-", device));
  EXPECT_FALSE(runs("gfx908", device));
  EXPECT_TRUE(runs("gfx1100", "gfx1100"));
  // A feature that the device lacks can be neither on nor off.
  EXPECT_FALSE(runs("gfx1100:xnack-", "gfx1100"));
}

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

std::string writeBundle(const std::vector<BundleEntry> &entries) {
  Expected<std::string> bytes = writeOffloadBundle(entries);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? *bytes : "";
}

std::string whyNotWritten(const std::vector<BundleEntry> &entries) {
  return writeOffloadBundle(entries).status().message();
}

TEST(OffloadBundleTest, IsLaidOutAsDocumented) {
  std::string bytes = writeBundle({{"gfx942", "first"}, {"gfx1100", "2nd"}});
  EXPECT_EQ(bytes.substr(0, 24), "__CLANG_OFFLOAD_BUNDLE__");
  EXPECT_EQ(bytes.substr(24, 8), std::string("\x03\0\0\0\0\0\0\0", 8));
  // The host's entry: at 4096, empty, with an ID of 30 bytes.
  EXPECT_EQ(bytes.substr(32, 24), std::string("\0\x10\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0"
                                              "\x1e\0\0\0\0\0\0\0",
                                              24));
  EXPECT_EQ(bytes.substr(56, 30), "host-x86_64-unknown-linux-gnu-");
  EXPECT_EQ(bytes.substr(86, 24), std::string("\0\x10\0\0\0\0\0\0"
                                              "\x05\0\0\0\0\0\0\0"
                                              "\x1f\0\0\0\0\0\0\0",
                                              24));
  EXPECT_EQ(bytes.substr(110, 31), "hipv4-amdgcn-amd-amdhsa--gfx942");
  EXPECT_EQ(bytes.substr(4096, 5), "first");
  EXPECT_EQ(bytes.substr(8192), "2nd");
}

TEST(OffloadBundleTest, IsReadBack) {
  std::string bytes = writeBundle({{"gfx90a:xnack-:sramecc+", "on and off"},
                                   {"gfx1100", std::string_view("\0x", 2)}});
  EXPECT_TRUE(isOffloadBundle(bytes));
  Expected<std::vector<BundleEntry>> entries = readOffloadBundle(bytes);
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].target, "gfx90a:sramecc+:xnack-");
  EXPECT_EQ((*entries)[0].code, "on and off");
  EXPECT_EQ((*entries)[1].target, "gfx1100");
  EXPECT_EQ((*entries)[1].code, std::string_view("\0x", 2));
}

/// A bundle in the format of other tools: with arbitrary IDs and contiguous
/// code.
std::string makeBundle(const std::vector<BundleEntry> &entries) {
  auto number = [](uint64_t value) {
    return std::string(reinterpret_cast<const char *>(&value), 8);
  };
  size_t offset = 32;
  for (const BundleEntry &entry : entries)
    offset += 24 + entry.target.size();
  std::string bytes = "__CLANG_OFFLOAD_BUNDLE__" + number(entries.size()), code;
  for (const BundleEntry &entry : entries) {
    bytes += number(offset + code.size()) + number(entry.code.size()) +
             number(entry.target.size()) + entry.target;
    code += entry.code;
  }
  return bytes + code;
}

TEST(OffloadBundleTest, ReadsWhatOthersWrite) {
  std::string bytes =
      makeBundle({{"host-x86_64-unknown-linux--", "host"},
                  {"hip-amdgcn-amd-amdhsa-gfx906", "old"},
                  {"hipv4-amdgcn-amd-amdhsa--gfx908:xnack-", "new"},
                  {"openmp-nvptx64-nvidia-cuda-sm_70", "ptx"}});
  Expected<std::vector<BundleEntry>> entries = readOffloadBundle(bytes);
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].target, "gfx906");
  EXPECT_EQ((*entries)[0].code, "old");
  EXPECT_EQ((*entries)[1].target, "gfx908:xnack-");
  EXPECT_EQ((*entries)[2].target, "openmp-nvptx64-nvidia-cuda-sm_70");
}

TEST(OffloadBundleTest, RejectsTruncatedBundles) {
  std::string bytes = writeBundle({{"gfx942", "first"}, {"gfx1100", "2nd"}});
  for (size_t size : {size_t(24), size_t(31), size_t(40), size_t(60),
                      size_t(120), bytes.size() - 1})
    EXPECT_TRUE(
        contains(readOffloadBundle(std::string_view(bytes).substr(0, size))
                     .status()
                     .message(),
                 "its " + std::to_string(size) + " bytes"))
        << size;
  // An offset that wraps around.
  bytes.replace(86, 8, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
  EXPECT_TRUE(
      contains(readOffloadBundle(bytes).status().message(), "truncated"));
  EXPECT_TRUE(contains(readOffloadBundle("\x7F"
                                         "ELF")
                           .status()
                           .message(),
                       "not an offload bundle"));
  EXPECT_TRUE(isOffloadBundle("CCOB..."));
  EXPECT_TRUE(contains(readOffloadBundle("CCOB...").status().message(),
                       "is compressed; rebuild it without"));
}

TEST(OffloadBundleTest, EachTargetHasOneEntry) {
  EXPECT_EQ(whyNotWritten({{"sm_90a", ""}}),
            "'sm_90a' is not a valid AMD target ID (expected e.g. gfx90a or "
            "gfx90a:xnack-)");
  EXPECT_EQ(
      whyNotWritten({{"gfx942", ""}, {"gfx942", ""}}),
      "a bundle contains one code object per target, but gfx942 appears twice");
  EXPECT_EQ(whyNotWritten({{"gfx90a", ""}, {"gfx90a:xnack-", ""}}),
            "a bundle's targets gfx90a and gfx90a:xnack- set different "
            "features; set the same features in both");
  EXPECT_EQ(whyNotWritten({{"gfx90a:xnack+", ""}, {"gfx90a:xnack-", ""}}), "");
}

TEST(OffloadBundleTest, TheDeviceGetsItsOwn) {
  std::vector<BundleEntry> entries = {{"gfx90a:xnack+", "with"},
                                      {"gfx90a:xnack-", "without"},
                                      {"gfx1100", "small"},
                                      {"gfx908", "any"},
                                      {"gfx908:sramecc+", "checked"}};
  auto select = [&](const char *device) {
    Expected<BundleEntry> entry = selectBundleEntry(entries, device);
    return entry.ok() ? std::string(entry->code) : entry.status().message();
  };
  EXPECT_EQ(select("gfx90a:sramecc+:xnack-"), "without");
  EXPECT_EQ(select("gfx90a:sramecc-:xnack+"), "with");
  EXPECT_EQ(select("gfx1100"), "small");
  EXPECT_EQ(select("gfx908:sramecc-:xnack-"), "any");
  EXPECT_EQ(select("gfx908:sramecc+:xnack-"), "checked");
  EXPECT_EQ(select("gfx942:sramecc+:xnack-"),
            "no code object of the bundle runs on gfx942:sramecc+:xnack-; it "
            "contains gfx90a:xnack+, gfx90a:xnack-, gfx1100, gfx908, "
            "gfx908:sramecc+");
  entries.clear();
  EXPECT_EQ(select("gfx1100"),
            "no code object of the bundle runs on gfx1100; it contains none");
}

//===----------------------------------------------------------------------===//
// MessagePack and code objects
//===----------------------------------------------------------------------===//

TEST(MessagePackTest, ReadsEachFormat) {
  using namespace std::string_literals;
  const std::pair<std::string, int64_t> integers[] = {
      {"\x7F"s, 127},
      {"\xFF"s, -1},
      {"\xE0"s, -32},
      {"\xCC\x80"s, 128},
      {"\xCD\x12\x34"s, 0x1234},
      {"\xCE\x80\0\0\0"s, 0x80000000},
      {"\xCF\0\0\0\x01\0\0\0\0"s, int64_t(1) << 32},
      {"\xD0\x80"s, -128},
      {"\xD1\xFF\xFE"s, -2},
      {"\xD2\xFF\xFF\xFF\xFD"s, -3},
      {"\xD3\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFC"s, -4}};
  for (const auto &[bytes, expected] : integers) {
    std::optional<MessagePackValue> value = readMessagePack(bytes);
    ASSERT_TRUE(value);
    EXPECT_EQ(value->kind, MessagePackValue::Integer);
    EXPECT_EQ(value->integer, expected);
    if (bytes.size() > 1)
      EXPECT_FALSE(readMessagePack(bytes.substr(0, bytes.size() - 1)));
  }
  for (const std::string &bytes :
       {"\xA2hi"s, "\xD9\x02hi"s, "\xDA\0\x02hi"s, "\xDB\0\0\0\x02hi"s})
    EXPECT_EQ(readMessagePack(bytes)->string, "hi");
  // Values that are skipped are between two numbers.
  for (const std::string &bytes :
       {"\xC0"s, "\xC2"s, "\xC3"s, "\xC4\x02zz"s, "\xC5\0\x02zz"s,
        "\xC6\0\0\0\x02zz"s, "\xC7\x02tzz"s, "\xC8\0\x02tzz"s,
        "\xC9\0\0\0\x02tzz"s, "\xCA...."s, "\xCB........"s, "\xD4tz"s,
        "\xD5tzz"s, "\xD6tzzzz"s, "\xD7tzzzzzzzz"s, "\xD8tzzzzzzzzzzzzzzzz"s})
    for (const std::string &array :
         {"\x93\x01"s, "\xDC\0\x03\x01"s, "\xDD\0\0\0\x03\x01"s}) {
      std::string all = array + bytes + "\x05";
      std::optional<MessagePackValue> value = readMessagePack(all);
      ASSERT_TRUE(value);
      ASSERT_EQ(value->array.size(), 3u);
      EXPECT_EQ(value->array[1].kind, MessagePackValue::Other);
      EXPECT_EQ(value->array[2].integer, 5);
    }
  for (const std::string &map : {"\x81"s, "\xDE\0\x01"s, "\xDF\0\0\0\x01"s}) {
    std::string all = map + "\xA1k\x07";
    std::optional<MessagePackValue> value = readMessagePack(all);
    ASSERT_TRUE(value);
    EXPECT_EQ(value->getInteger("k"), 7);
    EXPECT_EQ(value->getInteger("x"), 0);
    EXPECT_EQ(value->getString("k"), "");
  }
  EXPECT_FALSE(readMessagePack(""));
  EXPECT_FALSE(readMessagePack("\xC1"s));
  EXPECT_FALSE(readMessagePack("\x81\x01\x01"s)); // a key that is a number
  EXPECT_FALSE(readMessagePack("\xDD\xFF\xFF\xFF\xFF\x01"s));
  EXPECT_FALSE(readMessagePack(std::string(1000, '\x91') + "\x01"));
}

TEST(CodeObjectTest, ReportsItsKernels) {
  std::string bytes = makeCodeObject(
      "gfx90a:sramecc+", {{"gemm", {8, 8, 4}, 256}, {"copy", {}, 1024}});
  EXPECT_TRUE(isCodeObject(bytes));
  Expected<CodeObject> object = readCodeObject(bytes);
  ASSERT_TRUE(object.ok()) << object.status().message();
  EXPECT_EQ(object->target, "gfx90a:sramecc+");
  ASSERT_EQ(object->kernels.size(), 2u);
  const CodeObjectKernel &kernel = object->kernels[0];
  EXPECT_EQ(kernel.name, "gemm");
  // Without HIP's implicit arguments.
  EXPECT_EQ(kernel.arguments, (std::vector<int64_t>{8, 8, 4}));
  EXPECT_EQ(kernel.maxThreads, 256);
  EXPECT_EQ(kernel.subgroupSize, 64);
  EXPECT_EQ(kernel.workgroupBytes, 1024);
  EXPECT_EQ(kernel.threadBytes, 0);
  EXPECT_EQ(kernel.vectors, 200);
  EXPECT_EQ(kernel.accumulators, 72);
  EXPECT_EQ(kernel.scalars, 30);
  EXPECT_EQ(kernel.vectorSpills, 3);
  EXPECT_EQ(kernel.scalarSpills, 0);
  EXPECT_EQ(object->kernels[1].name, "copy");
  EXPECT_EQ(object->kernels[1].arguments.size(), 0u);
}

TEST(CodeObjectTest, RejectsOtherFiles) {
  std::string bytes = makeCodeObject("gfx90a", {{"gemm", {8}, 256}});
  auto why = [](const std::string &text) {
    return readCodeObject(text).status().message();
  };
  EXPECT_EQ(why(".version 8.0"),
            "no code object for HIP: not an AMD GPU ELF file");
  // A truncated file is an error, and nothing is read past the end.
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(readCodeObject(bytes.substr(0, size)).ok()) << size;
  EXPECT_TRUE(
      contains(why(makeCodeObjectOf("")), "missing kernel metadata note"));
  EXPECT_TRUE(contains(why(makeCodeObjectOf("\xC1")),
                       "malformed kernel metadata note"));
  EXPECT_TRUE(contains(why(makeCodeObjectOf("\x01")),
                       "malformed kernel metadata note"));
  std::string other = bytes;
  other[18] = 62; // x86-64
  EXPECT_FALSE(isCodeObject(other));
}

} // namespace
