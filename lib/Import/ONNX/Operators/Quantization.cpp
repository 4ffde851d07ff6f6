//===- Quantization.cpp - Scales and zero points --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

/// Repeats each element of a dimension `times` times, and cuts it to `size`.
static FailureOr<Tensor> repeat(Lowering &l, const Tensor &x, int64_t axis,
                                int64_t times, int64_t size) {
  Shape apart = x.shape, joined = x.shape;
  apart.insert(apart.begin() + axis + 1, 1);
  FailureOr<Tensor> result = l.reshape(x, apart);
  apart[axis + 1] = times;
  if (succeeded(result))
    result = l.expand(*result, apart);
  joined[axis] *= times;
  if (succeeded(result))
    result = l.reshape(*result, joined);
  if (failed(result))
    return failure();
  SmallVector<int64_t> offsets(joined.size(), 0), steps(joined.size(), 1);
  joined[axis] = size;
  return l.slice(*result, offsets, joined, steps);
}

/// A scale or zero point for one axis or for blocks of a tensor, to be
/// broadcast.
static FailureOr<Tensor> getFactor(Lowering &l, size_t i, const Tensor &x) {
  const Tensor &factor = l.getInput(i);
  int64_t axis = l.getInt("axis", 1), block = l.getInt("block_size", 0);
  if (factor.rank() == 0 || (factor.count() == 1 && block == 0))
    return l.reshape(factor, {});
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  if (block != 0) {
    if (factor.rank() != x.rank() || !factor.isStatic() || !x.isStatic() ||
        block < 0 || block > 1 << 30 ||
        factor.shape[axis] != (x.shape[axis] + block - 1) / block)
      return l.fail("a block_size of " + Twine(block) +
                    " does not fit static shapes of the input and the scale");
    return repeat(l, factor, axis, block, x.shape[axis]);
  }
  if (factor.rank() != 1)
    return l.fail("a scale of " + Twine(factor.rank()) +
                  " dimensions requires a block_size");
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

/// (x - zero) * scale, where `inputs` are x, its scale and maybe a zero point.
static FailureOr<Tensor> dequantize(Lowering &l, ArrayRef<Tensor> inputs) {
  DataType from = inputs[0].type;
  return l.elementwise(
      inputs, inputs[1].type, [=](ScalarBuilder &b, ValueRange v) {
        Type element = v[1].getType();
        Value y = extend(b, v[0], element, from);
        if (v.size() > 2)
          y = arith::SubFOp::create(b, y, extend(b, v[2], element, from));
        return Value(arith::MulFOp::create(b, y, v[1]));
      });
}

bool mlir::tessera::onnx::keepsOrder(const Quantized &quantized) {
  const Tensor &scale = quantized.scale;
  if (scale.count() != 1 || !scale.constant ||
      (quantized.zero && quantized.zero->count() != 1))
    return false;
  double value = scale.constant->getDouble(0);
  return value > 0 && std::isfinite(value);
}

FailureOr<Tensor> mlir::tessera::onnx::dequantizeAs(Lowering &l,
                                                    const Quantized &quantized,
                                                    const Tensor &integers) {
  FailureOr<Tensor> scale = l.reshape(quantized.scale, {});
  if (failed(scale))
    return failure();
  SmallVector<Tensor> inputs = {integers, *scale};
  Quantized result = {integers, *scale, std::nullopt, 0};
  if (quantized.zero) {
    FailureOr<Tensor> zero = l.reshape(*quantized.zero, {});
    if (failed(zero))
      return failure();
    result.zero = *zero;
    inputs.push_back(*zero);
  }
  FailureOr<Tensor> numbers = dequantize(l, inputs);
  if (succeeded(numbers))
    numbers->quantized = std::make_shared<Quantized>(std::move(result));
  return numbers;
}

/// Whether `zero` is known to be `value`, and that of all elements.
static bool isKnown(const Tensor &zero, int64_t value) {
  return zero.constant && zero.isStatic() &&
         llvm::all_of(llvm::seq<int64_t>(0, zero.count()), [&](int64_t i) {
           return zero.constant->getInt(i) == value;
         });
}

/// Whether input 2, a zero point, is known to be one -128.
static bool hasLowestZero(Lowering &l) {
  return l.hasInput(2) && l.getInput(2).count() == 1 &&
         isKnown(l.getInput(2), -128);
}

/// The int8 that are smaller by 128 than the uint8 `raised`.
static FailureOr<Tensor> lowerRange(Lowering &l, const Tensor &raised) {
  FailureOr<Tensor> result =
      l.elementwise(raised, DataType::I8, [](ScalarBuilder &b, ValueRange v) {
        Value high = arith::ConstantOp::create(b, b.getI8IntegerAttr(-128));
        return Value(arith::XOrIOp::create(b, v[0], high));
      });
  if (succeeded(result))
    result->raised = std::make_shared<Tensor>(raised);
  return result;
}

/// Whether quantized elements of a type are floats.
static bool isQuantizedFloat(DataType type) {
  return isFloat8(type) || type == DataType::F4E2M1;
}

static LogicalResult lowerDequantize(Lowering &l) {
  bool isRaised = l.getInput(0).raised && hasLowestZero(l);
  const Tensor x =
      widenToBytes(isRaised ? *l.getInput(0).raised : l.getInput(0));
  FailureOr<Tensor> scale = getFactor(l, 1, x);
  if (failed(scale))
    return failure();
  SmallVector<Tensor> inputs = {x, *scale};
  if (l.hasInput(2) && !isRaised) {
    FailureOr<Tensor> zero = getFactor(l, 2, x);
    if (failed(zero))
      return failure();
    inputs.push_back(widenToBytes(*zero));
  }
  if (isFloat(x.type) || x.type == DataType::F8E8M0)
    return l.fail(getName(x.type) + " is not supported");
  DataType from = x.type, type = scale->type;
  if (int64_t given = l.getInt("output_dtype", 0))
    type = static_cast<DataType>(given);
  if (!isFloat(type))
    return l.fail("a result of " + getName(type) +
                  " is not supported; output_dtype is float16, bfloat16, "
                  "float32 or float64");
  // Another type than the scale's is rounded to from float32.
  DataType inner = type == scale->type ? type : DataType::F32;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (i != 1 && !isQuantizedFloat(input.type))
      continue;
    FailureOr<Tensor> number = l.convert(input, inner);
    if (failed(number))
      return failure();
    input = *number;
  }
  FailureOr<Tensor> result = dequantize(l, inputs);
  if (succeeded(result))
    result = l.convert(*result, type);
  if (failed(result))
    return failure();
  if ((from == DataType::I8 || from == DataType::U8) && inner == type &&
      l.getInput(1).rank() <= 1) {
    Quantized quantized = {x, l.getInput(1), std::nullopt, l.getInt("axis", 1)};
    quantized.axis += quantized.axis < 0 ? x.rank() : 0;
    if (l.hasInput(2) && !isRaised)
      quantized.zero = widenToBytes(l.getInput(2));
    result->quantized = std::make_shared<Quantized>(std::move(quantized));
    // Each user may convert the bytes for itself.
    bool isKnown = type == DataType::F32;
    for (const Tensor &factor : ArrayRef(inputs).drop_front())
      isKnown &= factor.constant && factor.count() == 1;
    if (isKnown) {
      ScaledSum sum;
      sum.terms.push_back({x, std::nullopt, inputs[1]});
      if (inputs.size() > 2) {
        FailureOr<Tensor> zero = l.convert(inputs[2], DataType::F32);
        if (failed(zero))
          return failure();
        sum.terms.front().zero = *zero;
      }
      result->scaled = std::make_shared<ScaledSum>(std::move(sum));
    }
  }
  return l.setResult(result);
}

