//===- TuningTest.h - Helpers of the tuning tests ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_TUNING_TUNINGTEST_H
#define UNITTESTS_TUNING_TUNINGTEST_H

#include "Tuning/Database.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <tuple>

namespace mlir::tessera::tuning {

inline auto tie(const TaskId &id) {
  return std::tie(id.key, id.target, id.chip);
}
inline auto tie(const Environment &e) {
  return std::tie(e.device, e.driver, e.compiler, e.build, e.host, e.features);
}
/// All but the run, whose number is the database's own.
inline auto tie(const Record &r) {
  return std::tuple_cat(tie(r.task), tie(r.environment),
                        std::tie(r.schedule, r.chosen, r.outcome, r.error,
                                 r.times, r.median, r.low, r.high, r.warmMedian,
                                 r.warmLow, r.warmHigh, r.clockBefore,
                                 r.clockAfter, r.compileTime, r.expected,
                                 r.isFinal, r.when));
}
inline auto tie(const Baseline &b) {
  return std::tuple_cat(
      tie(b.task), tie(b.environment),
      std::tie(b.library, b.times, b.median, b.low, b.high, b.when));
}
inline auto tie(const TaskText &t) {
  return std::tie(t.key, t.text, t.description, t.operations, t.bytes,
                  t.rateType, t.flags);
}
inline auto tie(const Run &r) {
  return std::tie(r.identity, r.command, r.settings, r.when);
}

/// Has a folder of its own, and databases in it.
class TuningTest : public ::testing::Test {
protected:
  using Mode = Database::Mode;

  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-tuning", path));
    folder = std::string(path);
  }
  void TearDown() override {
    EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
  }

  std::string getPath(const std::string &name) { return folder + "/" + name; }

  std::unique_ptr<Database> open(const std::string &name,
                                 Mode mode = Mode::Write) {
    auto database = Database::open(getPath(name), mode);
    if (!database)
      ADD_FAILURE() << llvm::toString(database.takeError());
    return database ? std::move(*database) : nullptr;
  }

  /// The message of a file that cannot be opened.
  std::string getOpenError(const std::string &name, Mode mode) {
    auto database = Database::open(getPath(name), mode);
    return database ? "" : llvm::toString(database.takeError());
  }

  void write(const std::string &name, llvm::StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream stream(getPath(name), error);
    ASSERT_FALSE(error);
    stream << bytes;
  }

  /// The expected value; reports a failure if there is none.
  template <typename T> static T take(llvm::Expected<T> value) {
    if (value)
      return std::move(*value);
    ADD_FAILURE() << llvm::toString(value.takeError());
    return T();
  }
  template <typename T> static std::string getError(llvm::Expected<T> value) {
    return value ? "" : llvm::toString(value.takeError());
  }

  static TaskText makeTask(const std::string &key = "00112233445566aa") {
    TaskText task;
    task.key = key;
    task.text = "func.func @main() {\n  \"quoted\"\n}\n";
    task.description = "4096x4096x4096 bf16 x bf16 -> bf16";
    task.operations = 137438953472.0;
    task.bytes = 100663296.0;
    task.rateType = "bf16";
    return task;
  }

  /// One with something in every field; `number` sets it apart.
  static Record makeRecord(int number) {
    Record record;
    record.task = {"00112233445566aa", "cuda", "sm_90a"};
    record.environment = {"NVIDIA H200", "580.159",    "Tessera 0.1.0",
                          "a1b2c3",      "a \"host\"", "xnack+"};
    record.schedule = "#tessera.schedule<k = " + std::to_string(number) + ">";
    record.chosen = "#tessera.schedule<k = 1>";
    record.error = "";
    record.times = {0.1 + number, 1.0 / 3, 0.2};
    record.median = 1.0 / 3;
    record.low = 0.2;
    record.high = 0.1 + 0.3 + number;
    record.clockBefore = 1980;
    record.clockAfter = 1755;
    record.compileTime = 123.456;
    record.expected = 1e-9 / 7;
    record.isFinal = number % 2 == 0;
    record.when = "2026-11-23T04:05:06Z";
    return record;
  }

  static Baseline makeBaseline() {
    Baseline baseline;
    baseline.task = {"00112233445566aa", "cuda", "sm_90a"};
    baseline.environment = makeRecord(0).environment;
    baseline.library = "cuBLASLt 13.0.2";
    baseline.times = {0.25, 2.0 / 3, 0.5};
    baseline.median = 0.5;
    baseline.low = 0.25;
    baseline.high = 2.0 / 3;
    baseline.when = "2026-11-23T04:05:07Z";
    return baseline;
  }

  std::string folder;
};

} // namespace mlir::tessera::tuning

#endif // UNITTESTS_TUNING_TUNINGTEST_H
