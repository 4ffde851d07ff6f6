//===- Batch.h - Many command lines, in one process -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_BATCH_H
#define EXECUTION_BATCH_H

#include "Execution/Report.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <istream>

namespace tessera::execution {

/// Runs each line of a file (of standard input, for "-") as soon as it is read.
/// Skips empty lines and lines that start with '#'. `run` takes the words of a
/// line, without quotes, and returns its exit status, which is printed on both
/// streams of the console after the line has run. Returns the exit status of
/// the first line that failed, 0 if none did, and `Exit::Usage` if the file
/// cannot be read.
int runBatch(StringRef file, Console &console,
             llvm::function_ref<int(ArrayRef<const char *>)> run);

/// The same for the lines of a stream.
int runBatch(std::istream &lines, Console &console,
             llvm::function_ref<int(ArrayRef<const char *>)> run);

} // namespace tessera::execution

#endif // EXECUTION_BATCH_H
