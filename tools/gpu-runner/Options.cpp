//===- Options.cpp - The command line of gpu-runner -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Execution/OptionValues.h"
#include "Target/Backend.h"
#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

#include <functional>

using namespace tessera::execution;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// N=FILE.npy.
static LogicalResult parseOutput(StringRef value, Options &options,
                                 Report &report) {
  auto [number, file] = value.split('=');
  unsigned index;
  if (file.empty() || number.getAsInteger(10, index))
    return report.fail(
        Exit::Usage,
        "--out=" + value +
            ": expected --out=N=FILE.npy, where N numbers the outputs from 0");
  options.outputs.emplace_back(index, file.str());
  return success();
}

/// NAME=SPEC.
static LogicalResult parseInput(StringRef value, Options &options,
                                Report &report) {
  auto [name, spec] = value.split('=');
  if (name.empty() || spec.empty())
    return report.fail(Exit::Usage,
                       "--input=" + value +
                           ": expected --input=NAME=SPEC, for example "
                           "--input=image=@image.npy");
  options.inputs.emplace_back(name.str(), spec.str());
  return success();
}

/// --explain, --explain=text, --explain=json.
static LogicalResult parseExplain(StringRef value, Options &options,
                                  Report &report) {
  if (value == "json")
    options.json = options.explainAsJSON = true;
  else if (value.empty() || value == "text")
    options.explain = true;
  else
    return report.fail(
        Exit::Usage,
        "--explain=" + value +
            ": expected --explain, which prints text, or --explain=json");
  return success();
}

/// NUMBER[:KIND], the value of `option`: a fault in an output or a kernel.
static LogicalResult parseFault(StringRef option, StringRef value,
                                StringRef what, std::optional<unsigned> &number,
                                PlantedFault &fault, Report &report) {
  unsigned index;
  auto [digits, kind] = value.split(':');
  if (digits.getAsInteger(10, index))
    return report.fail(Exit::Usage, option + "=" + value +
                                        ": expected the number of " + what);
  auto found = findPlantedFault(kind.empty() ? "element" : kind);
  if (!found)
    return report.fail(Exit::Usage,
                       option + "=" + value +
                           ": expected element, zero-row or swapped-rows");
  number = index;
  fault = *found;
  return success();
}

static LogicalResult parseCorrupt(StringRef value, Options &options,
                                  Report &report) {
  return parseFault("--debug-corrupt-output", value, "an output",
                    options.corruptOutput, options.plantedFault, report);
}

static LogicalResult parseCorruptKernel(StringRef value, Options &options,
                                        Report &report) {
  return parseFault("--debug-corrupt-kernel", value, "a kernel",
                    options.corruptKernel, options.plantedKernelFault, report);
}

/// --verify, --verify=sample.
static LogicalResult parseVerify(StringRef value, Options &options,
                                 Report &report) {
  if (!value.empty() && value != "sample")
    return report.fail(Exit::Usage, "--verify=" + value +
                                        ": expected --verify or "
                                        "--verify=sample");
  options.verify = true;
  options.verifySample |= !value.empty();
  return success();
}

static LogicalResult parseLaunch(StringRef value, Options &options,
                                 Report &report) {
  if (value == "direct")
    options.launch = runtime::LaunchMode::Direct;
  else if (value == "graph")
    options.launch = runtime::LaunchMode::Graph;
  else if (value != "auto")
    return report.fail(Exit::Usage, "--launch=" + value +
                                        ": expected auto, direct or graph");
  return success();
}

static LogicalResult parseEntry(StringRef value, Options &options, Report &) {
  value.consume_front("@");
  options.entry = value.str();
  options.hasEntry = true;
  return success();
}

/// -entry-point-result=void|i32|i64|f32, an option of mlir-runner.
static LogicalResult parseEntryResult(StringRef value, Options &options,
                                      Report &report) {
  options.entryResult = readEntryResult(value);
  return options.entryResult
             ? success()
             : report.fail(Exit::Usage, "-entry-point-result=" + value +
                                            ": expected void, i32, i64 or f32");
}

