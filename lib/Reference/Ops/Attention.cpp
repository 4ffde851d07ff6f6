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
// rounded to the type of the output. A region that computes scores hands on the
// error of its argument, as the ops of any body do.
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

/// The regions of an attention, as far as it has them.
struct Regions {
  std::optional<Code> length, page, score;
};

/// One attention, at one point of its batch.
class Attention {
public:
  Attention(AttentionOp op, const Regions &regions, Frame &frame,
            const Format &element, const Format &output)
      : op(op), regions(regions), frame(frame), element(element),
        output(output), f32(*Format::get(Float32Type::get(op.getContext()))),
        scale(op.getScale().convertToDouble()), firsts(op.getFirstKeys()),
        lasts(op.getLastKeys()) {}

  Matrix query, key, value;

  /// Starts a point of the batch.
  bool start(ArrayRef<int64_t> newPoint, int64_t newNumKeys);
  /// The page of a key.
  std::optional<int64_t> findPage(int64_t j);
  /// The output of query `i`.
  bool evaluate(int64_t i, MutableArrayRef<Number> result);

private:
  /// Sets the first arguments of a region to the indices of the batch.
  void setPoint(ArrayRef<Slot> arguments) {
    for (auto [slot, position] : llvm::zip(arguments, point))
      frame.setInt(slot, position);
  }
  int64_t evaluateBound(const AttentionOp::Bound &bound, int64_t i) const {
    return bound.constant + (bound.row ? i : 0) + (bound.length ? length : 0);
  }
  /// Sets the scores of the keys from `begin` to `end`, and their errors.
  bool evaluateScores(int64_t i, int64_t begin, int64_t end);

  AttentionOp op;
  const Regions &regions;
  Frame &frame;
  const Format &element, &output, &f32;
  double scale;
  SmallVector<AttentionOp::Bound> firsts, lasts;
  SmallVector<int64_t> point;
  int64_t numKeys = 0, length = 0;
  std::vector<double> scores, scoreErrors;
};
} // namespace

bool Attention::start(ArrayRef<int64_t> newPoint, int64_t newNumKeys) {
  point.assign(newPoint.begin(), newPoint.end());
  numKeys = newNumKeys;
  if (!regions.length)
    return true;
  setPoint(regions.length->arguments);
  if (!regions.length->run(frame))
    return false;
  constexpr int64_t farthest = int64_t(1) << 30;
  length = std::clamp(frame.integer(regions.length->yields[0].slot), -farthest,
                      farthest);
  return true;
}

std::optional<int64_t> Attention::findPage(int64_t j) {
  setPoint(regions.page->arguments);
  frame.setInt(regions.page->arguments.back(), j);
  if (!regions.page->run(frame))
    return std::nullopt;
  return frame.integer(regions.page->yields[0].slot);
}

bool Attention::evaluateScores(int64_t i, int64_t begin, int64_t end) {
  scores.resize(end - begin);
  scoreErrors.resize(end - begin);
  for (int64_t j = begin; j < end; ++j) {
    Sum sum;
    for (int64_t d = 0; d < query.width; ++d)
      sum.add(query.row(i)[d], query.getError(i, d), key.row(j)[d],
              key.getError(j, d));
    double score = sum.value, error = sum.getError(f32, query.width);
    if (regions.score) {
      ArrayRef<Slot> arguments = regions.score->arguments;
      frame.number(arguments[0]) = Number::ofFloat(score, error);
      setPoint(arguments.drop_front());
      frame.setInt(arguments[arguments.size() - 2], i);
      frame.setInt(arguments[arguments.size() - 1], j);
      if (!regions.score->run(frame))
        return false;
      const Number &number = frame.number(regions.score->yields[0].slot);
      score = number.f;
      error = number.error;
    }
    scores[j - begin] = score * scale;
    scoreErrors[j - begin] =
        error * scale + 2 * f32.unit * std::fabs(scores[j - begin]);
  }
  return true;
}

