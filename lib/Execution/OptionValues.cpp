//===- OptionValues.cpp - Parsers of the values of options ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/OptionValues.h"

#include "Target/Backend.h"
#include "Tuning/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tessera::execution;

static constexpr std::pair<StringRef, EmitStage::Kind> stages[] = {
    {"schedule", EmitStage::Schedule}, {"tessera", EmitStage::Tessera},
    {"vendor", EmitStage::Vendor},     {"llvm", EmitStage::LLVM},
    {"bundle", EmitStage::Bundle},
};

/// The names of all stages: those of the compiler, those of the targets' code,
/// and the bundle.
static std::vector<StringRef> listStages() {
  std::vector<StringRef> names;
  for (auto [name, kind] : stages)
    names.push_back(name);
  size_t end = names.size() - 1;
  for (const compiler::TargetBackend *backend : compiler::getBackends())
    for (const compiler::CodeStage &stage : backend->getStages())
      if (!llvm::is_contained(names, stage.name))
        names.insert(names.begin() + static_cast<std::ptrdiff_t>(end++),
                     stage.name);
  return names;
}

LogicalResult tessera::execution::parseDiff(StringRef value,
                                            ProgramOptions &options,
                                            Report &report) {
  llvm::SmallVector<StringRef> names;
  value.split(names, ',');
  for (StringRef name : names) {
    ProgramOptions scratch;
    if (failed(parseTarget(name, scratch, report, "--diff")))
      return failure();
  }
  if (names.size() < 2)
    return report.fail(Exit::Usage,
                       "--diff=" + value +
                           ": expected two or more targets, for example "
                           "--diff=cpu,cuda,cpu:emulate=gfx942; the others are "
                           "compared with the first");
  options.diff.assign(names.begin(), names.end());
  return success();
}

LogicalResult tessera::execution::parseTolerance(StringRef value,
                                                 ProgramOptions &options,
                                                 Report &report) {
  auto [first, second] = value.split(',');
  double absolute = 0, relative = 0;
  bool hasRelative = first.size() != value.size();
  if (first.getAsDouble(absolute) || !(absolute >= 0) ||
      (hasRelative && (second.getAsDouble(relative) || !(relative >= 0))))
    return report.fail(Exit::Usage,
                       "--tolerance=" + value +
                           ": expected ABS[,REL], numbers of at least 0: "
                           "elements may be off by ABS + REL * |element|");
  options.tolerance = {absolute, std::nullopt};
  if (hasRelative)
    options.tolerance->second = relative;
  options.toleranceText = value.str();
  return success();
}

LogicalResult tessera::execution::parseStage(StringRef value,
                                             ProgramOptions &options,
                                             Report &report) {
  std::vector<StringRef> names = listStages();
  if (llvm::is_contained(names, value)) {
    EmitStage stage{EmitStage::Code, value.str()};
    for (auto [name, kind] : stages)
      if (name == value)
        stage.kind = kind;
    options.emit = stage;
    return success();
  }
  return report.fail(Exit::Usage,
                     "unknown stage '" + value + "' for --emit" +
                         compiler::tuning::formatHint(value, names) +
                         "; expected one of " + llvm::join(names, ", "));
}

LogicalResult tessera::execution::parseBenchRuns(StringRef value,
                                                 ProgramOptions &options,
                                                 Report &report) {
  unsigned runs;
  if (value.getAsInteger(10, runs) || runs == 0)
    return report.fail(Exit::Usage,
                       "--bench=" + value +
                           ": the number of runs must be at least 1");
  options.benchRuns = runs;
  return success();
}

LogicalResult tessera::execution::parseRepeat(StringRef value,
                                              ProgramOptions &options,
                                              Report &report) {
  unsigned runs;
  if (value.getAsInteger(10, runs) || runs == 0)
    return report.fail(Exit::Usage, "--repeat=" + value +
                                        ": the number of runs, which includes "
                                        "the first, must be at least 1");
  options.repeat = runs;
  return success();
}

LogicalResult tessera::execution::parseCacheLimit(StringRef value,
                                                  ProgramOptions &options,
                                                  Report &report) {
  StringRef number = value;
  unsigned shift = number.consume_back("KiB")   ? 10
                   : number.consume_back("MiB") ? 20
                   : number.consume_back("GiB") ? 30
                                                : 0;
  uint64_t size;
  if (number.getAsInteger(10, size) || size == 0 || size >> (63 - shift))
    return report.fail(
        Exit::Usage,
        "--cache-limit=" + value +
            ": expected a number of bytes, for example --cache-limit=64MiB");
  options.cacheLimit = size << shift;
  return success();
}

bool tessera::execution::ignoreRunnerOption(StringRef option,
                                            const Report &report) {
  for (StringRef known :
       {"-O0", "-O1", "-O2", "-O3", "-enable-matrix", "-matrix-allow-contract"})
    if (option == known) {
      report.noteOnce("-O0 to -O3, -enable-matrix and -matrix-allow-contract "
                      "of mlir-runner have no effect: host code is optimized, "
                      "and its matrix operations are lowered");
      return true;
    }
  return false;
}

std::string tessera::execution::translateRunnerOption(StringRef name) {
  for (StringRef known :
       {"-entry-point-result", "-shared-libs", "-matrix-default-layout"})
    if (name == known)
      return ("-" + name).str();
  return name.str();
}

FailureOr<double> tessera::execution::parseTimeLimit(StringRef option,
                                                     StringRef value,
                                                     Report &report) {
  double seconds;
  if (value.getAsDouble(seconds) || !(seconds > 0) || seconds > 86400)
    return report.fail(Exit::Usage,
                       option + "=" + value +
                           ": expected a number of seconds greater than 0 and "
                           "at most 86400, for example " +
                           option + "=2.5");
  return seconds;
}
