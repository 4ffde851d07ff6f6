//===- Matmul.cpp - Matrix multiplication ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::onnx;

/// Multiplies two matrices in `sumType`; `isTransposed`: the second one is
/// N x K.
static Tensor multiply(Lowering &l, const Tensor &left, const Tensor &right,
                       bool isTransposed, DataType sumType) {
  Tensor a = l.makeTensor(l.materialize(left), left.type);
  Tensor c = l.makeTensor(l.materialize(right), right.type);
  l.assertEqual(a, 1, c, isTransposed ? 1 : 0);
  Value init =
      l.makeFilled({l.getSize(a, 0), l.getSize(c, isTransposed ? 0 : 1)},
                   l.makeScalar(sumType, 0));
  SmallVector<Value> operands = {a.value, c.value};
  Operation *op;
  if (isTransposed)
    op = linalg::MatmulTransposeBOp::create(l.b, l.b.getLoc(), init.getType(),
                                            operands, ValueRange(init));
  else
    op = linalg::MatmulOp::create(l.b, init.getType(), operands,
                                  ValueRange(init));
  return l.makeTensor(op->getResult(0), sumType);
}

FailureOr<Tensor> mlir::tessera::onnx::multiplyBatches(Lowering &l, Tensor a,
                                                       Tensor c,
                                                       DataType sumType) {
  if (a.rank() == 0 || c.rank() == 0)
    return l.fail("its inputs must not be scalars");
  bool isRow = a.rank() == 1, isColumn = c.rank() == 1;
  FailureOr<Tensor> t = a;
  if (isRow)
    t = l.reshape(a, {1, a.shape[0]});
  if (failed(t))
    return failure();
  a = *t;
  t = c;
  if (isColumn)
    t = l.reshape(c, {c.shape[0], 1});
  if (failed(t))
    return failure();
  c = *t;
  int64_t k = a.shape.back(), rows = a.shape[a.rank() - 2],
          columns = c.shape.back(), other = c.shape[c.rank() - 2];
  if (!ShapedType::isDynamic(k) && !ShapedType::isDynamic(other) && k != other)
    return l.fail("the inner sizes " + Twine(k) + " and " + Twine(other) +
                  " differ");
  Shape aBatch(a.shape.begin(), a.shape.end() - 2),
      cBatch(c.shape.begin(), c.shape.end() - 2);
  FailureOr<Shape> batch = l.broadcast({aBatch, cBatch});
  if (failed(batch))
    return failure();
  Shape result = *batch;
  if (!isRow)
    result.push_back(rows);
  if (!isColumn)
    result.push_back(columns);
  if (failed(l.checkShape(result)))
    return failure();
  auto countAll = [](ArrayRef<int64_t> sizes) {
    int64_t all = 1;
    for (int64_t size : sizes)
      all = ShapedType::isDynamic(all) || ShapedType::isDynamic(size)
                ? ShapedType::kDynamic
                : all * size;
    return all;
  };
  if (c.rank() == 2) {
    // All rows of the batch at once.
    int64_t all = countAll(ArrayRef(a.shape).drop_back());
    FailureOr<Tensor> flat = l.reshape(a, {all, k});
    if (failed(flat))
      return failure();
    return l.reshape(multiply(l, *flat, c, false, sumType), result);
  }
  l.assertEqual(a, a.rank() - 1, c, c.rank() - 2);
  for (int64_t i = 3; i <= std::min(a.rank(), c.rank()); ++i)
    if (a.shape[a.rank() - i] != 1 && c.shape[c.rank() - i] != 1)
      l.assertEqual(a, a.rank() - i, c, c.rank() - i);
  Shape aShape = *batch, cShape = *batch;
  aShape.append({rows, k});
  cShape.append({other, columns});
  int64_t all = countAll(*batch);
  FailureOr<Tensor> left = a, right = c;
  if (aBatch != *batch && countAll(aBatch) != all)
    left = l.expand(a, aShape);
  if (cBatch != *batch && countAll(cBatch) != all)
    right = l.expand(c, cShape);
  if (succeeded(left))
    left = l.reshape(*left, {all, rows, k});
  if (succeeded(right))
    right = l.reshape(*right, {all, other, columns});
  if (failed(left) || failed(right))
    return failure();
  Tensor x = l.makeTensor(l.materialize(*left), left->type);
  Tensor y = l.makeTensor(l.materialize(*right), right->type);
  Value init = l.makeFilled({l.getSize(x, 0), l.getSize(x, 1), l.getSize(y, 2)},
                            l.makeScalar(sumType, 0));
  auto op = linalg::BatchMatmulOp::create(
      l.b, init.getType(), ValueRange{x.value, y.value}, ValueRange(init));
  return l.reshape(l.makeTensor(op->getResult(0), sumType), result);
}

