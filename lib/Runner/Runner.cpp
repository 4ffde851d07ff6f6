//===- Runner.cpp - One program, from its file to its results -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner/Runner.h"

#include "Debugging/ConvertedModel.h"
#include "Debugging/Diff.h"
#include "Debugging/Repeat.h"
#include "Debugging/Verify.h"
#include "Execution/Arguments.h"
#include "Execution/BundledProgram.h"
#include "Execution/Compile.h"
#include "Execution/Emit.h"
#include "Execution/Execution.h"
#include "Execution/Program.h"
#include "Execution/ProgressLine.h"
#include "Outputs.h"
#include "Report/Bench.h"
#include "Report/Explain.h"
#include "Report/OutputText.h"
#include "Report/ProgramPage.h"
#include "Report/StartClock.h"

#include "Driver/ScheduleDatabase.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera::execution;
using runtime::HostArray;

namespace {

/// The steps of one program. Each reports its errors.
class Runner {
public:
  Runner(RunnerOptions &options, KeptDevices &kept, Report &report)
      : options(options), kept(kept), report(report), clock(report.trace) {}

  LogicalResult run(std::string &code);

private:
  LogicalResult read();
  void showProgress();
  LogicalResult compareTargets();
  LogicalResult openTarget();
  LogicalResult emit(std::string &code);
  LogicalResult compileAndRun();
  LogicalResult execute(compiler::CompiledProgram &program,
                        const CacheUse &cache);
  LogicalResult check(compiler::CompiledProgram &program, Execution &execution,
                      const std::vector<Output> &outputs, KernelChecks &checks);
  LogicalResult makeHtmlReport();

  const compiler::Chip &getChip() const {
    return *compiler::findChip(target.name, target.chip);
  }
  const llvm::MemoryBuffer &getSource() const {
    return *sources.getMemoryBuffer(sources.getMainFileID());
  }

  RunnerOptions &options;
  KeptDevices &kept;
  Report &report;
  StartClock clock;
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The bundle that the program was read from.
  std::optional<runtime::Bundle> bundle;
  compiler::CompileOptions compileOptions;
  std::optional<EarlyDevice> earlyDevice;
  Target target;
  Entry entry;
  std::vector<HostArray> arguments;
  /// The line that shows the progress of compilations; null for none.
  std::unique_ptr<ProgressLine> progress;
  /// Erases that line before a diagnostic is printed.
  std::optional<mlir::ScopedDiagnosticHandler> progressEraser;
  /// The text of --explain, for --report.
  std::string explained;
};

} // namespace

/// Reads the program, and what its compilation depends on.
LogicalResult Runner::read() {
  module = readProgram(options, bundle, sources, context, report);
  if (!module)
    return failure();
  clock.done("read");
  compileOptions.flags = options.flags;
  compileOptions.checkpoints = options.verify;
  compileOptions.trace = report.trace;
  showProgress();
  std::string why;
  compileOptions.tuned = compiler::findTunedSchedules(options.scheduleDb, why);
  if (!why.empty())
    return report.fail(Exit::Usage, "--schedule-db: " + why);
  return success();
}

/// --progress.
void Runner::showProgress() {
  llvm::raw_ostream &os = report.messages();
  bool isTerminal = os.is_displayed() && !options.isOneOfMany;
  if (!options.progress.value_or(isTerminal))
    return;
  progress = std::make_unique<ProgressLine>(os, isTerminal);
  compileOptions.progress = [this](const compiler::CompileProgress &state) {
    progress->update(state);
  };
  progressEraser.emplace(&context, [this](mlir::Diagnostic &) {
    progress->clear();
    return failure(); // For printing.
  });
}

/// --diff.
LogicalResult Runner::compareTargets() {
  std::vector<Output> outputs;
  LogicalResult result = diff(options, kept, *module, getSource(),
                              compileOptions, outputs, report);
  // The program has not run.
  if (failed(result) && outputs.empty())
    return failure();
  if (failed(checkOutputNumbers(options, outputs.size(), report)))
    return failure();
  if (!outputs.empty() && failed(saveOutputs(options, outputs, report)))
    return failure();
  return result;
}

