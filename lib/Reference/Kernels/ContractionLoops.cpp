//===- ContractionLoops.cpp - Sums of products over a box -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any contraction whose addresses are linear in the indices (a convolution,
// too) is a batch of matrix products: the dimensions that the output does not
// use are K, and of the others those that only a uses are M, those that b uses
// are N, and those of both are the batch. The matrices are scattered in memory,
// element (m, k) being at rows[m] + columns[k].
//
//===----------------------------------------------------------------------===//

#include "ContractionLoops.h"

#include "Gemm.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::tessera::reference;

/// The offsets that an access adds for each point of some dimensions.
static std::vector<int64_t> makeOffsets(const Access &access,
                                        ArrayRef<unsigned> dims,
                                        ArrayRef<int64_t> extents) {
  std::vector<int64_t> offsets(1, 0);
  for (unsigned dim : dims) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * extents[dim]);
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < extents[dim]; ++i)
        next.push_back(offset + access.getOffset(dim, i));
    offsets = std::move(next);
  }
  return offsets;
}

static double convertFloat(const void *context, double value) {
  return static_cast<const Format *>(context)->round(value);
}

static GatheredMatrix gather(const View &view, const Conversion &conversion,
                             const int64_t *rows, const int64_t *columns) {
  GatheredMatrix matrix;
  if (view.format->isFloat)
    matrix.floats = view.storage->floats();
  else
    matrix.integers = view.storage->integers();
  matrix.rows = rows;
  matrix.columns = columns;
  if (conversion.unsignedWidth && conversion.unsignedWidth < 64)
    matrix.mask = (uint64_t(1) << conversion.unsignedWidth) - 1;
  matrix.zeroPoint = conversion.zeroPoint;
  if (conversion.rounded) {
    matrix.convert = convertFloat;
    matrix.context = conversion.rounded;
  }
  return matrix;
}

Facts tessera::reference::getFacts(const View &view,
                                   const Conversion &conversion) {
  Facts facts;
  facts.hasErrors = view.storage->errors() != nullptr;
  GatheredMatrix cells =
      gather(view, conversion, /*rows=*/nullptr, /*columns=*/nullptr);
  constexpr uint64_t beyondTf32 = (uint64_t(1) << 42) - 1;
  auto visit = [&](int64_t address) {
    double value = cells.getAt(address);
    double magnitude = std::fabs(value);
    // A NaN or an infinity is not an integer.
    facts.allIntegers &= std::trunc(value) == value && magnitude < 1e300;
    facts.largest = std::max(facts.largest, magnitude);
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    facts.fitsTf32 &= (bits & beyondTf32) == 0;
  };
  int64_t count = view.getNumElements();
  if (view.isDense()) {
    for (int64_t i = 0; i < count; ++i)
      visit(view.offset + i);
    return facts;
  }
  forEachIndex(view.sizes, [&](ArrayRef<int64_t> point) {
    int64_t address = view.offset;
    for (size_t i = 0; i < point.size(); ++i)
      address += point[i] * view.strides[i];
    visit(address);
    return true;
  });
  return facts;
}

bool tessera::reference::isExact(const Facts &a, const Facts &b,
                                 double largestInitial, int64_t length,
                                 const SumFormat &sums) {
  return a.allIntegers && b.allIntegers &&
         sums.isExact(a.largest * b.largest, largestInitial, length);
}

namespace {
/// The Euclidean norms of the rows of a matrix (or columns), and of what its
/// elements may be off by; and the largest of the latter.
struct Norms {
  std::vector<double> values, errors, largestErrors;

  bool hasErrors() const { return !errors.empty(); }
  /// The error that follows for a dot product with a row or column of that
  /// norm, whose value is `result`: independent errors add up like a random
  /// walk, and a relative error that all elements have in common is one of the
  /// result.
  double propagate(int64_t at, double otherNorm, double result) const {
    double worst = errors[at] * otherNorm;
    double likely = 2 * largestErrors[at] * otherNorm +
                    std::fabs(result) * errors[at] / values[at];
    return std::min(worst, likely);
  }

