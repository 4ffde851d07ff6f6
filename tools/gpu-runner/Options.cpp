//===- Options.cpp - The command line of gpu-runner -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "Tuning/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace runner;

//===----------------------------------------------------------------------===//
// Targets and stages
//===----------------------------------------------------------------------===//

static constexpr StringRef targets[] = {"cpu",    "cuda",   "hip",
                                        "vulkan", "opencl", "level-zero"};

ArrayRef<StringRef> runner::getTargets() { return targets; }

static constexpr std::pair<StringRef, EmitStage> stages[] = {
    {"schedule", EmitStage::Schedule}, {"tessera", EmitStage::Tessera},
    {"vendor", EmitStage::Vendor},     {"llvm", EmitStage::LLVM},
    {"ptx", EmitStage::PTX},           {"cubin", EmitStage::Cubin},
    {"amdgcn", EmitStage::AMDGCN},     {"hsaco", EmitStage::HSACO},
    {"object", EmitStage::Object},     {"asm", EmitStage::Assembly},
    {"spirv", EmitStage::SPIRV},       {"spirv-asm", EmitStage::SPIRVAssembly},
    {"bundle", EmitStage::Bundle},
};

StringRef runner::getStageName(EmitStage stage) {
  for (auto [name, value] : stages)
    if (value == stage)
      return name;
  return "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// " (did you mean 'x'?)", or nothing.
static std::string suggest(StringRef given, ArrayRef<StringRef> known) {
  StringRef nearest = compiler::tuning::findNearest(given, known);
  return nearest.empty() ? "" : " (did you mean '" + nearest.str() + "'?)";
}

/// TARGET[:ORDINAL][:CHIP[,CHIP]...].
LogicalResult runner::parseTarget(StringRef value, Options &options,
                                  Report &report, StringRef option) {
  auto [name, rest] = value.split(':');
  if (llvm::is_contained(targets, name.split(',').first) && name.contains(','))
    return report.fail(Exit::Usage,
                       option + "=" + value +
                           ": several targets are for --emit=bundle, and for "
                           "--diff, which compares them; name one");
  if (!llvm::is_contained(targets, name) && name != "auto") {
    llvm::SmallVector<StringRef> known(getTargets());
    known.push_back("auto");
    return report.fail(
        Exit::Usage, "unknown target '" + name + "'" + suggest(name, known) +
                         "; known are auto, " + llvm::join(getTargets(), ", "));
  }
  if (name == "auto" && !rest.empty())
    return report.fail(Exit::Usage, option + "=" + value +
                                        ": auto takes neither chip nor number; "
                                        "name the target, as in cuda:sm_90a");
  options.target = name.str();
  options.chip.clear();
  options.otherChips.clear();
  options.ordinal.reset();
  auto [first, second] = rest.split(':');
  unsigned ordinal;
  if (!first.empty() && !first.getAsInteger(10, ordinal)) {
    options.ordinal = ordinal;
    first = second;
    second = "";
  }
  if (first.contains(':') || !second.empty() || value.ends_with(":"))
    return report.fail(Exit::Usage,
                       option + "=" + value +
                           ": it is TARGET[:NUMBER][:CHIP], as in cuda:sm_90a");
  llvm::SmallVector<StringRef> chips;
  first.split(chips, ',');
  if (chips.size() > 1 && llvm::is_contained(chips, ""))
    return report.fail(Exit::Usage, option + "=" + value +
                                        ": between commas stand chips, as in "
                                        "hip:gfx942,gfx1100");
  for (auto [i, chip] : llvm::enumerate(chips))
    if (llvm::is_contained(ArrayRef(chips).take_front(i), chip))
      return report.fail(Exit::Usage,
                         "chip " + chip + " stands twice in " + option);
  options.chip = chips.front().str();
  for (StringRef chip : ArrayRef(chips).drop_front())
    options.otherChips.push_back(chip.str());
  return success();
}

/// TARGET,TARGET[,TARGET]...
static LogicalResult parseDiff(StringRef value, Options &options,
                               Report &report) {
  llvm::SmallVector<StringRef> names;
  value.split(names, ',');
  options.diff.clear();
  for (StringRef name : names) {
    Options scratch;
    if (failed(parseTarget(name, scratch, report, "--diff")))
      return failure();
    options.diff.push_back(name.str());
  }
  if (names.size() < 2)
    return report.fail(Exit::Usage,
                       "--diff=" + value +
                           ": two targets or more, as in "
                           "--diff=cpu,cuda,cpu:emulate=gfx942; the others are "
                           "compared with the first");
  return success();
}

/// ABS[,REL].
static LogicalResult parseTolerance(StringRef value, Options &options,
                                    Report &report) {
  auto [first, second] = value.split(',');
  double absolute = 0, relative = 0;
  bool hasRelative = first.size() != value.size();
  if (first.getAsDouble(absolute) || !(absolute >= 0) ||
      (hasRelative && (second.getAsDouble(relative) || !(relative >= 0))))
    return report.fail(Exit::Usage,
                       "--tolerance=" + value +
                           ": it is ABS[,REL], numbers of 0 or more: elements "
                           "may be off by ABS + REL * |element|");
  options.tolerance = {absolute, std::nullopt};
  if (hasRelative)
    options.tolerance->second = relative;
  options.toleranceText = value.str();
  return success();
}

/// N=FILE.npy.
static LogicalResult parseOutput(StringRef value, Options &options,
                                 Report &report) {
  auto [number, file] = value.split('=');
  unsigned index;
  if (file.empty() || number.getAsInteger(10, index))
    return report.fail(Exit::Usage,
                       "--out=" + value +
                           ": it is --out=N=FILE.npy, where N numbers the "
                           "outputs from 0");
  options.outputs.emplace_back(index, file.str());
  return success();
}

static LogicalResult parseStage(StringRef value, Options &options,
                                Report &report) {
  llvm::SmallVector<StringRef> names;
  for (auto [name, stage] : stages) {
    names.push_back(name);
    if (name == value)
      options.emit = stage;
  }
  if (llvm::is_contained(names, value))
    return success();
  return report.fail(Exit::Usage, "unknown stage '" + value + "' for --emit" +
                                      suggest(value, names) + "; known are " +
                                      llvm::join(names, ", "));
}

static LogicalResult parseRuns(StringRef value, Options &options,
                               Report &report) {
  unsigned runs;
  if (value.getAsInteger(10, runs) || runs == 0)
    return report.fail(Exit::Usage, "--bench=" + value +
                                        ": the number of runs is 1 or more");
  options.benchRuns = runs;
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
    return report.fail(Exit::Usage, "--explain=" + value +
                                        ": it is --explain, which prints text, "
                                        "or --explain=json");
  return success();
}

/// SECONDS.
static LogicalResult parseTimeout(StringRef value, Options &options,
                                  Report &report) {
  double seconds;
  // A day, beyond which nobody means it.
  if (value.getAsDouble(seconds) || !(seconds > 0) || seconds > 86400)
    return report.fail(Exit::Usage,
                       "--timeout=" + value +
                           ": it is a number of seconds, more than 0 and no "
                           "more than 86400, as in --timeout=2.5");
  options.timeout = seconds;
  return success();
}

/// BYTES, or a number with KiB, MiB or GiB behind it.
static LogicalResult parseCacheLimit(StringRef value, Options &options,
                                     Report &report) {
  StringRef number = value;
  unsigned shift = number.consume_back("KiB")   ? 10
                   : number.consume_back("MiB") ? 20
                   : number.consume_back("GiB") ? 30
                                                : 0;
  uint64_t size;
  if (number.getAsInteger(10, size) || size == 0 || size >> (63 - shift))
    return report.fail(Exit::Usage, "--cache-limit=" + value +
                                        ": it is a number of bytes, as in "
                                        "--cache-limit=64MiB");
  options.cacheLimit = size << shift;
  return success();
}

static LogicalResult parseRepeat(StringRef value, Options &options,
                                 Report &report) {
  unsigned runs;
  if (value.getAsInteger(10, runs) || runs == 0)
    return report.fail(Exit::Usage,
                       "--repeat=" + value +
                           ": the number of runs is 1 or more, the first one "
                           "counted");
  options.repeat = runs;
  return success();
}

static LogicalResult parseOrder(StringRef value, Options &options,
                                Report &report) {
  StringRef size = value;
  unsigned number;
  if (value != "breadth_first" && value != "depth_first" &&
      !(size.consume_front("groups(") && size.consume_back(")") &&
        !size.getAsInteger(10, number) && number > 0))
    return report.fail(Exit::Usage, "unknown order '" + value +
                                        "' for --vthread-order; known are "
                                        "breadth_first, depth_first, "
                                        "groups(N)");
  options.vthreadOrder = value.str();
  return success();
}

static LogicalResult parseDirectCopies(StringRef value, Options &options,
                                       Report &report) {
  options.directCopies = compiler::findDirectCopies(value);
  if (!options.directCopies)
    return report.fail(Exit::Usage, "unknown choice '" + value +
                                        "' for --direct-copies; known are "
                                        "auto, always, never");
  return success();
}

static LogicalResult parseCorrupt(StringRef value, Options &options,
                                  Report &report) {
  unsigned index;
  auto [number, kind] = value.split(':');
  if (number.getAsInteger(10, index))
    return report.fail(Exit::Usage, "--debug-corrupt-output=" + value +
                                        ": the number of an output is needed");
  auto fault = findPlantedFault(kind.empty() ? "element" : kind);
  if (!fault)
    return report.fail(Exit::Usage,
                       "--debug-corrupt-output=" + value +
                           ": expected element, zero-row or swapped-rows");
  options.corruptOutput = index;
  options.plantedFault = *fault;
  return success();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
struct OptionInfo {
  enum Kind { Flag, OptionalValue, NeedsValue };
  StringRef name;
  Kind kind;
  /// For a flag, what it sets.
  bool Options::*flag = nullptr;
  /// For a value, what reads it.
  LogicalResult (*parse)(StringRef value, Options &options,
                         Report &report) = nullptr;
  bool hidden = false;
};
} // namespace

static const OptionInfo infos[] = {
    {"--entry", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       value.consume_front("@");
       options.entry = value.str();
       options.hasEntry = true;
       return success();
     }},
    {"--target", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &report) {
       options.targetText = value.str();
       return success();
     }},
    {"--device", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.device = value.str();
       return success();
     }},
    {"--arg", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.arguments.push_back(value.str());
       return success();
     }},
    {"--out", OptionInfo::NeedsValue, nullptr, parseOutput},
    {"--verify", OptionInfo::Flag, &Options::verify},
    {"--diff", OptionInfo::NeedsValue, nullptr, parseDiff},
    {"--tolerance", OptionInfo::NeedsValue, nullptr, parseTolerance},
    {"--bisect", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.bisectFile = value.str();
       return success();
     }},
    {"--trace", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.traceFile = value.str();
       return success();
     }},
    {"--report", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.reportFile = value.str();
       return success();
     }},
    {"--accept-unverified", OptionInfo::Flag, &Options::acceptUnverified},
    {"--stats", OptionInfo::Flag, &Options::stats},
    {"--repeat", OptionInfo::NeedsValue, nullptr, parseRepeat},
    {"--timeout", OptionInfo::NeedsValue, nullptr, parseTimeout},
    {"--bench", OptionInfo::OptionalValue, &Options::bench, parseRuns},
    {"--json", OptionInfo::Flag, &Options::json},
    {"--explain", OptionInfo::OptionalValue, nullptr, parseExplain},
    {"--require-mma", OptionInfo::Flag, &Options::requireMatrixUnit},
    {"--allow-tf32", OptionInfo::Flag, &Options::allowTf32},
    {"--allow-fast-f8", OptionInfo::Flag, &Options::allowFastF8},
    {"--no-fuse-attention", OptionInfo::Flag, &Options::noFuseAttention},
    {"--vthread-order", OptionInfo::NeedsValue, nullptr, parseOrder},
    {"--direct-copies", OptionInfo::NeedsValue, nullptr, parseDirectCopies},
    {"--emit", OptionInfo::NeedsValue, nullptr, parseStage},
    {"-o", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.outputFile = value.str();
       return success();
     }},
    {"--print-ir-after-all", OptionInfo::Flag, &Options::printIRAfterAll},
    {"--ptxas", OptionInfo::Flag, &Options::usePtxas},
    {"--validate", OptionInfo::Flag, &Options::validate},
    {"--vulkan-validation", OptionInfo::Flag, &Options::vulkanValidation},
    {"--kernels", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.kernels = value.str();
       return success();
     }},
    {"--cache", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.cache = value.str();
       return success();
     }},
    {"--cache-limit", OptionInfo::NeedsValue, nullptr, parseCacheLimit},
    {"--schedule-db", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &) {
       options.scheduleDb = value.str();
       return success();
     }},
    {"--cache-why-miss", OptionInfo::Flag, &Options::cacheWhyMiss},
    {"--batch", OptionInfo::NeedsValue, nullptr,
     [](StringRef value, Options &options, Report &report) {
       if (options.isOneOfMany)
         return report.fail(Exit::Usage, "--batch cannot stand in a batch");
       options.batch = value.str();
       return success();
     }},
    {"--list-devices", OptionInfo::Flag, &Options::listDevices},
    {"--version", OptionInfo::Flag, &Options::version},
    {"--help", OptionInfo::Flag, &Options::help},
    {"--debug-corrupt-output", OptionInfo::NeedsValue, nullptr, parseCorrupt,
     /*hidden=*/true},
    {"--test-share-fragments", OptionInfo::Flag, &Options::testShareFragments,
     /*parse=*/nullptr, /*hidden=*/true},
    {"--test-turn-self-tests", OptionInfo::Flag, &Options::turnSelfTests,
     /*parse=*/nullptr, /*hidden=*/true},
};

