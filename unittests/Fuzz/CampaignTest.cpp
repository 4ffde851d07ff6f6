//===- CampaignTest.cpp - Random programs and their verdicts --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Campaign.h"

#include <gtest/gtest.h>

#include <set>

using namespace fuzz;

namespace {

TEST(CampaignTest, SeedAndNumberDecideACase) {
  Machine machine;
  std::set<std::string> kinds, texts;
  for (uint64_t index = 0; index < 200; ++index) {
    Case first = generateCase(7, index, machine);
    Case again = generateCase(7, index, machine);
    EXPECT_EQ(first.text, again.text);
    EXPECT_EQ(first.options, again.options);
    EXPECT_EQ(first.kind, pickKind(7, index).name);
    kinds.insert(first.kind);
    texts.insert(first.text);
  }
  EXPECT_EQ(kinds.size(), getKinds().size());
  EXPECT_GT(texts.size(), 190u);
  EXPECT_NE(generateCase(7, 0, machine).text, generateCase(8, 0, machine).text);
}

TEST(CampaignTest, OneCaseOfFiftyHasAFault) {
  Machine machine;
  int faults = 0;
  for (uint64_t index = 0; index < 200; ++index) {
    Case testCase = generateCase(7, index, machine);
    EXPECT_FALSE(testCase.hasFault);
    plantFault(7, index, testCase);
    faults += testCase.hasFault;
  }
  EXPECT_EQ(faults, 4);
}

class JudgeTest : public ::testing::Test {
protected:
  Verdict judge(int status, const std::string &output,
                const std::string &errors = "") {
    Outcome outcome;
    outcome.kind = Outcome::Exited;
    outcome.number = status;
    outcome.output = output;
    outcome.errors = errors;
    return fuzz::judge(testCase, outcome, cause);
  }

  Case testCase;
  std::string cause;
};

TEST_F(JudgeTest, AProgramThatIsVerified) {
  EXPECT_EQ(judge(0, "out 0: verified (max abs err 0)\nverified\n"),
            Verdict::Verified);
  EXPECT_EQ(judge(77, "", "error: no device\n"), Verdict::NoDevice);
  EXPECT_EQ(judge(1, "", "note: x\nerror: cannot lower\n"), Verdict::Failed);
  EXPECT_NE(cause.find("error: cannot lower"), std::string::npos);
  Outcome crash;
  crash.kind = Outcome::Signalled;
  crash.number = 11;
  EXPECT_EQ(fuzz::judge(testCase, crash, cause), Verdict::Failed);
  EXPECT_NE(cause.find("signal 11"), std::string::npos);
}

TEST_F(JudgeTest, AProgramThatMustBeRejected) {
  testCase.expected = Expected::Rejected;
  testCase.diagnostic = "use 16";
  EXPECT_EQ(judge(1, "", "error: use 16\n"), Verdict::Rejected);
  EXPECT_EQ(judge(1, "", "error: use 8\n"), Verdict::Failed);
  EXPECT_EQ(judge(1, "", "use 16\n"), Verdict::Failed);
  EXPECT_EQ(judge(0, "verified\n"), Verdict::Failed);
}

TEST_F(JudgeTest, AnIllegalScheduleNeedsALegalOne) {
  testCase.text = "#tessera.schedule<>";
  std::string error = "error: schedule_c...";
  EXPECT_EQ(judge(1, "", error + "; the nearest legal schedule has ...\n"),
            Verdict::Rejected);
  EXPECT_EQ(judge(1, "", error + "\n"), Verdict::Failed);
}

TEST_F(JudgeTest, APlantedFaultMustBeFound) {
  testCase.hasFault = true;
  std::string planted = "planted a fault in output 0\n";
  EXPECT_EQ(judge(3, planted + "out 0: FAILED (max abs err 1)\n"),
            Verdict::Found);
  EXPECT_EQ(judge(0, planted + "verified\n"), Verdict::Failed);
  EXPECT_EQ(judge(0, "verified\n"), Verdict::Failed);
}

} // namespace
