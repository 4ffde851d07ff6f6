//===- Reduction.cpp - Reductions over axes -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

namespace {
enum class Reduction {
  Sum,
  Mean,
  Max,
  Min,
  Prod,
  L1,
  L2,
  LogSum,
  LogSumExp,
  SumSquare
};
} // namespace

static Value combine(ImplicitLocOpBuilder &b, Reduction kind, DataType type,
                     Value x, Value sum) {
  bool isNumber = isFloat(type);
  switch (kind) {
  case Reduction::Max:
    return isNumber ? Value(arith::MaximumFOp::create(b, sum, x))
           : isUnsigned(type) || type == DataType::Bool
               ? Value(arith::MaxUIOp::create(b, sum, x))
               : Value(arith::MaxSIOp::create(b, sum, x));
  case Reduction::Min:
    return isNumber ? Value(arith::MinimumFOp::create(b, sum, x))
           : isUnsigned(type) || type == DataType::Bool
               ? Value(arith::MinUIOp::create(b, sum, x))
               : Value(arith::MinSIOp::create(b, sum, x));
  case Reduction::Prod:
    return isNumber ? Value(arith::MulFOp::create(b, sum, x))
                    : Value(arith::MulIOp::create(b, sum, x));
  case Reduction::L1:
    x = isNumber           ? Value(math::AbsFOp::create(b, x))
        : isUnsigned(type) ? x
                           : Value(math::AbsIOp::create(b, x));
    break;
  case Reduction::L2:
  case Reduction::SumSquare:
    x = isNumber ? Value(arith::MulFOp::create(b, x, x))
                 : Value(arith::MulIOp::create(b, x, x));
    break;
  default:
    break;
  }
  return isNumber ? Value(arith::AddFOp::create(b, sum, x))
                  : Value(arith::AddIOp::create(b, sum, x));
}

/// The neutral number.
static double getStart(Reduction kind, DataType type) {
  double largest =
      std::ldexp(1.0, static_cast<int>(8 * getByteWidth(type)) - 1);
  bool hasSign = !isUnsigned(type) && type != DataType::Bool;
  switch (kind) {
  case Reduction::Max:
    return isFloat(type) ? -INFINITY : hasSign ? -largest : 0;
  case Reduction::Min:
    // -1 has all bits set, which is the largest unsigned number.
    // For 64 bits the difference rounds to 2^63, which becomes the largest
    // integer.
    return isFloat(type) ? INFINITY : !hasSign ? -1 : largest - 1;
  case Reduction::Prod:
    return 1;
  default:
    return 0;
  }
}

template <Reduction kind> static LogicalResult lowerReduce(Lowering &l) {
  const Tensor &input = l.getInput(0);
  int64_t inputVersion = kind == Reduction::Sum ? 13 : 18;
  SmallVector<int64_t> axes;
  if (l.version < inputVersion)
    axes = l.getInts("axes");
  else if (l.hasInput(1) && failed(l.getInts(1, "axes", axes)))
    return failure();
  for (int64_t &axis : axes)
    if (failed(l.normalizeAxis(axis, input.rank())))
      return failure();
  bool keepsDims = l.getInt("keepdims", 1) != 0;
  if (axes.empty()) {
    if (l.version >= inputVersion && l.getInt("noop_with_empty_axes", 0)) {
      l.setResult(0, input);
      return success();
    }
    llvm::append_range(axes, llvm::seq<int64_t>(0, input.rank()));
  }
  DataType type = input.type;
  constexpr bool isExtreme = kind == Reduction::Max || kind == Reduction::Min;
  constexpr bool isReal = kind == Reduction::L2 || kind == Reduction::LogSum ||
                          kind == Reduction::LogSumExp;
  if ((isReal && !isFloat(type)) || (!isExtreme && type == DataType::Bool))
    return l.fail(getName(type) + " is not supported");
  DataType sumType = isExtreme ? type : Lowering::getSumType(type);
  Tensor source = input;
  std::optional<Tensor> largest;
  auto reduce = [&](const Tensor &from, Reduction how, DataType as) {
    return l.reduce(from, axes, keepsDims, as, getStart(how, as),
                    [=](ScalarBuilder &b, ValueRange v) {
                      return combine(b, how, as, v[0], v[1]);
                    });
  };
  if (kind == Reduction::LogSumExp) {
    // exp(x - max) does not overflow.
    FailureOr<Tensor> top =
        l.reduce(input, axes, /*keepDims=*/true, type, -INFINITY,
                 [=](ScalarBuilder &b, ValueRange v) {
                   return combine(b, Reduction::Max, type, v[0], v[1]);
                 });
    if (failed(top))
      return failure();
    FailureOr<Tensor> powers =
        l.elementwise({input, *top}, type, [](ScalarBuilder &b, ValueRange v) {
          return Value(
              math::ExpOp::create(b, arith::SubFOp::create(b, v[0], v[1])));
        });
    if (failed(powers))
      return failure();
    source = *powers;
    Shape shape;
    for (int64_t d = 0; d < input.rank(); ++d)
      if (keepsDims || !llvm::is_contained(axes, d))
        shape.push_back(top->shape[d]);
    FailureOr<Tensor> flat = l.reshape(*top, shape);
    if (failed(flat))
      return failure();
    largest = *flat;
  }
  FailureOr<Tensor> sum = reduce(source, kind, sumType);
  if (failed(sum))
    return failure();
  double count = 1;
  if (kind == Reduction::Mean)
    for (int64_t axis : axes) {
      if (ShapedType::isDynamic(input.shape[axis]))
        return l.fail("the mean of a dynamic dimension is not supported");
      count *= static_cast<double>(input.shape[axis]);
    }
  bool isDone = sumType == type && kind != Reduction::Mean && !isReal;
  if (isDone)
    return l.setResult(sum);
  SmallVector<Tensor> inputs = {*sum};
  if (largest)
    inputs.push_back(*largest);
  Type element = l.getElementType(type);
  return l.setResult(
      l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
        Value x = v[0];
        Type wide = x.getType();
        if (kind == Reduction::Mean) {
          Value n =
              isFloat(type)
                  ? arith::ConstantOp::create(b, b.getFloatAttr(wide, count))
                  : arith::ConstantOp::create(
                        b, b.getIntegerAttr(wide, static_cast<int64_t>(count)));
          x = isFloat(type)      ? Value(arith::DivFOp::create(b, x, n))
              : isUnsigned(type) ? Value(arith::DivUIOp::create(b, x, n))
                                 : Value(arith::DivSIOp::create(b, x, n));
        }
        if (kind == Reduction::L2)
          x = math::SqrtOp::create(b, x);
        if (kind == Reduction::LogSum || kind == Reduction::LogSumExp)
          x = math::LogOp::create(b, x);
        if (kind == Reduction::LogSumExp) {
          Value top = v[1];
          if (top.getType() != wide)
            top = arith::ExtFOp::create(b, wide, top);
          x = arith::AddFOp::create(b, x, top);
        }
        return wide == element || !isFloat(type)
                   ? x
                   : Value(arith::TruncFOp::create(b, element, x));
      }));
}

