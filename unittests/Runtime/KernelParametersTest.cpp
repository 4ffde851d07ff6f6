//===- KernelParametersTest.cpp - Parameters of a CUDA kernel -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/KernelParameters.h"

#include <gtest/gtest.h>

#include <cstdint>

using namespace tessera::runtime;

namespace {

using Counts = std::unordered_map<std::string, size_t>;

TEST(KernelParameters, OfPtx) {
  EXPECT_EQ(countKernelParameters(
                ".version 8.0\n.visible .entry none\n{ ret; }\n"
                ".visible .entry empty( )\n{ ret; }\n"
                ".entry two(\n\t.param .u64 .ptr .align 1 two_param_0,\n"
                "\t.param .align 64 .b8 two_param_1[128]\n)\n.maxntid 1\n{\n"
                "ld.param.u64 %rd1, [two_param_0];\nret; }\n"),
            (Counts{{"none", 0}, {"empty", 0}, {"two", 2}}));
  // A comment may contain what looks like a parameter; the list may not end.
  EXPECT_TRUE(
      countKernelParameters(".entry a(.param .u64 b // , .param\n)").empty());
  EXPECT_TRUE(countKernelParameters(".entry a(.param .u64 b").empty());
  EXPECT_TRUE(countKernelParameters("").empty());
}

/// Appends a number's bytes.
template <typename T> void append(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// A cubin with only the sections that are read: a kernel with two parameters,
/// one without any, and one whose parameters are described in another way.
std::string makeCubin() {
  std::string names("\0names\0.nv.info.two\0.nv.info.none\0.nv.info.other\0",
                    49);
  std::string two, none, other;
  for (int parameter = 0; parameter < 2; ++parameter) {
    append<uint32_t>(two, 0x000C1704);
    two.append(12, '\1');
  }
  append<uint32_t>(two, 0x00101903);
  append<uint32_t>(none, 0x00FF1B03);
  append<uint32_t>(other, 0x00101903);
  struct {
    size_t name;
    const std::string &bytes;
  } sections[] = {{1, names}, {7, two}, {20, none}, {34, other}};
  std::string cubin("\x7f"
                    "ELF"),
      headers;
  cubin.resize(64);
  for (const auto &section : sections) {
    std::string header;
    append(header, static_cast<uint32_t>(section.name));
    header.resize(0x18);
    append(header, static_cast<uint64_t>(cubin.size()));
    append(header, static_cast<uint64_t>(section.bytes.size()));
    header.resize(64);
    headers += header;
    cubin += section.bytes;
  }
  std::string position;
  append(position, static_cast<uint64_t>(cubin.size()));
  cubin.replace(0x28, 8, position);
  cubin[0x3a] = 64;
  cubin[0x3c] = 4;
  return cubin + headers;
}

TEST(KernelParameters, OfACubin) {
  std::string cubin = makeCubin();
  EXPECT_EQ(countKernelParameters(cubin), (Counts{{"two", 2}, {"none", 0}}));
  // Damaged ones are read without harm.
  for (size_t size = 4; size < cubin.size(); ++size)
    (void)countKernelParameters(cubin.substr(0, size));
  for (size_t position = 4; position < cubin.size(); ++position) {
    std::string damaged = cubin;
    damaged[position] = '\xFF';
    (void)countKernelParameters(damaged);
  }
}

} // namespace
