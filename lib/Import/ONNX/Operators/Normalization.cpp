//===- Normalization.cpp - Normalization and softmax ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ScalarMath.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

static Value makeNumber(ScalarBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

static LogicalResult lowerBatchNormalization(Lowering &l) {
  const Tensor &x = l.getInput(0);
  if (l.getInt("training_mode", 0) != 0)
    return l.fail("training mode is not supported; export the model for "
                  "inference");
  if (l.getInt("spatial", 1) == 0)
    return l.fail("spatial=0 is not supported");
  if (!isFloat(x.type) || x.rank() < 2)
    return l.fail("expected a floating point tensor with channels");
  double epsilon = l.getFloat("epsilon", 1e-5f);
  // (x - mean) * scale / sqrt(variance + epsilon) + offset
  Shape column(x.shape.size() - 1, 1);
  column[0] = x.shape[1];
  SmallVector<Tensor> parts;
  bool isConstant = true;
  for (size_t i = 1; i < 5; ++i) {
    const Tensor &part = l.getInput(i);
    if (part.rank() != 1 ||
        (part.shape[0] != x.shape[1] && !ShapedType::isDynamic(x.shape[1])))
      return l.fail("input " + Twine(i) +
                    " must have one element for each of " + Twine(x.shape[1]) +
                    " channels");
    column[0] = part.shape[0];
    FailureOr<Tensor> wide = l.reshape(part, column);
    if (failed(wide))
      return failure();
    parts.push_back(*wide);
    isConstant &= part.constant != nullptr;
  }
  if (isConstant) {
    SmallVector<double> factors, offsets;
    for (int64_t i = 0; i < column[0]; ++i) {
      double factor = parts[0].constant->getDouble(i) /
                      std::sqrt(parts[3].constant->getDouble(i) + epsilon);
      factors.push_back(factor);
      offsets.push_back(parts[1].constant->getDouble(i) -
                        parts[2].constant->getDouble(i) * factor);
    }
    return l.setResult(l.elementwise({x, l.makeDoubles(factors, column, x.type),
                                      l.makeDoubles(offsets, column, x.type)},
                                     x.type,
                                     [](ScalarBuilder &b, ValueRange v) {
                                       return add(b, mul(b, v[0], v[1]), v[2]);
                                     }));
  }
  DataType type = parts[3].type;
  FailureOr<Tensor> factor = l.elementwise(
      {parts[0], parts[3]}, type, [=](ScalarBuilder &b, ValueRange v) {
        Value root = math::SqrtOp::create(
            b, add(b, v[1], makeNumber(b, v[1].getType(), epsilon)));
        Value scale = v[0];
        if (scale.getType() != root.getType())
          scale = arith::ExtFOp::create(b, root.getType(), scale);
        return Value(arith::DivFOp::create(b, scale, root));
      });
  if (failed(factor))
    return failure();
  Type element = l.getElementType(x.type), wide = l.getElementType(type);
  return l.setResult(l.elementwise(
      {x, *factor, parts[1], parts[2]}, x.type,
      [=](ScalarBuilder &b, ValueRange v) {
        auto extend = [&](Value value) {
          return value.getType() == wide
                     ? value
                     : Value(arith::ExtFOp::create(b, wide, value));
        };
        Value y = add(b, mul(b, sub(b, extend(v[0]), extend(v[3])), v[1]),
                      extend(v[2]));
        return element == wide ? y
                               : Value(arith::TruncFOp::create(b, element, y));
      }));
}

static LogicalResult lowerLRN(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t size = l.getInt("size", 0);
  double alpha = l.getFloat("alpha", 1e-4f), beta = l.getFloat("beta", 0.75),
         bias = l.getFloat("bias", 1);
  if (!isFloat(x.type) || x.rank() < 2 || size < 1 || size > 1 << 20)
    return l.fail("expected a floating point tensor with channels, and a "
                  "size of at least 1");
  DataType type = x.type, sumType = Lowering::getSumType(type);
  Tensor source = l.makeTensor(l.materialize(x), type);
  // The window of channel c is c - (size - 1) / 2 to c + size / 2.
  SmallVector<int64_t> low(x.shape.size(), 0), high(low);
  low[1] = (size - 1) / 2;
  high[1] = size / 2;
  FailureOr<Tensor> padded = l.pad(source, low, high, l.makeScalar(type, 0));
  if (failed(padded))
    return failure();
  auto rank = static_cast<unsigned>(x.rank());
  SmallVector<AffineExpr> from, to;
  for (unsigned d = 0; d < rank; ++d) {
    AffineExpr dim = l.b.getAffineDimExpr(d);
    to.push_back(dim);
    from.push_back(d == 1 ? dim + l.b.getAffineDimExpr(rank) : dim);
  }
  SmallVector<AffineMap> maps = {
      AffineMap::get(rank + 1, 0, from, l.b.getContext()),
      AffineMap::get(rank + 1, 0, l.b.getAffineDimExpr(rank)),
      AffineMap::get(rank + 1, 0, to, l.b.getContext())};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Type element = l.getElementType(type), wide = l.getElementType(sumType);
  Value init = l.makeFilled(l.getSizes(source), l.makeScalar(sumType, 0));
  Value window = tensor::EmptyOp::create(l.b, ArrayRef<int64_t>(size), wide);
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), ValueRange{padded->value, window}, init, maps,
      iterators, [&](OpBuilder &nested, Location loc, ValueRange v) {
        ScalarBuilder b(loc, nested);
        Value y = v[0];
        if (y.getType() != wide)
          y = arith::ExtFOp::create(b, wide, y);
        linalg::YieldOp::create(b, add(b, v[2], mul(b, y, y)));
      });
  Tensor sums = l.makeTensor(generic.getResult(0), sumType);
  return l.setResult(
      l.elementwise({source, sums}, type, [=](ScalarBuilder &b, ValueRange v) {
        Value y = v[0];
        if (y.getType() != wide)
          y = arith::ExtFOp::create(b, wide, y);
        Value base =
            add(b, makeNumber(b, wide, bias),
                mul(b, v[1],
                    makeNumber(b, wide, alpha / static_cast<double>(size))));
        Value power;
        if (beta == 0.75) {
          // x^-0.75 is 1 / sqrt(x) times the root of that.
          Value root = math::RsqrtOp::create(b, base);
          power = mul(b, root, math::SqrtOp::create(b, root));
        } else {
          power = math::PowFOp::create(b, base, makeNumber(b, wide, -beta));
        }
        Value result = mul(b, y, power);
        return element == wide
                   ? result
                   : Value(arith::TruncFOp::create(b, element, result));
      }));
}