/// Whether `x` is a constant scalar with the bytes of `other`.
static bool isSameScalar(const Tensor &x, const Tensor &other) {
  return x.type == other.type && x.count() == 1 && other.count() == 1 &&
         x.constant && other.constant &&
         x.constant->bytes == other.constant->bytes;
}

/// The least scale whose inverse, and each byte times it, are normal numbers.
static constexpr double leastScale = 1e-30;

static bool hasInverse(const Tensor &scale) {
  return scale.constant && scale.isStatic() &&
         llvm::all_of(llvm::seq<int64_t>(0, scale.count()), [&](int64_t i) {
           double size = std::abs(scale.constant->getDouble(i));
           return size >= leastScale && size <= 1 / leastScale;
         });
}

/// Whether QuantizeLinear gives the bytes back that `quantized` was made of:
/// scale and zero point are the same, and no multiplication by the scale loses
/// bits.
static bool isInverse(Lowering &l, const Quantized &quantized, DataType type) {
  if (!keepsOrder(quantized) || quantized.scale.type != DataType::F32 ||
      !isSameScalar(l.getInput(1), quantized.scale) ||
      !hasInverse(quantized.scale))
    return false;
  // The integers may be the uint8 that are larger by 128 than int8.
  if (quantized.integers.type != type)
    return type == DataType::I8 && !quantized.zero && hasLowestZero(l);
  if (l.hasInput(2) != quantized.zero.has_value())
    return false;
  return !quantized.zero || isSameScalar(l.getInput(2), *quantized.zero);
}

