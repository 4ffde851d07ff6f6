//===- SpaceConfigTest.cpp - The search space of schedules ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/SpaceConfig.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::tessera::tuning;
using llvm::StringRef;

namespace {

using Pairs = std::vector<std::array<int64_t, 2>>;
using Integers = std::vector<int64_t>;

SpaceConfig parse(StringRef text) {
  auto config = parseSpaceConfig(text, "a.json");
  if (config)
    return std::move(*config);
  ADD_FAILURE() << llvm::toString(config.takeError());
  return {};
}

std::string getError(StringRef text) {
  auto config = parseSpaceConfig(text, "a.json");
  return config ? "" : llvm::toString(config.takeError());
}

/// A file of the source tree.
std::string read(const char *path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(bool(buffer)) << path;
  return buffer ? (*buffer)->getBuffer().str() : "";
}

TEST(SpaceConfigTest, EveryParameter) {
  SpaceConfig config = parse(R"({
    "version": 1,
    "parameters": {
      "workgroup": [[64, 64], [128, 256]],
      "subgroup": [[32, 16]],
      "k": [64, 32],
      "kFragment": [16],
      "stages": {"min": 1, "max": 6},
      "vthread": [[1, 2]],
      "interleave": [0, 2],
      "swizzle": [true, false],
      "splitK": {"min": 1, "max": 20, "factor": 3},
      "splitKReduction": ["ordered", "cluster", "atomic"],
      "raster": {"min": 0, "max": 10, "step": 4},
      "persistent": [0, 132],
      "subgroupsPerFragment": [4],
      "stageOutput": [false],
      "cluster": [[2, 1]],
      "batches": [1, 8],
      "subgroupBatches": [2]
    },
    "limits": {"points": 500, "slowest": 2.5}
  })");
  const ScheduleValues &values = config.parameters;
  EXPECT_EQ(values.workgroup, (Pairs{{64, 64}, {128, 256}}));
  EXPECT_EQ(values.subgroup, (Pairs{{32, 16}}));
  EXPECT_EQ(values.k, (Integers{64, 32}));
  EXPECT_EQ(values.kFragment, (Integers{16}));
  EXPECT_EQ(values.stages, (Integers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values.vthread, (Pairs{{1, 2}}));
  EXPECT_EQ(values.interleave, (Integers{0, 2}));
  EXPECT_EQ(values.swizzle, (Integers{1, 0}));
  EXPECT_EQ(values.splitK, (Integers{1, 3, 9}));
  EXPECT_EQ(values.splitKReduction, (Integers{0, 2, 1}));
  EXPECT_EQ(values.raster, (Integers{0, 4, 8}));
  EXPECT_EQ(values.persistent, (Integers{0, 132}));
  EXPECT_EQ(values.subgroupsPerFragment, (Integers{4}));
  EXPECT_EQ(values.stageOutput, (Integers{0}));
  EXPECT_EQ(values.cluster, (Pairs{{2, 1}}));
  EXPECT_EQ(values.batches, (Integers{1, 8}));
  EXPECT_EQ(values.subgroupBatches, (Integers{2}));
  EXPECT_EQ(config.points, 500);
  EXPECT_EQ(config.slowest, 2.5);
  EXPECT_FALSE(config.add.k.has_value());
}

TEST(SpaceConfigTest, WhatIsLeftOutIsAbsent) {
  SpaceConfig config = parse(R"({"version": 1, "add": {"k": [128]}})");
  EXPECT_EQ(config.add.k, (Integers{128}));
  EXPECT_FALSE(config.parameters.k.has_value());
  EXPECT_FALSE(config.parameters.workgroup.has_value());
  EXPECT_FALSE(config.points.has_value());
  EXPECT_FALSE(config.slowest.has_value());
}

TEST(SpaceConfigTest, FormerNamesAreRead) {
  SpaceConfig config =
      parse("{\"version\": 1,\n\"parameters\": {\"group\": [1, 4]}}");
  EXPECT_EQ(config.parameters.subgroupsPerFragment, (Integers{1, 4}));
  EXPECT_EQ(config.warnings,
            (std::vector<std::string>{
                "a.json:2: parameters.group: this field is now called "
                "'subgroupsPerFragment'"}));
  EXPECT_EQ(getError("{\"version\": 1, \"add\": {\"group\": [1], "
                     "\"subgroupsPerFragment\": [4]}}"),
            "a.json:1: add.group: this is the former name of "
            "'subgroupsPerFragment', which is given too: remove one");
}

TEST(SpaceConfigTest, ErrorsHaveTheirLine) {
  StringRef text = "{\n"
                   "  \"version\": 1,\n"
                   "  \"parameters\": {\n"
                   "    \"workgroup\": [\n"
                   "      [64, 64],\n"
                   "      [64, \"x\"]],\n"
                   "    \"k\":\n"
                   "      {\"min\": 1}\n"
                   "  }\n"
                   "}\n";
  EXPECT_EQ(getError(text),
            "a.json:6: parameters.workgroup[1][1]: it must be a whole number "
            "from 1 to 65536, not \"x\"");
  std::string fixed = text.str();
  fixed.replace(fixed.find("\"x\""), 3, "64");
  EXPECT_EQ(getError(fixed), "a.json:6: parameters.workgroup[1]: [64,64] "
                             "appears twice in the list: remove one");
  fixed.replace(fixed.find("64]],"), 2, "32");
  EXPECT_EQ(getError(fixed).substr(0, 40),
            "a.json:7: parameters.k: 'max' is missing");
}

TEST(SpaceConfigTest, TextThatIsNoConfiguration) {
  EXPECT_EQ(getError("{\n  \"version\": 1,,\n}").substr(0, 23),
            "a.json:2: invalid JSON:");
  EXPECT_EQ(getError("").substr(0, 23), "a.json:1: invalid JSON:");
  // A parser that recurses for each bracket would overflow the stack.
  EXPECT_EQ(getError("{\"version\":\n " + std::string(100'000, '[')),
            "a.json:2: invalid JSON: [2:65, byte=76]: values are nested more "
            "than 64 deep");
  EXPECT_EQ(getError("{\"version\": 1,\n\"limits\": {}, \"limits\": {}}"),
            "a.json:2: limits: duplicate name: remove one");
  EXPECT_EQ(getError("{\"version\": 1, \"add\": {\"k\": [1],\n\"\\u006b\": "
                     "[2]}}"),
            "a.json:1: add.k: duplicate name: remove one");
  auto config = readSpaceConfig("/none.json");
  EXPECT_EQ(config ? "" : llvm::toString(config.takeError()),
            "cannot read '/none.json': No such file or directory");
}

TEST(SpaceConfigTest, TheListIsJudgedAsItSays) {
  std::string text = read(TESSERA_TUNE_CONFIGS);
  StringRef rest = text;
  size_t good = 0, bad = 0;
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    auto entry = llvm::json::parse(line);
    ASSERT_TRUE(bool(entry)) << line.str();
    const llvm::json::Object *object = entry->getAsObject();
    ASSERT_TRUE(object && object->get("config")) << line.str();
    std::string config;
    llvm::raw_string_ostream(config) << *object->get("config");
    std::string wanted = object->getString("error").value().str(),
                got = getError(config);
    EXPECT_EQ(wanted.empty(), got.empty()) << config << ": " << got;
    EXPECT_TRUE(StringRef(got).contains(wanted))
        << config << ": " << got << "\nand not: " << wanted;
    (wanted.empty() ? good : bad) += 1;
  }
  EXPECT_EQ(good, 9u);
  EXPECT_EQ(bad, 46u);
}

TEST(SpaceConfigTest, TheSchemaIsUpToDate) {
  EXPECT_EQ(read(TESSERA_TUNE_SCHEMA), makeConfigSchema())
      << "renew it: tessera-tables tuning-schema "
         ">docs/tuning-config.schema.json";
}

} // namespace
