//===- ArgumentsTest.cpp - The command line of a subcommand ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Arguments.h"

#include <gtest/gtest.h>

using namespace mlir::tessera::tuning;
using llvm::StringRef;

namespace {

class ArgumentsTest : public ::testing::Test {
protected:
  /// The error of a command line; empty if it is valid.
  std::string parse(const std::vector<StringRef> &words) {
    arguments = std::make_unique<Arguments>("gpu-tune best --db=FILE\n\nMore.");
    arguments->addText("--db", text);
    arguments->addNumber("--runs", number);
    arguments->addNumber("--jobs", small, 0);
    arguments->addFlag("--json", flag);
    arguments->addTime("--budget", seconds);
    arguments->addChoice("--share", {"time", "equal"}, choice);
    arguments->addOptionalValue("--listen", [&](StringRef value) {
      listen = value.str();
      return llvm::Error::success();
    });
    arguments->addHidden("--test", [&](StringRef value) {
      hidden.push_back(value.str());
      return llvm::Error::success();
    });
    return llvm::toString(arguments->parse(words));
  }

  std::unique_ptr<Arguments> arguments;
  std::string text = "default", choice;
  std::optional<int64_t> number;
  unsigned small = 3;
  bool flag = false;
  double seconds = 0;
  std::optional<std::string> listen;
  std::vector<std::string> hidden;
};

TEST_F(ArgumentsTest, ReadsValues) {
  EXPECT_EQ(parse({"a.mlir", "--db=x=y", "--runs", "12", "-", "--json",
                   "--jobs=0", "--budget=10m", "--share=equal"}),
            "");
  EXPECT_EQ(text, "x=y");
  EXPECT_EQ(number, 12);
  EXPECT_EQ(small, 0u);
  EXPECT_TRUE(flag);
  EXPECT_EQ(seconds, 600);
  EXPECT_EQ(choice, "equal");
  EXPECT_EQ(arguments->getFiles(), (std::vector<std::string>{"a.mlir", "-"}));
}

TEST_F(ArgumentsTest, KeepsDefaults) {
  EXPECT_EQ(parse({}), "");
  EXPECT_EQ(text, "default");
  EXPECT_FALSE(number);
  EXPECT_EQ(small, 3u);
  EXPECT_FALSE(listen);
}

TEST_F(ArgumentsTest, OptionalValueFollowsEquals) {
  EXPECT_EQ(parse({"--listen", "file"}), "");
  EXPECT_EQ(listen, "");
  EXPECT_EQ(arguments->getFiles(), std::vector<std::string>{"file"});
  EXPECT_EQ(parse({"--listen=*"}), "");
  EXPECT_EQ(listen, "*");
}

TEST_F(ArgumentsTest, RejectsUnknownOptions) {
  EXPECT_EQ(parse({"--bd=x"}), "unknown option '--bd': did you mean '--db'?\n"
                               "gpu-tune best --db=FILE");
  // Hidden ones are not suggested.
  EXPECT_EQ(StringRef(parse({"--tests"})).count("--test'?"), 0u);
}

TEST_F(ArgumentsTest, RejectsInvalidValues) {
  EXPECT_EQ(parse({"--runs=0"}),
            "--runs requires a whole number of at least 1, not '0'");
  EXPECT_EQ(parse({"--jobs=-1"}),
            "--jobs requires a whole number of at least 0, not '-1'");
  // It does not fit.
  EXPECT_EQ(parse({"--jobs=4294967296"}),
            "--jobs requires a whole number of at least 0, not '4294967296'");
  EXPECT_FALSE(number);
  EXPECT_EQ(small, 3u);
  for (StringRef time : {"0", "-1s", "nan", "1d", "m"})
    EXPECT_EQ(parse({"--budget", time}),
              "--budget=" + time.str() +
                  ": expected a time such as 90s, 10m or 2h");
  EXPECT_EQ(parse({"--share=both"}), "--share=both: expected time or equal");
  EXPECT_EQ(parse({"--db="}), "--db needs a value\ngpu-tune best --db=FILE");
  EXPECT_EQ(parse({"--db"}), "--db needs a value\ngpu-tune best --db=FILE");
  EXPECT_EQ(parse({"--json=1"}), "--json takes no value, but '1' was given");
}

TEST_F(ArgumentsTest, Times) {
  for (auto [given, expected] : {std::pair("45", 45.0), std::pair("1.5s", 1.5),
                                 std::pair("2h", 7200.0)}) {
    EXPECT_EQ(parse({"--budget", given}), "");
    EXPECT_EQ(seconds, expected) << given;
  }
}

TEST_F(ArgumentsTest, RejectsRepeatedValues) {
  EXPECT_EQ(parse({"--db=a", "--db=b"}), "--db was given twice: remove one");
  EXPECT_EQ(parse({"--json", "--json"}), "");
  EXPECT_EQ(parse({"--test=a:k = 3", "--test=b"}), "");
  EXPECT_EQ(hidden, (std::vector<std::string>{"a:k = 3", "b"}));
}

TEST(ArgumentsFormTest, TheLastOneCountsIfRepeatsAreAllowed) {
  std::string text;
  Arguments arguments("gpu-tune run");
  arguments.allowRepeats();
  arguments.addText("--db", text);
  EXPECT_EQ(llvm::toString(arguments.parse({"--db=a", "--db=b"})), "");
  EXPECT_EQ(text, "b");
}

TEST_F(ArgumentsTest, HelpEndsTheCommandLine) {
  EXPECT_EQ(parse({"--help", "--unknown"}), "");
  EXPECT_TRUE(arguments->wantsHelp());
  EXPECT_EQ(parse({"--json"}), "");
  EXPECT_FALSE(arguments->wantsHelp());
}

TEST(ArgumentsFormTest, RequiredOptionsAndFiles) {
  std::string text;
  auto parse = [&](const std::vector<StringRef> &words) {
    Arguments arguments("gpu-tune report --db=FILE");
    arguments.addRequiredText("--db", text);
    return llvm::toString(arguments.parseWithoutFiles(words, "--db"));
  };
  EXPECT_EQ(parse({"--db=a"}), "");
  EXPECT_EQ(parse({"--help"}), "");
  EXPECT_EQ(parse({}), "--db is missing\ngpu-tune report --db=FILE");
  EXPECT_EQ(parse({"--db=a", "b"}),
            "report does not accept a file other than --db, but 'b' was given");
}

} // namespace
