//===- FinalComparisonTest.cpp - Messages of the final comparison ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningRunTest.h"

#include "Tuning/Run/FinalComparison.h"
#include "Tuning/Run/TimeSummary.h"

#include <cmath>

using namespace tessera::tuning;
namespace json = llvm::json;

namespace {

TEST(FinalComparisonTest, RequestsOwnChoiceAndLeaders) {
  Task task;
  task.text.key = "key";
  TaskState state;
  state.task = &task;
  state.ownBundle = "own";
  for (const char *bundle : {"a", "bb", "ccc", "dddd"}) {
    TaskState::Leader leader;
    leader.bundle = bundle;
    leader.point = makePoint(0);
    state.leaders.push_back(std::move(leader));
  }
  // The second one is the compiler's own choice.
  state.leaders[1].point.reset();
  Message message = makeFinalRequest(state, /*leaders=*/2, /*seconds=*/1.5);
  EXPECT_EQ(getText(message.head, "op"), "final");
  EXPECT_EQ(getText(message.head, "task"), "key");
  EXPECT_EQ(message.head.getNumber("seconds"), 1.5);
  EXPECT_EQ(message.bytes, "ownaccc");
  const json::Array *list = message.head.getArray("candidates");
  ASSERT_TRUE(list && list->size() == 3);
  std::vector<std::pair<int64_t, int64_t>> ids;
  for (const json::Value &value : *list)
    ids.emplace_back(*value.getAsObject()->getInteger("id"),
                     *value.getAsObject()->getInteger("bytes"));
  EXPECT_EQ(
      ids, (std::vector<std::pair<int64_t, int64_t>>{{-1, 3}, {0, 1}, {2, 3}}));
  EXPECT_FALSE(message.head.getObject("product"));
  task.matmul.emplace();
  task.matmul->m = 12;
  Message other = makeFinalRequest(state, 2, 1);
  ASSERT_TRUE(other.head.getObject("product"));
  EXPECT_EQ(other.head.getObject("product")->getInteger("m"), 12);
}

// Another host sends it.
TEST(FinalComparisonTest, ParsesAnyAnswer) {
  auto value = json::parse(R"({
    "op": "final", "clockBefore": 1000, "clockAfter": 900,
    "library": "cuBLASLt", "libraryTimes": [1, "x", 3.5],
    "results": [{"id": -1, "outcome": "measured", "times": [2, 1],
                 "warmTimes": [0.5, "x"]},
                {"id": 1, "outcome": "wrong", "error": "differs"},
                {"id": 2, "outcome": "measured"}, 7,
                {"id": 0, "outcome": "unheard of"}]})");
  ASSERT_TRUE(static_cast<bool>(value));
  FinalAnswer answer = parseFinalAnswer(*value->getAsObject(), /*leaders=*/2);
  EXPECT_TRUE(answer.hasClockMoved());
  EXPECT_EQ(answer.library, "cuBLASLt");
  EXPECT_EQ(answer.libraryTimes, (std::vector<double>{1, 3.5}));
  ASSERT_EQ(answer.results.size(), 3u);
  EXPECT_FALSE(answer.results[0].leader);
  EXPECT_EQ(answer.results[0].outcome, tuning::Outcome::Measured);
  EXPECT_EQ(answer.results[0].times, (std::vector<double>{2, 1}));
  EXPECT_EQ(answer.results[0].warmTimes, std::vector<double>{0.5});
  EXPECT_EQ(answer.results[1].leader, 1u);
  EXPECT_EQ(answer.results[1].outcome, tuning::Outcome::Wrong);
  EXPECT_EQ(answer.results[1].error, "differs");
  EXPECT_EQ(answer.results[2].outcome, tuning::Outcome::NotRun);
  FinalAnswer empty = parseFinalAnswer({}, 2);
  EXPECT_TRUE(empty.results.empty());
  EXPECT_FALSE(empty.hasClockMoved());
}

// The faster one with cold caches is slower with warm ones, and in the mean.
TEST(FinalComparisonTest, ComparesWithColdAndWarmCaches) {
  TaskState state;
  auto add = [&](std::string schedule, double median, double warm) {
    tuning::Record record;
    record.schedule = std::move(schedule);
    record.median = median;
    record.warmMedian = warm;
    state.compared.push_back(record);
  };
  add("", 4, 4);
  add("other", 5, 2);
  state.own = state.compared.front();
  selectWinner(state);
  ASSERT_TRUE(state.winner);
  EXPECT_EQ(state.winner->schedule, "other");
  EXPECT_NEAR(getOwnRatio(state), std::sqrt(16.0 / 10), 1e-12);
  // One has no times with warm caches, so those of the others do not count.
  add("cold", 4.5, 0);
  state.winner.reset();
  selectWinner(state);
  EXPECT_EQ(state.winner->schedule, "");
  EXPECT_EQ(getOwnRatio(state), 1);
}

TEST(TimeSummaryTest, HasMedianAndOrderStatistics) {
  EXPECT_EQ(summarizeTimes({}).median, 0);
  EXPECT_EQ(summarizeTimes({4, 1, 3, 2}).median, 2.5);
  std::vector<double> times;
  for (int i = 100; i > 0; --i)
    times.push_back(i);
  TimeSummary summary = summarizeTimes(times);
  EXPECT_EQ(summary.median, 50.5);
  // Positions 50 -+ 9.8, from 0.
  EXPECT_EQ(summary.low, 41);
  EXPECT_EQ(summary.high, 61);
  TimeSummary few = summarizeTimes({3, 1, 2});
  EXPECT_EQ(few.low, 1);
  EXPECT_EQ(few.high, 3);
}

} // namespace
