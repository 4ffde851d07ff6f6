//===- Sampling.cpp - GridSample and AffineGrid ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

namespace {

enum class Padding { Zeros, Border, Reflection };

/// Builds the arithmetic of an element of GridSample, on positions of type f32
/// or f64.
class Sampler {
public:
  Sampler(ScalarBuilder &b, Value source, Type element, Padding padding,
          bool alignsCorners)
      : b(b), source(source), element(element), padding(padding),
        alignsCorners(alignsCorners) {}

  Value real(double value) {
    return arith::ConstantOp::create(b, b.getFloatAttr(element, value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }

  /// From [-1, 1] to an index in a dimension.
  Value denormalize(Value x, int64_t size) {
    auto count = static_cast<double>(size);
    Value shifted = add(x, real(1));
    if (alignsCorners)
      return mul(shifted, real((count - 1) / 2));
    return mul(sub(mul(shifted, real(count)), real(1)), real(0.5));
  }

  /// For a position outside of a dimension, the one that replaces it; with
  /// zeros, the same.
  Value moveInside(Value x, int64_t size) {
    if (padding == Padding::Zeros)
      return x;
    if (padding == Padding::Reflection)
      x = reflect(x, size);
    return clamp(x, size);
  }
  Value clamp(Value x, int64_t size) {
    Value low = arith::MaxNumFOp::create(b, x, real(0));
    return arith::MinNumFOp::create(b, low,
                                    real(static_cast<double>(size - 1)));
  }
  Value reflect(Value x, int64_t size) {
    double low = alignsCorners ? 0 : -0.5;
    double range = static_cast<double>(alignsCorners ? size - 1 : size);
    if (range == 0)
      return real(0);
    // |x - low| modulo 2 * range, of which the second half runs backwards.
    Value distance = math::AbsFOp::create(b, sub(x, real(low)));
    Value turns = math::FloorOp::create(
        b, arith::DivFOp::create(b, distance, real(2 * range)).getResult());
    Value rest = sub(distance, mul(turns, real(2 * range)));
    Value isBack =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, rest, real(range));
    Value back = sub(real(2 * range), rest);
    return add(arith::SelectOp::create(b, isBack, back, rest), real(low));
  }

  /// The element at whole positions along the last dimensions; a zero outside.
  Value read(ArrayRef<Value> outer, ArrayRef<Value> position,
             ArrayRef<int64_t> sizes) {
    SmallVector<Value> indices(outer);
    Value isInside;
    for (auto [x, size] : llvm::zip_equal(position, sizes)) {
      Value moved = moveInside(x, size);
      Value safe = clamp(moved, size);
      indices.push_back(arith::IndexCastOp::create(
          b, b.getIndexType(),
          arith::FPToSIOp::create(b, b.getI64Type(), safe).getResult()));
      if (padding != Padding::Zeros)
        continue;
      Value same =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, safe, moved);
      isInside = isInside ? arith::AndIOp::create(b, isInside, same).getResult()
                          : same;
    }
    Value value = tensor::ExtractOp::create(b, source, indices);
    if (value.getType() != element)
      value = arith::ExtFOp::create(b, element, value);
    return isInside ? arith::SelectOp::create(b, isInside, value, real(0))
                          .getResult()
                    : value;
  }

  /// The weights of the elements from `first` on for a position between
  /// elements.
  SmallVector<Value> getLinearWeights(Value part) {
    return {sub(real(1), part), part};
  }
  SmallVector<Value> getCubicWeights(Value part) {
    // Keys, with a = -0.75, as PyTorch.
    constexpr double a = -0.75;
    auto near = [&](Value t) {
      return add(mul(mul(sub(mul(real(a + 2), t), real(a + 3)), t), t),
                 real(1));
    };
    auto far = [&](Value t) {
      Value inner = sub(mul(real(a), t), real(5 * a));
      inner = add(mul(inner, t), real(8 * a));
      return sub(mul(inner, t), real(4 * a));
    };
    Value rest = sub(real(1), part);
    return {far(add(part, real(1))), near(part), near(rest),
            far(add(rest, real(1)))};
  }

private:
  ScalarBuilder &b;
  Value source;
  Type element;
  Padding padding;
  bool alignsCorners;
};

} // namespace

