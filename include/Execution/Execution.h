//===- Execution.h - Running a compiled program -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_EXECUTION_H
#define EXECUTION_EXECUTION_H

#include "Execution/Program.h"

#include "Driver/Compiler.h"
#include "Runtime/Session.h"

#include <chrono>
#include <optional>

namespace tessera::execution {

/// Size of the guards before and after each argument's buffer, which no program
/// may write.
constexpr size_t canaryBytes = 256;

/// An output of a run: a result, or a memref argument that it may have written.
struct Output {
  /// "result 0", "argument 2".
  std::string name;
  bool isResult = false;
  /// Among the results or the arguments.
  size_t position = 0;
  mlir::Type type;
  runtime::HostArray array;
};

/// A compiled program with its arguments on a device.
///
/// Each tensor and memref argument has a buffer of its own with canaries around
/// it. Results are buffers of the session, of an argument (a program may return
/// what it was given), or constants.
class Execution {
public:
  /// All of them outlive the execution.
  Execution(runtime::Device &device, compiler::CompiledProgram &program,
            const Entry &entry,
            const std::vector<runtime::HostArray> &arguments)
      : device(device), program(program), entry(entry), arguments(arguments),
        constants(device), session(device) {}
  ~Execution();
  Execution(const Execution &) = delete;
  Execution &operator=(const Execution &) = delete;

  /// Loads the kernels, unless another execution of the program has, and
  /// copies the arguments to the device.
  LogicalResult prepare(Report &report, bool isLoaded = false);

  /// Calls the entry. Its kernels may still run when this returns; an
  /// error is then found by the session's `finish`.
  void call();

  /// Runs again from the same arguments: those that the program may have
  /// written are copied to the device anew. Waits, and checks as `finish` does.
  LogicalResult rerun(Report &report);

  /// Gives back the results' buffers of the last call.
  void releaseResults();

  /// Waits, and looks for errors and for overwritten canaries: around the
  /// arguments, and where the session has guards around what the program asked
  /// for, results among it.
  LogicalResult finish(Report &report);

  /// Copies the outputs from the device, in the order of their numbers.
  LogicalResult readOutputs(std::vector<Output> &outputs, Report &report);

  /// Copies an argument's buffer from the device.
  LogicalResult readArgument(size_t index, runtime::HostArray &array,
                             Report &report);

  runtime::Session &getSession() { return session; }
  /// When the first launch of the first call was made; absent if there was
  /// none.
  std::optional<std::chrono::steady_clock::time_point> getFirstLaunch() const {
    return firstLaunch;
  }
  /// How often the last call and the wait for it handed work to the driver;
  /// absent where the device does not count it.
  std::optional<uint64_t> getSubmissions() const { return submissions; }
  /// Bytes of all arguments' and results' arrays. Results count after a call.
  double getTraffic() const { return traffic; }

private:
  LogicalResult loadConstants(Report &report);
  LogicalResult checkCanaries(Report &report);
  LogicalResult reportDamage(const runtime::GuardDamage &damage,
                             Report &report) const;
  LogicalResult readResult(size_t index, runtime::HostArray &array,
                           Report &report);
  void layOut();

  runtime::Device &device;
  compiler::CompiledProgram &program;
  const Entry &entry;
  const std::vector<runtime::HostArray> &arguments;
  runtime::DeviceConstants constants;
  runtime::Session session;
  /// The guard of the report that `prepare` was given.
  RunGuard *guard = nullptr;
  std::optional<std::chrono::steady_clock::time_point> firstLaunch;
  /// The entry point, and its name.
  void (*function)(void **) = nullptr;
  std::string name;
  /// Called before.
  bool hasRun = false;
  /// For each argument what the device gave; null for scalars.
  std::vector<char *> buffers;
  /// The fields of arguments that are buffers: a descriptor's words.
  std::vector<std::vector<int64_t>> descriptors;
  /// Scalar arguments, in 8 bytes each.
  std::vector<uint64_t> scalars;
  /// The pointers that the entry point is called with.
  std::vector<void *> pointers;
  /// Where the entry puts its results, and where each of them lies in it.
  std::vector<uint64_t> results;
  std::vector<size_t> resultOffsets;
  double traffic = 0;
  /// `Device::countSubmissions` before the last call, and since then.
  uint64_t submissionsBefore = 0;
  std::optional<uint64_t> submissions;
  /// The results count in it.
  bool hasResultTraffic = false;
};

} // namespace tessera::execution

#endif // EXECUTION_EXECUTION_H