/// A zero point of several elements as one for each row of the left operand
/// (`isLeft`), or for each column of the right one.
static FailureOr<Tensor> placeZero(Lowering &l, const Tensor &zero,
                                   bool isLeft) {
  if (zero.count() == 1)
    return l.reshape(zero, {});
  if (zero.rank() == 1 && isLeft)
    return l.reshape(zero, {zero.shape[0], 1});
  return zero;
}

/// MatMul of bytes minus their zero points, in int32: that of the bytes, minus
/// zero points times sums.
static FailureOr<Tensor> multiplyBytes(Lowering &l, ByteOperand a,
                                       ByteOperand c) {
  if (a.bytes.rank() == 0 || c.bytes.rank() == 0)
    return l.fail("its inputs must not be scalars");
  bool isRow = a.bytes.rank() == 1, isColumn = c.bytes.rank() == 1;
  FailureOr<Tensor> left = a.bytes, right = c.bytes;
  if (isRow)
    left = l.reshape(a.bytes, {1, a.bytes.shape[0]});
  if (isColumn)
    right = l.reshape(c.bytes, {c.bytes.shape[0], 1});
  if (failed(left) || failed(right))
    return failure();
  FailureOr<Tensor> result = multiplyBatches(l, *left, *right, DataType::I32);
  if (failed(result))
    return failure();
  FailureOr<Tensor> aZero, cZero;
  if (c.zero) {
    cZero = placeZero(l, *c.zero, /*isLeft=*/false);
    FailureOr<Tensor> sums = sumBytes(l, *left, left->rank() - 1);
    if (failed(cZero) || failed(sums))
      return failure();
    result = subtractProduct(l, *result, *cZero, *sums);
  }
  if (succeeded(result) && a.zero) {
    // The sums of the right operand minus its zero point.
    int64_t k = right->shape[right->rank() - 2];
    FailureOr<Tensor> sums;
    if (c.zero && ShapedType::isDynamic(k)) {
      FailureOr<Tensor> shifted = l.convert(*right, DataType::I32);
      if (succeeded(shifted))
        shifted = subtractProduct(l, *shifted, *cZero,
                                  l.makeInts(1, Shape(), DataType::I32));
      if (failed(shifted))
        return failure();
      sums = l.reduce(*shifted, shifted->rank() - 2, /*keepDims=*/true,
                      DataType::I32, 0, [](ScalarBuilder &b, ValueRange v) {
                        return Value(arith::AddIOp::create(b, v[1], v[0]));
                      });
    } else {
      sums = sumBytes(l, *right, right->rank() - 2);
      if (succeeded(sums) && c.zero)
        sums = subtractProduct(l, *sums, *cZero,
                               l.makeInts(k, Shape(), DataType::I32));
    }
    aZero = placeZero(l, *a.zero, /*isLeft=*/true);
    if (failed(aZero) || failed(sums))
      return failure();
    result = subtractProduct(l, *result, *aZero, *sums);
  }
  if (failed(result) || (!isRow && !isColumn))
    return result;
  Shape shape(result->shape);
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return l.reshape(*result, shape);
}

static FailureOr<Tensor> multiplyInputs(Lowering &l, size_t left,
                                        size_t leftZero, size_t right,
                                        size_t rightZero) {
  auto getZero = [&](size_t i) {
    return l.hasInput(i) ? &l.getInput(i) : nullptr;
  };
  FailureOr<ByteOperand> a =
      makeByteOperand(l, l.getInput(left), getZero(leftZero));
  FailureOr<ByteOperand> c =
      makeByteOperand(l, l.getInput(right), getZero(rightZero));
  if (failed(a) || failed(c))
    return failure();
  return multiplyBytes(l, *a, *c);
}

