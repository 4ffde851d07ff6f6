//===- AttentionParts.cpp - Attention with its keys in parts --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   keys:  | part 0 | part 1 | part 2 |      each by workgroups of its own
//              |        |        |
//              v        v        v
//        sums O[0..2], largest scores x[0..2], sums of weights l[0..2]
//              |________|________|
//                       v
//   x = max(x[0], x[1], x[2]),   f[p] = 2^(factor (x[p] - x))
//
//   output = (f[0] O[0] + f[1] O[1] + f[2] O[2]) / (f[0] l[0] + ...)
//
// The weights of part p are relative to x[p]. A part without visible keys has
// x[p] = -inf, so that f[p] is zero.
//
//===----------------------------------------------------------------------===//

#include "AttentionParts.h"

#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Scheduling/AttentionSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::tessera;

AttentionParts
mlir::tessera::createAttentionParts(AttentionOp op, int64_t parts,
                                    ArrayRef<Value> sizes,
                                    ImplicitLocOpBuilder &builder) {
  auto allocate = [&](Value width) {
    SmallVector<int64_t> shape{parts};
    SmallVector<Value> dynamic;
    auto add = [&](Value size) {
      std::optional<int64_t> known = getConstantIntValue(size);
      shape.push_back(known.value_or(ShapedType::kDynamic));
      if (!known)
        dynamic.push_back(size);
    };
    unsigned kept = op.getNumBatchDims() - countFoldedDims(op);
    for (Value size : sizes.take_front(kept))
      add(size);
    IndexMath math(builder);
    SmallVector<unsigned> rows =
        llvm::to_vector(llvm::seq(kept, op.getPosition(AttentionOp::M) + 1));
    add(math.product(sizes, rows));
    add(width);
    return memref::AllocOp::create(
        builder, MemRefType::get(shape, builder.getF32Type()), dynamic);
  };
  Value two = arith::ConstantIndexOp::create(builder, 2);
  return {allocate(sizes[op.getPosition(AttentionOp::E)]), allocate(two)};
}

namespace {
/// Emits the computation of one element of the output.
class ElementEmitter {
public:
  ElementEmitter(OpBuilder &builder, Location loc, AttentionOp op,
                 const AttentionParts &memory)
      : builder(loc, builder), op(op), memory(memory),
        parts(cast<MemRefType>(memory.sums.getType()).getDimSize(0)) {}

  Value run();

private:
  using Step = function_ref<SmallVector<Value>(ImplicitLocOpBuilder &,
                                               Value part, ValueRange values)>;

  Value number(float value) {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  }
  /// Iterates over the parts, in their order; the loads of neighbouring parts
  /// do not wait for each other.
  SmallVector<Value> forEachPart(ValueRange start, Step step);
  /// Sets `row` to the element's batch and row, and `column` to its column.
  void findPosition();
  Value load(ImplicitLocOpBuilder &at, Value from, Value part, Value last) {
    SmallVector<Value> indices{part};
    llvm::append_range(indices, row);
    indices.push_back(last);
    return memref::LoadOp::create(at, from, indices);
  }

  ImplicitLocOpBuilder builder;
  AttentionOp op;
  const AttentionParts &memory;
  int64_t parts;
  SmallVector<Value> row;
  Value column;
};
} // namespace

SmallVector<Value> ElementEmitter::forEachPart(ValueRange start, Step step) {
  constexpr int64_t unrolled = 32;
  SmallVector<Value> values(start);
  int64_t whole = parts / unrolled * unrolled;
  auto emit = [&](ImplicitLocOpBuilder &at, Value first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Value part = arith::ConstantIndexOp::create(at, i);
      if (first)
        part = arith::AddIOp::create(at, first, part);
      values = step(at, part, values);
    }
  };
  if (whole > unrolled) {
    auto constant = [&](int64_t value) {
      return arith::ConstantIndexOp::create(builder, value);
    };
    auto loop = scf::ForOp::create(
        builder, constant(0), constant(whole), constant(unrolled), start,
        [&](OpBuilder &inner, Location loc, Value first, ValueRange carried) {
          ImplicitLocOpBuilder at(loc, inner);
          values.assign(carried.begin(), carried.end());
          emit(at, first, unrolled);
          scf::YieldOp::create(at, values);
        });
    values.assign(loop.result_begin(), loop.result_end());
    if (parts > whole)
      emit(builder, constant(whole), parts - whole);
    return values;
  }
  emit(builder, Value(), parts);
  return values;
}

