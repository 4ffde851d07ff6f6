//===- FragmentToVector.cpp - Types, and hooks of targets -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/FragmentToVector.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "Patterns.h"
#include "TargetInfo/Chip.h"
#include "TargetInfo/TargetInfo.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

FailureOr<TileLayout> mlir::tessera::getTileLayout(const Chip &chip,
                                                   FragmentType type) {
  if (!type.getInstruction())
    return failure();
  const MatrixInstruction *row =
      chip.findInstruction(type.getInstruction().getValue());
  if (!row || row->opaque)
    return failure();
  LaneMap map = row->getMap(type.getRole());
  // Vectors are distributed as the matrices they are reduced from.
  if (type.getRows() == 1 && map.getRows() > 1)
    map = map.dropDimension(0);
  if (type.getCols() == 1 && map.getCols() > 1)
    map = map.dropDimension(1);
  if (type.getRows() % map.getRows() || type.getCols() % map.getCols())
    return failure();
  TileLayout layout;
  layout.tiles = {type.getRows() / map.getRows(),
                  type.getCols() / map.getCols()};
  layout.inMemory = row->isInMemory(type.getRole());
  layout.vectorType =
      layout.inMemory
          ? VectorType::get(1, IntegerType::get(type.getContext(), 64))
          : VectorType::get(map.getNumRegisters(), type.getElementType());
  layout.map = std::move(map);
  layout.instruction = row;
  return layout;
}

bool mlir::tessera::runsAlong(ArrayRef<LaneMap::Step> steps, unsigned dimension,
                              int64_t first) {
  for (const LaneMap::Step &step : steps) {
    if (step[dimension] != first || step[1 - dimension] != 0)
      return false;
    first *= 2;
  }
  return true;
}

bool mlir::tessera::isOpaque(const Chip &chip, FragmentType type) {
  const MatrixInstruction *row =
      type.getInstruction()
          ? chip.findInstruction(type.getInstruction().getValue())
          : nullptr;
  return row && row->opaque;
}

std::array<Value, 2> TileLayout::getLaneOffset(OpBuilder &builder, Location loc,
                                               Value lane) const {
  IndexMath math(builder, loc);
  std::array<Value, 2> offset;
  ArrayRef<LaneMap::Step> steps = map.getLanes();
  for (unsigned d : {0, 1}) {
    for (size_t i = 0; i < steps.size();) {
      if (!steps[i][d]) {
        ++i;
        continue;
      }
      // Consecutive bits whose steps double go together:
      // ((lane >> i) & mask) * step.
      size_t last = i + 1;
      while (last < steps.size() && steps[last][d] == 2 * steps[last - 1][d])
        ++last;
      Value bits = lane;
      if (i)
        bits = arith::ShRUIOp::create(builder, loc, bits, math.constant(i));
      if (last < steps.size())
        bits = arith::AndIOp::create(builder, loc, bits,
                                     math.constant((1 << (last - i)) - 1));
      bits = math.mul(bits, steps[i][d]);
      offset[d] = offset[d] ? math.add(offset[d], bits) : bits;
      i = last;
    }
    if (!offset[d])
      offset[d] = math.constant(0);
  }
  return offset;
}

Value mlir::tessera::emitElementCast(OpBuilder &builder, Location loc,
                                     Value value, Type toElement,
                                     bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == toElement)
    return value;
  Type to = toElement;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(toElement);
  auto fromFloat = dyn_cast<FloatType>(from),
       toFloat = dyn_cast<FloatType>(toElement);
  if (fromFloat && toFloat) {
    if (fromFloat.getWidth() < toFloat.getWidth())
      return arith::ExtFOp::create(builder, loc, to, value);
    if (fromFloat.getWidth() > toFloat.getWidth())
      return arith::TruncFOp::create(builder, loc, to, value);
    // f16 and bf16, or the 8-bit forms: through f32.
    Type wide = builder.getF32Type();
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      wide = vector.clone(wide);
    return arith::TruncFOp::create(
        builder, loc, to, arith::ExtFOp::create(builder, loc, wide, value));
  }
  if (fromFloat) {
    if (isUnsigned)
      return arith::FPToUIOp::create(builder, loc, to, value);
    return arith::FPToSIOp::create(builder, loc, to, value);
  }
  if (toFloat) {
    if (isUnsigned)
      return arith::UIToFPOp::create(builder, loc, to, value);
    return arith::SIToFPOp::create(builder, loc, to, value);
  }
  if (from.getIntOrFloatBitWidth() > toElement.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, to, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, to, value);
  return arith::ExtSIOp::create(builder, loc, to, value);
}