/// Whether both operands are dequantized bytes, with one scale and zero point,
/// or of the right one one for each index of `axis`.
static bool areBytes(const Tensor &a, const Tensor &c, int64_t axis) {
  if (!a.quantized || !c.quantized)
    return false;
  auto isOne = [](const Quantized &x) {
    return x.scale.count() == 1 && (!x.zero || x.zero->count() == 1);
  };
  return isOne(*a.quantized) &&
         (isOne(*c.quantized) || c.quantized->axis == axis);
}

static LogicalResult lowerMatMul(Lowering &l) {
  const Tensor &a = l.getInput(0), &c = l.getInput(1);
  if (a.type != c.type || a.type == DataType::Bool)
    return l.fail("inputs of " + getName(a.type) + " and " + getName(c.type) +
                  " are not supported");
  if (areBytes(a, c, c.rank() == 1 ? -1 : c.rank() - 1)) {
    FailureOr<ByteOperand> left = makeByteOperand(l, *a.quantized);
    FailureOr<ByteOperand> right = makeByteOperand(l, *c.quantized);
    if (failed(left) || failed(right))
      return failure();
    FailureOr<Tensor> sum = multiplyBytes(l, *left, *right);
    if (failed(sum))
      return failure();
    return l.setResult(dequantizeSum(l, *sum, a.quantized->scale,
                                     c.quantized->scale, 1, std::nullopt, 1,
                                     a.type));
  }
  FailureOr<Tensor> result =
      multiplyBatches(l, a, c, Lowering::getSumType(a.type));
  return failed(result) ? failure() : l.setResult(l.convert(*result, a.type));
}

static LogicalResult lowerMatMulInteger(Lowering &l) {
  return l.setResult(multiplyInputs(l, 0, 2, 1, 3));
}

static LogicalResult lowerQLinearMatMul(Lowering &l) {
  FailureOr<Tensor> sum = multiplyInputs(l, 0, 2, 3, 5);
  if (failed(sum))
    return failure();
  return l.setResult(requantize(l, *sum, 1, 4, 6, 7, sum->rank() - 1));
}

static LogicalResult lowerGemm(Lowering &l) {
  Tensor a = l.getInput(0), c = l.getInput(1);
  DataType type = a.type;
  if (a.rank() != 2 || c.rank() != 2)
    return l.fail("its inputs must be matrices");
  if (c.type != type || (l.hasInput(2) && l.getInput(2).type != type) ||
      !isFloat(type))
    return l.fail("inputs of " + getName(type) + " and " + getName(c.type) +
                  " are not supported");
  double alpha = l.getFloat("alpha", 1), beta = l.getFloat("beta", 1);
  bool isTransposed = l.getInt("transB", 0) != 0;
  if (l.getInt("transA", 0)) {
    FailureOr<Tensor> turned = l.transpose(a, {1, 0});
    if (failed(turned))
      return failure();
    a = *turned;
  }
  int64_t k = a.shape[1], other = c.shape[isTransposed ? 1 : 0];
  if (!ShapedType::isDynamic(k) && !ShapedType::isDynamic(other) && k != other)
    return l.fail("the inner sizes " + Twine(k) + " and " + Twine(other) +
                  " differ");
  if (!l.getInt("transA", 0) && areBytes(a, c, isTransposed ? 0 : 1)) {
    FailureOr<ByteOperand> left = makeByteOperand(l, *a.quantized);
    FailureOr<ByteOperand> right = makeByteOperand(l, *c.quantized);
    if (failed(left) || failed(right))
      return failure();
    if (isTransposed) {
      FailureOr<Tensor> turned = l.transpose(right->bytes, {1, 0});
      if (failed(turned))
        return failure();
      right->bytes = *turned;
    }
    FailureOr<Tensor> sum = multiplyBytes(l, *left, *right);
    if (failed(sum))
      return failure();
    std::optional<Tensor> offset;
    if (l.hasInput(2)) {
      offset = l.getInput(2);
      FailureOr<Shape> shape = l.broadcast({sum->shape, offset->shape});
      if (failed(shape))
        return failure();
      if (*shape != sum->shape)
        return l.fail("C cannot be broadcast to the result");
    }
    return l.setResult(dequantizeSum(l, *sum, a.quantized->scale,
                                     c.quantized->scale, alpha, offset, beta,
                                     type));
  }
  DataType sumType = Lowering::getSumType(type);
  Tensor sum = multiply(l, a, c, isTransposed, sumType);
  SmallVector<Tensor> inputs = {sum};
  if (l.hasInput(2)) {
    FailureOr<Shape> shape = l.broadcast({sum.shape, l.getInput(2).shape});
    if (failed(shape))
      return failure();
    if (*shape != sum.shape)
      return l.fail("C cannot be broadcast to the result");
    inputs.push_back(l.getInput(2));
  }
  if (inputs.size() == 1 && alpha == 1)
    return l.setResult(l.convert(sum, type));
  Type element = l.getElementType(type), wide = l.getElementType(sumType);
  return l.setResult(
      l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
        auto scale = [&](Value x, double factor) {
          if (factor == 1)
            return x;
          Value number =
              arith::ConstantOp::create(b, b.getFloatAttr(wide, factor));
          return Value(arith::MulFOp::create(b, x, number));
        };
        Value all = scale(v[0], alpha);
        if (v.size() > 1) {
          Value offset = v[1];
          if (sumType != type)
            offset = arith::ExtFOp::create(b, wide, offset);
          all = arith::AddFOp::create(b, all, scale(offset, beta));
        }
        return sumType == type
                   ? all
                   : Value(arith::TruncFOp::create(b, element, all));
      }));
}

