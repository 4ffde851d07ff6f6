//===- Math.cpp - The functions of the math dialect -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error of a function's result is its variation over the interval of its
// argument, plus 16 roundings, a limit that the libraries of the devices
// observe; fewer for powers and angles.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

/// A bound on the error of a library function.
static double libraryError(const Format &format, double value) {
  return std::isfinite(value)
             ? 16 * (format.unit * std::fabs(value) + format.tiny)
             : 0;
}

/// How much a monotone function varies around `in`.
template <typename F>
static double variation(F function, const Number &in, double value) {
  if (in.error == 0)
    return 0;
  double above = function(in.f + in.error), below = function(in.f - in.error);
  // Certain, whatever the argument is within its bound.
  if (above == value && below == value)
    return 0;
  if (std::isnan(above) && std::isnan(below) && std::isnan(value))
    return in.error < unbounded ? 0 : unbounded;
  double error = std::max(std::fabs(above - value), std::fabs(below - value));
  return std::isnan(error) || std::isnan(above) || std::isnan(below) ? unbounded
                                                                     : error;
}

template <double (*function)(double)>
static bool monotone(const Elementwise &self, const Number *in, Number &out,
                     Run &) {
  double value = function(in[0].f);
  out = Number::ofFloat(value, variation(function, in[0], value) +
                                   libraryError(*self.result, value));
  return true;
}

/// A function whose result is exact.
template <double (*function)(double)>
static bool step(const Elementwise &, const Number *in, Number &out, Run &) {
  double value = function(in[0].f);
  out = Number::ofFloat(value, variation(function, in[0], value));
  return true;
}

/// A function with a slope of at most 1, between -1 and 1.
template <double (*function)(double)>
static bool wave(const Elementwise &self, const Number *in, Number &out,
                 Run &) {
  double value = function(in[0].f);
  out = Number::ofFloat(value,
                        std::min(2.0, in[0].error) + 16 * self.result->unit);
  return true;
}

/// Increases between its poles, which are pi apart.
static bool tangent(const Elementwise &self, const Number *in, Number &out,
                    Run &) {
  double value = std::tan(in[0].f);
  double error = libraryError(*self.result, value);
  if (in[0].error != 0) {
    double above = std::tan(in[0].f + in[0].error),
           below = std::tan(in[0].f - in[0].error);
    bool hasPole = !(in[0].error < 1.5 && above >= value && value >= below);
    error += hasPole ? unbounded : std::max(above - value, value - below);
  }
  out = Number::ofFloat(value, error);
  return true;
}

/// Whether a value cannot be negative, by the op that makes it.
static bool isNonNegative(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  StringRef name = op->getName().getStringRef();
  if (name == "arith.mulf")
    return op->getOperand(0) == op->getOperand(1);
  if (name == "arith.addf")
    return isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1));
  return name == "math.absf" || name == "math.exp" || name == "math.exp2";
}

/// A root of a number that cannot be negative, though its error bound is larger
/// than it is, has a bound.
static bool squareRoot(const Elementwise &self, const Number *in, Number &out,
                       Run &run) {
  if (!(in[0].error > in[0].f) || in[0].f < 0 || !self.op ||
      !isNonNegative(self.op->getOperand(0)))
    return monotone<std::sqrt>(self, in, out, run);
  double value = std::sqrt(in[0].f), above = std::sqrt(in[0].f + in[0].error);
  out = Number::ofFloat(value, std::max(value, above - value) +
                                   libraryError(*self.result, above));
  return true;
}

static double rsqrt(double x) { return 1 / std::sqrt(x); }

static bool absolute(const Elementwise &, const Number *in, Number &out,
                     Run &) {
  out = Number::ofFloat(std::fabs(in[0].f), in[0].error);
  return true;
}

static bool copySign(const Elementwise &, const Number *in, Number &out,
                     Run &) {
  out = Number::ofFloat(std::copysign(in[0].f, in[1].f), in[0].error);
  if (in[1].error != 0 && !(std::fabs(in[1].f) > in[1].error))
    out.error += 2 * std::fabs(in[0].f);
  return true;
}

