//===- PropagateLayout.cpp - Channels last for convolutions ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk forward over a function. A tensor gets an order of its dimensions in
// memory from the op that computes it:
//
//   convolution, depthwise, grouped   channels last, whatever its input has;
//                                     but a depthwise one, or one of small
//                                     groups, between tensors with the channels
//                                     first leaves them there
//   pooling, pad, slice, concat       the order of the operand
//   element-wise, reduction           the order of the largest such operand;
//                                     others are read where they are
//   reshape, transpose                the order that needs no copy, if any;
//                                     a pad comes after the split of channels
//   everything else                   the order of its type
//
// An op is rewritten on tensors of permuted types; ops that are not rewritten
// get a transposed copy.
//
//===----------------------------------------------------------------------===//

#include "Graph/Passes.h"
#include "GroupChannels.h"

#include "Dialect/Tessera/IR/WindowSchedule.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAPROPAGATELAYOUT
#include "Graph/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-propagate-layout"

STATISTIC(numConvolutions, "Number of convolutions with channels last");
STATISTIC(numTransposes, "Number of transposed copies");

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// Dimensions of a tensor's type from the outermost in memory to the
/// innermost.
using Order = SmallVector<int64_t>;

/// A tensor whose dimension `d` is dimension `order[d]` of the original.
struct Moved {
  Value value;
  Order order;
};

class LayoutPropagation {
public:
  LayoutPropagation(func::FuncOp function, bool groups)
      : rewriter(function.getContext()), function(function), groups(groups) {}

  LogicalResult run();

private:
  void visit(Operation *op);

  /// Rewrites `op` and registers its results, if it knows how.
  void visitConvolution(linalg::LinalgOp op);
  void visitPooling(linalg::LinalgOp op);
  void visitGenericConvolution(linalg::GenericOp op);
  void visitGeneric(linalg::GenericOp op);
  void visitPad(tensor::PadOp op);
  void visitConcat(tensor::ConcatOp op);
  void visitSlice(tensor::ExtractSliceOp op);
  void visitExpand(tensor::ExpandShapeOp op);
  void visitCollapse(tensor::CollapseShapeOp op);
  void visitTranspose(linalg::TransposeOp op);
  void visitDim(tensor::DimOp op);

  /// Whether `op` is a depthwise convolution, or one of small groups, of an
  /// image with the channels first, whose result no op needs with the channels
  /// last.
  bool staysFirst(Operation *op);
  /// Whether a convolution of groups is computed as a depthwise one is
  /// (FuseWindows.cpp).
  bool isWindow(linalg::Conv2DNgchwGfchwOp op);

  /// `value` in that order: the version that there is, a transposed constant,
  /// or a transposed copy.
  Value get(Value value, ArrayRef<int64_t> order);
  /// The version of `value` in another order than its type's; null if it has
  /// none.
  const Moved *find(Value value) const;
  /// The destination of a rewritten op, in that order.
  Value getInit(Value init, ArrayRef<int64_t> order);
  /// Registers what replaces `result`, in that order.
  void replace(Value result, Value value, ArrayRef<int64_t> order);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  /// The pad of an expanded source, for a pad to be expanded whose borders are
  /// along dimensions that stay whole; otherwise null.
  Value expandPad(Value value, RankedTensorType type,
                  ArrayRef<ReassociationIndices> groups);
  /// The pad of a permuted source.
  Value permutePad(tensor::PadOp op, Value source, ArrayRef<int64_t> order);

  IRRewriter rewriter;
  func::FuncOp function;
  /// Whether convolutions of small groups may stay as they are.
  bool groups;
  /// Whether all is well.
  bool good = true;
  DenseMap<Value, Moved> moved;
  DenseMap<std::pair<Value, ArrayAttr>, Value> copies;
  /// Ops that were rewritten, in their order.
  SmallVector<Operation *> rewritten;
};
} // namespace

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

