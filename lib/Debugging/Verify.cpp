//===- Verify.cpp - Outputs against the reference -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/Verify.h"
#include "Debugging/Repeat.h"
#include "Report/OutputStatistics.h"

#include "Driver/CompiledSums.h"
#include "Reference/Verify.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <thread>

using namespace tessera::execution;
using runtime::HostArray;

namespace reference = compiler::reference;

/// The work that a reference may be, for each core of the host: some seconds.
static constexpr int64_t workPerCore = 3'000'000'000;
/// So many times as much for a program of several kernels, some minutes.
static constexpr int64_t deepFactor = 10;

/// One line on an output, and its part of the JSON object.
static void print(const Twine &title, const Output &output,
                  const reference::Comparison &comparison, int64_t neverWritten,
                  const ProgramOptions &options, Report &report,
                  llvm::json::Array &list) {
  llvm::raw_ostream &os = report.text();
  os << title << ": "
     << (!comparison.ok               ? "FAILED"
         : comparison.unverifiedCount ? "not fully verified"
         : comparison.count == 0 && output.array.size() > 0 ? "not compared"
                                                            : "verified")
     << " (max abs err " << llvm::format("%.3g", comparison.maxAbs)
     << ", max rel err " << llvm::format("%.3g", comparison.maxRel)
     << ", checked " << comparison.count - comparison.unverifiedCount << ", "
     << comparison.tolerance << comparison.describePermissive() << ")\n";
  Sides sides{"computed", "in the reference", neverWritten};
  list.push_back(describeStatistics(comparison, output, sides));
  if (comparison.ok) {
    printSensitivity(comparison, os);
    if (options.stats)
      printStatistics(comparison, output, sides, os);
    else if (neverWritten)
      os << "  " << neverWritten
         << (neverWritten == 1 ? " element was" : " elements were")
         << " never written, and " << (neverWritten == 1 ? "has" : "have")
         << " no value in the reference either\n";
    return;
  }
  os << "  " << comparison.mismatchCount << " of " << comparison.count
     << " elements are wrong";
  if (comparison.mismatchCount == 0 && !neverWritten && !comparison.worstBlock)
    os << " by themselves, but their norm is";
  else if (comparison.mismatchCount == 0 && comparison.worstBlock)
    os << " by themselves";
  else if (comparison.mismatchCount == 0)
    os << ", but some were never written, and match only by the initial "
          "contents of memory";
  if (comparison.nanCount)
    os << ", " << comparison.nanCount << " of them NaN";
  if (comparison.worstIndex >= 0)
    os << "; the worst is at " << formatPosition(comparison.worstPosition)
       << ": got " << reference::formatNumber(comparison.got) << ", expected "
       << reference::formatNumber(comparison.expected) << ", tolerance "
       << llvm::format("%.3g", comparison.allowed);
  os << "\n";
  if (comparison.first && comparison.mismatchCount > 1)
    os << "  the first is at " << formatPosition(comparison.first->position)
       << ": got " << reference::formatNumber(comparison.first->got)
       << ", expected " << reference::formatNumber(comparison.first->expected)
       << "\n";
  printBlocks(comparison, os);
  printStatistics(comparison, output, sides, os);
}

/// Checks that the program did not change its read-only arguments.
static LogicalResult checkInputs(const Entry &entry,
                                 const std::vector<HostArray> &arguments,
                                 Execution &execution, Report &report) {
  for (auto [i, slot] : llvm::enumerate(entry.arguments)) {
    if (!slot.isBuffer() || slot.mayWrite || slot.mayOverwrite)
      continue;
    HostArray array;
    if (failed(execution.readArgument(i, array, report)))
      return failure();
    if (array.data != arguments[i].data)
      return report.fail(Exit::WrongNumbers,
                         "argument " + Twine(i) + " (" + slot.str() +
                             ") was changed, although the program only reads "
                             "it; this is a compiler bug");
  }
  return success();
}

