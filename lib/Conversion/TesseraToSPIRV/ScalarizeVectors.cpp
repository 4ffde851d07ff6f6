//===- ScalarizeVectors.cpp - Vectors to scalars --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Spirv.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_SCALARIZEVECTORS
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-scalarize-vectors"

using namespace mlir;
using namespace mlir::tessera;

namespace {

struct ScalarConverter : TypeConverter {
  explicit ScalarConverter(const Chip &chip) : chip(chip) {
    addConversion([this](Type type) { return getScalarType(type); });
    addConversion(
        [this](VectorType type,
               SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
          if (type.isScalable())
            return failure();
          results.append(type.getNumElements(),
                         getScalarType(type.getElementType()));
          return success();
        });
    // Wide accesses read and write vectors.
    addSourceMaterialization([](OpBuilder &builder, VectorType type,
                                ValueRange values, Location loc) -> Value {
      if (type.getNumElements() == 1 || values.size() == 1)
        return {};
      return spirv::CompositeConstructOp::create(builder, loc, type, values);
    });
    addTargetMaterialization([](OpBuilder &builder, TypeRange types,
                                ValueRange inputs,
                                Location loc) -> SmallVector<Value> {
      auto vector = inputs.size() == 1
                        ? dyn_cast<VectorType>(inputs[0].getType())
                        : VectorType();
      if (!vector || vector.getNumElements() != int64_t(types.size()))
        return {};
      SmallVector<Value> values;
      for (int32_t i = 0; i < int32_t(types.size()); ++i)
        values.push_back(
            spirv::CompositeExtractOp::create(builder, loc, inputs[0], {i}));
      return values;
    });
  }

  /// The type in which an element is computed.
  Type getScalarType(Type element) const {
    // In the lower half; the upper one is zero.
    if (isPacked(element))
      return IntegerType::get(element.getContext(), 8);
    if (auto type = dyn_cast<FloatType>(element);
        type && (type.getWidth() == 8 || isComputedWide(type, chip)))
      return IntegerType::get(element.getContext(), type.getWidth());
    return element;
  }

  const Chip &chip;
};

using Operands = ArrayRef<ValueRange>;

/// A pattern for any op that `rewrite` knows, by lists of scalars.
class ScalarPattern : public ConversionPattern {
public:
  ScalarPattern(const ScalarConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, Operands operands,
                  ConversionPatternRewriter &rewriter) const override;

private:
  Type getScalarType(Type element) const {
    return getTypeConverter<ScalarConverter>()->getScalarType(element);
  }
  LogicalResult rewriteElementwise(Operation *op, Operands operands,
                                   ConversionPatternRewriter &rewriter) const;
};

} // namespace

/// A value of i4, which is carried in i8, from or to another type: as `op` does
/// it, a truncation or an extension. Null for others.
static Value castNibble(OpBuilder &b, Operation *op, Value value, Type to) {
  Location loc = op->getLoc();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(b, loc, number, 8);
  };
  if (isa<arith::TruncIOp>(op)) {
    if (to != value.getType())
      value = arith::TruncIOp::create(b, loc, to, value);
    return arith::AndIOp::create(b, loc, value, constant(15));
  }
  bool isSigned = isa<arith::ExtSIOp>(op);
  if (!isSigned && !isa<arith::ExtUIOp>(op))
    return {};
  if (isSigned)
    value = arith::ShRSIOp::create(
        b, loc, arith::ShLIOp::create(b, loc, value, constant(4)), constant(4));
  if (to == value.getType())
    return value;
  return isSigned ? arith::ExtSIOp::create(b, loc, to, value).getResult()
                  : arith::ExtUIOp::create(b, loc, to, value).getResult();
}

