//===- Matmul.cpp - Matrix multiplication ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

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

/// MatMul as numpy defines it, in `sumType`.
static FailureOr<Tensor> multiplyBatches(Lowering &l, Tensor a, Tensor c,
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

static LogicalResult lowerMatMul(Lowering &l) {
  const Tensor &a = l.getInput(0), &c = l.getInput(1);
  if (a.type != c.type || a.type == DataType::Bool)
    return l.fail("inputs of " + getName(a.type) + " and " + getName(c.type) +
                  " are not supported");
  FailureOr<Tensor> result =
      multiplyBatches(l, a, c, Lowering::getSumType(a.type));
  return failed(result) ? failure() : l.setResult(l.convert(*result, a.type));
}

static LogicalResult lowerMatMulInteger(Lowering &l) {
  FailureOr<Tensor> a = subtractZero(l, l.getInput(0), 2, /*isRows=*/true);
  FailureOr<Tensor> c = subtractZero(l, l.getInput(1), 3, /*isRows=*/false);
  if (failed(a) || failed(c))
    return failure();
  return l.setResult(multiplyBatches(l, *a, *c, DataType::I32));
}

static LogicalResult lowerQLinearMatMul(Lowering &l) {
  FailureOr<Tensor> a = subtractZero(l, l.getInput(0), 2, /*isRows=*/true);
  FailureOr<Tensor> c = subtractZero(l, l.getInput(3), 5, /*isRows=*/false);
  if (failed(a) || failed(c))
    return failure();
  FailureOr<Tensor> sum = multiplyBatches(l, *a, *c, DataType::I32);
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

ArrayRef<Operator> mlir::tessera::onnx::getMatmulOperators() {
  static const Operator operators[] = {
      {"Gemm", 7, 2, 3, lowerGemm, "floating point only"},
      {"MatMul", 1, 2, 2, lowerMatMul},
      {"MatMulInteger", 10, 2, 4, lowerMatMulInteger},
      {"QLinearMatMul", 10, 8, 8, lowerQLinearMatMul,
       "one scale of the first operand"},
  };
  return operators;
}
