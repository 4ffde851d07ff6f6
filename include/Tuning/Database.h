//===- Database.h - Where tuning keeps what it found ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of SQLite's, which several processes may write at a time, and of which
// nothing that `add` has returned from is lost when a process is killed.
// docs/Tuning.md describes the tables.
//
// Every process opens it for itself: an open one does not survive a fork.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_DATABASE_H
#define TUNING_DATABASE_H

#include "Tuning/Record.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir::tessera::tuning {

/// The task that a key identifies.
struct TaskText {
  std::string key;
  /// The program (`getTaskText`).
  std::string text;
  /// The flags that it is compiled with, if they change its code
  /// (`listCodeFlags`).
  std::string flags;
  /// "4096x4096x4096 bf16 x bf16 -> bf16".
  std::string description;
  /// Multiplications and additions, and bytes of all arrays, of one run; 0
  /// where unknown.
  double operations = 0, bytes = 0;
  /// The type whose peak rate is the task's roof, as `findRoof` takes it
  /// ("bf16", "tf32"); empty where unknown.
  std::string rateType;
};

/// A run of the tuner.
struct Run {
  /// Its number in this database.
  int64_t number = 0;
  /// 32 digits that no other run has, in any database.
  std::string identity;
  /// Its command line, and what it decided by (JSON).
  std::string command, settings;
  /// When it began: UTC, as `getTimestamp` returns it.
  std::string when;
};

/// The number of added records of each kind.
struct Added {
  size_t tasks = 0, runs = 0, records = 0, baselines = 0;
};

/// The measured record of the least median, or null. Only records of one
/// environment are compared with each other: the same device, driver, features,
/// build and host. That is the one whose final comparison is the latest, or
/// whose record is where there was no final comparison. A record of a final
/// comparison comes before all others: its time is comparable with the
/// compiler's own choice, which is among the candidates. `device`: the
/// environment must be of it, unless it is empty.
const Record *pickBest(llvm::ArrayRef<Record> records, llvm::StringRef device);

/// Whether `Database::invalidate` has changed the record, or would change one
/// of this environment.
bool isInvalidated(const Record &record);
/// Makes the record `wrong`.
void invalidate(Record &record, llvm::StringRef why);
bool isOfSameBuild(const Environment &one, const Environment &other);

/// Several threads may call an open one.
class Database {
public:
  /// `Read` changes nothing; but for what a killed process has left unfinished,
  /// which is taken back.
  enum class Mode { Read, Write };

  /// `Write` makes the file if there is none. Errors name the file and the
  /// problem: it cannot be opened, is not a database, has a later version.
  static llvm::Expected<std::unique_ptr<Database>> open(llvm::StringRef path,
                                                        Mode mode);
  ~Database();
  Database(const Database &) = delete;
  Database &operator=(const Database &) = delete;

  /// Adds a run of the tuner and returns its number. `command` is its command
  /// line, `settings` what it decided by (JSON).
  llvm::Expected<int64_t> beginRun(llvm::StringRef command,
                                   llvm::StringRef settings);
  /// Adds a run of another database, unless one of its identity is there.
  /// Returns its number in this one; `run.number` is ignored.
  llvm::Expected<int64_t> add(const Run &run);

  /// Each of them is on disk when it returns, and returns whether it was not
  /// there before: a task is known by its key, the others by all of their
  /// fields. The task, and the run unless it is 0, have to be there. A record
  /// without a `when` gets the present time. Invalid UTF-8 is replaced.
  llvm::Expected<bool> add(const TaskText &task);
  llvm::Expected<bool> add(const Record &record);
  llvm::Expected<bool> add(const Baseline &baseline);

  /// Adds all entries of `body` as one transaction, or none if it returns an
  /// error. `body` reads one consistent state. Other writers wait meanwhile. A
  /// nested call is a part of the outer transaction.
  llvm::Error transact(llvm::function_ref<llvm::Error()> body);

  llvm::Expected<std::vector<Run>> getRuns();
  llvm::Expected<std::vector<TaskText>> getTasks();
  /// All of a task, the oldest first. An empty key, target or chip stands for
  /// every one.
  llvm::Expected<std::vector<Record>> getRecords(const TaskId &task);
  llvm::Expected<std::vector<Baseline>> getBaselines(const TaskId &task);

  /// `pickBest` of a task's records.
  llvm::Expected<std::optional<Record>> getBest(const TaskId &task,
                                                llvm::StringRef device = "");

  /// Invalidates records whose reference, or which themselves, proved wrong:
  /// those of the task that are `measured` or `slow` become `wrong`, without
  /// times, with the error "invalidated: WHY". That is those of the same
  /// device, driver, features and build, on whatever host and in whatever run;
  /// only those of one schedule unless `schedule` is absent. Returns their
  /// number.
  llvm::Expected<size_t> invalidate(const TaskId &task,
                                    const Environment &environment,
                                    std::optional<llvm::StringRef> schedule,
                                    llvm::StringRef why);

  /// Takes over what `other` has and this one has not.
  llvm::Expected<Added> merge(Database &other);

private:
  class Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_DATABASE_H
