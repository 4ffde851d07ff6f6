//===- Verify.cpp - Outputs against the reference -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "Reference/Verify.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <thread>

using namespace runner;
using runtime::HostArray;

namespace reference = compiler::reference;

/// The work that a reference may be, for each core of the host: some seconds.
static constexpr int64_t workPerCore = 3'000'000'000;

static FailureOr<reference::Array>
toReference(const HostArray &array, mlir::Type type, Report &report) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(array.data.data()),
                       array.data.size());
  FailureOr<reference::Array> converted =
      reference::Array::decode(element, array.shape, bytes);
  if (failed(converted))
    (void)report.fail(Exit::Failed,
                      "the reference has no numbers of type " +
                          StringRef(runtime::elementTypeName(array.type)) +
                          "; run without --verify");
  return converted;
}

static std::string format(double value) {
  std::string text;
  if (std::isnan(value))
    return "nan";
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

/// One line on an output, and its part of the JSON object.
static void print(size_t index, const Output &output,
                  const reference::Comparison &comparison, Report &report,
                  llvm::json::Array &list) {
  llvm::raw_ostream &os = report.text();
  os << "out " << index << ": " << (comparison.ok ? "verified" : "FAILED")
     << " (max abs err " << llvm::format("%.3g", comparison.maxAbs)
     << ", max rel err " << llvm::format("%.3g", comparison.maxRel)
     << ", checked " << comparison.count << ", " << comparison.tolerance
     << ")\n";
  llvm::json::Object object{{"name", output.name},
                            {"passed", comparison.ok},
                            {"max_abs_error", toJSON(comparison.maxAbs)},
                            {"max_rel_error", toJSON(comparison.maxRel)},
                            {"checked", comparison.count},
                            {"mismatches", comparison.mismatchCount},
                            {"nans", comparison.nanCount},
                            {"exact", comparison.exactCount},
                            {"unbounded", comparison.unboundedCount},
                            {"tolerance", comparison.tolerance}};
  if (comparison.worstIndex >= 0)
    object["worst"] =
        llvm::json::Object{{"at", llvm::json::Array(comparison.worstPosition)},
                           {"got", toJSON(comparison.got)},
                           {"expected", toJSON(comparison.expected)},
                           {"allowed", toJSON(comparison.allowed)}};
  list.push_back(std::move(object));
  if (comparison.ok)
    return;
  os << "  " << comparison.mismatchCount << " of " << comparison.count
     << " elements are wrong";
  if (comparison.nanCount)
    os << ", " << comparison.nanCount << " of them NaN";
  os << "; the worst is at [";
  llvm::interleaveComma(comparison.worstPosition, os);
  os << "]: got " << format(comparison.got) << ", expected "
     << format(comparison.expected) << ", tolerance "
     << llvm::format("%.3g", comparison.allowed) << "\n";
}

/// What the program is not to write, it is not to write.
static LogicalResult checkInputs(const Entry &entry,
                                 const std::vector<HostArray> &arguments,
                                 Execution &execution, Report &report) {
  for (auto [i, slot] : llvm::enumerate(entry.arguments)) {
    if (!slot.isBuffer() || slot.mayWrite)
      continue;
    HostArray array;
    if (failed(execution.readArgument(i, array, report)))
      return failure();
    if (array.data != arguments[i].data)
      return report.fail(Exit::WrongNumbers,
                         "argument " + Twine(i) + " (" + slot.str() +
                             ") was changed, though the program only reads "
                             "it; this is a defect of the compiler");
  }
  return success();
}

LogicalResult runner::verify(const Options &options, const compiler::Chip &chip,
                             const Entry &entry,
                             const std::vector<HostArray> &arguments,
                             const std::vector<Output> &outputs,
                             Execution &execution, Report &report) {
  if (failed(checkInputs(entry, arguments, execution, report)))
    return failure();

  llvm::SmallVector<reference::Array> arrays;
  for (const auto &[slot, array] :
       llvm::zip_equal(entry.arguments, arguments)) {
    FailureOr<reference::Array> converted =
        toReference(array, slot.type, report);
    if (failed(converted))
      return failure();
    arrays.push_back(std::move(*converted));
  }
  llvm::SmallVector<reference::ComputedOutput> computed;
  for (const Output &output : outputs) {
    FailureOr<reference::Array> converted =
        toReference(output.array, output.type, report);
    if (failed(converted))
      return failure();
    computed.push_back({output.isResult, static_cast<unsigned>(output.position),
                        std::move(*converted)});
  }
  reference::VerifyOptions verifyOptions;
  verifyOptions.evaluation.allowTf32 = options.allowTf32;
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

  llvm::json::Array list;
  for (size_t i = 0; i < outputs.size() && i < result.comparisons.size(); ++i)
    print(i, outputs[i], result.comparisons[i], report, list);
  if (!result.isComplete)
    report.text() << "checked: " << result.checked << "\n";
  report.root["verify"] = llvm::json::Object{{"passed", result.ok},
                                             {"complete", result.isComplete},
                                             {"checked", result.checked},
                                             {"outputs", std::move(list)}};
  if (!result.ok)
    return report.fail(Exit::WrongNumbers,
                       "the outputs are not what the reference says");
  if (outputs.empty())
    Report::note("the program has no outputs: nothing was compared");
  report.text() << "verified\n";
  return success();
}
