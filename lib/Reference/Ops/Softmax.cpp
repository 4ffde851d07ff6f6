//===- Softmax.cpp - linalg.softmax ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The errors. The error d_i of x_i changes the result y_i by a factor between
// exp(-d) and exp(d), where d is d_i and the largest d_j: numerator and
// denominator are not independent, as they would be if the steps of the
// computation were followed one by one. An implementation loses, relative to
// y_i: a rounding of x_i - max, which the exponential makes a relative error of
// its result; the error of a library function; the same in the denominator, on
// average; the summation; and the division.
//
//===----------------------------------------------------------------------===//

#include "Softmax.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera::reference;

/// One row, whose elements stand `step` apart.
static void evaluateRow(const View &source, int64_t from, int64_t fromStep,
                        const View &target, int64_t to, int64_t toStep,
                        int64_t length) {
  const Format &format = *target.format;
  double largest = -unbounded, largestError = 0;
  std::vector<double> distances(length), powers(length), errors(length);
  for (int64_t i = 0; i < length; ++i) {
    Number x = source.load(from + i * fromStep);
    // A NaN makes all of the row NaN.
    largest = std::isnan(x.f) || std::isnan(largest) ? std::nan("")
                                                     : std::max(largest, x.f);
    errors[i] = x.error;
    distances[i] = x.f;
    if (x.f > -unbounded)
      largestError = std::max(largestError, x.error);
  }
  double sum = 0, weighted = 0;
  for (int64_t i = 0; i < length; ++i) {
    distances[i] = largest - distances[i];
    powers[i] = std::exp(-distances[i]);
    sum += powers[i];
    weighted += powers[i] > 0 ? powers[i] * distances[i] : 0;
  }
  constexpr double libraryRoundings = 16;
  double common = weighted / sum + 2 * libraryRoundings + 4;
  double ofSum = accumulationError(format, length, sum, sum) / sum;
  for (int64_t i = 0; i < length; ++i) {
    double value = powers[i] / sum;
    double error = 0;
    if (value > 0) {
      double relative = std::expm1(errors[i] + largestError) +
                        format.unit * (distances[i] + common) + ofSum;
      error = value * relative + 2 * format.tiny;
    } else if (errors[i] != 0 && value == 0) {
      error = std::exp(errors[i] + largestError - distances[i]) / sum;
    }
    target.store(to + i * toStep, Number::ofFloat(value, error));
  }
}

bool tessera::reference::evaluateSoftmax(Run &run, Operation *op,
                                         const View &source, const View &target,
                                         int64_t dim) {
  if (!source.format->isFloat || !target.format->isFloat ||
      source.sizes != target.sizes)
    return run.error(op, "the softmax operands have different shapes");
  if (!run.spend(source.getNumElements() * 32, op))
    return false;
  SmallVector<int64_t, 4> rows(source.sizes);
  int64_t length = rows[dim];
  rows[dim] = 1;
  return forEachIndex(rows, [&](ArrayRef<int64_t> point) {
    int64_t from = source.offset, to = target.offset;
    for (size_t i = 0; i < point.size(); ++i) {
      from += point[i] * source.strides[i];
      to += point[i] * target.strides[i];
    }
    evaluateRow(source, from, source.strides[dim], target, to,
                target.strides[dim], length);
    return !run.failed();
  });
}

static InstrPtr compileSoftmax(linalg::SoftmaxOp op, Scope &scope) {
  Slot source = scope.slot(op.getInput()), output = scope.slot(op.getOutput());
  auto dim = static_cast<int64_t>(op.getDimension());
  bool onTensors = op->getNumResults() == 1;
  Slot result = onTensors ? scope.define(op->getResult(0)) : output;
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    ViewRef target = frame.view(output);
    if (onTensors)
      target = View::make(*target->format, target->sizes);
    if (!evaluateSoftmax(*frame.run, operation, *frame.view(source), *target,
                         dim))
      return false;
    frame.view(result) = target;
    return true;
  });
}

void tessera::reference::addSoftmaxHandlers(Registry &registry) {
  registry.add<linalg::SoftmaxOp>(compileSoftmax);
}
