//===- Arguments.cpp - The contents of an entry's arguments ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Arguments.h"
#include "Execution/Execution.h"
#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"

using namespace tessera::execution;
using runtime::FillSpec;
using runtime::HostArray;

/// "argument 1 (tensor<?x64xf32>)".
static std::string describe(const Entry &entry, size_t index) {
  return "argument " + std::to_string(index) + " (" +
         entry.arguments[index].str() + ")";
}

/// Bytes of an array, as far as its dimensions are known: limited to the
/// largest double, not wrapped.
static double countBytes(ArrayRef<int64_t> shape,
                         runtime::ElementType element) {
  double bytes = static_cast<double>(runtime::elementBits(element)) / 8;
  for (int64_t size : shape)
    bytes *= static_cast<double>(std::max<int64_t>(size, 0));
  return bytes;
}

static LogicalResult checkMemory(const Entry &entry,
                                 const std::vector<FillSpec> &specs,
                                 runtime::Device &device, Report &report) {
  double arguments = 0, results = 0;
  for (auto [slot, spec] : llvm::zip_equal(entry.arguments, specs)) {
    bool isGiven = spec.shape && spec.shape->size() == slot.shape.size();
    // A file's array was in memory at least once.
    if (slot.isBuffer() && spec.kind != FillSpec::File)
      arguments += countBytes(isGiven ? *spec.shape : slot.shape, slot.element);
  }
  for (const Slot &slot : entry.results)
    if (slot.isBuffer())
      results += countBytes(slot.shape, slot.element);

  auto check = [&](const std::string &where, double needed,
                   size_t free) -> LogicalResult {
    if (free == 0 || needed <= static_cast<double>(free))
      return success();
    return report.fail(Exit::Failed,
                       "too large for " + where +
                           ": the arguments and results need " +
                           formatBytes(needed) + ", " +
                           formatBytes(static_cast<double>(free)) +
                           " are free; use smaller arrays");
  };
  double padding = 2.0 * canaryBytes * static_cast<double>(specs.size());
  double host = arguments + results;
  double onDevice = arguments + results + padding;
  const runtime::DeviceInfo &info = device.info();
  if (compiler::isHostTarget(info.target))
    return check("the memory of this machine", host + onDevice,
                 device.freeMemory());
  if (failed(check(info.name, onDevice, device.freeMemory())))
    return failure();
  return check("the memory of this machine", host,
               runtime::listDevices(nullptr, "cpu").back().freeBytes);
}

LogicalResult tessera::execution::makeArguments(const ProgramOptions &options,
                                                const Entry &entry,
                                                runtime::Device &device,
                                                std::vector<HostArray> &arrays,
                                                Report &report) {
  size_t count = entry.arguments.size();
  if (options.arguments.size() > count) {
    (void)report.fail(Exit::Usage,
                      std::to_string(options.arguments.size()) +
                          " --arg given, but entry point '" + options.entry +
                          "' takes " + std::to_string(count) +
                          (count == 1 ? " argument" : " arguments") +
                          "; remove the others");
    for (size_t i = 0; i < count; ++i)
      report.note(describe(entry, i));
    return failure();
  }

  std::vector<FillSpec> specs(count);
  for (auto [i, text] : llvm::enumerate(options.arguments)) {
    runtime::Expected<FillSpec> spec = runtime::parseFillSpec(text);
    if (!spec.ok())
      return report.fail(Exit::Usage, "--arg for " + describe(entry, i) + ": " +
                                          spec.status().message());
    specs[i] = spec.take();
  }
  if (failed(checkMemory(entry, specs, device, report)))
    return failure();

  llvm::json::Array list;
  for (size_t i = 0; i < count; ++i) {
    const Slot &slot = entry.arguments[i];
    runtime::Expected<HostArray> array = runtime::makeArray(
        slot.element, slot.shape, specs[i], /*defaultSeed=*/i);
    if (!array.ok()) {
      bool isMemory = array.status().code() == runtime::StatusCode::OutOfMemory;
      return report.fail(isMemory ? Exit::Failed : Exit::Usage,
                         (i < options.arguments.size() ? "--arg for " : "") +
                             describe(entry, i) + ": " +
                             array.status().message());
    }
    list.push_back(llvm::json::Object{
        {"type", llvm::json::fixUTF8(slot.str())},
        {"shape", llvm::json::Array(array->shape)},
        {"bytes", static_cast<int64_t>(array->data.size())},
        {"contents", llvm::json::fixUTF8(i < options.arguments.size()
                                             ? options.arguments[i]
                                             : std::string("int"))}});
    arrays.push_back(array.take());
  }
  report.root["arguments"] = std::move(list);
  return success();
}
