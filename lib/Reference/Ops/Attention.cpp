//===- Attention.cpp - tessera.attention ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The errors. The score x_j is off by the error of its sum, times the scale.
// This changes the weight p_j = exp(x_j - max) by a factor, as in Softmax.cpp;
// an implementation also loses the rounding of the exponent, whose two terms
// may be rounded by themselves, and a few roundings for the function and the
// factors by which later blocks of keys shrink a weight. The weight is rounded
// to the element type of the values before the second matmul, but not for the
// sum of the weights. Both sums are accumulated in f32, and the quotient is
// rounded to the type of the output.
//
//===----------------------------------------------------------------------===//

#include "../PreparedCode.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Linalg.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::reference;

namespace {
/// A matrix of an operand, in double precision; `errors` is empty if it is
/// exact.
struct Matrix {
  int64_t width = 0;
  std::vector<double> values, errors;

  const double *row(int64_t i) const { return values.data() + i * width; }
  double getError(int64_t i, int64_t j) const {
    return errors.empty() ? 0 : errors[i * width + j];
  }
};

/// A sum of products, and what bounds its loss.
struct Sum {
  double value = 0, magnitude = 0, peak = 0, error = 0;

  void add(double a, double errorA, double b, double errorB) {
    value += a * b;
    magnitude += std::fabs(a * b);
    peak = std::max(peak, std::fabs(value));
    error += std::fabs(a) * errorB + errorA * std::fabs(b) + errorA * errorB;
  }
  double getError(const Format &format, int64_t length) const {
    return error + accumulationError(format, length, magnitude, peak);
  }
};

/// One attention, at one point of its batch.
class Attention {
public:
  Attention(AttentionOp op, const Format &element, const Format &output)
      : op(op), element(element), output(output),
        f32(*Format::get(Float32Type::get(op.getContext()))),
        scale(op.getScale().convertToDouble()), causal(op.getCausal()) {}

  Matrix query, key, value;

  /// The output of query `i`.
  void evaluate(int64_t i, int64_t numKeys, MutableArrayRef<Number> result);

private:
  /// Sets the scores of query `i` and their errors.
  void evaluateScores(int64_t i, int64_t count);

  AttentionOp op;
  const Format &element, &output, &f32;
  double scale;
  std::optional<int64_t> causal;
  std::vector<double> scores, scoreErrors;
};
} // namespace

void Attention::evaluateScores(int64_t i, int64_t count) {
  scores.resize(count);
  scoreErrors.resize(count);
  for (int64_t j = 0; j < count; ++j) {
    Sum sum;
    for (int64_t d = 0; d < query.width; ++d)
      sum.add(query.row(i)[d], query.getError(i, d), key.row(j)[d],
              key.getError(j, d));
    scores[j] = sum.value * scale;
    scoreErrors[j] = sum.getError(f32, query.width) * scale +
                     2 * f32.unit * std::fabs(scores[j]);
  }
}

void Attention::evaluate(int64_t i, int64_t numKeys,
                         MutableArrayRef<Number> result) {
  int64_t count =
      causal ? std::clamp<int64_t>(i + *causal + 1, 0, numKeys) : numKeys;
  if (count == 0) {
    llvm::fill(result, Number::ofFloat(0));
    return;
  }
  evaluateScores(i, count);
  double largest = -unbounded, ofLargest = 0;
  for (int64_t j = 0; j < count; ++j) {
    largest = std::isnan(scores[j]) || std::isnan(largest)
                  ? std::nan("")
                  : std::max(largest, scores[j]);
    ofLargest = std::max(ofLargest, scoreErrors[j]);
  }
  constexpr double otherRoundings = 48;
  Sum total;
  std::vector<Sum> sums(value.width);
  for (int64_t j = 0; j < count; ++j) {
    double distance = largest - scores[j], weight = std::exp(-distance),
           lost = std::expm1(scoreErrors[j] + ofLargest) +
                  f32.unit *
                      (2 * (std::fabs(largest) + distance) + otherRoundings),
           own = weight * lost;
    total.add(weight, own, 1, 0);
    double rounded = own + element.unit * weight + element.tiny;
    for (int64_t e = 0; e < value.width; ++e)
      sums[e].add(weight, rounded, value.row(j)[e], value.getError(j, e));
  }
  double ofTotal = total.getError(f32, count) / total.value;
  for (int64_t e = 0; e < value.width; ++e) {
    double quotient = sums[e].value / total.value,
           error = sums[e].getError(f32, count) / total.value +
                   std::fabs(quotient) * (ofTotal + 4 * f32.unit);
    if (&output != &f32)
      error += output.unit * (std::fabs(quotient) + error) + output.tiny;
    result[e] = Number::ofFloat(quotient, error);
  }
}

