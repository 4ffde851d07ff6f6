//===- Selection.cpp - Order, einsum, windows and other rearrangements ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera::onnx;

//===----------------------------------------------------------------------===//
// TopK
//===----------------------------------------------------------------------===//

/// Whether x is ahead of y in descending order, where NaN is the largest.
static Value isGreater(ScalarBuilder &b, DataType type, Value x, Value y) {
  if (!isFloat(type))
    return arith::CmpIOp::create(b,
                                 isUnsigned(type) ? arith::CmpIPredicate::ugt
                                                  : arith::CmpIPredicate::sgt,
                                 x, y);
  Value greater = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  Value isNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, y, y);
  return arith::OrIOp::create(b, greater,
                              arith::AndIOp::create(b, isNan, isNumber));
}

/// A generic with the loops of a tensor and one more, in which `axis` of the
/// operands at `positions` runs. It reduces that loop or, with
/// `reducesLast` false, the loop of `axis`.
static Value
reduceAlong(Lowering &l, ArrayRef<Value> inputs, ArrayRef<bool> usesLast,
            ArrayRef<Value> inits, int64_t axis, unsigned rank,
            bool reducesLast,
            function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange)> body,
            SmallVectorImpl<Value> &results) {
  MLIRContext *context = l.b.getContext();
  auto makeMap = [&](bool last) {
    SmallVector<AffineExpr> exprs;
    for (unsigned d = 0; d < rank; ++d)
      exprs.push_back(getAffineDimExpr(last && d == axis ? rank : d, context));
    return AffineMap::get(rank + 1, 0, exprs, context);
  };
  SmallVector<AffineMap> maps;
  for (bool last : usesLast)
    maps.push_back(makeMap(last));
  maps.append(inits.size(), makeMap(!reducesLast));
  SmallVector<utils::IteratorType> iterators(rank + 1,
                                             utils::IteratorType::parallel);
  iterators[reducesLast ? rank : axis] = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      l.b, ValueRange(inits).getTypes(), inputs, inits, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ScalarBuilder b(loc, nested);
        linalg::YieldOp::create(b, body(b, v));
      });
  llvm::append_range(results, generic.getResults());
  return generic.getResult(0);
}

/// The rank of each element is the number of those ahead of it. Result i is the
/// element of rank i.
static LogicalResult lowerTopK(Lowering &l) {
  const Tensor &x = l.getInput(0);
  SmallVector<int64_t> counts;
  if (l.version < 10)
    counts = {l.getInt("k", 0)};
  else if (failed(l.getInts(1, "k", counts)))
    return failure();
  int64_t axis = l.getInt("axis", -1);
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  constexpr int64_t most = 16384;
  if (!x.isStatic() || counts.size() != 1 || counts[0] < 0 ||
      counts[0] > x.shape[axis] || x.shape[axis] > most ||
      x.type == DataType::Bool)
    return l.fail("expected a static tensor of numbers, with at most " +
                  Twine(most) +
                  " along the axis, and no more results than "
                  "elements");
  bool isLargest = l.getInt("largest", 1) != 0;
  Tensor source = l.makeTensor(l.materialize(x), x.type);
  auto rank = static_cast<unsigned>(x.rank());
  SmallVector<OpFoldResult> sizes = l.getSizes(source);
  Value zero = l.makeScalar(DataType::I64, 0);
  SmallVector<Value> ranks, results;
  reduceAlong(
      l, {source.value, source.value}, {false, true},
      {l.makeFilled(sizes, zero)}, axis, rank, /*reducesLast=*/true,
      [&](ScalarBuilder &b, ValueRange v) -> SmallVector<Value> {
        // v[1] is the other element.
        Value ahead = isLargest ? isGreater(b, x.type, v[1], v[0])
                                : isGreater(b, x.type, v[0], v[1]);
        Value behind = isLargest ? isGreater(b, x.type, v[0], v[1])
                                 : isGreater(b, x.type, v[1], v[0]);
        Value isEarlier = arith::CmpIOp::create(
            b, arith::CmpIPredicate::slt, linalg::IndexOp::create(b, rank),
            linalg::IndexOp::create(b, axis));
        Value counts = arith::SelectOp::create(
            b, behind, arith::ConstantIntOp::create(b, 0, 1), isEarlier);
        counts = arith::OrIOp::create(b, ahead, counts);
        Value one = arith::ExtUIOp::create(b, b.getI64Type(), counts);
        return {arith::AddIOp::create(b, v[2], one)};
      },
      ranks);
  sizes[axis] = l.b.getIndexAttr(counts[0]);
  reduceAlong(
      l, {source.value, ranks[0]}, {false, false},
      {l.makeFilled(sizes, l.makeScalar(x.type, 0)), l.makeFilled(sizes, zero)},
      axis, rank, /*reducesLast=*/false,
      [&](ScalarBuilder &b, ValueRange v) -> SmallVector<Value> {
        Value wanted = arith::IndexCastOp::create(
            b, b.getI64Type(), linalg::IndexOp::create(b, rank));
        Value is =
            arith::CmpIOp::create(b, arith::CmpIPredicate::eq, v[1], wanted);
        Value position = arith::IndexCastOp::create(
            b, b.getI64Type(), linalg::IndexOp::create(b, axis));
        return {arith::SelectOp::create(b, is, v[0], v[2]),
                arith::SelectOp::create(b, is, position, v[3])};
      },
      results);
  l.setResult(0, l.makeTensor(results[0], x.type));
  l.setResult(1, l.makeTensor(results[1], DataType::I64));
  return success();
}

