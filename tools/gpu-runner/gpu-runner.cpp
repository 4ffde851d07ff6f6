//===- gpu-runner.cpp - Compiles a program, runs it, checks it ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Options      the command line
//
// The steps are in lib/Execution, their results in lib/Report, and comparisons
// in lib/Debugging.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Debugging/Diff.h"
#include "Debugging/PlantedFault.h"
#include "Debugging/Repeat.h"
#include "Debugging/Verify.h"
#include "Execution/Arguments.h"
#include "Execution/Batch.h"
#include "Execution/BundledProgram.h"
#include "Execution/Compile.h"
#include "Execution/Devices.h"
#include "Execution/Emit.h"
#include "Execution/Execution.h"
#include "Execution/ProcessGuard.h"
#include "Execution/Program.h"
#include "Report/Bench.h"
#include "Report/Explain.h"
#include "Report/OutputText.h"
#include "Report/ProgramPage.h"
#include "Report/StartClock.h"
#include "Report/TraceFile.h"

#include "Driver/LargeStack.h"
#include "Driver/ProgramCache.h"
#include "Driver/ScheduleDatabase.h"
#include "Runtime/OutputFile.h"
#include "Runtime/Vulkan.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

using namespace runner;
using runtime::HostArray;

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The number of an output that an option names.
static LogicalResult checkOutputNumber(StringRef option, unsigned number,
                                       size_t count, Report &report) {
  if (number < count)
    return success();
  std::string fix = count == 0   ? "the program has no outputs"
                    : count == 1 ? "the program has one output, number 0"
                                 : "the program's outputs are numbered 0 to " +
                                       std::to_string(count - 1);
  return report.fail(Exit::Usage,
                     option + " names output " + Twine(number) + "; " + fix);
}

/// --out.
static LogicalResult saveOutputs(const Options &options,
                                 const std::vector<Output> &outputs,
                                 Report &report) {
  for (const auto &[number, file] : options.outputs) {
    runtime::Status status = runtime::saveNpy(file, outputs[number].array);
    if (!status.ok())
      return report.fail(status);
  }
  return success();
}

static LogicalResult handleOutputs(const Options &options,
                                   std::vector<Output> &outputs,
                                   Report &report) {
  if (options.corruptOutput) {
    if (failed(checkOutputNumber("--debug-corrupt-output",
                                 *options.corruptOutput, outputs.size(),
                                 report)))
      return failure();
    std::string planted =
        plant(options.plantedFault, outputs[*options.corruptOutput].array);
    if (planted.empty())
      report.note("output " + Twine(*options.corruptOutput) +
                  " has no elements: no fault is planted");
    else
      report.text() << "planted in out " << *options.corruptOutput << ": "
                    << planted << "\n";
  }
  printOutputs(outputs, report);
  return saveOutputs(options, outputs, report);
}

