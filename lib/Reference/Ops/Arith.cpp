//===- Arith.cpp - Scalar and element-wise arithmetic ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

//===----------------------------------------------------------------------===//
// Element-wise instructions
//===----------------------------------------------------------------------===//

/// A NaN or an infinity that follows from operands that are certain is certain
/// too, whatever the error analysis of the function gives.
static void settle(const Elementwise &element, ArrayRef<Number> in,
                   Number &out) {
  if (!element.result->isFloat || std::isfinite(out.f) || out.error == 0)
    return;
  bool hasNaN = false, hasInfinity = false, hasSigns = true;
  for (auto [number, format] : llvm::zip(in, element.inputs)) {
    if (!format->isFloat) {
      if (number.error != 0)
        return;
      continue;
    }
    if (number.error == unbounded)
      return;
    hasNaN |= std::isnan(number.f);
    hasInfinity |= std::isinf(number.f);
    hasSigns &= number.error == 0 || std::fabs(number.f) > number.error;
  }
  if (hasNaN ? std::isnan(out.f) : hasInfinity && hasSigns && std::isinf(out.f))
    out.error = 0;
}

/// The error of a float, assuming that it is finite, if it may also be the
/// infinity of its sign; unbounded for any other number.
static double getErrorIfFinite(const Number &number, const Format &format) {
  if (!format.isFloat || !format.hasInfinity || !std::isfinite(number.f))
    return unbounded;
  double magnitude = std::fabs(number.f);
  bool mayOverflow = number.error != 0 && number.error < magnitude &&
                     magnitude + number.error > format.largest;
  return mayOverflow ? number.error : number.errorIfFinite;
}

/// Extends the bound of `out` to `other`, which a device may compute instead.
static void widen(Number &out, const Number &other, const Format &format) {
  if (!format.isFloat) {
    double distance =
        std::fabs(static_cast<double>(out.i) - static_cast<double>(other.i));
    out.error = std::max(out.error, distance + other.error);
    return;
  }
  bool areSame = out.f == other.f || (std::isnan(out.f) && std::isnan(other.f));
  if (areSame && out.error == other.error)
    return;
  if (std::isinf(other.f) && other.error == 0 && std::isfinite(out.f) &&
      std::signbit(out.f) == std::signbit(other.f)) {
    if (out.error < unbounded)
      out.errorIfFinite = out.error;
    out.error = unbounded;
    return;
  }
  double distance = std::fabs(out.f - other.f) + other.error;
  out.error =
      std::isfinite(distance) ? std::max(out.error, distance) : unbounded;
  if (out.error == unbounded)
    out.errorIfFinite = unbounded;
}

/// Applies the function. An operand that may have overflowed is also taken as
/// an infinity.
static bool apply(const Elementwise &element, ArrayRef<Number> in, Number &out,
                  Run &run) {
  unsigned mayBeInfinite = 0;
  for (auto [i, number] : llvm::enumerate(in))
    if (getErrorIfFinite(number, *element.inputs[i]) < unbounded)
      mayBeInfinite |= 1u << i;
  if (mayBeInfinite == 0) {
    if (!element.function(element, in.data(), out, run))
      return false;
    settle(element, in, out);
    return true;
  }
  Number finite[3];
  for (auto [i, number] : llvm::enumerate(in)) {
    finite[i] = number;
    finite[i].errorIfFinite = unbounded;
    if (mayBeInfinite >> i & 1)
      finite[i].error = getErrorIfFinite(number, *element.inputs[i]);
  }
  ArrayRef<Number> allFinite(finite, in.size());
  if (!element.function(element, finite, out, run))
    return false;
  settle(element, allFinite, out);
  for (unsigned set = 1; set <= mayBeInfinite; ++set) {
    if ((set & ~mayBeInfinite) != 0)
      continue;
    Number numbers[3], other;
    for (size_t i = 0; i < in.size(); ++i)
      numbers[i] = set >> i & 1
                       ? Number::ofFloat(std::copysign(unbounded, finite[i].f))
                       : finite[i];
    if (!element.function(element, numbers, other, run))
      return false;
    settle(element, ArrayRef(numbers, in.size()), other);
    widen(out, other, *element.result);
  }
  return true;
}

