//===- Scatter.cpp - Operators that write computed positions --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element of a result looks for the updates that are for it, in order, so
// that no two threads write one element. This takes elements times updates.
//
//===----------------------------------------------------------------------===//

#include "../ScalarMath.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

/// Combines an element with an update.
static Value combine(ScalarBuilder &b, StringRef how, DataType type, Value x,
                     Value y) {
  if (how == "add")
    return isFloat(type) ? add(b, x, y) : Value(arith::AddIOp::create(b, x, y));
  if (how == "mul")
    return isFloat(type) ? mul(b, x, y) : Value(arith::MulIOp::create(b, x, y));
  if (how == "max")
    return isFloat(type)      ? Value(arith::MaximumFOp::create(b, x, y))
           : isUnsigned(type) ? Value(arith::MaxUIOp::create(b, x, y))
                              : Value(arith::MaxSIOp::create(b, x, y));
  if (how == "min")
    return isFloat(type)      ? Value(arith::MinimumFOp::create(b, x, y))
           : isUnsigned(type) ? Value(arith::MinUIOp::create(b, x, y))
                              : Value(arith::MinSIOp::create(b, x, y));
  return y;
}

/// Reads an attribute; an unknown value is an error.
static FailureOr<std::string> getReduction(Lowering &l) {
  std::string how = l.getString("reduction", "none");
  if (!llvm::is_contained({"none", "add", "mul", "max", "min"}, how))
    return l.fail("the reduction '" + how + "' is not supported");
  return how;
}

/// A result like `data`. For each element, `body` gets the loops' indices, of
/// which the last one counts the updates, and the accumulated element.
static Tensor
accumulate(Lowering &l, const Tensor &data, int64_t updates,
           function_ref<Value(ScalarBuilder &, ArrayRef<Value>, Value)> body) {
  auto rank = static_cast<unsigned>(data.rank());
  Value init = l.materialize(data);
  // An operand of its size, which is not read, gives the number of updates.
  Value counter =
      l.makeEmpty(OpFoldResult(l.b.getIndexAttr(updates)), l.b.getI8Type());
  SmallVector<AffineMap> maps = {
      AffineMap::get(rank + 1, 0, l.b.getAffineDimExpr(rank)),
      l.b.getMultiDimIdentityMap(rank + 1).getMajorSubMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), counter, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ScalarBuilder b(loc, nested);
        SmallVector<Value> loops;
        for (unsigned d = 0; d <= rank; ++d)
          loops.push_back(linalg::IndexOp::create(b, d));
        linalg::YieldOp::create(b, body(b, loops, v[1]));
      });
  return l.makeTensor(generic.getResult(0), data.type);
}

static Value isEqual(ScalarBuilder &b, Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
}

static LogicalResult lowerScatterElements(Lowering &l) {
  const Tensor &data = l.getInput(0), &indices = l.getInput(1),
               &updates = l.getInput(2);
  int64_t axis = l.getInt("axis", 0);
  FailureOr<std::string> how = getReduction(l);
  if (failed(how) || failed(l.normalizeAxis(axis, data.rank())))
    return failure();
  if (!data.isStatic() || !indices.isStatic() ||
      indices.rank() != data.rank() || updates.shape != indices.shape ||
      updates.type != data.type || !isInteger(indices.type))
    return l.fail("expected static shapes, of indices and updates the same, "
                  "with the rank of the data");
  if (indices.count() == 0) {
    l.setResult(0, data);
    return success();
  }
  Value positions = l.materialize(indices), values = l.materialize(updates);
  l.setResult(
      0, accumulate(
             l, data, indices.shape[axis],
             [&](ScalarBuilder &b, ArrayRef<Value> loops, Value old) {
               SmallVector<Value> at(loops.drop_back());
               at[axis] = loops.back();
               Value counts;
               auto require = [&](Value condition) {
                 counts =
                     counts ? Value(arith::AndIOp::create(b, counts, condition))
                            : condition;
               };
               // There may be fewer updates than elements.
               for (int64_t d = 0; d < data.rank(); ++d) {
                 if (d == axis || indices.shape[d] >= data.shape[d])
                   continue;
                 Value last =
                     arith::ConstantIndexOp::create(b, indices.shape[d] - 1);
                 require(arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                               at[d], last));
                 at[d] = arith::MinUIOp::create(b, at[d], last);
               }
               Value size = arith::ConstantIndexOp::create(b, data.shape[axis]);
               Value index = wrapIndex(
                   b, tensor::ExtractOp::create(b, positions, at), size);
               require(isEqual(b, index, loops[axis]));
               Value update = tensor::ExtractOp::create(b, values, at);
               return Value(arith::SelectOp::create(
                   b, counts, combine(b, *how, data.type, old, update), old));
             }));
  return success();
}