/// A bound on the error of an expansion that is good to 2 units in the last
/// place (lib/Dialect/Tessera/Transforms/ExpandPower.cpp): a unit in the last
/// place is up to two of the format's. Angles need a division, which Vulkan
/// permits 2.5 units in the last place.
static double expansionError(const Format &format, double value, double units) {
  return std::isfinite(value)
             ? units * (format.unit * std::fabs(value) + format.tiny)
             : 0;
}

/// x^n by repeated squaring, modulo the width. A negative exponent's result is
/// rounded to zero; that of 0 is 0.
static bool integerPower(const Elementwise &self, const Number *in, Number &out,
                         Run &) {
  int64_t x = in[0].i, n = in[1].i;
  uint64_t result = 1;
  if (n < 0) {
    result = x == 1 ? 1 : x == -1 ? (n % 2 ? ~uint64_t(0) : 1) : 0;
  } else {
    for (uint64_t square = static_cast<uint64_t>(x); n != 0;
         n >>= 1, square *= square)
      if (n & 1)
        result *= square;
  }
  out = Number::ofInt(self.result->wrap(static_cast<int64_t>(result)),
                      in[0].error != 0 || in[1].error != 0 ? unbounded : 0);
  return true;
}

static bool power(const Elementwise &self, const Number *in, Number &out,
                  Run &) {
  double value = std::pow(in[0].f, in[1].f);
  double error = expansionError(*self.result, value, 4);
  if (in[0].error != 0 || in[1].error != 0) {
    for (double x : {in[0].f - in[0].error, in[0].f + in[0].error})
      for (double y : {in[1].f - in[1].error, in[1].f + in[1].error}) {
        double corner = std::fabs(std::pow(x, y) - value);
        error = std::isnan(corner) ? unbounded : std::max(error, corner);
      }
    error *= 2;
  }
  out = Number::ofFloat(value, error);
  return true;
}

/// A power with an integer exponent, which may be rounded to the type of the
/// result.
static bool powerOfInteger(const Elementwise &self, const Number *in,
                           Number &out, Run &) {
  int64_t n = in[1].i;
  auto raise = [n](double x) {
    double magnitude = std::pow(std::fabs(x), static_cast<double>(n));
    return n % 2 != 0 && std::signbit(x) ? -magnitude : magnitude;
  };
  double value = raise(in[0].f);
  double error = expansionError(*self.result, value, 4);
  if (std::isfinite(value) && value != 0)
    error += std::fabs(value * std::log(std::fabs(in[0].f)) *
                       static_cast<double>(n) * self.result->unit);
  if (in[0].error != 0)
    for (double x : {in[0].f - in[0].error, in[0].f + in[0].error}) {
      double end = std::fabs(raise(x) - value);
      error = std::isnan(end) ? unbounded : std::max(error, 2 * end);
    }
  out = Number::ofFloat(value, in[1].error != 0 ? unbounded : error);
  return true;
}

static bool atan2Float(const Elementwise &self, const Number *in, Number &out,
                       Run &) {
  double value = std::atan2(in[0].f, in[1].f);
  double error = expansionError(*self.result, value, 8);
  if (in[0].error != 0 || in[1].error != 0) {
    // The angle at which a disk around the point is seen, unless it has the
    // origin in it or crosses the cut.
    double radius = std::hypot(in[0].error, in[1].error),
           distance = std::hypot(in[0].f, in[1].f);
    bool crossesCut =
        in[1].f - in[1].error < 0 && std::fabs(in[0].f) <= in[0].error;
    error += !(radius < distance) || crossesCut ? unbounded
                                                : std::asin(radius / distance);
  }
  out = Number::ofFloat(value, error);
  return true;
}

static bool clampFloat(const Elementwise &self, const Number *in, Number &out,
                       Run &run) {
  Number pair[2] = {in[0], in[1]}, raised;
  if (!maximumFloat(self, pair, raised, run))
    return false;
  Number second[2] = {raised, in[2]};
  return minimumFloat(self, second, out, run);
}

