//===- RoundedSums.h - How sums of products are rounded ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_KERNELS_ROUNDEDSUMS_H
#define LIB_REFERENCE_KERNELS_ROUNDEDSUMS_H

#include "../Numeric.h"
#include "EmulatedSums.h"
#include "Reference/Interpreter.h"

#include <cstdint>

namespace mlir::tessera::reference {

class Run;

/// The facts that determine the bound of a sum of products.
struct SumFacts {
  /// The number of terms.
  int64_t length = 0;
  /// A bound on the sum of the terms' absolute values.
  double magnitude = 0;
  /// The largest partial sum seen, the initial value included.
  double peak = 0;
  /// With reduced precision: the square root of the sum of the squares of the
  /// magnitudes of all pieces of `SumFormat::pieceLength` terms.
  double pieces = 0;
  /// With reduced precision of all of the sum: the difference between the
  /// numbers of positive and negative terms.
  double signs = 0;
};

/// How a sum of products is rounded where it was compiled.
struct SumFormat {
  /// The formats of the sum in the program and in the compiled code.
  const Format *arithmetic = nullptr;
  const Format *accumulator = nullptr;
  /// Significand bits that the matrix unit keeps of a sum; 0 for as many as the
  /// accumulator has.
  int unitBits = 0;
  /// The number of terms that the matrix unit adds up with so few bits; 0 for
  /// all.
  int64_t unitLength = 0;

  /// Whether the matrix unit keeps fewer bits than the accumulator has.
  bool isReduced() const { return unitBits != 0; }
  /// The length of the pieces of `SumFacts::pieces`.
  int64_t pieceLength() const { return unitLength ? unitLength : 128; }
  /// Whether all of a sum of `length` terms is taken with reduced precision.
  bool isAllReduced(int64_t length) const {
    return isReduced() && (unitLength == 0 || unitLength >= length);
  }
  /// Whether the matrix unit keeps few bits of the whole of a sum, however
  /// long.
  bool isAligned() const { return isReduced() && unitLength == 0; }
  /// Significand bits to which a sum is rounded after each few terms where
  /// these are so few that its bound may exceed what a fault changes; else 0.
  int getCoarseBits() const {
    if (isAligned())
      return unitBits;
    return accumulator->precision <= 14 ? accumulator->precision : 0;
  }
  /// The unit that sums `length` terms as `Options::coarseSums` of `run`
  /// requires, which must not be `Bounded`. The sum must be coarse.
  EmulatedUnit getUnit(Run &run, int64_t length) const;
  /// Whether the sum is rounded to the program's type in the end.
  bool roundsResult() const {
    return arithmetic->precision < accumulator->precision;
  }
  /// Whether sums of integers are exact if each term is at most
  /// `largestProduct`.
  bool isExact(double largestProduct, double largestInitial,
               int64_t length) const;
  /// A bound on the loss of a sum, for any order of its terms.
  double getError(const SumFacts &facts) const;
};

/// How the sums of `op` were compiled, as in `Options::sums`. `arithmetic` is
/// the type that the program names, `operand` the wider one of the factors.
SumFormat findSumFormat(const Run &run, Operation *op, const Format &operand,
                        const Format &arithmetic);

/// "file:line:column" of an operation; empty if it has no location in a file.
std::string getSourceLocation(Operation *op);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_KERNELS_ROUNDEDSUMS_H
