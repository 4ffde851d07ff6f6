//===- ExpandPower.cpp - Powers and angles as arithmetic ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs have no instruction for these functions, and upstream's polynomials are
// too short for them. The formulas are those of fdlibm (Sun Microsystems, 1993;
// FreeBSD's msun: e_pow.c, e_powf.c, s_atan.c, s_atanf.c, e_atan2.c), without
// branches, so that they apply to vectors as well. They need correctly rounded
// additions and multiplications only: no fused multiply-add, and division may
// be off by a few units in the last place. Errors are below 1 unit in the last
// place for powers and 1.5 for angles; special values are those of C (ISO/IEC
// 9899:2018, F.10.4.4 and F.10.1.4).
//
//===----------------------------------------------------------------------===//

#include "ExpandPower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {

/// The constants that depend on the type.
struct Constants {
  /// Bits of the mantissa, without the implicit one; the exponent's bias.
  int mantissaBits;
  int64_t bias;
  /// The number of mantissa bits that are cleared in a high part, so that
  /// multiplying two high parts is exact.
  int lowBits;
  /// The same of the argument of the exponential.
  int lowBitsOfExponent;
  /// Mantissas from which on x is divided by 1.5, and by 2.
  int64_t fromThreeHalves, fromTwo;

  /// The logarithm: (3/2) (log(x) - 2s - 2/3 s^3), for s = (x-1) / (x+1).
  double l[6];
  /// log2(1.5), and 2 / (3 log(2)): the high part and the low one.
  double threeHalves[2], scale[2], scaleWhole;
  /// The exponential: x - x (e^x + 1) / (e^x - 1).
  double p[5];
  double log2[2], log2Whole;

  /// The arc tangent: its series.
  double atan[11];
  int numAtan;
  /// The values for 1/2 and 1, and pi/2 and pi: high and low parts.
  double atanHalf[2], atanOne[2], halfPi[2], pi[2];
};

} // namespace

static const Constants singleConstants = {
    23,
    127,
    12,
    15,
    0x1cc472,
    0x5db3d7,
    {6.0000002384e-01, 4.2857143283e-01, 3.3333334327e-01, 2.7272811532e-01,
     2.3066075146e-01, 2.0697501302e-01},
    {5.84960938e-01, 1.56322085e-06},
    {9.6191406250e-01, -1.1736857402e-04},
    9.6179670095e-01,
    {1.6666667163e-01, -2.7777778450e-03, 6.6137559770e-05, -1.6533901999e-06,
     4.1381369442e-08},
    {6.93145752e-01, 1.42860654e-06},
    6.9314718246e-01,
    {3.3333328366e-01, -1.9999158382e-01, 1.4253635705e-01, -1.0648017377e-01,
     6.1687607318e-02},
    5,
    {4.6364760399e-01, 5.0121582440e-09},
    {7.8539812565e-01, 3.7748947079e-08},
    {1.5707963705e+00, -4.3711388287e-08},
    {3.1415927410e+00, -8.7422776573e-08}};

static const Constants doubleConstants = {
    52,
    1023,
    32,
    32,
    0x3988f00000000,
    0xbb67a00000000,
    {5.99999999999994648725e-01, 4.28571428578550184252e-01,
     3.33333329818377432918e-01, 2.72728123808534006489e-01,
     2.30660745775561754067e-01, 2.06975017800338417784e-01},
    {5.84962487220764160156e-01, 1.35003920212974897128e-08},
    {9.61796700954437255859e-01, -7.02846165095275826516e-09},
    9.61796693925975554329e-01,
    {1.66666666666666019037e-01, -2.77777777770155933842e-03,
     6.61375632143793436117e-05, -1.65339022054652515390e-06,
     4.13813679705723846039e-08},
    {6.93147182464599609375e-01, -1.90465429995776804525e-09},
    6.93147180559945286227e-01,
    {3.33333333333329318027e-01, -1.99999999998764832476e-01,
     1.42857142725034663711e-01, -1.11111104054623557880e-01,
     9.09088713343650656196e-02, -7.69187620504482999495e-02,
     6.66107313738753120669e-02, -5.83357013379057348645e-02,
     4.97687799461593236017e-02, -3.65315727442169155270e-02,
     1.62858201153657823623e-02},
    11,
    {4.63647609000806093515e-01, 2.26987774529616870924e-17},
    {7.85398163397448278999e-01, 3.06161699786838301793e-17},
    {1.57079632679489655800e+00, 6.12323399573676603587e-17},
    {3.14159265358979311600e+00, 1.22464679914735317723e-16}};

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Emitter
//===----------------------------------------------------------------------===//

