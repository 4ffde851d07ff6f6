//===- BlockErrors.cpp - Errors of blocks of elements ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bound of one element's long sum in f16, or in the 14 bits of a matrix
// unit, must allow what no element of a correct program is likely to lose. The
// errors of many elements together are known much better. The reference runs
// three times: in double precision, and twice with emulated sums (see
// `CoarseSums`). The latter show what the data makes a sum lose, drift
// included:
//
//   D  the difference of the program from the reference, without the one
//   element
//      of the block that differs most: its own bound decides about it, and a
//      sum that passes a power of two may lose what no other sum loses
//   P  what emulated sums lose that add up many terms at once, forward
//   Q  what emulated sums lose that add up few terms at once, backward
//   O  a bound on what everything else may lose (rounding to the output type,
//      other operations)
//   U  two units in the last place of the coarse sums, at the root mean square
//      of the block's elements
//
// All of them are divided by the element's error bound, which makes elements of
// different rows comparable, squared, and summed over a block. A block is wrong
// if
//
//   D > F * (c * E + O + U), where E = max(P, Q / g)
//
// Here g, the median of Q / P over the blocks, is how much more the order of Q
// loses than that of P; 16 times as much for random data, and far more where
// single terms are small beside the sum. The order of the program is not known
// either: c, the lower median of D / E over the blocks, is how much more it
// loses than that of P. It is taken to be in [1, 4 * max(g, 16)]. A fault in
// fewer than half of the blocks does not change c.
//
// F follows from how much the sums of blocks vary in a correct program, which
// is taken from P and Q alone:
//
//   F = max(2.5, 1.5 * s, 1 + 10 * sqrt(2 * v))
//
// and nine times as much for rows and columns. These have fewer elements than a
// tile, so that a few sums that lose single terms decide, and their faults
// (zeros, another row) are far larger than what tiles find.
//
// s is the largest ratio over the blocks of P and Q / g, or of Q / g and P; v
// is the relative variance of P over the blocks. For tiles, the variances of
// segments of a row and of a column give a second estimate of v: with k the
// variance of one element's squared error, these are k / 16 if elements are
// independent, and more if those of a row (a column) are correlated. The
// variance of the mean of a tile is then both multiplied, over k. The larger of
// the estimates counts. So F grows where errors are correlated, or vary between
// blocks for reasons of the data, up to where the comparison finds nothing.
// Elements with one sum of products, as those of equal rows have, lose the
// same: a block with fewer than 32 different sums is not compared.
//
//===----------------------------------------------------------------------===//

#include "BlockErrors.h"

#include "Numeric.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

static constexpr int64_t tileSize = 16;

namespace {
/// The squares of what one element, or a block, is off by; divided by the
/// squared error bound.
struct Squares {
  double got = 0, forward = 0, backward = 0, others = 0, bits = 0;
  /// The change by a missing step, if it is known.
  double step = 0;
  /// The reciprocal of the squared bound, and the reference squared.
  double weight = 0, value = 0;
  /// The elements.
  int64_t count = 0;

  void add(const Squares &other) {
    got += other.got;
    forward += other.forward;
    backward += other.backward;
    others += other.others;
    step += other.step;
    weight += other.weight;
    value += other.value;
    count += other.count;
  }
};

/// A block of one matrix, and what it has.
struct Block {
  int64_t matrix, row, column, rows, columns;
  Squares sum;
  /// D.
  double got = 0;
};

/// A mean, and the variance divided by its square.
struct Moments {
  double sum = 0, squares = 0;
  int64_t count = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  double relativeVariance() const {
    if (count < 2 || sum == 0)
      return 0;
    auto n = static_cast<double>(count);
    return std::max(0.0, squares * n / (sum * sum) - 1);
  }
};

class BlockComparison {
public:
  BlockComparison(function_ref<double(int64_t)> got, const Array &reference,
                  const CompareOptions &options, Comparison &result)
      : got(got), reference(reference), options(options),
        losses(*options.losses), result(result),
        format(*Format::get(reference.elementType)),
        written(options.onlyWritten ? reference.storage->written() : nullptr) {}