/// Softmax of a tensor over some axes, or its logarithm.
FailureOr<Tensor> mlir::tessera::onnx::softmax(Lowering &l, const Tensor &x,
                                               ArrayRef<int64_t> axes,
                                               bool isLog) {
  DataType type = x.type, sumType = Lowering::getSumType(type);
  FailureOr<Tensor> top =
      l.reduce(x, axes, /*keepDims=*/true, type, -INFINITY,
               [](ScalarBuilder &b, ValueRange v) {
                 return Value(arith::MaximumFOp::create(b, v[1], v[0]));
               });
  if (failed(top))
    return failure();
  Type element = l.getElementType(type), wide = l.getElementType(sumType);
  FailureOr<Tensor> shifted =
      l.elementwise({x, *top}, sumType, [=](ScalarBuilder &b, ValueRange v) {
        auto extend = [&](Value value) {
          return element == wide ? value
                                 : Value(arith::ExtFOp::create(b, wide, value));
        };
        Value y = sub(b, extend(v[0]), extend(v[1]));
        return isLog ? y : Value(math::ExpOp::create(b, y));
      });
  if (failed(shifted))
    return failure();
  FailureOr<Tensor> powers = shifted;
  if (isLog)
    powers =
        l.elementwise(*shifted, sumType, [](ScalarBuilder &b, ValueRange v) {
          return Value(math::ExpOp::create(b, v[0]));
        });
  if (failed(powers))
    return failure();
  FailureOr<Tensor> sum = l.reduce(
      *powers, axes, /*keepDims=*/true, sumType, 0,
      [](ScalarBuilder &b, ValueRange v) { return add(b, v[1], v[0]); });
  if (failed(sum))
    return failure();
  return l.elementwise(
      {*shifted, *sum}, type, [=](ScalarBuilder &b, ValueRange v) {
        Value y = isLog ? sub(b, v[0], math::LogOp::create(b, v[1]))
                        : Value(arith::DivFOp::create(b, v[0], v[1]));
        return element == wide ? y
                               : Value(arith::TruncFOp::create(b, element, y));
      });
}