/// One for the first largest element along an axis, and zeros.
static LogicalResult lowerHardmax(Lowering &l) {
  Tensor x = l.getInput(0);
  int64_t axis = l.getInt("axis", l.version < 13 ? 1 : -1);
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  if (!x.isStatic() || !isFloat(x.type))
    return l.fail("expected a static tensor of floating point numbers");
  Shape shape = x.shape;
  if (l.version < 13) {
    // All dimensions from the axis on are one.
    Shape flat = {1, 1};
    for (int64_t d = 0; d < x.rank(); ++d)
      flat[d >= axis] *= shape[d];
    FailureOr<Tensor> reshaped = l.reshape(x, flat);
    if (failed(reshaped))
      return failure();
    x = *reshaped;
    axis = 1;
  }
  NodeAttribute attribute;
  attribute.name = "axis";
  attribute.kind = NodeAttribute::Kind::Int;
  attribute.integer = axis;
  FailureOr<Tensor> largest = l.call("ArgMax", {x}, {attribute});
  if (failed(largest))
    return failure();
  Value index = l.materialize(*largest);
  auto rank = static_cast<unsigned>(x.rank());
  SmallVector<AffineExpr> exprs;
  for (unsigned d = 0; d < rank; ++d)
    exprs.push_back(d == axis ? l.b.getAffineConstantExpr(0)
                              : l.b.getAffineDimExpr(d));
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : x.shape)
    sizes.push_back(l.b.getIndexAttr(size));
  Value one = l.makeScalar(x.type, 1), zero = l.makeScalar(x.type, 0);
  Tensor result = generate(
      l, sizes, x.type, index, AffineMap::get(rank, 0, exprs, l.b.getContext()),
      [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange v) -> Value {
        Value position =
            arith::IndexCastOp::create(b, b.getI64Type(), loops[axis]);
        Value is =
            arith::CmpIOp::create(b, arith::CmpIPredicate::eq, v[0], position);
        return arith::SelectOp::create(b, is, one, zero);
      });
  return l.setResult(l.reshape(result, shape));
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// An equation: a dimension of the loops for each letter, and for the
/// dimensions of the ellipsis, which are aligned at their ends.
struct Equation {
  SmallVector<SmallVector<unsigned>> operands;
  SmallVector<unsigned> result;
  SmallVector<int64_t> sizes;
};
} // namespace

