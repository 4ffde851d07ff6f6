//===- VerifyProgram.cpp - Runs and verifies a program --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/VerifyProgram.h"

#include "Debugging/Repeat.h"
#include "Debugging/Verify.h"
#include "Execution/Arguments.h"
#include "Execution/Devices.h"

using namespace tessera::execution;

LogicalResult
tessera::execution::verifyProgram(const ProgramOptions &options,
                                  compiler::CompileOptions compileOptions,
                                  mlir::ModuleOp module, Report &report) {
  KeptDevices kept;
  Target target;
  Entry entry;
  std::vector<runtime::HostArray> arguments;
  if (failed(chooseTarget(options, /*run=*/true, kept, target, report)) ||
      failed(findEntry(module, options.entry, entry, report)) ||
      failed(makeArguments(options, entry, *target.device, arguments, report)))
    return failure();
  report.root["target"] = target.name;
  report.root["chip"] = target.chip;
  compileOptions.target = target.name;
  compileOptions.chip = target.chip;
  compileOptions.entry = options.entry;
  compileOptions.checkpoints = true;
  std::unique_ptr<compiler::CompiledProgram> program =
      compiler::compileProgram(module, compileOptions);
  if (!program)
    return report.failDiagnosed("compiling");

  runtime::Device &device = *target.device;
  const compiler::Chip &chip = *compiler::findChip(target.name, target.chip);
  // Memory that no kernel wrote then contains NaNs.
  device.setChecking(true, firstPoison);
  Execution execution(device, *program, entry, arguments);
  execution.getSession().setGuard(canaryBytes);
  std::vector<Output> outputs;
  KernelChecks checks(options, chip, *program, device, execution);
  if (failed(execution.prepare(report)) ||
      failed(checks.attach(*module.getContext(), report)))
    return failure();
  execution.call();
  if (failed(execution.finish(report)) ||
      failed(execution.readOutputs(outputs, report)))
    return failure();
  CompareRun compareRun = [&](const std::vector<Output> &again) {
    return isAsReference(options, chip, entry, program->matmuls, arguments,
                         again, report);
  };
  // The reference has the word on runs that differ as well.
  if (failed(repeat(options, device, *program, entry, execution, outputs,
                    compareRun, report)) &&
      report.exit() != Exit::WrongNumbers)
    return failure();
  if (failed(verify(options, chip, entry, program->matmuls, arguments, outputs,
                    device, execution, checks, report)))
    return failure();
  return success(report.exit() == Exit::Done);
}