bool runner::wantsJSON(ArrayRef<const char *> arguments) {
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
  const OptionInfo *info =
      llvm::find_if(infos, [&](const OptionInfo &i) { return i.name == name; });
  if (info == std::end(infos)) {
    llvm::SmallVector<StringRef> known;
    for (const OptionInfo &candidate : infos)
      if (!candidate.hidden)
        known.push_back(candidate.name);
    return report.fail(Exit::Usage, "unknown option '" + name + "'" +
                                        suggest(name, known) +
                                        "; --help lists the options");
  }
  if (info->kind == OptionInfo::Flag) {
    if (hasValue)
      return report.fail(Exit::Usage, name + " takes no value, but '" + value +
                                          "' is given");
  } else if (info->kind == OptionInfo::NeedsValue && !hasValue) {
    if (position + 1 == arguments.size())
      return report.fail(Exit::Usage, name + " needs a value; see --help");
    value = arguments[++position];
    hasValue = true;
  }
  if (info->kind == OptionInfo::NeedsValue && value.empty())
    return report.fail(Exit::Usage, name + " needs a value; see --help");
  if (info->flag)
    options.*info->flag = true;
  // Without a flag, one that may have a value reads that it has none.
  if (info->parse && (hasValue || !info->flag))
    return info->parse(value, options, report);
  return success();
}

