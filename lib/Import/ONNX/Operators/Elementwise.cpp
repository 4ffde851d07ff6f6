//===- Elementwise.cpp - Operators on each element ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ScalarMath.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

/// A number of the type of `like`.
static Value makeLike(ScalarBuilder &b, Value like, double value) {
  Type type = like.getType();
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(type, static_cast<int64_t>(value)));
}

static Value compare(ScalarBuilder &b, arith::CmpFPredicate predicate, Value x,
                     Value y) {
  return arith::CmpFOp::create(b, predicate, x, y);
}
static Value choose(ScalarBuilder &b, Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, condition, x, y);
}
static Value maximum(ScalarBuilder &b, Value x, Value y) {
  return arith::MaximumFOp::create(b, x, y);
}
static Value minimum(ScalarBuilder &b, Value x, Value y) {
  return arith::MinimumFOp::create(b, x, y);
}
static Value div(ScalarBuilder &b, Value x, Value y) {
  return arith::DivFOp::create(b, x, y);
}

/// A function of one number.
using Unary = Value (*)(ScalarBuilder &, Value);

/// Applies a function of floating point numbers to input 0.
static LogicalResult applyFloat(Lowering &l, const ScalarBody &body) {
  const Tensor &x = l.getInput(0);
  if (!isFloat(x.type))
    return l.fail(getName(x.type) + " is not supported; its input must be "
                                    "floating point");
  DataType wide = Lowering::getSumType(x.type);
  if (wide == x.type)
    return l.setResult(l.elementwise(x, x.type, body));
  // Halves are computed in float32, and rounded once.
  Type number = l.getElementType(wide), half = l.getElementType(x.type);
  return l.setResult(
      l.elementwise(x, x.type, [&](ScalarBuilder &b, ValueRange v) {
        Value y = body(b, Value(arith::ExtFOp::create(b, number, v[0])));
        return Value(arith::TruncFOp::create(b, half, y));
      }));
}

template <Unary function> static LogicalResult lowerUnary(Lowering &l) {
  return applyFloat(
      l, [](ScalarBuilder &b, ValueRange v) { return function(b, v[0]); });
}

