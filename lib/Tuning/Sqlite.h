//===- Sqlite.h - SQLite, by errors and values ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_SQLITE_H
#define TUNING_SQLITE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <sqlite3.h>

namespace mlir::tessera::tuning {

/// An open file of SQLite's.
class Connection {
public:
  Connection() = default;
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  /// With `create`, an absent file is made. Calls wait for others that write,
  /// up to `patience` milliseconds.
  llvm::Error open(llvm::StringRef path, bool create, int patience);

  /// Runs statements that give nothing.
  llvm::Error execute(const char *statements);

  /// The failure of the last call on it: the file's name, and what is wrong.
  llvm::Error fail(int code);

  sqlite3 *get() { return handle; }
  const std::string &getPath() const { return path; }

private:
  std::string path;
  int patience = 0;
  sqlite3 *handle = nullptr;
};

/// A statement, with `?` for what is bound, in its order. A failure to bind
/// shows when it is run.
class Statement {
public:
  Statement(Connection &connection, llvm::StringRef text);
  ~Statement() { sqlite3_finalize(handle); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  /// Text, which outlives the statement.
  Statement &bind(llvm::StringRef value);
  Statement &bind(double value);
  Statement &bind(int64_t value);
  Statement &bindNull();

  /// Goes on to the next row: false if there is none.
  llvm::Expected<bool> step();
  /// Runs a statement that returns no row.
  llvm::Error run();

  /// The next column of the row.
  std::string getText();
  double getDouble() { return sqlite3_column_double(handle, column++); }
  /// 0 for null.
  int64_t getInt() { return sqlite3_column_int64(handle, column++); }

private:
  void note(int status) {
    if (code == SQLITE_OK)
      code = status;
  }

  Connection &connection;
  sqlite3_stmt *handle = nullptr;
  int code = SQLITE_OK;
  int parameter = 1, column = 0;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_SQLITE_H
