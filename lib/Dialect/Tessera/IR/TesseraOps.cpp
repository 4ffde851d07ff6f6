//===- TesseraOps.cpp - Verifiers, assembly and folders of fragment ops ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileAccess.h"

#include "Dialect/Tessera/IR/Reductions.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tessera;

static ParseResult parseReductionKind(OpAsmParser &parser,
                                      ReductionKindAttr &kind) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<ReductionKind> found = symbolizeReductionKind(name);
  if (!found)
    return parser.emitError(loc, "unknown reduction '")
           << name
           << "': expected add, mul, max, min, maxnum, minnum, umax or umin";
  kind = ReductionKindAttr::get(parser.getContext(), *found);
  return success();
}

static void printReductionKind(OpAsmPrinter &printer, Operation *,
                               ReductionKindAttr kind) {
  printer << stringifyReductionKind(kind.getValue());
}

#define GET_OP_CLASSES
#include "Dialect/Tessera/IR/TesseraOps.cpp.inc"

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addRead(Effects &effects, OpOperand &operand) {
  effects.emplace_back(MemoryEffects::Read::get(), &operand,
                       SideEffects::DefaultResource::get());
}
static void addWrite(Effects &effects, OpOperand &operand) {
  effects.emplace_back(MemoryEffects::Write::get(), &operand,
                       SideEffects::DefaultResource::get());
}

bool mlir::tessera::hasNoEffectsButReads(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  return effects &&
         llvm::all_of(*effects,
                      [](const MemoryEffects::EffectInstance &effect) {
                        return isa<MemoryEffects::Read>(effect.getEffect());
                      });
}

//===----------------------------------------------------------------------===//
// FillOp
//===----------------------------------------------------------------------===//

ParseResult FillOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand value;
  FragmentType type;
  if (parser.parseOperand(value) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseType(type) ||
      parser.resolveOperand(value, type.getElementType(), result.operands))
    return failure();
  result.addTypes(type);
  return success();
}

void FillOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getValue();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getResult().getType();
}

LogicalResult FillOp::verify() {
  Type expected = getResult().getType().getElementType();
  if (getValue().getType() != expected)
    return emitOpError() << "fill_c1: the value has type "
                         << getValue().getType()
                         << ", but the fragment has elements of " << expected;
  return success();
}

//===----------------------------------------------------------------------===//
// LoadOp, StoreOp
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  if (failed(verifyTileAccess(*this, "load_c1", getMemRefType(), getIndices())))
    return failure();
  Type expected = getResult().getType().getElementType();
  if (getMemRefType().getElementType() != expected)
    return emitOpError()
           << "load_c2: the memory has elements of "
           << getMemRefType().getElementType() << ", but the fragment of "
           << expected
           << "; load the memory's element type and use tessera.convert";
  if (getSwizzled() && getSwizzlePhases(getMemRefType()) == 0)
    return emitOpError()
           << "load_c3: " << getMemRefType()
           << " cannot be swizzled: its rows must have 32 or a multiple of 64 "
              "bytes, without padding";
  return success();
}

void LoadOp::getEffects(Effects &effects) {
  addRead(effects, getMemoryMutable());
}

LogicalResult StoreOp::verify() {
  if (failed(
          verifyTileAccess(*this, "store_c1", getMemRefType(), getIndices())))
    return failure();
  Type actual = getValue().getType().getElementType();
  if (getMemRefType().getElementType() != actual)
    return emitOpError() << "store_c2: the memory has elements of "
                         << getMemRefType().getElementType()
                         << ", but the fragment of " << actual
                         << "; use tessera.convert first";
  if (getAtomicAdd() &&
      (getValue().getType().getRole() != Role::Acc || !hasAtomicAdd(actual)))
    return emitOpError() << "store_c3: atomic_add requires an accumulator of "
                            "f32, f64 or i32, not "
                         << getValue().getType();
  if (getSwizzled() && getAtomicAdd())
    return emitOpError() << "store_c4: atomic_add requires memory that is not "
                            "swizzled";
  if (getSwizzled() && getSwizzlePhases(getMemRefType()) == 0)
    return emitOpError()
           << "store_c4: " << getMemRefType()
           << " cannot be swizzled: its rows must have 32 or a multiple of 64 "
              "bytes, without padding";
  return success();
}

void StoreOp::getEffects(Effects &effects) {
  if (getAtomicAdd())
    addRead(effects, getMemoryMutable());
  addWrite(effects, getMemoryMutable());
}

//===----------------------------------------------------------------------===//
// SumPartsOp
//===----------------------------------------------------------------------===//