LogicalResult runner::parseOptions(ArrayRef<const char *> arguments,
                                   Options &options, Report &report) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef text = arguments[i];
    if (text.starts_with("-") && text != "-") {
      if (failed(parseOption(arguments, i, options, report)))
        return failure();
    } else if (options.file.empty() && !text.empty()) {
      options.file = text.str();
    } else {
      return report.fail(Exit::Usage, "one program at a time: '" +
                                          options.file + "' and '" + text +
                                          "' are given");
    }
  }
  if (!options.targetText.empty() && options.emit != EmitStage::Bundle &&
      failed(parseTarget(options.targetText, options, report)))
    return failure();
  if (!options.batch.empty() && arguments.size() != 1)
    return report.fail(Exit::Usage, "--batch stands alone: each line of its "
                                    "file has its own options");
  if (options.help || options.version || options.listDevices ||
      !options.batch.empty())
    return success();
  if (options.file.empty())
    return report.fail(Exit::Usage,
                       "no program is given: gpu-runner FILE.mlir; see --help");

  if (options.isOneOfMany && options.file == "-")
    return report.fail(Exit::Usage, "a line of a batch cannot read its program "
                                    "from standard input: name a file");

  if (!options.device.empty() && options.ordinal)
    return report.fail(Exit::Usage, "--device and the number in --target both "
                                    "say which device: leave one out");
  if (!options.otherChips.empty() && options.emit != EmitStage::HSACO)
    return report.fail(Exit::Usage,
                       "several chips in --target are for --emit=hsaco, which "
                       "bundles their code, and for --emit=bundle; name one "
                       "chip, or none to run on the device at hand");
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
      return report.fail(Exit::Usage,
                         "--diff runs the program on the targets that it "
                         "names and compares them, no more: leave out " +
                             wrong);
  } else if (options.tolerance || !options.bisectFile.empty()) {
    return report.fail(
        Exit::Usage, StringRef(options.tolerance ? "--tolerance" : "--bisect") +
                         " is for --diff");
  }
  if (options.acceptUnverified && !options.verify)
    return report.fail(Exit::Usage, "--accept-unverified is for --verify");
  if (options.stats && !options.verify && options.diff.empty())
    return report.fail(Exit::Usage, "--stats is for --verify and --diff, whose "
                                    "comparisons it is about");
  if (!options.outputFile.empty() && !options.emit)
    return report.fail(Exit::Usage, "-o is for --emit; --out=N=FILE.npy writes "
                                    "an output");
  if (options.emit) {
    StringRef wrong = options.verify             ? "--verify"
                      : options.repeat           ? "--repeat"
                      : options.bench            ? "--bench"
                      : !options.outputs.empty() ? "--out"
                      : !options.kernels.empty() ? "--kernels"
                                                 : "";
    if (!wrong.empty())
      return report.fail(Exit::Usage, wrong + " runs the program, and --emit "
                                              "does not: leave one out");
    if (options.emit == EmitStage::Bundle && !options.reportFile.empty())
      return report.fail(Exit::Usage, "--report shows the program for one "
                                      "target, and --emit=bundle has several: "
                                      "name another stage");
    if (options.cacheWhyMiss)
      return report.fail(Exit::Usage, "--emit compiles always and looks for "
                                      "nothing in the cache: leave out "
                                      "--cache-why-miss");
    if (options.json && options.outputFile.empty())
      return report.fail(Exit::Usage,
                         "--emit and --json both write to standard "
                         "output: add -o FILE");
  }
  return success();
}

