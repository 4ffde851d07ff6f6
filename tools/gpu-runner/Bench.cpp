//===- Bench.cpp - How long a program takes -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/Support/Format.h"

#include <algorithm>

using namespace runner;
using runtime::HostArray;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// Finds sizes that are dynamic in the program and known in this run.
class Sizes {
public:
  Sizes(const Entry &entry, const std::vector<HostArray> &arguments)
      : entry(entry), arguments(arguments) {}

  /// The size of a dimension of a tensor or memref.
  std::optional<int64_t> getSize(mlir::Value value, int64_t dim) const;
  /// An index.
  std::optional<int64_t> getIndex(mlir::Value value) const;

private:
  /// The number of the entry's argument that `value` is.
  std::optional<size_t> getArgument(mlir::Value value) const {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
    mlir::func::FuncOp function = entry.function;
    if (!argument || argument.getOwner() != &function.getBody().front())
      return std::nullopt;
    return argument.getArgNumber();
  }

  const Entry &entry;
  const std::vector<HostArray> &arguments;
};
} // namespace

std::optional<int64_t> Sizes::getSize(mlir::Value value, int64_t dim) const {
  auto type = mlir::cast<mlir::ShapedType>(value.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (std::optional<size_t> argument = getArgument(value))
    return arguments[*argument].shape[dim];
  mlir::Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto destination = mlir::dyn_cast<mlir::DestinationStyleOpInterface>(op))
    if (mlir::OpOperand *init =
            destination.getTiedOpOperand(mlir::cast<mlir::OpResult>(value)))
      return getSize(init->get(), dim);
  if (auto empty = mlir::dyn_cast<mlir::tensor::EmptyOp>(op))
    return getIndex(empty.getDynamicSize(dim));
  if (auto alloc = mlir::dyn_cast<mlir::memref::AllocOp>(op))
    return getIndex(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
  if (mlir::isa<mlir::tensor::CastOp, mlir::memref::CastOp,
                mlir::bufferization::ToTensorOp,
                mlir::bufferization::ToBufferOp>(op))
    return getSize(op->getOperand(0), dim);
  return std::nullopt;
}

std::optional<int64_t> Sizes::getIndex(mlir::Value value) const {
  llvm::APInt constant;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  if (std::optional<size_t> argument = getArgument(value))
    return arguments[*argument].getInt(0);
  mlir::Operation *op = value.getDefiningOp();
  if (!op || !mlir::isa<mlir::tensor::DimOp, mlir::memref::DimOp>(op))
    return std::nullopt;
  std::optional<int64_t> dim = getIndex(op->getOperand(1));
  auto type = mlir::dyn_cast<mlir::ShapedType>(op->getOperand(0).getType());
  if (!dim || !type || !type.hasRank() || *dim < 0 || *dim >= type.getRank())
    return std::nullopt;
  return getSize(op->getOperand(0), *dim);
}

/// Twice the points of an iteration space, whose dimensions are those that the
/// maps of the operands use.
static std::optional<double> countPoints(const Sizes &sizes,
                                         mlir::ValueRange operands,
                                         ArrayRef<mlir::AffineMap> maps) {
  if (maps.empty())
    return std::nullopt;
  llvm::SmallVector<std::optional<int64_t>> extents(maps[0].getNumDims());
  for (auto [operand, map] : llvm::zip(operands, maps))
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(result))
        if (!extents[dim.getPosition()])
          extents[dim.getPosition()] = sizes.getSize(operand, i);
  double points = 2;
  for (std::optional<int64_t> extent : extents) {
    if (!extent)
      return std::nullopt;
    points *= static_cast<double>(*extent);
  }
  return points;
}