static bool isIdentity(ArrayRef<int64_t> order) {
  return isIdentityPermutation(order);
}

static RankedTensorType permute(RankedTensorType type,
                                ArrayRef<int64_t> order) {
  return RankedTensorType::get(applyPermutation(type.getShape(), order),
                               type.getElementType());
}

/// Whether the op computes on tensors without an encoding, by the default
/// choices of the compiler: a schedule of the user's is about the op as it is.
static bool isMovable(Operation *op) {
  auto isPlain = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !isa<ShapedType>(type) || (tensor && !tensor.getEncoding());
  };
  return llvm::all_of(op->getOperandTypes(), isPlain) &&
         llvm::all_of(op->getResultTypes(), isPlain) &&
         !op->hasAttr(TesseraDialect::ScheduleAttrHelper::getNameStr()) &&
         !op->hasAttr(windowScheduleName);
}

/// Copies the attributes of other dialects to the op that replaces `from`.
static void copyAttributes(Operation *from, Operation *to) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    // A cache of linalg's, for the maps of the old op.
    if (attribute.getName() !=
        linalg::LinalgDialect::kMemoizedIndexingMapsAttrName)
      to->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

/// Copies elements of `size` bytes to an array of this shape. `strides` are
/// those of the source, in elements. `Size` is the size if it is known at
/// compile time, otherwise 0.
template <size_t Size>
static void permuteElements(const char *from, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> strides, size_t size, char *to) {
  size_t bytes = Size ? Size : size;
  int64_t columns = shape.empty() ? 1 : shape.back(),
          rows = columns ? ShapedType::getNumElements(shape) / columns : 0;
  size_t step = shape.empty() ? 0 : static_cast<size_t>(strides.back()) * bytes;
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t at = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const char *element = from + at * static_cast<int64_t>(bytes);
    for (int64_t column = 0; column < columns; ++column, to += bytes) {
      std::memcpy(to, element, bytes);
      element += step;
    }
    for (auto d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d) {
      at += strides[d];
      if (++index[d] < shape[d])
        break;
      at -= strides[d] * index[d];
      index[d] = 0;
    }
  }
}

static void permuteBytes(const char *from, ArrayRef<int64_t> shape,
                         ArrayRef<int64_t> strides, size_t size, char *to) {
  auto permute = size == 1   ? permuteElements<1>
                 : size == 2 ? permuteElements<2>
                 : size == 4 ? permuteElements<4>
                 : size == 8 ? permuteElements<8>
                             : permuteElements<0>;
  permute(from, shape, strides, size, to);
}

/// The elements of a constant, in another order; null if they are not plain
/// bytes.
static ElementsAttr transposeElements(ElementsAttr elements,
                                      ArrayRef<int64_t> permutation) {
  auto from = cast<RankedTensorType>(elements.getShapedType());
  RankedTensorType type = permute(from, permutation);
  if (auto dense = dyn_cast<DenseElementsAttr>(elements);
      dense && dense.isSplat())
    return dense.resizeSplat(type);
  ArrayRef<char> bytes;
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (resource) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return nullptr;
    bytes = blob->getData();
  } else if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    bytes = dense.getRawData();
  }
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return nullptr;
  size_t size = element.getIntOrFloatBitWidth() / 8;
  if (bytes.size() != static_cast<size_t>(type.getNumElements()) * size)
    return nullptr;
  SmallVector<int64_t> strides = applyPermutation(
      ArrayRef<int64_t>(computeSuffixProduct(from.getShape())), permutation);
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
      bytes.size(), /*align=*/64, /*dataIsMutable=*/true);
  permuteBytes(bytes.data(), type.getShape(), strides, size,
               blob.getMutableData().data());
  if (!resource)
    return DenseElementsAttr::getFromRawBuffer(type, blob.getData());
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(type.getContext());
  return DenseResourceElementsAttr::get(
      type, manager.insert(resource.getRawHandle().getKey(), std::move(blob)));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Moved *LayoutPropagation::find(Value value) const {
  auto known = moved.find(value);
  return known == moved.end() ? nullptr : &known->second;
}

