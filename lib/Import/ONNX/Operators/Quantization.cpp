//===- Quantization.cpp - Scales and zero points --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

/// A scale or zero point for one axis of a tensor, to be broadcast.
static FailureOr<Tensor> getFactor(Lowering &l, size_t i, const Tensor &x) {
  const Tensor &factor = l.getInput(i);
  if (factor.rank() == 0 || factor.count() == 1)
    return l.reshape(factor, {});
  int64_t axis = l.getInt("axis", 1);
  if (factor.rank() != 1 || l.getInt("block_size", 0) != 0)
    return l.fail("blocks of scales are not supported");
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  Shape shape(static_cast<size_t>(x.rank() - axis), 1);
  shape[0] = factor.shape[0];
  return l.reshape(factor, shape);
}

static Value extend(ScalarBuilder &b, Value x, Type type, DataType from) {
  if (isFloat(from))
    return x.getType() == type ? x : Value(arith::ExtFOp::create(b, type, x));
  return isUnsigned(from) ? Value(arith::UIToFPOp::create(b, type, x))
                          : Value(arith::SIToFPOp::create(b, type, x));
}

static LogicalResult lowerDequantize(Lowering &l) {
  const Tensor &x = l.getInput(0);
  FailureOr<Tensor> scale = getFactor(l, 1, x);
  if (failed(scale))
    return failure();
  SmallVector<Tensor> inputs = {x, *scale};
  if (l.hasInput(2)) {
    FailureOr<Tensor> zero = getFactor(l, 2, x);
    if (failed(zero))
      return failure();
    inputs.push_back(*zero);
  }
  if (isFloat(x.type))
    return l.fail(getName(x.type) + " is not supported");
  DataType from = x.type, type = scale->type;
  return l.setResult(
      l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
        Type element = v[1].getType();
        Value y = extend(b, v[0], element, from);
        if (v.size() > 2)
          y = arith::SubFOp::create(b, y, extend(b, v[2], element, from));
        return Value(arith::MulFOp::create(b, y, v[1]));
      }));
}

/// round(x / scale) + zero, limited to the type.
static LogicalResult lowerQuantize(Lowering &l) {
  const Tensor &x = l.getInput(0);
  FailureOr<Tensor> scale = getFactor(l, 1, x);
  if (failed(scale))
    return failure();
  SmallVector<Tensor> inputs = {x, *scale};
  auto type = static_cast<DataType>(
      l.getInt("output_dtype", static_cast<int64_t>(DataType::U8)));
  if (l.hasInput(2)) {
    FailureOr<Tensor> zero = getFactor(l, 2, x);
    if (failed(zero))
      return failure();
    inputs.push_back(*zero);
    type = zero->type;
  }
  unsigned width = getByteWidth(type);
  if (!isInteger(type) || width == 0 || width > 2 || !isFloat(x.type))
    return l.fail("from " + getName(x.type) + " to " + getName(type) +
                  " is not supported");
  bool hasSign = !isUnsigned(type);
  double range = std::ldexp(1.0, static_cast<int>(8 * width));
  double low = hasSign ? -range / 2 : 0, high = low + range - 1;
  Type element = l.getElementType(type);
  DataType from = x.type;
  return l.setResult(
      l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
        Type wide = b.getF32Type();
        Value y = arith::DivFOp::create(b, extend(b, v[0], wide, from),
                                        extend(b, v[1], wide, from));
        y = math::RoundEvenOp::create(b, y);
        if (v.size() > 2)
          y = arith::AddFOp::create(b, y, extend(b, v[2], wide, type));
        y = arith::MaximumFOp::create(
            b, y, arith::ConstantOp::create(b, b.getFloatAttr(wide, low)));
        y = arith::MinimumFOp::create(
            b, y, arith::ConstantOp::create(b, b.getFloatAttr(wide, high)));
        Value whole = arith::FPToSIOp::create(b, b.getI32Type(), y);
        return Value(arith::TruncIOp::create(b, element, whole));
      }));
}

ArrayRef<Operator> mlir::tessera::onnx::getQuantizationOperators() {
  static const Operator operators[] = {
      {"DequantizeLinear", 10, 2, 3, lowerDequantize,
       "8 to 32 bits; no blocks of scales"},
      {"QuantizeLinear", 10, 2, 3, lowerQuantize,
       "8 and 16 bits; no blocks of scales"},
  };
  return operators;
}