/// The values' bits, as other scalars.
static SmallVector<Value> castBits(OpBuilder &b, Location loc,
                                   ArrayRef<Value> values, Type to) {
  Type from = values.front().getType();
  if (from == to)
    return SmallVector<Value>(values);
  int64_t fromBits = from.getIntOrFloatBitWidth(),
          toBits = to.getIntOrFloatBitWidth();
  SmallVector<Value> results;
  if (fromBits == toBits) {
    for (Value value : values)
      results.push_back(arith::BitcastOp::create(b, loc, to, value));
    return results;
  }
  int64_t ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  if (ratio > 4) {
    Type middle = b.getIntegerType(std::max(fromBits, toBits) / 4);
    return castBits(b, loc, castBits(b, loc, values, middle), to);
  }
  if (fromBits > toBits) {
    auto vector = VectorType::get(ratio, to);
    for (Value value : values) {
      Value parts = spirv::BitcastOp::create(b, loc, vector, value);
      for (int32_t i = 0; i < ratio; ++i)
        results.push_back(
            spirv::CompositeExtractOp::create(b, loc, parts, {i}));
    }
    return results;
  }
  auto vector = VectorType::get(ratio, from);
  for (size_t i = 0; i < values.size(); i += ratio) {
    Value parts = spirv::CompositeConstructOp::create(b, loc, vector,
                                                      values.slice(i, ratio));
    results.push_back(spirv::BitcastOp::create(b, loc, to, parts));
  }
  return results;
}

LogicalResult
ScalarPattern::rewriteElementwise(Operation *op, Operands operands,
                                  ConversionPatternRewriter &rewriter) const {
  if (op->getNumResults() != 1 || op->getNumRegions())
    return rewriter.notifyMatchFailure(op, "has several results or a region");
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  Type element = getScalarType(vector ? vector.getElementType()
                                      : op->getResult(0).getType());
  int64_t count = vector ? vector.getNumElements() : 1;
  SmallVector<Value> results;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> scalars;
    for (ValueRange operand : operands)
      scalars.push_back(operand.size() == 1 ? operand.front()
                                            : operand[static_cast<size_t>(i)]);
    if (isa<arith::TruncIOp, arith::ExtUIOp, arith::ExtSIOp>(op) &&
        (isPacked(getElementTypeOrSelf(op->getOperand(0).getType())) ||
         isPacked(getElementTypeOrSelf(op->getResult(0).getType())))) {
      results.push_back(castNibble(rewriter, op, scalars.front(), element));
      continue;
    }
    // A cast of bits may have become none.
    if (isa<arith::BitcastOp>(op) && scalars.front().getType() == element) {
      results.push_back(scalars.front());
      continue;
    }
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(scalars);
    state.addTypes(element);
    state.addAttributes(op->getAttrs());
    results.push_back(rewriter.create(state)->getResult(0));
  }
  rewriter.replaceOpWithMultiple(op, {results});
  return success();
}

static Attribute getElementAttr(Attribute value, Type scalar) {
  if (auto number = dyn_cast<FloatAttr>(value);
      number && number.getType() != scalar)
    return IntegerAttr::get(scalar, number.getValue().bitcastToAPInt());
  if (auto number = dyn_cast<IntegerAttr>(value);
      number && isPacked(number.getType()))
    return IntegerAttr::get(scalar, number.getValue().zext(8));
  return value;
}