Value LayoutPropagation::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  ElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    if (ElementsAttr folded = transposeElements(elements, permutation))
      return arith::ConstantOp::create(rewriter, value.getLoc(),
                                       cast<TypedAttr>(folded));
  ++numTransposes;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, value.getLoc(), value);
  applyPermutationToVector(sizes, permutation);
  Value init = tensor::EmptyOp::create(rewriter, value.getLoc(), sizes,
                                       type.getElementType());
  return linalg::TransposeOp::create(rewriter, value.getLoc(), value, init,
                                     permutation)
      ->getResult(0);
}

Value LayoutPropagation::get(Value value, ArrayRef<int64_t> order) {
  ArrayAttr key = rewriter.getIndexArrayAttr(order);
  if (Value known = copies.lookup({value, key}))
    return known;
  Value copy;
  if (const Moved *other = find(value)) {
    if (ArrayRef<int64_t>(other->order) == order)
      return other->value;
    // Dimension d is order[d] of the type, at its position in the other order.
    Order inverse = invertPermutationVector(other->order);
    copy = transpose(other->value,
                     applyPermutation(ArrayRef<int64_t>(inverse), order));
  } else if (auto pad = value.getDefiningOp<tensor::PadOp>();
             pad && pad.getConstantPaddingValue() && isMovable(pad)) {
    // The copy is without the border.
    copy = permutePad(pad, get(pad.getSource(), order), order);
  } else {
    copy = transpose(value, order);
  }
  copies[{value, key}] = copy;
  return copy;
}

Value LayoutPropagation::getInit(Value init, ArrayRef<int64_t> order) {
  if (isIdentity(order))
    return init;
  auto type = cast<RankedTensorType>(init.getType());
  auto makeEmpty = [&](Value like) -> Value {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, like.getLoc(), like);
    applyPermutationToVector(sizes, order);
    return tensor::EmptyOp::create(rewriter, like.getLoc(), sizes,
                                   type.getElementType());
  };
  if (!find(init)) {
    if (init.getDefiningOp<tensor::EmptyOp>())
      return makeEmpty(init);
    if (auto fill = init.getDefiningOp<linalg::FillOp>())
      return linalg::FillOp::create(rewriter, fill.getLoc(), fill.getInputs(),
                                    makeEmpty(fill.getOutputs()[0]))
          .getResult(0);
  }
  return get(init, order);
}

void LayoutPropagation::replace(Value result, Value value,
                                ArrayRef<int64_t> order) {
  Operation *op = result.getDefiningOp();
  if (rewritten.empty() || rewritten.back() != op)
    rewritten.push_back(op);
  moved[result] = {value, Order(order)};
}

/// The map of an operand whose dimensions are in another order.
static AffineMap permuteResults(AffineMap map, ArrayRef<int64_t> order) {
  SmallVector<AffineExpr> results;
  for (int64_t d : order)
    results.push_back(map.getResult(d));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                        map.getContext());
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

