//===- Indexing.cpp - Operators that read computed positions --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ScalarMath.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

static LogicalResult lowerGatherElements(Lowering &l) {
  const Tensor &data = l.getInput(0), &indices = l.getInput(1);
  int64_t axis = l.getInt("axis", 0);
  if (failed(l.normalizeAxis(axis, data.rank())))
    return failure();
  if (indices.rank() != data.rank())
    return l.fail("its inputs have different ranks");
  Value source = l.materialize(data);
  Tensor index = l.makeTensor(l.materialize(indices), indices.type);
  Value length = tensor::DimOp::create(l.b, source, axis);
  auto rank = static_cast<unsigned>(data.rank());
  l.setResult(
      0,
      generate(l, l.getSizes(index), data.type, index.value,
               l.b.getMultiDimIdentityMap(rank),
               [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange v) {
                 SmallVector<Value> position(loops);
                 position[axis] = wrapIndex(b, v[0], length);
                 return Value(tensor::ExtractOp::create(b, source, position));
               }));
  return success();
}

static LogicalResult lowerGatherND(Lowering &l) {
  const Tensor &data = l.getInput(0), &indices = l.getInput(1);
  int64_t batch = l.getInt("batch_dims", 0);
  if (indices.rank() < 1 || !indices.isStatic() || !data.isStatic())
    return l.fail("dynamic dimensions are not supported");
  int64_t depth = indices.shape.back();
  if (batch < 0 || batch >= indices.rank() || depth < 1 ||
      batch + depth > data.rank())
    return l.fail("indices of " + Twine(depth) + " dimensions after " +
                  Twine(batch) + " of the batch do not fit a tensor of " +
                  Twine(data.rank()));
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  int64_t outer = static_cast<int64_t>(shape.size());
  shape.append(data.shape.begin() + batch + depth, data.shape.end());
  if (failed(l.checkShape(shape)))
    return failure();
  Value source = l.materialize(data), index = l.materialize(indices);
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : shape)
    sizes.push_back(l.b.getIndexAttr(size));
  l.setResult(
      0,
      generate(l, sizes, data.type, {}, {},
               [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange) {
                 SmallVector<Value> position(loops.take_front(batch));
                 for (int64_t k = 0; k < depth; ++k) {
                   SmallVector<Value> at(loops.take_front(outer));
                   at.push_back(arith::ConstantIndexOp::create(b, k));
                   Value size =
                       arith::ConstantIndexOp::create(b, data.shape[batch + k]);
                   position.push_back(wrapIndex(
                       b, tensor::ExtractOp::create(b, index, at), size));
                 }
                 llvm::append_range(position, loops.drop_front(outer));
                 return Value(tensor::ExtractOp::create(b, source, position));
               }));
  return success();
}

static LogicalResult lowerOneHot(Lowering &l) {
  const Tensor &indices = l.getInput(0), &values = l.getInput(2);
  if (!l.getInput(1).constant || l.getInput(1).count() != 1)
    return l.fail("depth must be constant");
  auto depth = static_cast<int64_t>(l.getInput(1).constant->getDouble(0));
  int64_t axis = l.getInt("axis", -1);
  if (failed(l.normalizeAxis(axis, indices.rank() + 1)))
    return failure();
  if (depth < 1 || values.rank() != 1 || values.shape[0] != 2 ||
      !indices.isStatic())
    return l.fail("expected a positive depth, two values and static indices");
  FailureOr<Tensor> whole = l.convert(indices, DataType::I64);
  if (failed(whole))
    return failure();
  Shape shape = indices.shape;
  shape.insert(shape.begin() + axis, depth);
  if (failed(l.checkShape(shape)))
    return failure();
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> exprs;
  auto rank = static_cast<unsigned>(shape.size());
  for (unsigned d = 0; d < rank; ++d) {
    sizes.push_back(l.b.getIndexAttr(shape[d]));
    if (d != axis)
      exprs.push_back(l.b.getAffineDimExpr(d));
  }
  Value pair = l.materialize(values);
  l.setResult(
      0, generate(l, sizes, values.type, l.materialize(*whole),
                  AffineMap::get(rank, 0, exprs, l.b.getContext()),
                  [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange v) {
                    Value size = arith::ConstantIndexOp::create(b, depth);
                    Value is = arith::CmpIOp::create(
                        b, arith::CmpIPredicate::eq, wrapIndex(b, v[0], size),
                        loops[axis]);
                    Value which =
                        arith::IndexCastUIOp::create(b, b.getIndexType(), is);
                    return Value(tensor::ExtractOp::create(b, pair, which));
                  }));
  return success();
}