LogicalResult SumPartsOp::verify() {
  FragmentType value = getValue().getType(), result = getResult().getType();
  auto parts = static_cast<int64_t>(getParts());
  if (parts <= 0 || !llvm::isPowerOf2_64(parts) || value.getCols() % parts)
    return emitOpError() << "sum_parts_c1: parts (" << parts
                         << ") must be a power of two that divides the "
                         << value.getCols() << " columns";
  Type element = value.getElementType();
  if (value.getRole() != Role::Acc || result.getRole() != Role::Acc ||
      result.getElementType() != element ||
      result.getRows() != value.getRows() ||
      result.getCols() * parts != value.getCols() ||
      !(element.isF32() || element.isInteger(32)))
    return emitOpError()
           << "sum_parts_c2: for " << value << " in " << parts
           << " parts, the result must be an f32 or i32 accumulator with the "
              "same rows and the columns of one part, not "
           << result;
  auto memory = cast<MemRefType>(getMemory().getType());
  if (!isWorkgroupMemory(memory) || memory.getRank() != 1 ||
      !memory.hasStaticShape() || !memory.getLayout().isIdentity() ||
      memory.getElementType() != element)
    return emitOpError() << "sum_parts_c3: memory must be static workgroup "
                            "memory of rank 1 with elements of "
                         << element << ", not " << memory;
  return success();
}

//===----------------------------------------------------------------------===//
// MmaOp
//===----------------------------------------------------------------------===//

LogicalResult MmaOp::verify() {
  FragmentType a = getA().getType(), b = getB().getType(),
               acc = getAcc().getType();
  if (a.getRows() != acc.getRows() || b.getCols() != acc.getCols() ||
      a.getCols() != b.getRows())
    return emitOpError() << "mma_c1: a is " << a.getRows() << "x" << a.getCols()
                         << ", b is " << b.getRows() << "x" << b.getCols()
                         << " and acc is " << acc.getRows() << "x"
                         << acc.getCols() << ": expected MxK, KxN and MxN";
  if (!isValidMatmul(a.getElementType(), b.getElementType(),
                     acc.getElementType()))
    return emitOpError() << "mma_c2: unsupported operand types "
                         << a.getElementType() << " and " << b.getElementType()
                         << " accumulated in " << acc.getElementType();
  if ((getUnsignedA() || getUnsignedB()) &&
      !a.getElementType().isSignlessInteger(8) &&
      !a.getElementType().isSignlessInteger(4))
    return emitOpError()
           << "mma_c3: unsigned_a and unsigned_b require operands "
              "of i8 or i4, not "
           << a.getElementType();
  auto isFloat8 = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
  };
  if (getPrecision() == Precision::Tf32 && !a.getElementType().isF32())
    return emitOpError() << "mma_c4: precision tf32 requires f32 operands, not "
                         << a.getElementType();
  if (getPrecision() == Precision::FastF8 && !isFloat8(a.getElementType()))
    return emitOpError() << "mma_c4: precision fast_f8 requires operands of "
                            "8-bit floats, not "
                         << a.getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// MapOp
//===----------------------------------------------------------------------===//

LogicalResult MapOp::verify() {
  FragmentType type = getResult().getType();
  for (Value input : getInputs()) {
    auto inputType = cast<FragmentType>(input.getType());
    if (inputType.getRows() != type.getRows() ||
        inputType.getCols() != type.getCols() ||
        inputType.getRole() != type.getRole())
      return emitOpError() << "map_c1: input " << inputType << " and result "
                           << type << " differ in shape or role";
  }
  Block &block = getBody().front();
  size_t extra = block.getNumArguments() - getInputs().size();
  bool good = block.getNumArguments() >= getInputs().size() &&
              (extra == 0 || extra == 2);
  for (auto [argument, input] : llvm::zip(block.getArguments(), getInputs()))
    good &= argument.getType() ==
            cast<FragmentType>(input.getType()).getElementType();
  if (good && extra)
    for (BlockArgument argument : block.getArguments().take_back(2))
      good &= argument.getType().isIndex();
  if (!good)
    return emitOpError() << "map_c2: the region must take the inputs' element "
                            "types, optionally followed by two index values";
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().size() != 1 ||
      yield.getValues()[0].getType() != type.getElementType())
    return emitOpError() << "map_c3: the region must yield one "
                         << type.getElementType();
  for (Operation &op : block.without_terminator())
    if (!hasNoEffectsButReads(&op)) {
      InFlightDiagnostic diag =
          emitOpError()
          << "map_c4: the ops of the region must not have side effects";
      diag.attachNote(op.getLoc())
          << "this op may have side effects: " << op.getName();
      return diag;
    }
  return success();
}

OpFoldResult MapOp::fold(FoldAdaptor) {
  // A region that yields its argument is the input itself.
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  auto argument = dyn_cast<BlockArgument>(yield.getValues()[0]);
  if (!argument || argument.getOwner() != &getBody().front() ||
      argument.getArgNumber() >= getInputs().size())
    return {};
  Value input = getInputs()[argument.getArgNumber()];
  return input.getType() == getResult().getType() ? input : Value();
}

