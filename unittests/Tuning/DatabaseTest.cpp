//===- DatabaseTest.cpp - The database of tuning records ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningTest.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <csignal>
#include <set>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir::tessera::tuning;

namespace {

using DatabaseTest = TuningTest;

/// Changes a file without the library's knowledge.
void execute(const std::string &path, const char *statements) {
  sqlite3 *handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, statements, nullptr, nullptr, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

/// How many rows a statement counts.
int64_t count(const std::string &path, const char *statement) {
  sqlite3 *handle = nullptr;
  sqlite3_stmt *row = nullptr;
  int64_t number = -1;
  if (sqlite3_open(path.c_str(), &handle) == SQLITE_OK &&
      sqlite3_prepare_v2(handle, statement, -1, &row, nullptr) == SQLITE_OK &&
      sqlite3_step(row) == SQLITE_ROW)
    number = sqlite3_column_int64(row, 0);
  sqlite3_finalize(row);
  sqlite3_close(handle);
  return number;
}

TEST_F(DatabaseTest, EveryFieldComesBack) {
  Record first = makeRecord(1), second = makeRecord(2);
  second.outcome = Outcome::NotCompiled;
  second.error = "a.mlir:4:8: error: \"it\" isn't\n\tlegal; \xc3\xa9";
  second.times.clear();
  second.median = second.low = second.high = 0;
  Baseline baseline = makeBaseline();
  std::string command = "gpu-tune run a.mlir --db='x y'";
  {
    auto database = open("a.db");
    EXPECT_TRUE(take(database->add(makeTask())));
    EXPECT_FALSE(take(database->add(makeTask())));
    first.run = take(database->beginRun(command, "{\"seed\": 7}"));
    EXPECT_GT(first.run, 0);
    baseline.run = first.run;
    EXPECT_TRUE(take(database->add(first)));
    EXPECT_TRUE(take(database->add(second)));
    EXPECT_TRUE(take(database->add(baseline)));
    // The same again is the same.
    EXPECT_FALSE(take(database->add(first)));
    EXPECT_FALSE(take(database->add(baseline)));
  }
  auto database = open("a.db", Mode::Read);
  auto tasks = take(database->getTasks());
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tie(tasks[0]), tie(makeTask()));
  auto runs = take(database->getRuns());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].number, first.run);
  EXPECT_EQ(runs[0].command, command);
  EXPECT_EQ(runs[0].settings, "{\"seed\": 7}");
  EXPECT_EQ(runs[0].identity.size(), 32u);
  EXPECT_EQ(runs[0].when.size(), 20u);
  auto records = take(database->getRecords(first.task));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(tie(records[0]), tie(first));
  EXPECT_EQ(records[0].run, first.run);
  EXPECT_EQ(tie(records[1]), tie(second));
  EXPECT_EQ(records[1].run, 0);
  auto baselines = take(database->getBaselines({}));
  ASSERT_EQ(baselines.size(), 1u);
  EXPECT_EQ(tie(baselines[0]), tie(baseline));
  EXPECT_EQ(baselines[0].run, first.run);
}

TEST_F(DatabaseTest, EveryOutcomeHasAName) {
  auto database = open("a.db");
  take(database->add(makeTask()));
  for (int i = 0; i <= int(Outcome::Crashed); ++i) {
    EXPECT_EQ(parseOutcome(getOutcomeName(Outcome(i))), Outcome(i));
    Record record = makeRecord(i);
    record.outcome = Outcome(i);
    EXPECT_TRUE(take(database->add(record)));
  }
  EXPECT_EQ(getOutcomeName(Outcome::NotCompiled), "not compiled");
  EXPECT_EQ(parseOutcome("compiled"), std::nullopt);
  auto records = take(database->getRecords({}));
  ASSERT_EQ(records.size(), 8u);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(records[i].outcome, Outcome(i));
}