static LogicalResult readEquation(Lowering &l, Equation &equation) {
  std::string text = l.getString("equation", "");
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  bool isExplicit = StringRef(text).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != l.getNumInputs())
    return l.fail("the equation has " + Twine(terms.size()) +
                  " operands, but there are " + Twine(l.getNumInputs()));
  int64_t most = 0;
  for (auto [i, term] : llvm::enumerate(terms))
    if (term.contains("..."))
      most = std::max(most, l.getInput(i).rank() -
                                static_cast<int64_t>(term.size()) + 3);
  // The dimensions of the ellipsis are the first loops.
  equation.sizes.assign(most, 1);
  std::map<char, unsigned> letters;
  std::map<char, unsigned> uses;
  auto setSize = [&](unsigned loop, int64_t size) {
    int64_t &known = equation.sizes[loop];
    if (known != 1 && size != 1 && known != size)
      return false;
    known = known == 1 ? size : known;
    return true;
  };
  for (auto [i, term] : llvm::enumerate(terms)) {
    const Tensor &x = l.getInput(i);
    if (!x.isStatic() || x.type != l.getInput(0).type ||
        x.type == DataType::Bool)
      return l.fail("expected static tensors of numbers of one type");
    SmallVector<unsigned> &loops = equation.operands.emplace_back();
    bool fits = true;
    while (!term.empty() && fits) {
      if (term.consume_front("...")) {
        int64_t count = x.rank() - static_cast<int64_t>(loops.size()) -
                        static_cast<int64_t>(term.size());
        fits = count >= 0 && count <= most && !term.contains('.');
        for (int64_t k = most - count; fits && k < most; ++k) {
          fits = setSize(static_cast<unsigned>(k), x.shape[loops.size()]);
          loops.push_back(static_cast<unsigned>(k));
        }
        continue;
      }
      char letter = term.front();
      term = term.drop_front();
      fits = llvm::isAlpha(letter) &&
             static_cast<int64_t>(loops.size()) < x.rank();
      if (!fits)
        break;
      auto [found, isNew] = letters.try_emplace(letter, equation.sizes.size());
      if (isNew)
        equation.sizes.push_back(1);
      fits = setSize(found->second, x.shape[loops.size()]);
      ++uses[letter];
      loops.push_back(found->second);
    }
    if (!fits || static_cast<int64_t>(loops.size()) != x.rank())
      return l.fail("the equation '" + text + "' does not fit operand " +
                    Twine(i));
  }
  std::string implicit = "...";
  for (auto [letter, count] : uses)
    if (count == 1)
      implicit += letter;
  StringRef result = isExplicit ? right : StringRef(implicit);
  while (!result.empty()) {
    if (result.consume_front("...")) {
      for (int64_t k = 0; k < most; ++k)
        equation.result.push_back(static_cast<unsigned>(k));
      continue;
    }
    auto found = letters.find(result.front());
    if (found == letters.end() ||
        llvm::is_contained(equation.result, found->second))
      return l.fail("the result of the equation '" + text + "' is not valid");
    equation.result.push_back(found->second);
    result = result.drop_front();
  }
  return success();
}

/// One contraction of all operands.
static LogicalResult lowerEinsum(Lowering &l) {
  Equation equation;
  if (failed(readEquation(l, equation)))
    return failure();
  DataType type = l.getInput(0).type, sumType = Lowering::getSumType(type);
  MLIRContext *context = l.b.getContext();
  auto numLoops = static_cast<unsigned>(equation.sizes.size());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [i, loops] : llvm::enumerate(equation.operands)) {
    const Tensor &x = l.getInput(i);
    SmallVector<AffineExpr> exprs;
    for (auto [loop, size] : llvm::zip_equal(loops, x.shape))
      exprs.push_back(size == 1 && equation.sizes[loop] != 1
                          ? getAffineConstantExpr(0, context)
                          : getAffineDimExpr(loop, context));
    inputs.push_back(l.materialize(x));
    maps.push_back(AffineMap::get(numLoops, 0, exprs, context));
  }
  SmallVector<AffineExpr> exprs;
  SmallVector<OpFoldResult> sizes;
  Shape shape;
  SmallVector<utils::IteratorType> iterators(numLoops,
                                             utils::IteratorType::reduction);
  for (unsigned loop : equation.result) {
    exprs.push_back(getAffineDimExpr(loop, context));
    shape.push_back(equation.sizes[loop]);
    sizes.push_back(l.b.getIndexAttr(shape.back()));
    iterators[loop] = utils::IteratorType::parallel;
  }
  if (failed(l.checkShape(shape)))
    return failure();
  maps.push_back(AffineMap::get(numLoops, 0, exprs, context));
  // A broadcast or repeated dimension may have no operand that runs through it.
  Value init = l.makeFilled(sizes, l.makeScalar(sumType, 0));
  Type element = l.getElementType(sumType);
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), inputs, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ScalarBuilder b(loc, nested);
        Value term;
        for (Value x : v.drop_back()) {
          if (x.getType() != element)
            x = arith::ExtFOp::create(b, element, x);
          if (!term)
            term = x;
          else
            term = isFloat(type) ? Value(arith::MulFOp::create(b, term, x))
                                 : Value(arith::MulIOp::create(b, term, x));
        }
        Value sum = isFloat(type)
                        ? Value(arith::AddFOp::create(b, v.back(), term))
                        : Value(arith::AddIOp::create(b, v.back(), term));
        linalg::YieldOp::create(b, sum);
      });
  return l.setResult(
      l.convert(l.makeTensor(generic.getResult(0), sumType), type));
}