std::optional<double>
runner::countOperations(const Entry &entry,
                        const std::vector<HostArray> &arguments) {
  Sizes sizes(entry, arguments);
  double total = 0;
  mlir::func::FuncOp function = entry.function;
  mlir::WalkResult result = function.walk([&](mlir::Operation *op) {
    std::optional<double> operations;
    if (auto contract = mlir::dyn_cast<compiler::ContractOp>(op)) {
      llvm::SmallVector<mlir::AffineMap> maps;
      for (unsigned i = 0; i < 3; ++i)
        maps.push_back(contract.getMap(i));
      operations = countPoints(
          sizes, {contract.getLhs(), contract.getRhs(), contract.getOutput()},
          maps);
    } else if (auto linalg = mlir::dyn_cast<mlir::linalg::LinalgOp>(op)) {
      if (!mlir::linalg::isaContractionOpInterface(linalg))
        return mlir::WalkResult::advance();
      operations = countPoints(sizes, linalg->getOperands(),
                               linalg.getIndexingMapsArray());
    } else if (auto matmul = mlir::dyn_cast<mlir::tosa::MatMulOp>(op)) {
      mlir::MLIRContext *context = op->getContext();
      auto map = [&](ArrayRef<unsigned> dims) {
        return mlir::AffineMap::getMultiDimMapWithTargets(4, dims, context);
      };
      operations = countPoints(sizes, {matmul.getA(), matmul.getB()},
                               {map({0, 1, 3}), map({0, 3, 2})});
    } else if (mlir::isa<mlir::func::CallOp, compiler::MmaOp>(op)) {
      return mlir::WalkResult::interrupt();
    } else {
      return mlir::WalkResult::advance();
    }
    // In a loop it is unknown how often.
    if (!operations || op->getParentOp() != function)
      return mlir::WalkResult::interrupt();
    total += *operations;
    return mlir::WalkResult::advance();
  });
  if (result.wasInterrupted() || total == 0)
    return std::nullopt;
  return total;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {
/// Runs the program once, timed.
class Timer {
public:
  Timer(runtime::Device &device, Execution &execution)
      : device(device), execution(execution) {}

  /// In milliseconds.
  runtime::Expected<double> run() {
    execution.releaseResults();
    double time = 0;
    runtime::Status status = device.flushCaches();
    if (status.ok())
      status = device.timeBegin();
    if (status.ok()) {
      execution.call();
      status = execution.getSession().status();
    }
    if (status.ok())
      status = device.timeEnd(&time);
    if (!status.ok())
      return status;
    return time;
  }

private:
  runtime::Device &device;
  Execution &execution;
};
} // namespace

/// The time below which a share of the sorted times lie.
static double getPercentile(const std::vector<double> &times, double share) {
  double place = share * static_cast<double>(times.size() - 1);
  size_t below = static_cast<size_t>(place);
  size_t above = std::min(below + 1, times.size() - 1);
  return times[below] +
         (times[above] - times[below]) * (place - static_cast<double>(below));
}

/// "123.4 GFLOP/s".
static std::string formatRate(double perSecond, StringRef unit) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f ",
                                                 perSecond < 1e10   ? 3
                                                 : perSecond < 1e12 ? 1
                                                                    : 0,
                                                 perSecond / 1e9)
                                 << unit;
  return text;
}

LogicalResult runner::benchmark(const Options &options, const Entry &entry,
                                const std::vector<HostArray> &arguments,
                                runtime::Device &device, Execution &execution,
                                Report &report) {
  // Recorded are the launches of the first run.
  execution.getSession().setRecording(false);
  execution.getSession().setGuard(0);
  execution.getSession().setTrace(nullptr);
  device.setChecking(false);
  Timer timer(device, execution);

  // Warm-up: pools and clocks. It also tells how many runs there is time for.
  double warm = 0, last = 0;
  for (int i = 0; i < 5 && (i == 0 || warm < 100); ++i) {
    runtime::Expected<double> time = timer.run();
    if (!time.ok())
      return report.fail(time.status());
    last = *time;
    warm += last;
  }
  double enough = std::clamp(300 / std::max(last, 1e-3), 20.0, 200.0);
  // Slow programs are not run for minutes.
  enough = std::min(enough, std::max(3.0, 10000 / std::max(last, 1e-3)));
  unsigned runs = options.benchRuns.value_or(static_cast<unsigned>(enough));

  std::vector<double> times;
  for (unsigned i = 0; i < runs; ++i) {
    runtime::Expected<double> time = timer.run();
    if (!time.ok())
      return report.fail(time.status());
    times.push_back(*time);
  }
  if (failed(execution.finish(report)))
    return failure();

  std::sort(times.begin(), times.end());
  double median = getPercentile(times, 0.5);
  double low = getPercentile(times, 0.1), high = getPercentile(times, 0.9);
  llvm::raw_ostream &os = report.text();
  os << "bench: median " << llvm::format("%.4f", median) << " ms, min "
     << llvm::format("%.4f", times.front()) << ", p10 to p90 "
     << llvm::format("%.4f", low) << " to " << llvm::format("%.4f", high)
     << " (" << runs << (runs == 1 ? " run" : " runs") << ", cold caches)\n";
  llvm::json::Object object{{"runs", runs},
                            {"median_ms", toJSON(median)},
                            {"min_ms", toJSON(times.front())},
                            {"p10_ms", toJSON(low)},
                            {"p90_ms", toJSON(high)},
                            {"bytes", toJSON(execution.getTraffic())}};
  double seconds = std::max(median, 1e-6) / 1e3;
  os << "bench: ";
  if (std::optional<double> count = countOperations(entry, arguments)) {
    os << formatRate(*count / seconds, "GFLOP/s") << " of matrix products, ";
    object["operations"] = toJSON(*count);
    object["gflop_per_s"] = toJSON(*count / seconds / 1e9);
  }
  double rate = execution.getTraffic() / seconds;
  os << formatRate(rate, "GB/s") << " of arguments and results\n";
  object["gbyte_per_s"] = toJSON(rate / 1e9);
  report.root["bench"] = std::move(object);
  return success();
}