static LogicalResult lowerScatterND(Lowering &l) {
  const Tensor &data = l.getInput(0), &indices = l.getInput(1),
               &updates = l.getInput(2);
  FailureOr<std::string> how = getReduction(l);
  if (failed(how))
    return failure();
  if (!data.isStatic() || !indices.isStatic() || indices.rank() < 1 ||
      indices.shape.back() > data.rank() || updates.type != data.type ||
      !isInteger(indices.type))
    return l.fail("expected static shapes, and indices of at most the rank of "
                  "the data");
  int64_t depth = indices.shape.back();
  int64_t count =
      depth == 0
          ? ShapedType::getNumElements(ArrayRef(indices.shape).drop_back())
          : indices.count() / depth;
  Shape expected(indices.shape.begin(), indices.shape.end() - 1);
  llvm::append_range(expected, ArrayRef(data.shape).drop_front(depth));
  if (updates.shape != expected)
    return l.fail("the shape of the updates does not fit");
  if (count == 0) {
    l.setResult(0, data);
    return success();
  }
  Shape rows = {count};
  llvm::append_range(rows, ArrayRef(data.shape).drop_front(depth));
  FailureOr<Tensor> list = l.reshape(indices, {count, depth});
  FailureOr<Tensor> parts = l.reshape(updates, rows);
  if (failed(list) || failed(parts))
    return failure();
  Value positions = l.materialize(*list), values = l.materialize(*parts);
  l.setResult(
      0, accumulate(
             l, data, count,
             [&](ScalarBuilder &b, ArrayRef<Value> loops, Value old) {
               Value counts = arith::ConstantOp::create(b, b.getBoolAttr(true));
               for (int64_t d = 0; d < depth; ++d) {
                 Value at = arith::ConstantIndexOp::create(b, d);
                 Value size = arith::ConstantIndexOp::create(b, data.shape[d]);
                 Value index =
                     wrapIndex(b,
                               tensor::ExtractOp::create(
                                   b, positions, ValueRange{loops.back(), at}),
                               size);
                 counts = arith::AndIOp::create(b, counts,
                                                isEqual(b, index, loops[d]));
               }
               SmallVector<Value> at = {loops.back()};
               llvm::append_range(at, loops.drop_back().drop_front(depth));
               Value update = tensor::ExtractOp::create(b, values, at);
               return Value(arith::SelectOp::create(
                   b, counts, combine(b, *how, data.type, old, update), old));
             }));
  return success();
}

/// Writes the rows of each batch from its index on, around the end if the mode
/// is circular.
static LogicalResult lowerTensorScatter(Lowering &l) {
  const Tensor &cache = l.getInput(0), &update = l.getInput(1);
  int64_t axis = l.getInt("axis", -2);
  std::string mode = l.getString("mode", "linear");
  if (failed(l.normalizeAxis(axis, cache.rank())))
    return failure();
  if (!cache.isStatic() || !update.isStatic() || axis == 0 ||
      update.rank() != cache.rank() || update.type != cache.type ||
      (mode != "linear" && mode != "circular"))
    return l.fail("expected static shapes of the same rank, and the mode "
                  "linear or circular");
  Tensor old = l.makeTensor(l.materialize(cache), cache.type);
  Value rows = l.materialize(update), begins;
  if (l.hasInput(2))
    begins = l.materialize(l.getInput(2));
  int64_t size = cache.shape[axis], count = update.shape[axis];
  l.setResult(
      0,
      generate(l, l.getSizes(old), cache.type, {}, {},
               [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange) {
                 auto number = [&](int64_t value) {
                   return arith::ConstantIndexOp::create(b, value);
                 };
                 Value begin = number(0);
                 if (begins)
                   begin = arith::IndexCastOp::create(
                       b, b.getIndexType(),
                       tensor::ExtractOp::create(b, begins, loops[0]));
                 Value row = arith::SubIOp::create(b, loops[axis], begin);
                 if (mode == "circular")
                   row = arith::RemUIOp::create(
                       b, arith::AddIOp::create(b, row, number(size)),
                       number(size));
                 Value isNew = arith::CmpIOp::create(
                     b, arith::CmpIPredicate::ult, row, number(count));
                 SmallVector<Value> at(loops);
                 at[axis] = arith::SelectOp::create(b, isNew, row, number(0));
                 Value fresh = tensor::ExtractOp::create(b, rows, at);
                 Value kept = tensor::ExtractOp::create(b, old.value, loops);
                 return Value(arith::SelectOp::create(b, isNew, fresh, kept));
               }));
  return success();
}

ArrayRef<Operator> mlir::tessera::onnx::getScatterOperators() {
  static const char limits[] =
      "static shapes only; each element reads all updates for it";
  static const Operator operators[] = {
      {"Scatter", 9, 3, 3, lowerScatterElements, limits},
      {"ScatterElements", 11, 3, 3, lowerScatterElements, limits},
      {"ScatterND", 11, 3, 3, lowerScatterND, limits},
      {"TensorScatter", 24, 2, 3, lowerTensorScatter, "static shapes only"},
  };
  return operators;
}