namespace {
/// An operand, and the positions of its rows and columns.
struct Operand {
  ViewRef view;
  AffineMap map;
  unsigned row, col;

  /// The address of an element, with the batch dimensions from `point`.
  int64_t addressOf(ArrayRef<int64_t> point, int64_t i, int64_t j) const {
    int64_t address = view->offset;
    for (auto [r, expr] : llvm::enumerate(map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      address += view->strides[r] * (dim == row   ? i
                                     : dim == col ? j
                                                  : point[dim]);
    }
    return address;
  }
  Matrix load(ArrayRef<int64_t> point, int64_t rows, int64_t cols) const {
    Matrix matrix;
    matrix.width = cols;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) {
        Number number = view->load(addressOf(point, i, j));
        if (number.error != 0)
          matrix.errors.resize(rows * cols);
        if (!matrix.errors.empty())
          matrix.errors[matrix.values.size()] = number.error;
        matrix.values.push_back(number.f);
      }
    return matrix;
  }
};
} // namespace

static bool evaluate(Frame &frame, AttentionOp op, ArrayRef<ViewRef> views) {
  Run &run = *frame.run;
  SmallVector<AffineMap> maps;
  SmallVector<Operand> operands;
  for (unsigned i = 0; i < 4; ++i) {
    maps.push_back(op.getMap(i));
    operands.push_back({views[i], maps[i],
                        op.getPosition(AttentionOp::getRows(i)),
                        op.getPosition(AttentionOp::getCols(i))});
  }
  SmallVector<int64_t> extents;
  if (!getIterationExtents(run, op, maps, shapesOf(views), {},
                           /*mayReachOutside=*/false, extents))
    return false;
  auto extent = [&](AttentionOp::Dim dim) {
    return extents[op.getPosition(dim)];
  };
  int64_t m = extent(AttentionOp::M), n = extent(AttentionOp::N),
          d = extent(AttentionOp::D), e = extent(AttentionOp::E);
  Attention attention(op, *views[AttentionOp::Value]->format,
                      *views[AttentionOp::Output]->format);
  SmallVector<Number> row(e);
  return forEachIndex(
      ArrayRef(extents).drop_back(4), [&](ArrayRef<int64_t> point) {
        if (!run.spend(m * n * (d + e) + 1, op))
          return false;
        attention.query = operands[AttentionOp::Query].load(point, m, d);
        attention.key = operands[AttentionOp::Key].load(point, n, d);
        attention.value = operands[AttentionOp::Value].load(point, n, e);
        const Operand &output = operands[AttentionOp::Output];
        for (int64_t i = 0; i < m; ++i) {
          attention.evaluate(i, n, row);
          for (int64_t j = 0; j < e; ++j)
            output.view->store(output.addressOf(point, i, j), row[j]);
        }
        return !run.failed();
      });
}

static InstrPtr compileAttention(AttentionOp op, Scope &scope) {
  SmallVector<Slot> operands;
  for (unsigned i = 0; i < 4; ++i)
    operands.push_back(scope.slot(op->getOperand(i)));
  std::optional<Slot> result;
  if (op.getResult())
    result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    SmallVector<ViewRef> views;
    for (Slot slot : operands)
      views.push_back(frame.view(slot));
    // All of a tensor is written.
    if (result) {
      const View &old = *views.back();
      views.back() = View::make(*old.format, old.sizes);
    }
    if (!evaluate(frame, op, views))
      return false;
    if (result)
      frame.view(*result) = views.back();
    return true;
  });
}

void tessera::reference::addAttentionHandlers(Registry &registry) {
  registry.add<AttentionOp>(compileAttention);
}