/// -shared-libs, an option of mlir-runner: the functions are built in.
static LogicalResult parseSharedLibraries(StringRef, Options &,
                                          Report &report) {
  report.note("--shared-libs has no effect: the functions that a program may "
              "call are built in (docs/Upstream.md)");
  return success();
}

static LogicalResult parseArgument(StringRef value, Options &options,
                                   Report &) {
  options.arguments.push_back(value.str());
  return success();
}

static LogicalResult parseTimeout(StringRef value, Options &options,
                                  Report &report) {
  FailureOr<double> seconds = parseTimeLimit("--timeout", value, report);
  if (failed(seconds))
    return failure();
  double limit = *seconds;
  options.timeout = limit;
  return success();
}

/// --bench, --bench=N.
static LogicalResult parseBench(StringRef value, Options &options,
                                Report &report) {
  options.bench = true;
  return value.empty() ? success() : parseBenchRuns(value, options, report);
}

/// --progress, --progress=off.
static LogicalResult parseProgress(StringRef value, Options &options,
                                   Report &report) {
  if (!value.empty() && value != "on" && value != "off")
    return report.fail(Exit::Usage, "--progress=" + value +
                                        " is unknown; expected on or off");
  options.progress = value != "off";
  return success();
}

static LogicalResult parseConvert(StringRef value, Options &options,
                                  Report &report) {
  options.convertsToF16 = value == "f16";
  return options.convertsToF16
             ? success()
             : report.fail(Exit::Usage,
                           "--convert=" + value + " is unknown; expected f16");
}

static LogicalResult parseBatch(StringRef value, Options &options,
                                Report &report) {
  // With a program, it is the batch dimension of a model.
  int64_t size;
  if (!value.getAsInteger(10, size) && size > 0) {
    options.batchSize = size;
    return success();
  }
  if (options.isOneOfMany)
    return report.fail(Exit::Usage, "--batch cannot be used within a batch");
  options.batch = value.str();
  return success();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
struct OptionInfo {
  enum Kind { Flag, OptionalValue, NeedsValue };
  using Parser = std::function<LogicalResult(StringRef value, Options &options,
                                             Report &report)>;

  OptionInfo(StringRef name, bool Options::*flag, bool hidden = false)
      : name(name), kind(Flag), flag(flag), hidden(hidden) {}
  OptionInfo(StringRef name, std::string Options::*text)
      : name(name), kind(NeedsValue),
        parse([text](StringRef value, Options &options, Report &) {
          options.*text = value.str();
          return success();
        }) {}
  OptionInfo(StringRef name, Parser parse, Kind kind = NeedsValue,
             bool hidden = false)
      : name(name), kind(kind), parse(std::move(parse)), hidden(hidden) {}

  StringRef name;
  Kind kind;
  /// For a flag, what it sets.
  bool Options::*flag = nullptr;
  /// For a value, what reads it; it reads "" if an optional one is absent.
  Parser parse;
  bool hidden = false;
};
} // namespace

static const OptionInfo infos[] = {
    {"--entry", parseEntry},
    {"-e", parseEntry},
    {"--entry-point-result", parseEntryResult},
    {"--shared-libs", parseSharedLibraries},
    {"--target", &Options::targetText},
    {"--device", &Options::device},
    {"--arg", parseArgument},
    {"--out", parseOutput},
    {"--verify", parseVerify, OptionInfo::OptionalValue},
    {"--diff", parseDiff},
    {"--tolerance", parseTolerance},
    {"--bisect", &Options::bisectFile},
    {"--trace", &Options::traceFile},
    {"--report", &Options::reportFile},
    {"--accept-unverified", &Options::acceptUnverified},
    {"--stats", &Options::stats},
    {"--repeat", parseRepeat},
    {"--timeout", parseTimeout},
    {"--bench", parseBench, OptionInfo::OptionalValue},
    {"--launch", parseLaunch},
    {"--json", &Options::json},
    {"--explain", parseExplain, OptionInfo::OptionalValue},
    {"--emit", parseStage},
    {"-o", &Options::outputFile},
    {"--vulkan-validation", &Options::vulkanValidation},
    {"--kernels", &Options::kernels},
    {"--cache", &Options::cache},
    {"--cache-limit", parseCacheLimit},
    {"--schedule-db", &Options::scheduleDb},
    {"--cache-why-miss", &Options::cacheWhyMiss},
    {"--batch", parseBatch},
    {"--convert", parseConvert},
    {"--progress", parseProgress, OptionInfo::OptionalValue},
    {"--input", parseInput},
    {"--list-devices", &Options::listDevices},
    {"--version", &Options::version},
    {"--help", &Options::help},
    {"--debug-corrupt-kernel", parseCorruptKernel, OptionInfo::NeedsValue,
     /*hidden=*/true},
    {"--debug-corrupt-output", parseCorrupt, OptionInfo::NeedsValue,
     /*hidden=*/true},
    {"--test-turn-self-tests", &Options::transposeSelfTests, /*hidden=*/true},
};

