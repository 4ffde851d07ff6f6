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

/// One line on an output, and its part of the JSON object.
static void print(size_t index, const Output &output,
                  const reference::Comparison &comparison, int64_t neverWritten,
                  const ProgramOptions &options, Report &report,
                  llvm::json::Array &list) {
  llvm::raw_ostream &os = report.text();
  os << "out " << index << ": "
     << (!comparison.ok               ? "FAILED"
         : comparison.unverifiedCount ? "not fully verified"
                                      : "verified")
     << " (max abs err " << llvm::format("%.3g", comparison.maxAbs)
     << ", max rel err " << llvm::format("%.3g", comparison.maxRel)
     << ", checked " << comparison.count - comparison.unverifiedCount << ", "
     << comparison.tolerance << ")\n";
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
  if (comparison.mismatchCount == 0 && comparison.worstBlock)
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
/// that `unwritten` marks counts as NaN, whatever it holds.
static FailureOr<reference::Verification>
compare(const ProgramOptions &options, const compiler::Chip &chip,
        const Entry &entry, ArrayRef<compiler::MatmulReport> matmuls,
        const std::vector<HostArray> &arguments,
        const std::vector<Output> &outputs,
        const std::vector<std::vector<uint8_t>> &unwritten, Report &report) {
  llvm::SmallVector<reference::Array> arrays;
  for (const auto &[slot, array] :
       llvm::zip_equal(entry.arguments, arguments)) {
    FailureOr<reference::Array> converted =
        toReference(array, slot.type, "--verify", report);
    if (failed(converted))
      return failure();
    arrays.push_back(std::move(*converted));
  }
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
  reference::Verification result =
      reference::verify(entry.function, arrays, computed, verifyOptions);
  if (result.status == reference::Status::Failed)
    return report.failDiagnosed("the reference");
  if (result.status == reference::Status::TooLarge)
    return report.fail(Exit::Failed,
                       "the reference would take too long: " + result.message +
                           "; verify with smaller sizes");
  return result;
}

FailureOr<bool> tessera::execution::isAsReference(
    const ProgramOptions &options, const compiler::Chip &chip,
    const Entry &entry, ArrayRef<compiler::MatmulReport> matmuls,
    const std::vector<HostArray> &arguments, const std::vector<Output> &outputs,
    Report &report) {
  FailureOr<reference::Verification> result =
      compare(options, chip, entry, matmuls, arguments, outputs, {}, report);
  if (failed(result))
    return failure();
  return result->ok;
}

LogicalResult tessera::execution::verify(
    const ProgramOptions &options, const compiler::Chip &chip,
    const Entry &entry, ArrayRef<compiler::MatmulReport> matmuls,
    const std::vector<HostArray> &arguments, const std::vector<Output> &outputs,
    runtime::Device &device, Execution &execution, Report &report) {
  std::vector<std::vector<uint8_t>> unwritten;
  if (failed(checkInputs(entry, arguments, execution, report)) ||
      failed(findUnwritten(device, execution, outputs, unwritten, report)))
    return failure();
  FailureOr<reference::Verification> result = compare(
      options, chip, entry, matmuls, arguments, outputs, unwritten, report);
  if (failed(result))
    return failure();

  llvm::json::Array list;
  for (size_t i = 0; i < outputs.size() && i < result->comparisons.size();
       ++i) {
    reference::Comparison &comparison = result->comparisons[i];
    int64_t neverWritten = llvm::count(unwritten[i], 1);
    // An integer may be right by what its memory happened to hold.
    if (neverWritten && !runtime::isFloat(outputs[i].array.type))
      result->ok = comparison.ok = false;
    print(i, outputs[i], comparison, neverWritten, options, report, list);
  }
  if (!result->isComplete)
    report.text() << "checked: " << result->checked << "\n";
  int64_t unverified = result->unverifiedCount;
  bool isVerified = result->ok && unverified == 0 && !outputs.empty();
  report.root["verify"] = llvm::json::Object{
      {"passed", result->ok && (isVerified || options.acceptUnverified)},
      {"complete", result->isComplete && unverified == 0 && !outputs.empty()},
      {"checked", result->checked},
      {"unverified", unverified},
      {"outputs", std::move(list)}};
  if (!result->ok)
    return report.fail(Exit::WrongNumbers,
                       "the outputs do not match the reference");
  if (isVerified) {
    report.text() << "verified\n";
    return success();
  }
  report.text() << (outputs.empty() ? "not verified\n"
                                    : "not fully verified\n");
  std::string what =
      outputs.empty()
          ? "the program has no outputs: nothing was compared"
          : std::to_string(unverified) +
                (unverified == 1 ? " element differs from the reference and has"
                                 : " elements differ from the reference and "
                                   "have") +
                " no error bound: not verified";
  if (options.acceptUnverified) {
    report.note(what);
    return success();
  }
  return report.fail(Exit::WrongNumbers,
                     what + "; --accept-unverified accepts this");
}