/// x / scale in float32, or x * scale if that is the inverse.
static Value divide(ScalarBuilder &b, Value x, DataType from, Value scale,
                    DataType scaleType, bool isInverse) {
  Type wide = b.getF32Type();
  x = extend(b, x, wide, from);
  scale = extend(b, scale, wide, scaleType);
  return isInverse ? Value(arith::MulFOp::create(b, x, scale))
                   : Value(arith::DivFOp::create(b, x, scale));
}

/// round(x / scale) + zero, limited to the type; floats are rounded to the
/// type.
static LogicalResult lowerQuantize(Lowering &l) {
  const Tensor &x = l.getInput(0);
  FailureOr<Tensor> scale = getFactor(l, 1, x);
  if (failed(scale))
    return failure();
  if (!isFloat(scale->type)) {
    scale = l.convert(*scale, DataType::F32);
    if (failed(scale))
      return failure();
  }
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
  unsigned bits = getBitWidth(type);
  bool toFloat = isQuantizedFloat(type);
  if (bits == 0 || bits > 16 || type == DataType::Bool || isFloat(type) ||
      type == DataType::F8E8M0 || !isFloat(x.type))
    return l.fail("from " + getName(x.type) + " to " + getName(type) +
                  " is not supported");
  if (x.quantized && isInverse(l, *x.quantized, type)) {
    const Tensor &integers = x.quantized->integers;
    if (integers.type != type)
      return l.setResult(lowerRange(l, integers));
    l.setResult(0, integers);
    return success();
  }
  bool isRaised = type == DataType::I8 && hasLowestZero(l);
  if (isRaised) {
    type = DataType::U8;
    inputs.pop_back();
  }
  // A division takes as long as all else; the inverse of a known scale does
  // not.
  bool hasKnownInverse = !toFloat && hasInverse(inputs[1]);
  if (hasKnownInverse) {
    DataType scaleType = inputs[1].type;
    FailureOr<Tensor> inverse = l.elementwise(
        inputs[1], DataType::F32, [=](ScalarBuilder &b, ValueRange v) {
          Type wide = b.getF32Type();
          Value one = arith::ConstantOp::create(b, b.getF32FloatAttr(1));
          return Value(
              arith::DivFOp::create(b, one, extend(b, v[0], wide, scaleType)));
        });
    if (failed(inverse))
      return failure();
    inputs[1] = *inverse;
  }
  if (toFloat && inputs.size() > 2) {
    FailureOr<Tensor> zero = l.convert(inputs[2], DataType::F32);
    if (failed(zero))
      return failure();
    inputs[2] = *zero;
  }
  DataType scaleType = inputs[1].type;
  if (toFloat) {
    FailureOr<Tensor> scaled = l.elementwise(
        inputs, DataType::F32,
        [=, from = x.type](ScalarBuilder &b, ValueRange v) {
          Value y = divide(b, v[0], from, v[1], scaleType, /*isInverse=*/false);
          return v.size() > 2 ? Value(arith::AddFOp::create(b, y, v[2])) : y;
        });
    if (failed(scaled))
      return failure();
    return l.setResult(l.convert(*scaled, type, l.getInt("saturate", 1) != 0));
  }
  double inverse = hasKnownInverse && inputs[1].count() == 1
                       ? inputs[1].constant->getDouble(0)
                       : 0;
  if (x.scaled && inverse > 0 && bits >= 8) {
    FailureOr<ScaledSum> sum = scaleSum(l, *x.scaled, inputs[1]);
    if (failed(sum))
      return failure();
    sum->low *= inverse;
    sum->high *= inverse;
    std::optional<Tensor> zero;
    if (inputs.size() > 2)
      zero = inputs[2];
    FailureOr<Tensor> result = quantizeSum(l, *sum, zero, type);
    if (succeeded(result) && isRaised)
      result = lowerRange(l, *result);
    return l.setResult(result);
  }
  Type element = l.getElementType(type);
  DataType from = x.type;
  FailureOr<Tensor> result =
      l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
        Type wide = b.getF32Type();
        Value y = divide(b, v[0], from, v[1], scaleType, hasKnownInverse);
        Value zero = v.size() > 2 ? extend(b, v[2], wide, type) : Value();
        return quantizeNumber(b, y, zero, type, element);
      });
  if (succeeded(result) && isRaised)
    result = lowerRange(l, *result);
  return l.setResult(result);
}