bool tessera::execution::wantsJSON(ArrayRef<const char *> arguments) {
  return llvm::any_of(arguments, [](StringRef text) {
    return text == "--json" || text == "--explain=json";
  });
}

/// An option, at `position` of the command line.
static LogicalResult parseOption(ArrayRef<const char *> arguments,
                                 size_t &position, Options &options,
                                 Report &report) {
  StringRef text = arguments[position];
  StringRef name, value;
  std::tie(name, value) = text.split('=');
  bool hasValue = name.size() != text.size();
  if (name == "-h" || name == "-help")
    name = "--help";
  if (ignoreRunnerOption(text, report))
    return success();
  std::string spelled = translateRunnerOption(name);
  name = spelled;
  const OptionInfo *info =
      llvm::find_if(infos, [&](const OptionInfo &i) { return i.name == name; });
  const compiler::FlagInfo *flag =
      name.starts_with("--") ? compiler::findFlag(name.drop_front(2)) : nullptr;
  if (info == std::end(infos) && !flag) {
    std::vector<std::string> names;
    for (const OptionInfo &candidate : infos)
      if (!candidate.hidden)
        names.push_back(candidate.name.str());
    for (const compiler::FlagInfo &candidate : compiler::getFlagInfos())
      if (!candidate.isHidden)
        names.push_back("--" + candidate.option);
    llvm::SmallVector<StringRef> known(names.begin(), names.end());
    return report.fail(Exit::Usage,
                       "unknown option '" + name + "'" +
                           compiler::tuning::formatHint(name, known) +
                           "; --help lists the options");
  }
  OptionInfo::Kind kind = !flag            ? info->kind
                          : flag->isSwitch ? OptionInfo::Flag
                                           : OptionInfo::NeedsValue;
  if (kind == OptionInfo::Flag) {
    if (hasValue)
      return report.fail(Exit::Usage, name + " takes no value, but '" + value +
                                          "' was given");
  } else if (kind == OptionInfo::NeedsValue && !hasValue) {
    if (position + 1 == arguments.size())
      return report.fail(Exit::Usage, name + " needs a value; see --help");
    value = arguments[++position];
    hasValue = true;
  }
  if ((kind == OptionInfo::NeedsValue || hasValue) && value.empty())
    return report.fail(Exit::Usage, name + " needs a value; see --help");
  if (flag) {
    if (flag->set(options.flags, value))
      return success();
    return report.fail(Exit::Usage, flag->explainInvalid(value, "--"));
  }
  if (!info->flag)
    return info->parse(value, options, report);
  options.*info->flag = true;
  return success();
}