void LayoutPropagation::visitConvolution(linalg::LinalgOp op) {
  Value input = op.getDpsInputs()[0], filter = op.getDpsInputs()[1];
  Value init = op.getDpsInits()[0];
  Location loc = op.getLoc();
  auto strides = op->getAttrOfType<DenseIntElementsAttr>("strides"),
       dilations = op->getAttrOfType<DenseIntElementsAttr>("dilations");
  Order order = {0, 2, 3, 1};
  Order filterOrder = {2, 3, 1, 0};
  if (isa<linalg::DepthwiseConv2DNchwChwOp>(op)) {
    filterOrder = {1, 2, 0};
  } else if (isa<linalg::Conv2DNgchwGfchwOp>(op)) {
    order = {0, 3, 4, 1, 2};
    filterOrder = {0, 1, 3, 4, 2};
  }
  // Matrix units read operands of 8 bits along K only.
  bool isNarrow = isa<linalg::Conv2DNchwFchwOp>(op) &&
                  getElementTypeOrSelf(filter).getIntOrFloatBitWidth() == 8;
  if (isNarrow)
    filterOrder = {0, 2, 3, 1};
  SmallVector<Value> inputs = {get(input, order), get(filter, filterOrder)};
  Value to = getInit(init, order);
  Operation *last;
  if (isNarrow)
    last = linalg::Conv2DNhwcFhwcOp::create(rewriter, loc, to.getType(), inputs,
                                            to, strides, dilations);
  else if (isa<linalg::Conv2DNchwFchwOp>(op))
    last = linalg::Conv2DNhwcHwcfOp::create(rewriter, loc, to.getType(), inputs,
                                            to, strides, dilations);
  else if (isa<linalg::DepthwiseConv2DNchwChwOp>(op))
    last = linalg::DepthwiseConv2DNhwcHwcOp::create(
        rewriter, loc, to.getType(), inputs, to, strides, dilations);
  else
    last = linalg::Conv2DNhwgcGfhwcOp::create(rewriter, loc, to.getType(),
                                              inputs, to, strides, dilations);
  copyAttributes(op, last);
  ++numConvolutions;
  replace(op->getResult(0), last->getResult(0), order);
}

/// Whether `op` is a convolution of two spatial dimensions with channels first,
/// of operands that no named op has.
static bool isGenericConvolution(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != 4 || op.getNumReductionLoops() != 3)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap input = maps[0], filter = maps[1], result = maps[2];
  if (input.getNumResults() != 4 || filter.getNumResults() != 4 ||
      result.getNumResults() != 4 || !filter.isProjectedPermutation() ||
      !result.isProjectedPermutation())
    return false;
  AffineExpr image = result.getResult(0), channel = filter.getResult(1);
  if (input.getResult(0) != image || input.getResult(1) != channel ||
      filter.getResult(0) != result.getResult(1))
    return false;
  return llvm::all_of(ArrayRef<unsigned>{2, 3}, [&](unsigned d) {
    AffineExpr position = input.getResult(d);
    return position.isFunctionOfDim(result.getDimPosition(d)) &&
           position.isFunctionOfDim(filter.getDimPosition(d));
  });
}

void LayoutPropagation::visitGenericConvolution(linalg::GenericOp op) {
  // Operands that have no named op are of bytes; see visitConvolution.
  Order order = {0, 2, 3, 1};
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMapsArray())
    maps.push_back(permuteResults(map, order));
  SmallVector<Value> inputs;
  for (Value input : op.getDpsInputs())
    inputs.push_back(get(input, order));
  Value to = getInit(op.getDpsInits()[0], order);
  auto last =
      linalg::GenericOp::create(rewriter, op.getLoc(), to.getType(), inputs, to,
                                maps, op.getIteratorTypesArray());
  copyAttributes(op, last);
  IRMapping mapping;
  op.getRegion().cloneInto(&last.getRegion(), mapping);
  ++numConvolutions;
  replace(op->getResult(0), last->getResult(0), order);
}

void LayoutPropagation::visitPooling(linalg::LinalgOp op) {
  const Moved *input = find(op.getDpsInputs()[0]);
  Order order = {0, 2, 3, 1};
  if (!input || input->order != order)
    return;
  Location loc = op.getLoc();
  auto strides = op->getAttrOfType<DenseIntElementsAttr>("strides"),
       dilations = op->getAttrOfType<DenseIntElementsAttr>("dilations");
  Value from = input->value, to = getInit(op.getDpsInits()[0], order);
  SmallVector<Value> inputs = {from, op.getDpsInputs()[1]};
  Operation *last;
  if (isa<linalg::PoolingNchwMaxOp>(op))
    last = linalg::PoolingNhwcMaxOp::create(rewriter, loc, to.getType(), inputs,
                                            to, strides, dilations);
  else
    last = linalg::PoolingNhwcSumOp::create(rewriter, loc, to.getType(), inputs,
                                            to, strides, dilations);
  copyAttributes(op, last);
  replace(op->getResult(0), last->getResult(0), order);
}

