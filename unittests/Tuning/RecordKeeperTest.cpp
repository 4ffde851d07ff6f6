//===- RecordKeeperTest.cpp - Records that wait for the database ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/RecordKeeper.h"

#include "TuningTest.h"

using namespace mlir::tessera::tuning;
using tessera::tuning::RecordKeeper;

namespace {

class RecordKeeperTest : public TuningTest {
protected:
  void SetUp() override {
    TuningTest::SetUp();
    database = open("tune.db");
    ASSERT_TRUE(database);
    TaskText task;
    task.key = "0123456789abcdef";
    ASSERT_TRUE(static_cast<bool>(database->add(task)));
  }
  Record makeRecord(const std::string &schedule) {
    Record record;
    record.task = {"0123456789abcdef", "cpu", "generic"};
    record.environment = {"device", "driver", "Tessera", "build", "host", ""};
    record.schedule = schedule;
    record.outcome = Outcome::NotRun;
    record.error = "no device";
    record.when = "2026-11-27T00:00:00Z";
    return record;
  }
  size_t countRecords() {
    auto records = database->getRecords({"0123456789abcdef", "", ""});
    return records ? records->size() : 0;
  }

  std::unique_ptr<Database> database;
  std::vector<std::string> lines;
};

TEST_F(RecordKeeperTest, WritesAllThatWaitsAtOnce) {
  RecordKeeper keeper(*database,
                      [&](const std::string &line) { lines.push_back(line); });
  for (int i = 0; i < 5; ++i)
    keeper.add(makeRecord("schedule " + std::to_string(i)));
  EXPECT_EQ(countRecords(), 0u);
  EXPECT_EQ(keeper.countWaiting(), 5u);
  keeper.flushNew();
  EXPECT_EQ(countRecords(), 5u);
  EXPECT_EQ(keeper.countWaiting(), 0u);
  EXPECT_TRUE(keeper.flush());
  EXPECT_TRUE(lines.empty());
}

// The task of one of them is unknown.
TEST_F(RecordKeeperTest, KeepsAllIfOneCannotBeWritten) {
  RecordKeeper keeper(*database,
                      [&](const std::string &line) { lines.push_back(line); });
  keeper.add(makeRecord("first"));
  Record other = makeRecord("second");
  other.task.key = "fedcba9876543210";
  keeper.add(other);
  EXPECT_FALSE(keeper.flush());
  EXPECT_EQ(countRecords(), 0u);
  EXPECT_EQ(keeper.countWaiting(), 2u);
  // It is not tried again without a new entry, and reported once.
  keeper.flushNew();
  EXPECT_FALSE(keeper.flush());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(llvm::StringRef(lines[0]).starts_with("warning: ")) << lines[0];
  TaskText task;
  task.key = "fedcba9876543210";
  ASSERT_TRUE(static_cast<bool>(database->add(task)));
  keeper.add(makeRecord("third"));
  EXPECT_TRUE(keeper.flush());
  EXPECT_EQ(countRecords(), 2u);
  EXPECT_EQ(keeper.countWaiting(), 0u);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1], "the database can be written again: 3 pending records "
                      "are in it");
}

} // namespace