LogicalResult tessera::execution::parseOptions(ArrayRef<const char *> arguments,
                                               Options &options,
                                               Report &report) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef text = arguments[i];
    if (text.starts_with("-") && text != "-") {
      if (failed(parseOption(arguments, i, options, report)))
        return failure();
    } else if (options.file.empty() && !text.empty()) {
      options.file = text.str();
    } else {
      return report.fail(Exit::Usage, "only one program can run at a time: '" +
                                          options.file + "' and '" + text +
                                          "' were given");
    }
  }
  if (!options.targetText.empty() && !options.isEmitted(EmitStage::Bundle) &&
      failed(parseTarget(options.targetText, options, report)))
    return failure();
  if (!options.batch.empty() && arguments.size() != 1)
    return report.fail(Exit::Usage, "--batch excludes other options: each line "
                                    "of its file has its own options");
  if (options.help || options.version || options.listDevices ||
      !options.batch.empty())
    return success();
  if (options.file.empty())
    return report.fail(
        Exit::Usage,
        "no program was given; run gpu-runner FILE.mlir, or see --help");

  if (options.isOneOfMany && options.file == "-")
    return report.fail(Exit::Usage, "a line of a batch cannot read its program "
                                    "from standard input: name a file");

  if (!options.device.empty() && options.ordinal)
    return report.fail(Exit::Usage, "--device and the number in --target are "
                                    "mutually exclusive: remove one");
  const compiler::CodeStage *code =
      options.isEmitted(EmitStage::Code)
          ? compiler::findCodeStage(options.emit->name)
          : nullptr;
  if (!options.otherChips.empty() && !(code && code->takesSeveralChips))
    return report.fail(Exit::Usage,
                       "several chips in --target require --emit=hsaco, which "
                       "bundles their code, or --emit=bundle; name one chip, "
                       "or none to run on this machine's device");
  if (!options.diff.empty()) {
    StringRef wrong = !options.targetText.empty()   ? "--target"
                      : !options.device.empty()     ? "--device"
                      : options.verify              ? "--verify"
                      : options.repeat              ? "--repeat"
                      : options.bench               ? "--bench"
                      : options.explain             ? "--explain"
                      : options.explainAsJSON       ? "--explain=json"
                      : options.emit                ? "--emit"
                      : !options.reportFile.empty() ? "--report"
                      : !options.kernels.empty()    ? "--kernels"
                                                    : "";
    if (!wrong.empty())
      return report.fail(Exit::Usage, "--diff only runs the program on its "
                                      "targets and compares them: remove " +
                                          wrong);
  } else if (options.tolerance || !options.bisectFile.empty()) {
    return report.fail(
        Exit::Usage, StringRef(options.tolerance ? "--tolerance" : "--bisect") +
                         " requires --diff");
  }
  if (options.corruptKernel && !options.verify)
    return report.fail(Exit::Usage, "--debug-corrupt-kernel requires --verify");
  if (options.acceptUnverified && !options.verify)
    return report.fail(Exit::Usage, "--accept-unverified requires --verify");
  if (options.stats && !options.verify && options.diff.empty())
    return report.fail(Exit::Usage, "--stats requires --verify or --diff");
  if (!options.outputFile.empty() && !options.emit)
    return report.fail(Exit::Usage,
                       "-o requires --emit; --out=N=FILE.npy writes an output");
  if (options.emit) {
    StringRef wrong = options.verify             ? "--verify"
                      : options.repeat           ? "--repeat"
                      : options.bench            ? "--bench"
                      : !options.outputs.empty() ? "--out"
                      : !options.kernels.empty() ? "--kernels"
                                                 : "";
    if (!wrong.empty())
      return report.fail(
          Exit::Usage,
          wrong + " runs the program, but --emit does not: remove one");
    if (options.isEmitted(EmitStage::Bundle) && !options.reportFile.empty())
      return report.fail(Exit::Usage,
                         "--report shows the program for one target, but "
                         "--emit=bundle has several: name another stage");
    if (options.cacheWhyMiss)
      return report.fail(Exit::Usage, "--emit always compiles and does not use "
                                      "the cache: remove --cache-why-miss");
    if (options.json && options.outputFile.empty())
      return report.fail(Exit::Usage,
                         "--emit and --json both write to standard "
                         "output: add -o FILE");
  }
  return success();
}

void tessera::execution::printVersion(llvm::raw_ostream &os) {
  os << "gpu-runner, Tessera " TESSERA_VERSION " on LLVM " LLVM_VERSION_STRING
        "\n";
}

