//===- ScaledSums.cpp - Sums of integers with scales ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A quantized network dequantizes what a contraction sums, adds a bias and
// other dequantized numbers, limits the result, and quantizes it again:
//
//   y = round(max(sum * scale + bias + (x - zero) * other, 0) * inverse)
//
// All scales are constants, so that QuantizeLinear has one multiplication for
// each term, whose factor is computed at import, as is the offset:
//
//   y = round(max(fma(x - zero, other * inverse,
//                     fma(sum, scale * inverse, bias * inverse)), 0))
//
// A limit that the quantized type has anyway is omitted. The float operations
// in between have no users then.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

/// More terms are not known to be of use.
static constexpr size_t mostTerms = 4;

static Value makeNumber(ScalarBuilder &b, double value) {
  return arith::ConstantOp::create(
      b, b.getF32FloatAttr(static_cast<float>(value)));
}

Value mlir::tessera::onnx::quantizeNumber(ScalarBuilder &b, Value x, Value zero,
                                          DataType type, Type element) {
  double range = std::ldexp(1.0, static_cast<int>(getBitWidth(type)));
  double low = isUnsigned(type) ? 0 : -range / 2, high = low + range - 1;
  x = math::RoundEvenOp::create(b, x);
  if (zero)
    x = arith::AddFOp::create(b, x, zero);
  x = arith::MaximumFOp::create(b, x, makeNumber(b, low));
  x = arith::MinimumFOp::create(b, x, makeNumber(b, high));
  Value whole = arith::FPToSIOp::create(b, b.getI32Type(), x);
  return arith::TruncIOp::create(b, element, whole);
}

static FailureOr<Tensor> multiplyTensors(Lowering &l, const Tensor &x,
                                         const Tensor &y) {
  return l.elementwise({x, y}, DataType::F32,
                       [](ScalarBuilder &b, ValueRange v) {
                         return Value(arith::MulFOp::create(b, v[0], v[1]));
                       });
}

static FailureOr<Tensor> addTensors(Lowering &l, const Tensor &x,
                                    const Tensor &y) {
  return l.elementwise({x, y}, DataType::F32,
                       [](ScalarBuilder &b, ValueRange v) {
                         return Value(arith::AddFOp::create(b, v[0], v[1]));
                       });
}

ScaledSum mlir::tessera::onnx::makeScaledSum(Lowering &l, const Tensor &sum) {
  ScaledSum result;
  result.terms.push_back(
      {sum, std::nullopt, l.makeSplat(DataType::F32, Shape(), 1)});
  return result;
}

FailureOr<ScaledSum> mlir::tessera::onnx::scaleSum(Lowering &l,
                                                   const ScaledSum &sum,
                                                   const Tensor &factor) {
  ScaledSum result = sum;
  for (ScaledSum::Term &term : result.terms) {
    FailureOr<Tensor> scale = multiplyTensors(l, term.scale, factor);
    if (failed(scale))
      return failure();
    term.scale = *scale;
  }
  if (result.offset) {
    FailureOr<Tensor> offset = multiplyTensors(l, *result.offset, factor);
    if (failed(offset))
      return failure();
    result.offset = *offset;
  }
  return result;
}

LogicalResult mlir::tessera::onnx::addOffset(Lowering &l, ScaledSum &sum,
                                             const Tensor &offset) {
  FailureOr<Tensor> all =
      sum.offset ? addTensors(l, *sum.offset, offset) : offset;
  if (failed(all))
    return failure();
  sum.offset = *all;
  return success();
}

void mlir::tessera::onnx::keepScaledSum(Lowering &l, Tensor &result,
                                        ArrayRef<Tensor> inputs) {
  if (result.type != DataType::F32 || result.constant || !l.hasOneUse())
    return;
  ScaledSum all;
  for (const Tensor &input : inputs) {
    if (!input.scaled || input.scaled->isLimited())
      return;
    llvm::append_range(all.terms, input.scaled->terms);
    if (input.scaled->offset &&
        failed(addOffset(l, all, *input.scaled->offset)))
      return;
  }
  if (all.terms.size() <= mostTerms)
    result.scaled = std::make_shared<ScaledSum>(std::move(all));
}

void mlir::tessera::onnx::keepScaledLimits(Lowering &l, Tensor &result,
                                           double low, double high) {
  const Tensor &x = l.getInput(0);
  if (!x.scaled || result.type != DataType::F32 || !l.hasOneUse() ||
      !(low <= high))
    return;
  ScaledSum limited = *x.scaled;
  limited.low = std::min(std::max(limited.low, low), high);
  limited.high = std::min(std::max(limited.high, low), high);
  result.scaled = std::make_shared<ScaledSum>(std::move(limited));
}

FailureOr<Tensor> mlir::tessera::onnx::quantizeSum(Lowering &l,
                                                   const ScaledSum &sum,
                                                   std::optional<Tensor> zero,
                                                   DataType type) {
  // The positions of a term's tensors in `inputs`.
  struct Positions {
    DataType type;
    size_t integers, scale;
    std::optional<size_t> zero;
  };
  SmallVector<Tensor> inputs;
  auto addInput = [&](const Tensor &input) {
    inputs.push_back(input);
    return inputs.size() - 1;
  };
  SmallVector<Positions> terms;
  for (const ScaledSum::Term &term : sum.terms) {
    terms.push_back({term.integers.type, addInput(term.integers),
                     addInput(term.scale), std::nullopt});
    if (term.zero)
      terms.back().zero = addInput(*term.zero);
  }
  std::optional<size_t> offsetAt, zeroAt;
  if (sum.offset)
    offsetAt = addInput(*sum.offset);
  // A zero point of 0 need not be added.
  bool isZero = zero && zero->constant && zero->count() == 1 &&
                zero->constant->getInt(0) == 0;
  if (zero && !isZero)
    zeroAt = addInput(*zero);
  Type element = l.getElementType(type);
  // Rounding and a zero point that is the lowest number limit, too.
  double lowest =
      isUnsigned(type) ? 0 : -std::ldexp(0.5, 8 * getByteWidth(type));
  bool isLowest = zero ? zero->constant && zero->count() == 1 &&
                             zero->constant->getDouble(0) <= lowest
                       : lowest == 0;
  double low = sum.low, high = sum.high;
  bool limitsLow = !std::isinf(low) && !(isLowest && low <= 0);
  return l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
    Type wide = b.getF32Type();
    auto toFloat = [&](Value x, DataType from) {
      return isUnsigned(from) ? Value(arith::UIToFPOp::create(b, wide, x))
                              : Value(arith::SIToFPOp::create(b, wide, x));
    };
    Value x = offsetAt ? v[*offsetAt] : Value();
    for (const Positions &term : terms) {
      Value number = toFloat(v[term.integers], term.type);
      if (term.zero)
        number = arith::SubFOp::create(b, number, v[*term.zero]);
      x = x ? Value(math::FmaOp::create(b, number, v[term.scale], x))
            : Value(arith::MulFOp::create(b, number, v[term.scale]));
    }
    if (limitsLow)
      x = arith::MaximumFOp::create(b, x, makeNumber(b, low));
    if (!std::isinf(high))
      x = arith::MinimumFOp::create(b, x, makeNumber(b, high));
    return quantizeNumber(b, x, zeroAt ? toFloat(v[*zeroAt], type) : Value(),
                          type, element);
  });
}
