//===- KernelChecks.cpp - Each kernel against the reference ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/KernelChecks.h"

#include "Driver/CompiledSums.h"
#include "Driver/EntrySignature.h"
#include "Reference/Verify.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>
#include <thread>

using namespace tessera::execution;
using runtime::HostArray;
using runtime::Status;

namespace reference = compiler::reference;

/// The work that the reference may be for one step, for each core of the host:
/// some seconds. Beyond it, elements are sampled.
static constexpr int64_t stepWorkPerCore = 3'000'000'000;

/// An argument of a step.
struct KernelChecks::Operand {
  /// Null for a scalar, whose bits are `bits`.
  mlir::MemRefType type;
  mlir::Type elementType;
  uint64_t bits = 0;
  /// Where a memref lies; offset and strides are in elements.
  char *address = nullptr;
  int64_t offset = 0;
  std::vector<int64_t> strides;
  /// Its contents, as a dense array.
  HostArray array;
  /// Its bytes on the device, from the first to the last element.
  std::vector<char> memory;
};

struct KernelChecks::Step {
  /// Null for a step that cannot be checked.
  mlir::func::FuncOp function;
  mlir::Operation *op = nullptr;
  /// Arguments that it writes.
  std::vector<unsigned> outputs;
  std::vector<reference::CompiledSum> sums;
  /// While it runs.
  std::vector<Operand> operands;
};

KernelChecks::KernelChecks(const ProgramOptions &options,
                           const compiler::Chip &chip,
                           const compiler::CompiledProgram &program,
                           runtime::Device &device, Execution &execution)
    : options(options), chip(chip), program(program), device(device),
      execution(execution) {}

KernelChecks::~KernelChecks() { detach(); }

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The node of a model, and the location in a file.
static std::string describeNode(mlir::Location location) {
  std::string file = compiler::describeLocation(location);
  auto name = location->findInstanceOf<mlir::NameLoc>();
  if (!name)
    return file.empty() ? "unknown location" : file;
  std::string text = "node '" + name.getName().str() + "'";
  return file.empty() ? text : text + " (" + file + ")";
}

/// Locations of all ops in an op.
static llvm::StringSet<> collectLocations(mlir::Operation *op) {
  llvm::StringSet<> locations;
  op->walk([&](mlir::Operation *inner) {
    locations.insert(compiler::describeLocation(inner->getLoc()));
  });
  return locations;
}

/// How the sums of a step were compiled: by its location; else as those that
/// belong to no step, of which one may be its own.
static std::vector<reference::CompiledSum>
findSums(ArrayRef<reference::CompiledSum> sums, mlir::Operation *step,
         const llvm::StringSet<> &allLocations) {
  llvm::StringSet<> locations = collectLocations(step);
  std::vector<reference::CompiledSum> own, others;
  for (const reference::CompiledSum &sum : sums)
    if (!sum.location.empty() && locations.contains(sum.location))
      own.push_back(sum);
    else if (sum.location.empty() || !allLocations.contains(sum.location))
      others.push_back(sum);
  return own.empty() ? others : own;
}

LogicalResult KernelChecks::attach(mlir::MLIRContext &context, Report &report) {
  guard = report.guard;
  if (program.steps.empty()) {
    if (corruptStep)
      return report.fail(Exit::Usage,
                         "--debug-corrupt-kernel requires a program of several "
                         "kernels, compiled from linalg");
    return success();
  }
  functions = mlir::parseSourceString<mlir::ModuleOp>(program.steps, &context);
  if (!functions)
    return report.failDiagnosed("reading the steps of the program");
  std::vector<reference::CompiledSum> sums =
      compiler::describeSums(program.matmuls);
  llvm::StringSet<> allLocations = collectLocations(*functions);
  for (auto function : functions->getOps<mlir::func::FuncOp>()) {
    if (!function.getName().starts_with(compiler::stepPrefix))
      continue;
    auto step = std::make_unique<Step>();
    CheckedStep result;
    result.location = describeNode(function.getLoc());
    if (function.isDeclaration()) {
      result.unchecked = "one of its operands is neither a memref nor a number";
    } else {
      step->function = function;
      step->op = &function.getBody().front().front();
      while (
          step->op->hasTrait<mlir::OpTrait::ConstantLike>() ||
          mlir::isa<mlir::ViewLikeOpInterface, mlir::memref::AllocOp>(step->op))
        step->op = step->op->getNextNode();
      result.op = step->op->getName().getStringRef().str();
      for (mlir::BlockArgument argument : function.getArguments())
        if (mlir::isa<mlir::MemRefType>(argument.getType()) &&
            compiler::mayWrite(argument))
          step->outputs.push_back(argument.getArgNumber());
      step->sums = findSums(sums, function, allLocations);
    }
    steps.push_back(std::move(step));
    checked.push_back(std::move(result));
  }
  if (corruptStep && *corruptStep >= steps.size())
    return report.fail(Exit::Usage,
                       "--debug-corrupt-kernel=" + Twine(*corruptStep) +
                           ": the program has " + Twine(steps.size()) +
                           " kernels, numbered from 0");
  execution.getSession().setCheckpointHook(
      [this](int64_t number, bool isEnd, const std::vector<int64_t> &values) {
        return reach(number, isEnd, values);
      });
  return success();
}

