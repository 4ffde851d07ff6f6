//===- Batch.h - Many command lines, in one process -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_BATCH_H
#define GPU_RUNNER_BATCH_H

#include "Execution/Report.h"

namespace runner {

/// Runs each line of a file (of standard input, for "-") as soon as it is read.
/// `run` takes its words and gives its exit status. Gives that of the first
/// line that failed.
int runBatch(StringRef file, Console &console,
             llvm::function_ref<int(ArrayRef<const char *>)> run);

} // namespace runner

#endif // GPU_RUNNER_BATCH_H
