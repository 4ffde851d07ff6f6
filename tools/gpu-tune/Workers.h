//===- Workers.h - Worker processes -------------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_TUNE_WORKERS_H
#define GPU_TUNE_WORKERS_H

#include "Channel.h"

#include "mlir/Support/LLVM.h"

namespace tune {

/// Compiles candidates until the channel ends.
int runCompileWorker(Channel channel);

/// Runs and times candidates on a device. `fault` plants some, for tests,
/// divided by '|': "hang:TEXT", "crash:TEXT", "wrong:TEXT" or "resources:TEXT"
/// for candidates whose schedule has the text.
int runMeasureWorker(Channel channel, const std::string &target, int ordinal,
                     const std::string &fault);

/// `gpu-tune worker compile|measure ...`: processes that this program starts by
/// itself.
int runWorker(mlir::ArrayRef<mlir::StringRef> arguments);

} // namespace tune

#endif // GPU_TUNE_WORKERS_H