  /// Whether an element of the output depends on coarse sums.
  bool isAffected() const;
  void compare();

private:
  function_ref<double(int64_t)> got;
  const Array &reference;
  const CompareOptions &options;
  const CoarseLosses &losses;
  Comparison &result;
  const Format &format;
  const uint8_t *written;
  int64_t matrices = 1, rows = 0, columns = 0;
  std::vector<Squares> elements;
  /// The largest of what blocks may be off by.
  double largestAllowed = 0;

  const Squares &at(int64_t matrix, int64_t row, int64_t column) const {
    return elements[(matrix * rows + row) * columns + column];
  }
  Squares measure(int64_t index) const;
  bool hasManySums(const Block &block) const;
  Squares sumOf(int64_t matrix, int64_t row, int64_t height, int64_t column,
                int64_t width) const;
  /// The largest squared difference of an element of the block.
  double getLargest(const Block &block) const;
  double getTileVariance() const;
  Comparison::Element findWorst(const Block &block) const;
  void compareAll(const char *kind, int64_t height, int64_t width);
  void report(const char *kind, const Block &block, double allowed);
  /// Notes whether the tile would be accepted without a step of its sums.
  void noteSensitivity(const Block &tile, double limit);
};
} // namespace

/// Whether coarse sums contribute to the bound of an element.
static bool dependsOnSums(const CoarseLosses &losses, int64_t index) {
  double bound = losses.bounded.getError(index);
  return bound > losses.forward.getError(index) ||
         bound > losses.backward.getError(index);
}

bool BlockComparison::isAffected() const {
  for (int64_t i = 0, e = reference.getNumElements(); i < e; ++i)
    if (dependsOnSums(losses, i))
      return true;
  return false;
}

Squares BlockComparison::measure(int64_t index) const {
  Squares squares;
  double exact = losses.bounded.getDouble(index);
  double forward = losses.forward.getDouble(index);
  double backward = losses.backward.getDouble(index);
  double bound = losses.bounded.getError(index);
  double others =
      std::max(losses.forward.getError(index), losses.backward.getError(index));
  double difference = got(index) - reference.getDouble(index);
  bool isKnown = std::isfinite(exact) && std::isfinite(forward) &&
                 std::isfinite(backward) && std::isfinite(difference) &&
                 others < unbounded && bound < unbounded && bound > 0 &&
                 (!written || written[index]);
  if (!isKnown)
    return squares;
  if (format.isFloat)
    others += format.unit * std::fabs(exact) + format.tiny;
  others *= options.sides;
  squares.weight = 1 / (bound * bound);
  squares.got = difference * difference * squares.weight;
  squares.forward = (forward - exact) * (forward - exact) * squares.weight;
  squares.backward = (backward - exact) * (backward - exact) * squares.weight;
  squares.others = others * others * squares.weight;
  if (losses.withoutStep) {
    double change = losses.withoutStep->getDouble(index) - exact;
    squares.step = change * change * squares.weight;
  }
  squares.value = exact * exact;
  squares.count = 1;
  return squares;
}

Squares BlockComparison::sumOf(int64_t matrix, int64_t row, int64_t height,
                               int64_t column, int64_t width) const {
  Squares sum;
  for (int64_t i = row; i < row + height; ++i)
    for (int64_t j = column; j < column + width; ++j)
      sum.add(at(matrix, i, j));
  if (sum.count == 0)
    return sum;
  double ulp = std::ldexp(2.0, -losses.bits);
  sum.bits = ulp * ulp * sum.value / static_cast<double>(sum.count) *
             sum.weight * options.sides;
  return sum;
}

bool BlockComparison::hasManySums(const Block &block) const {
  // Equal significands: equal rows, and those that differ by a power of two.
  std::vector<int64_t> sums;
  for (int64_t i = block.row; i < block.row + block.rows; ++i)
    for (int64_t j = block.column; j < block.column + block.columns; ++j) {
      if (at(block.matrix, i, j).count == 0)
        continue;
      int exponent;
      double significand =
          std::frexp(std::fabs(losses.bounded.getDouble(
                         (block.matrix * rows + i) * columns + j)),
                     &exponent);
      sums.push_back(std::llround(std::ldexp(significand, losses.bits + 4)));
    }
  llvm::sort(sums);
  double pairs = 0;
  for (size_t first = 0, i = 0; i <= sums.size(); ++i)
    if (i == sums.size() || sums[i] != sums[first]) {
      pairs += static_cast<double>((i - first) * (i - first));
      first = i;
    }
  auto count = static_cast<double>(sums.size());
  return count * count >= std::min(32.0, count * 0.75) * pairs;
}

