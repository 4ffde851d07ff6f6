//===- TaskTextTest.cpp - The best of each task, as text ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TaskText.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

using namespace tessera::tuning;
using mlir::tessera::TunedSchedules;

namespace {

tuning::Record makeRecord(const char *schedule, double median) {
  tuning::Record record;
  record.task = {"aa", "cuda", "sm_90a"};
  record.environment.device = "NVIDIA H200";
  record.environment.driver = "580";
  record.schedule = schedule;
  record.chosen = "#own";
  record.outcome = tuning::Outcome::Measured;
  record.median = median;
  record.low = median * 0.5;
  record.high = median * 2;
  record.isFinal = true;
  record.when = "2026-11-23T10:00:00Z";
  return record;
}

Summary makeSummary() {
  Summary summary;
  summary.text.description = "a matmul";
  summary.text.key = "aa";
  summary.text.operations = 1e9;
  summary.task = {"aa", "cuda", "sm_90a"};
  summary.device = "NVIDIA H200";
  summary.best = makeRecord("#best", 0.5);
  summary.records = {*summary.best, makeRecord("", 1)};
  summary.outcomes = {{tuning::Outcome::Measured, 2}};
  return summary;
}

std::string print(const Summary &summary) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printSummary(summary, os);
  return text;
}

TEST(TaskTextTest, BestAlone) {
  EXPECT_EQ(print(makeSummary()),
            "a matmul (aa) on cuda:sm_90a, NVIDIA H200\n"
            "  tessera.schedule = #best\n"
            "  0.5 ms (0.25 to 1), 2.00 TFLOP/s, of the final comparison\n"
            "  the compiler's own choice was not measured there\n"
            "  no library was measured there\n"
            "  2026-11-23T10:00:00Z, driver 580\n"
            "  2 tried, 2 measured\n");
}

TEST(TaskTextTest, BesideOthers) {
  Summary summary = makeSummary();
  summary.own = makeRecord("", 1);
  summary.overOwn = {2, 1.5, 2.5};
  summary.ownNearness = Nearness::Comparison;
  summary.library.emplace();
  summary.library->library = "cuBLASLt";
  summary.library->median = 0.25;
  summary.library->low = 0.2;
  summary.library->high = 0.3;
  summary.overLibrary = {0.5, 0.4, 0.6};
  summary.libraryNearness = Nearness::Run;
  std::string text = print(summary);
  EXPECT_NE(text.find("  2.000 times as fast as the compiler's own choice (at "
                      "least 1.500, at most 2.500), which took 1 ms (0.5 to "
                      "2)\n"
                      "  0.500 times as fast as cuBLASLt (at least 0.400, at "
                      "most 0.600), which took 0.25 ms (0.2 to 0.3), in the "
                      "same run\n"),
            std::string::npos)
      << text;
  // The compiler's own choice is not compared with itself.
  summary.best = makeRecord("", 0.5);
  summary.own.reset();
  text = print(summary);
  EXPECT_NE(text.find("  tessera.schedule = #own\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  it is the compiler's own choice\n"), std::string::npos)
      << text;
}

TEST(TaskTextTest, NothingMeasured) {
  Summary summary = makeSummary();
  summary.best.reset();
  summary.outcomes = {{tuning::Outcome::Wrong, 2}};
  EXPECT_EQ(print(summary), "a matmul (aa) on cuda:sm_90a, NVIDIA H200\n"
                            "  no schedule was measured\n"
                            "  2 tried, 2 wrong\n");
}

TEST(TaskTextTest, JSON) {
  Summary empty = makeSummary();
  empty.best.reset();
  std::string text;
  llvm::raw_string_ostream os(text);
  printSummariesJSON({makeSummary(), empty}, os);
  auto parsed = llvm::json::parse(text);
  ASSERT_TRUE(static_cast<bool>(parsed)) << text;
  const llvm::json::Array *tasks = parsed->getAsObject()->getArray("tasks");
  ASSERT_TRUE(tasks && tasks->size() == 2) << text;
  const llvm::json::Object &best = *(*tasks)[0].getAsObject();
  EXPECT_EQ(best.getString("schedule"), "#best");
  EXPECT_EQ(best.getNumber("flops"), 2e12);
  EXPECT_EQ(best.getObject("best")->getNumber("median"), 0.5);
  EXPECT_TRUE(best.getNull("own"));
  EXPECT_TRUE(best.getNull("library"));
  EXPECT_TRUE((*tasks)[1].getAsObject()->getNull("best"));
}

TEST(TaskTextTest, TunedSchedules) {
  TunedSchedules tuned;
  for (const char *chip : {"sm_80", "sm_90a"}) {
    auto &one = tuned.schedules.emplace_back();
    one.target = "cuda";
    one.chip = chip;
    one.key = "aa";
    one.schedule = std::string("#") + chip;
    one.origin = "record 1";
  }
  EXPECT_EQ(formatTunedSchedules(tuned, {}),
            "aa\t#sm_80\trecord 1\naa\t#sm_90a\trecord 1\n");
  tuning::TaskId task;
  task.chip = "sm_90a";
  EXPECT_EQ(formatTunedSchedules(tuned, task), "aa\t#sm_90a\trecord 1\n");
  task.key = "bb";
  EXPECT_EQ(formatTunedSchedules(tuned, task), "");
}

TEST(TaskTextTest, FindsRuns) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-runs", folder));
  std::string path = folder.str().str() + "/a.db";
  {
    auto database = tuning::Database::open(path, tuning::Database::Mode::Write);
    ASSERT_TRUE(static_cast<bool>(database));
    EXPECT_EQ(llvm::toString(findRuns(**database, "a.db", 1).takeError()),
              "'a.db' does not contain run 1: it has no runs");
    for (const char *command : {"first", "second"})
      ASSERT_TRUE(static_cast<bool>((*database)->beginRun(command, "{}")));
    auto all = findRuns(**database, "a.db", std::nullopt);
    ASSERT_TRUE(static_cast<bool>(all));
    EXPECT_EQ(all->size(), 2u);
    auto one = findRuns(**database, "a.db", 2);
    ASSERT_TRUE(one && one->size() == 1);
    EXPECT_EQ(one->front().command, "second");
    EXPECT_EQ(llvm::toString(findRuns(**database, "a.db", 3).takeError()),
              "'a.db' does not contain run 3: expected one of 1, 2");
  }
  EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
}

} // namespace