static LogicalResult lowerGridSample(Lowering &l) {
  const Tensor &x = l.getInput(0), &grid = l.getInput(1);
  std::string mode =
      l.getString("mode", l.version < 20 ? "bilinear" : "linear");
  std::string outside = l.getString("padding_mode", "zeros");
  bool alignsCorners = l.getInt("align_corners", 0) != 0;
  if (mode == "bilinear")
    mode = "linear";
  if (mode == "bicubic")
    mode = "cubic";
  if (mode != "linear" && mode != "nearest" && mode != "cubic")
    return l.fail("mode '" + mode + "' is not supported");
  Padding padding;
  if (outside == "zeros")
    padding = Padding::Zeros;
  else if (outside == "border")
    padding = Padding::Border;
  else if (outside == "reflection")
    padding = Padding::Reflection;
  else
    return l.fail("padding_mode '" + outside + "' is not supported");
  int64_t dims = x.rank() - 2;
  if (!x.isStatic() || !grid.isStatic() || dims < 1 || dims > 3 ||
      grid.rank() != x.rank() || grid.shape.back() != dims ||
      grid.shape[0] != x.shape[0] || !isFloat(x.type) || !isFloat(grid.type) ||
      x.count() == 0)
    return l.fail("expected static tensors of floating point numbers, with at "
                  "most three spatial dimensions");
  Value source = l.materialize(x), positions = l.materialize(grid);
  SmallVector<OpFoldResult> sizes = {l.b.getIndexAttr(x.shape[0]),
                                     l.b.getIndexAttr(x.shape[1])};
  for (int64_t d = 0; d < dims; ++d)
    sizes.push_back(l.b.getIndexAttr(grid.shape[d + 1]));
  ArrayRef<int64_t> spatial = ArrayRef(x.shape).drop_front(2);
  bool isWide = x.type == DataType::F64 || grid.type == DataType::F64;
  Type element = isWide ? Type(l.b.getF64Type()) : Type(l.b.getF32Type());
  Type resultType = l.getElementType(x.type);
  auto combine = [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange) {
    Sampler s(b, source, element, padding, alignsCorners);
    SmallVector<Value> outer = {loops[0], loops[1]};
    // For each dimension, the positions that it combines and their weights. The
    // last number of the grid belongs to the first spatial dimension.
    SmallVector<SmallVector<Value>> taps(dims), weights(dims);
    for (int64_t d = 0; d < dims; ++d) {
      SmallVector<Value> at = {loops[0]};
      llvm::append_range(at, loops.drop_front(2));
      at.push_back(arith::ConstantIndexOp::create(b, dims - 1 - d));
      Value given = tensor::ExtractOp::create(b, positions, at);
      if (given.getType() != element)
        given = arith::ExtFOp::create(b, element, given);
      Value position = s.denormalize(given, spatial[d]);
      if (mode != "cubic")
        position = s.moveInside(position, spatial[d]);
      if (mode == "nearest") {
        taps[d] = {math::RoundEvenOp::create(b, position)};
        continue;
      }
      Value first = math::FloorOp::create(b, position);
      Value part = s.sub(position, first);
      bool isCubic = mode == "cubic";
      weights[d] = isCubic ? s.getCubicWeights(part) : s.getLinearWeights(part);
      for (int64_t k = 0; k < (isCubic ? 4 : 2); ++k)
        taps[d].push_back(
            s.add(first, s.real(static_cast<double>(isCubic ? k - 1 : k))));
    }
    // All combinations of taps.
    Value sum;
    size_t count = 1;
    for (const auto &list : taps)
      count *= list.size();
    for (size_t i = 0; i < count; ++i) {
      SmallVector<Value> at;
      Value weight;
      size_t rest = i;
      for (int64_t d = 0; d < dims; ++d) {
        size_t k = rest % taps[d].size();
        rest /= taps[d].size();
        at.push_back(taps[d][k]);
        if (weights[d].empty())
          continue;
        weight = weight ? s.mul(weight, weights[d][k]) : weights[d][k];
      }
      Value value = s.read(outer, at, spatial);
      value = weight ? s.mul(value, weight) : value;
      sum = sum ? s.add(sum, value) : value;
    }
    return element == resultType
               ? sum
               : Value(arith::TruncFOp::create(b, resultType, sum));
  };
  if (isWide && x.type != DataType::F64)
    return l.fail("a grid of float64 requires an input of float64");
  l.setResult(0, generate(l, sizes, x.type, {}, {}, combine));
  return success();
}

