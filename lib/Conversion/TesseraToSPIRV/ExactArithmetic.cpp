//===- ExactArithmetic.cpp - Arithmetic that SPIR-V lacks -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   arith.remf           integer arithmetic on mantissa and exponent. OpFRem is
//                        x - y * trunc(x / y) with rounding after each step
//                        (Vulkan specification, "Precision of Core SPIR-V
//                        Instructions"): wrong if x / y has more bits than a
//                        mantissa, and NaN for an infinite y
//   arith.maxui of i1    a disjunction or conjunction
//   arith.index_castui   of i1: an extension
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Builds the remainder of two numbers of f32 or f64, by their bits.
class RemainderBuilder {
public:
  RemainderBuilder(OpBuilder &builder, Location loc, FloatType type)
      : b(loc, builder), type(type),
        bits(b.getIntegerType(type.getIntOrFloatBitWidth())),
        mantissaBits(type.getFPMantissaWidth() - 1),
        signBit(type.getIntOrFloatBitWidth() - 1) {}

  /// The remainder of x / y, with the sign of x, as C's fmod.
  Value build(Value x, Value y) {
    uint64_t sign = uint64_t(1) << signBit;
    uint64_t infinity = sign - (uint64_t(1) << mantissaBits);
    Value xBits = toBits(x);
    Value xMagnitude = bitAnd(xBits, sign - 1),
          yMagnitude = bitAnd(toBits(y), sign - 1);
    auto [xMantissa, xExponent] = split(xMagnitude);
    auto [yMantissa, yExponent] = split(yMagnitude);
    // A division by zero is undefined; its result is not used.
    Value divisor = arith::MaxUIOp::create(b, yMantissa, integer(1));
    Value rest = reduce(
        xMantissa, divisor,
        arith::MaxSIOp::create(
            b, arith::SubIOp::create(b, xExponent, yExponent).getResult(),
            integer(0)));
    Value result =
        arith::OrIOp::create(b, join(rest, yExponent), bitAnd(xBits, sign));
    using P = arith::CmpIPredicate;
    // Also for an infinite y.
    result = select(compare(P::ult, xMagnitude, yMagnitude), xBits, result);
    Value isNan = compare(P::eq, yMagnitude, integer(0));
    isNan = arith::OrIOp::create(
        b, isNan, compare(P::uge, xMagnitude, integer(infinity)));
    isNan = arith::OrIOp::create(
        b, isNan, compare(P::ugt, yMagnitude, integer(infinity)));
    uint64_t nan = infinity | uint64_t(1) << (mantissaBits - 1);
    return arith::BitcastOp::create(b, type,
                                    select(isNan, integer(nan), result));
  }

private:
  Value integer(uint64_t value) {
    return arith::ConstantOp::create(
        b, IntegerAttr::get(bits, APInt(bits.getWidth(), value)));
  }
  Value toBits(Value value) { return arith::BitcastOp::create(b, bits, value); }
  Value bitAnd(Value value, uint64_t mask) {
    return arith::AndIOp::create(b, value, integer(mask));
  }
  Value compare(arith::CmpIPredicate predicate, Value l, Value r) {
    return arith::CmpIOp::create(b, predicate, l, r);
  }
  Value select(Value condition, Value t, Value f) {
    return arith::SelectOp::create(b, condition, t, f);
  }
  Value shiftLeft(Value value, Value by) {
    return arith::ShLIOp::create(b, value, by);
  }

  /// The mantissa as an integer, and the exponent field: the number is
  /// mantissa * 2^(exponent - unit). A subnormal number has the exponent 1.
  std::pair<Value, Value> split(Value magnitude) {
    Value field = arith::ShRUIOp::create(b, magnitude, integer(mantissaBits));
    Value isNormal = compare(arith::CmpIPredicate::ne, field, integer(0));
    uint64_t one = uint64_t(1) << mantissaBits;
    Value mantissa =
        arith::OrIOp::create(b, bitAnd(magnitude, one - 1),
                             select(isNormal, integer(one), integer(0)));
    return {mantissa, select(isNormal, field, integer(1))};
  }

