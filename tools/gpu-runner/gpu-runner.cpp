//===- gpu-runner.cpp - Compiles a program, runs it, checks it ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Options      the command line
//   Batch        many command lines, in one process
//   Devices      which device, which chip
//   Program      FILE.mlir, and what its entry takes and gives
//   Emit         --emit: stop at a stage
//   Arguments    what the arguments hold
//   Compile      from the cache, or by the compiler
//   Ending       signals, and runs that take too long
//   Execution    buffers, the call, the outputs
//   Explain      what was compiled, and how
//   Verify       outputs against the reference
//   Diff         targets against each other
//   Bisect       the first op whose result differs
//   Repeat       runs against each other, and what none of them wrote
//   Statistics   how far outputs are off
//   Bench        times
//   Stages       the program at each stage
//   HtmlReport   all of it on a page
//   Roofline     what a product could reach at most
//   TraceFile    a timeline for a viewer
//   Work         what the products come to
//   Report       what is said, and the exit status
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Batch.h"
#include "Bench.h"
#include "BundledProgram.h"
#include "Compile.h"
#include "Devices.h"
#include "Diff.h"
#include "Emit.h"
#include "Ending.h"
#include "Execution.h"
#include "Explain.h"
#include "HtmlReport.h"
#include "Options.h"
#include "PlantedFault.h"
#include "Program.h"
#include "Repeat.h"
#include "TraceFile.h"
#include "Verify.h"

#include "Driver/LargeStack.h"
#include "Driver/ProgramCache.h"
#include "Driver/ScheduleDatabase.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>
#include <cmath>

using namespace runner;
using runtime::HostArray;

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// An element with as many digits as a person reads.
static std::string formatElement(const HostArray &array, int64_t index) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!runtime::isFloat(array.type))
    os << array.getInt(index);
  else if (double value = array.getDouble(index); std::isnan(value))
    os << "nan";
  else
    os << llvm::format("%.6g", value);
  return text;
}

/// The elements of a small array, a line for each row or for 16 of a vector.
static void printElements(const HostArray &array, llvm::raw_ostream &os) {
  constexpr int64_t most = 64;
  int64_t size = array.size();
  if (size > most || size == 0)
    return;
  int64_t row = array.shape.size() > 1 ? array.shape.back() : 16;
  size_t width = 0;
  for (int64_t i = 0; i < size; ++i)
    width = std::max(width, formatElement(array, i).size());
  for (int64_t i = 0; i < size; ++i)
    os << (i % row == 0 ? "  " : " ")
       << llvm::right_justify(formatElement(array, i), width)
       << (i % row == row - 1 || i == size - 1 ? "\n" : "");
}

static void printOutput(size_t index, const Output &output, Report &report,
                        llvm::json::Array &list) {
  const HostArray &array = output.array;
  double least = INFINITY, greatest = -INFINITY, sum = 0;
  int64_t nans = 0, size = array.size();
  for (int64_t i = 0; i < size; ++i) {
    double value = array.getDouble(i);
    if (std::isnan(value)) {
      ++nans;
      continue;
    }
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    sum += value;
  }
  bool hasNumbers = size > nans;
  double mean = sum / static_cast<double>(size - nans);
  uint32_t checksum = llvm::crc32(ArrayRef(
      reinterpret_cast<const uint8_t *>(array.data.data()), array.data.size()));
  StringRef element = runtime::elementTypeName(array.type);

  llvm::raw_ostream &os = report.text();
  os << "out " << index << " = " << output.name << ": "
     << formatType(array.shape, element);
  if (hasNumbers)
    os << llvm::format(", min %.6g, max %.6g, mean %.6g", least, greatest,
                       mean);
  if (nans)
    os << ", " << nans << " NaN";
  os << llvm::format(", checksum %08x\n", checksum);
  printElements(array, os);
  list.push_back(llvm::json::Object{
      {"name", output.name},
      {"element_type", element},
      {"shape", llvm::json::Array(array.shape)},
      {"min", hasNumbers ? toJSON(least) : nullptr},
      {"max", hasNumbers ? toJSON(greatest) : nullptr},
      {"mean", hasNumbers ? toJSON(mean) : nullptr},
      {"nans", nans},
      {"checksum",
       llvm::utohexstr(checksum, /*LowerCase=*/true, /*Width=*/8)}});
}

/// The number of an output that an option names.
static LogicalResult checkOutputNumber(StringRef option, unsigned number,
                                       size_t count, Report &report) {
  if (number < count)
    return success();
  std::string mend = count == 0   ? "the program has no outputs"
                     : count == 1 ? "the program has one output, number 0"
                                  : "the program's outputs are numbered 0 to " +
                                        std::to_string(count - 1);
  return report.fail(Exit::Usage,
                     option + " names output " + Twine(number) + "; " + mend);
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
      Report::note("output " + Twine(*options.corruptOutput) +
                   " has no elements: no fault is planted");
    else
      report.text() << "planted in out " << *options.corruptOutput << ": "
                    << planted << "\n";
  }
  llvm::json::Array list;
  for (auto [i, output] : llvm::enumerate(outputs))
    printOutput(i, output, report, list);
  report.root["outputs"] = std::move(list);
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

