//===- Workbench.h - A device with the data of tasks on it ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_WORKER_WORKBENCH_H
#define TUNING_WORKER_WORKBENCH_H

#include "Tuning/Worker/DeviceClock.h"

#include "Runtime/Executable.h"
#include "Tuning/Record.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::tuning {

namespace runtime = tessera::runtime;
using mlir::tessera::tuning::Outcome;

/// The arrays of a task on a device, and what they hold in the end.
class TaskData {
public:
  TaskData(runtime::Device &device, const runtime::Signature &signature)
      : device(device), signature(signature) {}
  ~TaskData();
  TaskData(const TaskData &) = delete;
  TaskData &operator=(const TaskData &) = delete;

  /// Makes the inputs: small integers, of which any order of additions gives
  /// the same sums, by seeds that do not change.
  runtime::Status create();

  /// Before a candidate's first run: outputs get what no kernel writes, or,
  /// where the task adds to them (`isAdded`), their first contents.
  runtime::Status prepareOutputs(bool isAdded);
  /// Copies the outputs to the host, to arrays of an earlier call where
  /// `outputs` has them.
  runtime::Status readOutputs(std::vector<runtime::HostArray> &outputs);

  /// The arguments of a call.
  const std::vector<runtime::Operand> &getOperands() const { return operands; }
  /// The arrays as they are made, also after this object is gone.
  std::shared_ptr<const std::vector<runtime::HostArray>> getArrays() const {
    return arrays;
  }
  const runtime::Signature &getSignature() const { return signature; }

  /// Whether guards around the outputs are as they were, and the inputs too;
  /// else what was overwritten.
  runtime::Status checkGuards(std::string &damage);

private:
  runtime::Device &device;
  runtime::Signature signature;
  std::shared_ptr<std::vector<runtime::HostArray>> arrays =
      std::make_shared<std::vector<runtime::HostArray>>();
  std::vector<char *> buffers;
  std::vector<runtime::Operand> operands;
};

/// The array as `prepareOutputs` leaves an output that is only written.
runtime::HostArray makePoisoned(runtime::HostArray array);

/// The outcome of one candidate.
struct Trial {
  Outcome outcome = Outcome::Measured;
  std::string error;
  std::vector<double> times;
  int64_t clockBefore = 0, clockAfter = 0;
};

/// How long a measurement may be.
struct TimingOptions {
  /// Timed runs: at least and at most, and the milliseconds that they may take.
  unsigned least = 7, most = 60;
  double enough = 60;
  /// A candidate whose first runs take so many times the best is `Slow`.
  double slow = 2.0;
};

/// Where `got` is not what `expected` is, in words; empty if it is. Exactly, or
/// for tasks with a softmax within the rounding of the element type.
std::string compareOutputs(const std::vector<runtime::HostArray> &got,
                           const std::vector<runtime::HostArray> &expected,
                           bool isExact);

/// Runs a candidate once and compares, and looks for spills. `outputs` is for
/// what it computes; see `readOutputs`.
Trial tryOnce(runtime::Device &device, runtime::Executable &executable,
              const runtime::ProgramVariant &variant, TaskData &data,
              bool isAdded, bool isExact,
              const std::vector<runtime::HostArray> &expected,
              std::vector<runtime::HostArray> &outputs);

/// Compares the outputs of the last run, and checks the guards: `Measured`, or
/// what is wrong.
Trial checkOutputs(runtime::Device &device, TaskData &data, bool isExact,
                   const std::vector<runtime::HostArray> &expected,
                   std::vector<runtime::HostArray> &outputs);

/// The contents of the caches when a timed run begins.
enum class Caches {
  /// None of the task's arrays.
  Cold,
  /// The lines that an untimed run directly before left there.
  Warm,
};

/// One timed run, in milliseconds.
runtime::Expected<double> timeOnce(runtime::Device &device,
                                   runtime::Executable &executable,
                                   TaskData &data,
                                   Caches caches = Caches::Cold);

/// Times a candidate that is right. The outputs are prepared before the last
/// run, so that `checkOutputs` shows whether that one was right too.
void timeCandidate(runtime::Device &device, runtime::Executable &executable,
                   TaskData &data, bool isAdded, const DeviceClock &clock,
                   double best, const TimingOptions &options, Trial &trial);

} // namespace tessera::tuning

#endif // TUNING_WORKER_WORKBENCH_H
