//===- SpirvModuleTest.cpp - Reading of SPIR-V modules --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpirvModule.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace tessera::runtime;

namespace {

/// A module, word by word (SPIR-V Specification, 2.3).
struct Words {
  std::vector<uint32_t> words = {0x07230203, 0x00010200, 0, 100, 0};

  void add(uint32_t code, std::vector<uint32_t> operands) {
    words.push_back(code | static_cast<uint32_t>(operands.size() + 1) << 16);
    words.insert(words.end(), operands.begin(), operands.end());
  }
  std::string bytes() const {
    return {reinterpret_cast<const char *>(words.data()),
            words.size() * sizeof(uint32_t)};
  }
};

/// "k1" and "k2": two entry points of one module.
Words makeKernels() {
  Words m;
  uint32_t k1 = 'k' | '1' << 8, k2 = 'k' | '2' << 8;
  m.add(15, {6, 10, k1}); // OpEntryPoint Kernel
  m.add(15, {6, 11, k2});
  m.add(16, {10, 17, 16, 2, 1}); // OpExecutionMode LocalSize
  m.add(16, {10, 35, 16});       // SubgroupSize
  m.add(16, {11, 17, 64, 1, 1});
  m.add(71, {30, 44, 64}); // OpDecorate Alignment
  m.add(71, {31, 20});     // Aliased
  m.add(21, {1, 8, 0});    // OpTypeInt
  m.add(21, {2, 64, 0});
  m.add(22, {3, 16});         // OpTypeFloat
  m.add(32, {4, 5, 1});       // OpTypePointer CrossWorkgroup
  m.add(54, {20, 10, 0, 21}); // OpFunction
  m.add(55, {4, 30});         // OpFunctionParameter
  m.add(55, {2, 31});
  m.add(55, {3, 32});
  m.add(54, {20, 12, 0, 21}); // Not an entry point.
  m.add(55, {2, 33});
  m.add(54, {20, 11, 0, 22});
  return m;
}

// Push constants are the launch's arguments if they are an array in a struct,
// which is the interface variable of that entry point.
TEST(SpirvModuleTest, CountsPushedArguments) {
  Words m;
  m.add(15, {5, 10, 'k' | '1' << 8, 40, 41}); // OpEntryPoint GLCompute
  m.add(15, {5, 11, 'k' | '2' << 8, 42});
  m.add(15, {5, 12, 'k' | '3' << 8, 40});
  m.add(21, {1, 64, 0}); // OpTypeInt
  m.add(21, {2, 32, 0});
  m.add(43, {2, 3, 7}); // OpConstant
  m.add(28, {4, 1, 3}); // OpTypeArray
  m.add(30, {5, 4});    // OpTypeStruct
  m.add(30, {6, 1});
  m.add(32, {7, 9, 5}); // OpTypePointer PushConstant
  m.add(32, {8, 9, 6});
  m.add(32, {9, 4, 4});  // Workgroup
  m.add(59, {9, 40, 4}); // OpVariable
  m.add(59, {7, 41, 9});
  m.add(59, {8, 42, 9});
  Expected<std::vector<SpirvModule>> modules = readSpirv(m.bytes());
  ASSERT_TRUE(modules.ok());
  const std::vector<SpirvKernel> &kernels = modules->front().kernels;
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].pushedArguments, 7);
  // An address in a struct; no push constants.
  EXPECT_EQ(kernels[1].pushedArguments, 0);
  EXPECT_EQ(kernels[2].pushedArguments, 0);
}

TEST(SpirvModuleTest, ReadsCapabilities) {
  Words m;
  m.add(17, {6});  // OpCapability Kernel
  m.add(17, {10}); // Float64
  m.add(15, {6, 10, 'k'});
  auto modules = readSpirv(m.bytes());
  ASSERT_TRUE(modules.ok()) << modules.status().message();
  ASSERT_EQ(modules->size(), 1u);
  EXPECT_EQ(modules->front().capabilities, (std::vector<uint32_t>{6, 10}));
}

TEST(SpirvModuleTest, ReadsKernels) {
  std::string bytes = makeKernels().bytes();
  // Modules are concatenated.
  auto modules = readSpirv(bytes + bytes);
  ASSERT_TRUE(modules.ok()) << modules.status().message();
  ASSERT_EQ(modules->size(), 2u);
  EXPECT_EQ((*modules)[1].words, makeKernels().words);
  const std::vector<SpirvKernel> &kernels = (*modules)[1].kernels;
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "k1");
  EXPECT_EQ(kernels[0].block, (std::array<int64_t, 3>{16, 2, 1}));
  EXPECT_EQ(kernels[0].subgroupSize, 16);
  ASSERT_EQ(kernels[0].parameters.size(), 3u);
  EXPECT_TRUE(kernels[0].parameters[0].isPointer);
  EXPECT_EQ(kernels[0].parameters[0].bytes, 8);
  EXPECT_EQ(kernels[0].parameters[0].alignment, 64);
  EXPECT_FALSE(kernels[0].parameters[1].isPointer);
  EXPECT_EQ(kernels[0].parameters[1].alignment, 1);
  EXPECT_EQ(kernels[0].parameters[1].bytes, 8);
  EXPECT_EQ(kernels[0].parameters[2].bytes, 2);
  EXPECT_EQ(kernels[1].name, "k2");
  EXPECT_EQ(kernels[1].subgroupSize, 0);
  EXPECT_TRUE(kernels[1].parameters.empty());
}

TEST(SpirvModuleTest, RejectsOtherFiles) {
  std::string bytes = makeKernels().bytes();
  // A program without kernels.
  ASSERT_TRUE(readSpirv("").ok());
  EXPECT_TRUE(readSpirv("")->empty());
  EXPECT_FALSE(readSpirv("not SPIR-V, but a text of some length").ok());
  EXPECT_FALSE(readSpirv(bytes + "x").ok());
  for (size_t length = 4; length < bytes.size(); length += 4)
    if (auto modules = readSpirv(bytes.substr(0, length)); modules.ok()) {
      // Only at an instruction's end.
      EXPECT_EQ((*modules)[0].words.size(), length / 4);
    }
  // An instruction of no words would never end.
  Words endless = makeKernels();
  endless.words.push_back(0);
  EXPECT_FALSE(readSpirv(endless.bytes()).ok());
  // One that is longer than the module.
  Words cut = makeKernels();
  cut.words.push_back(15 | 9u << 16);
  EXPECT_FALSE(readSpirv(cut.bytes()).ok());
}

} // namespace