TEST_F(DatabaseTest, TasksAreAskedForByParts) {
  auto database = open("a.db");
  take(database->add(makeTask("a")));
  take(database->add(makeTask("b")));
  int number = 0;
  for (const char *key : {"a", "b"})
    for (const char *target : {"cuda", "vulkan"})
      for (const char *chip : {"x", "y"}) {
        Record record = makeRecord(++number);
        record.task = {key, target, chip};
        take(database->add(record));
      }
  EXPECT_EQ(take(database->getRecords({})).size(), 8u);
  EXPECT_EQ(take(database->getRecords({"a", "", ""})).size(), 4u);
  EXPECT_EQ(take(database->getRecords({"", "cuda", ""})).size(), 4u);
  EXPECT_EQ(take(database->getRecords({"a", "", "y"})).size(), 2u);
  EXPECT_EQ(take(database->getRecords({"b", "cuda", "y"})).size(), 1u);
  EXPECT_EQ(take(database->getRecords({"c", "", ""})).size(), 0u);
}

TEST_F(DatabaseTest, TheOldestComeFirst) {
  auto database = open("a.db");
  take(database->add(makeTask()));
  const char *times[] = {"2026-11-23T04:05:07Z", "2026-11-23T04:05:06Z",
                         "2026-11-23T04:05:07Z", "2026-11-23T04:05:06Z"};
  for (auto [i, when] : llvm::enumerate(times)) {
    Record record = makeRecord(int(i));
    record.when = when;
    take(database->add(record));
  }
  std::vector<std::string> order;
  for (const Record &record : take(database->getRecords({})))
    order.push_back(record.schedule.substr(22, 1));
  EXPECT_EQ(order, (std::vector<std::string>{"1", "3", "0", "2"}));
}

TEST_F(DatabaseTest, TheBestIsOfAFinalComparison) {
  auto database = open("a.db");
  take(database->add(makeTask()));
  TaskId task = makeRecord(0).task;
  EXPECT_FALSE(take(database->getBest(task)).has_value());
  auto add = [&](int number, Outcome outcome, double median, bool isFinal) {
    Record record = makeRecord(number);
    record.outcome = outcome;
    record.median = record.low = record.high = median;
    record.isFinal = isFinal;
    take(database->add(record));
  };
  add(1, Outcome::Wrong, 0.01, true);
  add(2, Outcome::Slow, 0.02, false);
  EXPECT_FALSE(take(database->getBest(task)).has_value());
  add(3, Outcome::Measured, 0.5, false);
  add(4, Outcome::Measured, 0.4, false);
  EXPECT_EQ(take(database->getBest(task))->schedule, makeRecord(4).schedule);
  add(5, Outcome::Measured, 0.45, true);
  add(6, Outcome::Measured, 0.43, true);
  EXPECT_EQ(take(database->getBest(task))->schedule, makeRecord(6).schedule);
  EXPECT_FALSE(
      take(database->getBest({task.key, task.target, "sm_80"})).has_value());
  // Another device of the same chip.
  Record record = makeRecord(7);
  record.environment.device = "NVIDIA H100 PCIe";
  record.isFinal = false;
  take(database->add(record));
  EXPECT_EQ(take(database->getBest(task, "NVIDIA H100 PCIe"))->schedule,
            record.schedule);
  EXPECT_EQ(take(database->getBest(task, "NVIDIA H200"))->schedule,
            makeRecord(6).schedule);
  EXPECT_EQ(take(database->getBest(task))->schedule, makeRecord(6).schedule);
  EXPECT_FALSE(take(database->getBest(task, "NVIDIA A40")).has_value());
}