/// Checks what --out names before anything is run.
static LogicalResult checkOutputNumbers(const Options &options,
                                        const Entry &entry, Report &report) {
  size_t count = entry.results.size();
  for (const Slot &slot : entry.arguments)
    count += slot.mayWrite;
  for (const auto &[number, file] : options.outputs)
    if (failed(checkOutputNumber("--out", number, count, report)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static LogicalResult runProgram(const Options &options, const Target &target,
                                compiler::CompiledProgram &program,
                                const CacheUse &cache, StartClock &clock,
                                const Entry &entry,
                                const std::vector<HostArray> &arguments,
                                std::string &explained, Report &report) {
  runtime::Device &device = *target.device;
  const compiler::Chip &chip = *compiler::findChip(target.name, target.chip);
  // Memory that no kernel wrote then contains NaNs.
  bool isChecked = options.verify || options.repeat;
  device.setChecking(isChecked, firstPoison);
  Execution execution(device, program, entry, arguments);
  if (isChecked)
    execution.getSession().setGuard(canaryBytes);
  if (failed(execution.prepare(report))) {
    if (cache.kind == CacheUse::Hit)
      report.note("the program is from the cache (" + cache.key +
                  "); --cache=off recompiles it");
    return failure();
  }
  clock.done("load");
  if (cache.kind != CacheUse::Off)
    if (runtime::Status status = device.saveCache(); !status.ok())
      report.note("cannot cache the driver's compiled kernels: " +
                  status.message());
  std::vector<Output> outputs;
  {
    runtime::TraceScope scope(report.trace, "step", "run");
    execution.call();
    if (failed(execution.finish(report)) ||
        failed(execution.readOutputs(outputs, report)))
      return failure();
  }
  explain(program, chip, cache, &device, execution.getSession().launches(),
          collectWork(entry, arguments), options.explain, report.text(),
          report);
  if (!options.reportFile.empty()) {
    Report quiet = Report::makeQuiet();
    llvm::raw_string_ostream os(explained);
    explain(program, chip, cache, &device, execution.getSession().launches(),
            collectWork(entry, arguments), /*print=*/true, os, quiet);
  }
  clock.report(execution.getFirstLaunch(), options.explain, report);
  if (failed(handleOutputs(options, outputs, report)))
    return failure();
  if (options.getRuns() > 1) {
    runtime::TraceScope scope(report.trace, "step", "repeat");
    CompareRun compareRun;
    if (options.verify)
      compareRun = [&](const std::vector<Output> &again) {
        return isAsReference(options, chip, entry, program.matmuls, arguments,
                             again, report);
      };
    // Wrong numbers are verified nevertheless.
    if (failed(repeat(options, device, program, entry, execution, outputs,
                      compareRun, report)) &&
        report.exit() != Exit::WrongNumbers)
      return failure();
  }
  if (options.verify) {
    runtime::TraceScope scope(report.trace, "step", "verify");
    if (failed(verify(options, chip, entry, program.matmuls, arguments, outputs,
                      device, execution, report)))
      return failure();
  }
  if (report.exit() != Exit::Done)
    return failure();
  if (!options.bench)
    return success();
  runtime::TraceScope scope(report.trace, "step", "bench");
  if (failed(benchmark(options, entry, arguments, device, execution, report)))
    return failure();
  if (!options.explain)
    printTimes(program.times, cache, report.text());
  return success();
}

/// All but the target and the entry.
static compiler::CompileOptions getCompileOptions(const Options &options) {
  compiler::CompileOptions compileOptions;
  compileOptions.flags = options.flags;
  return compileOptions;
}

/// --report.
static LogicalResult
makeHtmlReport(const Options &options,
               const compiler::CompileOptions &compileOptions,
               mlir::ModuleOp module, const llvm::MemoryBuffer &source,
               StringRef explained, Report &report) {
  // This compiles the program again, without reports.
  FailureOr<std::vector<StageText>> stages = collectStages(
      module, source.getBufferIdentifier(), source.getBuffer(), compileOptions);
  if (failed(stages))
    return report.failDiagnosed("--report");
  return writeHtmlReport(options, *stages, explained, report);
}

/// Rejects writing binary data to a terminal.
static LogicalResult checkTerminal(const Options &options, Report &report) {
  if (isBinary(*options.emit) && options.outputFile.empty() &&
      llvm::outs().is_displayed())
    return report.fail(Exit::Usage, "--emit=" + options.emit->name +
                                        " is binary: add -o FILE");
  return success();
}

/// Writes the result of --emit to the file that -o names.
static LogicalResult writeCode(const Options &options,
                               const FailureOr<std::string> &text,
                               Report &report) {
  if (failed(text))
    return failure();
  if (options.outputFile.empty() || options.outputFile == "-") {
    llvm::outs() << *text;
    llvm::outs().flush();
    if (std::error_code error = llvm::outs().error()) {
      llvm::outs().clear_error();
      return report.fail(Exit::Failed,
                         "cannot write to standard output: " + error.message());
    }
    return success();
  }
  runtime::Status status = runtime::writeFile(options.outputFile, {*text});
  return status.ok() ? success() : report.fail(status);
}

static LogicalResult compileAndRun(Options &options, KeptDevices &kept,
                                   Report &report) {
  StartClock clock(report.trace);
  mlir::MLIRContext context;
  compiler::prepareContext(context);
  // Errors come with the line of the source; the op's own text is for pass
  // developers.
  context.printOpOnDiagnostic(options.flags.printIRAfterAll);
  if (options.flags.printIRAfterAll)
    context.disableMultithreading();
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler printer(sources, &context, llvm::errs());
  mlir::ScopedDiagnosticHandler recorder(
      &context, [&](mlir::Diagnostic &diagnostic) {
        report.record(diagnostic);
        return failure(); // The printer is next.
      });

  std::optional<runtime::Bundle> bundle;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      readProgram(options, bundle, sources, context, report);
  if (!module)
    return failure();
  clock.done("read");

  const llvm::MemoryBuffer &source =
      *sources.getMemoryBuffer(sources.getMainFileID());
  compiler::CompileOptions compileOptions = getCompileOptions(options);
  compileOptions.trace = report.trace;
  std::string why;
  compileOptions.tuned = compiler::findTunedSchedules(options.scheduleDb, why);
  if (!why.empty())
    return report.fail(Exit::Usage, "--schedule-db: " + why);
  if (!options.diff.empty()) {
    std::vector<Output> outputs;
    LogicalResult result =
        diff(options, kept, *module, source, compileOptions, outputs, report);
    // It did not come to them.
    if (failed(result) && outputs.empty())
      return failure();
    for (const auto &[number, file] : options.outputs)
      if (failed(checkOutputNumber("--out", number, outputs.size(), report)))
        return failure();
    if (!outputs.empty() && failed(saveOutputs(options, outputs, report)))
      return failure();
    return result;
  }

  if (options.isEmitted(EmitStage::Bundle)) {
    // All of them, unless one is asked for.
    if (options.hasEntry)
      compileOptions.entry = options.entry;
    if (failed(checkTerminal(options, report)))
      return failure();
    return writeCode(options,
                     emitProgram(options, compileOptions, *module,
                                 source.getBuffer(),
                                 source.getBufferIdentifier(), report),
                     report);
  }

  Target target;
  if (failed(
          chooseTarget(options, /*run=*/!options.emit, kept, target, report)) ||
      (options.emit && failed(checkStage(*options.emit, target.name, report))))
    return failure();
  compileOptions.target = target.name;
  compileOptions.chip = target.chip;
  // Measurements of other devices with the chip do not apply to this one.
  if (target.device && !options.scheduleDb.empty() &&
      options.scheduleDb != "off") {
    std::vector<std::string> notes;
    compileOptions.tuned = compiler::readScheduleDatabase(
        options.scheduleDb, target.device->info().name, notes, why);
    if (!why.empty())
      return report.fail(Exit::Usage, "--schedule-db: " + why);
    for (const std::string &note : notes)
      report.note(note);
  }
  clock.done("device");
  report.root["target"] = target.name;
  report.root["chip"] = target.chip;

  if (options.emit) {
    bool hasReport = !options.reportFile.empty();
    std::string explained;
    if (options.explain || options.explainAsJSON || hasReport) {
      std::unique_ptr<compiler::CompiledProgram> program =
          compiler::compileProgram(*module, compileOptions);
      if (!program)
        return report.failDiagnosed("compiling");
      // Sizes are those of the program alone.
      Report quiet = Report::makeQuiet();
      Entry entry;
      std::vector<MatmulWork> work;
      if (succeeded(findEntry(*module, options.entry, entry, quiet)))
        work = collectWork(entry, {});
      llvm::raw_string_ostream os(explained);
      explain(*program, *compiler::findChip(target.name, target.chip),
              CacheUse(), /*device=*/nullptr, {}, work,
              options.explain || hasReport, os, report);
      if (options.explain)
        llvm::errs() << explained;
    }
    // The module is at a stage from here on.
    if (hasReport && failed(makeHtmlReport(options, compileOptions, *module,
                                           source, explained, report)))
      return failure();
    if (failed(checkTerminal(options, report)))
      return failure();
    return writeCode(
        options, emitStage(options, compileOptions, *module, report), report);
  }

  Entry entry;
  std::vector<HostArray> arguments;
  if (failed(findEntry(*module, options.entry, entry, report)) ||
      failed(checkOutputNumbers(options, entry, report)) ||
      failed(makeArguments(options, entry, *target.device, arguments, report)))
    return failure();
  clock.done("arguments");
  compileOptions.entry = options.entry;
  CacheUse cache;
  std::unique_ptr<compiler::CompiledProgram> program =
      bundle ? loadBundled(*bundle, target.device->info(), report)
             : compile(options, compileOptions, *module, source, *target.device,
                       cache, report);
  if (!program)
    return failure();
  if (options.cacheWhyMiss)
    printCacheUse(cache, report.text());
  if (!options.kernels.empty() &&
      failed(replaceKernels(options, target.name, *program, report)))
    return failure();
  clock.done("compile");
  std::string explained;
  LogicalResult result = runProgram(options, target, *program, cache, clock,
                                    entry, arguments, explained, report);
  // Wrong results must still be reported.
  if (options.reportFile.empty() || explained.empty())
    return result;
  if (failed(makeHtmlReport(options, compileOptions, *module, source, explained,
                            report)))
    return failure();
  return result;
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
    (void)compileAndRun(options, kept, report);
  }
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
    int lineStatus =
        runCommandLine(arguments, console, kept, /*batch=*/nullptr);
    if (lineStatus != 0)
      kept.close();
    return lineStatus;
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