double BlockComparison::getLargest(const Block &block) const {
  double largest = 0;
  for (int64_t i = block.row; i < block.row + block.rows; ++i)
    for (int64_t j = block.column; j < block.column + block.columns; ++j)
      largest = std::max(largest, at(block.matrix, i, j).got);
  return largest;
}

double BlockComparison::getTileVariance() const {
  double largest = 0;
  for (double Squares::*loss : {&Squares::forward, &Squares::backward}) {
    Moments ofElements, ofRows, ofColumns;
    auto addSegment = [&](Moments &moments, const Squares &segment,
                          int64_t full) {
      if (segment.count == full)
        moments.add(segment.*loss / static_cast<double>(full));
    };
    int64_t width = std::min(tileSize, columns);
    int64_t height = std::min(tileSize, rows);
    for (int64_t matrix = 0; matrix < matrices; ++matrix)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          const Squares &element = at(matrix, i, j);
          if (element.count)
            ofElements.add(element.*loss);
          if (j % width == 0 && j + width <= columns)
            addSegment(ofRows, sumOf(matrix, i, 1, j, width), width);
          if (i % height == 0 && i + height <= rows)
            addSegment(ofColumns, sumOf(matrix, i, height, j, 1), height);
        }
    double one = ofElements.relativeVariance();
    if (one > 0)
      largest = std::max(largest, ofRows.relativeVariance() *
                                      ofColumns.relativeVariance() / one);
  }
  return largest;
}

