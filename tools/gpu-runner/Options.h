//===- Options.h - The command line of gpu-runner ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_OPTIONS_H
#define GPU_RUNNER_OPTIONS_H

#include "PlantedFault.h"

#include "Flags/CompileFlags.h"
#include "Report.h"

#include <optional>
#include <vector>

namespace runner {

/// A stage that --emit names.
struct EmitStage {
  /// `Code`: a form of a target's code.
  enum Kind { Schedule, Tessera, Vendor, LLVM, Code, Bundle };
  Kind kind;
  /// "schedule", "ptx".
  std::string name;
};

struct Options {
  /// The program; "-" is standard input.
  std::string file;
  std::string entry = "main";
  /// --entry is given.
  bool hasEntry = false;
  /// The parsed --target: "auto", or a target with its number and chip.
  std::string target = "auto";
  /// --target as it is given; empty if it is not. With --emit=bundle it may
  /// list several targets, and nothing of it stands in the other fields.
  std::string targetText;
  std::string chip;
  /// Further chips, for --emit=hsaco: "hip:gfx942,gfx1100" has one.
  std::vector<std::string> otherChips;
  std::optional<unsigned> ordinal;
  /// --device: a kind, or part of a name.
  std::string device;
  /// The values of --arg, in order.
  std::vector<std::string> arguments;
  /// --out: number of an output, and the file to write it to.
  std::vector<std::pair<unsigned, std::string>> outputs;
  bool verify = false;
  /// The statistics of outputs that are right, too.
  bool stats = false;
  /// --repeat: runs in all, the first one counted.
  std::optional<unsigned> repeat;
  /// A race needs a second run to show itself.
  unsigned getRuns() const { return repeat.value_or(verify ? 2 : 1); }
  /// --diff: the targets, the one to compare with first.
  std::vector<std::string> diff;
  /// --tolerance: absolute, and relative; absent for the reference's bounds.
  std::optional<std::pair<double, std::optional<double>>> tolerance;
  std::string toleranceText;
  /// --bisect: the file to write the reduced program to; empty for none.
  std::string bisectFile;
  /// --trace: the file to write the timeline to; empty for none.
  std::string traceFile;
  /// --timeout: seconds that a run may take; absent for any time.
  std::optional<double> timeout;
  /// --report: the page to write; empty for none.
  std::string reportFile;
  bool bench = false;
  /// Timed runs; absent for as many as it takes.
  std::optional<unsigned> benchRuns;
  bool json = false;
  bool explain = false;
  /// --explain=json: what is explained is in the JSON object alone.
  bool explainAsJSON = false;
  /// The compile flags.
  compiler::CompileFlags flags;
  bool vulkanValidation = false;
  /// --kernels: the file that holds the kernels' code; empty for what was
  /// compiled.
  std::string kernels;
  /// --cache: a folder, or "off"; empty for the usual folder.
  std::string cache;
  /// --cache-limit: bytes of the folder; absent for the usual number.
  std::optional<uint64_t> cacheLimit;
  /// --schedule-db: a file, or "off"; empty for what is shipped.
  std::string scheduleDb;
  /// --cache-why-miss.
  bool cacheWhyMiss = false;
  std::optional<EmitStage> emit;
  bool isEmitted(EmitStage::Kind kind) const {
    return emit && emit->kind == kind;
  }
  /// -o; empty for standard output.
  std::string outputFile;
  /// --batch: the file with the command lines; "-" is standard input.
  std::string batch;
  /// The command line is one of a batch.
  bool isOneOfMany = false;
  bool listDevices = false;
  bool version = false;
  bool help = false;
  /// --debug-corrupt-output: plants a fault in this output after the run, to
  /// show that --verify finds it.
  std::optional<unsigned> corruptOutput;
  PlantedFault plantedFault = PlantedFault::Element;
  /// --accept-unverified: --verify succeeds although some elements have no
  /// error bound.
  bool acceptUnverified = false;
  /// For tests only: Vulkan's self-tests read an operand the wrong way.
  bool turnSelfTests = false;
};

/// True when --json or --explain=json is among the arguments: it decides where
/// everything goes, complaints about the other options included.
bool wantsJSON(ArrayRef<const char *> arguments);

/// Reads the command line without the program's name.
LogicalResult parseOptions(ArrayRef<const char *> arguments, Options &options,
                           Report &report);

/// Reads TARGET[:NUMBER][:CHIP], which `option` was given, into `options`.
LogicalResult parseTarget(StringRef value, Options &options, Report &report,
                          StringRef option = "--target");

/// The names of the targets that are built.
std::vector<StringRef> getTargets();

void printHelp(llvm::raw_ostream &os);
void printVersion(llvm::raw_ostream &os);

} // namespace runner

#endif // GPU_RUNNER_OPTIONS_H