template <typename Op> static Value apply(ScalarBuilder &b, Value x) {
  return Op::create(b, x);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static Value sigmoid(ScalarBuilder &b, Value x) {
  Value one = makeLike(b, x, 1);
  Value power = math::ExpOp::create(b, arith::NegFOp::create(b, x));
  return div(b, one, add(b, one, power));
}

static Value softplus(ScalarBuilder &b, Value x) {
  // max(x, 0) + log1p(exp(-|x|)) does not overflow.
  Value small = math::Log1pOp::create(
      b, math::ExpOp::create(
             b, arith::NegFOp::create(b, math::AbsFOp::create(b, x))));
  return add(b, maximum(b, x, makeLike(b, x, 0)), small);
}

static Value softsign(ScalarBuilder &b, Value x) {
  return div(b, x, add(b, makeLike(b, x, 1), math::AbsFOp::create(b, x)));
}

static Value mish(ScalarBuilder &b, Value x) {
  return mul(b, x, math::TanhOp::create(b, softplus(b, x)));
}

static Value hardSwish(ScalarBuilder &b, Value x) {
  Value gate = add(b, mul(b, x, makeLike(b, x, 1.0 / 6)), makeLike(b, x, 0.5));
  gate = minimum(b, maximum(b, gate, makeLike(b, x, 0)), makeLike(b, x, 1));
  return mul(b, x, gate);
}

static Value reciprocal(ScalarBuilder &b, Value x) {
  return div(b, makeLike(b, x, 1), x);
}

static Value isNaN(ScalarBuilder &b, Value x) {
  return compare(b, arith::CmpFPredicate::UNO, x, x);
}

static LogicalResult lowerRelu(Lowering &l) {
  const Tensor &x = l.getInput(0);
  FailureOr<Tensor> result =
      l.elementwise(x, x.type, [&](ScalarBuilder &b, ValueRange v) {
        Value zero = makeLike(b, v[0], 0);
        return isFloat(x.type) ? maximum(b, v[0], zero)
                               : Value(arith::MaxSIOp::create(b, v[0], zero));
      });
  if (succeeded(result))
    keepScaledLimits(l, *result, 0, std::numeric_limits<double>::infinity());
  return l.setResult(result);
}

static LogicalResult lowerLeakyRelu(Lowering &l) {
  double alpha = l.getFloat("alpha", 0.01f);
  return applyFloat(l, [=](ScalarBuilder &b, ValueRange v) {
    Value zero = makeLike(b, v[0], 0);
    return choose(b, compare(b, arith::CmpFPredicate::OLT, v[0], zero),
                  mul(b, v[0], makeLike(b, v[0], alpha)), v[0]);
  });
}

static LogicalResult lowerThresholdedRelu(Lowering &l) {
  double alpha = l.getFloat("alpha", 1);
  return applyFloat(l, [=](ScalarBuilder &b, ValueRange v) {
    return choose(
        b,
        compare(b, arith::CmpFPredicate::OGT, v[0], makeLike(b, v[0], alpha)),
        v[0], makeLike(b, v[0], 0));
  });
}

/// alpha * (exp(x / divisor) - 1) for negative x, gamma * x for others.
static LogicalResult lowerExponential(Lowering &l, double alpha, double gamma,
                                      double divisor) {
  return applyFloat(l, [=](ScalarBuilder &b, ValueRange v) {
    Value x = v[0], zero = makeLike(b, x, 0);
    Value inner = divisor == 1 ? x : div(b, x, makeLike(b, x, divisor));
    // The argument is limited so that nothing overflows.
    Value power = math::ExpOp::create(b, minimum(b, inner, zero));
    Value low = mul(b, makeLike(b, x, alpha), sub(b, power, makeLike(b, x, 1)));
    Value high = gamma == 1 ? x : mul(b, x, makeLike(b, x, gamma));
    return choose(b, compare(b, arith::CmpFPredicate::OLE, x, zero), low, high);
  });
}

static LogicalResult lowerElu(Lowering &l) {
  return lowerExponential(l, l.getFloat("alpha", 1), 1, 1);
}
static LogicalResult lowerSelu(Lowering &l) {
  double alpha = l.getFloat("alpha", 1.67326319217681884765625);
  double gamma = l.getFloat("gamma", 1.05070102214813232421875);
  return lowerExponential(l, alpha * gamma, gamma, 1);
}
static LogicalResult lowerCelu(Lowering &l) {
  double alpha = l.getFloat("alpha", 1);
  return lowerExponential(l, alpha, 1, alpha);
}

static LogicalResult lowerSwish(Lowering &l) {
  double alpha = l.getFloat("alpha", 1);
  return applyFloat(l, [=](ScalarBuilder &b, ValueRange v) {
    return mul(b, v[0], sigmoid(b, mul(b, v[0], makeLike(b, v[0], alpha))));
  });
}

static LogicalResult lowerHardSigmoid(Lowering &l) {
  double alpha = l.getFloat("alpha", 0.2f), beta = l.getFloat("beta", 0.5);
  return applyFloat(l, [=](ScalarBuilder &b, ValueRange v) {
    Value line =
        add(b, mul(b, v[0], makeLike(b, v[0], alpha)), makeLike(b, v[0], beta));
    return minimum(b, maximum(b, line, makeLike(b, v[0], 0)),
                   makeLike(b, v[0], 1));
  });
}

static LogicalResult lowerShrink(Lowering &l) {
  double bias = l.getFloat("bias", 0), lambd = l.getFloat("lambd", 0.5);
  return applyFloat(l, [=](ScalarBuilder &b, ValueRange v) {
    Value x = v[0], offset = makeLike(b, x, bias);
    Value low = choose(
        b, compare(b, arith::CmpFPredicate::OLT, x, makeLike(b, x, -lambd)),
        add(b, x, offset), makeLike(b, x, 0));
    return choose(
        b, compare(b, arith::CmpFPredicate::OGT, x, makeLike(b, x, lambd)),
        sub(b, x, offset), low);
  });
}

static LogicalResult lowerGelu(Lowering &l) {
  std::string how = l.getString("approximate", "none");
  if (how != "none" && how != "tanh")
    return l.fail("approximate='" + how + "' is not 'none' or 'tanh'");
  return applyFloat(l, [=](ScalarBuilder &b, ValueRange v) {
    Value x = v[0], one = makeLike(b, x, 1), inner;
    if (how == "none") {
      inner = math::ErfOp::create(b, mul(b, x, makeLike(b, x, M_SQRT1_2)));
    } else {
      Value cube = mul(b, mul(b, x, x), mul(b, x, makeLike(b, x, 0.044715)));
      inner = math::TanhOp::create(
          b, mul(b, add(b, x, cube), makeLike(b, x, 0.7978845608028654)));
    }
    return mul(b, mul(b, x, makeLike(b, x, 0.5)), add(b, one, inner));
  });
}

static LogicalResult lowerPRelu(Lowering &l) {
  const Tensor &x = l.getInput(0), &slope = l.getInput(1);
  if (!isFloat(x.type))
    return l.fail(getName(x.type) + " is not supported");
  // The slope is broadcast to the input, not the other way round.
  return l.setResult(
      l.elementwise({x, slope}, x.type, [](ScalarBuilder &b, ValueRange v) {
        Value zero = makeLike(b, v[0], 0);
        return choose(b, compare(b, arith::CmpFPredicate::OLT, v[0], zero),
                      mul(b, v[0], v[1]), v[0]);
      }));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Whole numbers too.
static LogicalResult lowerAbs(Lowering &l) {
  const Tensor &x = l.getInput(0);
  return l.setResult(
      l.elementwise(x, x.type, [&](ScalarBuilder &b, ValueRange v) {
        if (isFloat(x.type))
          return Value(math::AbsFOp::create(b, v[0]));
        return isUnsigned(x.type) ? v[0] : Value(math::AbsIOp::create(b, v[0]));
      }));
}

static LogicalResult lowerNeg(Lowering &l) {
  const Tensor &x = l.getInput(0);
  return l.setResult(
      l.elementwise(x, x.type, [&](ScalarBuilder &b, ValueRange v) {
        if (isFloat(x.type))
          return Value(arith::NegFOp::create(b, v[0]));
        return Value(arith::SubIOp::create(b, makeLike(b, v[0], 0), v[0]));
      }));
}

static LogicalResult lowerSign(Lowering &l) {
  const Tensor &x = l.getInput(0);
  return l.setResult(
      l.elementwise(x, x.type, [&](ScalarBuilder &b, ValueRange v) {
        Value zero = makeLike(b, v[0], 0), one = makeLike(b, v[0], 1);
        if (isFloat(x.type)) {
          Value low =
              choose(b, compare(b, arith::CmpFPredicate::OLT, v[0], zero),
                     makeLike(b, v[0], -1), zero);
          return choose(b, compare(b, arith::CmpFPredicate::OGT, v[0], zero),
                        one, low);
        }
        if (isUnsigned(x.type))
          return Value(arith::MinUIOp::create(b, v[0], one));
        return Value(arith::MaxSIOp::create(
            b, arith::MinSIOp::create(b, v[0], one), makeLike(b, v[0], -1)));
      }));
}

enum class Binary { Add, Sub, Mul, Div, Min, Max };

static Value applyBinary(ScalarBuilder &b, Binary kind, DataType type, Value x,
                         Value y) {
  bool isWhole = !isFloat(type), hasNoSign = isUnsigned(type);
  switch (kind) {
  case Binary::Add:
    return isWhole ? Value(arith::AddIOp::create(b, x, y)) : add(b, x, y);
  case Binary::Sub:
    return isWhole ? Value(arith::SubIOp::create(b, x, y)) : sub(b, x, y);
  case Binary::Mul:
    return isWhole ? Value(arith::MulIOp::create(b, x, y)) : mul(b, x, y);
  case Binary::Div:
    return !isWhole    ? div(b, x, y)
           : hasNoSign ? Value(arith::DivUIOp::create(b, x, y))
                       : Value(arith::DivSIOp::create(b, x, y));
  case Binary::Min:
    return !isWhole    ? minimum(b, x, y)
           : hasNoSign ? Value(arith::MinUIOp::create(b, x, y))
                       : Value(arith::MinSIOp::create(b, x, y));
  case Binary::Max:
    return !isWhole    ? maximum(b, x, y)
           : hasNoSign ? Value(arith::MaxUIOp::create(b, x, y))
                       : Value(arith::MaxSIOp::create(b, x, y));
  }
  llvm_unreachable("all kinds are covered");
}

static LogicalResult checkSameTypes(Lowering &l) {
  for (size_t i = 1; i < l.getNumInputs(); ++i)
    if (l.getInput(i).type != l.getInput(0).type)
      return l.fail("its inputs have the types " + getName(l.getInput(0).type) +
                    " and " + getName(l.getInput(i).type));
  return success();
}

/// An operator of any number of inputs, from left to right, and a last step.
static LogicalResult lowerFold(Lowering &l, Binary kind, bool isMean = false) {
  if (failed(checkSameTypes(l)))
    return failure();
  SmallVector<Tensor> inputs;
  for (size_t i = 0; i < l.getNumInputs(); ++i) {
    if (!l.hasInput(i))
      return l.fail("input " + Twine(i) + " is missing");
    inputs.push_back(l.getInput(i));
  }
  DataType type = inputs[0].type;
  if (type == DataType::Bool || (isMean && !isFloat(type)))
    return l.fail(getName(type) + " is not supported");
  double factor = 1.0 / static_cast<double>(inputs.size());
  FailureOr<Tensor> result =
      l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange values) {
        Value all = values[0];
        for (Value value : values.drop_front())
          all = applyBinary(b, kind, type, all, value);
        return isMean ? mul(b, all, makeLike(b, all, factor)) : all;
      });
  if (succeeded(result) && kind == Binary::Add && !isMean)
    keepScaledSum(l, *result, inputs);
  return l.setResult(result);
}