  /// The norms of the rows of a matrix of that shape, or of its columns.
  static Norms of(bool ofRows, const GatheredMatrix &matrix,
                  const double *errors, int64_t rows, int64_t columns) {
    int64_t count = ofRows ? rows : columns;
    Norms norms;
    norms.values.assign(count, 0);
    norms.errors.assign(errors ? count : 0, 0);
    norms.largestErrors = norms.errors;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        norms.add(ofRows ? r : c, matrix, errors, r, c);
    norms.finish();
    return norms;
  }

private:
  void add(int64_t at, const GatheredMatrix &matrix, const double *bounds,
           int64_t row, int64_t column) {
    double value = matrix.get(row, column);
    values[at] += value * value;
    if (bounds) {
      double error = bounds[matrix.rows[row] + matrix.columns[column]];
      errors[at] += error * error;
      largestErrors[at] = std::max(largestErrors[at], error);
    }
  }
  void finish() {
    for (double &value : values)
      value = std::sqrt(value);
    for (double &value : errors)
      value = std::sqrt(value);
  }
};
} // namespace

namespace {
/// A contraction as a batch of matrix products.
struct Batch {
  explicit Batch(const Contraction &contraction);

  const Contraction &c;
  int64_t work = 1;
  /// The sizes of each matmul, and the number of matmuls.
  int64_t m = 1, n = 1, k = 1, count = 1;
  std::vector<int64_t> aRows, aInner, bInner, bColumns, cRows, cColumns;
  std::vector<int64_t> aBatch, bBatch, cBatch;

  /// Facts that are known before the evaluation.
  Facts aFacts, bFacts, oldFacts;
  SumFormat sums;
  bool isFloat = true, tf32 = false, exact = false;
  bool hasErrors() const { return aFacts.hasErrors || bFacts.hasErrors; }
  void findFacts(Run &run, Operation *op);
  /// Whether coarse sums are rounded as a device rounds them.
  bool emulates = false;
  /// Whether errors depend on the signs of the terms.
  bool needsSigns() const {
    return isFloat && !exact && !emulates && sums.isAllReduced(k);
  }

  /// The matmul that `select` was called for.
  std::vector<int64_t> aStart, bStart, cStart;
  GatheredMatrix a, b;
  Norms aNorms, bNorms;
  /// With reduced precision, the squared norms of the pieces of the rows of a,
  /// and of the columns of b: a row of these for each of them.
  std::vector<double> aPieces, bPieces;
  int64_t pieceCount = 0;
  void select(int64_t index, bool withNorms);
  int64_t addressOf(int64_t row, int64_t column) const {
    return cStart[row] + cColumns[column];
  }
  /// A bound on the error of a sum, given the largest partial sum and the sum
  /// of the terms' signs.
  double getError(int64_t row, int64_t column, double sum, double peak,
                  double signs) const;
  /// The sum of the terms' signs where it is not known.
  double estimateSigns(int64_t row, int64_t column, double sum) const;
  /// Whether the factors of a sum have no errors.
  bool isCertain(int64_t row, int64_t column) const {
    return (!aNorms.hasErrors() || aNorms.errors[row] == 0) &&
           (!bNorms.hasErrors() || bNorms.errors[column] == 0);
  }
};
} // namespace

