//===- Diff.cpp - Targets against each other ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/Diff.h"
#include "Debugging/Repeat.h"
#include "Execution/Arguments.h"
#include "Report/Explain.h"
#include "Report/OutputStatistics.h"

#include "Driver/CompiledSums.h"
#include "Reference/Evaluation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <limits>
#include <thread>

using namespace tessera::execution;

namespace reference = compiler::reference;

bool Difference::ok() const {
  return llvm::all_of(outputs, [](const auto &output) { return output.ok; });
}

LogicalResult tessera::execution::runOn(const ProgramOptions &options,
                                        DiffSide &side,
                                        const DiffProgram &program,
                                        std::vector<Output> &outputs,
                                        Report &report) {
  std::unique_ptr<compiler::CompiledProgram> compiled;
  {
    runtime::TraceScope scope(report.trace, "step", "compile for " + side.name);
    compiled =
        program.source
            ? compile(options, side.compileOptions, program.module,
                      *program.source, *side.target.device, side.cache, report)
            : compiler::compileProgram(program.module, side.compileOptions);
  }
  if (!compiled)
    return report.failDiagnosed("compiling for " + side.name);
  side.sums = compiler::describeSums(compiled->matmuls);
  if (program.source && options.cacheWhyMiss) {
    report.text() << side.name << ": ";
    printCacheUse(side.cache, report.text());
  }
  runtime::TraceScope running(report.trace, "step", "run on " + side.name);
  runtime::Device &device = *side.target.device;
  device.setChecking(true, firstPoison);
  Execution execution(device, *compiled, program.entry, program.arguments);
  execution.getSession().setGuard(canaryBytes);
  if (failed(execution.prepare(report)))
    return failure();
  execution.call();
  if (failed(execution.finish(report)))
    return failure();
  return execution.readOutputs(outputs, report);
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// Evaluates the reference for its error bounds; none and the reason if it
/// cannot.
static std::optional<reference::Evaluation>
computeBounds(const ProgramOptions &options, const DiffProgram &program,
              ArrayRef<reference::CompiledSum> sums, std::string &why,
              Report &report) {
  // Not relevant when comparing targets.
  mlir::func::FuncOp function = program.entry.function;
  mlir::ScopedDiagnosticHandler silence(function.getContext(),
                                        [](mlir::Diagnostic &) {});
  FailureOr<llvm::SmallVector<reference::Array>> arrays =
      toReference(program.entry, program.arguments, "--diff", report);
  if (failed(arrays))
    return std::nullopt;
  reference::Options evaluation;
  evaluation.flags = options.flags;
  evaluation.sums.assign(sums.begin(), sums.end());
  evaluation.maxWork *= std::max(1u, std::thread::hardware_concurrency());
  reference::Evaluation result =
      reference::evaluate(program.entry.function, *arrays, evaluation);
  if (!result.outcome.succeeded()) {
    why = result.outcome.message;
    return std::nullopt;
  }
  return result;
}

FailureOr<Difference> tessera::execution::compareSides(
    const ProgramOptions &options, const DiffProgram &program,
    ArrayRef<reference::CompiledSum> sums, const std::vector<Output> &base,
    const std::vector<Output> &other, std::string &unbounded, Report &report) {
  std::optional<reference::Evaluation> evaluation;
  if (!options.tolerance) {
    evaluation = computeBounds(options, program, sums, unbounded, report);
    if (report.exit() != Exit::Done)
      return failure();
  }
  Difference difference;
  for (auto [i, output] : llvm::enumerate(base)) {
    FailureOr<reference::Array> expected =
        toReference(output.array, output.type, "--diff", report);
    FailureOr<reference::Array> got =
        toReference(other[i].array, other[i].type, "--diff", report);
    if (failed(expected) || failed(got))
      return failure();
    reference::CompareOptions compareOptions;
    compareOptions.sides = 2;
    std::optional<reference::CoarseLosses> losses;
    if (options.tolerance) {
      compareOptions.absolute = options.tolerance->first;
      compareOptions.relative = options.tolerance->second;
    } else if (!evaluation) {
      compareOptions.exact = true;
    } else if (const reference::Array &bounds = evaluation->arrays.get(
                   output.isResult, static_cast<unsigned>(output.position));
               bounds.shape == expected->shape && bounds.storage->errors()) {
      losses = evaluation->getLosses(output.isResult,
                                     static_cast<unsigned>(output.position));
      compareOptions.losses = losses ? &*losses : nullptr;
      // Each may be off by its bound, to either side.
      double *errors = expected->storage->ensureErrors();
      for (int64_t k = 0; k < expected->getNumElements(); ++k) {
        double error = bounds.getError(k);
        // Without a bound, or where neither has a number: equal.
        bool isBounded = error < std::numeric_limits<double>::infinity();
        errors[k] = isBounded ? 2 * error : 0;
        difference.withoutBound += !isBounded;
      }
    }
    difference.outputs.push_back(
        reference::compare(*got, *expected, compareOptions));
  }
  return difference;
}

//===----------------------------------------------------------------------===//
// --diff
//===----------------------------------------------------------------------===//

/// Prints the result for one target; returns its part of the JSON object.
static llvm::json::Object print(const ProgramOptions &options,
                                const DiffSide &base, const DiffSide &side,
                                const std::vector<Output> &outputs,
                                const Difference &difference, Report &report) {
  llvm::raw_ostream &os = report.text();
  Sides sides{"with " + side.name, "with " + base.name, std::nullopt};
  llvm::json::Array list;
  for (auto [i, comparison] : llvm::enumerate(difference.outputs)) {
    os << "out " << i << ": " << side.name
       << (comparison.ok ? " agrees with " : " DIFFERS from ") << base.name
       << " (max abs err " << llvm::format("%.3g", comparison.maxAbs)
       << ", max rel err " << llvm::format("%.3g", comparison.maxRel)
       << ", checked " << comparison.count << ", " << comparison.tolerance
       << ")\n";
    list.push_back(describeStatistics(comparison, outputs[i], sides));
    if (!comparison.ok) {
      auto printElement = [&](StringRef which, ArrayRef<int64_t> position,
                              double got, double expected) {
        os << "  the " << which << " at " << formatPosition(position) << ": "
           << reference::formatNumber(got) << " with " << side.name << ", "
           << reference::formatNumber(expected) << " with " << base.name
           << "\n";
      };
      os << "  " << comparison.mismatchCount << " of " << comparison.count
         << " elements differ\n";
      printBlocks(comparison, os);
      if (comparison.first)
        printElement("first", comparison.first->position, comparison.first->got,
                     comparison.first->expected);
      if (comparison.worstIndex >= 0)
        printElement("worst", comparison.worstPosition, comparison.got,
                     comparison.expected);
    }
    if (comparison.ok)
      printSensitivity(comparison, os);
    if (!comparison.ok || options.stats)
      printStatistics(comparison, outputs[i], sides, os);
  }
  return llvm::json::Object{{"target", llvm::json::fixUTF8(side.name)},
                            {"chip", side.target.chip},
                            {"cache", getCacheKind(side.cache)},
                            {"passed", difference.ok()},
                            {"outputs", std::move(list)}};
}

std::vector<reference::CompiledSum>
tessera::execution::mergeSums(const DiffSide &base, const DiffSide &other) {
  std::vector<reference::CompiledSum> sums = base.sums;
  sums.insert(sums.end(), other.sums.begin(), other.sums.end());
  return sums;
}

LogicalResult
tessera::execution::diff(const ProgramOptions &options, KeptDevices &kept,
                         mlir::ModuleOp module,
                         const llvm::MemoryBuffer &source,
                         const compiler::CompileOptions &compileOptions,
                         std::vector<Output> &base, Report &report) {
  std::vector<DiffSide> sides;
  for (const std::string &name : options.diff) {
    ProgramOptions own = options;
    DiffSide side;
    side.name = name;
    if (failed(parseTarget(name, own, report, "--diff")) ||
        failed(chooseTarget(own, /*run=*/true, kept, side.target, report)))
      return failure();
    side.compileOptions = compileOptions;
    side.compileOptions.entry = options.entry;
    side.compileOptions.target = side.target.name;
    side.compileOptions.chip = side.target.chip;
    // For tests: something is wrong with all targets but the first.
    side.compileOptions.flags.testShareFragments =
        options.flags.testShareFragments && !sides.empty();
    sides.push_back(std::move(side));
  }
  report.root.erase("device");
  report.root["target"] = sides.front().target.name;
  report.root["chip"] = sides.front().target.chip;

  DiffProgram program;
  program.module = module;
  program.source = &source;
  if (failed(findEntry(module, options.entry, program.entry, report)) ||
      failed(makeArguments(options, program.entry, *sides.front().target.device,
                           program.arguments, report)) ||
      failed(runOn(options, sides.front(), program, base, report)))
    return failure();

  llvm::json::Array list;
  DiffSide *firstWrong = nullptr;
  bool hasNoted = false;
  for (DiffSide &side : llvm::drop_begin(sides)) {
    std::vector<Output> outputs;
    if (failed(runOn(options, side, program, outputs, report)))
      return failure();
    std::string unbounded;
    FailureOr<Difference> difference =
        compareSides(options, program, mergeSums(sides.front(), side), base,
                     outputs, unbounded, report);
    if (failed(difference))
      return failure();
    if (!unbounded.empty() && !std::exchange(hasNoted, true))
      report.note("no error bounds for this program (" + unbounded +
                  "): outputs must be equal; --tolerance=ABS[,REL] permits "
                  "differences");
    if (difference->withoutBound && !std::exchange(hasNoted, true))
      report.note(Twine(difference->withoutBound) +
                  " elements do not have an error bound and must be equal; "
                  "--tolerance=ABS[,REL] permits differences");
    list.push_back(
        print(options, sides.front(), side, base, *difference, report));
    if (!difference->ok() && !firstWrong)
      firstWrong = &side;
  }
  if (base.empty())
    report.note("the program has no outputs: nothing was compared");
  report.root["diff"] =
      llvm::json::Object{{"base", llvm::json::fixUTF8(sides.front().name)},
                         {"cache", getCacheKind(sides.front().cache)},
                         {"passed", !firstWrong},
                         {"targets", std::move(list)}};
  if (!firstWrong) {
    report.text() << "no difference\n";
    return success();
  }
  if (!options.bisectFile.empty() &&
      failed(bisect(options, sides.front(), *firstWrong, program, report)))
    return failure();
  return report.fail(Exit::Failed, "the outputs of " + firstWrong->name +
                                       " differ from those of " +
                                       sides.front().name);
}