//===----------------------------------------------------------------------===//
// FragmentTarget
//===----------------------------------------------------------------------===//

FragmentTarget::~FragmentTarget() = default;

Value FragmentTarget::getLane(OpBuilder &builder, Operation *op) const {
  Location loc = op->getLoc();
  if (!chip.hasLanes())
    return arith::ConstantIndexOp::create(builder, loc, 0);
  int64_t group = getFragmentGroup(op);
  if (group == 1)
    return getSubgroupLane(builder, loc);
  Value thread = emitLinearThread(builder, op);
  return arith::RemUIOp::create(
      builder, loc, thread,
      arith::ConstantIndexOp::create(builder, loc, group * chip.subgroupSize));
}

Value FragmentTarget::getSubgroupLane(OpBuilder &builder, Location loc) const {
  if (!chip.hasLanes())
    return arith::ConstantIndexOp::create(builder, loc, 0);
  return gpu::LaneIdOp::create(builder, loc, nullptr);
}

SmallVector<Value> FragmentTarget::emitMatmul(OpBuilder &, Location,
                                              const MatrixInstruction &, MmaOp,
                                              ValueRange, ValueRange,
                                              ValueRange) const {
  return {};
}

SmallVector<Value> FragmentTarget::emitAwait(OpBuilder &, Location, AwaitOp,
                                             ValueRange, ValueRange) const {
  return {};
}

Value FragmentTarget::getLocalArray(OpBuilder &, Operation *, unsigned,
                                    MemRefType) const {
  return {};
}

Value FragmentTarget::emitMemoryOperand(OpBuilder &, Location, LoadOp,
                                        const TileLayout &, Value,
                                        Value) const {
  return {};
}

SmallVector<Value> FragmentTarget::emitClusterSum(OpBuilder &, SumPartsOp,
                                                  ValueRange, int64_t) const {
  return {};
}

Value FragmentTarget::emitMma(OpBuilder &, Location, const MatrixInstruction &,
                              MmaOp, Value, Value, Value) const {
  return {};
}

SmallVector<Value> FragmentTarget::emitFragmentLoad(OpBuilder &, LoadOp,
                                                    const TileLayout &) const {
  return {};
}

Value FragmentTarget::emitTileLoad(OpBuilder &, Location, LoadOp,
                                   const TileLayout &, Value, ValueRange,
                                   int64_t) const {
  return {};
}

bool FragmentTarget::emitTileStore(OpBuilder &, Location, StoreOp,
                                   const TileLayout &, Value, ValueRange,
                                   int64_t) const {
  return false;
}

void FragmentTarget::emitSubgroupBarrier(OpBuilder &, Location) const {}

