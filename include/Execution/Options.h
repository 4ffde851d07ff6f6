//===- Options.h - Which program runs, and how ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_OPTIONS_H
#define EXECUTION_OPTIONS_H

#include "Execution/Report.h"
#include "Flags/CompileFlags.h"
#include "Runtime/LaunchStatistics.h"

#include <optional>
#include <vector>

namespace tessera::execution {

/// A stage that --emit names.
struct EmitStage {
  /// `Code`: a form of a target's code.
  enum Kind { Schedule, Tessera, Vendor, LLVM, Code, Bundle };
  Kind kind;
  /// "schedule", "ptx".
  std::string name;
};

/// Which program runs, where, and how it is compiled and checked.
struct ProgramOptions {
  /// The program; "-" is standard input.
  std::string file;
  std::string entry = "main";
  /// The parsed --target: "auto", or a target with its number and chip.
  std::string target = "auto";
  /// --target as it is given; empty if it is not. With --emit=bundle it may
  /// list several targets, and the other fields contain nothing of it.
  std::string targetText;
  std::string chip;
  /// Further chips, for --emit=hsaco: "hip:gfx942,gfx1100" has one.
  std::vector<std::string> otherChips;
  std::optional<unsigned> ordinal;
  /// --device: a kind, or part of a name.
  std::string device;
  /// The values of --arg, in order.
  std::vector<std::string> arguments;
  /// --input: the name of an input of a model, and its contents.
  std::vector<std::pair<std::string, std::string>> inputs;
  /// --batch=N: the batch dimension of a model.
  std::optional<int64_t> batchSize;
  /// --convert=f16: a model computes in float16 instead of float32.
  bool convertsToF16 = false;
  /// The program is a model: its source is a listing, not a module's text.
  bool isModel = false;
  bool verify = false;
  /// --verify=sample: only some elements of each output of each kernel.
  bool verifySample = false;
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
  /// --report: the page to write; empty for none.
  std::string reportFile;
  /// Timed runs; absent for as many as it takes.
  std::optional<unsigned> benchRuns;
  /// --launch: how the kernels of a run are queued.
  runtime::LaunchMode launch = runtime::LaunchMode::Auto;
  /// The compile flags.
  compiler::CompileFlags flags;
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
  /// --progress: prints the progress of compilations; absent for only on a
  /// terminal.
  std::optional<bool> progress;
  /// The command line is one of a batch.
  bool isOneOfMany = false;
  /// --accept-unverified: --verify succeeds although some elements have no
  /// error bound.
  bool acceptUnverified = false;
};

/// Parses TARGET[:NUMBER][:CHIP], the value of `option`, into `options`.
LogicalResult parseTarget(StringRef value, ProgramOptions &options,
                          Report &report, StringRef option = "--target");

/// The names of the targets that are built.
std::vector<StringRef> getTargets();

} // namespace tessera::execution

#endif // EXECUTION_OPTIONS_H
