//===- ArithmeticPatterns.cpp - mma, map, reduce --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Reductions.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Patterns.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

Value mlir::tessera::emitMultiplyAdd(OpBuilder &builder, Location loc, Value a,
                                     Value b, Value acc) {
  if (isa<FloatType>(getElementTypeOrSelf(acc.getType())))
    return math::FmaOp::create(builder, loc, a, b, acc);
  return arith::AddIOp::create(builder, loc, acc,
                               arith::MulIOp::create(builder, loc, a, b));
}

/// Emits an mma of bytes in one lane, with two elements of K at a time, which
/// code generators recognize as an instruction for pairs of 16 bits:
///
///   acc[j] += a[k] * b[k, j] + a[k + 1] * b[k + 1, j]
///
/// Null for other types and an odd K.
static Value emitPairsOfBytes(OpBuilder &builder, Location loc,
                              const MatrixInstruction &row, MmaOp op, Value a,
                              Value b, Value acc) {
  auto type = cast<VectorType>(acc.getType());
  auto isByte = [](Value value) {
    return getElementTypeOrSelf(value).isInteger(8);
  };
  if (!type.getElementType().isInteger(32) || !isByte(a) || !isByte(b) ||
      row.k % 2 != 0)
    return {};
  Type half = builder.getI16Type(), whole = builder.getI32Type();
  a = emitElementCast(builder, loc, a, half, op.getUnsignedA());
  int64_t columns = type.getNumElements();
  auto shuffle = [&](Value vector, int64_t count, auto &&getIndex) -> Value {
    SmallVector<int64_t> indices;
    for (int64_t i = 0; i < count; ++i)
      indices.push_back(getIndex(i));
    return vector::ShuffleOp::create(builder, loc, vector, vector, indices);
  };
  for (int64_t k = 0; k < row.k; k += 2) {
    Value left = shuffle(a, 2 * columns, [&](int64_t i) { return k + i % 2; });
    Value right = shuffle(b, 2 * columns, [&](int64_t i) {
      return (k + i % 2) * columns + i / 2;
    });
    right = emitElementCast(builder, loc, right, half, op.getUnsignedB());
    Value products = arith::MulIOp::create(
        builder, loc, emitElementCast(builder, loc, left, whole, false),
        emitElementCast(builder, loc, right, whole, false),
        arith::IntegerOverflowFlags::nsw);
    Value pairs = arith::AddIOp::create(
        builder, loc,
        shuffle(products, columns, [](int64_t i) { return 2 * i; }),
        shuffle(products, columns, [](int64_t i) { return 2 * i + 1; }));
    acc = arith::AddIOp::create(builder, loc, acc, pairs);
  }
  return acc;
}

