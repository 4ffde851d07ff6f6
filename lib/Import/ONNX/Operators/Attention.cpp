//===- Attention.cpp - Attention and rotary embeddings --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ScalarMath.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

namespace {
/// The numbers by which the positions of keys are limited.
struct AttentionWindow {
  bool isCausal;
  int64_t left, right;
};
} // namespace

/// Splits the last of three dimensions into heads: batch x heads x rows x size.
static FailureOr<Tensor> splitHeads(Lowering &l, const Tensor &x,
                                    int64_t heads) {
  if (x.rank() == 4)
    return x;
  if (x.rank() != 3 || heads < 1 || ShapedType::isDynamic(x.shape[2]) ||
      x.shape[2] % heads)
    return l.fail("expected four dimensions, or three and a number of heads "
                  "that divides the last one");
  FailureOr<Tensor> split =
      l.reshape(x, {x.shape[0], x.shape[1], heads, x.shape[2] / heads});
  if (failed(split))
    return failure();
  return l.transpose(*split, {0, 2, 1, 3});
}

/// Each head of keys or values for `times` heads of queries.
static FailureOr<Tensor> repeatHeads(Lowering &l, const Tensor &x,
                                     int64_t times) {
  if (times == 1)
    return x;
  Shape apart = x.shape;
  apart.insert(apart.begin() + 2, 1);
  FailureOr<Tensor> result = l.reshape(x, apart);
  apart[2] = times;
  if (succeeded(result))
    result = l.expand(*result, apart);
  if (failed(result))
    return failure();
  return l.reshape(*result,
                   {x.shape[0], x.shape[1] * times, x.shape[2], x.shape[3]});
}

/// The bias of the scores, as float32: 0 or minus infinity, and the mask.
static FailureOr<std::optional<Tensor>> makeBias(Lowering &l,
                                                 const Tensor &scores,
                                                 const AttentionWindow &window,
                                                 int64_t past) {
  bool hasMask = l.hasInput(3), hasLengths = l.hasInput(6);
  bool isLimited = window.isCausal || window.left >= 0 || window.right >= 0;
  if (!hasMask && !hasLengths && !isLimited)
    return std::optional<Tensor>();
  int64_t rows = scores.shape[2], columns = scores.shape[3];
  std::optional<Tensor> mask, lengths;
  Shape shape = {1, 1, rows, columns};
  if (hasMask) {
    mask = l.getInput(3);
    int64_t width = mask->rank() > 0 ? mask->shape.back() : 0;
    if (!mask->isStatic() || mask->rank() < 1 || mask->rank() > 4 ||
        (width != 1 && width > columns) ||
        (mask->type != DataType::Bool && !isFloat(mask->type)))
      return l.fail("the mask must be static, of bool or floating point, and "
                    "fit the keys");
    mask = l.makeTensor(l.materialize(*mask), mask->type);
    for (int64_t d = 0; d < mask->rank() - 1; ++d) {
      int64_t to = 4 - mask->rank() + d;
      if (mask->shape[d] != 1 && mask->shape[d] != scores.shape[to])
        return l.fail("the mask does not fit the scores");
      shape[to] = std::max(shape[to], mask->shape[d]);
    }
  }
  if (hasLengths) {
    lengths = l.getInput(6);
    if (lengths->count() != scores.shape[0])
      return l.fail("expected one length for each batch");
    FailureOr<Tensor> flat = l.reshape(*lengths, scores.shape[0]);
    if (failed(flat))
      return failure();
    lengths = l.makeTensor(l.materialize(*flat), flat->type);
    shape[0] = scores.shape[0];
  }
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : shape)
    sizes.push_back(l.b.getIndexAttr(size));
  return std::optional<Tensor>(generate(
      l, sizes, DataType::F32, {}, {},
      [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange) {
        Type wide = b.getF32Type();
        Value zero = arith::ConstantOp::create(b, b.getFloatAttr(wide, 0));
        Value never =
            arith::ConstantOp::create(b, b.getFloatAttr(wide, -INFINITY));
        Value bias = zero;
        auto require = [&](Value condition) {
          bias = arith::SelectOp::create(b, condition, bias, never);
        };
        auto number = [&](int64_t value) {
          return arith::ConstantIndexOp::create(b, value);
        };
        Value row = loops[2], column = loops[3];
        if (mask) {
          SmallVector<Value> at;
          for (int64_t d = 0; d < mask->rank(); ++d)
            at.push_back(mask->shape[d] == 1 ? number(0)
                                             : loops[4 - mask->rank() + d]);
          // Keys behind the mask take no part.
          int64_t width = mask->shape.back();
          Value isInside;
          if (width < columns) {
            isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                             column, number(width));
            at.back() = arith::MinUIOp::create(b, column, number(width - 1));
          }
          Value element = tensor::ExtractOp::create(b, mask->value, at);
          if (mask->type == DataType::Bool)
            require(element);
          else if (element.getType() == wide)
            bias = element;
          else if (mask->type == DataType::F64)
            bias = arith::TruncFOp::create(b, wide, element);
          else
            bias = arith::ExtFOp::create(b, wide, element);
          if (isInside)
            require(isInside);
        }
        Value length;
        if (lengths)
          length = arith::IndexCastOp::create(
              b, b.getIndexType(),
              tensor::ExtractOp::create(b, lengths->value, loops[0]));
        // The position of the query among the keys.
        Value position = row;
        if (length)
          position = arith::AddIOp::create(
              b, row, arith::SubIOp::create(b, length, number(rows)));
        else if (past)
          position = arith::AddIOp::create(b, row, number(past));
        auto limit = [&](Value x, Value y) {
          require(arith::CmpIOp::create(b, arith::CmpIPredicate::sle, x, y));
        };
        if (window.isCausal)
          limit(column, position);
        if (window.left >= 0)
          limit(arith::SubIOp::create(b, position, number(window.left)),
                column);
        if (window.right >= 0)
          limit(column,
                arith::AddIOp::create(b, position, number(window.right)));
        if (length)
          require(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column,
                                        length));
        return bias;
      }));
}

