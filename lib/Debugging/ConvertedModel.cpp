//===- ConvertedModel.cpp - The error of a converted model
//-------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/ConvertedModel.h"

#include "Execution/Model.h"
#include "Execution/Program.h"
#include "Reference/Interpreter.h"
#include "Report/OutputStatistics.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

#include <thread>

using namespace tessera::execution;
namespace reference = compiler::reference;

/// Multiply-adds of the reference for each core of the host.
static constexpr int64_t mostWorkPerCore = 3'000'000'000;

LogicalResult tessera::execution::compareWithOriginal(
    const ProgramOptions &options, mlir::MLIRContext &context,
    const std::vector<runtime::HostArray> &arguments,
    const std::vector<Output> &outputs, Report &report) {
  if (options.file == "-")
    return report.fail(Exit::Usage, "--convert with --verify reads the model "
                                    "twice, which standard input does not "
                                    "permit; pass a file");
  ProgramOptions original = options;
  original.convertsToF16 = false;
  llvm::SourceMgr sources;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      importModel(original, /*input=*/nullptr, sources, context, report);
  Entry entry;
  if (!module || failed(findEntry(*module, options.entry, entry, report)))
    return failure();
  FailureOr<llvm::SmallVector<reference::Array>> arrays =
      toReference(entry, arguments, "--verify", report);
  if (failed(arrays))
    return failure();
  reference::Options evaluation;
  evaluation.flags = options.flags;
  evaluation.maxWork =
      mostWorkPerCore * std::max(1u, std::thread::hardware_concurrency());
  reference::Outcome expected =
      reference::run(entry.function, *arrays, evaluation);
  if (expected.status == reference::Status::Failed)
    return report.failDiagnosed("the reference of the original model");
  if (expected.status == reference::Status::TooLarge)
    return report.fail(Exit::Failed,
                       "the reference of the original model would take too "
                       "long: " +
                           expected.message + "; verify with smaller sizes");
  llvm::json::Array list;
  for (auto [i, output] : llvm::enumerate(outputs)) {
    if (!output.isResult || output.position >= expected.results.size())
      continue;
    const reference::Array &want = expected.results[output.position];
    FailureOr<reference::Array> got =
        toReference(output.array, output.type, "--verify", report);
    if (failed(got))
      return failure();
    if (!want.isFloat() || !got->isFloat())
      continue;
    double relative = reference::compare(*got, want).relativeNorm();
    report.text() << "out " << i << ": differs from the float32 model by "
                  << llvm::format("%.3g", relative) << " of its norm\n";
    list.push_back(toJSON(relative));
  }
  report.root["convertedDifference"] = std::move(list);
  return success();
}