static LogicalResult lowerEyeLike(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t k = l.getInt("k", 0);
  auto type =
      static_cast<DataType>(l.getInt("dtype", static_cast<int64_t>(x.type)));
  if (x.rank() != 2 || !x.isStatic() || getByteWidth(type) == 0 ||
      isNarrow(type))
    return l.fail("expected a static matrix and a supported type");
  SmallVector<OpFoldResult> sizes = l.getSizes(x);
  Value one = l.makeScalar(type, type == DataType::Bool ? -1 : 1),
        zero = l.makeScalar(type, 0);
  l.setResult(
      0, generate(l, sizes, type, {}, {},
                  [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange) {
                    Value diagonal = arith::AddIOp::create(
                        b, loops[0], arith::ConstantIndexOp::create(b, k));
                    Value is = arith::CmpIOp::create(
                        b, arith::CmpIPredicate::eq, loops[1], diagonal);
                    return Value(arith::SelectOp::create(b, is, one, zero));
                  }));
  return success();
}

/// Sums or factors of leading parts: each element combines those before it
/// that count.
static LogicalResult lowerCumulative(Lowering &l) {
  bool isSum = l.node.op == "CumSum";
  const Tensor &x = l.getInput(0);
  SmallVector<int64_t> values;
  if (failed(l.getInts(1, "the axis", values)))
    return failure();
  if (values.size() != 1)
    return l.fail("the axis must be one number");
  int64_t axis = values[0];
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  if (ShapedType::isDynamic(x.shape[axis]) || x.type == DataType::Bool)
    return l.fail("dimension " + Twine(axis) + " must be static");
  bool isExclusive = l.getInt("exclusive", 0) != 0,
       isReversed = l.getInt("reverse", 0) != 0;
  // A reduction over a loop of its own, k, of the elements k <= i.
  Tensor source = l.makeTensor(l.materialize(x), x.type);
  auto rank = static_cast<unsigned>(x.rank());
  SmallVector<AffineExpr> from, to;
  for (unsigned d = 0; d < rank; ++d) {
    to.push_back(l.b.getAffineDimExpr(d));
    from.push_back(l.b.getAffineDimExpr(d == axis ? rank : d));
  }
  SmallVector<AffineMap> maps = {
      AffineMap::get(rank + 1, 0, from, l.b.getContext()),
      AffineMap::get(rank + 1, 0, to, l.b.getContext())};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Value init =
      l.makeFilled(l.getSizes(source), l.makeScalar(x.type, isSum ? 0 : 1));
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), source.value, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ScalarBuilder b(loc, nested);
        using P = arith::CmpIPredicate;
        P predicate = isReversed ? (isExclusive ? P::sgt : P::sge)
                                 : (isExclusive ? P::slt : P::sle);
        Value counts = arith::CmpIOp::create(b, predicate,
                                             linalg::IndexOp::create(b, rank),
                                             linalg::IndexOp::create(b, axis));
        Value all;
        if (isFloat(x.type))
          all = isSum ? Value(arith::AddFOp::create(b, v[1], v[0]))
                      : Value(arith::MulFOp::create(b, v[1], v[0]));
        else
          all = isSum ? Value(arith::AddIOp::create(b, v[1], v[0]))
                      : Value(arith::MulIOp::create(b, v[1], v[0]));
        Value kept = arith::SelectOp::create(b, counts, all, v[1]);
        linalg::YieldOp::create(b, kept);
      });
  l.setResult(0, l.makeTensor(generic.getResult(0), x.type));
  return success();
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

namespace {
/// The elements of one axis that an element of the result combines.
struct Taps {
  /// positions[k][i], weights[k][i]: tap k of element i.
  SmallVector<SmallVector<int64_t>> positions;
  SmallVector<SmallVector<double>> weights;
};

struct ResizeMode {
  std::string mode, coordinates, nearest;
  double cubic;
  bool excludesOutside;
};
} // namespace