static LogicalResult lowerSoftmax(Lowering &l, bool isLog) {
  const Tensor &x = l.getInput(0);
  if (!isFloat(x.type))
    return l.fail(getName(x.type) + " is not supported");
  int64_t axis = l.getInt("axis", l.version < 13 ? 1 : -1);
  if (l.version < 13 && axis == x.rank()) {
    // Each element is a row by itself.
    FailureOr<Tensor> wide = x;
    Shape shape = x.shape;
    shape.push_back(1);
    wide = l.reshape(x, shape);
    if (succeeded(wide))
      wide = softmax(l, *wide, axis, isLog);
    return failed(wide) ? failure() : l.setResult(l.reshape(*wide, x.shape));
  }
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  SmallVector<int64_t> axes = {axis};
  // Before opset 13, over all dimensions from the axis on.
  if (l.version < 13)
    axes = llvm::to_vector(llvm::seq<int64_t>(axis, x.rank()));
  return l.setResult(softmax(l, x, axes, isLog));
}

static LogicalResult lowerSoftmax(Lowering &l) {
  return lowerSoftmax(l, /*isLog=*/false);
}
static LogicalResult lowerLogSoftmax(Lowering &l) {
  return lowerSoftmax(l, /*isLog=*/true);
}

/// (x - mean) / sqrt(variance + epsilon), in `sumType`.
static FailureOr<Tensor> normalize(Lowering &l, const Tensor &x,
                                   ArrayRef<int64_t> axes, double epsilon,
                                   DataType sumType, Tensor *mean = nullptr,
                                   Tensor *inverse = nullptr) {
  double count = 1;
  for (int64_t axis : axes) {
    if (ShapedType::isDynamic(x.shape[axis]))
      return l.fail("dimension " + Twine(axis) + " must be static");
    count *= static_cast<double>(x.shape[axis]);
  }
  auto sum = [](ScalarBuilder &b, ValueRange v) { return add(b, v[1], v[0]); };
  Tensor divisor = l.makeSplat(sumType, {}, count);
  auto divide = [](ScalarBuilder &b, ValueRange v) {
    return Value(arith::DivFOp::create(b, v[0], v[1]));
  };
  FailureOr<Tensor> wide = l.convert(x, sumType);
  if (failed(wide))
    return failure();
  FailureOr<Tensor> average =
      l.reduce(*wide, axes, /*keepDims=*/true, sumType, 0, sum);
  if (succeeded(average))
    average = l.elementwise({*average, divisor}, sumType, divide);
  if (failed(average))
    return failure();
  FailureOr<Tensor> centered = l.elementwise(
      {*wide, *average}, sumType,
      [](ScalarBuilder &b, ValueRange v) { return sub(b, v[0], v[1]); });
  if (failed(centered))
    return failure();
  FailureOr<Tensor> squares =
      l.elementwise(*centered, sumType, [](ScalarBuilder &b, ValueRange v) {
        return mul(b, v[0], v[0]);
      });
  if (succeeded(squares))
    squares = l.reduce(*squares, axes, /*keepDims=*/true, sumType, 0, sum);
  if (failed(squares))
    return failure();
  FailureOr<Tensor> factor = l.elementwise(
      {*squares, divisor}, sumType, [=](ScalarBuilder &b, ValueRange v) {
        Value variance = arith::DivFOp::create(b, v[0], v[1]);
        return Value(math::RsqrtOp::create(
            b, add(b, variance, makeNumber(b, variance.getType(), epsilon))));
      });
  if (failed(factor))
    return failure();
  if (mean)
    *mean = *average;
  if (inverse)
    *inverse = *factor;
  return l.elementwise(
      {*centered, *factor}, sumType,
      [](ScalarBuilder &b, ValueRange v) { return mul(b, v[0], v[1]); });
}

/// normalized * scale + offset, in the type of the result.
static FailureOr<Tensor> scaleAndShift(Lowering &l, const Tensor &normalized,
                                       ArrayRef<Tensor> parts, DataType type) {
  SmallVector<Tensor> inputs = {normalized};
  llvm::append_range(inputs, parts);
  Type element = l.getElementType(type),
       wide = l.getElementType(normalized.type);
  return l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
    auto extend = [&](Value value) {
      return value.getType() == wide
                 ? value
                 : Value(arith::ExtFOp::create(b, wide, value));
    };
    Value y = v[0];
    if (v.size() > 1)
      y = mul(b, y, extend(v[1]));
    if (v.size() > 2)
      y = add(b, y, extend(v[2]));
    return element == wide ? y : Value(arith::TruncFOp::create(b, element, y));
  });
}