Batch::Batch(const Contraction &contraction) : c(contraction) {
  SmallVector<unsigned> batch, rows, columns, inner;
  for (unsigned dim = 0; dim < c.extents.size(); ++dim) {
    work *= c.extents[dim];
    if (c.extents[dim] == 1)
      continue;
    if (!c.output.uses.test(dim))
      inner.push_back(dim);
    else if (!c.b.uses.test(dim))
      rows.push_back(dim);
    else if (!c.a.uses.test(dim))
      columns.push_back(dim);
    else
      batch.push_back(dim);
  }
  auto offsets = [&](const Access &access, ArrayRef<unsigned> dims) {
    return makeOffsets(access, dims, c.extents);
  };
  aRows = offsets(c.a, rows);
  aInner = offsets(c.a, inner);
  bInner = offsets(c.b, inner);
  bColumns = offsets(c.b, columns);
  cRows = offsets(c.output, rows);
  cColumns = offsets(c.output, columns);
  aBatch = offsets(c.a, batch);
  bBatch = offsets(c.b, batch);
  cBatch = offsets(c.output, batch);
  m = static_cast<int64_t>(aRows.size());
  n = static_cast<int64_t>(bColumns.size());
  k = static_cast<int64_t>(aInner.size());
  count = static_cast<int64_t>(aBatch.size());
  isFloat = c.arithmetic->isFloat;
}

void Batch::findFacts(Run &run, Operation *op) {
  aFacts = getFacts(*c.a.view, c.convertA);
  bFacts = getFacts(*c.b.view, c.convertB);
  oldFacts = getFacts(*c.output.view, {});
  const Format *aFormat = c.a.view->format, *bFormat = c.b.view->format;
  sums = findSumFormat(run, op,
                       aFormat->width < bFormat->width ? *bFormat : *aFormat,
                       *c.arithmetic);
  tf32 = c.tf32 && !(aFacts.fitsTf32 && bFacts.fitsTf32);
  exact = !tf32 && oldFacts.allIntegers &&
          isExact(aFacts, bFacts, oldFacts.largest, k, sums);
  int coarseBits = isFloat && !exact ? sums.getCoarseBits() : 0;
  if (coarseBits)
    run.noteCoarseSum(coarseBits);
  emulates = coarseBits && run.emulates();
}

void Batch::select(int64_t index, bool withNorms) {
  auto shift = [](const std::vector<int64_t> &list, int64_t by) {
    std::vector<int64_t> result = list;
    for (int64_t &value : result)
      value += by;
    return result;
  };
  aStart = shift(aRows, c.a.base + aBatch[index]);
  bStart = shift(bColumns, c.b.base + bBatch[index]);
  cStart = shift(cRows, c.output.base + cBatch[index]);
  a = gather(*c.a.view, c.convertA, aStart.data(), aInner.data());
  b = gather(*c.b.view, c.convertB, bInner.data(), bStart.data());
  if (!withNorms)
    return;
  aNorms = Norms::of(true, a, c.a.view->storage->errors(), m, k);
  bNorms = Norms::of(false, b, c.b.view->storage->errors(), k, n);
  if (!isFloat || exact || emulates || !sums.isReduced())
    return;
  int64_t length = sums.pieceLength();
  pieceCount = (k + length - 1) / length;
  aPieces.assign(m * pieceCount, 0);
  bPieces.assign(n * pieceCount, 0);
  for (int64_t x = 0; x < k; ++x) {
    for (int64_t i = 0; i < m; ++i)
      aPieces[i * pieceCount + x / length] += a.get(i, x) * a.get(i, x);
    for (int64_t j = 0; j < n; ++j)
      bPieces[j * pieceCount + x / length] += b.get(x, j) * b.get(x, j);
  }
}

double Batch::estimateSigns(int64_t row, int64_t column, double sum) const {
  auto terms = static_cast<double>(k);
  double matmul = aNorms.values[row] * bNorms.values[column] / terms;
  double likely = matmul > 0 ? 2 * std::fabs(sum) / matmul : 0;
  return std::min(terms, likely + 4 * std::sqrt(terms));
}

