//===- Outputs.cpp - Outputs that options name ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outputs.h"

#include "Runtime/HostArray.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstring>

using namespace tessera::execution;

std::optional<EntryResult>
tessera::execution::readEntryResult(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<EntryResult>>(name)
      .Case("void", EntryResult::Void)
      .Case("i32", EntryResult::I32)
      .Case("i64", EntryResult::I64)
      .Case("f32", EntryResult::F32)
      .Default(std::nullopt);
}

/// Rejects a number that `option` gives to an output.
static LogicalResult checkOutputNumber(StringRef option, unsigned number,
                                       size_t count, Report &report) {
  if (number < count)
    return success();
  std::string fix = count == 0   ? "the program has no outputs"
                    : count == 1 ? "the program has one output, number 0"
                                 : "the program's outputs are numbered 0 to " +
                                       std::to_string(count - 1);
  return report.fail(Exit::Usage,
                     option + " names output " + Twine(number) + "; " + fix);
}

LogicalResult
tessera::execution::checkOutputNumbers(const RunnerOptions &options,
                                       size_t count, Report &report) {
  for (const auto &[number, file] : options.outputs)
    if (failed(checkOutputNumber("--out", number, count, report)))
      return failure();
  return success();
}

LogicalResult
tessera::execution::checkOutputNumbers(const RunnerOptions &options,
                                       const Entry &entry, Report &report) {
  size_t count = entry.results.size();
  for (const Slot &slot : entry.arguments)
    count += slot.mayWrite;
  return checkOutputNumbers(options, count, report);
}

/// The type that --entry-point-result expects; absent for void, with which
/// results are neither expected nor printed.
static std::optional<runtime::ElementType> getElement(EntryResult result) {
  switch (result) {
  case EntryResult::Void:
    return std::nullopt;
  case EntryResult::I32:
    return runtime::ElementType::I32;
  case EntryResult::I64:
    return runtime::ElementType::I64;
  case EntryResult::F32:
    return runtime::ElementType::F32;
  }
  llvm_unreachable("unknown result");
}

LogicalResult tessera::execution::checkEntryResult(const RunnerOptions &options,
                                                   const Entry &entry,
                                                   Report &report) {
  if (!options.entryResult)
    return success();
  std::optional<runtime::ElementType> element =
      getElement(*options.entryResult);
  const std::vector<Slot> &results = entry.results;
  if (!element || (results.size() == 1 && !results[0].isBuffer() &&
                   results[0].element == *element))
    return success();
  return report.fail(Exit::Usage,
                     "--entry-point-result does not match the results of '" +
                         options.entry + "': remove it, or name their type");
}

void tessera::execution::printEntryResult(const RunnerOptions &options,
                                          const std::vector<Output> &outputs,
                                          Report &report) {
  std::optional<runtime::ElementType> element =
      getElement(*options.entryResult);
  if (!element)
    return;
  const std::byte *data = outputs.front().array.data.data();
  auto read = [data](auto value) {
    std::memcpy(&value, data, sizeof(value));
    return value;
  };
  llvm::raw_ostream &os = report.text();
  if (*element == runtime::ElementType::F32)
    os << read(float()) << "\n";
  else if (*element == runtime::ElementType::I32)
    os << read(int32_t()) << "\n";
  else
    os << read(int64_t()) << "\n";
}

LogicalResult
tessera::execution::saveOutputs(const RunnerOptions &options,
                                const std::vector<Output> &outputs,
                                Report &report) {
  for (const auto &[number, file] : options.outputs) {
    runtime::Status status = runtime::saveNpy(file, outputs[number].array);
    if (!status.ok())
      return report.fail(status);
  }
  return success();
}

LogicalResult tessera::execution::corruptOutput(const RunnerOptions &options,
                                                std::vector<Output> &outputs,
                                                Report &report) {
  if (!options.corruptOutput)
    return success();
  unsigned number = *options.corruptOutput;
  if (failed(checkOutputNumber("--debug-corrupt-output", number, outputs.size(),
                               report)))
    return failure();
  std::string planted = plant(options.plantedFault, outputs[number].array);
  if (planted.empty())
    report.note("output " + Twine(number) +
                " has no elements: no fault is planted");
  else
    report.text() << "planted in out " << number << ": " << planted << "\n";
  return success();
}