static LogicalResult lowerLayerNormalization(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t axis = l.getInt("axis", -1);
  if (!isFloat(x.type))
    return l.fail(getName(x.type) + " is not supported");
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  DataType sumType = x.type == DataType::F64 ? DataType::F64 : DataType::F32;
  Tensor mean, inverse;
  FailureOr<Tensor> normalized =
      normalize(l, x, llvm::to_vector(llvm::seq<int64_t>(axis, x.rank())),
                l.getFloat("epsilon", 1e-5f), sumType, &mean, &inverse);
  if (failed(normalized))
    return failure();
  SmallVector<Tensor> parts = {l.getInput(1)};
  if (l.hasInput(2))
    parts.push_back(l.getInput(2));
  FailureOr<Tensor> result = scaleAndShift(l, *normalized, parts, x.type);
  if (failed(result))
    return failure();
  l.setResult(0, *result);
  if (l.isOutputUsed(1))
    l.setResult(1, mean);
  if (l.isOutputUsed(2))
    l.setResult(2, inverse);
  return success();
}

/// The scale or offset of each channel, to be broadcast to N x C x ...
static FailureOr<Tensor> makeColumn(Lowering &l, size_t i, int64_t rank) {
  const Tensor &part = l.getInput(i);
  if (part.rank() != 1)
    return l.fail("input " + Twine(i) + " must have one dimension");
  Shape column(static_cast<size_t>(rank) - 1, 1);
  column[0] = part.shape[0];
  return l.reshape(part, column);
}

static LogicalResult lowerInstanceNormalization(Lowering &l) {
  const Tensor &x = l.getInput(0);
  if (!isFloat(x.type) || x.rank() < 3)
    return l.fail("expected a floating point tensor with spatial dimensions");
  DataType sumType = Lowering::getSumType(x.type);
  FailureOr<Tensor> normalized =
      normalize(l, x, llvm::to_vector(llvm::seq<int64_t>(2, x.rank())),
                l.getFloat("epsilon", 1e-5f), sumType);
  if (failed(normalized))
    return failure();
  FailureOr<Tensor> scale = makeColumn(l, 1, x.rank()),
                    offset = makeColumn(l, 2, x.rank());
  if (failed(scale) || failed(offset))
    return failure();
  return l.setResult(scaleAndShift(l, *normalized, {*scale, *offset}, x.type));
}

static LogicalResult lowerGroupNormalization(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t groups = l.getInt("num_groups", 0);
  if (!isFloat(x.type) || x.rank() < 3 || groups < 1 ||
      ShapedType::isDynamic(x.shape[1]) || x.shape[1] % groups)
    return l.fail("expected a floating point tensor with spatial dimensions, "
                  "whose channels are a multiple of num_groups");
  DataType sumType = Lowering::getSumType(x.type);
  Shape split = x.shape;
  split[1] = x.shape[1] / groups;
  split.insert(split.begin() + 1, groups);
  FailureOr<Tensor> grouped = l.reshape(x, split);
  if (failed(grouped))
    return failure();
  FailureOr<Tensor> normalized = normalize(
      l, *grouped, llvm::to_vector(llvm::seq<int64_t>(2, grouped->rank())),
      l.getFloat("epsilon", 1e-5f), sumType);
  if (failed(normalized))
    return failure();
  bool isPerGroup = l.version < 21;
  if (!isPerGroup)
    normalized = l.reshape(*normalized, x.shape);
  if (failed(normalized))
    return failure();
  FailureOr<Tensor> scale = makeColumn(l, 1, normalized->rank()),
                    offset = makeColumn(l, 2, normalized->rank());
  if (failed(scale) || failed(offset))
    return failure();
  FailureOr<Tensor> result =
      scaleAndShift(l, *normalized, {*scale, *offset}, x.type);
  return failed(result) ? failure() : l.setResult(l.reshape(*result, x.shape));
}