template <Binary kind> static LogicalResult lowerBinary(Lowering &l) {
  return lowerFold(l, kind);
}

static LogicalResult lowerMean(Lowering &l) {
  return lowerFold(l, Binary::Add, /*isMean=*/true);
}

static LogicalResult lowerPow(Lowering &l) {
  const Tensor &x = l.getInput(0);
  Tensor power = l.getInput(1);
  if (!isFloat(x.type)) {
    // By way of float64, which is exact for the results that int32 holds.
    FailureOr<Tensor> base = l.convert(x, DataType::F64);
    FailureOr<Tensor> wide = l.convert(power, DataType::F64);
    if (failed(base) || failed(wide))
      return failure();
    FailureOr<Tensor> result = l.elementwise(
        {*base, *wide}, DataType::F64, [](ScalarBuilder &b, ValueRange v) {
          return Value(math::PowFOp::create(b, v[0], v[1]));
        });
    return failed(result) ? failure() : l.setResult(l.convert(*result, x.type));
  }
  FailureOr<Tensor> same = l.convert(power, x.type);
  if (failed(same))
    return failure();
  bool isSplat = same->constant &&
                 (same->constant->isSplat || same->constant->count() == 1);
  double exponent = isSplat ? same->constant->getDouble(0) : 0;
  return l.setResult(
      l.elementwise({x, *same}, x.type, [=](ScalarBuilder &b, ValueRange v) {
        if (isSplat && exponent == 2)
          return mul(b, v[0], v[0]);
        if (isSplat && exponent == 3)
          return mul(b, mul(b, v[0], v[0]), v[0]);
        if (isSplat && exponent == 0.5)
          return Value(math::SqrtOp::create(b, v[0]));
        return Value(math::PowFOp::create(b, v[0], v[1]));
      }));
}

