//===- SubgroupMatrix.cpp - Matrix values of a subgroup -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SubgroupMatrix.h"

#include "../Kernels/Gemm.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

/// The elements as factors.
static std::vector<double> getFactors(const View &view,
                                      const Conversion &conversion) {
  int64_t count = view.getNumElements();
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i) {
    double value = view.storage->floats()[view.offset + i];
    values[i] = conversion.rounded ? conversion.rounded->round(value) : value;
  }
  return values;
}

static std::vector<int64_t> getIntegers(const View &view,
                                        const Conversion &conversion) {
  int64_t count = view.getNumElements();
  std::vector<int64_t> values(count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = view.storage->integers()[view.offset + i];
    unsigned width = conversion.unsignedWidth;
    values[i] =
        width && width < 64 ? value & ((int64_t(1) << width) - 1) : value;
  }
  return values;
}

/// result[i][j] += sum over k of a[i][k] * b[k][j], as the unit rounds it. All
/// of them are dense.
static void emulateDense(const EmulatedUnit &unit, const double *a,
                         const double *b, double *result, int64_t rows,
                         int64_t columns, int64_t length) {
  auto multiples = [](int64_t count, int64_t step) {
    std::vector<int64_t> list(count);
    for (int64_t i = 0; i < count; ++i)
      list[i] = i * step;
    return list;
  };
  std::vector<int64_t> aRows = multiples(rows, length),
                       inner = multiples(length, 1),
                       bRows = multiples(length, columns),
                       bColumns = multiples(columns, 1);
  GatheredMatrix left, right;
  left.floats = a;
  left.rows = aRows.data();
  left.columns = inner.data();
  right.floats = b;
  right.rows = bRows.data();
  right.columns = bColumns.data();
  emulateTile(unit, left, right, 0, rows, 0, columns, length, result);
}

/// A bound on the error of an accumulator, given its error `before`, after
/// `length` terms were added to it in one or a few instructions. Their number
/// is small: the losses are independent of those of the earlier terms, except
/// for the drift of units that truncate.
static double addSumError(const SumFormat &sums, int64_t length,
                          double magnitude, double peak, double before) {
  double unit = sums.accumulator->unit;
  auto terms = static_cast<double>(length);
  double random = unit * (6 * magnitude + (3 * std::sqrt(terms) + 4) * peak) +
                  sums.accumulator->tiny;
  double drift = unit * terms / 4 * peak;
  if (peak > sums.accumulator->largest)
    return unbounded;
  if (sums.isReduced()) {
    // Sums apart from the accumulator have a grid of their own.
    double grid = std::ldexp(1.0, -sums.unitBits) *
                  (sums.unitLength ? 2 * magnitude : magnitude + peak);
    random += 4 * std::sqrt(terms) * grid;
    drift += terms / 4 * grid;
  }
  return std::hypot(before, random) + drift;
}