static LogicalResult lowerMeanVarianceNormalization(Lowering &l) {
  const Tensor &x = l.getInput(0);
  SmallVector<int64_t> axes = l.getInts("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  for (int64_t &axis : axes)
    if (failed(l.normalizeAxis(axis, x.rank())))
      return failure();
  if (!isFloat(x.type))
    return l.fail(getName(x.type) + " is not supported");
  FailureOr<Tensor> result =
      normalize(l, x, axes, 1e-9, Lowering::getSumType(x.type));
  return failed(result) ? failure() : l.setResult(l.convert(*result, x.type));
}

static LogicalResult lowerRMSNormalization(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t axis = l.getInt("axis", -1);
  double epsilon = l.getFloat("epsilon", 1e-5f);
  if (!isFloat(x.type))
    return l.fail(getName(x.type) + " is not supported");
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  DataType sumType = x.type == DataType::F64 ? DataType::F64 : DataType::F32;
  auto axes = llvm::to_vector(llvm::seq<int64_t>(axis, x.rank()));
  double count = 1;
  for (int64_t d : axes) {
    if (ShapedType::isDynamic(x.shape[d]))
      return l.fail("dimension " + Twine(d) + " must be static");
    count *= static_cast<double>(x.shape[d]);
  }
  FailureOr<Tensor> wide = l.convert(x, sumType);
  if (failed(wide))
    return failure();
  FailureOr<Tensor> sum = l.reduce(*wide, axes, /*keepDims=*/true, sumType, 0,
                                   [](ScalarBuilder &b, ValueRange v) {
                                     return add(b, v[1], mul(b, v[0], v[0]));
                                   });
  if (failed(sum))
    return failure();
  FailureOr<Tensor> normalized = l.elementwise(
      {*wide, *sum}, sumType, [=](ScalarBuilder &b, ValueRange v) {
        Type type = v[1].getType();
        Value mean = arith::DivFOp::create(b, v[1], makeNumber(b, type, count));
        Value root = math::RsqrtOp::create(
            b, add(b, mean, makeNumber(b, type, epsilon)));
        return mul(b, v[0], root);
      });
  if (failed(normalized))
    return failure();
  return l.setResult(scaleAndShift(l, *normalized, {l.getInput(1)}, x.type));
}

static LogicalResult lowerLpNormalization(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t axis = l.getInt("axis", -1), p = l.getInt("p", 2);
  if (!isFloat(x.type) || (p != 1 && p != 2))
    return l.fail("expected a floating point tensor and p of 1 or 2");
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  DataType sumType = Lowering::getSumType(x.type);
  FailureOr<Tensor> wide = l.convert(x, sumType);
  if (failed(wide))
    return failure();
  FailureOr<Tensor> sum =
      l.reduce(*wide, axis, /*keepDims=*/true, sumType, 0,
               [=](ScalarBuilder &b, ValueRange v) {
                 return add(b, v[1],
                            p == 1 ? Value(math::AbsFOp::create(b, v[0]))
                                   : mul(b, v[0], v[0]));
               });
  if (failed(sum))
    return failure();
  FailureOr<Tensor> result = l.elementwise(
      {*wide, *sum}, sumType, [=](ScalarBuilder &b, ValueRange v) {
        Value norm = p == 1 ? v[1] : Value(math::SqrtOp::create(b, v[1]));
        Value zero = makeNumber(b, norm.getType(), 0);
        // A tensor of zeros stays one.
        Value isZero =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, norm, zero);
        return Value(arith::SelectOp::create(
            b, isZero, zero, arith::DivFOp::create(b, v[0], norm)));
      });
  return failed(result) ? failure() : l.setResult(l.convert(*result, x.type));
}

ArrayRef<Operator> mlir::tessera::onnx::getNormalizationOperators() {
  static const Operator operators[] = {
      {"BatchNormalization", 7, 5, 5, lowerBatchNormalization,
       "inference only"},
      {"GroupNormalization", 18, 3, 3, lowerGroupNormalization,
       "static spatial dimensions"},
      {"InstanceNormalization", 6, 3, 3, lowerInstanceNormalization,
       "static spatial dimensions"},
      {"LRN", 1, 1, 1, lowerLRN},
      {"LayerNormalization", 17, 2, 3, lowerLayerNormalization,
       "static axes only"},
      {"LogSoftmax", 1, 1, 1, lowerLogSoftmax},
      {"LpNormalization", 1, 1, 1, lowerLpNormalization},
      {"MeanVarianceNormalization", 9, 1, 1, lowerMeanVarianceNormalization,
       "static axes only"},
      {"RMSNormalization", 23, 2, 2, lowerRMSNormalization, "static axes only"},
      {"Softmax", 1, 1, 1, lowerSoftmax},
  };
  return operators;
}