//===----------------------------------------------------------------------===//
// Rearrangements
//===----------------------------------------------------------------------===//

/// The first elements along an axis, of each sequence as many as it has, are
/// reversed.
static LogicalResult lowerReverseSequence(Lowering &l) {
  const Tensor &x = l.getInput(0), &lengths = l.getInput(1);
  int64_t time = l.getInt("time_axis", 0), batch = l.getInt("batch_axis", 1);
  if (!x.isStatic() || x.rank() < 2 || time + batch != 1 || time * batch != 0 ||
      lengths.rank() != 1 || lengths.shape[0] != x.shape[batch] ||
      lengths.type != DataType::I64)
    return l.fail("expected a static tensor, the axes 0 and 1, and a length "
                  "for each sequence");
  Tensor source = l.makeTensor(l.materialize(x), x.type);
  Value counts = l.materialize(lengths);
  auto rank = static_cast<unsigned>(x.rank());
  l.setResult(
      0,
      generate(
          l, l.getSizes(source), x.type, counts,
          AffineMap::get(rank, 0,
                         l.b.getAffineDimExpr(static_cast<unsigned>(batch)),
                         l.b.getContext()),
          [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange v) {
            Value length =
                arith::IndexCastOp::create(b, b.getIndexType(), v[0]);
            // A length beyond the tensor would read other memory.
            length = arith::MinSIOp::create(
                b, length, arith::ConstantIndexOp::create(b, x.shape[time]));
            Value one = arith::ConstantIndexOp::create(b, 1);
            Value mirrored = arith::SubIOp::create(
                b, arith::SubIOp::create(b, length, one).getResult(),
                loops[time]);
            Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                                   loops[time], length);
            SmallVector<Value> position(loops);
            position[time] =
                arith::SelectOp::create(b, isInside, mirrored, loops[time]);
            return Value(tensor::ExtractOp::create(b, source.value, position));
          }));
  return success();
}

static LogicalResult lowerCenterCropPad(Lowering &l) {
  const Tensor &x = l.getInput(0);
  SmallVector<int64_t> wanted, axes = l.getInts("axes");
  if (failed(l.getInts(1, "the shape", wanted)))
    return failure();
  if (!l.hasAttribute("axes"))
    llvm::append_range(axes, llvm::seq<int64_t>(0, x.rank()));
  for (int64_t &axis : axes)
    if (failed(l.normalizeAxis(axis, x.rank())))
      return failure();
  if (axes.size() != wanted.size() || !x.isStatic())
    return l.fail("expected a static tensor, and a size for each axis");
  SmallVector<int64_t> offsets(x.shape.size(), 0),
      sizes = x.shape, steps(x.shape.size(), 1), low(x.shape.size(), 0),
      high(x.shape.size(), 0);
  for (auto [axis, size] : llvm::zip_equal(axes, wanted)) {
    if (size < 0)
      return l.fail("a negative size");
    int64_t more = size - x.shape[axis];
    if (more >= 0) {
      low[axis] = more / 2;
      high[axis] = more - more / 2;
    } else {
      offsets[axis] = -more / 2;
      sizes[axis] = size;
    }
  }
  FailureOr<Tensor> cropped = l.slice(x, offsets, sizes, steps);
  if (failed(cropped))
    return failure();
  return l.setResult(l.pad(*cropped, low, high, l.makeScalar(x.type, 0)));
}