void runner::printVersion(llvm::raw_ostream &os) {
  os << "gpu-runner, Tessera " TESSERA_VERSION " on LLVM " LLVM_VERSION_STRING
        "\n";
}

void runner::printHelp(llvm::raw_ostream &os) {
  os << R"(gpu-runner: compiles a .mlir file, runs it on a device and checks the numbers

  gpu-runner FILE.mlir [options]        FILE may be -, which is standard input, or
                                        a pipe that some process writes to
  gpu-runner --batch=FILE               runs each line of FILE
  gpu-runner FILE.bundle [options]      runs what --emit=bundle wrote
  gpu-runner --list-devices

What is run, and where
  --entry=NAME        the function to run (main)
  --target=auto       the best device of this machine; the CPU if it has no other
  --target=TARGET[:NUMBER][:CHIP]
                      TARGET is cpu, cuda, hip, vulkan, opencl or level-zero;
                      NUMBER as --list-devices counts; CHIP is what to compile
                      for (cuda:sm_80, hip:gfx942). With --emit=hsaco several
                      chips, divided by commas, give one offload
                      bundle (hip:gfx942,gfx1100), and with --emit=bundle
                      several targets (cuda:sm_80,sm_90a,cpu). With cpu:emulate=CHIP the CPU runs
                      the code of a chip of another target, each of its lanes by
                      itself
  --device=WHICH      the first device of the target, as --list-devices has them,
                      that is WHICH (discrete, integrated, virtual or software,
                      which Vulkan and Level Zero tell) or has WHICH in its
                      name, in upper or lower case

Arguments and outputs
  --arg=SPEC          contents of the next argument of the entry, in order:
                        int[:SEED]     small integers, exact in any order of
                                       summation (the default; argument N has
                                       seed N)
                        random[:SEED]  uniform numbers
                        iota, zeros, fill:X
                        @FILE.npy      from a file
                        X              a number, for scalars
                      :RxC... behind one of the first five gives the shape of an
                      argument with dynamic dimensions (int:128x64, zeros:16x)
  --out=N=FILE.npy    writes output N to a file. Outputs are numbered from 0:
                      first the results of the entry, then those memref
                      arguments that the program may write, in order
  --json              prints one JSON object with all there is to know; text for
                      people goes to standard error

Checks and measurements
  --verify            compares with a reference computed from the source program,
                      in higher precision. Memory is poisoned before the run and
                      guarded on either side. Of an output that is wrong it says
                      which elements are, and how far off: absolute, relative,
                      in ulps, NaNs and infinities, elements never written. Runs
                      a second time, as --repeat=2 does, to catch races. Exit
                      status 3 where an output is wrong, or where elements
                      differ for which the reference has no error bound
  --accept-unverified
                      with --verify, exit status 0 where elements have no error
                      bound, or the program has no outputs. Wrong elements are
                      still exit status 3
  --stats             says so of outputs that are right, too
  --repeat=N          runs N times in all from the same arguments, and compares
                      every output with the first run's, bit by bit; memory holds
                      another poison in every other run. Where a kernel adds
                      atomically, in any order, other bits are compared with the
                      reference, given --verify, which repeats 2 runs by itself;
                      --repeat=1 spares it the second
  --diff=TARGET,TARGET,...
                      runs the program on each of these, named as for --target,
                      with the same arguments, and compares the outputs with
                      those of the first; exit status 1 where they differ. Each
                      may be off by what the reference allows it
  --tolerance=ABS[,REL]
                      with --diff, an element may be off by ABS + REL * |element|
                      instead; 0 asks for equal numbers
  --bisect=FILE       with --diff, looks for the first op whose result differs,
                      and writes a program to FILE that ends with it
  --timeout=SECONDS   ends the process with status 1 when one run of the program
                      takes longer, and says which kernel it launched last.
                      Compiling has any time
  --bench[=N]         times N runs with cold caches (enough for 0.3 s if not
                      given, 20 to 200)
  --trace=FILE.json   writes a timeline in Chrome's trace event format, which
                      Perfetto and chrome://tracing show: compile stages and
                      passes, loading, copies, launches, and each kernel with
                      its grid and the device's time. Launches are then waited
                      for, one by one; runs of --bench are not in it
  --explain           says for each matrix product which instruction was chosen,
                      which were rejected and why, what a better one would need,
                      and what the device could reach with it; and for each
                      kernel its schedule and what it takes of the device
                      (docs/Explain.md)
  --explain=json      the same as one JSON object on standard output, which --json
                      prints as well
  --report=FILE.html  writes one page with the program at each stage side by side,
                      lines of which are linked by the source's, with its
                      assembly, what --explain says, and the times; of a run, or
                      with --emit without a device
  --require-mma       refuses a product that no matrix unit computes
  --allow-tf32        permits tf32 for products of f32
  --allow-fast-f8     permits sums of about 14 bits for products of 8-bit floats
  --no-fuse-attention makes kernels of their own of two products and the softmax
                      between them, rather than one
  --vthread-order=ORDER
                      interleaves all virtual threads alike: breadth_first,
                      depth_first or groups(N)
  --direct-copies=WHICH
                      which copies that run ahead go straight to workgroup memory
                      on chips whose loads can (hip: gfx942, gfx950): auto, where
                      such a load brings as much as one to registers; always;
                      never (docs/AMD.md)

Many programs
  --batch=FILE        runs each line of FILE (or of standard input, for -) as a
                      command line of gpu-runner, in one process: a device is
                      then opened once. Quotes are as in a shell; empty lines and
                      those that start with # are passed over. What a line
                      prints ends with `=== line N: exit status S` on standard
                      output and on standard error. The exit status is that of
                      the first line that failed

Compiled programs
  --cache=DIR|off     keeps them in the folder DIR, and takes them from there when
                      the same program is run again with the same options, by
                      the same build on the same machine. Not given:
                      $TESSERA_CACHE_DIR, else $XDG_CACHE_HOME/tessera, else
                      ~/.cache/tessera. --emit and --print-ir-after-all compile
                      always
  --schedule-db=FILE  schedules that gpu-tune found, for products that have none by
                      hand; off: the compiler's choices alone. Not given: those
                      that come with the compiler
  --cache-limit=SIZE  what it may hold (512MiB): a number of bytes, or of KiB, MiB
                      or GiB. What was used longest ago goes first
  --cache-why-miss    says whether the program was there, and if not, which parts
                      of its key are not those of the nearest program that is

Looking inside
  --emit=STAGE        prints the program at a stage instead of running it:
                      schedule, tessera, vendor, llvm, ptx, cubin (cuda),
                      amdgcn, hsaco (hip), object, asm (cpu), spirv, spirv-asm
                      (vulkan, opencl, level-zero; spirv-asm is what spirv-dis
                      prints, llvm the spirv dialect). With a chip in --target
                      it needs no device. bundle: all public functions, compiled,
                      in one file that gpu-runner FILE.bundle and libtessera run
                      without compiling (docs/Library.md)
  -o FILE             where --emit writes
  --kernels=FILE      runs the kernels of FILE rather than those compiled, which
                      it was made from by hand: what --emit=ptx, cubin, hsaco
                      or spirv wrote, with the same kernels and arguments
  --print-ir-after-all
                      prints the program after each pass
  --ptxas             assembles PTX by ptxas rather than by the driver
  --validate          has spirv-val look at the kernels first (vulkan,
                      opencl, level-zero)
  --vulkan-validation has Vulkan's validation layer look at the calls of the
                      driver; an error makes the exit status 1

  --list-devices, --version, --help

Exit status: 0 done; 1 the program did not compile or run, or --diff found a
difference; 2 the command line is wrong; 3 the numbers are wrong; 77 the device
asked for is not here.
)";
}