//===----------------------------------------------------------------------===//
// Element-wise ops and reductions
//===----------------------------------------------------------------------===//

/// The order of a result in memory that follows the operand's: the loops of its
/// dimensions nest as the operand's do, also where these read windows along
/// them. Nothing if the operand lacks one, or has one twice.
static std::optional<Order> followOrder(AffineMap result, AffineMap operand,
                                        ArrayRef<int64_t> operandOrder) {
  if (!result.isProjectedPermutation())
    return std::nullopt;
  Order order;
  for (int64_t d : operandOrder) {
    AffineExpr index = operand.getResult(static_cast<unsigned>(d));
    std::optional<int64_t> follows;
    for (auto [at, dim] : llvm::enumerate(result.getResults())) {
      if (!index.isFunctionOfDim(cast<AffineDimExpr>(dim).getPosition()))
        continue;
      if (follows)
        return std::nullopt;
      follows = static_cast<int64_t>(at);
    }
    if (follows)
      order.push_back(*follows);
  }
  if (order.size() != result.getNumResults() || !isPermutationVector(order))
    return std::nullopt;
  return order;
}

void LayoutPropagation::visitGeneric(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // The operand that decides: the one with the most dimensions.
  OpOperand *main = nullptr;
  for (OpOperand &operand : op->getOpOperands())
    if (find(operand.get()) &&
        (!main || maps[operand.getOperandNumber()].getNumResults() >
                      maps[main->getOperandNumber()].getNumResults()))
      main = &operand;
  if (!main)
    return;
  ArrayRef<int64_t> mainOrder = find(main->get())->order;
  AffineMap mainMap = maps[main->getOperandNumber()];

  SmallVector<Order> orders;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = maps[init.getOperandNumber()];
    std::optional<Order> order = followOrder(map, mainMap, mainOrder);
    orders.push_back(
        order ? *order
              : llvm::to_vector(llvm::seq<int64_t>(0, map.getNumResults())));
  }
  SmallVector<Value> inputs, inits;
  for (OpOperand *input : op.getDpsInputOperands()) {
    const Moved *other = find(input->get());
    inputs.push_back(other ? other->value : input->get());
    if (other)
      maps[input->getOperandNumber()] =
          permuteResults(maps[input->getOperandNumber()], other->order);
  }
  for (auto [init, order] : llvm::zip_equal(op.getDpsInitsMutable(), orders)) {
    inits.push_back(getInit(init.get(), order));
    maps[init.getOperandNumber()] =
        permuteResults(maps[init.getOperandNumber()], order);
  }
  auto last = linalg::GenericOp::create(
      rewriter, op.getLoc(), TypeRange(ValueRange(inits)), inputs, inits, maps,
      op.getIteratorTypesArray());
  copyAttributes(op, last);
  IRMapping mapping;
  op.getRegion().cloneInto(&last.getRegion(), mapping);

  // The parallel loops nest as the dimensions of the first result.
  SmallVector<unsigned> nest;
  AffineMap result = last.getMatchingIndexingMap(last.getDpsInitOperand(0));
  for (AffineExpr expr : result.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      if (!llvm::is_contained(nest, dim.getPosition()))
        nest.push_back(dim.getPosition());
  for (unsigned loop = 0; loop < last.getNumLoops(); ++loop)
    if (!llvm::is_contained(nest, loop))
      nest.push_back(loop);
  if (FailureOr<linalg::GenericOp> nested =
          linalg::interchangeGenericOp(rewriter, last, nest);
      succeeded(nested))
    last = *nested;
  for (auto [old, value, order] :
       llvm::zip_equal(op->getResults(), last->getResults(), orders))
    replace(old, value, order);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Value LayoutPropagation::permutePad(tensor::PadOp op, Value source,
                                    ArrayRef<int64_t> order) {
  SmallVector<OpFoldResult> low = op.getMixedLowPad(),
                            high = op.getMixedHighPad();
  applyPermutationToVector(low, order);
  applyPermutationToVector(high, order);
  return tensor::PadOp::create(
      rewriter, op.getLoc(), permute(op.getResultType(), order), source, low,
      high, op.getConstantPaddingValue(), op.getNofold());
}

void LayoutPropagation::visitPad(tensor::PadOp op) {
  const Moved *source = find(op.getSource());
  if (!source || !op.getConstantPaddingValue())
    return;
  Order order = source->order;
  replace(op.getResult(), permutePad(op, source->value, order), order);
}

void LayoutPropagation::visitConcat(tensor::ConcatOp op) {
  const Moved *first = nullptr;
  for (Value input : op.getInputs())
    if (!first)
      first = find(input);
  if (!first)
    return;
  Order order = first->order;
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(get(input, order));
  int64_t dim =
      llvm::find(order, static_cast<int64_t>(op.getDim())) - order.begin();
  auto last = tensor::ConcatOp::create(
      rewriter, op.getLoc(), permute(op.getResultType(), order), dim, inputs);
  replace(op.getResult(), last, order);
}

void LayoutPropagation::visitSlice(tensor::ExtractSliceOp op) {
  const Moved *source = find(op.getSource());
  if (!source || op.getType().getRank() != op.getSourceType().getRank())
    return;
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(),
                            sizes = op.getMixedSizes(),
                            strides = op.getMixedStrides();
  for (SmallVector<OpFoldResult> *list : {&offsets, &sizes, &strides})
    applyPermutationToVector(*list, source->order);
  auto last = tensor::ExtractSliceOp::create(
      rewriter, op.getLoc(), permute(op.getType(), source->order),
      source->value, offsets, sizes, strides);
  replace(op.getResult(), last, source->order);
}

void LayoutPropagation::visitExpand(tensor::ExpandShapeOp op) {
  const Moved *source = find(op.getSrc());
  if (!source)
    return;
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices(), next;
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  Order order;
  for (int64_t d : source->order) {
    ReassociationIndices group;
    for (int64_t dim : groups[d]) {
      group.push_back(order.size());
      order.push_back(dim);
    }
    next.push_back(std::move(group));
  }
  applyPermutationToVector(sizes, order);
  RankedTensorType type = permute(op.getResultType(), order);
  Value last = expandPad(source->value, type, next);
  if (!last)
    last = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type,
                                         source->value, next, sizes);
  replace(op.getResult(), last, order);
}

