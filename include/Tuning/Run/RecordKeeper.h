//===- RecordKeeper.h - Writes records to the database -----*- C++ -*------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A full disk, or a database that cannot be written any more, does not end a
// run: records that could not be written wait in memory, and are retried with
// each further entry and at the end.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_RECORDKEEPER_H
#define TUNING_RUN_RECORDKEEPER_H

#include "Tuning/Database.h"

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <variant>

namespace tessera::tuning {

namespace tuning = mlir::tessera::tuning;

class RecordKeeper {
public:
  /// `say` prints a line.
  RecordKeeper(mlir::tessera::tuning::Database &database,
               std::function<void(const std::string &)> say)
      : database(database), say(std::move(say)) {}

  using Entry = std::variant<mlir::tessera::tuning::Record,
                             mlir::tessera::tuning::Baseline>;

  /// Keeps an entry until the next `flush`.
  void add(Entry entry) {
    waiting.push_back(std::move(entry));
    isNew = true;
  }

  /// As `Database::invalidate`, with the records that wait.
  void invalidate(const mlir::tessera::tuning::TaskId &task,
                  const mlir::tessera::tuning::Environment &environment,
                  std::optional<llvm::StringRef> schedule,
                  const std::string &why);

  /// Writes what waits, in the order in which it came, as one transaction: the
  /// disk is synchronized once. False if something still waits.
  bool flush();
  /// The same if there are entries since the last attempt, and that was four
  /// times as long ago as it took: a run must not wait for a slow disk most of
  /// the time.
  void flushNew() {
    if (isNew && Clock::now() >= nextFlush)
      flush();
  }

  size_t countWaiting() const { return waiting.size(); }

private:
  using Clock = std::chrono::steady_clock;

  mlir::tessera::tuning::Database &database;
  std::function<void(const std::string &)> say;
  std::deque<Entry> waiting;
  bool isNew = false;
  Clock::time_point nextFlush;
  /// Whether pending records were reported.
  bool isReported = false;
};

} // namespace tessera::tuning

#endif // TUNING_RUN_RECORDKEEPER_H