/// `op` computes `resultValue`, one of its results, by the function.
static InstrPtr makeElementwiseResult(Operation *op, Scope &scope,
                                      Elementwise::Function function,
                                      int64_t attribute, Value resultValue) {
  if (op->getNumOperands() > 3 || op->getNumOperands() == 0)
    return nullptr;
  Elementwise element;
  element.function = function;
  element.attribute = attribute;
  element.op = op;
  element.result = getFormat(resultValue.getType());
  std::array<Slot, 3> inputs;
  unsigned count = op->getNumOperands();
  for (unsigned i = 0; i < count; ++i) {
    element.inputs[i] = getFormat(op->getOperand(i).getType());
    if (!element.inputs[i])
      return nullptr;
    inputs[i] = scope.slot(op->getOperand(i));
  }
  Slot result = scope.define(resultValue);
  if (!element.result)
    return nullptr;
  if (!result.isView)
    return makeInstr([=](Frame &frame) {
      Number values[3];
      for (unsigned i = 0; i < count; ++i)
        values[i] = frame.number(inputs[i]);
      Number value;
      if (!apply(element, ArrayRef(values, count), value, *frame.run))
        return false;
      frame.number(result) = value;
      return true;
    });
  return makeInstr([=](Frame &frame) {
    const View *shape = nullptr;
    for (unsigned i = 0; i < count && !shape; ++i)
      if (inputs[i].isView)
        shape = frame.view(inputs[i]).get();
    if (!shape)
      return frame.run->error(op, "no operand is shaped");
    for (unsigned i = 0; i < count; ++i)
      if (inputs[i].isView && frame.view(inputs[i])->sizes != shape->sizes)
        return frame.run->error(op, "the operand shapes differ");
    ViewRef output = View::make(*element.result, shape->sizes);
    int64_t size = output->storage->size();
    if (!frame.run->spend(size * 8, op))
      return false;
    for (int64_t at = 0; at < size; ++at) {
      Number values[3], value;
      for (unsigned i = 0; i < count; ++i) {
        if (!inputs[i].isView) {
          values[i] = frame.number(inputs[i]);
          continue;
        }
        const View &view = *frame.view(inputs[i]);
        values[i] = view.load(view.addressOf(at));
      }
      if (!apply(element, ArrayRef(values, count), value, *frame.run))
        return false;
      output->store(at, value);
    }
    frame.view(result) = std::move(output);
    return true;
  });
}

InstrPtr tessera::reference::makeElementwise(Operation *op, Scope &scope,
                                             Elementwise::Function function,
                                             int64_t attribute) {
  return op->getNumResults() == 1
             ? makeElementwiseResult(op, scope, function, attribute,
                                     op->getResult(0))
             : nullptr;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// The rounding error of `sum`, a + b in double (Knuth's TwoSum).
static double sumResidual(double a, double b, double sum) {
  double partB = sum - a, partA = sum - partB;
  return (a - partA) + (b - partB);
}

/// The rounding error of `product`, a * b in double.
static double productResidual(double a, double b, double product) {
  return std::fma(a, b, -product);
}

/// A bound on the loss of rounding a result near `value`, given the `error`
/// that it has from its operands; double is off by `residual`. If there is an
/// error, a device rounds another number: the type may represent `value` but
/// not that number.
static double roundingNear(const Format &format, double value, double error,
                           double residual) {
  double magnitude = std::fabs(value);
  if (error == 0 || !(magnitude <= format.largest))
    return format.rounding(value, residual);
  return format.unit * (magnitude + error) + format.tiny;
}

/// The result `value` of an operation whose operands make it off by `error` and
/// that loses `residual` in double. It may overflow.
static Number roundResult(const Format &format, double value, double error,
                          double residual) {
  Number out = Number::ofFloat(
      value, error + roundingNear(format, value, error, residual));
  double magnitude = std::fabs(value);
  if (format.hasInfinity && std::isfinite(value) &&
      magnitude > format.largest && error < magnitude)
    out.errorIfFinite = error + format.unit * magnitude + format.tiny;
  return out;
}

bool tessera::reference::addFloats(const Elementwise &self, const Number *in,
                                   Number &out, Run &) {
  double value = in[0].f + in[1].f;
  out = roundResult(*self.result, value, in[0].error + in[1].error,
                    sumResidual(in[0].f, in[1].f, value));
  return true;
}

bool tessera::reference::subtractFloats(const Elementwise &self,
                                        const Number *in, Number &out, Run &) {
  double value = in[0].f - in[1].f;
  out = roundResult(*self.result, value, in[0].error + in[1].error,
                    sumResidual(in[0].f, -in[1].f, value));
  return true;
}

/// The error of a * b that follows from the errors of the factors.
static double productError(double a, double errorA, double b, double errorB) {
  double error = 0;
  if (errorA != 0)
    error += errorA * std::fabs(b);
  if (errorB != 0)
    error += errorB * (std::fabs(a) + errorA);
  return error;
}

bool tessera::reference::multiplyFloats(const Elementwise &self,
                                        const Number *in, Number &out, Run &) {
  double value = in[0].f * in[1].f;
  out = roundResult(*self.result, value,
                    productError(in[0].f, in[0].error, in[1].f, in[1].error),
                    productResidual(in[0].f, in[1].f, value));
  return true;
}

/// A number that a value is never below, by the ops that make it and however
/// they round; -infinity where nothing is known. `depth` is the number of ops
/// to visit in a chain. A NaN is below nothing.
static double getLowerBound(Value value, unsigned depth = 6) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return -unbounded;
  auto ofOperand = [&](unsigned index) {
    return getLowerBound(op->getOperand(index), depth - 1);
  };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<FloatAttr>(constant.getValue());
    return number ? number.getValueAsDouble() : -unbounded;
  }
  // Rounding to a type of few bits may make a positive number smaller.
  constexpr double down = 1 - 0x1p-2;
  StringRef name = op->getName().getStringRef();
  if (name == "arith.addf") {
    double a = ofOperand(0), b = ofOperand(1);
    return a >= 0 && b >= 0 ? down * (a + b) : -unbounded;
  }
  if (name == "arith.mulf") {
    if (op->getOperand(0) == op->getOperand(1))
      return 0;
    double a = ofOperand(0), b = ofOperand(1);
    return a >= 0 && b >= 0 ? 0 : -unbounded;
  }
  if (name == "arith.maximumf")
    return std::max(ofOperand(0), ofOperand(1));
  if (name == "arith.minimumf")
    return std::min(ofOperand(0), ofOperand(1));
  if (name == "arith.extf")
    return ofOperand(0);
  if (name == "arith.truncf")
    return ofOperand(0) >= 0 ? down * ofOperand(0) : -unbounded;
  if (name == "math.absf" || name == "math.exp" || name == "math.exp2")
    return 0;
  return -unbounded;
}

