//===- OptionValuesTest.cpp - Parsers of the values of options ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/OptionValues.h"

#include <gtest/gtest.h>

using namespace tessera::execution;

namespace {

using Parser = LogicalResult (*)(StringRef, ProgramOptions &, Report &);

/// The error for a value; empty if it is valid.
std::string parse(Parser parser, StringRef value, ProgramOptions &options) {
  Report report = Report::makeQuiet();
  bool isValid = succeeded(parser(value, options, report));
  EXPECT_EQ(report.exit(), isValid ? Exit::Done : Exit::Usage) << value.str();
  return report.root.getString("error").value_or("").str();
}

TEST(OptionValuesTest, Diff) {
  ProgramOptions options;
  EXPECT_EQ(parse(parseDiff, "cpu,cpu:emulate=sm_80", options), "");
  std::vector<std::string> expected = {"cpu", "cpu:emulate=sm_80"};
  EXPECT_EQ(options.diff, expected);
  EXPECT_NE(parse(parseDiff, "cpu", options).find("two or more targets"),
            std::string::npos);
  EXPECT_EQ(parse(parseDiff, "cpu,cud", options),
            "unknown target 'cud' (did you mean 'cuda'?); expected auto, " +
                llvm::join(getTargets(), ", "));
  EXPECT_EQ(options.diff, expected);
  // The target of a run is another option.
  EXPECT_EQ(options.target, "auto");
}

TEST(OptionValuesTest, Tolerance) {
  ProgramOptions options;
  EXPECT_EQ(parse(parseTolerance, "0", options), "");
  ASSERT_TRUE(options.tolerance);
  EXPECT_EQ(options.tolerance->first, 0);
  EXPECT_FALSE(options.tolerance->second);
  EXPECT_EQ(parse(parseTolerance, "0.25,1e-3", options), "");
  EXPECT_EQ(options.tolerance->first, 0.25);
  EXPECT_EQ(options.tolerance->second, 1e-3);
  EXPECT_EQ(options.toleranceText, "0.25,1e-3");
  for (StringRef wrong : {"", "-1", "nan", "1,", "1,-2", "1,2,3", "x"})
    EXPECT_TRUE(
        StringRef(parse(parseTolerance, wrong, options))
            .starts_with("--tolerance=" + wrong.str() + ": expected ABS[,REL]"))
        << wrong.str();
  EXPECT_EQ(options.toleranceText, "0.25,1e-3");
}

TEST(OptionValuesTest, Stage) {
  std::pair<StringRef, EmitStage::Kind> stages[] = {
      {"schedule", EmitStage::Schedule}, {"tessera", EmitStage::Tessera},
      {"vendor", EmitStage::Vendor},     {"llvm", EmitStage::LLVM},
      {"bundle", EmitStage::Bundle},     {"hsaco", EmitStage::Code},
      {"spirv", EmitStage::Code},        {"ptx", EmitStage::Code}};
  for (auto [name, kind] : stages) {
    ProgramOptions options;
    EXPECT_EQ(parse(parseStage, name, options), "");
    EXPECT_TRUE(options.isEmitted(kind)) << name.str();
    EXPECT_EQ(options.emit->name, name);
  }
  ProgramOptions options;
  std::string error = parse(parseStage, "hasco", options);
  EXPECT_TRUE(StringRef(error).starts_with(
      "unknown stage 'hasco' for --emit (did you mean 'hsaco'?); expected one "
      "of schedule, tessera, vendor, llvm, "))
      << error;
  EXPECT_TRUE(StringRef(error).ends_with(", bundle")) << error;
  EXPECT_FALSE(options.emit);
}

TEST(OptionValuesTest, Runs) {
  ProgramOptions options;
  EXPECT_EQ(options.getRuns(), 1u);
  options.verify = true;
  EXPECT_EQ(options.getRuns(), 2u);
  EXPECT_EQ(parse(parseRepeat, "5", options), "");
  EXPECT_EQ(options.getRuns(), 5u);
  EXPECT_EQ(parse(parseBenchRuns, "7", options), "");
  EXPECT_EQ(options.benchRuns, 7u);
  for (StringRef wrong : {"0", "-1", "1.5", "some", "4294967296"}) {
    EXPECT_NE(parse(parseRepeat, wrong, options), "") << wrong.str();
    EXPECT_NE(parse(parseBenchRuns, wrong, options), "") << wrong.str();
  }
  EXPECT_EQ(options.repeat, 5u);
  EXPECT_EQ(options.benchRuns, 7u);
}

TEST(OptionValuesTest, CacheLimit) {
  std::pair<StringRef, uint64_t> limits[] = {
      {"1", 1},
      {"3KiB", 3 << 10},
      {"64MiB", 64 << 20},
      {"8589934591GiB", uint64_t(8589934591) << 30}};
  for (auto [text, bytes] : limits) {
    ProgramOptions options;
    EXPECT_EQ(parse(parseCacheLimit, text, options), "");
    EXPECT_EQ(options.cacheLimit, bytes) << text.str();
  }
  ProgramOptions options;
  // The last one has 2^63 bytes.
  for (StringRef wrong : {"0", "0GiB", "KiB", "1KB", "-1", "8589934592GiB"})
    EXPECT_EQ(parse(parseCacheLimit, wrong, options),
              "--cache-limit=" + wrong.str() +
                  ": expected a number of bytes, for example "
                  "--cache-limit=64MiB");
  EXPECT_FALSE(options.cacheLimit);
}

TEST(OptionValuesTest, TimeLimit) {
  Report report = Report::makeQuiet();
  for (auto [text, seconds] :
       {std::pair("0.5", 0.5), std::pair("86400", 86400.0)}) {
    FailureOr<double> parsed = parseTimeLimit("--timeout", text, report);
    ASSERT_TRUE(succeeded(parsed)) << text;
    EXPECT_EQ(*parsed, seconds);
  }
  EXPECT_EQ(report.exit(), Exit::Done);
  for (StringRef wrong : {"0", "-1", "nan", "inf", "86401", "1s", ""})
    EXPECT_TRUE(failed(parseTimeLimit("--timeout", wrong, report)))
        << wrong.str();
  EXPECT_EQ(report.exit(), Exit::Usage);
}

} // namespace
