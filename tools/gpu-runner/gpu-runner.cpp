//===- gpu-runner.cpp - Compiles a program, runs it, checks it ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options.cpp has the command line; lib/Runner runs one program.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Execution/Batch.h"
#include "Execution/Emit.h"
#include "Execution/ProcessGuard.h"
#include "Report/TraceFile.h"
#include "Runner/Runner.h"

#include "Driver/LargeStack.h"
#include "Driver/ProgramCache.h"
#include "Runtime/OutputFile.h"
#include "Runtime/Vulkan.h"

using namespace tessera::execution;

/// Rejects writing binary data to a terminal.
static LogicalResult checkTerminal(const Options &options, Report &report) {
  if (isBinary(*options.emit) && options.outputFile.empty() &&
      llvm::outs().is_displayed())
    return report.fail(Exit::Usage, "--emit=" + options.emit->name +
                                        " is binary: add -o FILE");
  return success();
}

/// Writes the result of --emit to the file that -o names.
static LogicalResult writeCode(const Options &options, const std::string &code,
                               Report &report) {
  if (options.outputFile.empty() || options.outputFile == "-") {
    llvm::outs() << code;
    llvm::outs().flush();
    if (std::error_code error = llvm::outs().error()) {
      llvm::outs().clear_error();
      return report.fail(Exit::Failed,
                         "cannot write to standard output: " + error.message());
    }
    return success();
  }
  runtime::Status status = runtime::writeFile(options.outputFile, {code});
  return status.ok() ? success() : report.fail(status);
}

/// Runs one command line. With `batch`, it may ask for a batch, whose file is
/// then all that is done here.
static int runCommandLine(ArrayRef<const char *> arguments, Console &console,
                          KeptDevices &kept, std::string *batch) {
  Report report(console, wantsJSON(arguments));
  Options options;
  options.isOneOfMany = !batch;
  if (failed(parseOptions(arguments, options, report)))
    return report.finish();
  if (batch && !options.batch.empty()) {
    *batch = options.batch;
    return 0;
  }
  if (options.help || options.version) {
    options.help ? printHelp(llvm::outs()) : printVersion(llvm::outs());
    return 0;
  }
  runtime::VulkanSettings vulkan = runtime::getVulkanSettings();
  vulkan.validates |= options.vulkanValidation;
  vulkan.failsSelfTests |= options.transposeSelfTests;
  runtime::setVulkanSettings(vulkan);
  if (options.listDevices) {
    listDevices(report);
    return report.finish();
  }
  report.root["file"] = llvm::json::fixUTF8(options.file);
  report.root["entry"] = llvm::json::fixUTF8(options.entry);
  ProcessGuard guard(options.json);
  guard.setTimeLimit(options.timeout);
  report.guard = &guard;
  runtime::Trace trace;
  if (!options.traceFile.empty())
    report.trace = &trace;
  {
    runtime::TraceScope scope(report.trace, "run", "gpu-runner");
    scope.add("file", options.file);
    std::string code;
    if (!options.emit)
      (void)runProgram(options, kept, code, report);
    else if (succeeded(checkTerminal(options, report)) &&
             succeeded(runProgram(options, kept, code, report)))
      (void)writeCode(options, code, report);
  }
  // A device that has seen a fault must be opened again.
  if (report.exit() != Exit::Done && !report.isOnlyDiagnosed())
    kept.close();
  if (report.trace)
    (void)writeTrace(options, trace, report);
  if (unsigned errors = runtime::countVulkanValidationErrors())
    (void)report.fail(Exit::Failed, "the Vulkan validation layer reported " +
                                        llvm::Twine(errors) +
                                        (errors == 1 ? " error" : " errors"));
  return report.finish();
}

/// Runs the command line, or each of a batch.
static int runAll(int argc, char **argv) {
  Console console(llvm::outs(), llvm::errs());
  KeptDevices kept;
  std::string batch;
  int status = runCommandLine(
      ArrayRef<const char *>(argv + std::min(argc, 1), argv + argc), console,
      kept, &batch);
  if (batch.empty())
    return status;
  return runBatch(batch, console, [&](ArrayRef<const char *> arguments) {
    return runCommandLine(arguments, console, kept, /*batch=*/nullptr);
  });
}

int main(int argc, char **argv) {
  // Before any driver is loaded.
  (void)compiler::getCompilerIdentity();
  handleShutdownSignals();
  int status = 0;
  // One thread for all lines: drivers keep things for the thread that calls.
  compiler::runOnLargeStack([&] { status = runAll(argc, argv); });
  return status;
}