namespace {

using FloatTest = arith::CmpFPredicate;
using IntegerTest = arith::CmpIPredicate;

/// Arithmetic on floats of `type` and integers of the same size, scalar or
/// vector.
struct Emitter {
  Emitter(OpBuilder &builder, Location loc, Type type)
      : b(loc, builder), type(type),
        bits(like(b.getIntegerType(
            getElementTypeOrSelf(type).getIntOrFloatBitWidth()))),
        c(getElementTypeOrSelf(type).isF64() ? doubleConstants
                                             : singleConstants) {}

  Type like(Type element) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Value constant(Type of, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(of))
      value = SplatElementsAttr::get(vector, value);
    return arith::ConstantOp::create(b, value);
  }
  Value real(double value) {
    return constant(type, b.getFloatAttr(getElementTypeOrSelf(type), value));
  }
  Value integer(int64_t value) {
    Type element = getElementTypeOrSelf(bits);
    return constant(
        bits, b.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(),
                                              static_cast<uint64_t>(value),
                                              /*isSigned=*/true,
                                              /*implicitTrunc=*/true)));
  }

  Value add(Value l, Value r) { return arith::AddFOp::create(b, l, r); }
  Value sub(Value l, Value r) { return arith::SubFOp::create(b, l, r); }
  Value mul(Value l, Value r) { return arith::MulFOp::create(b, l, r); }
  Value div(Value l, Value r) { return arith::DivFOp::create(b, l, r); }
  Value iadd(Value l, Value r) { return arith::AddIOp::create(b, l, r); }
  Value isub(Value l, Value r) { return arith::SubIOp::create(b, l, r); }
  Value bitAnd(Value l, Value r) { return arith::AndIOp::create(b, l, r); }
  Value bitOr(Value l, Value r) { return arith::OrIOp::create(b, l, r); }
  Value bitXor(Value l, Value r) { return arith::XOrIOp::create(b, l, r); }
  Value shiftLeft(Value l, int64_t by) {
    return arith::ShLIOp::create(b, l, integer(by));
  }
  Value shiftRight(Value l, int64_t by) {
    return arith::ShRUIOp::create(b, l, integer(by));
  }
  Value select(Value test, Value yes, Value no) {
    return arith::SelectOp::create(b, test, yes, no);
  }
  Value test(FloatTest predicate, Value l, Value r) {
    return arith::CmpFOp::create(b, predicate, l, r);
  }
  Value test(IntegerTest predicate, Value l, Value r) {
    return arith::CmpIOp::create(b, predicate, l, r);
  }
  Value getBits(Value value) {
    return arith::BitcastOp::create(b, bits, value);
  }
  Value toReal(Value value) { return arith::BitcastOp::create(b, type, value); }

  uint64_t getSignBit() const {
    return uint64_t(1) << (getElementTypeOrSelf(type).getIntOrFloatBitWidth() -
                           1);
  }
  Value getSign(Value value) {
    return bitAnd(getBits(value), integer(getSignBit()));
  }
  Value getMagnitude(Value value) {
    return toReal(bitAnd(getBits(value), integer(getSignBit() - 1)));
  }
  Value withSign(Value value, Value sign) {
    return toReal(bitXor(getBits(value), sign));
  }
  /// `value` without its last `count` bits.
  Value getHigh(Value value, int count) {
    return toReal(bitAnd(getBits(value), integer(-(int64_t(1) << count))));
  }
  /// c0 + x (c1 + x (c2 + ...)).
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = real(coefficients.back());
    for (double next : llvm::reverse(coefficients.drop_back()))
      sum = add(real(next), mul(x, sum));
    return sum;
  }
  /// 2^n, for an integer n within the range of exponents of normal numbers.
  Value powerOfTwo(Value n) {
    return toReal(shiftLeft(iadd(n, integer(c.bias)), c.mantissaBits));
  }

  ImplicitLocOpBuilder b;
  Type type, bits;
  const Constants &c;
};

} // namespace

//===----------------------------------------------------------------------===//
// powf
//===----------------------------------------------------------------------===//