TEST_F(DatabaseTest, TheBestIsOfOneEnvironment) {
  auto database = open("a.db");
  take(database->add(makeTask()));
  TaskId task = makeRecord(0).task;
  int number = 0;
  auto add = [&](std::string Environment::*field, const std::string &value,
                 double median, bool isFinal, const std::string &when) {
    Record record = makeRecord(++number);
    record.environment.*field = value;
    record.median = record.low = record.high = median;
    record.isFinal = isFinal;
    record.when = when;
    take(database->add(record));
    return record.schedule;
  };
  std::string day1 = "2026-11-21T00:00:00Z", day2 = "2026-11-22T00:00:00Z",
              day3 = "2026-11-23T00:00:00Z";
  std::string own = add(&Environment::device, "NVIDIA H200", 0.5, true, day2);
  // Each is faster, and is not comparable.
  add(&Environment::device, "NVIDIA H100 PCIe", 0.1, true, day1);
  add(&Environment::host, "another", 0.1, true, day1);
  add(&Environment::build, "other", 0.1, true, day1);
  add(&Environment::driver, "1", 0.1, true, day1);
  add(&Environment::features, "xnack-", 0.1, true, day1);
  EXPECT_EQ(take(database->getBest(task))->schedule, own);
  EXPECT_EQ(take(database->getBest(task, "NVIDIA H200"))->schedule, own);
  // No final comparison.
  add(&Environment::build, "other", 0.05, false, day3);
  EXPECT_EQ(take(database->getBest(task))->schedule, own);
  // A later one counts, be it slower.
  std::string later = add(&Environment::build, "newer", 0.6, true, day3);
  EXPECT_EQ(take(database->getBest(task))->schedule, later);
  add(&Environment::device, "NVIDIA H100 PCIe", 0.7, true,
      "2026-11-24T00:00:00Z");
  EXPECT_EQ(take(database->getBest(task, "NVIDIA H200"))->schedule, later);
}

TEST_F(DatabaseTest, RecordsComparedWithWrongNumbersAreInvalidated) {
  auto database = open("a.db"), copy = open("b.db");
  take(database->add(makeTask()));
  TaskId task = makeRecord(0).task;
  Environment environment = makeRecord(0).environment;
  for (int number = 0; number < 6; ++number) {
    Record record = makeRecord(number);
    record.low = record.high = record.median;
    if (number == 1)
      record.outcome = Outcome::Slow;
    if (number == 2)
      record.outcome = Outcome::Crashed;
    if (number == 3)
      record.environment.host = "another";
    if (number == 4)
      record.environment.build = "another";
    if (number == 5)
      record.environment.device = "another";
    EXPECT_TRUE(take(database->add(record)));
  }
  take(copy->merge(*database));
  // One schedule of them.
  EXPECT_EQ(take(database->invalidate(task, environment, makeRecord(0).schedule,
                                      "late")),
            1u);
  EXPECT_EQ(take(database->invalidate(task, environment, makeRecord(0).schedule,
                                      "late")),
            0u);
  // All that were compared with the same numbers.
  EXPECT_EQ(take(database->invalidate(task, environment, std::nullopt, "own")),
            2u);
  auto check = [&](Database &checked) {
    std::vector<Record> records = take(checked.getRecords(task));
    ASSERT_EQ(records.size(), 6u);
    for (const Record &record : records) {
      int number = 0;
      while (makeRecord(number).schedule != record.schedule)
        ++number;
      bool isInvalid = number == 0 || number == 1 || number == 3;
      EXPECT_EQ(record.outcome == Outcome::Wrong, isInvalid) << number;
      EXPECT_EQ(isInvalidated(record), isInvalid) << number;
      EXPECT_EQ(record.times.empty(), isInvalid) << number;
      if (isInvalid)
        EXPECT_EQ(record.error,
                  number == 0 ? "invalidated: late" : "invalidated: own");
    }
  };
  check(*database);
  // Copies from before do not come back, and are invalidated elsewhere.
  EXPECT_EQ(take(database->merge(*copy)).records, 0u);
  check(*database);
  EXPECT_EQ(take(copy->merge(*database)).records, 3u);
  check(*copy);
  EXPECT_EQ(take(database->getBest(task))->environment.build, "another");
}