/// A bound on the error of a quotient whose divisor is at least `least`,
/// although the error of the divisor is greater than its value.
static double getBoundedQuotientError(const Number &dividend,
                                      const Number &divisor, double least,
                                      double value) {
  if (!(dividend.error < unbounded) || !(divisor.error < unbounded))
    return unbounded;
  double error = 0;
  for (double above :
       {dividend.f - dividend.error, dividend.f + dividend.error})
    for (double below : {std::max(least, divisor.f - divisor.error),
                         divisor.f + divisor.error})
      error = std::max(error, std::fabs(above / below - value));
  return std::isnan(error) ? unbounded : error;
}

bool tessera::reference::divideFloats(const Elementwise &self, const Number *in,
                                      Number &out, Run &) {
  double divisor = std::fabs(in[1].f);
  double value = in[0].f / in[1].f;
  double error = 0;
  if (in[0].error != 0 || in[1].error != 0) {
    error = divisor > in[1].error
                ? (in[0].error + std::fabs(value) * in[1].error) /
                      (divisor - in[1].error)
                : unbounded;
    // Close to zero by its bound, and perhaps not in fact.
    if (self.op && 2 * in[1].error > divisor)
      if (double least = getLowerBound(self.op->getOperand(1)); least > 0)
        error = std::min(error,
                         getBoundedQuotientError(in[0], in[1], least, value));
  }
  // Devices divide to within two units in the last place.
  if (std::isfinite(value) && value != 0)
    error += 2 * (self.result->unit * std::fabs(value) + self.result->tiny);
  out = Number::ofFloat(value, error);
  return true;
}

bool tessera::reference::negateFloat(const Elementwise &, const Number *in,
                                     Number &out, Run &) {
  out = Number::ofFloat(-in[0].f, in[0].error);
  return true;
}

static bool remainderFloats(const Elementwise &self, const Number *in,
                            Number &out, Run &) {
  double value = std::fmod(in[0].f, in[1].f);
  double error = 0;
  if (in[1].error != 0) {
    error = unbounded;
  } else if (in[0].error != 0) {
    // As long as the quotient is the same.
    double divisor = std::fabs(in[1].f);
    auto quotient = [&](double x) { return std::trunc(x / divisor); };
    bool isSame = quotient(in[0].f + in[0].error) == quotient(in[0].f) &&
                  quotient(in[0].f - in[0].error) == quotient(in[0].f);
    error = isSame ? in[0].error : unbounded;
  }
  out = Number::ofFloat(value, error + self.result->rounding(value));
  return true;
}

bool tessera::reference::fuseMultiplyAdd(const Elementwise &self,
                                         const Number *in, Number &out, Run &) {
  double product = in[0].f * in[1].f;
  double value = std::fma(in[0].f, in[1].f, in[2].f);
  double lost = productResidual(in[0].f, in[1].f, product);
  double ofProduct = productError(in[0].f, in[0].error, in[1].f, in[1].error);
  // It may be computed as two operations.
  ofProduct += roundingNear(*self.result, product, ofProduct, lost);
  double error = ofProduct + in[2].error;
  out = Number::ofFloat(
      value,
      error + roundingNear(*self.result, value, error,
                           lost != 0 ? lost
                                     : sumResidual(product, in[2].f, value)));
  return true;
}

/// Whether errors leave it open which of two values is larger.
static bool isAmbiguous(double a, double b, double error) {
  return error != 0 && !(std::fabs(a - b) > error);
}

/// maximumf and minimumf: a NaN wins.
template <bool isMax>
static bool extremeOrNaN(const Elementwise &, const Number *in, Number &out,
                         Run &) {
  if (std::isnan(in[0].f) || std::isnan(in[1].f)) {
    out = Number::ofFloat(std::numeric_limits<double>::quiet_NaN());
    return true;
  }
  out = (isMax ? in[0].f >= in[1].f : in[0].f <= in[1].f) ? in[0] : in[1];
  if (isAmbiguous(in[0].f, in[1].f, in[0].error + in[1].error)) {
    // The other one is a bound, too: a number that is off by much is clamped.
    auto pick = [](double a, double b) {
      return isMax ? std::max(a, b) : std::min(a, b);
    };
    double below = pick(in[0].f - in[0].error, in[1].f - in[1].error);
    double above = pick(in[0].f + in[0].error, in[1].f + in[1].error);
    double lost = 0x1p-50 * (std::fabs(in[0].f) + std::fabs(in[1].f));
    double most = std::max(in[0].error, in[1].error);
    out.error =
        most < unbounded
            ? std::min(most, std::max(above - out.f, out.f - below) + lost)
            : unbounded;
  }
  return true;
}

/// maxnumf and minnumf: a number wins.
template <bool isMax>
static bool extremeNumber(const Elementwise &self, const Number *in,
                          Number &out, Run &run) {
  if (std::isnan(in[0].f) || std::isnan(in[1].f)) {
    out = std::isnan(in[0].f) ? in[1] : in[0];
    return true;
  }
  return extremeOrNaN<isMax>(self, in, out, run);
}