void KernelChecks::detach() {
  execution.getSession().setCheckpointHook(nullptr);
}

LogicalResult KernelChecks::run(Report &report) {
  if (!hasSteps())
    return success();
  execution.getSession().setRecording(true);
  isChecking = true;
  LogicalResult result = execution.rerun(report);
  isChecking = false;
  execution.getSession().setRecording(false);
  if (!planted.empty())
    report.text() << "planted in kernel " << *corruptStep << ": " << planted
                  << "\n";
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Calls `visit(position in memory, index)` for each element, in row-major
/// order.
static void
visitElements(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
              llvm::function_ref<void(int64_t position, int64_t index)> visit) {
  if (llvm::is_contained(sizes, 0))
    return;
  std::vector<int64_t> at(sizes.size(), 0);
  int64_t position = 0;
  for (int64_t index = 0;; ++index) {
    visit(position, index);
    size_t dim = sizes.size();
    while (dim-- > 0) {
      position += strides[dim];
      if (++at[dim] < sizes[dim])
        break;
      position -= strides[dim] * sizes[dim];
      at[dim] = 0;
    }
    if (dim == SIZE_MAX)
      return;
  }
}

static Status makeError(const Twine &text) {
  return Status(runtime::StatusCode::InvalidArgument, text.str());
}

/// Copies the operand from the device.
Status KernelChecks::read(Operand &operand) {
  HostArray &array = operand.array;
  if (array.data.empty())
    return Status::success();
  size_t bits = runtime::elementBits(array.type);
  int64_t last = 0;
  bool isDense = true;
  int64_t dense = 1;
  for (size_t dim = array.shape.size(); dim-- > 0;) {
    if (operand.strides[dim] < 0)
      return makeError("a stride of a buffer is negative");
    isDense &= array.shape[dim] == 1 || operand.strides[dim] == dense;
    dense *= array.shape[dim];
    last += (array.shape[dim] - 1) * operand.strides[dim];
  }
  if (bits < 8 && (!isDense || operand.offset % 2 != 0))
    return makeError("a view of 4-bit elements does not begin at a byte");
  const char *begin = operand.address + operand.offset * int64_t(bits) / 8;
  if (isDense)
    return device.copyToHost(array.data.data(), begin, array.data.size());
  size_t size = bits / 8;
  operand.memory.resize((last + 1) * size);
  if (Status status = device.copyToHost(operand.memory.data(), begin,
                                        operand.memory.size());
      !status.ok())
    return status;
  visitElements(array.shape, operand.strides,
                [&](int64_t position, int64_t index) {
                  std::memcpy(&array.data[index * size],
                              &operand.memory[position * size], size);
                });
  return Status::success();
}

/// Reads the values that a checkpoint passes for the arguments of the step, and
/// their contents.
Status KernelChecks::enter(Step &step, const std::vector<int64_t> &values) {
  step.operands.clear();
  ArrayRef<int64_t> rest(values);
  auto take = [&] {
    if (rest.empty())
      return int64_t(0);
    int64_t value = rest.front();
    rest = rest.drop_front();
    return value;
  };
  for (mlir::Type type : step.function.getArgumentTypes()) {
    Operand &operand = step.operands.emplace_back();
    operand.type = mlir::dyn_cast<mlir::MemRefType>(type);
    operand.elementType = mlir::getElementTypeOrSelf(type);
    if (!operand.type) {
      operand.bits = static_cast<uint64_t>(take());
      continue;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    operand.address = reinterpret_cast<char *>(take());
    std::vector<int64_t> sizes(operand.type.getShape());
    for (int64_t &size : sizes)
      if (mlir::ShapedType::isDynamic(size))
        size = take();
    llvm::SmallVector<int64_t> strides;
    bool isIdentity = operand.type.getLayout().isIdentity();
    if (isIdentity) {
      strides.resize(sizes.size());
      int64_t stride = 1;
      for (size_t dim = sizes.size(); dim-- > 0;) {
        strides[dim] = stride;
        stride *= sizes[dim];
      }
    } else if (failed(
                   operand.type.getStridesAndOffset(strides, operand.offset))) {
      return makeError("a buffer has a layout without strides");
    }
    if (mlir::ShapedType::isDynamic(operand.offset))
      operand.offset = take();
    for (int64_t &stride : strides)
      if (mlir::ShapedType::isDynamic(stride))
        stride = take();
    operand.strides.assign(strides.begin(), strides.end());
    runtime::Slot slot;
    std::string why;
    if (!compiler::describeSlot(
            mlir::MemRefType::get(sizes, operand.elementType), slot, why))
      return makeError("a buffer has an element type that cannot be read");
    runtime::Expected<HostArray> array =
        HostArray::create(slot.element, std::move(sizes));
    if (!array.ok())
      return array.status();
    operand.array = array.take();
    if (isChecking)
      if (Status status = read(operand); !status.ok())
        return status;
  }
  return Status::success();
}

/// Plants the fault that the options ask for in the step's first output.
Status KernelChecks::plantFault(Step &step) {
  if (step.outputs.empty())
    return Status::success();
  Operand &operand = step.operands[step.outputs.front()];
  Operand changed = operand;
  if (Status status = read(changed); !status.ok())
    return status;
  planted = plant(fault, changed.array);
  if (changed.array.data.empty())
    return Status::success();
  int64_t bits = runtime::elementBits(changed.array.type);
  char *begin = changed.address + changed.offset * bits / 8;
  if (changed.memory.empty())
    return device.copyToDevice(begin, changed.array.data.data(),
                               changed.array.data.size());
  size_t size = bits / 8;
  visitElements(changed.array.shape, changed.strides,
                [&](int64_t position, int64_t index) {
                  std::memcpy(&changed.memory[position * size],
                              &changed.array.data[index * size], size);
                });
  return device.copyToDevice(begin, changed.memory.data(),
                             changed.memory.size());
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// As the reference library takes it; fails for an element type that it does
/// not support.
static FailureOr<reference::Array> toArray(mlir::Type elementType,
                                           ArrayRef<int64_t> shape,
                                           const void *data, size_t bytes) {
  return reference::Array::decode(
      elementType, shape, ArrayRef(static_cast<const char *>(data), bytes));
}

void KernelChecks::compare(Step &step, CheckedStep &result) {
  std::vector<Operand> after;
  for (unsigned index : step.outputs) {
    Operand &operand = after.emplace_back(step.operands[index]);
    if (Status status = read(operand); !status.ok()) {
      result.unchecked = status.message();
      return;
    }
  }
  llvm::SmallVector<reference::Array> arguments;
  for (Operand &operand : step.operands) {
    FailureOr<reference::Array> array =
        operand.type
            ? toArray(operand.elementType, operand.array.shape,
                      operand.array.data.data(), operand.array.data.size())
            : toArray(
                  operand.elementType, {}, &operand.bits,
                  operand.elementType.isIndex()
                      ? 8
                      : llvm::divideCeil(
                            operand.elementType.getIntOrFloatBitWidth(), 8));
    if (failed(array)) {
      result.unchecked = "the reference does not support an element type";
      return;
    }
    arguments.push_back(std::move(*array));
  }
  llvm::SmallVector<reference::ComputedOutput> computed;
  int64_t elements = 0;
  for (auto [index, operand] : llvm::zip_equal(step.outputs, after)) {
    FailureOr<reference::Array> array =
        toArray(operand.elementType, operand.array.shape,
                operand.array.data.data(), operand.array.data.size());
    if (failed(array)) {
      result.unchecked = "the reference does not support an element type";
      return;
    }
    elements += array->getNumElements();
    computed.push_back({/*isResult=*/false, index, std::move(*array)});
  }

  reference::VerifyOptions verifyOptions;
  verifyOptions.evaluation.flags = options.flags;
  verifyOptions.evaluation.sums = step.sums;
  if (chip.hasLanes())
    verifyOptions.evaluation.subgroupSize = chip.subgroupSize;
  verifyOptions.evaluation.maxWork =
      stepWorkPerCore * std::max(1U, std::thread::hardware_concurrency());
  // Views within a step cannot be evaluated in parts.
  verifyOptions.forceSampling =
      options.verifySample && !step.function
                                   ->walk([](mlir::ViewLikeOpInterface) {
                                     return mlir::WalkResult::interrupt();
                                   })
                                   .wasInterrupted();
  std::string message;
  mlir::ScopedDiagnosticHandler quiet(step.function.getContext(),
                                      [&](mlir::Diagnostic &diagnostic) {
                                        if (message.empty())
                                          message = diagnostic.str();
                                        return success();
                                      });
  reference::Verification verification =
      reference::verify(step.function, arguments, computed, verifyOptions);
  if (verification.status != reference::Status::Done) {
    result.unchecked = message.empty() ? verification.message : message;
    return;
  }
  bool isFirst = result.runs == 1;
  result.elements += elements;
  result.isRight &= verification.ok;
  result.unverified += verification.unverifiedCount;
  for (auto [i, comparison] : llvm::enumerate(verification.comparisons)) {
    // Sampled rows and columns have elements in common.
    result.compared +=
        std::min(comparison.count, computed[i].array.getNumElements());
    double ratio = comparison.worstRatio();
    bool isWorse = comparison.ok == result.comparison.ok ? ratio > result.ratio
                                                         : !comparison.ok;
    if (!isWorse && !(isFirst && i == 0))
      continue;
    result.ratio = ratio;
    result.comparison = comparison;
    result.output.name = "argument " + std::to_string(step.outputs[i]);
    result.output.position = step.outputs[i];
    result.output.type = after[i].type;
    // The statistics need the type alone.
    result.output.array.type = after[i].array.type;
  }
}

void KernelChecks::leave(Step &step, CheckedStep &result) {
  const std::vector<runtime::LaunchRecord> &launches =
      execution.getSession().launches();
  for (size_t i = firstLaunch; i < launches.size(); ++i)
    if (!llvm::is_contained(result.kernels, launches[i].kernel))
      result.kernels.push_back(launches[i].kernel);
  ++result.runs;
  if (result.unchecked.empty())
    compare(step, result);
  step.operands.clear();
}

Status KernelChecks::reach(int64_t number, bool isEnd,
                           const std::vector<int64_t> &values) {
  if (number < 0 || static_cast<size_t>(number) >= steps.size())
    return makeError("the program reached a step that it does not have");
  Step &step = *steps[number];
  CheckedStep &result = checked[number];
  bool isCorrupt = corruptStep == static_cast<uint64_t>(number);
  if (!isChecking && !isCorrupt)
    return Status::success();
  // This is not the program's time, and not its code.
  if (guard) {
    guard->leave();
    guard->endRun();
  }
  Status status = Status::success();
  if (!isEnd) {
    firstLaunch = execution.getSession().launches().size();
    if (step.function)
      status = enter(step, values);
  } else {
    if (isCorrupt && result.unchecked.empty())
      status = plantFault(step);
    if (isChecking)
      leave(step, result);
  }
  // Without its operands the step is not checked.
  if (!status.ok())
    result.unchecked = status.message();
  if (guard) {
    guard->beginRun();
    guard->enter();
  }
  return Status::success();
}

std::string CheckedStep::describe() const {
  std::string text;
  if (kernels.empty())
    text = "a step without a kernel";
  else
    text = (kernels.size() == 1 ? "kernel " : "kernels ") +
           llvm::join(kernels, ", ");
  text += " (";
  if (!op.empty())
    text += op + ", ";
  return text + location + ")";
}