  /// mantissa * 2^exponent modulo divisor, for a divisor of one bit more than
  /// `mantissaBits`. An iteration reduces the exponent by the bits that remain.
  Value reduce(Value mantissa, Value divisor, Value exponent) {
    uint64_t step = bits.getWidth() - mantissaBits - 1;
    Value trips = arith::DivUIOp::create(
        b, arith::AddIOp::create(b, exponent, integer(step - 1)).getResult(),
        integer(step));
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, value);
    };
    Value first = arith::RemUIOp::create(b, mantissa, divisor);
    auto loop = scf::ForOp::create(
        b, index(0), arith::IndexCastUIOp::create(b, b.getIndexType(), trips),
        index(1), ValueRange{first, exponent},
        [&](OpBuilder &inner, Location loc, Value, ValueRange carried) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(inner.getInsertionBlock(),
                              inner.getInsertionPoint());
          Value shift = arith::MinUIOp::create(b, carried[1], integer(step));
          Value rest =
              arith::RemUIOp::create(b, shiftLeft(carried[0], shift), divisor);
          Value left = arith::SubIOp::create(b, carried[1], shift);
          scf::YieldOp::create(b, loc, ValueRange{rest, left});
        });
    return loop.getResult(0);
  }

  /// The bits of mantissa * 2^(exponent - unit), for a mantissa of at most one
  /// bit more than `mantissaBits`.
  Value join(Value mantissa, Value exponent) {
    // Exact, and its exponent field is that of the leading bit.
    Value scaled = toBits(arith::UIToFPOp::create(b, type, mantissa));
    Value field = arith::ShRUIOp::create(b, scaled, integer(mantissaBits));
    uint64_t bias = (uint64_t(1) << (signBit - mantissaBits - 1)) - 1;
    Value unit = integer(bias + mantissaBits);
    Value total = arith::AddIOp::create(b, field, exponent);
    Value isNormal = compare(arith::CmpIPredicate::ugt, total, unit);
    Value normal = arith::AddIOp::create(
        b, scaled,
        shiftLeft(arith::SubIOp::create(b, exponent, unit),
                  integer(mantissaBits)));
    // A subnormal number is a multiple of the least one. Its exponent is at
    // most that of the leading bit's distance; a larger shift is not used.
    Value most = arith::MinUIOp::create(
        b, arith::SubIOp::create(b, exponent, integer(1)).getResult(),
        integer(mantissaBits));
    Value result = select(isNormal, normal, shiftLeft(mantissa, most));
    Value isZero = compare(arith::CmpIPredicate::eq, mantissa, integer(0));
    return select(isZero, integer(0), result);
  }

  ImplicitLocOpBuilder b;
  FloatType type;
  IntegerType bits;
  unsigned mantissaBits, signBit;
};

} // namespace

static Value expandRemainder(arith::RemFOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<FloatType>(op.getType());
  if (!type.isF16())
    return RemainderBuilder(b, loc, type).build(op.getLhs(), op.getRhs());
  // Exact, since the remainder has no more bits than the operands.
  Type wide = b.getF32Type();
  Value rest = RemainderBuilder(b, loc, b.getF32Type())
                   .build(arith::ExtFOp::create(b, loc, wide, op.getLhs()),
                          arith::ExtFOp::create(b, loc, wide, op.getRhs()));
  return arith::TruncFOp::create(b, loc, type, rest);
}

/// The replacement of an op; null for an op that is kept.
static Value expand(Operation *op, bool trustsRemainders) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  if (auto remainder = dyn_cast<arith::RemFOp>(op)) {
    bool isKnown =
        isa<Float16Type, Float32Type, Float64Type>(remainder.getType());
    return isKnown && !trustsRemainders ? expandRemainder(remainder) : Value();
  }
  if (auto cast = dyn_cast<arith::IndexCastUIOp>(op)) {
    if (!cast.getIn().getType().isInteger(1) || !cast.getType().isIndex())
      return {};
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), cast.getIn());
    return arith::IndexCastUIOp::create(b, loc, cast.getType(), wide);
  }
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isInteger(1))
    return {};
  // As a signed number, true is -1.
  if (isa<arith::MaxUIOp, arith::MinSIOp>(op))
    return arith::OrIOp::create(b, loc, op->getOperand(0), op->getOperand(1));
  if (isa<arith::MinUIOp, arith::MaxSIOp>(op))
    return arith::AndIOp::create(b, loc, op->getOperand(0), op->getOperand(1));
  return {};
}

void mlir::tessera::expandExactArithmetic(gpu::GPUFuncOp kernel,
                                          bool trustsRemainders) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<arith::RemFOp, arith::IndexCastUIOp, arith::MaxUIOp, arith::MinUIOp,
            arith::MaxSIOp, arith::MinSIOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (Value replacement = expand(op, trustsRemainders)) {
      op->replaceAllUsesWith(ValueRange(replacement));
      op->erase();
    }
}