//===----------------------------------------------------------------------===//
// Integer contractions
//===----------------------------------------------------------------------===//

/// A constant of the bytes of another one, each changed by `change`.
template <typename Change>
static Tensor mapBytes(Lowering &l, const Constant &constant, DataType type,
                       Change change) {
  std::string bytes(constant.bytes);
  for (char &byte : bytes)
    byte = change(byte);
  return l.makeConstant(type, constant.shape, std::move(bytes),
                        constant.isSplat);
}

FailureOr<ByteOperand>
mlir::tessera::onnx::makeByteOperand(Lowering &l, const Tensor &integers,
                                     const Tensor *zero, bool mayBeUnsigned) {
  if (integers.type != DataType::I8 && integers.type != DataType::U8)
    return l.fail(getName(integers.type) + " is not supported");
  ByteOperand operand = {integers, std::nullopt};
  if (mayBeUnsigned && integers.type == DataType::U8 && !integers.constant &&
      (!zero || isKnown(*zero, 0)))
    return operand;
  if (zero) {
    FailureOr<Tensor> wide = l.convert(*zero, DataType::I32);
    if (failed(wide))
      return failure();
    operand.zero = *wide;
  }
  if (integers.type == DataType::U8) {
    if (integers.constant) {
      operand.bytes =
          mapBytes(l, *integers.constant, DataType::I8, [](char byte) {
            return static_cast<char>(static_cast<uint8_t>(byte) ^ 0x80u);
          });
    } else {
      FailureOr<Tensor> shifted = lowerRange(l, integers);
      if (failed(shifted))
        return failure();
      operand.bytes = *shifted;
    }
    Tensor old =
        operand.zero ? *operand.zero : l.makeInts(0, Shape(), DataType::I32);
    FailureOr<Tensor> shifted =
        l.elementwise(old, DataType::I32, [](ScalarBuilder &b, ValueRange v) {
          Value half = arith::ConstantOp::create(b, b.getI32IntegerAttr(128));
          return Value(arith::SubIOp::create(b, v[0], half));
        });
    if (failed(shifted))
      return failure();
    operand.zero = *shifted;
  }
  if (operand.zero && isKnown(*operand.zero, 0))
    operand.zero.reset();
  return operand;
}

FailureOr<Tensor> mlir::tessera::onnx::sumBytes(Lowering &l,
                                                const Tensor &bytes,
                                                ArrayRef<int64_t> axes) {
  if (!bytes.constant)
    return l.reduce(bytes, axes, /*keepDims=*/true, DataType::I32, 0,
                    [](ScalarBuilder &b, ValueRange v) {
                      return Value(arith::AddIOp::create(b, v[1], v[0]));
                    });
  const Constant &constant = *bytes.constant;
  Shape shape = bytes.shape;
  int64_t each = 1;
  for (int64_t axis : axes) {
    each *= shape[axis];
    shape[axis] = 1;
  }
  if (constant.isSplat) {
    auto sum = static_cast<int32_t>(static_cast<uint64_t>(each) *
                                    static_cast<uint64_t>(constant.getInt(0)));
    return l.makeSplat(DataType::I32, shape, sum);
  }
  // Weights of any size: a sum of them is not computed each time.
  SmallVector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = shape[d] == 1 ? 0 : stride;
    stride *= shape[d];
  }
  std::vector<uint32_t> sums(static_cast<size_t>(stride), 0);
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t to = 0;
  for (int64_t i = 0, e = constant.count(); i < e; ++i) {
    sums[static_cast<size_t>(to)] += static_cast<uint32_t>(constant.getInt(i));
    for (size_t d = index.size(); d-- > 0;) {
      to += strides[d];
      if (++index[d] < bytes.shape[d])
        break;
      to -= strides[d] * bytes.shape[d];
      index[d] = 0;
    }
  }
  std::string contents(reinterpret_cast<const char *>(sums.data()),
                       sums.size() * sizeof(sums[0]));
  return l.makeConstant(DataType::I32, shape, std::move(contents));
}