Value FragmentTarget::emitShuffle(OpBuilder &builder, Location loc, Value value,
                                  Value lane) const {
  if (!chip.hasLanes())
    return value;
  Value index =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), lane);
  Value width =
      arith::ConstantIntOp::create(builder, loc, chip.subgroupSize, 32);
  return gpu::ShuffleOp::create(builder, loc, value, index, width,
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

Value FragmentTarget::emitBytePermute(OpBuilder &, Location, Value, Value,
                                      uint32_t) const {
  return {};
}

Value FragmentTarget::emitTileRead(OpBuilder &, Location, Value, ValueRange,
                                   ValueRange, int64_t) const {
  return {};
}

Value FragmentTarget::emitGuardedRead(OpBuilder &, Location, Value, ValueRange,
                                      int64_t, Value) const {
  return {};
}
bool FragmentTarget::emitGuardedWrite(OpBuilder &, Location, Value, Value,
                                      ValueRange, Value) const {
  return false;
}

bool FragmentTarget::emitAsyncCopy(OpBuilder &, Location, Value, ValueRange,
                                   Value, ValueRange, int64_t, Value) const {
  return false;
}
bool FragmentTarget::emitLdsLoad(OpBuilder &, Location, const LdsCopy &,
                                 std::array<Value, 2>, int64_t, Value,
                                 int64_t) const {
  return false;
}
void FragmentTarget::populateOpaque(TypeConverter &,
                                    RewritePatternSet &) const {}
void FragmentTarget::emitAsyncCommit(OpBuilder &, Location) const {}
void FragmentTarget::emitLateUse(OpBuilder &, Location) const {}
void FragmentTarget::emitAsyncWait(OpBuilder &, Location, int64_t,
                                   std::optional<int64_t>) const {}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

void mlir::tessera::populateFragmentTypeConversion(TypeConverter &converter,
                                                   const Chip &chip) {
  converter.addConversion(
      [&chip](FragmentType type,
              SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        FailureOr<TileLayout> layout = getTileLayout(chip, type);
        if (failed(layout))
          return failure();
        results.append(layout->getNumTiles(), layout->vectorType);
        return success();
      });
  converter.addConversion(
      [](TokenType, SmallVectorImpl<Type> &) -> std::optional<LogicalResult> {
        return success();
      });
}

namespace {
/// arith.select of fragments: tile by tile.
struct SelectPattern : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<FragmentType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a fragment");
    SmallVector<Value> tiles;
    for (auto [t, f] :
         llvm::zip(adaptor.getTrueValue(), adaptor.getFalseValue()))
      tiles.push_back(arith::SelectOp::create(rewriter, op.getLoc(),
                                              op.getCondition(), t, f));
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

/// A cast between a fragment and the vectors of its tiles, by which a pass
/// before this conversion has used or made some of these.
struct TileCastPattern : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> tiles;
    for (ValueRange values : adaptor.getInputs())
      llvm::append_range(tiles, values);
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)) ||
        TypeRange(types) != ValueRange(tiles).getTypes())
      return rewriter.notifyMatchFailure(
          op, "not a cast between a fragment and its tiles");
    if (op.getNumResults() == 1)
      rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    else
      rewriter.replaceOp(op, tiles);
    return success();
  }
};
} // namespace

/// Whether one of these is a fragment.
static bool hasFragment(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isa<FragmentType>(type); });
}

void mlir::tessera::populateFragmentToVectorPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    const FragmentTarget &target) {
  populateMemoryPatterns(converter, patterns, target);
  populateSumPartsPattern(converter, patterns, target);
  populateArithmeticPatterns(converter, patterns, target);
  populateConvertPattern(converter, patterns, target);
  populateCopyPatterns(converter, patterns, target);
  patterns.add<SelectPattern, TileCastPattern>(converter,
                                               patterns.getContext());
}

/// Whether the rows of a copy of packed elements end, as well as start, at
/// whole bytes.
template <typename CopyLike> static bool endsAtBytes(CopyLike op) {
  MemRefType type = op.getSourceType();
  return isPacked(type.getElementType()) && !op.isGather() &&
         ShapedType::isStatic(type.getShape().back()) &&
         type.getShape().back() % 2 == 0 &&
         getKnownDivisor(op.getSourceIndices().back()) % 2 == 0;
}

/// Whether `value` is the same for all threads of a workgroup, as far as it is
/// made of the workgroup's number, arguments, constants and steps of loops.
static bool isUniform(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<gpu::GPUFuncOp>(parent))
      return argument.getOwner()->isEntryBlock();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop && value == loop.getInductionVar() &&
           isUniform(loop.getLowerBound()) && isUniform(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (isa<gpu::BlockIdOp, gpu::GridDimOp, gpu::BlockDimOp>(op))
    return true;
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
         op->getNumRegions() == 0 && llvm::all_of(op->getOperands(), isUniform);
}

