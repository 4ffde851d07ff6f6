//===- Execution.cpp - Running a compiled program -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Execution.h"

#include "Runtime/Nvtx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace tessera::execution;
using runtime::HostArray;

static constexpr uint8_t canaryByte = 0xA5;

/// The pointer that a word of a descriptor is.
static void *readPointer(const void *word) {
  void *pointer;
  std::memcpy(static_cast<void *>(&pointer), word, sizeof(pointer));
  return pointer;
}

namespace {
/// Code of the program, or work that it has left, runs in this scope.
class GuardScope {
public:
  explicit GuardScope(RunGuard *guard) : guard(guard) {
    if (guard)
      guard->enter();
  }
  ~GuardScope() {
    if (guard)
      guard->leave();
  }
  GuardScope(const GuardScope &) = delete;
  GuardScope &operator=(const GuardScope &) = delete;

private:
  RunGuard *guard;
};
} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Execution::~Execution() {
  if (guard)
    guard->endRun();
  releaseResults();
  for (char *buffer : buffers)
    (void)device.free(buffer);
}

LogicalResult Execution::prepare(Report &report, bool isLoaded) {
  guard = report.guard;
  mlir::func::FuncOp source = entry.function;
  function = program.getEntry(source.getName());
  if (!function)
    return report.fail(
        Exit::Failed,
        "the compiled program does not contain its entry point '" +
            source.getName() + "'; this is a compiler bug");
  name = source.getName().str();
  session.setTrace(report.trace);
  if (!isLoaded) {
    runtime::TraceScope scope(report.trace, "load", "load the kernels");
    scope.add("bytes", static_cast<int64_t>(program.image.bytes.size()));
    if (runtime::Status status = device.loadImage(program.image); !status.ok())
      return report.fail(status);
  }
  if (failed(loadConstants(report)))
    return failure();
  for (const auto &[slot, array] :
       llvm::zip_equal(entry.arguments, arguments)) {
    traffic += static_cast<double>(array.data.size());
    if (!slot.isBuffer()) {
      buffers.push_back(nullptr);
      continue;
    }
    size_t bytes = array.data.size();
    void *buffer = nullptr;
    runtime::Status status = device.allocate(bytes + 2 * canaryBytes, &buffer);
    if (status.ok()) {
      buffers.push_back(static_cast<char *>(buffer));
      status = device.fill(buffer, canaryByte, bytes + 2 * canaryBytes);
    }
    if (status.ok() && bytes != 0) {
      runtime::TraceScope scope(
          report.trace, "copy",
          "argument " + std::to_string(buffers.size() - 1) + " to the device");
      scope.add("bytes", static_cast<int64_t>(bytes));
      status = device.copyToDevice(buffers.back() + canaryBytes,
                                   array.data.data(), bytes);
    }
    if (!status.ok())
      return report.fail(status);
  }
  layOut();
  return success();
}

/// Copies the program's constants to the device, and computes those that its
/// loader computes.
LogicalResult Execution::loadConstants(Report &report) {
  if (!program.constants.empty()) {
    runtime::TraceScope scope(report.trace, "copy", "constants to the device");
    if (runtime::Status status = constants.load(program.constants);
        !status.ok())
      return report.fail(status);
  }
  session.setConstants(&constants);
  if (program.loader.empty())
    return success();
  auto *load = program.getEntry(program.loader);
  if (!load)
    return report.fail(Exit::Failed,
                       "the compiled program does not contain its function '" +
                           program.loader + "'; this is a compiler bug");
  uint64_t none = 0;
  void *nothing[] = {&none};
  GuardScope scope(guard);
  runtime::SessionScope current(session);
  session.setRecording(false);
  if (guard)
    guard->beginRun();
  load(nothing);
  session.setRecording(true);
  const runtime::Status &status = session.finish();
  if (guard)
    guard->endRun();
  return status.ok() ? success() : report.fail(status);
}

