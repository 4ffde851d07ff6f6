//===- KernelChecks.h - Each kernel against the reference -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that is compiled with checkpoints stops before and after each of
// its steps (`CompiledProgram::steps`). A step is one op after fusion, and the
// kernels that were made of it. Its operands are then read from the device: the
// reference evaluates the step on the operands as they were before, and the
// contents afterwards must be within the error bounds of this step alone.
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_KERNELCHECKS_H
#define DEBUGGING_KERNELCHECKS_H

#include "Debugging/PlantedFault.h"
#include "Execution/Execution.h"

#include "Reference/Verify.h"
#include "TargetInfo/Chip.h"

#include "mlir/IR/OwningOpRef.h"

namespace tessera::execution {

/// The findings in a step, over all of its runs.
struct CheckedStep {
  /// The op: "tessera.contract".
  std::string op;
  /// "node 'conv1' (model.onnx:3:1)", or as much of it as the location has.
  std::string location;
  /// The kernels that it launched.
  std::vector<std::string> kernels;
  /// How often it ran; more than once in a loop.
  int64_t runs = 0;
  /// Why it could not be checked; empty if it was.
  std::string unchecked;
  /// Elements of its outputs, those compared, and those without a bound that
  /// differ from the reference.
  int64_t elements = 0, compared = 0, unverified = 0;
  bool isRight = true;
  /// The largest error as a part of what an element may be off by.
  double ratio = 0;
  /// The output in which it is, and its comparison.
  Output output;
  compiler::reference::Comparison comparison;

  bool isVerified() const {
    return isRight && unchecked.empty() && unverified == 0;
  }
  /// "kernel main_kernel_3 (tessera.contract, node 'conv1' (...))".
  std::string describe() const;
};

/// Checks the steps of one execution.
class KernelChecks {
public:
  /// All of them outlive the checks.
  KernelChecks(const ProgramOptions &options, const compiler::Chip &chip,
               const compiler::CompiledProgram &program,
               runtime::Device &device, Execution &execution);
  KernelChecks(const KernelChecks &) = delete;
  KernelChecks &operator=(const KernelChecks &) = delete;
  ~KernelChecks();

  /// Plants a fault in the first output of a step, in all runs from `attach`
  /// on.
  void plantIn(uint64_t step, PlantedFault what) {
    corruptStep = step;
    fault = what;
  }

  /// Reads the steps of the program, and attaches to the checkpoints of the
  /// execution.
  LogicalResult attach(mlir::MLIRContext &context, Report &report);
  void detach();

  /// Whether the program has steps to check.
  bool hasSteps() const { return !steps.empty(); }

  /// Runs the program once more, and checks each step in it.
  LogicalResult run(Report &report);

  ArrayRef<CheckedStep> getSteps() const { return checked; }

private:
  struct Step;
  /// An argument of a step: how it lies in memory, and its contents.
  struct Operand;

  runtime::Status reach(int64_t number, bool isEnd,
                        const std::vector<int64_t> &values);
  runtime::Status enter(Step &step, const std::vector<int64_t> &values);
  void leave(Step &step, CheckedStep &result);
  runtime::Status plantFault(Step &step);
  runtime::Status read(Operand &operand);
  void compare(Step &step, CheckedStep &result);

  const ProgramOptions &options;
  const compiler::Chip &chip;
  const compiler::CompiledProgram &program;
  runtime::Device &device;
  Execution &execution;
  RunGuard *guard = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> functions;
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<CheckedStep> checked;
  bool isChecking = false;
  std::optional<uint64_t> corruptStep;
  PlantedFault fault = PlantedFault::Element;
  /// Launches before the step that is under way.
  size_t firstLaunch = 0;
  std::string planted;
};

} // namespace tessera::execution

#endif // DEBUGGING_KERNELCHECKS_H