void ElementEmitter::findPosition() {
  AffineMap map = op.getMap(AttentionOp::Output);
  auto getIndex = [&](unsigned dim) -> Value {
    int64_t r = *map.getResultPosition(builder.getAffineDimExpr(dim));
    return linalg::IndexOp::create(builder, r);
  };
  unsigned kept = op.getNumBatchDims() - countFoldedDims(op),
           m = op.getPosition(AttentionOp::M);
  for (unsigned dim = 0; dim < kept; ++dim)
    row.push_back(getIndex(dim));
  IndexMath math(builder);
  Value inTile = math.constant(0);
  for (unsigned dim = kept; dim <= m; ++dim) {
    if (dim > kept)
      inTile = math.mul(inTile, op.getStaticExtent(dim));
    inTile = math.add(inTile, getIndex(dim));
  }
  row.push_back(inTile);
  column = getIndex(op.getPosition(AttentionOp::E));
}

Value ElementEmitter::run() {
  findPosition();
  Value none = number(-std::numeric_limits<float>::infinity()),
        zero = number(0),
        factor = number(static_cast<float>(op.getScale().convertToDouble() *
                                           llvm::numbers::log2e)),
        first = arith::ConstantIndexOp::create(builder, 0),
        second = arith::ConstantIndexOp::create(builder, 1);
  Value largest =
      forEachPart(none,
                  [&](ImplicitLocOpBuilder &at, Value part,
                      ValueRange old) -> SmallVector<Value> {
                    Value own = load(at, memory.statistics, part, first);
                    return {arith::MaximumFOp::create(at, old[0], own)};
                  })[0];
  // Where no part has visible keys, the difference of two infinities would be
  // NaN.
  Value isNone =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, largest, none);
  Value subtrahend = arith::SelectOp::create(builder, isNone, zero, largest);
  SmallVector<Value> totals = forEachPart(
      {zero, zero},
      [&](ImplicitLocOpBuilder &at, Value part,
          ValueRange old) -> SmallVector<Value> {
        Value own = load(at, memory.statistics, part, first),
              weights = load(at, memory.statistics, part, second),
              sum = load(at, memory.sums, part, column);
        Value difference = arith::SubFOp::create(at, own, subtrahend);
        Value share = math::Exp2Op::create(
            at, arith::MulFOp::create(at, difference, factor));
        auto add = [&](Value total, Value value) -> Value {
          return arith::AddFOp::create(at, total,
                                       arith::MulFOp::create(at, share, value));
        };
        return {add(old[0], sum), add(old[1], weights)};
      });
  Value isEmpty = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                        totals[1], zero);
  Value quotient = arith::DivFOp::create(builder, totals[0], totals[1]);
  Value empty = op.getEmptyIsNan()
                    ? number(std::numeric_limits<float>::quiet_NaN())
                    : zero;
  return arith::SelectOp::create(builder, isEmpty, empty, quotient);
}

void mlir::tessera::emitAttentionReduction(AttentionOp op,
                                           const AttentionParts &parts,
                                           ImplicitLocOpBuilder &builder) {
  Value output = op.getOutput();
  auto type = cast<MemRefType>(output.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(builder, ValueRange(), output, identity, iterators,
                            [&](OpBuilder &nested, Location loc, ValueRange) {
                              Value result =
                                  ElementEmitter(nested, loc, op, parts).run();
                              if (type.getElementType() != result.getType())
                                result = arith::TruncFOp::create(
                                    nested, loc, type.getElementType(), result);
                              linalg::YieldOp::create(nested, loc, result);
                            });
  memref::DeallocOp::create(builder, parts.statistics);
  memref::DeallocOp::create(builder, parts.sums);
}