/// Makes what the entry is called with.
void Execution::layOut() {
  // Nothing may move once its address is taken.
  descriptors.resize(arguments.size());
  scalars.resize(arguments.size());
  for (auto [i, slot] : llvm::enumerate(entry.arguments)) {
    const HostArray &array = arguments[i];
    if (!slot.isBuffer()) {
      std::memcpy(&scalars[i], array.data.data(), array.data.size());
      pointers.push_back(&scalars[i]);
      continue;
    }
    size_t rank = slot.shape.size();
    std::vector<int64_t> &words = descriptors[i];
    words.resize(runtime::countWords(slot));
    words[0] = words[1] = reinterpret_cast<intptr_t>(buffers[i] + canaryBytes);
    int64_t stride = 1;
    for (size_t dim = rank; dim-- > 0;) {
      words[3 + dim] = array.shape[dim];
      words[3 + rank + dim] = stride;
      stride *= array.shape[dim];
    }
    for (int64_t &word : words)
      pointers.push_back(&word);
  }

  runtime::ResultLayout layout({entry.results.begin(), entry.results.end()});
  resultOffsets = layout.offsets;
  results.resize(llvm::divideCeil(layout.bytes, 8));
  pointers.push_back(results.data());
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The ops that the kernels compute: their names and locations, by the name of
/// the kernel.
static llvm::StringMap<std::string>
describeKernels(const compiler::CompiledProgram &program, const Entry &entry) {
  llvm::StringMap<std::string> names, result;
  mlir::func::FuncOp function = entry.function;
  if (auto module = function->getParentOfType<mlir::ModuleOp>())
    module.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
      names.try_emplace(compiler::describeLocation(op->getLoc()),
                        op->getName().getStringRef());
    });
  for (const compiler::KernelReport &kernel : program.kernels)
    if (auto found = names.find(kernel.location);
        found != names.end() && !kernel.location.empty())
      result[kernel.name] = "'" + found->second + "' (" + kernel.location + ")";
  return result;
}

void Execution::call() {
  runtime::NvtxRange range(name.c_str());
  std::fill(results.begin(), results.end(), 0);
  GuardScope scope(guard);
  runtime::SessionScope current(session);
  // Later runs are to cost no more than what is asked for.
  bool watches = guard && guard->watchesLaunches();
  bool hooks = !hasRun || watches;
  llvm::StringMap<std::string> ops;
  if (watches)
    ops = describeKernels(program, entry);
  if (hooks)
    session.setLaunchHook([&](const runtime::LaunchRequest &request) {
      if (!firstLaunch)
        firstLaunch = std::chrono::steady_clock::now();
      if (guard)
        guard->noteLaunch(request.kernel, ops.lookup(request.kernel).c_str());
      return runtime::Status::success();
    });
  if (guard)
    guard->beginRun();
  submissionsBefore = device.countSubmissions().value_or(0);
  session.beginRun();
  {
    runtime::Device::Run run(device);
    session.call(function, pointers.data());
    session.fail(run.end());
  }
  session.submitRun();
  if (hooks)
    session.setLaunchHook(nullptr);
  hasRun = true;
}

void Execution::releaseResults() {
  if (results.empty())
    return;
  for (auto [slot, offset] : llvm::zip_equal(entry.results, resultOffsets)) {
    if (!slot.isBuffer())
      continue;
    void *allocated = readPointer(&results[offset / 8]);
    // Two results may be one buffer.
    if (session.owns(allocated))
      session.free(allocated);
  }
  std::fill(results.begin(), results.end(), 0);
}

LogicalResult Execution::finish(Report &report) {
  GuardScope scope(guard);
  const runtime::Status &status = session.finish();
  submissions = device.countSubmissions();
  if (submissions)
    *submissions -= submissionsBefore;
  if (guard)
    guard->endRun();
  if (!status.ok())
    return report.fail(status);
  if (failed(checkCanaries(report)))
    return failure();
  return session.damage() ? reportDamage(*session.damage(), report) : success();
}

LogicalResult Execution::rerun(Report &report) {
  releaseResults();
  for (auto [i, slot] : llvm::enumerate(entry.arguments)) {
    const HostArray &array = arguments[i];
    bool mayDiffer = slot.mayWrite || slot.mayOverwrite;
    if (!mayDiffer || array.data.empty())
      continue;
    runtime::Status status = device.copyToDevice(
        buffers[i] + canaryBytes, array.data.data(), array.data.size());
    if (!status.ok())
      return report.fail(status);
  }
  call();
  return finish(report);
}

/// Returns "wrote past the end of WHAT: ...", with the fix.
static std::string describeDamage(const Twine &what, bool isAfter, size_t bytes,
                                  size_t distance) {
  return ("the program wrote " +
          Twine(isAfter ? "past the end" : "before the start") + " of " + what +
          ": " + Twine(bytes) + " bytes changed, the nearest at distance " +
          Twine(distance) + "; an index is out of bounds")
      .str();
}

LogicalResult Execution::reportDamage(const runtime::GuardDamage &damage,
                                      Report &report) const {
  std::string what = "memory of " + std::to_string(damage.size) +
                     " bytes that it allocated itself";
  for (auto [i, slot] : llvm::enumerate(entry.results))
    if (slot.isBuffer() &&
        readPointer(&results[resultOffsets[i] / 8]) == damage.ptr)
      what = "result " + std::to_string(i) + " (" + slot.str() + ")";
  return report.fail(
      Exit::WrongNumbers,
      describeDamage(what, damage.isAfter, damage.bytes, damage.distance));
}