/// The element in the middle, or the one before it; 0 of none.
static double getLowerMedian(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + (values.size() - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The element of a block that is furthest off.
Comparison::Element BlockComparison::findWorst(const Block &block) const {
  int64_t worst = -1;
  double largest = -1;
  for (int64_t i = block.row; i < block.row + block.rows; ++i)
    for (int64_t j = block.column; j < block.column + block.columns; ++j)
      if (at(block.matrix, i, j).got > largest) {
        largest = at(block.matrix, i, j).got;
        worst = (block.matrix * rows + i) * columns + j;
      }
  return {delinearize(worst, computeSuffixProduct(reference.shape)), got(worst),
          reference.getDouble(worst)};
}

void BlockComparison::report(const char *kind, const Block &block,
                             double allowed) {
  double rms = std::sqrt(block.sum.got / block.sum.weight);
  ++result.wrongBlockCount;
  result.ok = false;
  if (result.worstBlock &&
      rms / allowed <= result.worstBlock->rms / result.worstBlock->allowed)
    return;
  WrongBlock wrong;
  wrong.kind = kind;
  wrong.position =
      delinearize((block.matrix * rows + block.row) * columns + block.column,
                  computeSuffixProduct(reference.shape));
  wrong.rows = block.rows;
  wrong.columns = block.columns;
  wrong.rms = rms;
  wrong.allowed = allowed;
  wrong.worst = findWorst(block);
  result.worstBlock = wrong;
}

void BlockComparison::noteSensitivity(const Block &tile, double limit) {
  ++result.tileCount;
  if (!losses.withoutStep)
    return;
  int64_t &count = result.insensitiveTileCount
                       ? *result.insensitiveTileCount
                       : result.insensitiveTileCount.emplace(0);
  // The step's products and the rounding errors are independent.
  if (std::isfinite(tile.sum.step) && tile.got + tile.sum.step > limit)
    return;
  double change = std::sqrt(tile.sum.step / tile.sum.weight);
  if (count == 0 || change < result.stepChange) {
    result.stepChange = change;
    result.stepAllowed = std::sqrt(limit / tile.sum.weight);
  }
  ++count;
}

void BlockComparison::compareAll(const char *kind, int64_t height,
                                 int64_t width) {
  std::vector<Block> blocks;
  Moments variances[2];
  bool isTile = height > 1 && width > 1;
  int64_t fewest = isTile ? 64 : 16;
  for (int64_t matrix = 0; matrix < matrices; ++matrix)
    for (int64_t row = 0; row < rows; row += height)
      for (int64_t column = 0; column < columns; column += width) {
        Block block{matrix,
                    row,
                    column,
                    std::min(height, rows - row),
                    std::min(width, columns - column),
                    {},
                    0};
        block.sum = sumOf(matrix, row, block.rows, column, block.columns);
        if (block.sum.count < fewest || !hasManySums(block))
          continue;
        block.got = block.sum.got - getLargest(block);
        auto count = static_cast<double>(block.sum.count);
        variances[0].add((block.sum.forward + block.sum.bits) / count);
        variances[1].add((block.sum.backward + block.sum.bits) / count);
        blocks.push_back(block);
      }
  // Rows and columns have no other estimate of how much they vary.
  if (blocks.empty() || (!isTile && blocks.size() < 16))
    return;
  double variance = isTile ? getTileVariance() : 0;
  if (blocks.size() >= 16)
    for (const Moments &moments : variances)
      variance = std::max(variance, moments.relativeVariance());

  std::vector<double> orders;
  for (const Block &block : blocks)
    if (block.sum.forward > 0 && block.sum.backward > 0)
      orders.push_back(block.sum.backward / block.sum.forward);
  double order = orders.empty() ? 1 : getLowerMedian(orders);
  double spread = 1;
  std::vector<double> ratios, expected;
  for (const Block &block : blocks) {
    double rest = block.sum.others + block.sum.bits;
    double forward = block.sum.forward, backward = block.sum.backward / order;
    double ratio = (forward + rest) / (backward + rest);
    spread = std::max({spread, ratio, 1 / ratio});
    expected.push_back(std::max(forward, backward));
    if (expected.back() > 0)
      ratios.push_back(block.got / expected.back());
  }
  // One block is not enough to determine the order.
  double largestLoss = 4 * std::max(order, 16.0);
  double loss = blocks.size() == 1
                    ? largestLoss
                    : std::clamp(getLowerMedian(ratios), 1.0, largestLoss);
  double factor =
      std::max({2.5, 1.5 * spread, 1 + 10 * std::sqrt(2 * variance)});
  if (!isTile)
    factor *= 9;
  result.blockCount += static_cast<int64_t>(blocks.size());
  for (const auto &[block, emulated] : llvm::zip_equal(blocks, expected)) {
    double limit = options.slack * options.slack * factor *
                   (loss * emulated + block.sum.others + block.sum.bits);
    double allowed = std::sqrt(limit / block.sum.weight);
    if (isTile) {
      largestAllowed = std::max(largestAllowed, allowed);
      noteSensitivity(block, limit);
    }
    if (block.got > limit)
      report(kind, block, allowed);
  }
}

void BlockComparison::compare() {
  std::string sums = ", sums of " + std::to_string(losses.bits) + " bits: ";
  size_t rank = reference.shape.size();
  std::string missing = losses.missing;
  if (missing.empty() && !isAffected())
    return;
  if (missing.empty() && rank < 2)
    missing = "the output is not a matrix";
  if (missing.empty()) {
    rows = reference.shape[rank - 2];
    columns = reference.shape[rank - 1];
    matrices =
        rows * columns ? reference.getNumElements() / (rows * columns) : 0;
    elements.reserve(reference.getNumElements());
    for (int64_t i = 0, e = reference.getNumElements(); i < e; ++i)
      elements.push_back(measure(i));
    compareAll("tile", tileSize, tileSize);
    bool hasTiles = result.blockCount > 0;
    compareAll("row", 1, columns);
    compareAll("column", rows, 1);
    if (!hasTiles)
      missing = "too few different elements";
  }
  if (missing.empty())
    result.tolerance +=
        sums + "rms of each tile within " + formatShort(largestAllowed);
  else
    result.tolerance += sums + "element by element only, since " + missing;
}

void tessera::reference::compareBlocks(function_ref<double(int64_t)> got,
                                       const Array &reference,
                                       const CompareOptions &options,
                                       Comparison &result) {
  BlockComparison(got, reference, options, result).compare();
}