double Batch::getError(int64_t row, int64_t column, double sum, double peak,
                       double signs) const {
  double magnitude = aNorms.values[row] * bNorms.values[column];
  double error = 0;
  if (isFloat && !exact && !emulates) {
    SumFacts facts;
    facts.length = k;
    facts.magnitude = magnitude;
    facts.peak = peak;
    facts.signs = std::fabs(signs);
    for (int64_t piece = 0; piece < pieceCount; ++piece)
      facts.pieces += aPieces[row * pieceCount + piece] *
                      bPieces[column * pieceCount + piece];
    facts.pieces = std::sqrt(facts.pieces);
    error += sums.getError(facts);
  }
  if (tf32)
    error += tf32Error(k, magnitude, sum);
  if (aNorms.hasErrors())
    error += aNorms.propagate(row, bNorms.values[column], sum);
  if (bNorms.hasErrors())
    error += bNorms.propagate(column, aNorms.values[row], sum);
  if (aNorms.hasErrors() && bNorms.hasErrors())
    error += aNorms.errors[row] * bNorms.errors[column];
  return error;
}

/// A sum that is rounded to the type that the program names.
static Number roundOnce(const Format &format, const Number &sum) {
  if (sum.error == 0)
    return Number::ofFloat(format.round(sum.f));
  double most = std::fabs(sum.f) + sum.error;
  return Number::ofFloat(sum.f,
                         sum.error + (most <= format.largest
                                          ? format.unit * most + format.tiny
                                          : unbounded));
}

/// The sign of a factor.
static double convertToSign(const void *context, double value) {
  if (context)
    value = convertFloat(context, value);
  return static_cast<double>((value > 0) - (value < 0));
}