/// Emits an mma without a matrix unit: every lane multiplies the elements in
/// its own registers. The maps of such rows are defined so that a lane holds
/// the elements of a and b that its accumulators need.
static Value emitScalarMma(OpBuilder &builder, Location loc,
                           const MatrixInstruction &row, MmaOp op, Value a,
                           Value b, Value acc) {
  auto type = cast<VectorType>(acc.getType());
  bool hasVectors = row.accMap.getNumLanes() == 1 && row.m == 1;
  if (hasVectors)
    if (Value sums = emitPairsOfBytes(builder, loc, row, op, a, b, acc))
      return sums;
  a = emitElementCast(builder, loc, a, type.getElementType(),
                      op.getUnsignedA());
  b = emitElementCast(builder, loc, b, type.getElementType(),
                      op.getUnsignedB());
  int64_t numA = row.aMap.getNumRegisters(), numB = row.bMap.getNumRegisters(),
          numAcc = row.accMap.getNumRegisters();
  auto extract = [&](Value vector, int64_t at) -> Value {
    return vector::ExtractOp::create(builder, loc, vector, at);
  };
  // In one lane, a row of b has the layout of the accumulators in its
  // registers: use vectors.
  if (hasVectors) {
    for (int64_t k = 0; k < row.k; ++k) {
      Value splat =
          vector::BroadcastOp::create(builder, loc, type, extract(a, k));
      Value slice = b;
      if (row.k > 1)
        slice = vector::ShuffleOp::create(
            builder, loc, b, b,
            llvm::to_vector(llvm::seq<int64_t>(k * numAcc, (k + 1) * numAcc)));
      acc = emitMultiplyAdd(builder, loc, splat, slice, acc);
    }
    return acc;
  }
  SmallVector<Value> aElements, bElements, results;
  for (int64_t r = 0; r < numA; ++r)
    aElements.push_back(extract(a, r));
  for (int64_t r = 0; r < numB; ++r)
    bElements.push_back(extract(b, r));
  for (int64_t r = 0; r < numAcc; ++r) {
    auto [i, j] = row.accMap.at(0, r);
    Value sum = extract(acc, r);
    for (int64_t k = 0; k < row.k; ++k) {
      Value left, right;
      for (int64_t s = 0; s < numA; ++s)
        if (row.aMap.at(0, s) == std::pair(i, k))
          left = aElements[s];
      for (int64_t s = 0; s < numB; ++s)
        if (row.bMap.at(0, s) == std::pair(k, j))
          right = bElements[s];
      if (!left || !right)
        return {};
      sum = emitMultiplyAdd(builder, loc, left, right, sum);
    }
    results.push_back(sum);
  }
  return vector::FromElementsOp::create(builder, loc, type, results);
}

VectorType mlir::tessera::getSumType(VectorType type) {
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element || element.getWidth() >= 32)
    return type;
  return type.clone(Float32Type::get(type.getContext()));
}

Value mlir::tessera::widenAccumulator(OpBuilder &builder, Location loc,
                                      Value acc) {
  auto type = cast<VectorType>(acc.getType());
  VectorType sum = getSumType(type);
  if (sum == type)
    return acc;
  return arith::ExtFOp::create(builder, loc, sum, acc);
}

namespace {
struct MmaPattern : FragmentPattern<MmaOp> {
  using FragmentPattern::FragmentPattern;
  LogicalResult
  matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto name = op->getAttrOfType<StringAttr>(
        TesseraDialect::InstructionAttrHelper::getNameStr());
    const MatrixInstruction *row =
        name ? target.chip.findInstruction(name.getValue()) : nullptr;
    if (!row)
      return rewriter.notifyMatchFailure(op, "no instruction was chosen");
    int64_t m = op.getAcc().getType().getRows() / row->m;
    int64_t n = op.getAcc().getType().getCols() / row->n;
    int64_t k = op.getA().getType().getCols() / row->k;
    ValueRange a = adaptor.getA(), b = adaptor.getB();
    SmallVector<Value> acc = llvm::to_vector(adaptor.getAcc());
    if (static_cast<int64_t>(a.size()) != m * k ||
        static_cast<int64_t>(b.size()) != k * n ||
        static_cast<int64_t>(acc.size()) != m * n)
      return rewriter.notifyMatchFailure(op, "operands in other layouts");
    if (SmallVector<Value> sums =
            target.emitMatmul(rewriter, loc, *row, op, a, b, adaptor.getAcc());
        !sums.empty()) {
      rewriter.replaceOpWithMultiple(op, {ValueRange(sums)});
      return success();
    }
    bool isScalar = !row->matrixUnit && !row->dotProduct;
    SmallVector<Value> rolled;
    if (!row->matrixUnit)
      rolled = emitRolledMatmul(rewriter, target, *row, op, a, b, acc);
    bool isRolled = !rolled.empty();
    if (isRolled)
      acc = std::move(rolled);
    // K outermost: neighbouring instructions are independent.
    for (int64_t s = 0; s < k && !isRolled; ++s)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          Value &sum = acc[i * n + j];
          Value left = a[i * k + s], right = b[s * n + j];
          Value old = sum;
          sum = isScalar
                    ? Value()
                    : target.emitMma(rewriter, loc, *row, op, left, right, old);
          if (!sum && !row->matrixUnit) {
            isScalar = true;
            sum = emitScalarMma(rewriter, loc, *row, op, left, right,
                                widenAccumulator(rewriter, loc, old));
          }
          if (!sum)
            return op.emitError() << "cannot emit " << row->name;
        }
    for (auto [sum, old] : llvm::zip_equal(acc, adaptor.getAcc()))
      if (sum.getType() != old.getType())
        sum = arith::TruncFOp::create(rewriter, loc, old.getType(), sum);
    rewriter.replaceOpWithMultiple(op, {ValueRange(acc)});
    return success();
  }
};