void tessera::execution::printHelp(llvm::raw_ostream &os) {
  os << R"(gpu-runner: compiles a .mlir file, runs it on a device and checks the results

  gpu-runner FILE.mlir [options]        FILE may be - (standard input) or a named
                                        pipe
  gpu-runner --batch=FILE               runs each line of FILE
  gpu-runner FILE.onnx [options]        runs an ONNX model (docs/Models.md)
  gpu-runner FILE.bundle [options]      runs the output of --emit=bundle
  gpu-runner --list-devices

Program and device
  --entry=NAME        the function to run (main); also -e NAME
  --entry-point-result=void|i32|i64|f32
                      prints the result of the entry as mlir-runner does, and no
                      statistics of outputs
  --shared-libs=FILES accepted from command lines of mlir-runner, without effect:
                      docs/Upstream.md lists the functions that programs may call
  --target=auto       the best device of this machine; the CPU if there is no other
  --target=TARGET[:NUMBER][:CHIP]
                      TARGET is cpu, cuda, hip, vulkan, opencl or level-zero;
                      NUMBER is the number in --list-devices; CHIP is the chip
                      to compile for (cuda:sm_80, hip:gfx942). --emit=hsaco
                      accepts several chips separated by commas and makes one
                      offload bundle (hip:gfx942,gfx1100); --emit=bundle accepts
                      several targets (cuda:sm_80,sm_90a,cpu). With
                      cpu:emulate=CHIP the CPU runs the code of a chip of
                      another target, lane by lane
  --device=WHICH      the first device of the target in --list-devices whose kind
                      is WHICH (discrete, integrated, virtual or software, as
                      Vulkan and Level Zero report it) or whose name contains
                      WHICH, ignoring case

Arguments and outputs
  --arg=SPEC          contents of the next argument of the entry, in order:
                        int[:SEED]     small integers, exact in any summation
                                       order (the default; argument N has seed
                                       N)
                        random[:SEED]  uniform numbers
                        iota, zeros, fill:X
                        @FILE.npy      from a file
                        X              a number, for scalars
                      :RxC... after one of the first five gives the shape of an
                      argument with dynamic dimensions (int:128x64, zeros:16x)
  --input=NAME=SPEC   the same for the input of that name of an ONNX model
  --batch=N           the size of the first dimension of a model's inputs, where
                      the model leaves it open
  --convert=f16       computes in float16 what a model computes in float32, with
                      sums in float32; --verify then also reports the relative
                      norm of the difference from the model
  --out=N=FILE.npy    writes output N to a file. Outputs are numbered from 0:
                      first the results of the entry, then those memref
                      arguments that the program may write, in order
  --json              prints one JSON object with all results; human-readable
                      text goes to standard error

Checks and measurements
  --verify            compares with a reference computed from the source program,
                      in higher precision. Memory is poisoned before the run and
                      guarded on both sides. For a wrong output it reports the
                      wrong elements and their errors: absolute, relative, in
                      ulps, NaNs and infinities, elements never written. Runs
                      a second time, as --repeat=2 does, to catch races. Exit
                      status 3 if an output is wrong, or if elements without an
                      error bound in the reference differ. In a program of
                      several kernels, each kernel is compared on its own, with
                      the operands that it had
  --verify=sample     the same for some elements of each kernel's outputs, which
                      takes seconds for a network
  --accept-unverified
                      with --verify, exit status 0 if elements do not have an
                      error bound, or the program has no outputs. Wrong elements
                      still give exit status 3
  --stats             prints these statistics for correct outputs, too
  --repeat=N          runs N times in total from the same arguments, and compares
                      every output with the first run's, bit by bit; every other
                      run poisons memory with another value. If a kernel adds
                      atomically, in any order, different bits are compared with
                      the reference, given --verify, which runs twice by default;
                      --repeat=1 runs once
  --diff=TARGET,TARGET,...
                      runs the program on each of these targets (as in --target)
                      with the same arguments, and compares the outputs with
                      those of the first; exit status 1 if they differ by more
                      than the error bounds of the reference
  --tolerance=ABS[,REL]
                      with --diff, an element may be off by ABS + REL * |element|
                      instead; 0 requires equal values
  --bisect=FILE       with --diff, looks for the first op whose result differs,
                      and writes a program to FILE that ends with that op
  --timeout=SECONDS   ends the process with status 1 when one run of the program
                      takes longer, and reports the kernel launched last.
                      Compile time is not limited
  --bench[=N]         times N runs with cold caches (default: enough for 0.3 s,
                      20 to 200), and the settled rate: runs without the host
                      in between, as one graph, over copies of the arguments
                      that are more than twice the cache; on devices without
                      graphs, runs one after the other
  --launch=auto|direct|graph
                      how the kernels of a run are queued: one by one (direct),
                      as one graph of the driver (graph, on cuda and hip), or
                      as is faster. --explain prints which was used and why
  --trace=FILE.json   writes a timeline in Chrome's trace event format for
                      Perfetto and chrome://tracing: compile stages and
                      passes, loading, copies, launches, and each kernel with
                      its grid and the device's time. Launches are then
                      synchronous; runs of --bench are not traced
  --explain           prints for each matmul the instruction chosen, those
                      rejected and why, the requirements of a better one, and
                      the peak rate of the device; and for each kernel its
                      schedule and its resource usage (docs/Explain.md)
  --explain=json      the same as one JSON object on standard output, which --json
                      also prints
  --report=FILE.html  writes one page with the program at each stage side by side
                      (lines are linked by source line), its assembly, the
                      output of --explain, and the times; for a run, or with
                      --emit without a device
)";
  os << "\nCompilation\n";
  compiler::printFlagHelp(os, /*column=*/22,
                          [](const compiler::FlagInfo &) { return true; });
  os << "\n";
  os << R"(Many programs
  --batch=FILE        runs each line of FILE (or of standard input, for -) as a
                      command line of gpu-runner, in one process that opens each
                      device once. Quotes are as in a shell; empty lines and
                      lines that start with # are skipped. The output of each
                      line ends with `=== line N: exit status S` on standard
                      output and on standard error. The exit status is that of
                      the first line that failed

