//===- Workers.h - Worker processes -------------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_WORKER_WORKERS_H
#define TUNING_WORKER_WORKERS_H

#include "Tuning/Cluster/Channel.h"

#include "mlir/Support/LLVM.h"

namespace tune {

/// Compiles candidates until the channel ends.
void runCompileWorker(Channel channel);

/// Runs and times candidates on a device. `fault` plants some, for tests,
/// divided by '|': "hang:TEXT", "crash:TEXT", "wrong:TEXT" or "resources:TEXT"
/// for candidates whose schedule has the text.
int runMeasureWorker(Channel channel, const std::string &target, int ordinal,
                     const std::string &fault);

} // namespace tune

#endif // TUNING_WORKER_WORKERS_H