/// The same bits as another type of the same width.
static LogicalResult lowerBitCast(Lowering &l) {
  const Tensor &x = l.getInput(0);
  auto type = static_cast<DataType>(l.getInt("to", 0));
  // In memory, a bool is a byte of 0 or 1.
  if (x.type == DataType::Bool &&
      (type == DataType::U8 || type == DataType::I8))
    return l.setResult(l.convert(x, type));
  if (getByteWidth(type) == 0 || getByteWidth(type) != getByteWidth(x.type) ||
      type == DataType::Bool || x.type == DataType::Bool || isFloat8(type) ||
      isNarrow(type))
    return l.fail("a cast of the bits of " + getName(x.type) + " to " +
                  getName(type) + " is not supported");
  Type element = l.getElementType(type);
  if (l.getElementType(x.type) == element) {
    // Unsigned integers have the same type.
    Tensor result = x;
    if (x.constant) {
      result = l.makeConstant(type, x.shape, x.constant->bytes.str(),
                              x.constant->isSplat);
    }
    result.type = type;
    result.quantized = nullptr;
    result.scaled = nullptr;
    l.setResult(0, result);
    return success();
  }
  return l.setResult(
      l.elementwise({x}, type, [=](ScalarBuilder &b, ValueRange v) {
        return Value(arith::BitcastOp::create(b, element, v[0]));
      }));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A sum of cosines: a - b cos(2 pi i / n) + c cos(4 pi i / n).
static LogicalResult lowerWindow(Lowering &l, double a, double b, double c) {
  SmallVector<int64_t> size;
  if (failed(l.getInts(0, "the size", size)))
    return failure();
  auto type = static_cast<DataType>(l.getInt("output_datatype", 1));
  constexpr int64_t most = int64_t(1) << 24;
  if (size.size() != 1 || size[0] < 0 || size[0] > most || !isFloat(type))
    return l.fail("expected a size of at most " + Twine(most) +
                  " and a type of floating point numbers");
  int64_t count = size[0];
  auto period =
      static_cast<double>(l.getInt("periodic", 1) != 0 ? count : count - 1);
  SmallVector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    double angle = 2 * M_PI * static_cast<double>(i) / period;
    values.push_back(a - b * std::cos(angle) + c * std::cos(2 * angle));
  }
  l.setResult(0, l.makeDoubles(values, count, type));
  return success();
}

static LogicalResult lowerHannWindow(Lowering &l) {
  return lowerWindow(l, 0.5, 0.5, 0);
}
static LogicalResult lowerHammingWindow(Lowering &l) {
  return lowerWindow(l, 25.0 / 46, 1 - 25.0 / 46, 0);
}
static LogicalResult lowerBlackmanWindow(Lowering &l) {
  return lowerWindow(l, 0.42, 0.5, 0.08);
}

//===----------------------------------------------------------------------===//
// SwiGLU
//===----------------------------------------------------------------------===//

static LogicalResult lowerSwiGLU(Lowering &l) {
  FailureOr<Tensor> gate = l.call("Swish", {l.getInput(0)}, l.node.attributes);
  if (failed(gate))
    return failure();
  return l.setResult(l.call("Mul", {*gate, l.getInput(1)}));
}

ArrayRef<Operator> mlir::tessera::onnx::getSelectionOperators() {
  static const Operator operators[] = {
      {"BitCast", 26, 1, 1, lowerBitCast, "numbers of 8 to 64 bits"},
      {"BlackmanWindow", 17, 1, 1, lowerBlackmanWindow,
       "the size must be constant"},
      {"CenterCropPad", 18, 2, 2, lowerCenterCropPad,
       "the shape must be constant; static shapes only"},
      {"Einsum", 12, 1, anyNumber, lowerEinsum, "static shapes only"},
      {"HammingWindow", 17, 1, 1, lowerHammingWindow,
       "the size must be constant"},
      {"HannWindow", 17, 1, 1, lowerHannWindow, "the size must be constant"},
      {"Hardmax", 7, 1, 1, lowerHardmax, "static shapes only"},
      {"ReverseSequence", 10, 2, 2, lowerReverseSequence, "static shapes only"},
      {"SwiGLU", 28, 2, 2, lowerSwiGLU},
      {"TopK", 7, 1, 2, lowerTopK,
       "k must be constant; static shapes only, at most 16384 elements along "
       "the axis"},
  };
  return operators;
}
