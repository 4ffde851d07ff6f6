//===- Compare.h - Computed arrays against the reference --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REFERENCE_COMPARE_H
#define REFERENCE_COMPARE_H

#include "Reference/Array.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera::reference {

/// The losses of coarse sums (see `CoarseSums`), which `compare` must
/// distinguish from faults: an output as computed by several runs of the
/// reference.
struct CoarseLosses {
  /// Significand bits of the coarsest sum.
  int bits = 0;
  Array bounded, forward, backward;
  /// The same output without 32 terms of each coarse sum
  /// (`CoarseSums::WithoutStep`); empty if unknown.
  std::optional<Array> withoutStep;
  /// Why the arrays are missing; empty if they are there.
  std::string missing;
};

struct CompareOptions {
  /// Where one of these is given, |got - expected| <= absolute + relative *
  /// |expected| is demanded, regardless of the error bounds.
  std::optional<double> absolute, relative;
  /// Demand equality with the reference, rounded to the element type.
  bool exact = false;
  /// Factor for the error bounds, for hardware that is less accurate than the
  /// reference expects.
  double slack = 1;
  /// Compare only the elements that the reference wrote (see
  /// `Storage::recordWrites`).
  bool onlyWritten = false;
  /// The contents before the program ran, of the same type and shape: wrong
  /// elements that still have their old value are counted.
  const Array *before = nullptr;
  /// 1 for each element that is not compared, since it may be anything; null if
  /// there is none.
  const std::vector<uint8_t> *ignored = nullptr;
  /// The program has coarse sums: blocks of elements are compared, too. Null if
  /// it has none.
  const CoarseLosses *losses = nullptr;
  /// How many programs contribute errors: 2 where the reference is the output
  /// of another target.
  int sides = 1;
};

/// An element, and what it is.
struct ComparedElement {
  SmallVector<int64_t> position;
  double got, expected;
};

/// A tile, a row or a column of the last two dimensions of an array, whose
/// elements together are off by more than rounding explains.
struct WrongBlock {
  /// "tile", "row" or "column".
  const char *kind = "";
  /// The position of its first element.
  SmallVector<int64_t> position;
  int64_t rows = 0, columns = 0;
  /// The root mean square of the differences, and the most it may be.
  double rms = 0, allowed = 0;
  /// The element that is furthest off for its error bound.
  ComparedElement worst = {};

  /// "the tile of 16x16 at [0, 16] differs by ...".
  std::string describe() const;
};

/// How a computed array differs from the reference.
struct Comparison {
  /// No element differs by more than it may.
  bool ok = true;
  /// Elements compared, and those that differ by more than they may.
  int64_t count = 0;
  int64_t mismatchCount = 0;
  /// NaNs among the computed elements where the reference has none.
  int64_t nanCount = 0;
  /// Elements that are wrong, and what they were before the program ran.
  int64_t unchangedCount = 0;
  /// Elements that had to be equal, and those without an error bound.
  int64_t exactCount = 0;
  int64_t unboundedCount = 0;
  /// Elements whose error bound permits every finite number of their type: only
  /// a NaN or an infinity would be found.
  int64_t permissiveCount = 0;
  /// Elements without an error bound that differ from the reference. Nothing is
  /// known about them: they may be right or wrong.
  int64_t unverifiedCount = 0;
  /// The largest differences, of all elements whose difference is finite.
  double maxAbs = 0;
  double maxRel = 0;
  /// The sum of their absolute differences.
  double sumAbs = 0;
  /// Sums of squares: the differences (infinite if one is not a number), the
  /// reference's finite elements, and the permitted differences (infinite if an
  /// element has no error bound).
  double sumSquaredError = 0, sumSquaredExpected = 0, sumSquaredAllowed = 0;
  /// The most numbers of the element type that lie between an element and the
  /// rounded reference, the latter included: 1 for neighbours. For integers,
  /// the difference.
  double maxUlp = 0;
  /// NaNs and infinities on either side.
  int64_t gotNaNs = 0, expectedNaNs = 0;
  int64_t gotInfinities = 0, expectedInfinities = 0;
  /// The first element that differs by more than it may, in row-major order; an
  /// empty optional if there is none.
  using Element = ComparedElement;
  std::optional<Element> first;
  /// The element that is furthest off for what it may be, in row-major order;
  /// -1 if all are equal.
  int64_t worstIndex = -1;
  SmallVector<int64_t> worstPosition;
  double got = 0;
  double expected = 0;
  double allowed = 0;
  /// Such as "exact" or "within 1.2e-05".
  std::string tolerance;
  /// With coarse sums: blocks that were compared as a whole, those of them that
  /// are wrong, and the worst of these.
  int64_t blockCount = 0;
  int64_t wrongBlockCount = 0;
  std::optional<WrongBlock> worstBlock;
  /// Tiles compared, and those of them that would be accepted without 32
  /// consecutive terms of their sums. The latter is empty if it is unknown.
  int64_t tileCount = 0;
  std::optional<int64_t> insensitiveTileCount;
  /// The root mean square of what these terms change in the tile where they
  /// change least, and what that tile may differ by.
  double stepChange = 0, stepAllowed = 0;

  /// The mean of the absolute differences.
  double meanAbs() const {
    return count ? sumAbs / static_cast<double>(count) : 0;
  }

  /// "; 3 elements may be any number of their type"; empty if there is none.
  std::string describePermissive() const;
  /// The norm of the differences, as a part of the reference's.
  double relativeNorm() const;
  /// Whether the error bounds together are smaller than the reference, so that
  /// they distinguish it from zeros.
  bool hasUsefulBounds() const {
    return sumSquaredAllowed <= sumSquaredExpected;
  }
  /// The error of the worst element as a part of what it may be; infinite where
  /// it must be equal, and is not.
  double worstRatio() const;

  /// One line: the verdict, and the worst element if there is one.
  std::string describe() const;
};

/// Compares elements as a device computed them with the reference's. The
/// element types and shapes must be the same; otherwise the comparison fails
/// and states the reason in `tolerance`.
///
/// An element may be off by its error bound and the rounding to the element
/// type; where the bound is zero it must be equal to the rounded reference.
/// Where the reference has a NaN or an infinity and the error bound is finite,
/// the element must be a NaN or the same infinity.
///
/// With coarse sums, whose error bounds exceed what a fault may change, the
/// root mean square of the errors of each tile of 16x16, each row and each
/// column must be what emulated sums lose there (see BlockErrors.cpp).
/// `tolerance` states the permitted loss, or why blocks are not compared.
Comparison compare(const Array &got, const Array &reference,
                   const CompareOptions &options = {});

/// The same, for elements that a function returns.
Comparison compare(function_ref<double(int64_t)> got, const Array &reference,
                   const CompareOptions &options = {});

/// An element with as many digits as tell it apart.
std::string formatNumber(double value);

} // namespace mlir::tessera::reference

#endif // REFERENCE_COMPARE_H
