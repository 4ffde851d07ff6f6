//===- Contraction.cpp - Sums of products over a box ----------------------===//
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

#include "Contraction.h"

#include "Gemm.h"

#include <algorithm>
#include <cmath>

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
        next.push_back(offset + i * access.strides[dim]);
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
  int64_t zero = 0;
  GatheredMatrix cells = gather(view, conversion, &zero, &zero);
  constexpr uint64_t beyondTf32 = (uint64_t(1) << 42) - 1;
  auto visit = [&](int64_t address) {
    cells.rows = &address;
    double value = cells.get(0, 0);
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
                                 const Format &arithmetic) {
  double bound =
      a.largest * b.largest * static_cast<double>(length) + largestInitial;
  return a.allIntegers && b.allIntegers &&
         bound <= std::ldexp(1.0, arithmetic.precision) &&
         bound <= arithmetic.largest;
}

namespace {
/// The Euclidean norms of the rows of a matrix (or columns), and of what its
/// elements may be off by.
struct Norms {
  std::vector<double> values, errors;

  static Norms ofRows(const GatheredMatrix &matrix, const double *errors,
                      int64_t rows, int64_t columns) {
    Norms norms;
    norms.values.assign(rows, 0);
    if (errors)
      norms.errors.assign(rows, 0);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        norms.add(r, matrix, errors, r, c);
    norms.finish();
    return norms;
  }
  static Norms ofColumns(const GatheredMatrix &matrix, const double *errors,
                         int64_t rows, int64_t columns) {
    Norms norms;
    norms.values.assign(columns, 0);
    if (errors)
      norms.errors.assign(columns, 0);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        norms.add(c, matrix, errors, r, c);
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

bool tessera::reference::contract(Run &run, Operation *op,
                                  const Contraction &c) {
  SmallVector<unsigned> batch, rows, columns, inner;
  int64_t work = 1;
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
  int64_t outputs = c.output.view->getNumElements();
  if (!run.spend(work + outputs * 4, op))
    return false;
  if (work == 0)
    return true;

  auto offsets = [&](const Access &access, ArrayRef<unsigned> dims) {
    return makeOffsets(access, dims, c.extents);
  };
  std::vector<int64_t> aRows = offsets(c.a, rows), aInner = offsets(c.a, inner);
  std::vector<int64_t> bInner = offsets(c.b, inner),
                       bColumns = offsets(c.b, columns);
  std::vector<int64_t> cRows = offsets(c.output, rows),
                       cColumns = offsets(c.output, columns);
  std::vector<int64_t> aBatch = offsets(c.a, batch),
                       bBatch = offsets(c.b, batch),
                       cBatch = offsets(c.output, batch);
  auto m = static_cast<int64_t>(aRows.size());
  auto n = static_cast<int64_t>(bColumns.size());
  auto k = static_cast<int64_t>(aInner.size());

  // What can be known beforehand.
  Facts aFacts = getFacts(*c.a.view, c.convertA);
  Facts bFacts = getFacts(*c.b.view, c.convertB);
  Facts oldFacts = getFacts(*c.output.view, {});
  bool isFloat = c.arithmetic->isFloat;
  const Format &accumulator = effectiveAccumulator(
      c.a.view->format->width <= c.b.view->format->width ? *c.b.view->format
                                                         : *c.a.view->format,
      *c.arithmetic);
  bool tf32 = c.tf32 && !(aFacts.fitsTf32 && bFacts.fitsTf32);
  bool exact = !tf32 && oldFacts.allIntegers &&
               isExact(aFacts, bFacts, oldFacts.largest, k, accumulator);
  bool hasErrors = aFacts.hasErrors || bFacts.hasErrors;
  bool inDoubles =
      isFloat || aFacts.largest * bFacts.largest * static_cast<double>(k) <
                     9007199254740992.0;
  bool needsNorms = hasErrors || (isFloat && !exact);

  int64_t rowTiles = (m + gemmTileRows - 1) / gemmTileRows;
  int64_t columnTiles = (n + gemmTileColumns - 1) / gemmTileColumns;
  for (size_t index = 0; index < aBatch.size(); ++index) {
    auto shifted = [](const std::vector<int64_t> &list, int64_t by) {
      std::vector<int64_t> result = list;
      for (int64_t &value : result)
        value += by;
      return result;
    };
    std::vector<int64_t> aStart = shifted(aRows, c.a.base + aBatch[index]);
    std::vector<int64_t> bStart = shifted(bColumns, c.b.base + bBatch[index]);
    std::vector<int64_t> cStart = shifted(cRows, c.output.base + cBatch[index]);
    GatheredMatrix a =
        gather(*c.a.view, c.convertA, aStart.data(), aInner.data());
    GatheredMatrix b =
        gather(*c.b.view, c.convertB, bInner.data(), bStart.data());
    Norms aNorms, bNorms;
    if (needsNorms) {
      aNorms = Norms::ofRows(a, c.a.view->storage->errors(), m, k);
      bNorms = Norms::ofColumns(b, c.b.view->storage->errors(), k, n);
    }

    auto finish = [&](int64_t i, int64_t j, double sum) {
      int64_t address = cStart[i] + cColumns[j];
      Number number = c.output.view->load(address);
      double old = isFloat ? number.f : static_cast<double>(number.i);
      double result = old + sum;
      if (needsNorms) {
        double magnitude = aNorms.values[i] * bNorms.values[j];
        if (isFloat && !exact)
          number.error +=
              accumulationError(accumulator, k, magnitude, old, result);
        if (tf32)
          number.error += tf32Error(k, magnitude, sum);
        if (!aNorms.errors.empty())
          number.error += aNorms.errors[i] * bNorms.values[j];
        if (!bNorms.errors.empty())
          number.error += bNorms.errors[j] *
                          (aNorms.values[i] +
                           (aNorms.errors.empty() ? 0 : aNorms.errors[i]));
      }
      return std::make_pair(number, address);
    };
    bool good = run.parallel(rowTiles * columnTiles, [&](int64_t task) {
      int64_t row = task / columnTiles * gemmTileRows;
      int64_t column = task % columnTiles * gemmTileColumns;
      int64_t height = std::min(gemmTileRows, m - row);
      int64_t width = std::min(gemmTileColumns, n - column);
      std::vector<double> sums(inDoubles ? height * width : 0);
      std::vector<int64_t> integers(inDoubles ? 0 : height * width);
      if (inDoubles)
        multiplyTile(a, b, row, height, column, width, k, sums.data());
      else
        multiplyTile(a, b, row, height, column, width, k, integers.data());
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j) {
          int64_t at = i * width + j;
          double sum = inDoubles ? sums[at] : static_cast<double>(integers[at]);
          auto [number, address] = finish(row + i, column + j, sum);
          if (isFloat) {
            number.f += sum;
          } else {
            int64_t addend =
                inDoubles ? static_cast<int64_t>(sum) : integers[at];
            number.i = c.arithmetic->wrap(
                static_cast<int64_t>(static_cast<uint64_t>(number.i) +
                                     static_cast<uint64_t>(addend)));
          }
          c.output.view->store(address, number);
        }
      return true;
    });
    if (!good)
      return false;
  }
  return true;
}