/// Chooses what to compile for, and opens the device unless --emit is given.
LogicalResult Runner::openTarget() {
  if (earlyDevice)
    earlyDevice->wait();
  if (failed(
          chooseTarget(options, /*run=*/!options.emit, kept, target, report)) ||
      (options.emit && failed(checkStage(*options.emit, target.name, report))))
    return failure();
  compileOptions.target = target.name;
  compileOptions.chip = target.chip;
  // Measurements of other devices with the chip do not apply to this one.
  if (target.device && !options.scheduleDb.empty() &&
      options.scheduleDb != "off") {
    std::string why;
    std::vector<std::string> notes;
    compiler::RecordFilter filter;
    filter.device = target.device->info().name;
    compileOptions.tuned =
        compiler::readScheduleDatabase(options.scheduleDb, filter, notes, why);
    if (!why.empty())
      return report.fail(Exit::Usage, "--schedule-db: " + why);
    for (const std::string &note : notes)
      report.note(note);
  }
  earlyDevice.reset();
  clock.done("device");
  report.root["target"] = target.name;
  report.root["chip"] = target.chip;
  return success();
}

/// Writes the page of --report. Lowers the module to a stage.
LogicalResult Runner::makeHtmlReport() {
  // This compiles the program again, without reports.
  const llvm::MemoryBuffer &source = getSource();
  FailureOr<std::vector<StageText>> stages =
      collectStages(*module, source.getBufferIdentifier(), source.getBuffer(),
                    compileOptions);
  if (failed(stages))
    return report.failDiagnosed("--report");
  return writeHtmlReport(options, *stages, explained, report);
}

/// Compiles to the stage of --emit.
LogicalResult Runner::emit(std::string &code) {
  FailureOr<std::string> emitted;
  if (options.isEmitted(EmitStage::Bundle)) {
    // Contains all functions, unless one is asked for.
    if (options.hasEntry)
      compileOptions.entry = options.entry;
    emitted =
        emitProgram(options, compileOptions, *module, getSource().getBuffer(),
                    getSource().getBufferIdentifier(), report);
  } else {
    if (failed(openTarget()))
      return failure();
    bool hasReport = !options.reportFile.empty();
    if (options.explain || options.explainAsJSON || hasReport) {
      std::unique_ptr<compiler::CompiledProgram> program =
          compiler::compileProgram(*module, compileOptions);
      if (!program)
        return report.failDiagnosed("compiling");
      // Sizes are those of the program alone.
      Report quiet = Report::makeQuiet();
      std::vector<MatmulWork> work;
      if (succeeded(findEntry(*module, options.entry, entry, quiet)))
        work = collectWork(entry, {});
      llvm::raw_string_ostream os(explained);
      tessera::execution::explain(*program, getChip(), CacheUse(),
                                  /*device=*/nullptr, {}, work,
                                  options.explain || hasReport, os, report);
      if (options.explain)
        report.messages() << explained;
    }
    if (hasReport && failed(makeHtmlReport()))
      return failure();
    emitted = emitStage(options, compileOptions, *module, report);
  }
  if (failed(emitted))
    return failure();
  code = std::move(*emitted);
  return success();
}

/// How the launches of the last run were queued: "one by one: the device has no
/// graphs".
static std::string describeLaunches(const ProgramOptions &options,
                                    runtime::Session &session) {
  runtime::DirectReason reason = runtime::DirectReason::NoGraphs;
  std::string failure;
  if (const runtime::LaunchStatistics *found = session.launchStatistics()) {
    reason = found->whyDirect;
    failure = found->failure;
  } else if (options.launch == runtime::LaunchMode::Direct) {
    reason = runtime::DirectReason::Asked;
  }
  if (reason == runtime::DirectReason::None)
    return "as one graph";
  std::string text = std::string("one by one: ") + runtime::describe(reason);
  if (reason == runtime::DirectReason::GraphFailed)
    text += ": " + failure;
  return text;
}

