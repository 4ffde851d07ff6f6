//===- Math.cpp - The functions of the math dialect -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error of a function's result is how much it varies over the interval that
// its argument may be in, and 16 roundings, which is what the libraries of the
// devices stay within.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

/// What a library function may be off by.
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

/// A function of a known argument only.
template <double (*function)(double)>
static bool plain(const Elementwise &self, const Number *in, Number &out,
                  Run &) {
  double value = function(in[0].f);
  out = Number::ofFloat(
      value, in[0].error != 0 ? unbounded : libraryError(*self.result, value));
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

static bool power(const Elementwise &self, const Number *in, Number &out,
                  Run &) {
  double value = std::pow(in[0].f, in[1].f);
  double error = libraryError(*self.result, value);
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

static bool atan2Float(const Elementwise &self, const Number *in, Number &out,
                       Run &) {
  double value = std::atan2(in[0].f, in[1].f);
  bool exact = in[0].error == 0 && in[1].error == 0;
  out = Number::ofFloat(value,
                        exact ? libraryError(*self.result, value) : unbounded);
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
  add("math.sqrt", monotone<std::sqrt>);
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
  add("math.tan", plain<std::tan>);
  add("math.cosh", plain<std::cosh>);
  add("math.floor", step<std::floor>);
  add("math.ceil", step<std::ceil>);
  add("math.trunc", step<std::trunc>);
  add("math.round", step<std::round>);
  add("math.roundeven", step<std::nearbyint>);
  add("math.absf", absolute);
  add("math.copysign", copySign);
  add("math.powf", power);
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