bool Attention::evaluate(int64_t i, MutableArrayRef<Number> result) {
  int64_t begin = 0, end = numKeys;
  for (const AttentionOp::Bound &bound : firsts)
    begin = std::max(begin, evaluateBound(bound, i));
  for (const AttentionOp::Bound &bound : lasts)
    end = std::min(end, evaluateBound(bound, i) + 1);
  int64_t count = std::max<int64_t>(end - begin, 0);
  if (!evaluateScores(i, begin, begin + count))
    return false;
  double largest = -unbounded, ofLargest = 0;
  for (int64_t j = 0; j < count; ++j) {
    largest = std::isnan(scores[j]) || std::isnan(largest)
                  ? std::nan("")
                  : std::max(largest, scores[j]);
    if (std::isfinite(scores[j]))
      ofLargest = std::max(ofLargest, scoreErrors[j]);
  }
  if (largest == -unbounded) {
    llvm::fill(result,
               Number::ofFloat(op.getEmptyIsNan() ? std::nan("") : 0.0));
    return true;
  }
  constexpr double otherRoundings = 48;
  Sum total;
  std::vector<Sum> sums(value.width);
  for (int64_t j = 0; j < count; ++j) {
    // A hidden key has the weight zero exactly.
    if (scores[j] == -unbounded)
      continue;
    double distance = largest - scores[j], weight = std::exp(-distance),
           lost = std::expm1(scoreErrors[j] + ofLargest) +
                  f32.unit *
                      (2 * (std::fabs(largest) + distance) + otherRoundings),
           own = weight * lost;
    total.add(weight, own, 1, 0);
    double rounded = own + element.unit * weight + element.tiny;
    for (int64_t e = 0; e < value.width; ++e)
      sums[e].add(weight, rounded, value.row(begin + j)[e],
                  value.getError(begin + j, e));
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
  return true;
}

namespace {
/// An operand, and the positions of its rows and columns.
struct Operand {
  ViewRef view;
  AffineMap map;
  unsigned row, col;
  /// The pages that hold the keys; null where they are not in pages.
  const std::vector<int64_t> *pages = nullptr;
  int64_t pageSize = 1, pageStride = 0, numPages = 0;

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
        if (pages && ((*pages)[i] < 0 || (*pages)[i] >= numPages)) {
          matrix.values.push_back(0);
          continue;
        }
        int64_t address =
            pages ? addressOf(point, i % pageSize, j) + (*pages)[i] * pageStride
                  : addressOf(point, i, j);
        Number number = view->load(address);
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

/// The view without its first dimension, that of pages.
static ViewRef dropPages(const View &view) {
  ViewRef page = view.alias();
  page->sizes.assign(view.sizes.begin() + 1, view.sizes.end());
  page->strides.assign(view.strides.begin() + 1, view.strides.end());
  return page;
}

static bool evaluate(Frame &frame, AttentionOp op, const Regions &regions,
                     ArrayRef<ViewRef> given, int64_t numKeys) {
  Run &run = *frame.run;
  SmallVector<AffineMap> maps;
  SmallVector<Operand> operands;
  SmallVector<ViewRef> views(given);
  std::vector<int64_t> pages;
  for (unsigned i = 0; i < 4; ++i) {
    maps.push_back(op.getMap(i));
    if (op.getNumPageDims(i) > 0)
      views[i] = dropPages(*given[i]);
    Operand &operand = operands.emplace_back();
    operand.view = views[i];
    operand.map = maps[i];
    operand.row = op.getPosition(AttentionOp::getRows(i));
    operand.col = op.getPosition(AttentionOp::getCols(i));
    if (op.getNumPageDims(i) > 0) {
      operand.pages = &pages;
      operand.pageSize = op.getPageSize();
      operand.numPages = given[i]->sizes[0];
      operand.pageStride = given[i]->strides[0];
    }
  }
  SmallVector<int64_t> extents;
  if (!getIterationExtents(run, op, maps, shapesOf(views), {},
                           /*mayReachOutside=*/false, extents))
    return false;
  if (op.hasPages())
    extents[op.getPosition(AttentionOp::N)] = numKeys;
  auto extent = [&](AttentionOp::Dim dim) {
    return extents[op.getPosition(dim)];
  };
  int64_t m = extent(AttentionOp::M), n = extent(AttentionOp::N),
          d = extent(AttentionOp::D), e = extent(AttentionOp::E);
  int64_t cost = d + e + (regions.score ? regions.score->cost() : 0);
  Attention attention(op, regions, frame, *views[AttentionOp::Value]->format,
                      *views[AttentionOp::Output]->format);
  SmallVector<Number> row(e);
  return forEachIndex(
      ArrayRef(extents).drop_back(4), [&](ArrayRef<int64_t> point) {
        if (!run.spend(m * n * cost + 1, op) || !attention.start(point, n))
          return false;
        pages.clear();
        for (int64_t j = 0; op.hasPages() && j < n; ++j) {
          std::optional<int64_t> page = attention.findPage(j);
          if (!page)
            return false;
          pages.push_back(*page);
        }
        attention.query = operands[AttentionOp::Query].load(point, m, d);
        attention.key = operands[AttentionOp::Key].load(point, n, d);
        attention.value = operands[AttentionOp::Value].load(point, n, e);
        const Operand &output = operands[AttentionOp::Output];
        for (int64_t i = 0; i < m; ++i) {
          if (!attention.evaluate(i, row))
            return false;
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
  std::optional<Slot> numKeys, result;
  if (op.getNumKeys())
    numKeys = scope.slot(op.getNumKeys());
  auto regions = std::make_shared<Regions>();
  if (op.hasLength())
    regions->length.emplace(scope.compile(op.getLength().front()));
  if (op.hasPages())
    regions->page.emplace(scope.compile(op.getPage().front()));
  if (op.hasScore())
    regions->score.emplace(scope.compile(op.getScore().front()));
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
    if (!evaluate(frame, op, *regions, views,
                  numKeys ? frame.integer(*numKeys) : 0))
      return false;
    if (result)
      frame.view(*result) = views.back();
    return true;
  });
}

void tessera::reference::addAttentionHandlers(Registry &registry) {
  registry.add<AttentionOp>(compileAttention);
}