template <bool (*function)(double)>
static bool classify(const Elementwise &, const Number *in, Number &out,
                     Run &) {
  out = Number::ofInt(function(in[0].f));
  return true;
}
static bool isNaN(double x) { return std::isnan(x); }
static bool isInfinite(double x) { return std::isinf(x); }
static bool isFinite(double x) { return std::isfinite(x); }

static bool absoluteInteger(const Elementwise &self, const Number *in,
                            Number &out, Run &) {
  uint64_t value = static_cast<uint64_t>(in[0].i);
  out = Number::ofInt(
      self.result->wrap(static_cast<int64_t>(in[0].i < 0 ? 0 - value : value)),
      in[0].error);
  return true;
}

template <unsigned (*function)(uint64_t, unsigned)>
static bool countBits(const Elementwise &self, const Number *in, Number &out,
                      Run &) {
  uint64_t value = self.inputs[0]->unsignedValue(in[0].i);
  out = Number::ofInt(function(value, self.inputs[0]->width),
                      in[0].error != 0 ? unbounded : 0);
  return true;
}
static unsigned leadingZeros(uint64_t value, unsigned width) {
  return llvm::countl_zero(value) - (64 - width);
}
static unsigned trailingZeros(uint64_t value, unsigned width) {
  return std::min<unsigned>(llvm::countr_zero(value), width);
}
static unsigned onesIn(uint64_t value, unsigned) {
  return llvm::popcount(value);
}

void tessera::reference::addMathHandlers(Registry &registry) {
  auto add = [&](StringRef name, Elementwise::Function function) {
    registry.addNamed(name, [function](Operation *op, Scope &scope) {
      return makeElementwise(op, scope, function);
    });
  };
  add("math.exp", monotone<std::exp>);
  add("math.exp2", monotone<std::exp2>);
  add("math.expm1", monotone<std::expm1>);
  add("math.log", monotone<std::log>);
  add("math.log2", monotone<std::log2>);
  add("math.log10", monotone<std::log10>);
  add("math.log1p", monotone<std::log1p>);
  add("math.sqrt", squareRoot);
  add("math.rsqrt", monotone<rsqrt>);
  add("math.cbrt", monotone<std::cbrt>);
  add("math.tanh", monotone<std::tanh>);
  add("math.erf", monotone<std::erf>);
  add("math.erfc", monotone<std::erfc>);
  add("math.sinh", monotone<std::sinh>);
  add("math.asin", monotone<std::asin>);
  add("math.acos", monotone<std::acos>);
  add("math.atan", monotone<std::atan>);
  add("math.asinh", monotone<std::asinh>);
  add("math.acosh", monotone<std::acosh>);
  add("math.atanh", monotone<std::atanh>);
  add("math.sin", wave<std::sin>);
  add("math.cos", wave<std::cos>);
  add("math.tan", tangent);
  // Even and convex: it varies most at the end that is further from 0.
  add("math.cosh", monotone<std::cosh>);
  add("math.floor", step<std::floor>);
  add("math.ceil", step<std::ceil>);
  add("math.trunc", step<std::trunc>);
  add("math.round", step<std::round>);
  add("math.roundeven", step<std::nearbyint>);
  add("math.absf", absolute);
  add("math.copysign", copySign);
  add("math.powf", power);
  add("math.fpowi", powerOfInteger);
  add("math.ipowi", integerPower);
  add("math.atan2", atan2Float);
  add("math.fma", fuseMultiplyAdd);
  add("math.clampf", clampFloat);
  add("math.isnan", classify<isNaN>);
  add("math.isinf", classify<isInfinite>);
  add("math.isfinite", classify<isFinite>);
  add("math.absi", absoluteInteger);
  add("math.ctlz", countBits<leadingZeros>);
  add("math.cttz", countBits<trailingZeros>);
  add("math.ctpop", countBits<onesIn>);
}