static LogicalResult lowerMod(Lowering &l) {
  if (failed(checkSameTypes(l)))
    return failure();
  DataType type = l.getInput(0).type;
  bool isC = l.getInt("fmod", 0) != 0;
  if (isFloat(type) && !isC && l.version < 28)
    return l.fail("floating point inputs require fmod=1 before opset 28");
  return l.setResult(l.elementwise(
      {l.getInput(0), l.getInput(1)}, type,
      [=](ScalarBuilder &b, ValueRange v) {
        if (isFloat(type)) {
          Value rest = arith::RemFOp::create(b, v[0], v[1]);
          if (isC)
            return rest;
          Value zero = makeLike(b, rest, 0);
          Value differs = arith::XOrIOp::create(
              b, compare(b, arith::CmpFPredicate::OLT, rest, zero),
              compare(b, arith::CmpFPredicate::OLT, v[1], zero));
          Value isWrong = arith::AndIOp::create(
              b, compare(b, arith::CmpFPredicate::UNE, rest, zero), differs);
          return choose(b, isWrong, add(b, rest, v[1]), rest);
        }
        if (isUnsigned(type))
          return Value(arith::RemUIOp::create(b, v[0], v[1]));
        Value rest = arith::RemSIOp::create(b, v[0], v[1]);
        if (isC)
          return rest;
        // The result has the sign of the divisor.
        Value zero = makeLike(b, rest, 0);
        Value isWrong = arith::AndIOp::create(
            b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, zero),
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                  arith::XOrIOp::create(b, rest, v[1]), zero));
        return choose(b, isWrong, arith::AddIOp::create(b, rest, v[1]), rest);
      }));
}

