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
  if (int64_t given = l.getInt("output_dtype", 0))
    type = static_cast<DataType>(given);
  if (type != scale->type)
    return l.fail("an output_dtype that differs from the scale's is not "
                  "supported");
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
  int64_t precision = l.getInt("precision", 1);
  if (precision != 0 && precision != static_cast<int64_t>(DataType::F32))
    return l.fail("precision must be float32");
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

FailureOr<Tensor> mlir::tessera::onnx::subtractZero(Lowering &l,
                                                    const Tensor &input,
                                                    size_t zero, bool isRows) {
  if (!isInteger(input.type) || getByteWidth(input.type) > 4)
    return l.fail(getName(input.type) + " is not supported");
  FailureOr<Tensor> wide = l.convert(input, DataType::I32);
  if (failed(wide) || !l.hasInput(zero))
    return wide;
  FailureOr<Tensor> offset = l.convert(l.getInput(zero), DataType::I32);
  if (succeeded(offset) && offset->rank() == 1) {
    Shape shape = {offset->shape[0]};
    if (offset->shape[0] == 1)
      shape.clear();
    else if (isRows)
      shape.append(input.shape.size() > 2 ? input.shape.size() - 1 : 1, 1);
    offset = l.reshape(*offset, shape);
  }
  if (failed(offset))
    return failure();
  return l.elementwise({*wide, *offset}, DataType::I32,
                       [](ScalarBuilder &b, ValueRange v) {
                         return Value(arith::SubIOp::create(b, v[0], v[1]));
                       });
}

FailureOr<Tensor> mlir::tessera::onnx::requantize(Lowering &l,
                                                  const Tensor &sum,
                                                  size_t left, size_t right,
                                                  size_t result, size_t zero,
                                                  int64_t axis) {
  SmallVector<Tensor> inputs = {sum};
  for (size_t i : {left, right, result, zero}) {
    FailureOr<Tensor> factor = l.getInput(i);
    if (factor->rank() > 1)
      return l.fail("input " + Twine(i) + " must have at most one dimension");
    if (factor->rank() == 1) {
      Shape shape;
      if (factor->shape[0] != 1) {
        shape.assign(static_cast<size_t>(sum.rank() - axis), 1);
        shape[0] = factor->shape[0];
      }
      factor = l.reshape(*factor, shape);
    }
    if (failed(factor))
      return failure();
    inputs.push_back(*factor);
  }
  DataType type = inputs[4].type;
  if ((type != DataType::I8 && type != DataType::U8) ||
      !isFloat(inputs[1].type))
    return l.fail("a result of " + getName(type) + " is not supported");
  Type element = l.getElementType(type);
  return l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
    Type wide = b.getF32Type();
    auto number = [&](double value) {
      return arith::ConstantOp::create(b, b.getFloatAttr(wide, value));
    };
    Value x = arith::SIToFPOp::create(b, wide, v[0]);
    Value scale = arith::MulFOp::create(b, extend(b, v[1], wide, DataType::F32),
                                        extend(b, v[2], wide, DataType::F32));
    scale =
        arith::DivFOp::create(b, scale, extend(b, v[3], wide, DataType::F32));
    x = math::RoundEvenOp::create(b, arith::MulFOp::create(b, x, scale));
    x = arith::AddFOp::create(b, x, extend(b, v[4], wide, type));
    x = arith::MaximumFOp::create(b, x, number(isUnsigned(type) ? 0 : -128));
    x = arith::MinimumFOp::create(b, x, number(isUnsigned(type) ? 255 : 127));
    Value whole = arith::FPToSIOp::create(b, b.getI32Type(), x);
    return Value(arith::TruncIOp::create(b, element, whole));
  });
}

/// uint8 with a scale and a zero point of the tensor's own range.
static LogicalResult lowerDynamicQuantize(Lowering &l) {
  const Tensor &x = l.getInput(0);
  if (x.type != DataType::F32)
    return l.fail(getName(x.type) + " is not supported");
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  // The range includes zero.
  FailureOr<Tensor> high =
      l.reduce(x, axes, /*keepDims=*/false, x.type, 0,
               [](ScalarBuilder &b, ValueRange v) {
                 return Value(arith::MaximumFOp::create(b, v[1], v[0]));
               });
  FailureOr<Tensor> low =
      l.reduce(x, axes, /*keepDims=*/false, x.type, 0,
               [](ScalarBuilder &b, ValueRange v) {
                 return Value(arith::MinimumFOp::create(b, v[1], v[0]));
               });
  if (failed(high) || failed(low))
    return failure();
  auto number = [](ScalarBuilder &b, double value) {
    return arith::ConstantOp::create(
        b, b.getF32FloatAttr(static_cast<float>(value)));
  };
  auto limit = [=](ScalarBuilder &b, Value y) {
    y = arith::MaximumFOp::create(b, y, number(b, 0));
    y = arith::MinimumFOp::create(b, y, number(b, 255));
    Value whole = arith::FPToSIOp::create(b, b.getI32Type(), y);
    return Value(arith::TruncIOp::create(b, b.getI8Type(), whole));
  };
  FailureOr<Tensor> scale =
      l.elementwise({*high, *low}, x.type, [=](ScalarBuilder &b, ValueRange v) {
        return Value(arith::DivFOp::create(
            b, arith::SubFOp::create(b, v[0], v[1]), number(b, 255)));
      });
  if (failed(scale))
    return failure();
  FailureOr<Tensor> zero = l.elementwise(
      {*low, *scale}, DataType::U8, [=](ScalarBuilder &b, ValueRange v) {
        Value y = arith::DivFOp::create(
            b, arith::SubFOp::create(b, number(b, 0), v[0]), v[1]);
        return limit(b, math::RoundEvenOp::create(b, y));
      });
  if (failed(zero))
    return failure();
  FailureOr<Tensor> result = l.elementwise(
      {x, *scale, *zero}, DataType::U8, [=](ScalarBuilder &b, ValueRange v) {
        Value y =
            math::RoundEvenOp::create(b, arith::DivFOp::create(b, v[0], v[1]));
        return limit(
            b, arith::AddFOp::create(
                   b, y, arith::UIToFPOp::create(b, b.getF32Type(), v[2])));
      });
  if (failed(result))
    return failure();
  l.setResult(0, *result);
  l.setResult(1, *scale);
  l.setResult(2, *zero);
  return success();
}

ArrayRef<Operator> mlir::tessera::onnx::getQuantizationOperators() {
  static const Operator operators[] = {
      {"DequantizeLinear", 10, 2, 3, lowerDequantize,
       "8 to 32 bits; no blocks of scales"},
      {"DynamicQuantizeLinear", 11, 1, 1, lowerDynamicQuantize},
      {"QuantizeLinear", 10, 2, 3, lowerQuantize,
       "8 and 16 bits; no blocks of scales"},
  };
  return operators;
}