/// The launches of the last run that overlap with the kernel before.
static uint64_t countOverlaps(const runtime::Session &session) {
  const runtime::LaunchStatistics *found = session.launchStatistics();
  return found ? found->overlaps : 0;
}

/// --repeat, --verify and --bench, after the first run.
LogicalResult Runner::check(compiler::CompiledProgram &program,
                            Execution &execution,
                            const std::vector<Output> &outputs,
                            KernelChecks &checks) {
  runtime::Device &device = *target.device;
  if (options.getRuns() > 1) {
    runtime::TraceScope scope(report.trace, "step", "repeat");
    CompareRun compareRun;
    if (options.verify)
      compareRun = [&](const std::vector<Output> &again) {
        return isAsReference(options, getChip(), entry, program.matmuls,
                             arguments, again, report);
      };
    // Wrong numbers are verified nevertheless.
    if (failed(repeat(options, device, program, entry, execution, outputs,
                      compareRun, report)) &&
        report.exit() != Exit::WrongNumbers)
      return failure();
  }
  if (options.verify) {
    runtime::TraceScope scope(report.trace, "step", "verify");
    if (failed(verify(options, getChip(), entry, program.matmuls, arguments,
                      outputs, device, execution, checks, report)))
      return failure();
    if (options.convertsToF16 &&
        failed(
            compareWithOriginal(options, context, arguments, outputs, report)))
      return failure();
  }
  if (report.exit() != Exit::Done)
    return failure();
  if (!options.bench)
    return success();
  checks.detach();
  runtime::TraceScope scope(report.trace, "step", "bench");
  return benchmark(options, program, entry, arguments, device, execution,
                   report);
}

/// Runs the compiled program, and prints its results.
LogicalResult Runner::execute(compiler::CompiledProgram &program,
                              const CacheUse &cache) {
  runtime::Device &device = *target.device;
  // Memory that no kernel wrote then contains NaNs.
  bool isChecked = options.verify || options.repeat;
  device.setChecking(isChecked, firstPoison);
  Execution execution(device, program, entry, arguments);
  if (isChecked)
    execution.getSession().setGuard(canaryBytes);
  KernelChecks checks(options, getChip(), program, device, execution);
  if (options.corruptKernel)
    checks.plantIn(*options.corruptKernel, options.plantedKernelFault);
  execution.getSession().setLaunchMode(options.launch);
  if (failed(execution.prepare(report))) {
    if (cache.kind == CacheUse::Hit)
      report.note("the program is from the cache (" + cache.key +
                  "); --cache=off recompiles it");
    return failure();
  }
  if (options.verify && failed(checks.attach(context, report)))
    return failure();
  clock.done("load");
  if (cache.kind != CacheUse::Off)
    if (runtime::Status status = device.saveCache(); !status.ok())
      report.note("cannot cache the driver's compiled kernels: " +
                  status.message());
  std::vector<Output> outputs;
  {
    runtime::TraceScope scope(report.trace, "step", "run");
    // Later runs print the same.
    execution.getSession().setPrintSink([this](std::string_view text) {
      report.text() << text;
      // A fault ends the process without this.
      if (text.find('\n') != std::string_view::npos)
        report.text().flush();
    });
    execution.getSession().setErrorSink([this](std::string_view text) {
      for (StringRef line : llvm::split(StringRef(text).rtrim(), '\n'))
        report.note(line);
    });
    execution.call();
    execution.getSession().setPrintSink(nullptr);
    execution.getSession().setErrorSink(nullptr);
    scope.add("launches", describeLaunches(options, execution.getSession()));
    if (failed(execution.finish(report)) ||
        failed(execution.readOutputs(outputs, report)))
      return failure();
  }
  auto explainRun = [&](bool print, llvm::raw_ostream &os, Report &to) {
    tessera::execution::explain(program, getChip(), cache, &device,
                                execution.getSession().launches(),
                                collectWork(entry, arguments), print, os, to);
  };
  explainRun(options.explain, report.text(), report);
  if (!options.reportFile.empty()) {
    Report quiet = Report::makeQuiet();
    llvm::raw_string_ostream os(explained);
    explainRun(/*print=*/true, os, quiet);
  }
  clock.report(execution.getFirstLaunch(), options.explain, report);
  std::string launches = describeLaunches(options, execution.getSession());
  uint64_t overlaps = countOverlaps(execution.getSession());
  if (options.explain)
    report.text() << "launches: " << launches
                  << (overlaps ? "; " + std::to_string(overlaps) +
                                     " overlap with the kernel before"
                               : "")
                  << "\n";
  else if (options.launch == runtime::LaunchMode::Graph &&
           launches != "as one graph")
    report.note("--launch=graph: the launches are queued " + launches);
  report.root["launches"] = launches;
  report.root["overlaps"] = static_cast<int64_t>(overlaps);
  if (std::optional<uint64_t> submissions = execution.getSubmissions())
    report.root["submissions"] = static_cast<int64_t>(*submissions);
  if (failed(corruptOutput(options, outputs, report)))
    return failure();
  if (options.entryResult)
    printEntryResult(options, outputs, report);
  else
    printOutputs(outputs, report);
  if (failed(saveOutputs(options, outputs, report)) ||
      failed(check(program, execution, outputs, checks)))
    return failure();
  if (options.bench && !options.explain)
    printTimes(program.times, cache, report.text());
  return success();
}