Compiled programs
  --cache=DIR|off     stores them in the folder DIR, and loads them from there when
                      the same program is run again with the same options, by
                      the same build on the same machine. Default:
                      $TESSERA_CACHE_DIR, else $XDG_CACHE_HOME/tessera, else
                      ~/.cache/tessera. --emit and --print-ir-after-all always
                      compile
  --schedule-db=FILE  schedules that gpu-tune found, for matmuls without a
                      hand-written one; off: only the compiler's choices.
                      Default: the records that ship with the compiler
  --cache-limit=SIZE  its maximum size (2GiB): a number of bytes, or of KiB, MiB
                      or GiB. The least recently used entries are evicted first
  --cache-why-miss    reports whether the program was cached, and if not, which
                      parts of its key differ from the nearest cached program

Looking inside
  --emit=STAGE        prints the program at a stage instead of running it:
                      schedule, tessera, vendor, llvm, ptx, cubin (cuda),
                      amdgcn, hsaco (hip), object, asm (cpu), spirv, spirv-asm
                      (vulkan, opencl, level-zero; spirv-asm is the output of
                      spirv-dis, llvm the spirv dialect). With a chip in --target
                      no device is required. bundle: all public functions,
                      compiled, in one file that gpu-runner FILE.bundle and
                      libtessera run without compiling (docs/Library.md)
  -o FILE             output file of --emit
  --kernels=FILE      runs the kernels of FILE instead of the compiled ones: the
                      output of --emit=ptx, cubin, hsaco or spirv, edited by
                      hand, with the same kernels and arguments
  --vulkan-validation checks the driver calls with the Vulkan validation layer;
                      an error makes the exit status 1

  --list-devices, --version, --help

Exit status: 0 success; 1 the program did not compile or run, or --diff found a
difference; 2 invalid command line; 3 wrong results; 77 the requested device does
not exist.
)";
}