struct AwaitPattern : FragmentPattern<AwaitOp> {
  using FragmentPattern::FragmentPattern;
  LogicalResult
  matchAndRewrite(AwaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> kept;
    for (ValueRange tiles : adaptor.getKept())
      llvm::append_range(kept, tiles);
    SmallVector<Value> matmul =
        target.emitAwait(rewriter, op.getLoc(), op, adaptor.getAcc(), kept);
    if (matmul.empty())
      llvm::append_range(matmul, adaptor.getAcc());
    rewriter.replaceOpWithMultiple(op, {ValueRange(matmul)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

struct MapPattern : FragmentPattern<MapOp> {
  using FragmentPattern::FragmentPattern;

  /// Whether the region can be applied to vectors directly. Coordinates become
  /// vectors if one lane holds whole rows, where they are consecutive, and
  /// loads at such positions gather.
  bool isVectorizable(MapOp op, const TileLayout &layout) const {
    bool hasRows = layout.map.getNumLanes() == 1;
    if (op.takesCoordinates() && !hasRows)
      return false;
    return llvm::all_of(
        op.getBody().front().without_terminator(), [&](Operation &inner) {
          return OpTrait::hasElementwiseMappableTraits(&inner) ||
                 inner.hasTrait<OpTrait::ConstantLike>() ||
                 (hasRows && target.canGather() && isGatherable(inner));
        });
  }

  /// Whether an op is a load of elements that have an address of their own.
  static bool isGatherable(Operation &op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load)
      return false;
    Type element = load.getMemRefType().getElementType();
    return element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0 &&
           load.getMemRefType().isStrided();
  }

  /// Loads the elements at `positions`, vectors of indices for each dimension
  /// of `memory`.
  static Value emitGather(OpBuilder &builder, Location loc, Value memory,
                          ValueRange positions, VectorType type) {
    VectorType indices = type.clone(builder.getIndexType());
    auto splat = [&](Value value) -> Value {
      return vector::BroadcastOp::create(builder, loc, indices, value);
    };
    auto parts = memref::ExtractStridedMetadataOp::create(builder, loc, memory);
    Value offset = splat(parts.getOffset()), extent = parts.getOffset();
    for (auto [position, size, stride] :
         llvm::zip_equal(positions, parts.getSizes(), parts.getStrides())) {
      offset = arith::AddIOp::create(
          builder, loc, offset,
          arith::MulIOp::create(builder, loc, position, splat(stride)));
      extent = arith::AddIOp::create(
          builder, loc, extent,
          arith::MulIOp::create(builder, loc, size, stride));
    }
    auto memoryType = cast<MemRefType>(memory.getType());
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value line = memref::ReinterpretCastOp::create(
        builder, loc,
        MemRefType::get({ShapedType::kDynamic}, memoryType.getElementType(),
                        MemRefLayoutAttrInterface(),
                        memoryType.getMemorySpace()),
        parts.getBaseBuffer(), /*offset=*/builder.getIndexAttr(0),
        OpFoldResult(extent), OpFoldResult(builder.getIndexAttr(1)));
    Value all = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type.clone(builder.getI1Type()), true));
    VectorType result = type.clone(memoryType.getElementType());
    Value none =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(result));
    return vector::GatherOp::create(builder, loc, result, line, zero, offset,
                                    all, none);
  }

