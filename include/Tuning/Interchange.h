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

/// "new are 1 task, 2 runs, 30 records, 0 baselines".
std::string formatAdded(const Added &added);

/// Writes the fields of an entry, as in its line.
void writeFields(llvm::json::OStream &os, const Environment &environment);
void writeFields(llvm::json::OStream &os, const Record &record);
void writeFields(llvm::json::OStream &os, const Baseline &baseline);

} // namespace mlir::tessera::tuning

#endif // TUNING_INTERCHANGE_H
