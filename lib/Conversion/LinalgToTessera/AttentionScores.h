//===- AttentionScores.h - The scores of an attention -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_ATTENTIONSCORES_H
#define CONVERSION_LINALGTOTESSERA_ATTENTIONSCORES_H

#include "PointReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::tessera {

/// Clones the ops of `block` that `roots` depend on, in their order.
void cloneSlice(OpBuilder &builder, Block &block, ValueRange roots,
                IRMapping &mapping);

/// The scores of an attention as a function of its first matmul: any
/// element-wise computation, and the bounds of the keys that a query sees,
/// which are taken out of it.
class AttentionScores {
public:
  /// The space of the scores: its rank, the dimensions of queries and keys, and
  /// their static extents.
  struct Space {
    unsigned rank, queries, keys;
    int64_t numQueries, numKeys;
  };

  AttentionScores(PointReader &reader, const Space &space, Location loc)
      : reader(reader), space(space), builder(loc, loc.getContext()) {}

  /// Reads `scores` up to a matmul. False if there is none, with an empty
  /// `why`, or if an op on the way is not supported.
  bool read(Point scores);

  /// The first matmul's result.
  std::optional<Point> contraction;
  /// The factor that is left, after the region.
  double factor = 1;
  std::string why;

  /// Maps from (i, l) to the first and the last keys; null without them.
  AffineMap getFirst() const { return makeMap(firsts); }
  AffineMap getLast() const { return makeMap(lasts); }
  bool hasLength() const { return !length.empty(); }
  bool hasRegion() const { return result != block->getArgument(0); }
  /// Whether queries may see no key, as far as is known.
  bool mayBeEmpty() const {
    return !firsts.empty() || !lasts.empty() || hasRegion();
  }
  /// The value of the region `length`. `dims` are the values of the space's
  /// dimensions.
  Value emitLength(OpBuilder &at, ValueRange dims);
  /// The value of the region `score`.
  Value emitScore(OpBuilder &at, Value sum, ValueRange dims);

private:
  /// A sum of the query, the key, a constant, and multiples of values that
  /// depend on the batch only.
  struct Linear {
    int64_t query = 0, key = 0, constant = 0;
    SmallVector<std::pair<Value, int64_t>> others;

    void add(const Linear &other, int64_t factor);
  };

  Value fail(const Twine &reason) {
    why = reason.str();
    return {};
  }
  Value emit(Point point);
  Value emitNew(const Point &point);
  Value emitTensor(const Point &point);
  Value emitElement(Value tensor, ValueRange indices);
  Value number(double value) {
    return arith::ConstantOp::create(
        builder, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  /// Whether `value` may differ between keys or queries.
  bool varies(Value value);
  std::optional<Linear> getLinear(Value value);
  /// Takes masks out of `value`, which is multiplied by `scale` later.
  Value takeMasks(Value value, double scale);
  /// The part of a condition under which keys are seen (or hidden) that is not
  /// a bound; null if nothing is left.
  Value takeBounds(Value condition, bool isSeen, bool isFinite);
  bool addBound(arith::CmpIOp compare, bool isSeen, bool isFinite);
  AffineMap makeMap(ArrayRef<AffineExpr> results) const;

  PointReader &reader;
  Space space;
  /// Holds the computation: its block takes the sum and the dimensions of the
  /// space.
  Region scratch;
  Block *block = nullptr;
  ImplicitLocOpBuilder builder;
  DenseMap<std::pair<Value, std::pair<const void *, Operation *>>, Value> known;
  Value result;
  SmallVector<AffineExpr> firsts, lasts;
  SmallVector<std::pair<Value, int64_t>> length;
  bool hasFiniteFirst = false;
};

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_ATTENTIONSCORES_H
