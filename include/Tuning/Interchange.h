//===- Interchange.h - A database as lines of JSON --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format that `gpu-tune export` writes and `gpu-tune import` reads: a line
// that names the format, then an object a line for each run, task, record and
// baseline, with all of its fields. docs/Tuning.md describes it.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_INTERCHANGE_H
#define TUNING_INTERCHANGE_H

#include "Tuning/Database.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::tessera::tuning {

/// Writes all of a database, as it is at one moment. Numbers have all of their
/// digits.
llvm::Error exportLines(Database &database, llvm::raw_ostream &os);

/// Adds what `text` has and the database has not. With a malformed line nothing
/// is added, and the error is "NAME:LINE: " and the problem.
llvm::Expected<Added> importLines(Database &database, llvm::StringRef text,
                                  llvm::StringRef name);

/// Called with each file that was added, and what was new of it.
using ReportAdded =
    llvm::function_ref<void(llvm::StringRef file, const Added &added)>;

/// Adds files of such lines, "-" for standard input, to the database `path`,
/// which is created if missing. Nothing is added, or created, if a file cannot
/// be read; files before a malformed one are added.
llvm::Error importFiles(const std::string &path,
                        llvm::ArrayRef<std::string> files, ReportAdded report);

/// Adds the databases `files` to the database `path`, which is created if
/// missing. Nothing is added, or created, if one cannot be opened.
llvm::Error mergeFiles(const std::string &path,
                       llvm::ArrayRef<std::string> files, ReportAdded report);

/// "new are 1 task, 2 runs, 30 records, 0 baselines".
std::string formatAdded(const Added &added);

/// Writes the fields of an entry, as in its line.
void writeFields(llvm::json::OStream &os, const Environment &environment);
void writeFields(llvm::json::OStream &os, const Record &record);
void writeFields(llvm::json::OStream &os, const Baseline &baseline);

} // namespace mlir::tessera::tuning

#endif // TUNING_INTERCHANGE_H
