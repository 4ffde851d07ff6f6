//===- NarrowTypes.cpp - Types of fewer than 8 bits, and float8e8m0 -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Targets have no memory of these types (i4 is only read), so an element is a
// byte. Integers are converted as int8 or uint8, floats by way of float32:
//
//   float4e2m1  sign, two bits of exponent, one of mantissa: +-0, 0.5, 1, 1.5,
//               2, 3, 4, 6
//   float8e8m0  the exponent of a power of two, from 2^-127; 255 is NaN
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

static bool hasSign(DataType type) {
  return type == DataType::I4 || type == DataType::I2;
}

namespace {
/// Arithmetic on i32 and f32.
struct Emitter {
  Emitter(ScalarBuilder &b) : b(b) {}

  Value integer(int64_t value) {
    return arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value real(float value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value isEqual(Value x, int64_t value) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x,
                                 integer(value));
  }
  Value isLess(Value x, float value) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, real(value));
  }
  Value bitAnd(Value x, int64_t mask) {
    return arith::AndIOp::create(b, x, integer(mask));
  }
  Value shiftLeft(Value x, int64_t by) {
    return arith::ShLIOp::create(b, x, integer(by));
  }
  Value shiftRight(Value x, int64_t by) {
    return arith::ShRUIOp::create(b, x, integer(by));
  }
  Value toBits(Value x) {
    return arith::BitcastOp::create(b, b.getI32Type(), x);
  }

  ScalarBuilder &b;
};
} // namespace

/// The float32 with the bits of a float4e2m1 in a byte.
static Value decodeE2M1(ScalarBuilder &b, Value byte) {
  auto type = Float4E2M1FNType::get(b.getContext());
  Value low = arith::TruncIOp::create(b, b.getIntegerType(4), byte);
  Value number = arith::BitcastOp::create(b, type, low);
  return arith::ExtFOp::create(b, b.getF32Type(), number);
}

/// The nearest float4e2m1, ties to even; 6 beyond the range, and 0 for NaN.
static Value encodeE2M1(Emitter &e, Value x) {
  Value bits = e.toBits(x);
  Value size = math::AbsFOp::create(e.b, x);
  Value isNumber = arith::CmpFOp::create(e.b, arith::CmpFPredicate::ORD, x, x);
  size = e.select(isNumber, size, e.real(0));
  size = e.select(e.isLess(size, 6), size, e.real(6));
  // Numbers are multiples of 0.5 up to 2, of 1 up to 4, and of 2 above; in
  // units of these, 0 to 4, 2 to 4, and 2 to 3.
  auto isSmall = [&](float limit) { return e.isLess(size, limit); };
  Value perUnit = e.select(isSmall(2), e.real(2),
                           e.select(isSmall(4), e.real(1), e.real(0.5f)));
  Value first = e.select(isSmall(2), e.integer(0),
                         e.select(isSmall(4), e.integer(2), e.integer(4)));
  Value units =
      math::RoundEvenOp::create(e.b, arith::MulFOp::create(e.b, size, perUnit));
  Value whole = arith::FPToSIOp::create(e.b, e.b.getI32Type(), units);
  Value magnitude = arith::AddIOp::create(e.b, whole, first);
  Value sign = e.bitAnd(e.shiftRight(bits, 28), 8);
  return arith::OrIOp::create(e.b, magnitude, sign);
}

/// The power of two with the exponent in a byte: by integer operations, since
/// the reference has no type without zero.
static Value decodeE8M0(ScalarBuilder &b, Value byte) {
  Emitter e(b);
  Value bits = arith::ExtUIOp::create(b, b.getI32Type(), byte);
  Value value = e.shiftLeft(bits, 23);
  // 2^-127 is subnormal in float32.
  value = e.select(e.isEqual(bits, 0), e.integer(0x400000), value);
  value = e.select(e.isEqual(bits, 255), e.integer(0x7fc00000), value);
  return arith::BitcastOp::create(b, b.getF32Type(), value);
}

/// The exponent of the next power of two that is not smaller; the largest one
/// beyond the range, and 255 for infinities and NaN. The sign is ignored.
static Value encodeE8M0(Emitter &e, Value x) {
  Value bits = e.toBits(x);
  Value exponent = e.bitAnd(e.shiftRight(bits, 23), 255);
  Value hasFraction = arith::CmpIOp::create(
      e.b, arith::CmpIPredicate::ne, e.bitAnd(bits, 0x7fffff), e.integer(0));
  Value canGrow = arith::CmpIOp::create(e.b, arith::CmpIPredicate::slt,
                                        exponent, e.integer(254));
  Value grows = arith::AndIOp::create(e.b, hasFraction, canGrow);
  Value next = arith::AddIOp::create(e.b, exponent, e.integer(1));
  return e.select(grows, next, exponent);
}

Tensor mlir::tessera::onnx::widenToBytes(const Tensor &input) {
  if (!isNarrow(input.type) || input.type == DataType::F4E2M1 ||
      input.type == DataType::F8E8M0)
    return input;
  Tensor bytes = input;
  bytes.type = hasSign(input.type) ? DataType::I8 : DataType::U8;
  if (input.constant) {
    auto constant = std::make_shared<Constant>(*input.constant);
    constant->type = bytes.type;
    bytes.constant = std::move(constant);
  }
  return bytes;
}

/// The integers of the lowest bits of an i32.
static Value cutToBits(ScalarBuilder &b, Value x, DataType type) {
  Emitter e(b);
  unsigned bits = getBitWidth(type);
  if (!hasSign(type))
    return e.bitAnd(x, (1 << bits) - 1);
  return arith::ShRSIOp::create(b, e.shiftLeft(x, 32 - bits),
                                e.integer(32 - bits));
}

FailureOr<Tensor> mlir::tessera::onnx::clearUnusedBits(Lowering &l,
                                                       const Tensor &input) {
  DataType type = input.type;
  return l.elementwise(input, type, [=](ScalarBuilder &b, ValueRange v) {
    Value wide = arith::ExtUIOp::create(b, b.getI32Type(), v[0]);
    return Value(
        arith::TruncIOp::create(b, b.getI8Type(), cutToBits(b, wide, type)));
  });
}

FailureOr<Tensor> mlir::tessera::onnx::convertNarrow(Lowering &l,
                                                     const Tensor &input,
                                                     DataType type) {
  DataType from = input.type;
  bool fromFloat = from == DataType::F4E2M1 || from == DataType::F8E8M0;
  bool toFloat = type == DataType::F4E2M1 || type == DataType::F8E8M0;
  if (isNarrow(from) && !fromFloat)
    return l.convert(widenToBytes(input), type);
  if (fromFloat && type != DataType::F32) {
    FailureOr<Tensor> wide = l.convert(input, DataType::F32);
    return failed(wide) ? wide : l.convert(*wide, type);
  }
  if (fromFloat)
    return l.elementwise(input, type, [=](ScalarBuilder &b, ValueRange v) {
      return from == DataType::F4E2M1 ? decodeE2M1(b, v[0])
                                      : decodeE8M0(b, v[0]);
    });
  FailureOr<Tensor> wide =
      l.convert(input, toFloat ? DataType::F32 : DataType::I32);
  if (failed(wide))
    return failure();
  return l.elementwise(*wide, type, [=](ScalarBuilder &b, ValueRange v) {
    Emitter e(b);
    Value bits = type == DataType::F4E2M1   ? encodeE2M1(e, v[0])
                 : type == DataType::F8E8M0 ? encodeE8M0(e, v[0])
                                            : cutToBits(b, v[0], type);
    return Value(arith::TruncIOp::create(b, b.getI8Type(), bits));
  });
}