Value LayoutPropagation::expandPad(Value value, RankedTensorType type,
                                   ArrayRef<ReassociationIndices> groups) {
  auto pad = value.getDefiningOp<tensor::PadOp>();
  if (!pad || !pad.getConstantPaddingValue() ||
      !pad.getSourceType().hasStaticShape() || !type.hasStaticShape())
    return nullptr;
  std::optional<SmallVector<int64_t>> low = getConstantIntValues(
                                          pad.getMixedLowPad()),
                                      high = getConstantIntValues(
                                          pad.getMixedHighPad());
  if (!low || !high)
    return nullptr;
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> newLow(shape.size(), rewriter.getIndexAttr(0)),
      newHigh = newLow;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    if ((*low)[dim] == 0 && (*high)[dim] == 0)
      continue;
    if (group.size() != 1)
      return nullptr;
    shape[group[0]] = pad.getSourceType().getDimSize(dim);
    newLow[group[0]] = rewriter.getIndexAttr((*low)[dim]);
    newHigh[group[0]] = rewriter.getIndexAttr((*high)[dim]);
  }
  Value expanded = tensor::ExpandShapeOp::create(
      rewriter, pad.getLoc(), type.clone(shape), pad.getSource(), groups);
  return tensor::PadOp::create(rewriter, pad.getLoc(), type, expanded, newLow,
                               newHigh, pad.getConstantPaddingValue(),
                               pad.getNofold());
}

