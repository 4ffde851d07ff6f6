//===- InterchangeTest.cpp - A database as lines of JSON ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningTest.h"

#include "Tuning/Interchange.h"

#include "llvm/Support/Path.h"

#include <cfloat>

using namespace mlir::tessera::tuning;

namespace {

constexpr const char header[] = "{\"format\":\"tessera-tuning\",\"version\":1}";

class InterchangeTest : public TuningTest {
protected:
  std::string exportAll(Database &database) {
    std::string text;
    llvm::raw_string_ostream os(text);
    EXPECT_EQ(llvm::toString(exportLines(database, os)), "");
    return text;
  }
  std::string getImportError(const std::string &text) {
    auto database = open("refused.db");
    std::string error = getError(importLines(*database, text, "in.jsonl"));
    // Nothing of it has come in.
    EXPECT_EQ(take(database->getTasks()).size(), 0u) << text;
    return error;
  }
};

TEST_F(InterchangeTest, ThereAndBack) {
  auto from = open("from.db");
  take(from->add(makeTask()));
  TaskText other = makeTask("ffff");
  other.operations = DBL_MAX;
  other.bytes = DBL_MIN / 4;
  other.flags = "vthread-order=groups(2)";
  take(from->add(other));
  take(from->beginRun("first", "{}"));
  Record record = makeRecord(1);
  record.run = take(from->beginRun("gpu-tune run \"x\"\n", "{\"a\": [1]}"));
  record.times = {0.1, 1.0 / 3, 1e-300, 5e-324, 123456789.123456789, 0};
  record.error = "a\tb\\ \"c\" \x01 \xc3\xa9";
  record.warmMedian = record.warmHigh = 1.0 / 7;
  take(from->add(record));
  Record plain;
  plain.task = {"ffff", "cpu", "x86-64-avx512"};
  plain.outcome = Outcome::Hung;
  plain.when = "2026-11-23T04:05:06Z";
  take(from->add(plain));
  Baseline baseline = makeBaseline();
  baseline.run = record.run;
  take(from->add(baseline));

  std::string text = exportAll(*from);
  EXPECT_EQ(llvm::StringRef(text).count('\n'), 8u);
  EXPECT_EQ(text.substr(0, sizeof(header)), std::string(header) + "\n");
  // A version without flags reads the tasks that have none, and one without
  // times with warm caches the records that have none.
  EXPECT_EQ(llvm::StringRef(text).count("\"warm_median\""), 1u);
  EXPECT_EQ(llvm::StringRef(text).count("\"flags\""), 1u);

  auto to = open("to.db");
  // Its first run is another one.
  take(to->beginRun("of its own", ""));
  Added added = take(importLines(*to, text, "in.jsonl"));
  EXPECT_EQ(added.tasks, 2u);
  EXPECT_EQ(added.runs, 2u);
  EXPECT_EQ(added.records, 2u);
  EXPECT_EQ(added.baselines, 1u);
  auto tasks = take(to->getTasks());
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tie(tasks[0]), tie(makeTask()));
  EXPECT_EQ(tie(tasks[1]), tie(other));
  auto runs = take(to->getRuns());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(tie(runs[2]), tie(take(from->getRuns()).at(1)));
  auto records = take(to->getRecords({}));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(tie(records[0]), tie(record));
  EXPECT_EQ(records[0].run, runs[2].number);
  EXPECT_EQ(tie(records[1]), tie(plain));
  EXPECT_EQ(records[1].run, 0);
  auto baselines = take(to->getBaselines({}));
  ASSERT_EQ(baselines.size(), 1u);
  EXPECT_EQ(tie(baselines[0]), tie(baseline));
  EXPECT_EQ(baselines[0].run, runs[2].number);

  // Once more, and as two texts in one: nothing is new.
  added = take(importLines(*to, text + "\r\n" + text, "in.jsonl"));
  EXPECT_EQ(added.tasks + added.runs + added.records + added.baselines, 0u);
  // A fresh one gives the same text.
  auto fresh = open("fresh.db");
  take(importLines(*fresh, text, "in.jsonl"));
  EXPECT_EQ(exportAll(*fresh), text);
}

TEST_F(InterchangeTest, FieldsThatAreLeftOut) {
  auto database = open("a.db");
  std::string text =
      std::string(header) +
      "\n{\"kind\":\"task\",\"key\":\"a\"}\n\n"
      "{\"kind\":\"record\",\"task\":\"a\",\"target\":\"cuda\",\"chip\":"
      "\"sm_80\",\"outcome\":\"wrong\",\"when\":\"2026-11-23T04:05:06Z\"}\n";
  Added added = take(importLines(*database, text, "in.jsonl"));
  EXPECT_EQ(added.records, 1u);
  Record record = take(database->getRecords({})).at(0);
  EXPECT_EQ(record.outcome, Outcome::Wrong);
  EXPECT_EQ(record.schedule, "");
  EXPECT_EQ(record.run, 0);
}