/// The determinants of small matrices: the sum of all terms with an element of
/// each row and column.
static LogicalResult lowerDet(Lowering &l) {
  const Tensor &x = l.getInput(0);
  constexpr int64_t largest = 4;
  int64_t rank = x.rank(), n = rank < 2 ? 0 : x.shape[rank - 1];
  if (!isFloat(x.type) || n < 1 || n > largest || x.shape[rank - 2] != n)
    return l.fail("expected square matrices of at most " + Twine(largest) +
                  " rows");
  Shape batch(x.shape.begin(), x.shape.end() - 2), one = batch;
  one.append({1, 1});
  SmallVector<Tensor> elements;
  SmallVector<int64_t> offsets(x.shape.size(), 0), steps(x.shape.size(), 1);
  for (int64_t i = 0; i < n * n; ++i) {
    offsets[rank - 2] = i / n;
    offsets[rank - 1] = i % n;
    FailureOr<Tensor> element = l.slice(x, offsets, one, steps);
    if (succeeded(element))
      element = l.reshape(*element, batch);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  Type wide = l.getElementType(Lowering::getSumType(x.type)),
       element = l.getElementType(x.type);
  return l.setResult(
      l.elementwise(elements, x.type, [=](ScalarBuilder &b, ValueRange v) {
        auto get = [&](int64_t i) -> Value {
          return wide == element ? v[i] : arith::ExtFOp::create(b, wide, v[i]);
        };
        SmallVector<int64_t> columns =
            llvm::to_vector(llvm::seq<int64_t>(0, n));
        Value sum;
        do {
          unsigned swaps = 0;
          for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < i; ++j)
              swaps += columns[j] > columns[i];
          Value term = get(columns[0]);
          for (int64_t i = 1; i < n; ++i)
            term = arith::MulFOp::create(b, term, get(i * n + columns[i]));
          if (!sum)
            sum = term;
          else
            sum = swaps % 2 ? Value(arith::SubFOp::create(b, sum, term))
                            : Value(arith::AddFOp::create(b, sum, term));
        } while (std::next_permutation(columns.begin(), columns.end()));
        return wide == element
                   ? sum
                   : Value(arith::TruncFOp::create(b, element, sum));
      }));
}

ArrayRef<Operator> mlir::tessera::onnx::getMatmulOperators() {
  static const Operator operators[] = {
      {"Det", 11, 1, 1, lowerDet, "at most 4 rows, static"},
      {"Gemm", 7, 2, 3, lowerGemm, "floating point only"},
      {"MatMul", 1, 2, 2, lowerMatMul},
      {"MatMulInteger", 10, 2, 4, lowerMatMulInteger},
      {"QLinearMatMul", 10, 8, 8, lowerQLinearMatMul,
       "one scale of the first operand"},
  };
  return operators;
}