void LayoutPropagation::visitCollapse(tensor::CollapseShapeOp op) {
  const Moved *source = find(op.getSrc());
  if (!source)
    return;
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices(), next;
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  Order groupOf(shape.size()), order;
  for (auto [number, group] : llvm::enumerate(groups))
    for (int64_t dim : group)
      groupOf[dim] = number;
  // Dimensions of a group stay neighbours, and those with several elements in
  // their order: then the elements of the group do.
  int64_t before = -1;
  for (auto [at, dim] : llvm::enumerate(source->order)) {
    if (order.empty() || order.back() != groupOf[dim]) {
      if (llvm::is_contained(order, groupOf[dim]))
        return;
      order.push_back(groupOf[dim]);
      next.emplace_back();
      before = -1;
    }
    next.back().push_back(static_cast<int64_t>(at));
    if (shape[dim] == 1)
      continue;
    if (dim < before)
      return;
    before = dim;
  }
  auto last = tensor::CollapseShapeOp::create(
      rewriter, op.getLoc(), permute(op.getResultType(), order), source->value,
      next);
  replace(op.getResult(), last, order);
}

void LayoutPropagation::visitTranspose(linalg::TransposeOp op) {
  const Moved *source = find(op.getInput());
  if (!source)
    return;
  // Dimension i of the result is permutation[i] of the source.
  ArrayRef<int64_t> permutation = op.getPermutation();
  Order inverse = invertPermutationVector(permutation);
  Order same = applyPermutation(ArrayRef<int64_t>(inverse), source->order);
  if (isIdentity(same)) {
    replace(op->getResult(0), source->value, same);
    return;
  }
  // A shuffle of channels: its result is in the source's order too.
  Order from = invertPermutationVector(source->order), copy;
  for (int64_t dim : source->order)
    copy.push_back(from[permutation[dim]]);
  Order order = source->order;
  replace(op->getResult(0), transpose(source->value, copy), order);
}

void LayoutPropagation::visitDim(tensor::DimOp op) {
  const Moved *source = find(op.getSource());
  std::optional<int64_t> index = op.getConstantIndex();
  if (!source || !index)
    return;
  int64_t at = llvm::find(source->order, *index) - source->order.begin();
  rewriter.replaceOpWithNewOp<tensor::DimOp>(op, source->value, at);
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static bool isConvolution(Operation &op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return (isa<linalg::Conv2DNchwFchwOp, linalg::DepthwiseConv2DNchwChwOp,
              linalg::Conv2DNgchwGfchwOp>(op) ||
          (generic && isGenericConvolution(generic))) &&
         cast<linalg::LinalgOp>(op).hasPureTensorSemantics() && isMovable(&op);
}

/// Whether a use of `value` is by a convolution that has its channels put last,
/// other than a depthwise one, with only ops between them that follow the order
/// of their operands.
static bool reachesConvolution(Value value) {
  llvm::SetVector<Operation *> users;
  users.insert_range(value.getUsers());
  for (size_t i = 0; i < users.size(); ++i) {
    Operation *user = users[i];
    bool isDepthwise = isa<linalg::DepthwiseConv2DNchwChwOp>(user);
    if (isConvolution(*user) && !isDepthwise)
      return true;
    auto structured = dyn_cast<linalg::LinalgOp>(user);
    bool isPassed =
        isDepthwise || OpTrait::hasElementwiseMappableTraits(user) ||
        isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::ConcatOp,
            tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) ||
        (structured &&
         (structured.getNumReductionLoops() == 0 ||
          isa<linalg::PoolingNchwMaxOp, linalg::PoolingNchwSumOp>(user)));
    if (isPassed)
      users.insert_range(user->getUsers());
  }
  return false;
}