/// The positions of an affine map of the corners' square or cube.
static LogicalResult lowerAffineGrid(Lowering &l) {
  const Tensor &theta = l.getInput(0);
  SmallVector<int64_t> size;
  if (failed(l.getInts(1, "the size", size)))
    return failure();
  bool alignsCorners = l.getInt("align_corners", 0) != 0;
  auto dims = static_cast<int64_t>(size.size()) - 2;
  if ((dims != 2 && dims != 3) || !isFloat(theta.type) ||
      theta.shape != Shape{size[0], dims, dims + 1} ||
      llvm::any_of(size, [](int64_t n) { return n < 1; }))
    return l.fail("expected matrices for two or three spatial dimensions");
  Shape shape = {size[0]};
  llvm::append_range(shape, ArrayRef(size).drop_front(2));
  shape.push_back(dims);
  if (failed(l.checkShape(shape)))
    return failure();
  SmallVector<OpFoldResult> sizes;
  for (int64_t n : shape)
    sizes.push_back(l.b.getIndexAttr(n));
  Value matrices = l.materialize(theta);
  Type element = l.getElementType(theta.type);
  // Sums of small types are in float32.
  Type wide = l.getElementType(Lowering::getSumType(theta.type));
  l.setResult(
      0, generate(
             l, sizes, theta.type, {}, {},
             [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange) {
               auto real = [&](double value) -> Value {
                 return arith::ConstantOp::create(b,
                                                  b.getFloatAttr(wide, value));
               };
               auto read = [&](int64_t column) -> Value {
                 Value at = arith::ConstantIndexOp::create(b, column);
                 Value value = tensor::ExtractOp::create(
                     b, matrices, ValueRange{loops[0], loops.back(), at});
                 return wide == element
                            ? value
                            : Value(arith::ExtFOp::create(b, wide, value));
               };
               Value sum = read(dims);
               for (int64_t k = 0; k < dims; ++k) {
                 // Column k is for x, y, z: the last dimension first.
                 int64_t d = dims - 1 - k;
                 auto count = static_cast<double>(size[d + 2]);
                 Value i = arith::SIToFPOp::create(
                     b, wide,
                     arith::IndexCastOp::create(b, b.getI64Type(), loops[d + 1])
                         .getResult());
                 double step =
                     alignsCorners ? 2 / std::max(count - 1, 1.0) : 2 / count;
                 double start = alignsCorners ? -1 : 1 / count - 1;
                 if (alignsCorners && count == 1)
                   start = -1;
                 Value position = arith::AddFOp::create(
                     b, arith::MulFOp::create(b, i, real(step)).getResult(),
                     real(start));
                 sum = arith::AddFOp::create(
                     b, sum,
                     arith::MulFOp::create(b, read(k), position).getResult());
               }
               return wide == element
                          ? sum
                          : Value(arith::TruncFOp::create(b, element, sum));
             }));
  return success();
}

ArrayRef<Operator> mlir::tessera::onnx::getSamplingOperators() {
  static const Operator operators[] = {
      {"AffineGrid", 20, 2, 2, lowerAffineGrid, "the size must be constant"},
      {"GridSample", 16, 2, 2, lowerGridSample,
       "static shapes only, at most three spatial dimensions"},
  };
  return operators;
}