FailureOr<Tensor> mlir::tessera::onnx::subtractProduct(Lowering &l,
                                                       const Tensor &sum,
                                                       const Tensor &zero,
                                                       const Tensor &other,
                                                       bool neverWraps) {
  FailureOr<Tensor> product = l.elementwise(
      {zero, other}, DataType::I32, [](ScalarBuilder &b, ValueRange v) {
        return Value(arith::MulIOp::create(b, v[0], v[1]));
      });
  if (failed(product))
    return failure();
  FailureOr<Tensor> result = l.elementwise(
      {sum, *product}, DataType::I32, [](ScalarBuilder &b, ValueRange v) {
        return Value(arith::SubIOp::create(b, v[0], v[1]));
      });
  if (failed(result) || !neverWraps || !product->constant)
    return result;
  FailureOr<Tensor> offset = l.elementwise(
      *product, DataType::F32, [](ScalarBuilder &b, ValueRange v) {
        Value x = arith::SIToFPOp::create(b, b.getF32Type(), v[0]);
        return Value(arith::NegFOp::create(b, x));
      });
  if (failed(offset))
    return failure();
  ScaledSum scaled = makeScaledSum(l, sum);
  scaled.offset = *offset;
  result->scaled = std::make_shared<ScaledSum>(std::move(scaled));
  return result;
}

FailureOr<Tensor> mlir::tessera::onnx::dequantizeSum(
    Lowering &l, const Tensor &sum, const Tensor &left, const Tensor &right,
    double factor, std::optional<Tensor> offset, double beta, DataType type) {
  DataType leftType = left.type, rightType = right.type;
  FailureOr<Tensor> scale = l.elementwise(
      {left, right}, DataType::F32, [=](ScalarBuilder &b, ValueRange v) {
        Type wide = b.getF32Type();
        Value product =
            arith::MulFOp::create(b, extend(b, v[0], wide, leftType),
                                  extend(b, v[1], wide, rightType));
        Value number = arith::ConstantOp::create(
            b, b.getF32FloatAttr(static_cast<float>(factor)));
        return Value(arith::MulFOp::create(b, product, number));
      });
  if (failed(scale))
    return failure();
  SmallVector<Tensor> inputs = {sum, *scale};
  if (offset)
    inputs.push_back(*offset);
  Type element = l.getElementType(type);
  FailureOr<Tensor> result =
      l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
        Type wide = b.getF32Type();
        Value x = arith::SIToFPOp::create(b, wide, v[0]);
        x = arith::MulFOp::create(b, x, v[1]);
        if (v.size() > 2) {
          Value added = extend(b, v[2], wide, DataType::F32);
          if (beta != 1)
            added = arith::MulFOp::create(
                b, added,
                arith::ConstantOp::create(
                    b, b.getF32FloatAttr(static_cast<float>(beta))));
          x = arith::AddFOp::create(b, x, added);
        }
        return wide == element ? x
                               : Value(arith::TruncFOp::create(b, element, x));
      });
  if (failed(result) || type != DataType::F32 || beta != 1 || !l.hasOneUse() ||
      !scale->constant || (offset && !offset->constant))
    return result;
  FailureOr<ScaledSum> scaled =
      scaleSum(l, sum.scaled ? *sum.scaled : makeScaledSum(l, sum), *scale);
  if (failed(scaled) || (offset && failed(addOffset(l, *scaled, *offset))))
    return failure();
  result->scaled = std::make_shared<ScaledSum>(std::move(*scaled));
  return result;
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
  // The factor, which is a constant if the scales are.
  SmallVector<DataType> types;
  for (const Tensor &scale : ArrayRef(inputs).slice(1, 3))
    types.push_back(scale.type);
  FailureOr<Tensor> factor = l.elementwise(
      ArrayRef(inputs).slice(1, 3), DataType::F32,
      [=](ScalarBuilder &b, ValueRange v) {
        Type wide = b.getF32Type();
        Value product =
            arith::MulFOp::create(b, extend(b, v[0], wide, types[0]),
                                  extend(b, v[1], wide, types[1]));
        return Value(
            arith::DivFOp::create(b, product, extend(b, v[2], wide, types[2])));
      });
  if (failed(factor))
    return failure();
  Type element = l.getElementType(type);
  return l.elementwise(
      {sum, *factor, inputs[4]}, type, [=](ScalarBuilder &b, ValueRange v) {
        Type wide = b.getF32Type();
        Value x = arith::SIToFPOp::create(b, wide, v[0]);
        return quantizeNumber(b, arith::MulFOp::create(b, x, v[1]),
                              extend(b, v[2], wide, type), type, element);
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
      {"DequantizeLinear", 10, 2, 3, lowerDequantize},
      {"DynamicQuantizeLinear", 11, 1, 1, lowerDynamicQuantize},
      {"QuantizeLinear", 10, 2, 3, lowerQuantize, "precision float32"},
  };
  return operators;
}