/// Attributes for alignments that are known in addition to the op's: those of
/// source and target, and that of the target alone.
template <typename CopyLike> static void describeCopy(CopyLike op) {
  ValueRange from = op.getSourceIndices();
  if (!op.isGather() && llvm::all_of(from, isUniform))
    op->setAttr(TesseraDialect::UniformAttrHelper::getNameStr(),
                UnitAttr::get(op.getContext()));
  if (op.isGather())
    from = op.getGather().front().getTerminator()->getOperands().drop_back();
  int64_t promised = op.getAlignment().value_or(0);
  int64_t ofSource = getKnownTileAlignment(op.getSource(), from),
          ofTarget =
              getKnownTileAlignment(op.getTarget(), op.getTargetIndices());
  if (int64_t both = std::max(promised, std::min(ofSource, ofTarget)))
    op.setAlignment(both);
  Builder builder(op.getContext());
  op->setAttr(TesseraDialect::AlignmentAttrHelper::getNameStr(),
              builder.getI64IntegerAttr(std::max(promised, ofTarget)));
  if (endsAtBytes(op))
    op->setAttr(TesseraDialect::WholeBytesAttrHelper::getNameStr(),
                builder.getUnitAttr());
}

/// Rejects ops of a vendor's dialect on a chip of another target. The host, and
/// chips that it emulates, execute some of them: their conversion decides.
static LogicalResult rejectForeignOps(Operation *root, const Chip &chip) {
  if (!chip.hasLanes() || !chip.emulated.empty())
    return success();
  WalkResult result = root->walk([&](Operation *op) {
    const TargetInfo *owner =
        findDialectOwner(op->getName().getDialectNamespace());
    if (!owner || owner->name == chip.target)
      return WalkResult::advance();
    op->emitOpError() << "is supported by target " << owner->name
                      << " only, and by target cpu if it is executed lane by "
                         "lane; this program is compiled for "
                      << chip.target << ":" << chip.name;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::tessera::convertFragmentsToVectors(
    Operation *root, const FragmentTarget &target, const CompileFlags &flags) {
  if (failed(rejectForeignOps(root, target.chip)))
    return failure();
  if (failed(checkLdsCopies(root, target.chip, flags)))
    return failure();
  // Types that no pattern could convert deserve a message of their own.
  WalkResult result = root->walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto type = dyn_cast<FragmentType>(value.getType()))
        if (failed(getTileLayout(target.chip, type)) &&
            !isOpaque(target.chip, type)) {
          op->emitError() << type << " is not legalized for "
                          << target.chip.name
                          << ": run tessera-legalize-fragments first";
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  // Once blocks are being converted, loops can no longer be looked through.
  markKPackedTiles(root, target.chip);
  OpBuilder builder(root->getContext());
  root->walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      op->setAttr(TesseraDialect::AlignmentAttrHelper::getNameStr(),
                  builder.getI64IntegerAttr(getKnownTileAlignment(
                      load.getMemory(), load.getIndices())));
    if (auto store = dyn_cast<StoreOp>(op))
      op->setAttr(TesseraDialect::AlignmentAttrHelper::getNameStr(),
                  builder.getI64IntegerAttr(getKnownTileAlignment(
                      store.getMemory(), store.getIndices())));
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      if (isa<MemRefType>(broadcast.getSource().getType()))
        op->setAttr(TesseraDialect::AlignmentAttrHelper::getNameStr(),
                    builder.getI64IntegerAttr(getKnownTileAlignment(
                        broadcast.getSource(), broadcast.getIndex())));
    if (auto copy = dyn_cast<CopyOp>(op))
      describeCopy(copy);
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      describeCopy(copy);
  });
  markLdsCopies(root, target.chip, flags);

  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  populateFragmentTypeConversion(converter, target.chip);
  ConversionTarget conversion(*root->getContext());
  conversion.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  conversion.addIllegalDialect<TesseraDialect>();
  conversion.addDynamicallyLegalOp<arith::SelectOp>(
      [](arith::SelectOp op) { return !isa<FragmentType>(op.getType()); });
  conversion.addDynamicallyLegalOp<UnrealizedConversionCastOp>(
      [](UnrealizedConversionCastOp op) {
        return !hasFragment(op.getOperandTypes()) &&
               !hasFragment(op.getResultTypes());
      });
  RewritePatternSet patterns(root->getContext());
  populateFragmentToVectorPatterns(converter, patterns, target);
  target.populateOpaque(converter, patterns);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       conversion);
  return applyPartialConversion(root, conversion, std::move(patterns));
}