static LogicalResult lowerBitShift(Lowering &l) {
  std::string direction = l.getString("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return l.fail("direction must be LEFT or RIGHT");
  bool isLeft = direction == "LEFT";
  const Tensor &x = l.getInput(0);
  if (failed(checkSameTypes(l)))
    return failure();
  if (!isInteger(x.type))
    return l.fail(getName(x.type) + " is not supported");
  bool keepsSign = !isLeft && !isUnsigned(x.type);
  double last = 8 * getByteWidth(x.type) - 1;
  return l.setResult(l.elementwise(
      {x, l.getInput(1)}, x.type, [=](ScalarBuilder &b, ValueRange v) {
        // Shifts by the width or more, and by negative numbers, move all bits
        // out.
        Value limit = makeLike(b, v[1], last);
        Value isShort =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ule, v[1], limit);
        Value count = choose(b, isShort, v[1], limit);
        if (keepsSign)
          return Value(arith::ShRSIOp::create(b, v[0], count));
        Value moved = isLeft ? Value(arith::ShLIOp::create(b, v[0], count))
                             : Value(arith::ShRUIOp::create(b, v[0], count));
        return choose(b, isShort, moved, makeLike(b, v[0], 0));
      }));
}

static LogicalResult lowerClip(Lowering &l) {
  SmallVector<Tensor> inputs = {l.getInput(0)};
  DataType type = inputs[0].type;
  bool hasLow = false, hasHigh = false;
  auto addLimit = [&](size_t i, StringRef name, bool &has) {
    if (l.version < 11) {
      if (!l.hasAttribute(name))
        return;
      inputs.push_back(l.makeSplat(type, {}, l.getFloat(name, 0)));
    } else {
      if (!l.hasInput(i))
        return;
      inputs.push_back(l.getInput(i));
    }
    has = true;
  };
  addLimit(1, "min", hasLow);
  addLimit(2, "max", hasHigh);
  FailureOr<Tensor> result =
      l.elementwise(inputs, type, [=](ScalarBuilder &b, ValueRange v) {
        Value x = v[0];
        if (hasLow)
          x = applyBinary(b, Binary::Max, type, x, v[1]);
        if (hasHigh)
          x = applyBinary(b, Binary::Min, type, x, v.back());
        return x;
      });
  bool areKnown =
      llvm::all_of(ArrayRef(inputs).drop_front(), [](const Tensor &limit) {
        return limit.constant && limit.count() == 1;
      });
  if (succeeded(result) && areKnown) {
    double unlimited = std::numeric_limits<double>::infinity();
    keepScaledLimits(
        l, *result, hasLow ? inputs[1].constant->getDouble(0) : -unlimited,
        hasHigh ? inputs.back().constant->getDouble(0) : unlimited);
  }
  return l.setResult(result);
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

template <arith::CmpFPredicate number, arith::CmpIPredicate whole,
          arith::CmpIPredicate noSign>
static LogicalResult lowerCompare(Lowering &l) {
  if (failed(checkSameTypes(l)))
    return failure();
  DataType type = l.getInput(0).type;
  return l.setResult(l.elementwise(
      {l.getInput(0), l.getInput(1)}, DataType::Bool,
      [=](ScalarBuilder &b, ValueRange v) {
        if (isFloat(type))
          return compare(b, number, v[0], v[1]);
        return Value(arith::CmpIOp::create(
            b, isUnsigned(type) || type == DataType::Bool ? noSign : whole,
            v[0], v[1]));
      }));
}

template <typename Op> static LogicalResult lowerBits(Lowering &l) {
  if (failed(checkSameTypes(l)))
    return failure();
  const Tensor &x = l.getInput(0);
  return l.setResult(l.elementwise({x, l.getInput(1)}, x.type,
                                   [](ScalarBuilder &b, ValueRange v) {
                                     return Value(Op::create(b, v[0], v[1]));
                                   }));
}

static LogicalResult lowerNot(Lowering &l) {
  const Tensor &x = l.getInput(0);
  return l.setResult(
      l.elementwise(x, x.type, [](ScalarBuilder &b, ValueRange v) {
        return Value(arith::XOrIOp::create(b, v[0], makeLike(b, v[0], -1)));
      }));
}

static LogicalResult lowerWhere(Lowering &l) {
  const Tensor &x = l.getInput(1);
  return l.setResult(l.elementwise({l.getInput(0), x, l.getInput(2)}, x.type,
                                   [](ScalarBuilder &b, ValueRange v) {
                                     return choose(b, v[0], v[1], v[2]);
                                   }));
}

template <Unary function> static LogicalResult lowerTest(Lowering &l) {
  const Tensor &x = l.getInput(0);
  return l.setResult(
      l.elementwise(x, DataType::Bool, [](ScalarBuilder &b, ValueRange v) {
        return function(b, v[0]);
      }));
}

static LogicalResult lowerIsInf(Lowering &l) {
  bool low = l.getInt("detect_negative", 1),
       high = l.getInt("detect_positive", 1);
  return l.setResult(l.elementwise(
      l.getInput(0), DataType::Bool, [=](ScalarBuilder &b, ValueRange v) {
        Value x = low && high ? Value(math::AbsFOp::create(b, v[0])) : v[0];
        double limit = high ? INFINITY : -INFINITY;
        Value is =
            compare(b, arith::CmpFPredicate::OEQ, x, makeLike(b, x, limit));
        if (!low && !high)
          return Value(arith::ConstantOp::create(b, b.getBoolAttr(false)));
        return is;
      }));
}

static LogicalResult lowerCast(Lowering &l) {
  auto type = static_cast<DataType>(l.getInt("to", 0));
  if (getByteWidth(type) == 0)
    return l.fail("a cast to " + getName(type) + " is not supported");
  if (type == DataType::F8E8M0 && l.getString("round_mode", "up") != "up")
    return l.fail("a round_mode other than 'up' is not supported");
  return l.setResult(
      l.convert(l.getInput(0), type, l.getInt("saturate", 1) != 0));
}

static LogicalResult lowerCastLike(Lowering &l) {
  return l.setResult(l.convert(l.getInput(0), l.getInput(1).type,
                               l.getInt("saturate", 1) != 0));
}

ArrayRef<Operator> mlir::tessera::onnx::getElementwiseOperators() {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static const Operator operators[] = {
      {"Abs", 1, 1, 1, lowerAbs},
      {"Acos", 7, 1, 1, lowerUnary<apply<math::AcosOp>>},
      {"Acosh", 9, 1, 1, lowerUnary<apply<math::AcoshOp>>},
      {"Add", 7, 2, 2, lowerBinary<Binary::Add>},
      {"And", 7, 2, 2, lowerBits<arith::AndIOp>},
      {"Asin", 7, 1, 1, lowerUnary<apply<math::AsinOp>>},
      {"Asinh", 9, 1, 1, lowerUnary<apply<math::AsinhOp>>},
      {"Atan", 7, 1, 1, lowerUnary<apply<math::AtanOp>>},
      {"Atanh", 9, 1, 1, lowerUnary<apply<math::AtanhOp>>},
      {"BitShift", 11, 2, 2, lowerBitShift},
      {"BitwiseAnd", 18, 2, 2, lowerBits<arith::AndIOp>},
      {"BitwiseNot", 18, 1, 1, lowerNot},
      {"BitwiseOr", 18, 2, 2, lowerBits<arith::OrIOp>},
      {"BitwiseXor", 18, 2, 2, lowerBits<arith::XOrIOp>},
      {"Cast", 6, 1, 1, lowerCast,
       "strings are not supported; to float8e8m0 only with round_mode up"},
      {"CastLike", 15, 2, 2, lowerCastLike},
      {"Ceil", 6, 1, 1, lowerUnary<apply<math::CeilOp>>},
      {"Celu", 12, 1, 1, lowerCelu},
      {"Clip", 6, 1, 3, lowerClip},
      {"Cos", 7, 1, 1, lowerUnary<apply<math::CosOp>>},
      {"Cosh", 9, 1, 1, lowerUnary<apply<math::CoshOp>>},
      {"Div", 7, 2, 2, lowerBinary<Binary::Div>},
      {"Elu", 6, 1, 1, lowerElu},
      {"Equal", 7, 2, 2, lowerCompare<F::OEQ, I::eq, I::eq>},
      {"Erf", 9, 1, 1, lowerUnary<apply<math::ErfOp>>},
      {"Exp", 6, 1, 1, lowerUnary<apply<math::ExpOp>>},
      {"Floor", 6, 1, 1, lowerUnary<apply<math::FloorOp>>},
      {"Gelu", 20, 1, 1, lowerGelu},
      {"Greater", 7, 2, 2, lowerCompare<F::OGT, I::sgt, I::ugt>},
      {"GreaterOrEqual", 12, 2, 2, lowerCompare<F::OGE, I::sge, I::uge>},
      {"HardSigmoid", 6, 1, 1, lowerHardSigmoid},
      {"HardSwish", 14, 1, 1, lowerUnary<hardSwish>},
      {"IsInf", 10, 1, 1, lowerIsInf},
      {"IsNaN", 9, 1, 1, lowerTest<isNaN>},
      {"LeakyRelu", 6, 1, 1, lowerLeakyRelu},
      {"Less", 7, 2, 2, lowerCompare<F::OLT, I::slt, I::ult>},
      {"LessOrEqual", 12, 2, 2, lowerCompare<F::OLE, I::sle, I::ule>},
      {"Log", 6, 1, 1, lowerUnary<apply<math::LogOp>>},
      {"Max", 6, 1, anyNumber, lowerBinary<Binary::Max>},
      {"Mean", 6, 1, anyNumber, lowerMean},
      {"Min", 6, 1, anyNumber, lowerBinary<Binary::Min>},
      {"Mish", 18, 1, 1, lowerUnary<mish>},
      {"Mod", 10, 2, 2, lowerMod},
      {"Mul", 7, 2, 2, lowerBinary<Binary::Mul>},
      {"Neg", 6, 1, 1, lowerNeg},
      {"Not", 1, 1, 1, lowerNot},
      {"Or", 7, 2, 2, lowerBits<arith::OrIOp>},
      {"PRelu", 7, 2, 2, lowerPRelu},
      {"Pow", 7, 2, 2, lowerPow},
      {"Reciprocal", 6, 1, 1, lowerUnary<reciprocal>},
      {"Relu", 6, 1, 1, lowerRelu},
      {"Round", 11, 1, 1, lowerUnary<apply<math::RoundEvenOp>>},
      {"Selu", 6, 1, 1, lowerSelu},
      {"Shrink", 9, 1, 1, lowerShrink},
      {"Sigmoid", 6, 1, 1, lowerUnary<sigmoid>},
      {"Sign", 9, 1, 1, lowerSign},
      {"Sin", 7, 1, 1, lowerUnary<apply<math::SinOp>>},
      {"Sinh", 9, 1, 1, lowerUnary<apply<math::SinhOp>>},
      {"Softplus", 1, 1, 1, lowerUnary<softplus>},
      {"Softsign", 1, 1, 1, lowerUnary<softsign>},
      {"Sqrt", 6, 1, 1, lowerUnary<apply<math::SqrtOp>>},
      {"Sub", 7, 2, 2, lowerBinary<Binary::Sub>},
      {"Sum", 6, 1, anyNumber, lowerBinary<Binary::Add>},
      {"Swish", 24, 1, 1, lowerSwish},
      {"Tan", 7, 1, 1, lowerUnary<apply<math::TanOp>>},
      {"Tanh", 6, 1, 1, lowerUnary<apply<math::TanhOp>>},
      {"ThresholdedRelu", 10, 1, 1, lowerThresholdedRelu},
      {"Where", 9, 3, 3, lowerWhere},
      {"Xor", 7, 2, 2, lowerBits<arith::XOrIOp>},
  };
  return operators;
}