bool tessera::reference::contract(Run &run, Operation *op,
                                  const Contraction &c) {
  Batch batch(c);
  if (!run.spend(batch.work + c.output.view->getNumElements() * 4, op))
    return false;
  if (batch.work == 0)
    return true;
  batch.findFacts(run, op);
  if (batch.needsSigns() && !run.spend(batch.work, op))
    return false;
  bool isFloat = batch.isFloat;
  EmulatedUnit unit;
  if (batch.emulates) {
    if (!run.spend(batch.work * 4, op))
      return false;
    unit = batch.sums.getUnit(run, batch.k);
  }
  // Integers beyond that are multiplied as such.
  bool inDoubles = isFloat || batch.aFacts.largest * batch.bFacts.largest *
                                      static_cast<double>(batch.k) <
                                  9007199254740992.0;
  bool needsNorms =
      batch.hasErrors() || (isFloat && !batch.exact && !batch.emulates);

  int64_t rowTiles = (batch.m + gemmTileRows - 1) / gemmTileRows;
  int64_t columnTiles = (batch.n + gemmTileColumns - 1) / gemmTileColumns;
  for (int64_t index = 0; index < batch.count; ++index) {
    batch.select(index, needsNorms);
    bool good = run.parallel(rowTiles * columnTiles, [&](int64_t task) {
      int64_t row = task / columnTiles * gemmTileRows;
      int64_t column = task % columnTiles * gemmTileColumns;
      int64_t height = std::min(gemmTileRows, batch.m - row);
      int64_t width = std::min(gemmTileColumns, batch.n - column);
      std::vector<double> sums(inDoubles ? height * width : 0);
      std::vector<int64_t> integers(inDoubles ? 0 : height * width);
      std::vector<double> peaks(
          isFloat && needsNorms && !batch.emulates ? height * width : 0);
      auto addressOf = [&](int64_t at) {
        return batch.addressOf(row + at / width, column + at % width);
      };
      if (batch.emulates) {
        // From the initial values on.
        for (int64_t at = 0; at < height * width; ++at)
          sums[at] = c.output.view->load(addressOf(at)).f;
        emulateTile(unit, batch.a, batch.b, row, height, column, width, batch.k,
                    sums.data());
        for (int64_t at = 0; at < height * width; ++at)
          sums[at] -= c.output.view->load(addressOf(at)).f;
      } else if (inDoubles)
        multiplyTile(batch.a, batch.b, row, height, column, width, batch.k,
                     sums.data(), peaks.empty() ? nullptr : peaks.data());
      else
        multiplyTile(batch.a, batch.b, row, height, column, width, batch.k,
                     integers.data());
      std::vector<double> signs(batch.needsSigns() ? height * width : 0);
      if (!signs.empty()) {
        GatheredMatrix a = batch.a, b = batch.b;
        a.convert = b.convert = convertToSign;
        multiplyTile(a, b, row, height, column, width, batch.k, signs.data());
      }
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j) {
          int64_t at = i * width + j;
          int64_t address = batch.addressOf(row + i, column + j);
          double sum = inDoubles ? sums[at] : static_cast<double>(integers[at]);
          Number number = c.output.view->load(address);
          if (needsNorms) {
            double old = isFloat ? std::fabs(number.f) : 0;
            double peak = peaks.empty() ? 0 : old + peaks[at];
            number.error += batch.getError(row + i, column + j, sum, peak,
                                           signs.empty() ? 0 : signs[at]);
          }
          if (isFloat) {
            number.f += sum;
            if (batch.sums.roundsResult())
              number = roundOnce(*c.arithmetic, number);
          } else {
            int64_t addend =
                inDoubles ? static_cast<int64_t>(sum) : integers[at];
            number.i = c.arithmetic->wrap(
                static_cast<int64_t>(static_cast<uint64_t>(number.i) +
                                     static_cast<uint64_t>(addend)));
          }
          // A NaN or an infinity among the factors makes one of the sum, in
          // any order.
          if (isFloat && needsNorms && !std::isfinite(sum) &&
              batch.isCertain(row + i, column + j))
            number.error = 0;
          c.output.view->store(address, number);
        }
      return true;
    });
    if (!good)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Projections
//===----------------------------------------------------------------------===//

/// One number per row, for integers modulo 2 to the 64.
template <typename T>
static T getElement(const GatheredMatrix &matrix, int64_t row, int64_t column) {
  if constexpr (std::is_same_v<T, double>)
    return matrix.get(row, column);
  else
    return static_cast<uint64_t>(matrix.getInteger(row, column));
}

template <typename T> static T getElement(const View &view, int64_t address) {
  if constexpr (std::is_same_v<T, double>)
    return view.storage->floats()[address];
  else
    return static_cast<uint64_t>(view.storage->integers()[address]);
}

/// Both sides of (A B + C) x = G x, for each row.
template <typename T>
static void projectBoth(Run &run, const Batch &batch, const View &got,
                        ArrayRef<int> signs, std::vector<T> &expected,
                        std::vector<T> &projected) {
  const View &old = *batch.c.output.view;
  auto apply = [](T value, int sign) {
    return sign > 0 ? value : static_cast<T>(0) - value;
  };
  std::vector<T> inner(batch.k, T(0));
  for (int64_t x = 0; x < batch.k; ++x)
    for (int64_t j = 0; j < batch.n; ++j)
      inner[x] += apply(getElement<T>(batch.b, x, j), signs[j]);
  expected.assign(batch.m, T(0));
  projected.assign(batch.m, T(0));
  int64_t pieces = batch.m < 1024 ? 1 : run.threads * 4;
  run.parallel(pieces, [&](int64_t piece) {
    int64_t last = batch.m * (piece + 1) / pieces;
    for (int64_t i = batch.m * piece / pieces; i < last; ++i) {
      for (int64_t x = 0; x < batch.k; ++x)
        expected[i] += getElement<T>(batch.a, i, x) * inner[x];
      for (int64_t j = 0; j < batch.n; ++j) {
        int64_t address = batch.addressOf(i, j);
        expected[i] += apply(getElement<T>(old, address), signs[j]);
        projected[i] += apply(getElement<T>(got, address), signs[j]);
      }
    }
    return true;
  });
}

std::optional<Comparison> tessera::reference::projectContraction(
    Run &run, Operation *op, const Contraction &c, const View &got,
    int64_t count, uint64_t seed, double slack) {
  Batch batch(c);
  int64_t effort =
      (batch.m * batch.k + batch.k * batch.n + 3 * batch.m * batch.n) *
      batch.count * (count + 1);
  if (!run.spend(effort, op))
    return std::nullopt;
  Comparison result;
  if (batch.work == 0)
    return result;
  batch.findFacts(run, op);
  // Rounding to another type than that of the sums adds to what may be lost.
  bool isRounded = got.format != c.arithmetic ||
                   (batch.isFloat && batch.sums.roundsResult());
  bool needsErrors = batch.isFloat && (!batch.exact || isRounded);
  bool hasErrors = batch.hasErrors() || c.output.view->storage->errors();
  std::mt19937_64 generator(seed);
  double largestAllowed = 0, worst = 0;
  for (int64_t index = 0; index < batch.count; ++index) {
    batch.select(index, needsErrors || hasErrors);
    // Independent errors of both signs: their sum is like a random walk.
    std::vector<double> allowed(batch.m, 0);
    if (needsErrors || hasErrors)
      for (int64_t i = 0; i < batch.m; ++i) {
        double squares = 0;
        for (int64_t j = 0; j < batch.n; ++j) {
          int64_t address = batch.addressOf(i, j);
          Number old = c.output.view->load(address);
          double value = got.format->isFloat ? got.load(address).f : 0;
          double initial = batch.isFloat ? old.f : 0;
          double sum = value - initial;
          double peak = std::fabs(initial) + std::fabs(sum);
          double error =
              old.error + batch.getError(i, j, sum, peak,
                                         batch.needsSigns()
                                             ? batch.estimateSigns(i, j, sum)
                                             : 0) *
                              slack;
          if (needsErrors)
            error += 2 * got.format->unit * std::fabs(value) + got.format->tiny;
          squares += error * error;
        }
        allowed[i] = 6 * std::sqrt(squares);
      }
    for (int64_t projection = 0; projection < count; ++projection) {
      SmallVector<int> signs;
      for (int64_t j = 0; j < batch.n; ++j)
        signs.push_back(generator() & 1 ? 1 : -1);
      std::vector<double> expected, projected;
      if (batch.isFloat) {
        projectBoth<double>(run, batch, got, signs, expected, projected);
      } else {
        std::vector<uint64_t> left, right;
        projectBoth<uint64_t>(run, batch, got, signs, left, right);
        for (int64_t i = 0; i < batch.m; ++i) {
          expected.push_back(static_cast<double>(
              c.arithmetic->wrap(static_cast<int64_t>(left[i]))));
          projected.push_back(static_cast<double>(
              c.arithmetic->wrap(static_cast<int64_t>(right[i]))));
        }
      }
      for (int64_t i = 0; i < batch.m; ++i) {
        ++result.count;
        // Nothing is known where the matmul yields a NaN or an infinity.
        bool known = std::isfinite(expected[i]) && allowed[i] < unbounded;
        if (!known) {
          ++result.unboundedCount;
          continue;
        }
        // Sums of doubles lose something, too, if not of integers.
        double limit = allowed[i];
        if (batch.isFloat && !(batch.exact && std::fabs(expected[i]) < 1e15))
          limit += 1e-11 * std::fabs(expected[i]);
        result.exactCount += limit == 0;
        largestAllowed = std::max(largestAllowed, limit);
        double difference = std::fabs(expected[i] - projected[i]);
        if (difference == 0)
          continue;
        result.nanCount += std::isnan(projected[i]);
        result.maxAbs = std::max(result.maxAbs, difference);
        bool matches = difference <= limit;
        if (!matches) {
          result.ok = false;
          ++result.mismatchCount;
        }
        double ratio = limit == 0 ? unbounded : difference / limit;
        if (std::isnan(ratio))
          ratio = unbounded;
        if (ratio > worst || result.worstIndex < 0) {
          worst = ratio;
          result.worstIndex = i;
          result.got = projected[i];
          result.expected = expected[i];
          result.allowed = limit;
        }
      }
    }
  }
  if (result.worstIndex >= 0)
    result.worstPosition = {result.worstIndex};
  result.tolerance = largestAllowed == 0 ? "exact" : "within rounding";
  return result;
}