/// Evaluates the reference and compares. An element of a floating-point output
/// that `unwritten` marks counts as NaN, whatever it holds. For a program whose
/// steps are checked as well (`isDeep`), nothing is sampled: the result may be
/// that it is too large.
static FailureOr<reference::Verification>
compare(const ProgramOptions &options, const compiler::Chip &chip,
        const Entry &entry, ArrayRef<compiler::MatmulReport> matmuls,
        const std::vector<HostArray> &arguments,
        const std::vector<Output> &outputs,
        const std::vector<std::vector<uint8_t>> &unwritten, bool isDeep,
        Report &report) {
  FailureOr<llvm::SmallVector<reference::Array>> arrays =
      toReference(entry, arguments, "--verify", report);
  if (failed(arrays))
    return failure();
  llvm::SmallVector<reference::ComputedOutput> computed;
  for (auto [i, output] : llvm::enumerate(outputs)) {
    FailureOr<reference::Array> converted =
        toReference(output.array, output.type, "--verify", report);
    if (failed(converted))
      return failure();
    if (i < unwritten.size() && converted->isFloat())
      for (auto [element, isUnwritten] : llvm::enumerate(unwritten[i]))
        if (isUnwritten)
          converted->floats()[element] = NAN;
    computed.push_back({output.isResult, static_cast<unsigned>(output.position),
                        std::move(*converted)});
  }
  reference::VerifyOptions verifyOptions;
  verifyOptions.evaluation.flags = options.flags;
  verifyOptions.evaluation.sums = compiler::describeSums(matmuls);
  if (chip.hasLanes())
    verifyOptions.evaluation.subgroupSize = chip.subgroupSize;
  verifyOptions.evaluation.maxWork =
      workPerCore * std::max(1u, std::thread::hardware_concurrency());
  if (isDeep) {
    verifyOptions.evaluation.maxWork *= deepFactor;
    verifyOptions.evaluation.maxSeconds *= deepFactor;
    verifyOptions.forbidSampling = true;
  } else {
    verifyOptions.forceSampling = options.verifySample;
  }
  reference::Verification result =
      reference::verify(entry.function, *arrays, computed, verifyOptions);
  if (result.status == reference::Status::Failed)
    return report.failDiagnosed("the reference");
  if (result.status == reference::Status::TooLarge && !isDeep)
    return report.fail(
        Exit::Failed,
        "the reference would take too long: " + result.message +
            (options.verifySample
                 ? "; use --verify without =sample, which evaluates all of "
                   "the program, or smaller sizes"
                 : "; use smaller sizes, or compare with another target by "
                   "--diff=TARGET"));
  return result;
}