TEST_F(DatabaseTest, InvalidRecordsAreRejected) {
  auto database = open("a.db");
  EXPECT_NE(getError(database->add(makeRecord(1)))
                .find("unknown task 00112233445566aa"),
            std::string::npos);
  take(database->add(makeTask()));
  Record record = makeRecord(1);
  record.run = 7;
  EXPECT_NE(getError(database->add(record)).find("unknown run 7"),
            std::string::npos);
  auto reject = [&](auto change, const char *why) {
    Record record = makeRecord(1);
    change(record);
    EXPECT_NE(getError(database->add(record)).find(why), std::string::npos)
        << why;
  };
  reject([](Record &r) { r.median = 0; }, "'median' is not positive");
  reject([](Record &r) { r.median = NAN; }, "'median' is not a time");
  reject([](Record &r) { r.low = r.median * 2; }, "not between");
  reject([](Record &r) { r.expected = INFINITY; }, "'expected_ms'");
  reject([](Record &r) { r.warmMedian = r.warmHigh = NAN; }, "'warm_median'");
  reject([](Record &r) { r.warmMedian = 1; }, "'warm_median' is not between");
  reject([](Record &r) { r.compileTime = -1; }, "'compile_ms'");
  reject([](Record &r) { r.times = {1, NAN}; }, "'times[1]'");
  reject([](Record &r) { r.task.key = ""; }, "missing task");
  Baseline baseline = makeBaseline();
  baseline.median = 0;
  EXPECT_NE(getError(database->add(baseline)).find("'median'"),
            std::string::npos);
  EXPECT_EQ(take(database->getRecords({})).size(), 0u);
  EXPECT_EQ(take(database->getBaselines({})).size(), 0u);
}

TEST_F(DatabaseTest, MissingFieldsAreFilledIn) {
  auto database = open("a.db");
  take(database->add(makeTask()));
  Record record = makeRecord(1);
  record.outcome = Outcome::Crashed;
  record.error = "died: \xff\xfe.";
  record.when = "";
  std::string before = getTimestamp();
  take(database->add(record));
  Record read = take(database->getRecords({})).at(0);
  EXPECT_EQ(read.error, "died: \xef\xbf\xbd\xef\xbf\xbd.");
  EXPECT_LE(before, read.when);
  EXPECT_LE(read.when, getTimestamp());
}

TEST_F(DatabaseTest, ATransactionIsAllOrNothing) {
  auto database = open("a.db");
  std::string message = llvm::toString(database->transact([&]() -> llvm::Error {
    take(database->add(makeTask()));
    take(database->add(makeRecord(1)));
    EXPECT_EQ(take(database->getRecords({})).size(), 1u);
    // One inside is a part of it.
    EXPECT_FALSE(database->transact([&]() -> llvm::Error {
      take(database->add(makeRecord(2)));
      return llvm::Error::success();
    }));
    return llvm::createStringError("changed my mind");
  }));
  EXPECT_EQ(message, "changed my mind");
  EXPECT_EQ(take(database->getTasks()).size(), 0u);
  EXPECT_EQ(take(database->getRecords({})).size(), 0u);
  EXPECT_FALSE(database->transact([&]() -> llvm::Error {
    take(database->add(makeTask()));
    take(database->add(makeRecord(1)));
    return llvm::Error::success();
  }));
  EXPECT_EQ(take(open("a.db", Mode::Read)->getRecords({})).size(), 1u);
}

//===----------------------------------------------------------------------===//
// Several writers, and their ends
//===----------------------------------------------------------------------===//

