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
//===----------------------------------------------------------------------===//

#ifndef TUNING_DATABASE_H
#define TUNING_DATABASE_H

#include "Tuning/Record.h"

#include "llvm/Support/Error.h"
#include <functional>
#include <memory>

namespace mlir::tessera::tuning {

/// What a key stands for.
struct TaskText {
  std::string key;
  /// The program (`getTaskText`).
  std::string text;
  /// "4096x4096x4096 bf16 x bf16 -> bf16".
  std::string description;
  /// Multiplications and additions, and bytes of all arrays, of one run; 0
  /// where unknown.
  double operations = 0, bytes = 0;
};

class Database {
public:
  enum class Mode { Read, Write };

  /// `Write` makes the file if there is none. Errors name the file and say what
  /// is wrong: it cannot be opened, is no database, is of a later version.
  static llvm::Expected<std::unique_ptr<Database>> open(llvm::StringRef path,
                                                        Mode mode);
  ~Database();
  Database(const Database &) = delete;
  Database &operator=(const Database &) = delete;

  /// A run of the tuner: gives its number. `command` is its command line,
  /// `settings` what it decided by (JSON).
  llvm::Expected<int64_t> beginRun(llvm::StringRef command,
                                   llvm::StringRef settings);

  /// Each of them is on disk when it returns. A task of a known key is not
  /// added again.
  llvm::Error add(const TaskText &task);
  llvm::Error add(const Record &record);
  llvm::Error add(const Baseline &baseline);

  llvm::Expected<std::vector<TaskText>> getTasks();
  /// All of a task, the oldest first; of every task with an empty key, of every
  /// chip with an empty chip.
  llvm::Expected<std::vector<Record>> getRecords(const TaskId &task);
  llvm::Expected<std::vector<Baseline>> getBaselines(const TaskId &task);

  /// The measured record of the least median, or none. One of a final
  /// comparison comes before all others: its time is comparable with the
  /// compiler's own choice, which is among the candidates.
  llvm::Expected<std::optional<Record>> getBest(const TaskId &task);

  /// Takes over what `other` has and this one has not; gives how many records
  /// that were.
  llvm::Expected<size_t> merge(Database &other);

private:
  class Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_DATABASE_H