/// log2(x) as a sum of two values, the first of which has few bits. `x` is
/// positive and finite.
static std::pair<Value, Value> emitLog2(Emitter &e, Value x) {
  const Constants &c = e.c;
  int mantissa = c.mantissaBits;
  // Subnormal numbers are scaled, except on devices that flush them to zero.
  Value smallest = e.integer(int64_t(1) << mantissa);
  Value raw = e.getBits(x);
  Value isSubnormal = e.test(IntegerTest::slt, raw, smallest);
  // With an implicit one, which is subtracted again.
  Value scaled =
      e.sub(e.toReal(e.bitOr(raw, e.integer(c.bias << mantissa))), e.real(1.0));
  raw = e.select(isSubnormal, e.getBits(scaled), raw);
  Value n = e.isub(e.shiftRight(raw, mantissa), e.integer(c.bias));
  // Its unit is 2^-bias+1 rather than 2^0.
  n = e.select(isSubnormal, e.isub(n, e.integer(c.bias - 1)), n);
  // The interval: around 1, around 1.5, or around 2, which is halved.
  Value j = e.bitAnd(raw, e.integer((int64_t(1) << mantissa) - 1));
  Value isHalved = e.test(IntegerTest::sge, j, e.integer(c.fromTwo));
  Value isAtLeast = e.test(IntegerTest::sge, j, e.integer(c.fromThreeHalves));
  Value isMiddle = arith::AndIOp::create(
      e.b, isAtLeast, e.test(IntegerTest::slt, j, e.integer(c.fromTwo)));
  n = e.select(isHalved, e.iadd(n, e.integer(1)), n);
  Value a = e.toReal(
      e.bitOr(j, e.select(isHalved, e.integer((c.bias - 1) << mantissa),
                          e.integer(c.bias << mantissa))));
  Value base = e.select(isMiddle, e.real(1.5), e.real(1.0));
  Value baseHigh = e.select(isMiddle, e.real(c.threeHalves[0]), e.real(0.0)),
        baseLow = e.select(isMiddle, e.real(c.threeHalves[1]), e.real(0.0));

  // s = (a - base) / (a + base), in two parts.
  Value u = e.sub(a, base);
  Value sum = e.add(a, base);
  Value v = e.div(e.real(1.0), sum);
  Value s = e.mul(u, v);
  Value sHigh = e.getHigh(s, c.lowBits);
  Value tHigh = e.getHigh(sum, c.lowBits);
  Value tLow = e.sub(a, e.sub(tHigh, base));
  Value sLow =
      e.mul(v, e.sub(e.sub(u, e.mul(sHigh, tHigh)), e.mul(sHigh, tLow)));
  // log(a) = 2s (1 + s^2 / 3 + ...), 3 + s^2 + r in two parts.
  Value s2 = e.mul(s, s);
  Value r = e.mul(e.mul(s2, s2), e.polynomial(s2, c.l));
  r = e.add(r, e.mul(sLow, e.add(sHigh, s)));
  s2 = e.mul(sHigh, sHigh);
  tHigh = e.getHigh(e.add(e.add(e.real(3.0), s2), r), c.lowBits);
  tLow = e.sub(r, e.sub(e.sub(tHigh, e.real(3.0)), s2));
  u = e.mul(sHigh, tHigh);
  v = e.add(e.mul(sLow, tHigh), e.mul(tLow, s));
  // 2 / (3 log 2) times that.
  Value pHigh = e.getHigh(e.add(u, v), c.lowBits);
  Value pLow = e.sub(v, e.sub(pHigh, u));
  Value zHigh = e.mul(e.real(c.scale[0]), pHigh);
  Value zLow = e.add(e.add(e.mul(e.real(c.scale[1]), pHigh),
                           e.mul(pLow, e.real(c.scaleWhole))),
                     baseLow);
  Value t = arith::SIToFPOp::create(e.b, e.type, n);
  Value high =
      e.getHigh(e.add(e.add(e.add(zHigh, zLow), baseHigh), t), c.lowBits);
  Value low = e.sub(zLow, e.sub(e.sub(e.sub(high, t), baseHigh), zHigh));
  return {high, low};
}