bool tessera::reference::maximumFloat(const Elementwise &self, const Number *in,
                                      Number &out, Run &run) {
  return extremeOrNaN<true>(self, in, out, run);
}

bool tessera::reference::minimumFloat(const Elementwise &self, const Number *in,
                                      Number &out, Run &run) {
  return extremeOrNaN<false>(self, in, out, run);
}

bool tessera::reference::maximumNumber(const Elementwise &self,
                                       const Number *in, Number &out,
                                       Run &run) {
  return extremeNumber<true>(self, in, out, run);
}

bool tessera::reference::minimumNumber(const Elementwise &self,
                                       const Number *in, Number &out,
                                       Run &run) {
  return extremeNumber<false>(self, in, out, run);
}

static bool compareFloats(const Elementwise &self, const Number *in,
                          Number &out, Run &) {
  double a = in[0].f, b = in[1].f;
  bool unordered = std::isnan(a) || std::isnan(b);
  bool result = false;
  using P = arith::CmpFPredicate;
  switch (static_cast<P>(self.attribute)) {
  case P::AlwaysFalse:
    break;
  case P::AlwaysTrue:
    result = true;
    break;
  case P::ORD:
    result = !unordered;
    break;
  case P::UNO:
    result = unordered;
    break;
  case P::OEQ:
    result = a == b;
    break;
  case P::OGT:
    result = a > b;
    break;
  case P::OGE:
    result = a >= b;
    break;
  case P::OLT:
    result = a < b;
    break;
  case P::OLE:
    result = a <= b;
    break;
  case P::ONE:
    result = !unordered && a != b;
    break;
  case P::UEQ:
    result = unordered || a == b;
    break;
  case P::UGT:
    result = unordered || a > b;
    break;
  case P::UGE:
    result = unordered || a >= b;
    break;
  case P::ULT:
    result = unordered || a < b;
    break;
  case P::ULE:
    result = unordered || a <= b;
    break;
  case P::UNE:
    result = unordered || a != b;
    break;
  }
  bool open = !unordered && isAmbiguous(a, b, in[0].error + in[1].error);
  out = Number::ofInt(result, open ? 1 : 0);
  return true;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Integers with errors arise where floats are converted. A bound survives
/// additions and multiplications; elsewhere nothing is known.
static double anyError(const Number *in, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (in[i].error != 0)
      return unbounded;
  return 0;
}

bool tessera::reference::addIntegers(const Elementwise &self, const Number *in,
                                     Number &out, Run &) {
  uint64_t value =
      static_cast<uint64_t>(in[0].i) + static_cast<uint64_t>(in[1].i);
  out = Number::ofInt(self.result->wrap(static_cast<int64_t>(value)),
                      in[0].error + in[1].error);
  return true;
}

bool tessera::reference::subtractIntegers(const Elementwise &self,
                                          const Number *in, Number &out,
                                          Run &) {
  uint64_t value =
      static_cast<uint64_t>(in[0].i) - static_cast<uint64_t>(in[1].i);
  out = Number::ofInt(self.result->wrap(static_cast<int64_t>(value)),
                      in[0].error + in[1].error);
  return true;
}

bool tessera::reference::multiplyIntegers(const Elementwise &self,
                                          const Number *in, Number &out,
                                          Run &) {
  uint64_t value =
      static_cast<uint64_t>(in[0].i) * static_cast<uint64_t>(in[1].i);
  out = Number::ofInt(self.result->wrap(static_cast<int64_t>(value)),
                      productError(static_cast<double>(in[0].i), in[0].error,
                                   static_cast<double>(in[1].i), in[1].error));
  return true;
}

/// The upper half of an exact result of integers, as `getUpper` computes it
/// from two numbers of 128 bits. That of uncertain operands is unknown.
template <bool isSigned, typename F>
static bool computeUpper(const Elementwise &self, const Number *in, Number &out,
                         F getUpper) {
  const Format &format = *self.inputs[0];
  auto widen = [&](const Number &number) -> __int128 {
    return isSigned ? static_cast<__int128>(format.signedValue(number.i))
                    : static_cast<__int128>(format.unsignedValue(number.i));
  };
  auto upper = static_cast<int64_t>(getUpper(widen(in[0]), widen(in[1])));
  bool isCertain = in[0].error == 0 && in[1].error == 0;
  out = Number::ofInt(self.result->wrap(upper), isCertain ? 0 : unbounded);
  return true;
}

static bool getCarry(const Elementwise &self, const Number *in, Number &out,
                     Run &) {
  return computeUpper</*isSigned=*/false>(
      self, in, out, [&](__int128 a, __int128 b) {
        return (static_cast<unsigned __int128>(a + b) >>
                self.inputs[0]->width) &
               1;
      });
}

template <bool isSigned>
static bool multiplyUpper(const Elementwise &self, const Number *in,
                          Number &out, Run &) {
  return computeUpper<isSigned>(self, in, out, [&](__int128 a, __int128 b) {
    // Without signs, the result may need all 128 bits.
    return static_cast<int64_t>(
        isSigned
            ? static_cast<unsigned __int128>(a * b) >> self.inputs[0]->width
            : static_cast<unsigned __int128>(a) *
                      static_cast<unsigned __int128>(b) >>
                  self.inputs[0]->width);
  });
}

/// An op whose results are the lower and the upper part.
static InstrPtr compileExtended(Operation *op, Scope &scope,
                                Elementwise::Function lower,
                                Elementwise::Function upper) {
  InstrPtr first = makeElementwiseResult(op, scope, lower, /*attribute=*/0,
                                         op->getResult(0)),
           second = makeElementwiseResult(op, scope, upper, /*attribute=*/0,
                                          op->getResult(1));
  if (!first || !second)
    return nullptr;
  std::shared_ptr<Instr> parts[] = {std::move(first), std::move(second)};
  return makeInstr([lower = parts[0], upper = parts[1]](Frame &frame) {
    return lower->run(frame) && upper->run(frame);
  });
}

namespace {
enum class Division { Floor, Ceil, Truncate, Remainder };
} // namespace

template <Division kind>
static bool divideSignedAs(const Elementwise &self, const Number *in,
                           Number &out, Run &run) {
  int64_t a = self.inputs[0]->signedValue(in[0].i);
  int64_t b = self.inputs[1]->signedValue(in[1].i);
  if (b == 0)
    return run.error(self.op, "division by zero");
  int64_t quotient, remainder;
  if (b == -1) {
    quotient = static_cast<int64_t>(0 - static_cast<uint64_t>(a));
    remainder = 0;
  } else {
    quotient = a / b;
    remainder = a % b;
  }
  int64_t value = quotient;
  if (kind == Division::Remainder)
    value = remainder;
  else if (kind == Division::Floor && remainder != 0 && (a < 0) != (b < 0))
    --value;
  else if (kind == Division::Ceil && remainder != 0 && (a < 0) == (b < 0))
    ++value;
  out = Number::ofInt(self.result->wrap(value), anyError(in, 2));
  return true;
}

template <Division kind>
static bool divideUnsignedAs(const Elementwise &self, const Number *in,
                             Number &out, Run &run) {
  uint64_t a = self.inputs[0]->unsignedValue(in[0].i);
  uint64_t b = self.inputs[1]->unsignedValue(in[1].i);
  if (b == 0)
    return run.error(self.op, "division by zero");
  uint64_t value = kind == Division::Remainder ? a % b : a / b;
  if (kind == Division::Ceil && a % b != 0)
    ++value;
  out = Number::ofInt(self.result->wrap(static_cast<int64_t>(value)),
                      anyError(in, 2));
  return true;
}

bool tessera::reference::divideSigned(const Elementwise &self, const Number *in,
                                      Number &out, Run &run) {
  return divideSignedAs<Division::Truncate>(self, in, out, run);
}

bool tessera::reference::divideUnsigned(const Elementwise &self,
                                        const Number *in, Number &out,
                                        Run &run) {
  return divideUnsignedAs<Division::Truncate>(self, in, out, run);
}

namespace {
enum class Bits { And, Or, Xor, ShiftLeft, ShiftRight, ShiftRightSigned };
} // namespace

template <Bits kind>
static bool combineBits(const Elementwise &self, const Number *in, Number &out,
                        Run &) {
  int64_t a = in[0].i, b = in[1].i, value = 0;
  uint64_t amount = self.inputs[1]->unsignedValue(b);
  bool outside = amount >= self.result->width;
  switch (kind) {
  case Bits::And:
    value = a & b;
    break;
  case Bits::Or:
    value = a | b;
    break;
  case Bits::Xor:
    value = a ^ b;
    break;
  case Bits::ShiftLeft:
    value =
        outside ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << amount);
    break;
  case Bits::ShiftRight:
    value =
        outside
            ? 0
            : static_cast<int64_t>(self.inputs[0]->unsignedValue(a) >> amount);
    break;
  case Bits::ShiftRightSigned:
    value = self.inputs[0]->signedValue(a) >>
            std::min<uint64_t>(amount, self.result->width - 1);
    break;
  }
  bool isShift = kind != Bits::And && kind != Bits::Or && kind != Bits::Xor;
  double error = anyError(in, 2);
  // The error of a condition is 0 (known) or 1 (not known).
  if (error != 0 && self.result->width == 1)
    error = 1;
  // The result of a shift by too much is not defined.
  out = Number::ofInt(self.result->wrap(value),
                      isShift && outside ? unbounded : error);
  return true;
}