LogicalResult
ScalarPattern::matchAndRewrite(Operation *op, Operands operands,
                               ConversionPatternRewriter &rewriter) const {
  Location loc = op->getLoc();
  auto replace = [&](ArrayRef<Value> values) {
    SmallVector<ValueRange> lists{ValueRange(values)};
    rewriter.replaceOpWithMultiple(op, {ValueRange(values)});
    return success();
  };
  auto list = [&](unsigned i) {
    return SmallVector<Value>(operands[i].begin(), operands[i].end());
  };
  auto resultVector = op->getNumResults() == 1
                          ? dyn_cast<VectorType>(op->getResult(0).getType())
                          : VectorType();

  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Type scalar = getScalarType(getElementTypeOrSelf(constant.getType()));
    auto emit = [&](Attribute value) -> Value {
      return arith::ConstantOp::create(
          rewriter, loc, cast<TypedAttr>(getElementAttr(value, scalar)));
    };
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return replace({emit(constant.getValue())});
    SmallVector<Value> values;
    if (dense.isSplat()) {
      values.assign(dense.getNumElements(),
                    emit(dense.getSplatValue<Attribute>()));
      return replace(values);
    }
    for (Attribute value : dense.getValues<Attribute>())
      values.push_back(emit(value));
    return replace(values);
  }
  if (isa<vector::FromElementsOp>(op)) {
    SmallVector<Value> values;
    for (ValueRange operand : operands)
      values.push_back(operand.front());
    return replace(values);
  }
  if (isa<vector::ToElementsOp>(op)) {
    SmallVector<SmallVector<Value>> values;
    for (Value value : operands[0])
      values.push_back({value});
    rewriter.replaceOpWithMultiple(op, values);
    return success();
  }
  if (isa<vector::ShapeCastOp>(op))
    return replace(list(0));
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    VectorType source = extract.getSourceVectorType();
    int64_t count = resultVector ? resultVector.getNumElements() : 1;
    if (extract.hasDynamicPosition()) {
      // Small vectors, seldom.
      if (source.getRank() != 1 || count != 1)
        return rewriter.notifyMatchFailure(
            op, "has a dynamic position in a vector of several dimensions, or "
                "extracts a vector");
      Value position = operands[1].front();
      Value result = operands[0].front();
      for (int64_t i = 1; i < source.getNumElements(); ++i) {
        Value here = arith::CmpIOp::create(
            rewriter, loc, arith::CmpIPredicate::eq, position,
            arith::ConstantIndexOp::create(rewriter, loc, i));
        result = arith::SelectOp::create(rewriter, loc, here, operands[0][i],
                                         result);
      }
      return replace({result});
    }
    int64_t first = 0, size = source.getNumElements();
    for (auto [d, position] : llvm::enumerate(extract.getStaticPosition())) {
      size /= source.getDimSize(d);
      first += position * size;
    }
    return replace(SmallVector<Value>(operands[0].slice(first, count)));
  }
  if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    VectorType target = insert.getDestVectorType();
    if (insert.hasDynamicPosition()) {
      // Small vectors, seldom.
      if (target.getRank() != 1 || operands[0].size() != 1)
        return rewriter.notifyMatchFailure(
            op, "has a dynamic position in a vector of several dimensions, or "
                "inserts a vector");
      SmallVector<Value> values = list(1);
      for (auto [i, value] : llvm::enumerate(values)) {
        Value here = arith::CmpIOp::create(
            rewriter, loc, arith::CmpIPredicate::eq, operands[2].front(),
            arith::ConstantIndexOp::create(rewriter, loc,
                                           static_cast<int64_t>(i)));
        value = arith::SelectOp::create(rewriter, loc, here,
                                        operands[0].front(), value);
      }
      return replace(values);
    }
    int64_t first = 0, size = target.getNumElements();
    for (auto [d, position] : llvm::enumerate(insert.getStaticPosition())) {
      size /= target.getDimSize(d);
      first += position * size;
    }
    SmallVector<Value> values = list(1);
    for (auto [i, value] : llvm::enumerate(operands[0]))
      values[first + i] = value;
    return replace(values);
  }
  if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
    SmallVector<Value> all = list(0), values;
    all.append(operands[1].begin(), operands[1].end());
    if (shuffle.getV1VectorType().getRank() != 1)
      return rewriter.notifyMatchFailure(
          op, "shuffles vectors of several dimensions");
    for (int64_t position : shuffle.getMask())
      values.push_back(all[position < 0 ? 0 : position]);
    return replace(values);
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    size_t inner = operands[0].size();
    auto source = dyn_cast<VectorType>(broadcast.getSourceType());
    // Only along new dimensions.
    if (source && inner > 1 &&
        source.getShape() !=
            resultVector.getShape().take_back(source.getRank()))
      return rewriter.notifyMatchFailure(
          op, "broadcasts along a dimension that the source has");
    SmallVector<Value> values;
    for (int64_t i = 0; i < resultVector.getNumElements(); ++i)
      values.push_back(operands[0][i % inner]);
    return replace(values);
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    if (slice.getSourceVectorType().getRank() != 1)
      return rewriter.notifyMatchFailure(
          op, "extracts from a vector of several dimensions");
    int64_t first = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    return replace(SmallVector<Value>(
        operands[0].slice(first, resultVector.getNumElements())));
  }
  if (auto slice = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    if (slice.getDestVectorType().getRank() != 1)
      return rewriter.notifyMatchFailure(
          op, "inserts into a vector of several dimensions");
    int64_t first = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    SmallVector<Value> values = list(1);
    for (auto [i, value] : llvm::enumerate(operands[0]))
      values[first + i] = value;
    return replace(values);
  }
  if (isa<vector::InterleaveOp>(op)) {
    if (resultVector.getRank() != 1)
      return rewriter.notifyMatchFailure(
          op, "interleaves vectors of several dimensions");
    SmallVector<Value> values;
    for (auto [x, y] : llvm::zip(operands[0], operands[1]))
      values.append({x, y});
    return replace(values);
  }
  if (isa<vector::DeinterleaveOp>(op)) {
    SmallVector<Value> even, odd;
    for (auto [i, value] : llvm::enumerate(operands[0]))
      (i % 2 ? odd : even).push_back(value);
    rewriter.replaceOpWithMultiple(op,
                                   SmallVector<SmallVector<Value>>{even, odd});
    return success();
  }
  if (isa<vector::BitCastOp>(op))
    return replace(castBits(rewriter, loc, list(0),
                            getScalarType(resultVector.getElementType())));
  if (isa<vector::StepOp>(op)) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < resultVector.getNumElements(); ++i)
      values.push_back(arith::ConstantIndexOp::create(rewriter, loc, i));
    return replace(values);
  }
  if (isa<vector::CreateMaskOp>(op)) {
    if (resultVector.getRank() != 1)
      return rewriter.notifyMatchFailure(
          op, "creates a mask of several dimensions");
    SmallVector<Value> values;
    for (int64_t i = 0; i < resultVector.getNumElements(); ++i)
      values.push_back(arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::sgt, operands[0].front(),
          arith::ConstantIndexOp::create(rewriter, loc, i)));
    return replace(values);
  }
  if (auto mask = dyn_cast<vector::ConstantMaskOp>(op)) {
    if (resultVector.getRank() != 1)
      return rewriter.notifyMatchFailure(op, "is a mask of several dimensions");
    SmallVector<Value> values;
    for (int64_t i = 0; i < resultVector.getNumElements(); ++i)
      values.push_back(arith::ConstantIntOp::create(
          rewriter, loc, i < mask.getMaskDimSizes()[0], 1));
    return replace(values);
  }
  if (auto reduction = dyn_cast<vector::ReductionOp>(op)) {
    Value result = operands.size() > 1 ? operands[1].front() : Value();
    for (Value value : operands[0])
      result = result ? vector::makeArithReduction(
                            rewriter, loc, reduction.getKind(), result, value,
                            reduction.getFastmathAttr())
                      : value;
    return replace({result});
  }
  if (auto fma = dyn_cast<vector::FMAOp>(op)) {
    SmallVector<Value> values;
    for (auto [x, y, z] : llvm::zip(operands[0], operands[1], operands[2]))
      values.push_back(math::FmaOp::create(rewriter, loc, x, y, z));
    return replace(values);
  }
  if (OpTrait::hasElementwiseMappableTraits(op) || isa<arith::SelectOp>(op))
    return rewriteElementwise(op, operands, rewriter);
  // Scalars of types that become integers.
  if (isa<gpu::ShuffleOp>(op)) {
    OperationState state(loc, op->getName());
    for (ValueRange operand : operands)
      state.addOperands(operand);
    state.addTypes({operands[0].front().getType(), rewriter.getI1Type()});
    state.addAttributes(op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
  return rewriter.notifyMatchFailure(op, "has no scalar form");
}

namespace {

struct ScalarizeVectorsPass
    : public tessera::impl::ScalarizeVectorsBase<ScalarizeVectorsPass> {
  using ScalarizeVectorsBase::ScalarizeVectorsBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    FailureOr<const Chip *> found = getSpirvChip(getOperation());
    if (failed(found))
      return signalPassFailure();
    if (failed(widenNarrowIntegers(getOperation(),
                                   *getSpirvEnvironment((*found)->target))))
      return signalPassFailure();
    LDBG() << getOperation().getName() << ": for " << (*found)->name;
    widenNarrowFloats(getOperation(), **found);
    ScalarConverter converter(**found);
    ConversionTarget legal(*context);
    legal.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return isa<spirv::SPIRVDialect>(op->getDialect()) ||
             isa<gpu::GPUModuleOp, gpu::GPUFuncOp>(op) ||
             op->hasAttr(TesseraDialect::FieldAttrHelper::getNameStr()) ||
             (converter.isLegal(op) &&
              !isa<vector::VectorDialect>(op->getDialect()));
    });
    RewritePatternSet patterns(context);
    patterns.add<ScalarPattern>(converter, context);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         legal);
    if (failed(applyFullConversion(getOperation(), legal, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