namespace {
/// A filled input becomes a scalar that the region uses. One input stays, so
/// that the op keeps its shape's source.
struct MapOfFill : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      auto fill = op.getInputs()[i].getDefiningOp<FillOp>();
      if (!fill || e == 1)
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        Block &block = op.getBody().front();
        rewriter.replaceAllUsesWith(block.getArgument(i), fill.getValue());
        block.eraseArgument(i);
        op.getInputsMutable().erase(i);
      });
      return success();
    }
    return failure();
  }
};
} // namespace

void MapOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<MapOfFill>(context);
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  FragmentType type = getResult().getType();
  if (getDimension() > 1)
    return emitOpError() << "broadcast_c3: dimension must be 0 or 1, not "
                         << static_cast<int64_t>(getDimension());
  Type element;
  if (auto source = dyn_cast<FragmentType>(getSource().getType())) {
    int64_t rows = getDimension() == 0 ? 1 : type.getRows();
    int64_t cols = getDimension() == 0 ? type.getCols() : 1;
    if (getIndex() || source.getRows() != rows || source.getCols() != cols)
      return emitOpError() << "broadcast_c1: dimension " << getDimension()
                           << " of " << type << " requires a " << rows << "x"
                           << cols << " fragment, without indices";
    if (source.getRole() != type.getRole())
      return emitOpError() << "broadcast_c4: source and result are "
                           << stringifyRole(source.getRole()) << " and "
                           << stringifyRole(type.getRole());
    element = source.getElementType();
  } else {
    auto memref = cast<MemRefType>(getSource().getType());
    if (memref.getRank() != 1 || !getIndex())
      return emitOpError() << "broadcast_c1: a memref source must have rank 1 "
                              "and one index";
    element = memref.getElementType();
  }
  if (element != type.getElementType())
    return emitOpError() << "broadcast_c2: the source has elements of "
                         << element << ", but the fragment of "
                         << type.getElementType();
  return success();
}

void BroadcastOp::getEffects(Effects &effects) {
  if (isa<MemRefType>(getSource().getType()))
    addRead(effects, getSourceMutable());
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  OpAsmParser::UnresolvedOperand source;
  int64_t dimension;
  FragmentType sourceType, resultType;
  if (parseReductionKind(parser, properties.kind) ||
      parser.parseOperand(source) || parser.parseKeyword("dimension") ||
      parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseType(sourceType) || parser.parseArrow() ||
      parser.parseType(resultType) ||
      parser.resolveOperand(source, sourceType, result.operands))
    return failure();
  properties.dimension = parser.getBuilder().getI64IntegerAttr(dimension);
  result.addTypes(resultType);
  return success();
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyReductionKind(getKind()) << ' ' << getSource()
          << " dimension " << getDimension();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"kind", "dimension"});
  printer << " : " << getSource().getType() << " -> " << getResult().getType();
}

LogicalResult ReduceOp::verify() {
  FragmentType source = getSource().getType(), result = getResult().getType();
  int64_t rows = getDimension() == 0 ? 1 : source.getRows();
  int64_t cols = getDimension() == 0 ? source.getCols() : 1;
  if (getDimension() > 1 || result.getRows() != rows ||
      result.getCols() != cols)
    return emitOpError() << "reduce_c1: dimension must be 0 (result 1x"
                         << source.getCols() << ") or 1 (result "
                         << source.getRows() << "x1)";
  if (source.getElementType() != result.getElementType())
    return emitOpError() << "reduce_c2: source and result hold "
                         << source.getElementType() << " and "
                         << result.getElementType();
  if (!isValidReduction(getKind(), source.getElementType()))
    return emitOpError() << "reduce_c3: unsupported reduction "
                         << stringifyReductionKind(getKind()) << " of "
                         << source.getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// RowReduceOp
//===----------------------------------------------------------------------===//

LogicalResult RowReduceOp::verify() {
  auto contract = cast<ContractOp>((*this)->getParentOp());
  if ((*this)->getParentRegion() != &contract.getEpilogue())
    return emitOpError() << "row_reduce_c1: must be in the epilogue: a "
                            "producer has no rows";
  if (!isValidReduction(getKind(), getSource().getType()))
    return emitOpError() << "row_reduce_c2: unsupported reduction "
                         << stringifyReductionKind(getKind()) << " of "
                         << getSource().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// ConvertOp
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::verify() {
  auto source = cast<FragmentType>(getSource().getType());
  auto result = cast<FragmentType>(getResult().getType());
  if (source.getRows() != result.getRows() ||
      source.getCols() != result.getCols())
    return emitOpError() << "convert_c1: " << source << " and " << result
                         << " differ in shape";
  if (getIsUnsigned() && !source.getElementType().isInteger() &&
      !result.getElementType().isInteger())
    return emitOpError() << "convert_c2: unsigned requires an integer on one "
                            "side, not "
                         << source.getElementType() << " and "
                         << result.getElementType();
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  return {};
}