bool tessera::reference::andIntegers(const Elementwise &self, const Number *in,
                                     Number &out, Run &run) {
  return combineBits<Bits::And>(self, in, out, run);
}

bool tessera::reference::orIntegers(const Elementwise &self, const Number *in,
                                    Number &out, Run &run) {
  return combineBits<Bits::Or>(self, in, out, run);
}

bool tessera::reference::xorIntegers(const Elementwise &self, const Number *in,
                                     Number &out, Run &run) {
  return combineBits<Bits::Xor>(self, in, out, run);
}

template <bool isMax, bool isSigned>
static bool extremeInteger(const Elementwise &self, const Number *in,
                           Number &out, Run &) {
  const Format &format = *self.result;
  bool less =
      isSigned ? format.signedValue(in[0].i) < format.signedValue(in[1].i)
               : format.unsignedValue(in[0].i) < format.unsignedValue(in[1].i);
  out = less == isMax ? in[1] : in[0];
  out.error = std::max(in[0].error, in[1].error);
  return true;
}

bool tessera::reference::maximumSigned(const Elementwise &self,
                                       const Number *in, Number &out,
                                       Run &run) {
  return extremeInteger<true, true>(self, in, out, run);
}

bool tessera::reference::minimumSigned(const Elementwise &self,
                                       const Number *in, Number &out,
                                       Run &run) {
  return extremeInteger<false, true>(self, in, out, run);
}