static LogicalResult lowerAttention(Lowering &l) {
  DataType type = l.getInput(0).type;
  int64_t queryHeads = l.getInt("q_num_heads", 0),
          keyHeads = l.getInt("kv_num_heads", 0);
  bool isFlat = l.getInput(0).rank() == 3;
  FailureOr<Tensor> q = splitHeads(l, l.getInput(0), queryHeads);
  FailureOr<Tensor> k = splitHeads(l, l.getInput(1), keyHeads);
  FailureOr<Tensor> v = splitHeads(l, l.getInput(2), keyHeads);
  if (failed(q) || failed(k) || failed(v))
    return failure();
  if (!isFloat(type) || k->type != type || v->type != type || !q->isStatic() ||
      !k->isStatic() || !v->isStatic())
    return l.fail("expected static shapes, of one floating point type");
  if (l.hasInput(4) != l.hasInput(5))
    return l.fail("past keys and values must be given together");
  int64_t past = 0;
  if (l.hasInput(4)) {
    if (l.getInput(4).rank() != 4 || !l.getInput(4).isStatic())
      return l.fail("past keys must have four static dimensions");
    past = l.getInput(4).shape[2];
    k = l.concat({l.getInput(4), *k}, 2);
    v = l.concat({l.getInput(5), *v}, 2);
    if (failed(k) || failed(v))
      return failure();
  }
  l.setResult(1, *k);
  l.setResult(2, *v);
  if (k->shape[1] < 1 || q->shape[1] % k->shape[1] ||
      k->shape[1] != v->shape[1] || k->shape[2] != v->shape[2] ||
      q->shape[3] != k->shape[3])
    return l.fail("the shapes of queries, keys and values do not fit");
  int64_t times = q->shape[1] / k->shape[1];
  k = repeatHeads(l, *k, times);
  v = repeatHeads(l, *v, times);
  if (failed(k) || failed(v))
    return failure();
  double scale =
      l.getFloat("scale", 1 / std::sqrt(static_cast<double>(q->shape[3])));
  double cap = l.getFloat("softcap", 0);
  FailureOr<Tensor> turned = l.transpose(*k, {0, 1, 3, 2});
  if (failed(turned))
    return failure();
  DataType sumType = Lowering::getSumType(type);
  FailureOr<Tensor> scores = multiplyBatches(l, *q, *turned, sumType);
  if (failed(scores))
    return failure();
  auto number = [](ScalarBuilder &b, Value like, double value) {
    return Value(
        arith::ConstantOp::create(b, b.getFloatAttr(like.getType(), value)));
  };
  FailureOr<Tensor> scaled =
      l.elementwise(*scores, sumType, [=](ScalarBuilder &b, ValueRange x) {
        Value y = mul(b, x[0], number(b, x[0], scale));
        if (cap > 0) {
          y = arith::DivFOp::create(b, y, number(b, y, cap));
          y = mul(b, math::TanhOp::create(b, y), number(b, y, cap));
        }
        return y;
      });
  AttentionWindow window = {l.getInt("is_causal", 0) != 0,
                            l.getInt("left_window_size", -1),
                            l.getInt("right_window_size", -1)};
  if (failed(scaled))
    return failure();
  FailureOr<std::optional<Tensor>> bias = makeBias(l, *scaled, window, past);
  if (failed(bias))
    return failure();
  int64_t mode = l.getInt("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return l.fail("qk_matmul_output_mode is " + Twine(mode));
  FailureOr<Tensor> biased = *scaled;
  if (*bias)
    biased = l.elementwise({*scaled, **bias}, sumType,
                           [=](ScalarBuilder &b, ValueRange x) {
                             Value y = x[1];
                             if (y.getType() != x[0].getType())
                               y = arith::ExtFOp::create(b, x[0].getType(), y);
                             return add(b, x[0], y);
                           });
  if (failed(biased))
    return failure();
  FailureOr<Tensor> weights;
  if (*bias) {
    // A row without keys is zero, not NaN.
    FailureOr<Tensor> highest =
        l.reduce(*biased, 3, /*keepDims=*/true, sumType, -INFINITY,
                 [](ScalarBuilder &b, ValueRange x) {
                   return Value(arith::MaximumFOp::create(b, x[1], x[0]));
                 });
    if (failed(highest))
      return failure();
    FailureOr<Tensor> powers = l.elementwise(
        {*biased, *highest}, sumType, [=](ScalarBuilder &b, ValueRange x) {
          Value isEmpty = arith::CmpFOp::create(
              b, arith::CmpFPredicate::OEQ, x[1], number(b, x[1], -INFINITY));
          Value zero = number(b, x[1], 0);
          Value largest = arith::SelectOp::create(b, isEmpty, zero, x[1]);
          return Value(math::ExpOp::create(b, sub(b, x[0], largest)));
        });
    if (failed(powers))
      return failure();
    FailureOr<Tensor> sums = l.reduce(
        *powers, 3, /*keepDims=*/true, sumType, 0,
        [](ScalarBuilder &b, ValueRange x) { return add(b, x[1], x[0]); });
    if (failed(sums))
      return failure();
    weights = l.elementwise(
        {*powers, *sums}, type, [=](ScalarBuilder &b, ValueRange x) {
          Value zero = number(b, x[1], 0);
          Value isEmpty =
              arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x[1], zero);
          Value sum =
              arith::SelectOp::create(b, isEmpty, number(b, x[1], 1), x[1]);
          Value y = arith::DivFOp::create(b, x[0], sum);
          return sumType == type
                     ? y
                     : Value(arith::TruncFOp::create(
                           b,
                           type == DataType::F16 ? Type(b.getF16Type())
                                                 : Type(b.getBF16Type()),
                           y));
        });
  } else {
    weights = softmax(l, *biased, 3, /*isLog=*/false);
    if (succeeded(weights))
      weights = l.convert(*weights, type);
  }
  if (failed(weights))
    return failure();
  if (l.isOutputUsed(3)) {
    FailureOr<Tensor> shown = mode == 3   ? weights
                              : mode == 2 ? l.convert(*biased, type)
                                          : l.convert(*scaled, type);
    if (failed(shown))
      return failure();
    Shape whole = scores->shape;
    shown = l.expand(*shown, whole);
    if (failed(shown))
      return failure();
    l.setResult(3, *shown);
  }
  FailureOr<Tensor> result = multiplyBatches(l, *weights, *v, sumType);
  if (succeeded(result))
    result = l.convert(*result, type);
  if (succeeded(result) && isFlat) {
    result = l.transpose(*result, {0, 2, 1, 3});
    if (succeeded(result))
      result = l.reshape(*result, {result->shape[0], result->shape[1],
                                   result->shape[2] * result->shape[3]});
  }
  return l.setResult(result);
}

