//===- Workers.h - Worker processes -------------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_WORKER_WORKERS_H
#define TUNING_WORKER_WORKERS_H

#include "Tuning/Cluster/Channel.h"

#include "mlir/Support/LLVM.h"

namespace tessera::tuning {

/// Runs the worker that the words of a command line describe, as the tuner
/// writes them: "compile", or "measure", target, number of the device and
/// planted faults. Returns the exit status of the process. The channel is the
/// one of `Child::start`.
int runWorker(llvm::ArrayRef<llvm::StringRef> words, Channel channel,
              llvm::raw_ostream &messages);

/// Compiles candidates until the channel ends.
void runCompileWorker(Channel channel);

/// Runs and times candidates on a device. `fault` plants faults, for tests, in
/// candidates whose schedule contains a text. They are separated by '|':
///
///   crash:TEXT      the process aborts before the run
///   hang:TEXT       the run does not end
///   wrong:TEXT      the outputs are compared with wrong ones
///   late:TEXT       the same, only after the timed runs
///   final:TEXT      the same, only in the final comparison
///   resources:TEXT  the device rejects the launch
///   reference:TEXT  the reference finds the compiler's own choice wrong
///
/// Only --test-fault of gpu-tune, which its help does not list, plants faults.
/// Without them nothing here aborts.
int runMeasureWorker(Channel channel, const std::string &target, int ordinal,
                     const std::string &fault);

} // namespace tessera::tuning

#endif // TUNING_WORKER_WORKERS_H