/// Notes how long each step up to the first launch takes.
namespace {
class StartClock {
public:
  explicit StartClock(runtime::Trace *trace) : trace(trace) {}

  void done(const char *step) {
    auto now = std::chrono::steady_clock::now();
    if (trace) {
      runtime::TraceEvent event;
      event.name = step;
      event.category = "step";
      event.track = trace->getTrack();
      event.start = trace->toTime(last);
      event.duration = trace->toTime(now) - event.start;
      trace->add(std::move(event));
    }
    steps.emplace_back(step, milliseconds(last, now));
    last = now;
  }

  /// "first launch after 20.3 ms: read 1.2, ...".
  void report(const std::optional<std::chrono::steady_clock::time_point> &end,
              bool print, Report &report) const {
    if (!end)
      return;
    double total = milliseconds(begin, *end);
    llvm::json::Object object;
    if (print)
      report.text() << llvm::format("first launch: after %.1f ms", total);
    for (auto [i, step] : llvm::enumerate(steps)) {
      object[step.first] = toJSON(step.second);
      if (print)
        report.text() << (i == 0 ? ": " : ", ") << step.first << " "
                      << llvm::format("%.1f", step.second);
    }
    if (print)
      report.text() << "\n";
    report.root["first_launch_ms"] = toJSON(total);
    report.root["start"] = std::move(object);
  }

private:
  using Time = std::chrono::steady_clock::time_point;
  static double milliseconds(Time from, Time to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  }

  runtime::Trace *trace;
  Time begin = std::chrono::steady_clock::now(), last = begin;
  std::vector<std::pair<const char *, double>> steps;
};
} // namespace

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
      Report::note("the program is from the cache (" + cache.key +
                   "); --cache=off recompiles it");
    return failure();
  }
  clock.done("load");
  if (cache.kind != CacheUse::Off)
    if (runtime::Status status = device.saveCache(); !status.ok())
      Report::note("cannot cache the driver's compiled kernels: " +
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
        return isAsReference(options, chip, entry, program.products, arguments,
                             again, report);
      };
    // Wrong numbers are told of all the same.
    if (failed(repeat(options, device, program, entry, execution, outputs,
                      compareRun, report)) &&
        report.exit() != Exit::WrongNumbers)
      return failure();
  }
  if (options.verify) {
    runtime::TraceScope scope(report.trace, "step", "verify");
    if (failed(verify(options, chip, entry, program.products, arguments,
                      outputs, device, execution, report)))
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
  // What was compiled for the run, without its being told once more.
  FailureOr<std::vector<StageText>> stages = collectStages(
      module, source.getBufferIdentifier(), source.getBuffer(), compileOptions);
  if (failed(stages))
    return report.failDiagnosed("--report");
  return writeHtmlReport(options, *stages, explained, report);
}

static LogicalResult compileAndRun(Options &options, KeptDevices &kept,
                                   Report &report) {
  StartClock clock(report.trace);
  mlir::MLIRContext context;
  compiler::prepareContext(context);
  // Errors come with the line of the source; the op's own text is for those
  // who work on passes.
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
    return emitProgram(options, compileOptions, *module, source.getBuffer(),
                       source.getBufferIdentifier(), report);
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
      Report::note(note);
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
      std::vector<ProductWork> work;
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
    return emitStage(options, compileOptions, *module, report);
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
static int runCommandLine(ArrayRef<const char *> arguments, KeptDevices &kept,
                          std::string *batch) {
  Report report(wantsJSON(arguments));
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
  if (options.vulkanValidation)
    runtime::requestVulkanValidation();
  if (options.turnSelfTests)
    runtime::turnVulkanSelfTests();
  if (options.listDevices) {
    listDevices(report);
    return report.finish();
  }
  report.root["file"] = llvm::json::fixUTF8(options.file);
  report.root["entry"] = llvm::json::fixUTF8(options.entry);
  setTimeLimit(options.timeout, options.json);
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
  KeptDevices kept;
  std::string batch;
  int status = runCommandLine(
      ArrayRef<const char *>(argv + std::min(argc, 1), argv + argc), kept,
      &batch);
  if (batch.empty())
    return status;
  return runBatch(batch, [&](ArrayRef<const char *> arguments) {
    int lineStatus = runCommandLine(arguments, kept, /*batch=*/nullptr);
    if (lineStatus != 0)
      kept.close();
    return lineStatus;
  });
}

int main(int argc, char **argv) {
  // Before any driver is loaded.
  (void)compiler::getCompilerIdentity();
  handleEndingSignals();
  int status = 0;
  // One thread for all lines: drivers keep things for the thread that calls.
  compiler::runOnLargeStack([&] { status = runAll(argc, argv); });
  return status;
}
