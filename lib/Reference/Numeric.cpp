//===- Numeric.cpp - Numbers and their types ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numeric.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace mlir::tessera::reference;

static Format makeFloat(const llvm::fltSemantics &semantics) {
  Format format;
  format.isFloat = true;
  format.semantics = &semantics;
  format.width = llvm::APFloat::semanticsSizeInBits(semantics);
  format.precision = llvm::APFloat::semanticsPrecision(semantics);
  format.minExponent = llvm::APFloat::semanticsMinExponent(semantics);
  format.unit = std::ldexp(1.0, -format.precision);
  format.largest = llvm::APFloat::getLargest(semantics).convertToDouble();
  format.hasInfinity = llvm::APFloat::semanticsHasInf(semantics);
  format.smallestNormal = std::ldexp(1.0, format.minExponent);
  format.droppedBits = (uint64_t(1) << (53 - format.precision)) - 1;
  // Devices may flush subnormal f32 and bf16 numbers; they keep those of the
  // narrow types.
  bool mayFlush = format.minExponent <= -126;
  format.tiny = mayFlush
                    ? format.smallestNormal
                    : std::ldexp(1.0, format.minExponent - format.precision);
  return format;
}

namespace {
/// All formats, made once: pointers to them are compared and kept.
struct Formats {
  Formats() {
    for (unsigned width = 1; width <= 64; ++width) {
      signless[width].width = width;
      unsignedInts[width].width = width;
      unsignedInts[width].isUnsigned = true;
    }
    constexpr unsigned count = llvm::APFloat::S_MaxSemantics + 1;
    for (unsigned kind = 0; kind < count; ++kind) {
      const llvm::fltSemantics &semantics = llvm::APFloat::EnumToSemantics(
          static_cast<llvm::APFloat::Semantics>(kind));
      // Up to double; not the types of two parts, and none without a zero.
      bool narrow = llvm::APFloat::semanticsPrecision(semantics) <= 53 &&
                    llvm::APFloat::semanticsSizeInBits(semantics) <= 64 &&
                    llvm::APFloat::semanticsMinExponent(semantics) >= -1022 &&
                    &semantics != &llvm::APFloat::Float8E8M0FNU();
      if (narrow)
        floats[kind] = makeFloat(semantics);
    }
  }
  std::array<Format, 65> signless, unsignedInts;
  std::array<Format, llvm::APFloat::S_MaxSemantics + 1> floats;
};
} // namespace

static const Formats &formats() {
  static const Formats all;
  return all;
}

const Format *Format::get(Type type) {
  if (type.isIndex())
    return &formats().signless[64];
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() < 1 || integer.getWidth() > 64)
      return nullptr;
    return integer.isUnsigned() ? &formats().unsignedInts[integer.getWidth()]
                                : &formats().signless[integer.getWidth()];
  }
  if (auto floating = dyn_cast<FloatType>(type)) {
    const Format &format = formats().floats[llvm::APFloat::SemanticsToEnum(
        floating.getFloatSemantics())];
    return format.semantics ? &format : nullptr;
  }
  return nullptr;
}

const Format &Format::f64() {
  return formats().floats[llvm::APFloat::S_IEEEdouble];
}

const Format *Format::ofPrecision(int bits) {
  for (auto kind : {llvm::APFloat::S_IEEEhalf, llvm::APFloat::S_IEEEsingle,
                    llvm::APFloat::S_IEEEdouble})
    if (formats().floats[kind].precision == bits)
      return &formats().floats[kind];
  return nullptr;
}

const Format &Format::index() { return formats().signless[64]; }

double Format::round(double value) const {
  if (precision >= 53 || value == 0 || !std::isfinite(value))
    return value;
  double rounded = unbounded;
  if (std::fabs(value) < 2 * largest) {
    // An addition rounds to a multiple of the unit in the last place of its
    // sum: 1.5 * 2^52 units, which is the middle of their binade.
    auto exponent =
        static_cast<int>(llvm::bit_cast<uint64_t>(value) >> 52 & 0x7ff) - 1023;
    int unit = std::max(exponent, minExponent) - (precision - 1);
    double middle = llvm::bit_cast<double>(
        static_cast<uint64_t>(1023 + 52 + unit) << 52 | uint64_t(1) << 51);
    rounded = std::copysign(value + middle - middle, value);
  }
  if (std::fabs(rounded) <= largest)
    return rounded;
  return hasInfinity ? std::copysign(unbounded, value)
                     : std::numeric_limits<double>::quiet_NaN();
}

double Format::ulps(double a, double b) const {
  if (!isFloat)
    return std::fabs(a - b);
  // Numbers counted from zero on: those with the smallest exponent, subnormal
  // ones included, then 2^(precision - 1) for each exponent.
  auto ordinal = [&](double value) {
    double magnitude = std::min(std::fabs(value), largest);
    if (magnitude == 0)
      return int64_t(0);
    int exponent = std::max(std::ilogb(magnitude), minExponent);
    auto steps =
        static_cast<int64_t>(std::ldexp(magnitude, precision - 1 - exponent));
    int64_t number = (int64_t(exponent - minExponent) << (precision - 1)) +
                     steps + std::isinf(value);
    return value < 0 ? -number : number;
  };
  int64_t first = ordinal(a), second = ordinal(b);
  // With opposite signs, the difference may not fit int64_t.
  return (first < 0) == (second < 0)
             ? std::fabs(static_cast<double>(first - second))
             : std::fabs(static_cast<double>(first) -
                         static_cast<double>(second));
}

double tessera::reference::accumulationError(const Format &accumulator,
                                             int64_t length, double magnitude,
                                             double peak) {
  if (peak > accumulator.largest)
    return unbounded;
  double unit = accumulator.unit;
  double terms = static_cast<double>(length);
  // The worst case, for units that truncate.
  double worst = 2 * unit * (terms + 1) * (magnitude + peak);
  // Each addition loses up to a unit of the partial sum. Most of these losses
  // are independent and add up like a random walk; truncation also drifts, by
  // one step for each few terms (matrix units add those at once). Partial sums
  // are as large as the peak, or as a sum of terms with random signs.
  double likely =
      unit * (6 * magnitude + (3 * std::sqrt(terms) + terms / 4 + 4) * peak);
  return std::min(worst, likely) + accumulator.tiny;
}

double tessera::reference::tf32Error(int64_t length, double magnitude,
                                     double result) {
  // 10 bits of mantissa, and units may truncate.
  constexpr double step = 1.0 / 1024;
  double worst = 2 * step * magnitude;
  double likely =
      2 * step * std::fabs(result) +
      8 * step * magnitude /
          std::sqrt(static_cast<double>(std::max<int64_t>(length, 1)));
  return std::min(worst, likely);
}