bool tessera::reference::maximumUnsigned(const Elementwise &self,
                                         const Number *in, Number &out,
                                         Run &run) {
  return extremeInteger<true, false>(self, in, out, run);
}

bool tessera::reference::minimumUnsigned(const Elementwise &self,
                                         const Number *in, Number &out,
                                         Run &run) {
  return extremeInteger<false, false>(self, in, out, run);
}

static bool compareIntegers(const Elementwise &self, const Number *in,
                            Number &out, Run &) {
  const Format &format = *self.inputs[0];
  int64_t a = format.signedValue(in[0].i), b = format.signedValue(in[1].i);
  uint64_t ua = format.unsignedValue(a), ub = format.unsignedValue(b);
  bool result = false;
  using P = arith::CmpIPredicate;
  switch (static_cast<P>(self.attribute)) {
  case P::eq:
    result = a == b;
    break;
  case P::ne:
    result = a != b;
    break;
  case P::slt:
    result = a < b;
    break;
  case P::sle:
    result = a <= b;
    break;
  case P::sgt:
    result = a > b;
    break;
  case P::sge:
    result = a >= b;
    break;
  case P::ult:
    result = ua < ub;
    break;
  case P::ule:
    result = ua <= ub;
    break;
  case P::ugt:
    result = ua > ub;
    break;
  case P::uge:
    result = ua >= ub;
    break;
  }
  bool open = isAmbiguous(static_cast<double>(a), static_cast<double>(b),
                          in[0].error + in[1].error);
  out = Number::ofInt(result, open ? 1 : 0);
  return true;
}

//===----------------------------------------------------------------------===//
// Select and casts
//===----------------------------------------------------------------------===//

static bool select(const Elementwise &self, const Number *in, Number &out,
                   Run &) {
  out = in[0].i ? in[1] : in[2];
  if (in[0].error == 0)
    return true;
  // Either of them.
  double distance = self.result->isFloat
                        ? std::fabs(in[1].f - in[2].f)
                        : std::fabs(static_cast<double>(in[1].i) -
                                    static_cast<double>(in[2].i));
  out.error = std::max(in[1].error, in[2].error) + distance;
  if (std::isnan(out.error))
    out.error = unbounded;
  return true;
}

Number tessera::reference::truncateFloat(const Format &to, const Number &in) {
  double value = to.round(in.f);
  double error = in.error;
  // Whether it is rounded to one neighbour or the other depends on the error.
  if (error != 0)
    error += std::isfinite(value)
                 ? std::fabs(value - in.f) +
                       2 * to.unit * (std::fabs(value) + error) + to.tiny
                 : unbounded;
  // Where there is no infinity, hardware saturates or not.
  if (std::isnan(value) && !std::isnan(in.f))
    error = unbounded;
  return Number::ofFloat(value, error);
}

static bool extendFloat(const Elementwise &, const Number *in, Number &out,
                        Run &) {
  out = in[0];
  return true;
}

static bool truncateFloatOp(const Elementwise &self, const Number *in,
                            Number &out, Run &) {
  out = truncateFloat(*self.result, in[0]);
  return true;
}

Number tessera::reference::castInteger(const Format &from, const Format &to,
                                       const Number &in, bool isUnsigned) {
  int64_t value = isUnsigned ? static_cast<int64_t>(from.unsignedValue(in.i))
                             : from.signedValue(in.i);
  return Number::ofInt(to.wrap(value), in.error);
}

Number tessera::reference::integerToFloat(const Format &from, const Format &to,
                                          const Number &in, bool isUnsigned) {
  double value = isUnsigned ? static_cast<double>(from.unsignedValue(in.i))
                            : static_cast<double>(from.signedValue(in.i));
  return truncateFloat(to, Number::ofFloat(value, in.error));
}

Number tessera::reference::floatToInteger(const Format &to, const Number &in,
                                          bool isUnsigned) {
  double low = isUnsigned ? 0 : -std::ldexp(1.0, to.width - 1);
  double high = std::ldexp(1.0, isUnsigned ? to.width : to.width - 1);
  double value = std::trunc(in.f);
  // Not defined, so anything will do.
  if (!(value >= low && value < high))
    return Number::ofInt(0, unbounded);
  double error = 0;
  if (in.error != 0)
    error = std::max(std::fabs(std::trunc(in.f + in.error) - value),
                     std::fabs(std::trunc(in.f - in.error) - value));
  int64_t integer = value < 9223372036854775808.0
                        ? static_cast<int64_t>(value)
                        : static_cast<int64_t>(static_cast<uint64_t>(value));
  return Number::ofInt(to.wrap(integer), error);
}

template <bool isUnsigned>
static bool castIntegerOp(const Elementwise &self, const Number *in,
                          Number &out, Run &) {
  out = castInteger(*self.inputs[0], *self.result, in[0], isUnsigned);
  return true;
}

