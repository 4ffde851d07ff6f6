//===- Numeric.h - Numbers and their types ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_NUMERIC_H
#define LIB_REFERENCE_NUMERIC_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace mlir::tessera::reference {

/// The error of a value about which nothing is known.
inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A scalar while the program runs: `f` for floating-point types, `i` for
/// integers and index. An integer is kept sign-extended from its width, an i1
/// and unsigned types zero-extended.
struct Number {
  union {
    double f;
    int64_t i;
  };
  double error;
  /// A float may be the infinity of its sign because an operation overflowed.
  /// Otherwise it is off by at most this. Then `error` is unbounded. Arrays do
  /// not keep it.
  double errorIfFinite = unbounded;

  static Number ofFloat(double value, double error = 0) {
    Number number;
    number.f = value;
    number.error = error;
    return number;
  }
  static Number ofInt(int64_t value, double error = 0) {
    Number number;
    number.i = value;
    number.error = error;
    return number;
  }
};

/// How a scalar type represents numbers.
struct Format {
  bool isFloat = false;
  bool isUnsigned = false;
  unsigned width = 64;
  /// The rest is for floating-point types. Bits in the significand:
  int precision = 53;
  int minExponent = -1022;
  /// Half of the distance from 1 to the next number.
  double unit = 0;
  /// The error of a result that is tiny or flushed to zero.
  double tiny = 0;
  double largest = 0;
  bool hasInfinity = true;
  /// Bits of a double's significand that this type drops.
  uint64_t droppedBits = 0;
  double smallestNormal = 0;
  const llvm::fltSemantics *semantics = nullptr;

  /// Null for what the reference has no numbers for.
  static const Format *get(Type type);
  static const Format &f64();
  /// f16, f32 or f64, by the bits in the significand; null for another number.
  static const Format *ofPrecision(int bits);
  static const Format &index();

  /// Whether a number of this type can be exactly `value`.
  bool holds(double value) const {
    if (value == 0 || !std::isfinite(value))
      return true;
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    double magnitude = std::fabs(value);
    return (bits & droppedBits) == 0 && magnitude >= smallestNormal &&
           magnitude <= largest;
  }
  /// A bound on the loss of rounding `value` to this type.
  double rounding(double value) const {
    if (holds(value))
      return 0;
    double magnitude = std::fabs(value);
    return magnitude > largest ? unbounded : unit * magnitude + tiny;
  }
  /// A bound on the loss of an operation of this type whose result in double is
  /// `value`, itself off by `residual`: a device that takes the operations of
  /// f64 in another order rounds otherwise.
  double rounding(double value, double residual) const {
    if (precision >= 53 && residual != 0 && std::isfinite(value))
      return unit * std::fabs(value) + tiny;
    return rounding(value);
  }
  /// `value` rounded to nearest, ties to even.
  double round(double value) const;
  /// How many steps from one number of the type to the next lead from `a` to
  /// `b`, which must be numbers of the type other than NaN; an infinity follows
  /// the largest number. For integers, the difference.
  double ulps(double a, double b) const;

  /// An integer wrapped to the width, and as it is kept in a `Number`.
  int64_t wrap(int64_t value) const {
    if (width >= 64)
      return value;
    return width == 1 || isUnsigned ? unsignedValue(value) : signedValue(value);
  }
  int64_t signedValue(int64_t value) const {
    unsigned shift = 64 - width;
    return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
  }
  uint64_t unsignedValue(int64_t value) const {
    unsigned shift = 64 - width;
    return static_cast<uint64_t>(value) << shift >> shift;
  }
};

/// A bound on the loss of a sum of `length` terms that is accumulated in some
/// order in the format `accumulator`: `magnitude` bounds the sum of the terms'
/// absolute values, `peak` is the largest partial sum seen.
double accumulationError(const Format &accumulator, int64_t length,
                         double magnitude, double peak);

/// The same for the rounding of the operands to tf32.
double tf32Error(int64_t length, double magnitude, double result);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_NUMERIC_H
