//===- RoundedNumber.h - Floats rounded to few integers ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_ROUNDEDNUMBER_H
#define DIALECT_TESSERA_UTILS_ROUNDEDNUMBER_H

#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace mlir::tessera {

/// min(max(roundeven(number) + offset, low), high), all but the number, an f32
/// or a vector, constant integers of few bits. Without an offset, the number
/// may be rounded after it is limited.
struct RoundedNumber {
  Value number;
  double offset = 0, low = 0, high = 0;
};

/// The number that `value` was rounded from: a conversion to an integer of at
/// most 16 bits, or `arith.trunci` of one to i32.
std::optional<RoundedNumber> matchRoundedInteger(Value value);

/// A constant f32, or the one number of a constant vector, that is an integer
/// of few bits: its sums with bytes and 1.5 * 2^23 are exact.
std::optional<double> matchFewBits(Value value);

/// The last bit of a float between 2^23 and 2^24 is worth 1: the addition of
/// 1.5 * 2^23 rounds numbers of less than 2^22.
inline constexpr float roundingAddend = 12582912.0f;

/// A constant of the f32 type `type`, or of a vector of them.
Value createF32(OpBuilder &builder, Location loc, Type type, double value);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_ROUNDEDNUMBER_H
