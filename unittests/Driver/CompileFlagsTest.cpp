//===- CompileFlagsTest.cpp - Flags as text -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"

#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir::tessera;

static std::string print(const CompileFlags &flags) {
  std::string text;
  llvm::raw_string_ostream(text) << flags;
  return text;
}

TEST(CompileFlagsTest, DefaultsAreNotPrinted) {
  EXPECT_EQ(print({}), "none");
  CompileFlags flags;
  EXPECT_EQ(parseFlags("none", flags), "");
  EXPECT_EQ(parseFlags("", flags), "");
  EXPECT_EQ(print(flags), "none");
}

TEST(CompileFlagsTest, PrintedFlagsAreParsed) {
  CompileFlags flags;
  ASSERT_EQ(parseFlags("direct-copies=never,no-fuse-attention,allow-tf32,"
                       "vthread-order=groups(2)",
                       flags),
            "");
  EXPECT_TRUE(flags.allowTf32);
  EXPECT_FALSE(flags.allowFastF8);
  EXPECT_FALSE(flags.fuseAttention);
  EXPECT_EQ(flags.ldsCopies, LdsCopies::Never);
  EXPECT_EQ(flags.vthreadOrder.text, "groups(2)");
  // In the order of the definition.
  EXPECT_EQ(print(flags), "allow-tf32,no-fuse-attention,"
                          "vthread-order=groups(2),direct-copies=never");
  CompileFlags again;
  ASSERT_EQ(parseFlags(print(flags), again), "");
  EXPECT_EQ(print(again), print(flags));
}

TEST(CompileFlagsTest, MistakesAreReported) {
  CompileFlags flags;
  EXPECT_EQ(parseFlags("allow-tf33", flags)
                .find("unknown compile flag 'allow-tf33'; expected require-mma,"
                      " allow-tf32, "),
            0u);
  // The option is the one that changes the default.
  EXPECT_EQ(parseFlags("fuse-attention", flags)
                .find("unknown compile flag 'fuse-attention'"),
            0u);
  EXPECT_EQ(parseFlags("allow-tf32=1", flags),
            "allow-tf32 takes no value, but '1' was given");
  EXPECT_EQ(parseFlags("direct-copies", flags),
            "unknown value '' for direct-copies; expected auto, always or "
            "never");
  EXPECT_EQ(parseFlags("vthread-order=groups(0)", flags),
            "unknown value 'groups(0)' for vthread-order; expected "
            "breadth_first, depth_first or groups(N)");
}

TEST(CompileFlagsTest, CodeFlagsAreThoseThatChangeTheCodeOfTheSameOps) {
  CompileFlags flags;
  EXPECT_EQ(listCodeFlags(flags), "");
  ASSERT_EQ(parseFlags("require-mma,allow-tf32,no-fuse-attention,ptxas", flags),
            "");
  EXPECT_EQ(listCodeFlags(flags), "");
  ASSERT_EQ(parseFlags("direct-copies=always,vthread-order=groups(2)", flags),
            "");
  EXPECT_EQ(listCodeFlags(flags),
            "vthread-order=groups(2),direct-copies=always");
}

TEST(CompileFlagsTest, HelpListsTheSelectedFlags) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printFlagHelp(os, /*column=*/22, [](const FlagInfo &info) {
    return info.effect == FlagEffect::Code;
  });
  // Hidden flags are not listed.
  EXPECT_EQ(text,
            "  --vthread-order=ORDER\n"
            "                      interleaving of all virtual threads: "
            "breadth_first,\n"
            "                      depth_first or groups(N)\n"
            "  --direct-copies=WHICH\n"
            "                      which pipelined copies become async copies "
            "to LDS on chips\n"
            "                      that support them (hip: gfx942, gfx950): "
            "auto, if such a\n"
            "                      load fetches as much as one to registers; "
            "always; never\n"
            "                      (docs/AMD.md)\n");
}

TEST(CompileFlagsTest, EachOptionNamesOneFlag) {
  std::set<std::string> options;
  for (const FlagInfo &info : getFlagInfos()) {
    EXPECT_TRUE(options.insert(info.option).second) << info.option;
    EXPECT_EQ(findFlag(info.option), &info);
    EXPECT_FALSE(info.isGiven({})) << info.option;
    EXPECT_FALSE(info.description.empty()) << info.option;
  }
}