LogicalResult Runner::compileAndRun() {
  if (failed(openTarget()) ||
      failed(findEntry(*module, options.entry, entry, report)) ||
      failed(checkEntryResult(options, entry, report)) ||
      failed(checkOutputNumbers(options, entry, report)) ||
      failed(makeArguments(options, entry, *target.device, arguments, report)))
    return failure();
  clock.done("arguments");
  compileOptions.entry = options.entry;
  CacheUse cache;
  std::unique_ptr<compiler::CompiledProgram> program =
      bundle ? loadBundled(*bundle, target.device->info(), report)
             : compile(options, compileOptions, *module, getSource(),
                       *target.device, cache, report);
  if (!program)
    return failure();
  if (options.cacheWhyMiss)
    printCacheUse(cache, report.text());
  if (!options.kernels.empty() &&
      failed(replaceKernels(options, target.name, *program, report)))
    return failure();
  clock.done("compile");
  LogicalResult result = execute(*program, cache);
  // The page shows wrong results, too.
  if (!explained.empty() && failed(makeHtmlReport()))
    return failure();
  return result;
}

LogicalResult Runner::run(std::string &code) {
  compiler::prepareContext(context);
  // Errors come with the line of the source; the op's own text is for pass
  // developers.
  context.printOpOnDiagnostic(options.flags.printIRAfterAll);
  if (options.flags.printIRAfterAll)
    context.disableMultithreading();
  mlir::SourceMgrDiagnosticHandler printer(sources, &context,
                                           report.messages());
  mlir::ScopedDiagnosticHandler recorder(
      &context, [&](mlir::Diagnostic &diagnostic) {
        report.record(diagnostic);
        return failure(); // The printer is next.
      });
  // A batch keeps its devices open.
  if (!options.emit && options.diff.empty() && !options.isOneOfMany)
    earlyDevice.emplace(options);
  if (failed(read()))
    return failure();
  if (!options.diff.empty())
    return compareTargets();
  return options.emit ? emit(code) : compileAndRun();
}

LogicalResult tessera::execution::runProgram(RunnerOptions &options,
                                             KeptDevices &kept,
                                             std::string &code,
                                             Report &report) {
  code.clear();
  return Runner(options, kept, report).run(code);
}