TEST_F(DatabaseTest, TwoProcessesWriteAtTheSameTime) {
  constexpr int each = 500;
  std::vector<pid_t> children;
  for (int child = 0; child < 2; ++child) {
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      // Both make the file, and the task.
      auto database = Database::open(getPath("a.db"), Mode::Write);
      bool isDone = bool(database) && bool((*database)->add(makeTask()));
      for (int i = 0; isDone && i < each; ++i) {
        auto isNew = (*database)->add(makeRecord(child * each + i));
        isDone = isNew && *isNew;
      }
      _exit(isDone ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  auto database = open("a.db", Mode::Read);
  std::set<std::string> schedules;
  for (const Record &record : take(database->getRecords({})))
    schedules.insert(record.schedule);
  EXPECT_EQ(schedules.size(), size_t(2 * each));
  EXPECT_EQ(take(database->getTasks()).size(), 1u);
  EXPECT_EQ(count(getPath("a.db"), "SELECT count(*) FROM environments"), 1);
}

TEST_F(DatabaseTest, ThreadsShareOne) {
  auto database = open("a.db");
  take(database->add(makeTask()));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(take(database->add(makeRecord(thread * 10 + i))));
        EXPECT_FALSE(take(database->getRecords({})).empty());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(take(database->getRecords({})).size(), 40u);
}

TEST_F(DatabaseTest, NothingIsLostWhenAProcessIsKilled) {
  constexpr int rounds = 15;
  std::set<std::string> reported;
  for (int round = 0; round < rounds; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto database = Database::open(getPath("a.db"), Mode::Write);
      if (!database || !(*database)->add(makeTask()))
        _exit(1);
      for (int32_t i = round * 1000000;; ++i)
        if (!(*database)->add(makeRecord(i)) ||
            ::write(ends[1], &i, sizeof(i)) != sizeof(i))
          _exit(1);
    }
    close(ends[1]);
    // Once it writes, it is killed some time or other, in the middle of it.
    int32_t number = 0;
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(read(ends[0], &number, sizeof(number)),
                ssize_t(sizeof(number)));
      reported.insert(makeRecord(number).schedule);
    }
    usleep(round * 1733 % 25000);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    while (read(ends[0], &number, sizeof(number)) == sizeof(number))
      reported.insert(makeRecord(number).schedule);
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    // The reader is first, every other time.
    auto database = open("a.db", round % 2 ? Mode::Read : Mode::Write);
    ASSERT_TRUE(database);
    std::set<std::string> found;
    for (const Record &record : take(database->getRecords({})))
      found.insert(record.schedule);
    for (const std::string &schedule : reported)
      EXPECT_TRUE(found.count(schedule)) << schedule;
    // The one whose `add` had not returned may be there or not.
    EXPECT_LE(found.size(), reported.size() + round + 1);
  }
  EXPECT_GE(reported.size(), size_t(3 * rounds));
  EXPECT_EQ(count(getPath("a.db"),
                  "SELECT count(*) FROM pragma_integrity_check WHERE "
                  "integrity_check = 'ok'"),
            1);
}

TEST_F(DatabaseTest, ReadingTakesBackWhatWasLeftUnfinished) {
  take(open("a.db")->add(makeTask()));
  // A journal of a change that did not come to its end, as it lies there when
  // its process was killed while the file was being written.
  std::string path = getPath("a.db"), copy = getPath("b.db");
  sqlite3 *handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle,
                         "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN "
                         "EXCLUSIVE; DELETE FROM tasks; CREATE TABLE more (x); "
                         "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x "
                         "+ 1 FROM c LIMIT 20000) INSERT INTO more SELECT x "
                         "FROM c",
                         nullptr, nullptr, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(handle);
  ASSERT_FALSE(llvm::sys::fs::copy_file(path, copy));
  ASSERT_FALSE(llvm::sys::fs::copy_file(path + "-journal", copy + "-journal"));
  sqlite3_close(handle);
  uint64_t size = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(copy, size));
  EXPECT_GT(size, 100000u);
  auto tasks = take(open("b.db", Mode::Read)->getTasks());
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tie(tasks[0]), tie(makeTask()));
  ASSERT_FALSE(llvm::sys::fs::file_size(copy, size));
  EXPECT_LT(size, 100000u + 1);
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

