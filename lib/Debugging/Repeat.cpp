//===- Repeat.cpp - One run after the other -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/Repeat.h"
#include "Report/OutputStatistics.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace tessera::execution;
using runtime::HostArray;

namespace reference = compiler::reference;

//===----------------------------------------------------------------------===//
// Elements that are never written
//===----------------------------------------------------------------------===//

/// Whether element `index` consists of bytes of `poison`.
static bool holdsPoison(const HostArray &array, int64_t index, uint8_t poison) {
  size_t bits = runtime::elementBits(array.type);
  const auto *bytes = reinterpret_cast<const uint8_t *>(array.data.data());
  if (bits == 4) {
    unsigned shift = index % 2 * 4;
    return (bytes[index / 2] >> shift & 0xF) == (poison >> shift & 0xF);
  }
  size_t size = bits / 8;
  return llvm::all_of(ArrayRef(bytes + index * size, size),
                      [&](uint8_t byte) { return byte == poison; });
}

LogicalResult
tessera::execution::findUnwritten(runtime::Device &device, Execution &execution,
                                  const std::vector<Output> &outputs,
                                  std::vector<std::vector<uint8_t>> &mask,
                                  Report &report) {
  mask.assign(outputs.size(), {});
  bool hasSome = false;
  for (auto [marks, output] : llvm::zip_equal(mask, outputs)) {
    if (!output.isResult || !mlir::isa<mlir::ShapedType>(output.type))
      continue;
    int64_t size = output.array.size();
    marks.resize(size);
    for (int64_t i = 0; i < size; ++i) {
      marks[i] = holdsPoison(output.array, i, firstPoison);
      hasSome |= marks[i] != 0;
    }
  }
  if (!hasSome)
    return success();
  // In many types that is a number like any other.
  device.setChecking(true, secondPoison);
  std::vector<Output> again;
  execution.getSession().setRecording(false);
  if (failed(execution.rerun(report)) ||
      failed(execution.readOutputs(again, report)))
    return failure();
  device.setChecking(true, firstPoison);
  for (auto [marks, output] : llvm::zip_equal(mask, again))
    for (auto [i, mark] : llvm::enumerate(marks))
      mark = mark && static_cast<int64_t>(i) < output.array.size() &&
             holdsPoison(output.array, static_cast<int64_t>(i), secondPoison);
  return success();
}

//===----------------------------------------------------------------------===//
// --repeat
//===----------------------------------------------------------------------===//

/// The reason why the order of additions differs from run to run; empty if
/// nothing does.
static std::string findUnordered(const compiler::CompiledProgram &program,
                                 const Entry &entry) {
  for (const compiler::KernelReport &kernel : program.kernels)
    if (kernel.addsAtomically)
      return "kernel " + kernel.name + " adds partial sums atomically";
  bool hasAtomics = false;
  mlir::func::FuncOp function = entry.function;
  function->getParentOfType<mlir::ModuleOp>().walk([&](mlir::Operation *op) {
    hasAtomics |= mlir::isa<mlir::memref::GenericAtomicRMWOp>(op);
    if (auto atomic = mlir::dyn_cast<mlir::memref::AtomicRMWOp>(op))
      hasAtomics |= mlir::isa<mlir::FloatType>(atomic.getValue().getType());
  });
  return hasAtomics ? "the program has atomic operations of its own" : "";
}

namespace {
/// How the bits of an output differ between two runs.
struct BitDifference {
  int64_t count = 0;
  int64_t first = -1;
};
} // namespace

static BitDifference compareBits(const Output &firstOutput,
                                 const HostArray &second) {
  const HostArray &first = firstOutput.array;
  BitDifference difference;
  if (first.data == second.data && first.shape == second.shape)
    return difference;
  size_t bits = runtime::elementBits(first.type), size = bits / 8;
  int64_t count = std::min(first.size(), second.size());
  for (int64_t i = 0; i < count; ++i) {
    bool isSame = bits == 4 ? first.getInt(i) == second.getInt(i)
                            : std::memcmp(&first.data[i * size],
                                          &second.data[i * size], size) == 0;
    // Elements of a result that are never written keep the fill value.
    if (isSame || (firstOutput.isResult && holdsPoison(first, i, firstPoison) &&
                   holdsPoison(second, i, secondPoison)))
      continue;
    ++difference.count;
    if (difference.first < 0)
      difference.first = i;
  }
  return difference;
}

static std::string getPosition(const HostArray &array, int64_t index) {
  return formatPosition(
      mlir::delinearize(index, mlir::computeSuffixProduct(array.shape)));
}

LogicalResult tessera::execution::repeat(
    const ProgramOptions &options, runtime::Device &device,
    const compiler::CompiledProgram &program, const Entry &entry,
    Execution &execution, const std::vector<Output> &outputs,
    const CompareRun &compareRun, Report &report) {
  unsigned runs = options.getRuns();
  execution.getSession().setRecording(false);
  std::string unordered = findUnordered(program, entry);
  unsigned differing = 0;
  for (unsigned run = 2; run <= runs; ++run) {
    // Memory that is read before it is written differs too.
    device.setChecking(true, run % 2 ? firstPoison : secondPoison);
    std::vector<Output> again;
    if (failed(execution.rerun(report)) ||
        failed(execution.readOutputs(again, report)))
      return failure();
    bool differs = false;
    for (auto [i, output] : llvm::enumerate(outputs)) {
      const HostArray &first = output.array, &second = again[i].array;
      BitDifference difference = compareBits(output, second);
      if (difference.count == 0)
        continue;
      differs = true;
      if (!unordered.empty())
        continue;
      report.root["repeat"] =
          llvm::json::Object{{"runs", run}, {"passed", false}};
      return report.fail(
          Exit::WrongNumbers,
          "run " + Twine(run) + " of " + Twine(runs) +
              " differs bitwise from the first: " + Twine(difference.count) +
              " of " + Twine(first.size()) + " elements of out " + Twine(i) +
              ", the first at " + getPosition(first, difference.first) + ": " +
              reference::formatNumber(second.getDouble(difference.first)) +
              ", before " +
              reference::formatNumber(first.getDouble(difference.first)) +
              "; threads race, or read uninitialized memory");
    }
    differing += differs;
    if (!differs || !compareRun)
      continue;
    FailureOr<bool> isRight = compareRun(again);
    if (failed(isRight))
      return failure();
    if (!*isRight) {
      report.root["repeat"] =
          llvm::json::Object{{"runs", run}, {"passed", false}};
      return report.fail(
          Exit::WrongNumbers,
          "run " + Twine(run) + " of " + Twine(runs) +
              " differs from the first, and does not match the reference");
    }
  }
  device.setChecking(true, firstPoison);
  // --verify still reports whether the outputs are right.
  llvm::raw_ostream &os = options.repeat ? report.text() : llvm::nulls();
  os << "repeat: " << runs << " runs, ";
  if (differing == 0)
    os << "the same bits in each\n";
  else
    os << differing << " differ bitwise from the first, as " << unordered
       << ", in any order; "
       << (compareRun ? "all within the tolerance of the reference\n"
                      : "not compared with the reference: use --verify\n");
  report.root["repeat"] =
      llvm::json::Object{{"runs", runs},
                         {"passed", true},
                         {"other_bits", differing},
                         {"unordered", llvm::json::fixUTF8(unordered)}};
  return success();
}