template <bool isUnsigned>
static bool integerToFloatOp(const Elementwise &self, const Number *in,
                             Number &out, Run &) {
  out = integerToFloat(*self.inputs[0], *self.result, in[0], isUnsigned);
  return true;
}

template <bool isUnsigned>
static bool floatToIntegerOp(const Elementwise &self, const Number *in,
                             Number &out, Run &) {
  out = floatToInteger(*self.result, in[0], isUnsigned);
  return true;
}

static bool bitcast(const Elementwise &self, const Number *in, Number &out,
                    Run &) {
  const Format &from = *self.inputs[0], &to = *self.result;
  uint64_t bits;
  bool exact = in[0].error == 0;
  if (from.isFloat) {
    llvm::APFloat value(in[0].f);
    bool losesInfo = false;
    value.convert(*from.semantics, llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
    bits = value.bitcastToAPInt().getZExtValue();
  } else {
    bits = from.unsignedValue(in[0].i);
  }
  if (to.isFloat) {
    llvm::APFloat value(*to.semantics, llvm::APInt(to.width, bits));
    out = Number::ofFloat(value.convertToDouble());
  } else {
    out = Number::ofInt(to.wrap(static_cast<int64_t>(bits)));
  }
  out.error = exact ? 0 : unbounded;
  return true;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

ViewRef tessera::reference::makeDense(DenseElementsAttr elements) {
  const Format *format = Format::get(elements.getElementType());
  if (!format)
    return nullptr;
  ViewRef view = View::make(*format, elements.getType().getShape());
  int64_t at = 0;
  if (format->isFloat) {
    for (const llvm::APFloat &value : elements.getValues<llvm::APFloat>()) {
      llvm::APFloat wide = value;
      bool losesInfo;
      wide.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      view->storage->floats()[at++] = wide.convertToDouble();
    }
  } else {
    for (const llvm::APInt &value : elements.getValues<llvm::APInt>())
      view->storage->integers()[at++] = format->wrap(
          static_cast<int64_t>(value.zextOrTrunc(64).getZExtValue()));
  }
  return view;
}

/// The elements of a blob, or null if it is absent or of another size.
static ViewRef makeResource(DenseResourceElementsAttr resource) {
  Type element = resource.getElementType();
  const Format *format = Format::get(element);
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  unsigned bits = format ? element.getIntOrFloatBitWidth() : 0;
  if (!blob || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return nullptr;
  ArrayRef<char> data = blob->getData();
  auto count = static_cast<size_t>(resource.getType().getNumElements());
  size_t width = bits / 8;
  if (data.size() != count * width)
    return nullptr;
  ViewRef view = View::make(*format, resource.getType().getShape());
  for (size_t at = 0; at < count; ++at) {
    uint64_t raw = 0;
    std::memcpy(&raw, data.data() + at * width, width);
    if (!format->isFloat) {
      view->storage->integers()[at] = format->wrap(static_cast<int64_t>(raw));
    } else if (bits == 32) {
      float number;
      std::memcpy(&number, data.data() + at * width, width);
      view->storage->floats()[at] = number;
    } else {
      llvm::APFloat wide(cast<FloatType>(element).getFloatSemantics(),
                         llvm::APInt(bits, raw));
      bool losesInfo;
      wide.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      view->storage->floats()[at] = wide.convertToDouble();
    }
  }
  return view;
}

static InstrPtr makeConstant(Operation *op, Attribute attribute, Scope &scope) {
  Value constant = op->getResult(0);
  Slot result = scope.define(constant);
  if (!result.isView) {
    const Format *format = getFormat(constant.getType());
    if (!format)
      return nullptr;
    Number value = getConstant(attribute, *format);
    return makeInstr([=](Frame &frame) {
      frame.number(result) = value;
      return true;
    });
  }
  auto elements = dyn_cast<DenseElementsAttr>(attribute);
  // Zeros between the elements that are listed.
  if (auto sparse = dyn_cast<SparseElementsAttr>(attribute))
    elements = DenseElementsAttr::get(
        sparse.getType(), llvm::to_vector(sparse.getValues<Attribute>()));
  ViewRef view = elements ? makeDense(elements) : nullptr;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    view = makeResource(resource);
  if (!view)
    return nullptr;
  return makeInstr([=](Frame &frame) {
    frame.view(result) = view;
    return true;
  });
}

/// A scalar or a vector of LLVM's dialect.
static InstrPtr compileLLVMConstant(Operation *op, Scope &scope) {
  Attribute value = op->getAttr("value");
  if (!isa_and_present<IntegerAttr, FloatAttr, DenseElementsAttr>(value) ||
      (!isNumber(op->getResult(0).getType()) && !isa<DenseElementsAttr>(value)))
    return nullptr;
  return makeConstant(op, value, scope);
}

/// select with one condition for whole tensors and memrefs, too.
static InstrPtr compileSelect(arith::SelectOp op, Scope &scope) {
  bool isWhole =
      !isNumber(op.getType()) && isNumber(op.getCondition().getType());
  if (!isWhole && (isNumber(op.getType()) || !isa<MemRefType>(op.getType())))
    return makeElementwise(op, scope, select);
  Slot condition = scope.slot(op.getCondition());
  Slot yes = scope.slot(op.getTrueValue()), no = scope.slot(op.getFalseValue());
  Slot result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    assign(frame, result, frame, frame.integer(condition) ? yes : no);
    return true;
  });
}

void tessera::reference::addArithHandlers(Registry &registry) {
  auto add = [&](StringRef name, Elementwise::Function function) {
    registry.addNamed(name, [function](Operation *op, Scope &scope) {
      return makeElementwise(op, scope, function);
    });
  };
  registry.add<arith::ConstantOp>([](arith::ConstantOp op, Scope &scope) {
    return makeConstant(op, op.getValue(), scope);
  });
  registry.add<arith::AddUIExtendedOp>(
      [](arith::AddUIExtendedOp op, Scope &scope) {
        return compileExtended(op, scope, addIntegers, getCarry);
      });
  registry.add<arith::MulSIExtendedOp>(
      [](arith::MulSIExtendedOp op, Scope &scope) {
        return compileExtended(op, scope, multiplyIntegers,
                               multiplyUpper</*isSigned=*/true>);
      });
  registry.add<arith::MulUIExtendedOp>(
      [](arith::MulUIExtendedOp op, Scope &scope) {
        return compileExtended(op, scope, multiplyIntegers,
                               multiplyUpper</*isSigned=*/false>);
      });
  registry.add<arith::SelectOp>(compileSelect);
  registry.add<arith::CmpIOp>([](arith::CmpIOp op, Scope &scope) {
    return makeElementwise(op, scope, compareIntegers,
                           static_cast<int64_t>(op.getPredicate()));
  });
  registry.add<arith::CmpFOp>([](arith::CmpFOp op, Scope &scope) {
    return makeElementwise(op, scope, compareFloats,
                           static_cast<int64_t>(op.getPredicate()));
  });

  add("arith.addf", addFloats);
  add("arith.subf", subtractFloats);
  add("arith.mulf", multiplyFloats);
  add("arith.divf", divideFloats);
  add("arith.remf", remainderFloats);
  add("arith.negf", negateFloat);
  add("arith.maximumf", maximumFloat);
  add("arith.minimumf", minimumFloat);
  add("arith.maxnumf", maximumNumber);
  add("arith.minnumf", minimumNumber);

  add("arith.addi", addIntegers);
  add("arith.subi", subtractIntegers);
  add("arith.muli", multiplyIntegers);
  add("arith.divsi", divideSigned);
  add("arith.divui", divideUnsigned);
  add("arith.ceildivsi", divideSignedAs<Division::Ceil>);
  add("arith.ceildivui", divideUnsignedAs<Division::Ceil>);
  add("arith.floordivsi", divideSignedAs<Division::Floor>);
  add("arith.remsi", divideSignedAs<Division::Remainder>);
  add("arith.remui", divideUnsignedAs<Division::Remainder>);
  add("arith.andi", andIntegers);
  add("arith.ori", orIntegers);
  add("arith.xori", xorIntegers);
  add("arith.shli", combineBits<Bits::ShiftLeft>);
  add("arith.shrui", combineBits<Bits::ShiftRight>);
  add("arith.shrsi", combineBits<Bits::ShiftRightSigned>);
  add("arith.maxsi", maximumSigned);
  add("arith.maxui", maximumUnsigned);
  add("arith.minsi", minimumSigned);
  add("arith.minui", minimumUnsigned);

  // Next to ops of other dialects, functions may use these of LLVM's.
  registry.addNamed("llvm.mlir.constant", compileLLVMConstant);
  add("llvm.fadd", addFloats);
  add("llvm.fsub", subtractFloats);
  add("llvm.fmul", multiplyFloats);
  add("llvm.fdiv", divideFloats);
  add("llvm.fneg", negateFloat);
  add("llvm.add", addIntegers);
  add("llvm.sub", subtractIntegers);
  add("llvm.mul", multiplyIntegers);
  add("llvm.and", andIntegers);
  add("llvm.or", orIntegers);
  add("llvm.xor", xorIntegers);

  // The lowering of some TOSA ops computes with these.
  add("index.add", addIntegers);
  add("index.sub", subtractIntegers);
  add("index.mul", multiplyIntegers);
  add("index.divs", divideSigned);
  add("index.divu", divideUnsigned);
  add("index.ceildivs", divideSignedAs<Division::Ceil>);
  add("index.ceildivu", divideUnsignedAs<Division::Ceil>);
  add("index.floordivs", divideSignedAs<Division::Floor>);
  add("index.rems", divideSignedAs<Division::Remainder>);
  add("index.remu", divideUnsignedAs<Division::Remainder>);
  add("index.casts", castIntegerOp<false>);
  add("index.castu", castIntegerOp<true>);

  add("arith.extf", extendFloat);
  add("arith.truncf", truncateFloatOp);
  add("arith.extsi", castIntegerOp<false>);
  add("arith.extui", castIntegerOp<true>);
  add("arith.trunci", castIntegerOp<false>);
  add("arith.index_cast", castIntegerOp<false>);
  add("arith.index_castui", castIntegerOp<true>);
  add("arith.sitofp", integerToFloatOp<false>);
  add("arith.uitofp", integerToFloatOp<true>);
  add("arith.fptosi", floatToIntegerOp<false>);
  add("arith.fptoui", floatToIntegerOp<true>);
  add("arith.bitcast", bitcast);
}