bool LayoutPropagation::isWindow(linalg::Conv2DNgchwGfchwOp op) {
  auto filter = cast<RankedTensorType>(op.getInputs()[1].getType()),
       result = cast<RankedTensorType>(op->getResult(0).getType());
  // Threads compute an even number of columns.
  if (!groups || !hasFewChannels(filter.getDimSize(1)) ||
      !hasFewChannels(filter.getDimSize(2)) || !filter.hasStaticShape() ||
      !isa<FloatType>(filter.getElementType()) || result.isDynamicDim(4) ||
      result.getDimSize(4) % 2 != 0)
    return false;
  FailureOr<const Chip *> chip = getChip(op);
  good &= succeeded(chip);
  return succeeded(chip) && (*chip)->policy.simt.pointsPerThread == 1;
}

bool LayoutPropagation::staysFirst(Operation *op) {
  auto grouped = dyn_cast<linalg::Conv2DNgchwGfchwOp>(op);
  if (!isa<linalg::DepthwiseConv2DNchwChwOp>(op) && !grouped)
    return false;
  Value input = op->getOperand(0);
  while (auto pad = input.getDefiningOp<tensor::PadOp>()) {
    if (find(input))
      return false;
    input = pad.getSource();
  }
  return !find(input) && !reachesConvolution(op->getResult(0)) &&
         (!grouped || isWindow(grouped));
}

void LayoutPropagation::visit(Operation *op) {
  rewriter.setInsertionPoint(op);
  if (isConvolution(*op) && !staysFirst(op)) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic ? visitGenericConvolution(generic)
                   : visitConvolution(cast<linalg::LinalgOp>(op));
  }
  if (!isMovable(op))
    return;
  llvm::TypeSwitch<Operation *>(op)
      .Case<linalg::PoolingNchwMaxOp, linalg::PoolingNchwSumOp>(
          [&](auto pool) { visitPooling(pool); })
      .Case([&](linalg::GenericOp generic) { visitGeneric(generic); })
      .Case([&](tensor::PadOp pad) { visitPad(pad); })
      .Case([&](tensor::ConcatOp concat) { visitConcat(concat); })
      .Case([&](tensor::ExtractSliceOp slice) { visitSlice(slice); })
      .Case([&](tensor::ExpandShapeOp expand) { visitExpand(expand); })
      .Case([&](tensor::CollapseShapeOp collapse) { visitCollapse(collapse); })
      .Case([&](linalg::TransposeOp transpose) { visitTranspose(transpose); })
      .Case([&](tensor::DimOp dim) { visitDim(dim); });
}

LogicalResult LayoutPropagation::run() {
  for (Block &block : function.getBody()) {
    if (llvm::none_of(block, isConvolution))
      continue;
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op);
    // Uses by other ops, nested ones among them.
    DenseSet<Operation *> gone(rewritten.begin(), rewritten.end());
    for (Operation *op : llvm::reverse(rewritten)) {
      for (Value result : op->getResults()) {
        auto stays = [&](OpOperand &use) {
          return !gone.contains(use.getOwner());
        };
        if (llvm::any_of(result.getUses(), stays)) {
          rewriter.setInsertionPointAfter(op);
          Order order = llvm::to_vector(llvm::seq<int64_t>(
              0, cast<RankedTensorType>(result.getType()).getRank()));
          rewriter.replaceUsesWithIf(result, get(result, order), stays);
        }
      }
    }
    for (Operation *op : llvm::reverse(rewritten))
      rewriter.eraseOp(op);
    rewritten.clear();
    moved.clear();
    copies.clear();
  }
  return success(good);
}

namespace {
struct PropagateLayoutPass
    : public tessera::impl::TesseraPropagateLayoutBase<PropagateLayoutPass> {
  using TesseraPropagateLayoutBase::TesseraPropagateLayoutBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isExternal() &&
        failed(LayoutPropagation(function, groups).run()))
      signalPassFailure();
  }
};
} // namespace