  /// The region applied to whole vectors; values from outside are splatted.
  static Value emitVector(OpBuilder &builder, MapOp op, ValueRange inputs,
                          VectorType type) {
    Location loc = op.getLoc();
    Block &body = op.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), inputs);
    auto lookup = [&](Value value) -> Value {
      if (Value mapped = mapping.lookupOrNull(value))
        return mapped;
      if (!VectorType::isValidElementType(value.getType()))
        return value;
      Value splat = vector::BroadcastOp::create(
          builder, loc, type.clone(value.getType()), value);
      mapping.map(value, splat);
      return splat;
    };
    for (Operation &inner : body.without_terminator()) {
      if (inner.hasTrait<OpTrait::ConstantLike>()) {
        Operation *clone = builder.clone(inner);
        for (Value result : clone->getResults())
          mapping.map(inner.getResult(0), lookup(result));
        continue;
      }
      if (auto load = dyn_cast<memref::LoadOp>(inner)) {
        bool isUniform = llvm::none_of(load.getIndices(), [&](Value index) {
          return op.getBody().isAncestor(index.getParentRegion());
        });
        if (isUniform) {
          mapping.map(load.getResult(),
                      lookup(builder.clone(inner)->getResult(0)));
          continue;
        }
        SmallVector<Value> positions =
            llvm::map_to_vector(load.getIndices(), lookup);
        mapping.map(load.getResult(),
                    emitGather(builder, load.getLoc(), load.getMemRef(),
                               positions, type));
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(lookup(operand));
      OperationState state(inner.getLoc(), inner.getName());
      state.addOperands(operands);
      for (Type result : inner.getResultTypes())
        state.addTypes(type.clone(result));
      state.addAttributes(inner.getAttrs());
      Operation *clone = builder.create(state);
      mapping.map(inner.getResults(), clone->getResults());
    }
    return lookup(cast<YieldOp>(body.getTerminator()).getValues()[0]);
  }

  /// The coordinates of a tile's registers along a dimension.
  static Value emitCoordinates(OpBuilder &builder, Location loc,
                               const TileLayout &layout, unsigned dimension,
                               int64_t first) {
    SmallVector<int64_t> values;
    for (int64_t reg = 0; reg < layout.map.getNumRegisters(); ++reg) {
      auto [row, col] = layout.map.at(0, reg);
      values.push_back(first + (dimension ? col : row));
    }
    auto type = VectorType::get(values.size(), builder.getIndexType());
    return arith::ConstantOp::create(
        builder, loc, DenseIntElementsAttr::get(type, ArrayRef(values)));
  }

  /// The region applied to one element.
  static Value emitScalar(OpBuilder &builder, MapOp op, ValueRange arguments) {
    Block &body = op.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    for (Operation &inner : body.without_terminator())
      builder.clone(inner, mapping);
    return mapping.lookupOrDefault(
        cast<YieldOp>(body.getTerminator()).getValues()[0]);
  }

  LogicalResult
  matchAndRewrite(MapOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<TileLayout> layout = getLayout(op.getResult());
    if (failed(layout))
      return rewriter.notifyMatchFailure(
          op, "a fragment has no lane map of this chip");
    bool vectorize = isVectorizable(op, *layout);
    IndexMath math(rewriter, loc);
    std::array<Value, 2> lane;
    if (op.takesCoordinates())
      lane = layout->getLaneOffset(rewriter, loc, target.getLane(rewriter, op));
    SmallVector<Value> tiles;
    for (int64_t t = 0; t < layout->getNumTiles(); ++t) {
      SmallVector<Value> inputs;
      for (ValueRange input : adaptor.getInputs())
        inputs.push_back(input[t]);
      int64_t row = t / layout->tiles[1] * layout->getExtent(0);
      int64_t col = t % layout->tiles[1] * layout->getExtent(1);
      if (vectorize) {
        if (op.takesCoordinates())
          for (unsigned d : {0, 1})
            inputs.push_back(
                emitCoordinates(rewriter, loc, *layout, d, d ? col : row));
        tiles.push_back(emitVector(rewriter, op, inputs, layout->vectorType));
        continue;
      }
      SmallVector<Value> elements;
      for (int64_t reg = 0; reg < layout->map.getNumRegisters(); ++reg) {
        SmallVector<Value> arguments;
        for (Value input : inputs)
          arguments.push_back(
              vector::ExtractOp::create(rewriter, loc, input, reg));
        if (op.takesCoordinates()) {
          auto [r, c] = layout->map.at(0, reg);
          arguments.push_back(math.add(lane[0], row + r));
          arguments.push_back(math.add(lane[1], col + c));
        }
        elements.push_back(emitScalar(rewriter, op, arguments));
      }
      tiles.push_back(vector::FromElementsOp::create(
          rewriter, loc, layout->vectorType, elements));
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

struct ReducePattern : FragmentPattern<ReduceOp> {
  using FragmentPattern::FragmentPattern;

  /// All elements of a vector, in any order.
  static Value combineAll(OpBuilder &builder, Location loc, ReductionKind kind,
                          Value vector) {
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(vector.getType()));
    auto combining = [&] {
      switch (kind) {
      case ReductionKind::Add:
        return vector::CombiningKind::ADD;
      case ReductionKind::Mul:
        return vector::CombiningKind::MUL;
      case ReductionKind::Max:
        return isFloat ? vector::CombiningKind::MAXIMUMF
                       : vector::CombiningKind::MAXSI;
      case ReductionKind::Min:
        return isFloat ? vector::CombiningKind::MINIMUMF
                       : vector::CombiningKind::MINSI;
      case ReductionKind::MaxNum:
        return vector::CombiningKind::MAXNUMF;
      case ReductionKind::MinNum:
        return vector::CombiningKind::MINNUMF;
      case ReductionKind::MaxU:
        return vector::CombiningKind::MAXUI;
      case ReductionKind::MinU:
        return vector::CombiningKind::MINUI;
      }
      llvm_unreachable("a reduction of another kind");
    };
    return vector::ReductionOp::create(builder, loc, combining(), vector,
                                       isFloat ? arith::FastMathFlags::reassoc
                                               : arith::FastMathFlags::none);
  }

  /// Combines some elements of a vector. An instruction depends on the previous
  /// one of its chain, so many elements are split into several chains.
  static Value combineChains(OpBuilder &builder, Location loc,
                             ReductionKind kind, Value vector,
                             ArrayRef<int64_t> registers) {
    constexpr size_t mostChains = 4;
    size_t count = registers.size() >= 2 * mostChains ? mostChains : 1;
    SmallVector<Value> chains(count);
    auto combine = [&](Value sum, Value element) {
      return sum ? createReduction(builder, loc, kind, sum, element) : element;
    };
    for (auto [i, reg] : llvm::enumerate(registers)) {
      Value &chain = chains[i % count];
      chain =
          combine(chain, vector::ExtractOp::create(builder, loc, vector, reg));
    }
    Value sum;
    for (Value chain : chains)
      sum = combine(sum, chain);
    return sum;
  }

  LogicalResult
  matchAndRewrite(ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<TileLayout> layout = getLayout(op.getSource());
    FailureOr<TileLayout> result = getLayout(op.getResult());
    if (failed(layout) || failed(result))
      return rewriter.notifyMatchFailure(
          op, "a fragment has no lane map of this chip");
    unsigned dropped = op.getDimension(), kept = 1 - dropped;
    ValueRange source = adaptor.getSource();
    SmallVector<Value> tiles;
    for (int64_t t = 0; t < result->tiles[kept]; ++t) {
      // Tile by tile,
      Value whole;
      for (int64_t u = 0; u < layout->tiles[dropped]; ++u) {
        Value tile = kept ? source[u * layout->tiles[1] + t]
                          : source[t * layout->tiles[1] + u];
        whole = whole
                    ? createReduction(rewriter, loc, op.getKind(), whole, tile)
                    : tile;
      }
      SmallVector<Value> elements;
      for (int64_t r = 0; r < result->map.getNumRegisters(); ++r) {
        auto [vRow, vCol] = result->map.at(0, r);
        int64_t wanted = kept ? vCol : vRow;
        // within the lane,
        SmallVector<int64_t> registers;
        for (int64_t reg = 0; reg < layout->map.getNumRegisters(); ++reg) {
          auto [row, col] = layout->map.at(0, reg);
          if ((kept ? col : row) == wanted)
            registers.push_back(reg);
        }
        Value sum;
        if (registers.size() >= 4 && static_cast<int64_t>(registers.size()) ==
                                         layout->map.getNumRegisters()) {
          sum = combineAll(rewriter, loc, op.getKind(), whole);
        } else {
          sum = combineChains(rewriter, loc, op.getKind(), whole, registers);
        }
        // then across the lanes that step along the dimension.
        for (auto [bit, step] : llvm::enumerate(layout->map.getLanes()))
          if (step[dropped] && (int64_t(1) << bit) >= target.chip.subgroupSize)
            return op.emitOpError()
                   << "reduces along a dimension that is spread over several "
                      "subgroups: keep it within the tile of one";
          else if (step[dropped])
            sum = createReduction(
                rewriter, loc, op.getKind(), sum,
                emitExchange(rewriter, loc, sum, int64_t(1) << bit));
        elements.push_back(sum);
      }
      tiles.push_back(vector::FromElementsOp::create(
          rewriter, loc, result->vectorType, elements));
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }

  /// `value` of the lane whose number differs from this one's in `mask`.
  Value emitExchange(OpBuilder &builder, Location loc, Value value,
                     int64_t mask) const {
    Value lane = target.getSubgroupLane(builder, loc);
    Value other = arith::XOrIOp::create(
        builder, loc, lane, arith::ConstantIndexOp::create(builder, loc, mask));
    return emitShuffleAny(builder, loc, target, value, other);
  }
};
} // namespace

Value mlir::tessera::emitShuffleAny(OpBuilder &builder, Location loc,
                                    const FragmentTarget &target, Value value,
                                    Value lane) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type i32 = builder.getI32Type(), asInt = builder.getIntegerType(bits);
  Value raw = isa<FloatType>(type)
                  ? arith::BitcastOp::create(builder, loc, asInt, value)
                  : value;
  if (bits < 32) {
    raw = arith::ExtUIOp::create(builder, loc, i32, raw);
    raw = target.emitShuffle(builder, loc, raw, lane);
    raw = arith::TruncIOp::create(builder, loc, asInt, raw);
  } else if (bits == 32) {
    raw = target.emitShuffle(builder, loc, raw, lane);
  } else {
    Value shift = arith::ConstantIntOp::create(builder, loc, 32, 64);
    Value low = arith::TruncIOp::create(builder, loc, i32, raw);
    Value high = arith::TruncIOp::create(
        builder, loc, i32, arith::ShRUIOp::create(builder, loc, raw, shift));
    low = arith::ExtUIOp::create(builder, loc, asInt,
                                 target.emitShuffle(builder, loc, low, lane));
    high = arith::ExtUIOp::create(builder, loc, asInt,
                                  target.emitShuffle(builder, loc, high, lane));
    raw = arith::OrIOp::create(
        builder, loc, low, arith::ShLIOp::create(builder, loc, high, shift));
  }
  return isa<FloatType>(type)
             ? arith::BitcastOp::create(builder, loc, type, raw)
             : raw;
}

void mlir::tessera::populateArithmeticPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               const FragmentTarget &target) {
  patterns.add<MmaPattern, AwaitPattern, MapPattern, ReducePattern>(
      converter, patterns.getContext(), target);
}