TEST_F(InterchangeTest, MalformedLines) {
  std::string task =
      std::string(header) + "\n{\"kind\":\"task\",\"key\":\"a\"}\n";
  std::string start = "{\"kind\":\"record\",\"task\":\"a\",\"target\":\"cuda\","
                      "\"chip\":\"sm_80\",\"when\":\"2026-11-23T04:05:06Z\",";
  auto record = [&](const std::string &fields) {
    return getImportError(task + start + fields + "}\n");
  };
  EXPECT_EQ(record("\"outcome\":\"wrong\",\"median\":\"1\""),
            "in.jsonl:3: 'median' must be a number, not \"1\"");
  EXPECT_EQ(record("\"outcome\":\"wrong\",\"meadian\":1"),
            "in.jsonl:3: unknown field 'meadian': did you mean 'median'?");
  EXPECT_EQ(record("\"outcome\":\"wrong\",\"times\":[1,null]"),
            "in.jsonl:3: 'times' must be an array of numbers, not "
            "[1,null]");
  EXPECT_EQ(record("\"outcome\":\"wrong\",\"run\":2"),
            "in.jsonl:3: no earlier line defines run 2");
  EXPECT_EQ(record("\"outcome\":\"wrong\",\"clock_before\":-1"),
            "in.jsonl:3: 'clock_before' must be a whole number that is not "
            "negative, not -1");
  EXPECT_EQ(record("\"outcome\":\"wrong\",\"final\":1"),
            "in.jsonl:3: 'final' must be true or false, not 1");
  EXPECT_EQ(record("\"outcome\":\"wrog\""),
            "in.jsonl:3: 'outcome' is 'wrog': did you mean 'wrong'?");
  EXPECT_EQ(record("\"schedule\":\"\""), "in.jsonl:3: 'outcome' is missing");
  EXPECT_EQ(record("\"outcome\":\"measured\""),
            "in.jsonl:3: 'median' is not positive");
  EXPECT_EQ(record("\"outcome\":\"wrong\",\"outcome\":\"slow\""),
            "in.jsonl:3: it has 'outcome' twice");
  EXPECT_EQ(getImportError(task + "\n[1]\n"),
            "in.jsonl:4: it is not a JSON object");
  EXPECT_EQ(getImportError(task + "{\"kind\":\"record\"").substr(0, 26),
            "in.jsonl:3: invalid JSON: ");
  EXPECT_EQ(getImportError(task + "{\"kind\":" + std::string(100'000, '[')),
            "in.jsonl:3: invalid JSON: [1:72, byte=71]: values are nested more "
            "than 64 deep");
  EXPECT_EQ(getImportError(task + "{\"kind\":\"recod\"}\n"),
            "in.jsonl:3: its 'kind' is 'recod': did you mean 'record'?");
  EXPECT_EQ(getImportError("{\"kind\":\"task\",\"key\":\"a\"}\n"),
            "in.jsonl:1: the first line must be " + std::string(header));
  EXPECT_EQ(getImportError("{\"format\":\"tessera-tuning\",\"version\":2}\n"),
            "in.jsonl:1: its version is 2, but this build reads version 1");
  EXPECT_EQ(getImportError("{\"format\":\"csv\",\"version\":1}\n"),
            "in.jsonl:1: its format is 'csv', not 'tessera-tuning'");
  EXPECT_EQ(getImportError("\n \n"),
            "in.jsonl: it is empty; gpu-tune export writes such files");
  EXPECT_NE(getImportError(std::string(header) + "\n" + start +
                           "\"outcome\":\"wrong\"}")
                .find("in.jsonl:2: "),
            std::string::npos);
  EXPECT_EQ(getImportError(task + "{\"kind\":\"record\",\"task\":\"a\","
                                  "\"target\":\"t\",\"chip\":\"c\",\"outcome\":"
                                  "\"wrong\",\"when\":\"yesterday\"}"),
            "in.jsonl:3: 'when' must be a time like \"2026-11-23T04:05:06Z\", "
            "not \"yesterday\"");
}

TEST_F(InterchangeTest, FilesIntoADatabase) {
  auto first = open("first.db"), second = open("second.db");
  take(first->add(makeTask()));
  take(second->add(makeTask()));
  take(second->add(makeTask("ffff")));
  write("first.jsonl", exportAll(*first));
  write("second.jsonl", exportAll(*second));
  write("malformed.jsonl", "[]\n");
  std::string log;
  auto report = [&](llvm::StringRef file, const Added &added) {
    log += llvm::sys::path::filename(file).str() + ":" +
           std::to_string(added.tasks) + " ";
  };
  auto getPaths = [&](std::vector<std::string> names) {
    for (std::string &name : names)
      name = getPath(name);
    return names;
  };
  auto countTasks = [&](const std::string &name) {
    return take(open(name, Mode::Read)->getTasks()).size();
  };

  EXPECT_EQ(llvm::toString(
                importFiles(getPath("lines.db"),
                            getPaths({"first.jsonl", "second.jsonl"}), report)),
            "");
  EXPECT_EQ(
      llvm::toString(mergeFiles(getPath("all.db"),
                                getPaths({"first.db", "second.db"}), report)),
      "");
  EXPECT_EQ(log, "first.jsonl:1 second.jsonl:1 first.db:1 second.db:1 ");
  EXPECT_EQ(countTasks("lines.db"), 2u);
  EXPECT_EQ(countTasks("all.db"), 2u);

  // One that cannot be read: no database is made.
  log.clear();
  EXPECT_NE(
      llvm::toString(importFiles(getPath("none.db"),
                                 getPaths({"first.jsonl", "missing"}), report)),
      "");
  EXPECT_NE(llvm::toString(mergeFiles(
                getPath("none.db"), getPaths({"first.db", "missing"}), report)),
            "");
  EXPECT_FALSE(llvm::sys::fs::exists(getPath("none.db")));
  EXPECT_EQ(log, "");
  // One that is malformed: those before it are added.
  EXPECT_EQ(llvm::toString(importFiles(
                getPath("half.db"),
                getPaths({"first.jsonl", "malformed.jsonl", "second.jsonl"}),
                report)),
            getPath("malformed.jsonl") + ":1: it is not a JSON object");
  EXPECT_EQ(log, "first.jsonl:1 ");
  EXPECT_EQ(countTasks("half.db"), 1u);
}

} // namespace