FailureOr<bool> tessera::execution::isAsReference(
    const ProgramOptions &options, const compiler::Chip &chip,
    const Entry &entry, ArrayRef<compiler::MatmulReport> matmuls,
    const std::vector<HostArray> &arguments, const std::vector<Output> &outputs,
    Report &report) {
  FailureOr<reference::Verification> result =
      compare(options, chip, entry, matmuls, arguments, outputs, {},
              /*isDeep=*/false, report);
  if (failed(result))
    return failure();
  return result->ok;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Wrong kernels that are described; a count follows for the others.
static constexpr unsigned maxDescribed = 8;

namespace {
/// The findings in all kernels.
struct KernelSummary {
  size_t wrong = 0, unchecked = 0;
  int64_t unverified = 0, compared = 0, elements = 0;
  const CheckedStep *firstWrong = nullptr;
  /// With the largest error as a part of what it may be.
  const CheckedStep *worst = nullptr;

  bool isVerified() const {
    return wrong == 0 && unchecked == 0 && unverified == 0;
  }
};
} // namespace

static KernelSummary summarize(ArrayRef<CheckedStep> steps) {
  KernelSummary summary;
  for (const CheckedStep &step : steps) {
    summary.unchecked += !step.unchecked.empty();
    summary.unverified += step.unverified;
    summary.compared += step.compared;
    summary.elements += step.elements;
    if (!step.isRight && !summary.wrong++)
      summary.firstWrong = &step;
    if (step.runs && (!summary.worst || step.ratio > summary.worst->ratio))
      summary.worst = &step;
  }
  return summary;
}

/// A line on all kernels, and one on each that is not verified.
static void printKernels(ArrayRef<CheckedStep> steps,
                         const KernelSummary &summary,
                         const ProgramOptions &options, Report &report) {
  llvm::raw_ostream &os = report.text();
  os << "kernels: "
     << llvm::count_if(
            steps, [](const CheckedStep &step) { return step.isVerified(); })
     << " of " << steps.size() << " verified, ";
  if (summary.compared != summary.elements)
    os << summary.compared << " of ";
  os << summary.elements << " elements";
  if (summary.worst)
    os << "; the largest error is "
       << llvm::format("%.2g", summary.worst->ratio)
       << " of its bound: " << summary.worst->describe();
  os << "\n";
  unsigned described = 0;
  for (const CheckedStep &step : steps) {
    if (step.isVerified() || ++described > maxDescribed)
      continue;
    llvm::json::Array ignored;
    if (!step.unchecked.empty())
      os << step.describe() << ": not verified: " << step.unchecked << "\n";
    else
      print(step.describe(), step.output, step.comparison, /*neverWritten=*/0,
            options, report, ignored);
  }
  if (described > maxDescribed)
    os << "and " << described - maxDescribed << " others\n";
}

static llvm::json::Array describeKernels(ArrayRef<CheckedStep> steps) {
  llvm::json::Array list;
  for (const CheckedStep &step : steps) {
    llvm::json::Object object{{"kernels", llvm::json::Array(step.kernels)},
                              {"op", step.op},
                              {"location", llvm::json::fixUTF8(step.location)},
                              {"runs", step.runs},
                              {"passed", step.isRight},
                              {"elements", step.elements},
                              {"checked", step.compared},
                              {"unverified", step.unverified},
                              {"error_to_bound", toJSON(step.ratio)}};
    if (step.unchecked.empty())
      object["output"] = describeStatistics(
          step.comparison, step.output,
          {"computed", "in the reference", /*neverWritten=*/std::nullopt});
    else
      object["unchecked"] = llvm::json::fixUTF8(step.unchecked);
    list.push_back(std::move(object));
  }
  return list;
}

//===----------------------------------------------------------------------===//
// From end to end
//===----------------------------------------------------------------------===//

/// The limit of the norm of an output's errors, as a part of the output's norm,
/// in a program of several kernels. It follows from the coarsest type that the
/// program computes with.
static double getNormLimit(const Entry &entry,
                           const compiler::CompileFlags &flags) {
  unsigned bits = flags.allowTf32 ? 11 : 53;
  bool isQuantized = false;
  auto visit = [&](mlir::Type type) {
    type = mlir::getElementTypeOrSelf(type);
    if (auto number = mlir::dyn_cast<mlir::FloatType>(type))
      bits = std::min(bits, number.getFPMantissaWidth());
    else if (type.isInteger(4) || type.isInteger(8))
      isQuantized = true;
  };
  mlir::func::FuncOp function = entry.function;
  function->getParentOfType<mlir::ModuleOp>().walk([&](mlir::Operation *op) {
    llvm::for_each(op->getResultTypes(), visit);
    llvm::for_each(op->getOperandTypes(), visit);
  });
  if (bits < 8)
    return 1;
  if (bits == 8 || isQuantized)
    return 0.2;
  return bits <= 11 ? 5e-2 : bits <= 24 ? 1e-4 : 1e-10;
}

/// Judges an output of a program of several kernels by its norm, unless its
/// error bounds are smaller than its elements. Elements without a bound are
/// verified by the norm, and by the kernels that computed them.
static void judgeNorm(reference::Comparison &comparison, double limit) {
  double norm = comparison.relativeNorm();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "end to end: " << llvm::format("%.2g", norm) << " of the norm";
  if (comparison.hasUsefulBounds()) {
    comparison.tolerance += ", " + text;
    return;
  }
  // Nothing is small, relative to zeros.
  if (comparison.sumSquaredExpected == 0) {
    comparison.tolerance += ", end to end: the norm is 0";
    return;
  }
  comparison.unverifiedCount = 0;
  if (norm > limit) {
    comparison.ok = false;
    os << ", more than " << llvm::format("%.2g", limit);
  }
  comparison.tolerance = std::move(text);
}

//===----------------------------------------------------------------------===//
// Elements that may be anything
//===----------------------------------------------------------------------===//

/// Whether the reference has a value for an element that was never written.
static bool hasValue(const std::vector<uint8_t> &unwritten,
                     const reference::Verification &result, size_t output) {
  if (output >= result.unspecifiedMasks.size() ||
      result.unspecifiedMasks[output].empty())
    return true;
  for (auto [isUnwritten, isUnspecified] :
       llvm::zip_equal(unwritten, result.unspecifiedMasks[output]))
    if (isUnwritten && !isUnspecified)
      return true;
  return false;
}

/// Reports the elements that depend on values which nothing specifies, at the
/// ops that these come from. Fails if the program computes with memory that
/// nothing has written. It may return such memory: `unwritten` marks elements
/// that the device has not written either.
static LogicalResult
reportUnspecified(const reference::Verification &result,
                  const std::vector<std::vector<uint8_t>> &unwritten) {
  LogicalResult status = success();
  for (const reference::UnspecifiedElements &found : result.unspecified) {
    const std::vector<uint8_t> &mask = result.unspecifiedMasks[found.output];
    const std::vector<uint8_t> &kept = unwritten[found.output];
    bool isComputed = false;
    for (auto [i, marked] : llvm::enumerate(mask))
      isComputed |= marked && !(i < kept.size() && kept[i]);
    std::string elements = std::to_string(found.count) +
                           (found.count == 1 ? " element" : " elements") +
                           " of out " + std::to_string(found.output);
    const char *verb = found.count == 1 ? " depends" : " depend";
    if (found.isPoison) {
      mlir::emitRemark(found.loc) << elements << verb << " on '" << found.op
                                  << "', which may be any value: not compared";
    } else if (isComputed) {
      mlir::emitError(found.loc)
          << elements << verb << " on memory of '" << found.op
          << "' that nothing has written; write it before it is read";
      status = failure();
    } else {
      mlir::emitWarning(found.loc)
          << elements << (found.count == 1 ? " is" : " are") << " memory of '"
          << found.op << "' that nothing has written: not compared";
    }
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult tessera::execution::verify(
    const ProgramOptions &options, const compiler::Chip &chip,
    const Entry &entry, ArrayRef<compiler::MatmulReport> matmuls,
    const std::vector<HostArray> &arguments, const std::vector<Output> &outputs,
    runtime::Device &device, Execution &execution, KernelChecks &checks,
    Report &report) {
  bool isDeep = checks.hasSteps();
  std::vector<std::vector<uint8_t>> unwritten;
  if (failed(checkInputs(entry, arguments, execution, report)) ||
      failed(findUnwritten(device, execution, outputs, unwritten, report)) ||
      failed(checks.run(report)))
    return failure();
  KernelSummary kernels = summarize(checks.getSteps());
  if (isDeep)
    printKernels(checks.getSteps(), kernels, options, report);

  reference::Verification result;
  std::string notCompared;
  if (isDeep && options.verifySample) {
    notCompared = "--verify=sample was requested";
  } else {
    FailureOr<reference::Verification> whole =
        compare(options, chip, entry, matmuls, arguments, outputs, unwritten,
                isDeep, report);
    if (failed(whole))
      return failure();
    result = std::move(*whole);
    if (result.status == reference::Status::TooLarge) {
      notCompared = result.message;
      result = {};
    }
  }

  llvm::json::Array list;
  double limit = isDeep ? getNormLimit(entry, options.flags) : 0;
  int64_t unverified = 0;
  for (size_t i = 0; i < outputs.size() && i < result.comparisons.size(); ++i) {
    reference::Comparison &comparison = result.comparisons[i];
    int64_t neverWritten = llvm::count(unwritten[i], 1);
    // An integer may be right by what its memory happened to hold.
    if (neverWritten && !runtime::isFloat(outputs[i].array.type) &&
        hasValue(unwritten[i], result, i))
      comparison.ok = false;
    if (isDeep)
      judgeNorm(comparison, limit);
    result.ok &= comparison.ok;
    unverified += comparison.unverifiedCount;
    print("out " + Twine(i), outputs[i], comparison, neverWritten, options,
          report, list);
    if (isDeep) {
      llvm::json::Object &object = *list.back().getAsObject();
      object["relative_norm"] = toJSON(comparison.relativeNorm());
      object["norm_limit"] = limit;
    }
  }
  if (!notCompared.empty())
    report.text() << "end to end: not compared: " << notCompared << "\n";
  if (!result.isComplete)
    report.text() << "checked: " << result.checked << "\n";
  bool isSpecified = succeeded(reportUnspecified(result, unwritten));
  bool isRight = result.ok && kernels.wrong == 0 && isSpecified;
  unverified += kernels.unverified;
  // Each element may be anything.
  bool isOpen = !result.unspecified.empty() &&
                llvm::all_of(result.comparisons,
                             [](const reference::Comparison &comparison) {
                               return comparison.count == 0;
                             });
  bool isVerified = isRight && unverified == 0 && kernels.unchecked == 0 &&
                    !outputs.empty() && !isOpen;
  bool isComplete = result.isComplete && notCompared.empty() &&
                    kernels.compared == kernels.elements;
  report.root["verify"] = llvm::json::Object{
      {"passed", isRight && (isVerified || options.acceptUnverified)},
      {"complete", isComplete && unverified == 0 && kernels.unchecked == 0 &&
                       !outputs.empty() && !isOpen},
      {"checked", result.checked},
      {"unverified", unverified},
      {"outputs", std::move(list)}};
  if (isDeep)
    report.root["verify"].getAsObject()->insert(
        {"kernels", describeKernels(checks.getSteps())});
  if (kernels.wrong)
    return report.fail(
        Exit::WrongNumbers,
        Twine(kernels.wrong) + " of " + Twine(checks.getSteps().size()) +
            (kernels.wrong == 1 ? " kernels does" : " kernels do") +
            " not match the reference, the first: " +
            kernels.firstWrong->describe());
  if (!result.ok)
    return report.fail(
        Exit::WrongNumbers,
        isDeep ? "the outputs do not match the reference, although each kernel "
                 "does: the fault is in the ops before they become kernels "
                 "(import, fusion, assignment of memory)"
               : "the outputs do not match the reference");
  if (!isSpecified)
    return report.fail(Exit::WrongNumbers,
                       "the outputs depend on memory that nothing has written");
  if (isVerified) {
    report.text() << "verified\n";
    return success();
  }
  report.text() << (outputs.empty() || isOpen ? "not verified\n"
                                              : "not fully verified\n");
  std::string what;
  if (outputs.empty())
    what = "the program has no outputs: nothing was compared";
  else if (isOpen)
    what = "nothing was compared: every element depends on '" +
           result.unspecified.front().op + "', and may be anything";
  else if (unverified)
    what = std::to_string(unverified) +
           (unverified == 1 ? " element differs from the reference and has"
                            : " elements differ from the reference and have") +
           " no error bound: not verified";
  else
    what = std::to_string(kernels.unchecked) +
           (kernels.unchecked == 1 ? " kernel is" : " kernels are") +
           " not verified";
  if (options.acceptUnverified) {
    report.note(what);
    return success();
  }
  return report.fail(Exit::WrongNumbers,
                     what + "; --accept-unverified accepts this");
}
