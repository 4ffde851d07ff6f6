//===- Sqlite.cpp - SQLite, by errors and values --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sqlite.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir::tessera::tuning;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Connection
//===----------------------------------------------------------------------===//

Connection::~Connection() { sqlite3_close(handle); }

llvm::Error Connection::fail(int code) {
  std::string what;
  switch (code & 0xff) {
  case SQLITE_NOTADB:
    what = "is not a tuning database (nor another SQLite database)";
    break;
  case SQLITE_CORRUPT:
    what = std::string("is corrupt: ") + sqlite3_errmsg(handle);
    break;
  case SQLITE_BUSY:
    what = "has been in use by another process for " +
           std::to_string(patience / 1000) + " s; try again after it ends";
    break;
  case SQLITE_READONLY:
    what = "cannot be written: no permission to write the file or its folder";
    break;
  case SQLITE_FULL:
    what = "cannot be written: no space is left on its disk";
    break;
  default:
    what = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    if (int number = handle ? sqlite3_system_errno(handle) : 0)
      what += " (" + llvm::sys::StrError(number) + ")";
  }
  return llvm::createStringError("'" + path + "' " + what);
}

llvm::Error Connection::open(StringRef file, bool create, int milliseconds) {
  path = file.str();
  patience = milliseconds;
  if (file.empty())
    return llvm::createStringError("a database requires a file name");
  // SQLite's own errors do not tell these from each other.
  if (llvm::sys::fs::is_directory(file))
    return llvm::createStringError("'" + path +
                                   "' is a folder, not a tuning database");
  bool exists = llvm::sys::fs::exists(file);
  if (!create && !exists)
    return llvm::createStringError("'" + path +
                                   "' does not exist; check its name");
  // SQLite would wait for a named pipe.
  if (exists && !llvm::sys::fs::is_regular_file(file))
    return llvm::createStringError("'" + path + "' is not a regular file");
  // SQLite does not treat names like ":memory:" as files.
  std::string name = file.starts_with(":") ? "./" + path : path;
  // Also for reading: the unfinished changes of a killed process are rolled
  // back then. A file that cannot be written is opened for reading by itself.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX |
              (create ? SQLITE_OPEN_CREATE : 0);
  if (int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr)) {
    int number = handle ? sqlite3_system_errno(handle) : 0;
    return llvm::createStringError(
        "cannot open '" + path +
        "': " + (number ? llvm::sys::StrError(number) : sqlite3_errstr(code)));
  }
  sqlite3_extended_result_codes(handle, 1);
  // The file may be somebody else's: its tables must not run functions.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_busy_timeout(handle, patience);
  return llvm::Error::success();
}

llvm::Error Connection::execute(const char *statements) {
  if (int code = sqlite3_exec(handle, statements, nullptr, nullptr, nullptr))
    return fail(code);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Statement
//===----------------------------------------------------------------------===//

Statement::Statement(Connection &connection, StringRef text)
    : connection(connection) {
  note(sqlite3_prepare_v2(connection.get(), text.data(), int(text.size()),
                          &handle, nullptr));
}

Statement &Statement::bind(StringRef value) {
  // A null pointer would be NULL.
  const char *data = value.empty() ? "" : value.data();
  note(sqlite3_bind_text64(handle, parameter++, data, value.size(),
                           SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement &Statement::bind(double value) {
  note(sqlite3_bind_double(handle, parameter++, value));
  return *this;
}

Statement &Statement::bind(int64_t value) {
  note(sqlite3_bind_int64(handle, parameter++, value));
  return *this;
}

Statement &Statement::bindNull() {
  note(sqlite3_bind_null(handle, parameter++));
  return *this;
}

llvm::Expected<bool> Statement::step() {
  if (code != SQLITE_OK)
    return connection.fail(code);
  column = 0;
  code = sqlite3_step(handle);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return connection.fail(code);
  bool isRow = code == SQLITE_ROW;
  code = SQLITE_OK;
  return isRow;
}

llvm::Error Statement::run() { return step().takeError(); }

std::string Statement::getText() {
  const void *data = sqlite3_column_text(handle, column);
  int size = sqlite3_column_bytes(handle, column++);
  return std::string(static_cast<const char *>(data), data ? size : 0);
}