/// The position of the first or last largest element.
static LogicalResult lowerArg(Lowering &l, bool isMax) {
  const Tensor &input = l.getInput(0);
  int64_t axis = l.getInt("axis", 0);
  if (failed(l.normalizeAxis(axis, input.rank())))
    return failure();
  bool isLast = l.getInt("select_last_index", 0) != 0;
  bool keepsDims = l.getInt("keepdims", 1) != 0;
  DataType type = input.type;
  Reduction kind = isMax ? Reduction::Max : Reduction::Min;
  FailureOr<Tensor> extreme =
      l.reduce(input, axis, /*keepDims=*/false, type, getStart(kind, type),
               [=](ScalarBuilder &b, ValueRange v) {
                 return combine(b, kind, type, v[0], v[1]);
               });
  if (failed(extreme))
    return failure();
  Tensor source = l.makeTensor(l.materialize(input), type);
  Value best = l.materialize(*extreme);
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> exprs;
  Shape result;
  auto rank = static_cast<unsigned>(input.rank());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  for (unsigned d = 0; d < rank; ++d) {
    if (d == axis) {
      if (keepsDims)
        result.push_back(1);
      continue;
    }
    sizes.push_back(l.getSize(source, d));
    exprs.push_back(l.b.getAffineDimExpr(d));
    result.push_back(input.shape[d]);
  }
  double start = isLast ? -1 : 9.0e18;
  Value init = l.makeFilled(sizes, l.makeScalar(DataType::I64, start));
  AffineMap kept = AffineMap::get(rank, 0, exprs, l.b.getContext());
  SmallVector<AffineMap> maps = {l.b.getMultiDimIdentityMap(rank), kept, kept};
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), ValueRange{source.value, best}, init, maps,
      iterators, [&](OpBuilder &nested, Location loc, ValueRange v) {
        ImplicitLocOpBuilder b(loc, nested);
        Value index = arith::IndexCastOp::create(
            b, b.getI64Type(), linalg::IndexOp::create(b, axis));
        Value isBest = isFloat(type)
                           ? Value(arith::CmpFOp::create(
                                 b, arith::CmpFPredicate::OEQ, v[0], v[1]))
                           : Value(arith::CmpIOp::create(
                                 b, arith::CmpIPredicate::eq, v[0], v[1]));
        Value candidate = arith::SelectOp::create(b, isBest, index, v[2]);
        Value all = isLast ? Value(arith::MaxSIOp::create(b, candidate, v[2]))
                           : Value(arith::MinSIOp::create(b, candidate, v[2]));
        linalg::YieldOp::create(b, all);
      });
  return l.setResult(
      l.reshape(l.makeTensor(generic.getResult(0), DataType::I64), result));
}

static LogicalResult lowerArgMax(Lowering &l) { return lowerArg(l, true); }
static LogicalResult lowerArgMin(Lowering &l) { return lowerArg(l, false); }

ArrayRef<Operator> mlir::tessera::onnx::getReductionOperators() {
  static const Operator operators[] = {
      {"ArgMax", 1, 1, 1, lowerArgMax},
      {"ArgMin", 1, 1, 1, lowerArgMin},
      {"ReduceL1", 1, 1, 2, lowerReduce<Reduction::L1>},
      {"ReduceL2", 1, 1, 2, lowerReduce<Reduction::L2>},
      {"ReduceLogSum", 1, 1, 2, lowerReduce<Reduction::LogSum>},
      {"ReduceLogSumExp", 1, 1, 2, lowerReduce<Reduction::LogSumExp>},
      {"ReduceMax", 1, 1, 2, lowerReduce<Reduction::Max>},
      {"ReduceMean", 1, 1, 2, lowerReduce<Reduction::Mean>, "static axes only"},
      {"ReduceMin", 1, 1, 2, lowerReduce<Reduction::Min>},
      {"ReduceProd", 1, 1, 2, lowerReduce<Reduction::Prod>},
      {"ReduceSum", 1, 1, 2, lowerReduce<Reduction::Sum>},
      {"ReduceSumSquare", 1, 1, 2, lowerReduce<Reduction::SumSquare>},
  };
  return operators;
}