TEST_F(DatabaseTest, MergingTwiceIsMergingOnce) {
  auto left = open("left.db"), right = open("right.db");
  for (Database *database : {left.get(), right.get()}) {
    take(database->add(makeTask()));
    Record shared = makeRecord(0);
    take(database->add(shared));
  }
  // Run 1 of the one is not run 1 of the other.
  Record record = makeRecord(1);
  record.run = take(left->beginRun("left", ""));
  take(left->add(record));
  take(left->beginRun("left again", ""));
  record.run = take(right->beginRun("right", ""));
  take(right->add(record));
  Baseline baseline = makeBaseline();
  baseline.run = record.run;
  take(right->add(baseline));
  take(right->add(makeTask("another")));

  Added added = take(left->merge(*right));
  EXPECT_EQ(added.tasks, 1u);
  EXPECT_EQ(added.runs, 1u);
  EXPECT_EQ(added.records, 1u);
  EXPECT_EQ(added.baselines, 1u);
  auto check = [&] {
    EXPECT_EQ(take(left->getTasks()).size(), 2u);
    auto records = take(left->getRecords({}));
    ASSERT_EQ(records.size(), 3u);
    auto runs = take(left->getRuns());
    ASSERT_EQ(runs.size(), 3u);
    EXPECT_EQ(records[1].run, runs[0].number);
    EXPECT_EQ(records[2].run, runs[2].number);
    EXPECT_EQ(runs[2].command, "right");
    EXPECT_EQ(take(left->getBaselines({})).at(0).run, runs[2].number);
  };
  check();
  for (int i = 0; i < 2; ++i) {
    // Also with itself, by another handle.
    auto other = i == 0 ? std::move(right) : open("left.db", Mode::Read);
    added = take(left->merge(*other));
    EXPECT_EQ(added.tasks + added.runs + added.records + added.baselines, 0u);
    check();
  }
}

//===----------------------------------------------------------------------===//
// Files that are not Tessera databases
//===----------------------------------------------------------------------===//

TEST_F(DatabaseTest, AFileThatIsNoDatabase) {
  write("text.db", "This is not a database, but a text that is long enough to "
                   "have a heading of a hundred bytes, which it has not.\n");
  write("empty.db", "");
  for (Mode mode : {Mode::Read, Mode::Write})
    EXPECT_EQ(getOpenError("text.db", mode),
              "'" + getPath("text.db") +
                  "' is not a tuning database (nor another SQLite database)");
  EXPECT_NE(getOpenError("empty.db", Mode::Read)
                .find("it is an empty file, not a tuning database"),
            std::string::npos);
  EXPECT_EQ(getOpenError("empty.db", Mode::Write), "");

  execute(getPath("other.db"), "CREATE TABLE songs (name)");
  for (Mode mode : {Mode::Read, Mode::Write})
    EXPECT_NE(getOpenError("other.db", mode).find("of another program"),
              std::string::npos);
  EXPECT_EQ(count(getPath("other.db"), "SELECT count(*) FROM sqlite_master"),
            1);

  EXPECT_EQ(getOpenError("none.db", Mode::Read),
            "'" + getPath("none.db") + "' does not exist; check its name");
  EXPECT_FALSE(llvm::sys::fs::exists(getPath("none.db")));
  EXPECT_NE(
      getOpenError("none/a.db", Mode::Write).find("No such file or directory"),
      std::string::npos);
  EXPECT_NE(getOpenError("", Mode::Write).find("is a folder"),
            std::string::npos);
}

TEST_F(DatabaseTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(getPath("pipe").c_str(), 0600), 0);
  for (Mode mode : {Mode::Read, Mode::Write})
    EXPECT_EQ(getOpenError("pipe", mode),
              "'" + getPath("pipe") + "' is not a regular file");
}

TEST_F(DatabaseTest, ANewerVersion) {
  take(open("a.db")->add(makeTask()));
  execute(getPath("a.db"), "PRAGMA user_version = 4");
  for (Mode mode : {Mode::Read, Mode::Write})
    EXPECT_NE(
        getOpenError("a.db", mode)
            .find("a tuning database of version 4, but this build supports "
                  "3 and earlier"),
        std::string::npos);
  execute(getPath("a.db"), "PRAGMA user_version = 3");
  EXPECT_EQ(take(open("a.db", Mode::Read)->getTasks()).size(), 1u);
}

static constexpr const char dropWarmTimes[] =
    "ALTER TABLE records DROP COLUMN warm_median; "
    "ALTER TABLE records DROP COLUMN warm_low; "
    "ALTER TABLE records DROP COLUMN warm_high;";