/// 2^(high + low).
static Value emitExp2(Emitter &e, Value high, Value low) {
  const Constants &c = e.c;
  // Beyond, the result is infinite or zero.
  double most = 2.0 * static_cast<double>(c.bias - 1);
  Value z = e.add(high, low);
  Value isAbove = e.test(FloatTest::OGT, z, e.real(most)),
        isBelow = e.test(FloatTest::OLT, z, e.real(-most));
  high = e.select(isAbove, e.real(most), high);
  high = e.select(isBelow, e.real(-most), high);
  Value isBeyond = arith::OrIOp::create(e.b, isAbove, isBelow);
  low = e.select(isBeyond, e.real(0.0), low);
  z = e.add(high, low);
  Value whole = math::RoundEvenOp::create(e.b, z);
  high = e.sub(high, whole);
  Value t = e.getHigh(e.add(low, high), c.lowBitsOfExponent);
  Value u = e.mul(t, e.real(c.log2[0]));
  Value v = e.add(e.mul(e.sub(low, e.sub(t, high)), e.real(c.log2Whole)),
                  e.mul(t, e.real(c.log2[1])));
  z = e.add(u, v);
  Value w = e.sub(v, e.sub(z, u));
  t = e.mul(z, z);
  Value t1 = e.sub(z, e.mul(t, e.polynomial(t, c.p)));
  Value r =
      e.sub(e.div(e.mul(z, t1), e.sub(t1, e.real(2.0))), e.add(w, e.mul(z, w)));
  z = e.sub(e.real(1.0), e.sub(r, z));
  // 2^n may not be a number where the result is: in two steps.
  Value n = arith::FPToSIOp::create(e.b, e.bits, whole);
  Value half = arith::ShRSIOp::create(e.b, n, e.integer(1));
  z = e.mul(z, e.powerOfTwo(half));
  return e.mul(z, e.powerOfTwo(e.isub(n, half)));
}

static Value emitPower(Emitter &e, Value x, Value y) {
  const Constants &c = e.c;
  Value one = e.real(1.0), zero = e.real(0.0), infinite = e.real(infinity);
  Value ax = e.getMagnitude(x), ay = e.getMagnitude(y);

  // Whether y is an integer, and odd. From 2^(bits of the mantissa + 1) on, all
  // numbers are even.
  Value isSmall =
      e.test(FloatTest::OLT, ay, e.real(std::ldexp(1.0, c.mantissaBits + 1)));
  Value small = e.select(isSmall, y, zero);
  Value integer = arith::FPToSIOp::create(e.b, e.bits, small);
  Value isWhole = e.test(FloatTest::OEQ,
                         arith::SIToFPOp::create(e.b, e.type, integer), small);
  Value isOdd =
      e.test(IntegerTest::ne, e.bitAnd(integer, e.integer(1)), e.integer(0));
  isOdd = arith::AndIOp::create(e.b, isOdd, isWhole);

  // A finite power of a positive finite number. Exponents beyond 2^k have the
  // same result, 0, 1 or infinity, and multiplications with them stay finite.
  Value isUsual = arith::AndIOp::create(e.b, e.test(FloatTest::OGT, ax, zero),
                                        e.test(FloatTest::OLT, ax, infinite));
  Value base = e.select(isUsual, ax, one);
  Value most = e.real(std::ldexp(1.0, c.mantissaBits == 23 ? 40 : 70));
  Value exponent = e.withSign(
      e.select(e.test(FloatTest::OLT, ay, most), ay, most), e.getSign(y));
  auto [high, low] = emitLog2(e, base);
  Value yHigh = e.getHigh(exponent, c.lowBits);
  Value pLow = e.add(e.mul(e.sub(exponent, yHigh), high), e.mul(exponent, low));
  Value pHigh = e.mul(yHigh, high);
  Value result = emitExp2(e, pHigh, pLow);

  // Zero and infinity, as base or as exponent.
  Value isGrowing = arith::XOrIOp::create(e.b, e.test(FloatTest::OGT, ax, one),
                                          e.test(FloatTest::OLT, y, zero));
  Value extreme = e.select(isGrowing, infinite, zero);
  Value isExponentInfinite = e.test(FloatTest::OEQ, ay, infinite);
  extreme = e.select(arith::AndIOp::create(e.b, e.test(FloatTest::OEQ, ax, one),
                                           isExponentInfinite),
                     one, extreme);
  Value isUnusual = arith::XOrIOp::create(
      e.b, isUsual, e.constant(e.like(e.b.getI1Type()), e.b.getBoolAttr(true)));
  result = e.select(arith::OrIOp::create(e.b, isUnusual, isExponentInfinite),
                    extreme, result);

  // Negative bases.
  Value sign = e.getSign(x);
  Value isNegative = e.test(IntegerTest::ne, sign, e.integer(0));
  result = e.withSign(result, e.select(isOdd, sign, e.integer(0)));
  Value isFraction = arith::AndIOp::create(
      e.b, isSmall,
      e.test(FloatTest::ONE, arith::SIToFPOp::create(e.b, e.type, integer),
             small));
  Value isInvalid = arith::AndIOp::create(
      e.b, arith::AndIOp::create(e.b, isNegative, isUsual), isFraction);
  result = e.select(isInvalid, e.real(std::nan("")), result);

  // NaN, except where the result is 1 for any other operand.
  result = e.select(e.test(FloatTest::UNO, x, y), e.add(x, y), result);
  Value isOne = arith::OrIOp::create(e.b, e.test(FloatTest::OEQ, x, one),
                                     e.test(FloatTest::OEQ, y, zero));
  return e.select(isOne, one, result);
}