ViewRef tessera::reference::multiplyMatrices(Run &run, Operation *op,
                                             const MatrixMultiply &p) {
  int64_t rows = p.a->sizes[0], length = p.a->sizes[1];
  int64_t columns = p.b->sizes[1];
  bool fits = p.b->sizes[0] == length && p.accumulator->sizes[0] == rows &&
              p.accumulator->sizes[1] == columns;
  if (!fits) {
    run.error(op, "the matrix shapes are incompatible");
    return nullptr;
  }
  if (!run.spend(rows * columns * length * 2 + 16, op))
    return nullptr;
  ViewRef result = cloneView(*p.accumulator);
  int64_t count = rows * columns;
  Storage &storage = *result->storage;
  const double *aErrors = p.a->storage->errors();
  const double *bErrors = p.b->storage->errors();

  if (!p.arithmetic->isFloat) {
    std::vector<int64_t> a = getIntegers(*p.a, p.convertA);
    std::vector<int64_t> b = getIntegers(*p.b, p.convertB);
    multiplyDense(a.data(), b.data(), storage.integers(), rows, columns,
                  length);
    for (int64_t i = 0; i < count; ++i)
      storage.integers()[i] = p.arithmetic->wrap(storage.integers()[i]);
    // Integers with errors come from conversions only; nothing finer is kept.
    if (aErrors || bErrors)
      std::fill_n(storage.ensureErrors(), count, unbounded);
    return result;
  }

  std::vector<double> a = getFactors(*p.a, p.convertA);
  std::vector<double> b = getFactors(*p.b, p.convertB);
  Facts aFacts = getFacts(*p.a, p.convertA);
  Facts bFacts = getFacts(*p.b, p.convertB);
  Facts oldFacts = getFacts(*p.accumulator, {});
  SumFormat sums = findSumFormat(run, op, *p.a->format, *p.arithmetic);
  bool tf32 = p.tf32 && !(aFacts.fitsTf32 && bFacts.fitsTf32);
  bool exact = !tf32 && oldFacts.allIntegers &&
               isExact(aFacts, bFacts, oldFacts.largest, length, sums);
  int coarseBits = exact ? 0 : sums.getCoarseBits();
  if (coarseBits)
    run.noteCoarseSum(coarseBits);
  bool emulates = coarseBits && run.emulates();
  bool hasBounds = !exact && !emulates;
  std::vector<double> magnitude(hasBounds ? count : 0);
  if (emulates)
    emulateDense(sums.getUnit(run, length), a.data(), b.data(),
                 storage.floats(), rows, columns, length);
  else
    multiplyDense(a.data(), b.data(), storage.floats(),
                  hasBounds ? magnitude.data() : nullptr, rows, columns,
                  length);
  if (hasBounds) {
    double *errors = storage.ensureErrors();
    for (int64_t i = 0; i < count; ++i) {
      double old = p.accumulator->storage->floats()[p.accumulator->offset + i];
      double value = storage.floats()[i];
      double peak = std::max(std::fabs(old), std::fabs(value));
      errors[i] = addSumError(sums, length, magnitude[i], peak, errors[i]);
      if (tf32)
        errors[i] += tf32Error(length, magnitude[i], value - old);
    }
  }
  // The inherited errors of the factors.
  if (aErrors || bErrors) {
    std::vector<double> ea(aErrors ? aErrors + p.a->offset : a.data(),
                           (aErrors ? aErrors + p.a->offset : a.data()) +
                               a.size());
    std::vector<double> eb(bErrors ? bErrors + p.b->offset : b.data(),
                           (bErrors ? bErrors + p.b->offset : b.data()) +
                               b.size());
    if (!aErrors)
      std::fill(ea.begin(), ea.end(), 0.0);
    if (!bErrors)
      std::fill(eb.begin(), eb.end(), 0.0);
    for (double &value : a)
      value = std::fabs(value);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = std::fabs(b[i]) + eb[i];
    double *errors = storage.ensureErrors();
    multiplyDense(ea.data(), b.data(), errors, nullptr, rows, columns, length);
    multiplyDense(a.data(), eb.data(), errors, nullptr, rows, columns, length);
  } else if (hasBounds) {
    // A NaN or an infinity among the factors makes one of the sum, in any
    // order.
    double *errors = storage.ensureErrors();
    for (int64_t i = 0; i < count; ++i)
      if (!std::isfinite(storage.floats()[i]) &&
          p.accumulator->load(p.accumulator->offset + i).error < unbounded)
        errors[i] = 0;
  }
  return result;
}

InstrPtr tessera::reference::makeMatmul(Operation *op, ArrayRef<Slot> operands,
                                        Slot result, const Format &format,
                                        ArrayRef<int64_t> shape) {
  SmallVector<Slot> views(operands);
  SmallVector<int64_t> extents(shape);
  return makeShared(operands, {}, result, [=, &format](Frame &frame) {
    ViewRef zero;
    if (views.size() == 2) {
      zero = View::make(format, extents);
      zero->fill(Number());
    }
    MatrixMultiply matmul;
    matmul.a = frame.view(views[0]).get();
    matmul.b = frame.view(views[1]).get();
    matmul.accumulator = zero ? zero.get() : frame.view(views[2]).get();
    matmul.arithmetic = &format;
    ViewRef output = multiplyMatrices(*frame.run, op, matmul);
    if (!output)
      return false;
    frame.view(result) = std::move(output);
    return true;
  });
}