TEST_F(DatabaseTest, Version2IsReadAndMigrated) {
  std::string path = getPath("a.db");
  {
    auto database = open("a.db");
    take(database->add(makeTask()));
    take(database->add(makeRecord(1)));
  }
  execute(path, dropWarmTimes);
  execute(path, "PRAGMA user_version = 2");
  auto records = take(open("a.db", Mode::Read)->getRecords({}));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(tie(records[0]), tie(makeRecord(1)));
  auto database = open("a.db");
  EXPECT_EQ(count(path, "PRAGMA user_version"), 3);
  Record warm = makeRecord(1);
  warm.warmMedian = 0.25;
  warm.warmLow = 0.125;
  warm.warmHigh = 0.5;
  // The record without the times is another one, and has its former digest.
  EXPECT_TRUE(take(database->add(warm)));
  EXPECT_FALSE(take(database->add(warm)));
  EXPECT_FALSE(take(database->add(makeRecord(1))));
  records = take(database->getRecords({}));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(tie(records[0]), tie(makeRecord(1)));
  EXPECT_EQ(tie(records[1]), tie(warm));
}

TEST_F(DatabaseTest, TheBestIsOfColdAndWarmTimes) {
  auto database = open("a.db");
  take(database->add(makeTask()));
  TaskId task = makeRecord(0).task;
  int number = 0;
  auto add = [&](double cold, double warm, const std::string &build) {
    Record record = makeRecord(++number);
    record.environment.build = build;
    record.median = record.low = record.high = cold;
    record.warmMedian = record.warmLow = record.warmHigh = warm;
    record.isFinal = true;
    take(database->add(record));
    return record.schedule;
  };
  // The cold times are those of the second, the geometric mean that of the
  // first.
  std::string both = add(0.5, 0.2, "1");
  add(0.4, 0.3, "1");
  EXPECT_EQ(take(database->getBest(task))->schedule, both);
  // Cold times decide if one has no others.
  std::string cold = add(0.3, 0, "1");
  EXPECT_EQ(take(database->getBest(task))->schedule, cold);
}

TEST_F(DatabaseTest, AnOlderVersionIsReadAndMigrated) {
  std::string path = getPath("a.db");
  {
    auto database = open("a.db");
    take(database->add(makeTask()));
    take(database->add(makeRecord(1)));
  }
  execute(path, dropWarmTimes);
  execute(path, "ALTER TABLE tasks DROP COLUMN flags; "
                "PRAGMA user_version = 1");
  constexpr const char version[] = "PRAGMA user_version";
  // Reading does not change it.
  auto tasks = take(open("a.db", Mode::Read)->getTasks());
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tie(tasks[0]), tie(makeTask()));
  EXPECT_EQ(count(path, version), 1);
  // A reader that has it open goes on after the migration.
  auto reader = open("a.db", Mode::Read);
  auto database = open("a.db");
  EXPECT_EQ(count(path, version), 3);
  TaskText other = makeTask("ffff");
  other.flags = "vthread-order=depth_first";
  EXPECT_TRUE(take(database->add(other)));
  for (Database *each : {database.get(), reader.get()}) {
    tasks = take(each->getTasks());
    ASSERT_EQ(tasks.size(), 2u);
    EXPECT_EQ(tie(tasks[0]), tie(makeTask()));
    EXPECT_EQ(tie(tasks[1]), tie(other));
  }
  auto records = take(database->getRecords({}));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(tie(records[0]), tie(makeRecord(1)));
}

TEST_F(DatabaseTest, ReadingDoesNotWrite) {
  take(open("a.db")->add(makeTask()));
  auto database = open("a.db", Mode::Read);
  EXPECT_NE(getError(database->add(makeRecord(1))).find("cannot be written"),
            std::string::npos);
  EXPECT_EQ(take(database->getRecords({})).size(), 0u);
}

TEST_F(DatabaseTest, DamageIsReported) {
  {
    auto database = open("a.db");
    take(database->add(makeTask()));
    take(database->add(makeRecord(1)));
  }
  execute(getPath("a.db"), "UPDATE records SET outcome = 'fine'");
  EXPECT_NE(getError(open("a.db")->getRecords({})).find("outcome 'fine'"),
            std::string::npos);
  execute(getPath("a.db"),
          "UPDATE records SET outcome = 'measured', times = '[1, \"x\"]'");
  EXPECT_NE(getError(open("a.db")->getRecords({})).find("corrupt: the times"),
            std::string::npos);
}

} // namespace