LogicalResult Execution::checkCanaries(Report &report) {
  for (auto [i, slot] : llvm::enumerate(entry.arguments)) {
    if (!slot.isBuffer())
      continue;
    size_t bytes = arguments[i].data.size();
    for (bool isAfter : {false, true}) {
      uint8_t found[canaryBytes];
      size_t position = isAfter ? canaryBytes + bytes : 0;
      runtime::Status status =
          device.copyToHost(found, buffers[i] + position, canaryBytes);
      if (!status.ok())
        return report.fail(status);
      // Bytes by their distance from the array.
      if (!isAfter)
        std::reverse(std::begin(found), std::end(found));
      auto isWritten = [](uint8_t byte) { return byte != canaryByte; };
      auto *nearest = llvm::find_if(found, isWritten);
      if (nearest == std::end(found))
        continue;
      return report.fail(
          Exit::WrongNumbers,
          describeDamage("argument " + Twine(i) + " (" + slot.str() + ")",
                         isAfter, llvm::count_if(found, isWritten),
                         nearest - found));
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

LogicalResult Execution::readArgument(size_t index, HostArray &array,
                                      Report &report) {
  array = arguments[index];
  if (array.data.empty() || !buffers[index])
    return success();
  runtime::TraceScope scope(report.trace, "copy",
                            "argument " + std::to_string(index) +
                                " from the device");
  scope.add("bytes", static_cast<int64_t>(array.data.size()));
  runtime::Status status = device.copyToHost(
      array.data.data(), buffers[index] + canaryBytes, array.data.size());
  return status.ok() ? success() : report.fail(status);
}

LogicalResult Execution::readResult(size_t index, HostArray &array,
                                    Report &report) {
  const Slot &slot = entry.results[index];
  const auto *position =
      reinterpret_cast<const char *>(results.data()) + resultOffsets[index];
  if (!slot.isBuffer()) {
    array.type = slot.element;
    array.data.resize(runtime::elementBytes(slot.element));
    std::memcpy(array.data.data(), position, array.data.size());
    // Only the lowest bit of an i1 is significant.
    if (slot.element == runtime::ElementType::I1)
      array.data[0] &= std::byte(1);
    return success();
  }

  size_t rank = slot.shape.size();
  std::vector<int64_t> words(runtime::countWords(slot));
  std::memcpy(words.data(), position, 8 * words.size());
  std::vector<int64_t> shape(words.begin() + 3, words.begin() + 3 + rank);
  std::vector<int64_t> strides(words.begin() + 3 + rank, words.end());
  // The type requires a dense array at any offset.
  bool isWrong = words[2] < 0 ||
                 words[2] * runtime::elementBits(slot.element) % 8 != 0,
       isEmpty = llvm::is_contained(shape, 0);
  int64_t dense = 1;
  for (size_t dim = rank; dim-- > 0;) {
    isWrong |= shape[dim] < 0 ||
               (slot.shape[dim] >= 0 && shape[dim] != slot.shape[dim]) ||
               (shape[dim] > 1 && !isEmpty && strides[dim] != dense);
    dense *= std::max<int64_t>(shape[dim], 1);
  }
  StringRef element = runtime::elementTypeName(slot.element);
  if (isWrong)
    return report.fail(Exit::Failed,
                       "result " + Twine(index) + " (" + slot.str() +
                           ") has type " + formatType(shape, element) +
                           ", or is not dense; this is a compiler bug");
  runtime::Expected<HostArray> made =
      HostArray::create(slot.element, std::move(shape));
  if (!made.ok())
    return report.fail(made.status(), "result " + Twine(index));
  array = made.take();
  if (array.data.empty())
    return success();
  runtime::TraceScope scope(report.trace, "copy",
                            "result " + std::to_string(index) +
                                " from the device");
  scope.add("bytes", static_cast<int64_t>(array.data.size()));
  const auto *from = static_cast<const char *>(readPointer(&words[1])) +
                     words[2] * runtime::elementBits(slot.element) / 8;
  runtime::Status status =
      device.copyToHost(array.data.data(), from, array.data.size());
  if (!status.ok())
    return report.fail(status, "result " + Twine(index));
  return success();
}

LogicalResult Execution::readOutputs(std::vector<Output> &outputs,
                                     Report &report) {
  GuardScope scope(guard);
  for (auto [i, slot] : llvm::enumerate(entry.results)) {
    Output output;
    output.name = "result " + std::to_string(i);
    output.isResult = true;
    output.position = i;
    output.type = slot.type;
    if (failed(readResult(i, output.array, report)))
      return failure();
    if (!hasResultTraffic)
      traffic += static_cast<double>(output.array.data.size());
    outputs.push_back(std::move(output));
  }
  hasResultTraffic = true;
  for (auto [i, slot] : llvm::enumerate(entry.arguments)) {
    if (!slot.mayWrite)
      continue;
    Output output;
    output.name = "argument " + std::to_string(i);
    output.position = i;
    output.type = slot.type;
    if (failed(readArgument(i, output.array, report)))
      return failure();
    outputs.push_back(std::move(output));
  }
  return success();
}