/// Where an element of the result is in the input.
static double getCoordinate(const ResizeMode &how, int64_t i, double scale,
                            int64_t size, int64_t result) {
  auto x = static_cast<double>(i);
  if (how.coordinates == "asymmetric")
    return x / scale;
  // By the text of the specification and as onnxruntime does it; the model data
  // of ONNX divides by the size before it is rounded.
  if (how.coordinates == "align_corners")
    return result == 1 ? 0
                       : x * static_cast<double>(size - 1) /
                             static_cast<double>(result - 1);
  if (how.coordinates == "pytorch_half_pixel" && result == 1)
    return 0;
  if (how.coordinates == "half_pixel_symmetric") {
    double adjustment =
        static_cast<double>(result) / (scale * static_cast<double>(size));
    double offset = static_cast<double>(size) / 2 * (1 - adjustment);
    return offset + (x + 0.5) / scale - 0.5;
  }
  return (x + 0.5) / scale - 0.5;
}

static int64_t roundNearest(const ResizeMode &how, double x) {
  if (how.nearest == "floor")
    return static_cast<int64_t>(std::floor(x));
  if (how.nearest == "ceil")
    return static_cast<int64_t>(std::ceil(x));
  if (how.nearest == "round_prefer_ceil")
    return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

static Taps makeTaps(const ResizeMode &how, double scale, int64_t size,
                     int64_t result) {
  Taps taps;
  unsigned count = how.mode == "nearest" ? 1 : how.mode == "linear" ? 2 : 4;
  taps.positions.resize(count);
  taps.weights.resize(count);
  for (int64_t i = 0; i < result; ++i) {
    double x = getCoordinate(how, i, scale, size, result);
    int64_t first = static_cast<int64_t>(std::floor(x));
    double part = x - static_cast<double>(first);
    SmallVector<double> weights = {1};
    if (how.mode == "nearest")
      first = roundNearest(how, x);
    if (how.mode == "linear")
      weights = {1 - part, part};
    if (how.mode == "cubic") {
      --first;
      double a = how.cubic;
      weights.clear();
      for (double t : {part + 1, part, 1 - part, 2 - part})
        weights.push_back(t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1
                                 : ((a * t - 5 * a) * t + 8 * a) * t - 4 * a);
      double sum = 0;
      for (unsigned k = 0; k < 4; ++k) {
        int64_t at = first + k;
        if (how.excludesOutside && (at < 0 || at >= size))
          weights[k] = 0;
        sum += weights[k];
      }
      if (how.excludesOutside)
        for (double &weight : weights)
          weight /= sum;
    }
    for (unsigned k = 0; k < count; ++k) {
      taps.positions[k].push_back(std::clamp<int64_t>(first + k, 0, size - 1));
      taps.weights[k].push_back(weights[k]);
    }
  }
  return taps;
}

static FailureOr<Tensor> resizeAxis(Lowering &l, const Tensor &x, int64_t axis,
                                    const ResizeMode &how, double scale,
                                    int64_t result) {
  Taps taps = makeTaps(how, scale, x.shape[axis], result);
  Tensor source = l.makeTensor(l.materialize(x), x.type);
  SmallVector<OpFoldResult> sizes = l.getSizes(source);
  sizes[axis] = l.b.getIndexAttr(result);
  auto rank = static_cast<unsigned>(x.rank());
  AffineMap along = AffineMap::get(
      rank, 0, l.b.getAffineDimExpr(static_cast<unsigned>(axis)));
  SmallVector<Value> inputs;
  size_t count = taps.positions.size();
  for (size_t k = 0; k < count; ++k) {
    inputs.push_back(l.materialize(l.makeInts(taps.positions[k], result)));
    if (count > 1)
      inputs.push_back(
          l.materialize(l.makeDoubles(taps.weights[k], result, x.type)));
  }
  SmallVector<AffineMap> maps(inputs.size(), along);
  return generate(
      l, sizes, x.type, inputs, maps,
      [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange v) {
        Value sum;
        for (size_t k = 0; k < count; ++k) {
          SmallVector<Value> position(loops);
          position[axis] = arith::IndexCastOp::create(
              b, b.getIndexType(), v[k * (count > 1 ? 2 : 1)]);
          Value element = tensor::ExtractOp::create(b, source.value, position);
          if (count == 1)
            return element;
          element = arith::MulFOp::create(b, element, v[2 * k + 1]);
          sum = sum ? Value(arith::AddFOp::create(b, sum, element)) : element;
        }
        return sum;
      });
}

static LogicalResult lowerResize(Lowering &l) {
  Tensor x = l.getInput(0);
  bool isUpsample = l.node.op == "Upsample", isOld = l.version < 11;
  ResizeMode how;
  how.mode = l.getString("mode", "nearest");
  how.coordinates =
      isUpsample || isOld
          ? "asymmetric"
          : l.getString("coordinate_transformation_mode", "half_pixel");
  how.nearest = isUpsample || isOld
                    ? "floor"
                    : l.getString("nearest_mode", "round_prefer_floor");
  how.cubic = l.getFloat("cubic_coeff_a", -0.75);
  how.excludesOutside = l.getInt("exclude_outside", 0) != 0;
  if (how.mode == "bilinear")
    how.mode = "linear";
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic")
    return l.fail("mode '" + how.mode + "' is not supported");
  if (how.coordinates == "tf_crop_and_resize" || l.getInt("antialias", 0))
    return l.fail("tf_crop_and_resize and antialias are not supported");
  if (!x.isStatic() || (how.mode != "nearest" && !isFloat(x.type)))
    return l.fail("expected a static tensor, of floating point numbers unless "
                  "the mode is nearest");
  SmallVector<int64_t> axes = l.getInts("axes");
  if (axes.empty())
    llvm::append_range(axes, llvm::seq<int64_t>(0, x.rank()));
  for (int64_t &axis : axes)
    if (failed(l.normalizeAxis(axis, x.rank())))
      return failure();
  SmallVector<double> scales;
  SmallVector<int64_t> results;
  size_t scaleInput = isUpsample || isOld ? 1 : 2;
  if (isUpsample && l.version < 9) {
    std::vector<float> given = l.getFloats("scales");
    scales.assign(given.begin(), given.end());
  } else if (l.hasInput(3) && l.getInput(3).count() != 0) {
    if (failed(l.getInts(3, "sizes", results)))
      return failure();
  } else if (l.hasInput(scaleInput)) {
    const Tensor &given = l.getInput(scaleInput);
    if (!given.constant)
      return l.fail("scales must be constant");
    for (int64_t i = 0, e = given.constant->count(); i < e; ++i)
      scales.push_back(given.constant->getDouble(i));
  }
  bool hasSizes = !results.empty();
  if ((hasSizes ? results.size() : scales.size()) != axes.size())
    return l.fail("expected a scale or size for each of " + Twine(axes.size()) +
                  " dimensions");
  std::string policy = l.getString("keep_aspect_ratio_policy", "stretch");
  if (hasSizes) {
    double common = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      double scale = static_cast<double>(results[i]) /
                     static_cast<double>(x.shape[axes[i]]);
      scales.push_back(scale);
      bool isFirst = i == 0;
      common = isFirst                  ? scale
               : policy == "not_larger" ? std::min(common, scale)
                                        : std::max(common, scale);
    }
    if (policy != "stretch")
      for (size_t i = 0; i < axes.size(); ++i) {
        scales[i] = common;
        results[i] = static_cast<int64_t>(
            std::floor(common * static_cast<double>(x.shape[axes[i]]) + 0.5));
      }
  } else {
    for (size_t i = 0; i < axes.size(); ++i) {
      double size =
          std::floor(static_cast<double>(x.shape[axes[i]]) * scales[i]);
      if (!(size >= 0 && size < 1e12))
        return l.fail("a scale of " + Twine(std::to_string(scales[i])) +
                      " is not possible");
      results.push_back(static_cast<int64_t>(size));
    }
  }
  for (auto [axis, result, scale] : llvm::zip_equal(axes, results, scales)) {
    if (result < 1 || result > int64_t(1) << 24 || x.shape[axis] < 1)
      return l.fail("a size of " + Twine(result) + " is not supported");
    if (result == x.shape[axis] && scale == 1)
      continue;
    FailureOr<Tensor> next = resizeAxis(l, x, axis, how, scale, result);
    if (failed(next))
      return failure();
    x = *next;
  }
  l.setResult(0, x);
  return success();
}

ArrayRef<Operator> mlir::tessera::onnx::getIndexingOperators() {
  static const Operator operators[] = {
      {"CumProd", 26, 2, 2, lowerCumulative,
       "the axis must be constant and static"},
      {"CumSum", 11, 2, 2, lowerCumulative,
       "the axis must be constant and static"},
      {"EyeLike", 9, 1, 1, lowerEyeLike, "static shapes only"},
      {"GatherElements", 11, 2, 2, lowerGatherElements},
      {"GatherND", 11, 2, 2, lowerGatherND, "static shapes only"},
      {"OneHot", 9, 3, 3, lowerOneHot, "the depth must be constant"},
      {"Resize", 10, 1, 4, lowerResize,
       "static shapes, constant scales or sizes; no tf_crop_and_resize, no "
       "antialias"},
      {"Upsample", 7, 1, 2, lowerResize, "static shapes, constant scales"},
  };
  return operators;
}