//===----------------------------------------------------------------------===//
// atan2
//===----------------------------------------------------------------------===//

static Value emitAtan2(Emitter &e, Value y, Value x) {
  const Constants &c = e.c;
  Value ax = e.getMagnitude(x), ay = e.getMagnitude(y);
  Value infinite = e.real(infinity), zero = e.real(0.0), one = e.real(1.0);
  // The angle to the nearer axis: from 0 to pi/4.
  Value isSteep = e.test(FloatTest::OGT, ay, ax);
  Value small = e.select(isSteep, ax, ay), large = e.select(isSteep, ay, ax);
  // Two infinities are as equal numbers, and so are two zeros with one of them
  // replaced.
  Value bothInfinite = e.test(FloatTest::OEQ, small, infinite);
  small = e.select(bothInfinite, one, small);
  large = e.select(bothInfinite, one, large);
  large = e.select(e.test(FloatTest::OEQ, large, zero), one, large);

  // t = small / large, or the tangent of the angle to 1/2 or 1 where that is
  // nearer. There both are as large, and are scaled away from the limits.
  // A division may multiply with a reciprocal, which is flushed to zero where
  // it is subnormal: for the largest denominators. A quarter of both has the
  // same ratio, except where that is below the smallest normal number anyway.
  Value quarter =
      e.select(e.test(FloatTest::OGT, large,
                      e.real(std::ldexp(1.0, static_cast<int>(c.bias) - 27))),
               e.real(0.25), one);
  Value ratio = e.div(e.mul(small, quarter), e.mul(large, quarter));
  int limit = c.mantissaBits == 23 ? 60 : 500;
  Value scale = e.select(
      e.test(FloatTest::OGT, large, e.real(std::ldexp(1.0, limit))),
      e.real(std::ldexp(1.0, -limit)),
      e.select(e.test(FloatTest::OLT, large, e.real(std::ldexp(1.0, -limit))),
               e.real(std::ldexp(1.0, limit)), one));
  Value n = e.mul(small, scale), d = e.mul(large, scale);
  Value half = e.real(0.5);
  Value nearHalf = e.div(e.sub(n, e.mul(half, d)), e.add(d, e.mul(half, n)));
  Value nearOne = e.div(e.sub(n, d), e.add(n, d));
  Value isNearZero = e.test(FloatTest::OLT, ratio, e.real(7.0 / 16)),
        isNearHalf = e.test(FloatTest::OLT, ratio, e.real(11.0 / 16));
  auto choose = [&](Value atZero, Value atHalf, Value atOne) {
    return e.select(isNearZero, atZero, e.select(isNearHalf, atHalf, atOne));
  };
  Value t = choose(ratio, nearHalf, nearOne);
  Value high = choose(zero, e.real(c.atanHalf[0]), e.real(c.atanOne[0]));
  Value low = choose(zero, e.real(c.atanHalf[1]), e.real(c.atanOne[1]));

  // atan(t) = t - t (a0 t^2 + a1 t^4 + ...), even and odd terms by themselves.
  Value z = e.mul(t, t), w = e.mul(z, z);
  SmallVector<double> even, odd;
  for (int i = 0; i < c.numAtan; ++i)
    (i % 2 ? odd : even).push_back(c.atan[i]);
  Value series =
      e.add(e.mul(z, e.polynomial(w, even)), e.mul(w, e.polynomial(w, odd)));
  Value angle = e.sub(high, e.sub(e.sub(e.mul(t, series), low), t));

  // The angle from there to the axis of x.
  Value signX = e.getSign(x);
  Value isLeft = e.test(IntegerTest::ne, signX, e.integer(0));
  Value axisHigh = e.select(isSteep, e.real(c.halfPi[0]),
                            e.select(isLeft, e.real(c.pi[0]), zero));
  Value axisLow = e.select(isSteep, e.real(c.halfPi[1]),
                           e.select(isLeft, e.real(c.pi[1]), zero));
  // Added for steep angles to the left, and for flat ones to the right.
  Value isAdded = arith::CmpIOp::create(e.b, IntegerTest::eq, isSteep, isLeft);
  angle = e.select(isAdded, angle, arith::NegFOp::create(e.b, angle));
  Value result = e.add(axisHigh, e.add(angle, axisLow));
  result = e.withSign(result, e.getSign(y));
  return e.select(e.test(FloatTest::UNO, x, y), e.add(x, y), result);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Before upstream's patterns.
static constexpr unsigned firstBenefit = 2;

namespace {

template <typename Op, Value (*emit)(Emitter &, Value, Value)>
struct ExpandFloatOp : OpRewritePattern<Op> {
  explicit ExpandFloatOp(MLIRContext *context)
      : OpRewritePattern<Op>(context, firstBenefit) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    auto vector = dyn_cast<VectorType>(op.getType());
    if ((!element.isF32() && !element.isF64()) ||
        (vector && vector.isScalable()))
      return rewriter.notifyMatchFailure(op, "not of f32 or f64, or scalable");
    Emitter e(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, emit(e, op->getOperand(0), op->getOperand(1)));
    return success();
  }
};

/// By squaring. A negative exponent's result is 1 / x^-n rounded to zero: that
/// of 1 is 1, that of -1 is 1 or -1. C has none for 0; here it is 0.
struct ExpandIPowI : OpRewritePattern<math::IPowIOp> {
  explicit ExpandIPowI(MLIRContext *context)
      : OpRewritePattern(context, firstBenefit) {}
  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    auto vector = dyn_cast<VectorType>(type);
    if (vector && vector.isScalable())
      return rewriter.notifyMatchFailure(op, "of a scalable vector");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (element.isIndex()) {
      Type wide = b.getI64Type();
      if (vector)
        wide = vector.clone(wide);
      Value power = math::IPowIOp::create(
          b, arith::IndexCastOp::create(b, wide, op.getLhs()),
          arith::IndexCastOp::create(b, wide, op.getRhs()));
      rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, type, power);
      return success();
    }
    if (!element.isInteger())
      return rewriter.notifyMatchFailure(op, "not of integers");
    auto integer = [&](int64_t value) -> Value {
      TypedAttr attribute = b.getIntegerAttr(
          element, APInt(element.getIntOrFloatBitWidth(),
                         static_cast<uint64_t>(value), /*isSigned=*/true,
                         /*implicitTrunc=*/true));
      if (vector)
        attribute = SplatElementsAttr::get(vector, attribute);
      return arith::ConstantOp::create(b, attribute);
    };
    Value x = op.getLhs(), n = op.getRhs();
    Value one = integer(1), zero = integer(0);
    auto isOddPart = [&](int64_t bit) -> Value {
      return arith::CmpIOp::create(
          b, IntegerTest::ne,
          arith::AndIOp::create(b, n, integer(int64_t(1) << bit)), zero);
    };
    // The sign bit is none of a positive exponent's.
    int64_t numBits = element.getIntOrFloatBitWidth() - 1;
    Value result = one, square = x;
    for (int64_t bit = 0; bit < numBits; ++bit) {
      if (bit)
        square = arith::MulIOp::create(b, square, square);
      result = arith::SelectOp::create(
          b, isOddPart(bit), arith::MulIOp::create(b, result, square), result);
    }
    if (numBits == 0) {
      rewriter.replaceOpWithNewOp<arith::OrIOp>(
          op, x, arith::CmpIOp::create(b, IntegerTest::eq, n, zero));
      return success();
    }
    Value isOne = arith::CmpIOp::create(b, IntegerTest::eq, x, one),
          isMinusOne =
              arith::CmpIOp::create(b, IntegerTest::eq, x, integer(-1));
    Value inverse = arith::SelectOp::create(
        b, isMinusOne,
        arith::SelectOp::create(b, isOddPart(0), integer(-1), one), zero);
    inverse = arith::SelectOp::create(b, isOne, one, inverse);
    Value isNegative = arith::CmpIOp::create(b, IntegerTest::slt, n, zero);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNegative, inverse,
                                                 result);
    return success();
  }
};

} // namespace

void mlir::tessera::populateExpandPowerPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandFloatOp<math::PowFOp, emitPower>,
               ExpandFloatOp<math::Atan2Op, emitAtan2>, ExpandIPowI>(
      patterns.getContext());
}