static LogicalResult lowerRotaryEmbedding(Lowering &l) {
  const Tensor &given = l.getInput(0);
  DataType type = given.type;
  bool isFlat = given.rank() == 3;
  FailureOr<Tensor> split = splitHeads(l, given, l.getInt("num_heads", 0));
  if (failed(split))
    return failure();
  if (!split->isStatic() || !isFloat(type) ||
      l.getInput(1).rank() != (l.hasInput(3) ? 2 : 3) ||
      l.getInput(2).shape != l.getInput(1).shape)
    return l.fail("expected static floating point tensors, and caches of two "
                  "dimensions with position_ids, else of three");
  Tensor x = l.makeTensor(l.materialize(*split), type);
  int64_t part = l.getInt("rotary_embedding_dim", 0);
  if (part == 0)
    part = x.shape[3];
  if (part < 2 || part % 2 || part > x.shape[3] ||
      l.getInput(1).shape.back() != part / 2)
    return l.fail("rotary_embedding_dim does not fit the input and the caches");
  bool isInterleaved = l.getInt("interleaved", 0) != 0;
  Value caches[] = {l.materialize(l.getInput(1)), l.materialize(l.getInput(2))};
  Value positions;
  if (l.hasInput(3))
    positions = l.materialize(l.getInput(3));
  int64_t half = part / 2;
  Tensor result = generate(
      l, l.getSizes(x), type, {}, {},
      [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange) {
        auto number = [&](int64_t value) {
          return arith::ConstantIndexOp::create(b, value);
        };
        Value column = loops[3];
        // The pair of columns that is turned, and which of them this is.
        Value isSecond, pair, other;
        if (isInterleaved) {
          pair = arith::DivUIOp::create(b, column, number(2));
          Value rest = arith::RemUIOp::create(b, column, number(2));
          isSecond = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest,
                                           number(1));
          other = arith::XOrIOp::create(b, column, number(1));
        } else {
          isSecond = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, column,
                                           number(half));
          Value before = arith::SubIOp::create(b, column, number(half));
          Value after = arith::AddIOp::create(b, column, number(half));
          pair = arith::SelectOp::create(b, isSecond, before, column);
          other = arith::SelectOp::create(b, isSecond, before, after);
        }
        Value isTurned = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                               column, number(part));
        pair = arith::SelectOp::create(b, isTurned, pair, number(0));
        other = arith::SelectOp::create(b, isTurned, other, column);
        SmallVector<Value> at = {loops[0], loops[2], pair};
        if (positions) {
          Value row = tensor::ExtractOp::create(b, positions,
                                                ValueRange{loops[0], loops[2]});
          at = {arith::IndexCastOp::create(b, b.getIndexType(), row), pair};
        }
        Value cosine = tensor::ExtractOp::create(b, caches[0], at);
        Value sine = tensor::ExtractOp::create(b, caches[1], at);
        SmallVector<Value> from(loops);
        Value own = tensor::ExtractOp::create(b, x.value, from);
        from[3] = other;
        Value partner = tensor::ExtractOp::create(b, x.value, from);
        Value straight = mul(b, own, cosine), across = mul(b, partner, sine);
        Value turned = arith::SelectOp::create(
            b, isSecond, add(b, straight, across), sub(b, straight, across));
        return Value(arith::SelectOp::create(b, isTurned, turned, own));
      });
  if (!isFlat) {
    l.setResult(0, result);
    return success();
  }
  FailureOr<Tensor> joined = l.transpose(result, {0, 2, 1, 3});
  return failed(joined) ? failure()
                        : l.setResult(l.reshape(*joined, given.shape));
}

ArrayRef<Operator> mlir::tessera::onnx::getAttentionOperators() {
  static const Operator operators[] = {
      {"Attention", 23, 3, 7, lowerAttention, "static shapes only"},
      {"RotaryEmbedding", 23, 3, 4, lowerRotaryEmbedding, "static shapes only"},
  };
  return operators;
}
