//===- FuseWindows.cpp - Pooling and depthwise convolutions ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pad -> fill -> window -> element-wise
//
// become one element-wise op, whose body loops over the window. The value so
// far is in a register, and where an index is beyond the border the body takes
// the value of the pad. Element-wise ops that follow are fused with it as with
// any other.
//
// A convolution of groups with a few channels each does too, on chips whose
// threads compute few points: a matrix instruction would multiply zeros for the
// most part. Its filter is transposed, so that a thread reads the filters of
// its group as vectors.
//
// A schedule of the user's moves to the loops of the window.
//
//===----------------------------------------------------------------------===//

#include "Graph/Passes.h"
#include "GroupChannels.h"

#include "Dialect/Tessera/IR/WindowSchedule.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAFUSEWINDOWS
#include "Graph/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-fuse-windows"

STATISTIC(numWindows, "Number of windows that became element-wise ops");

using namespace mlir;
using namespace mlir::tessera;

/// Windows of more elements are reductions, which several threads share.
static constexpr int64_t mostElements = 256;

/// Whether each element of the result is a fold over a window of one operand,
/// with nothing to share between the elements of the result: pooling, depthwise
/// convolutions. Otherwise returns the reason.
static StringRef rejectWindow(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1)
    return "not on tensors";
  if (op->hasAttr(TesseraDialect::ScheduleAttrHelper::getNameStr()))
    return "it has a schedule";
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t elements = 1;
  for (auto [kind, extent] : llvm::zip_equal(kinds, extents)) {
    if (kind == utils::IteratorType::parallel)
      continue;
    if (ShapedType::isDynamic(extent) || extent > mostElements)
      return "its window is dynamic or large";
    elements *= extent;
    if (elements > mostElements)
      return "its window is large";
  }
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getNumReductionLoops() == 0 || !result.isProjectedPermutation())
    return "not a window";
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.isProjectedPermutation() || op.isScalar(input))
      continue;
    for (AffineExpr dim : result.getResults())
      if (!map.isFunctionOfDim(cast<AffineDimExpr>(dim).getPosition()))
        return "elements of the result share what they read";
    return "";
  }
  return "not a window";
}

/// How a convolution of groups is computed.
struct GroupedForm {
  /// The number of the filter among the inputs.
  unsigned filter;
  /// Whether the channels of a group are contiguous, rather than the columns of
  /// the image.
  bool channelsLast;
};

/// Whether `op` is a convolution of floats in groups of a few channels: each
/// element of the result is a sum over a window and these channels.
static std::optional<GroupedForm> matchGroups(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumDpsInputs() != 2 || op.hasIndexSemantics() ||
      op->hasAttr(TesseraDialect::ScheduleAttrHelper::getNameStr()))
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0)),
            maps[] = {op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
                      op.getMatchingIndexingMap(op.getDpsInputOperand(1))};
  unsigned image = maps[0].isProjectedPermutation() ? 1 : 0;
  AffineMap from = maps[image], filter = maps[1 - image];
  auto type = dyn_cast<RankedTensorType>(
      op.getDpsInputOperand(1 - image)->get().getType());
  if (from.isProjectedPermutation() || !filter.isProjectedPermutation() ||
      !result.isProjectedPermutation() || !type || !type.hasStaticShape() ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0))) ||
      !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  // The dimensions of the filters of a group, and of its channels.
  std::optional<unsigned> filters, channel;
  bool hasGroup = false;
  int64_t window = 1;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    auto d = static_cast<unsigned>(loop);
    AffineExpr dim = getAffineDimExpr(d, op.getContext());
    bool inImage = from.isFunctionOfDim(d),
         inFilter = filter.isFunctionOfDim(d);
    if (kind == utils::IteratorType::parallel) {
      if (!result.getResultPosition(dim) || (!inImage && filters))
        return std::nullopt;
      if (!inImage)
        filters = d;
      hasGroup |= inImage && inFilter;
      continue;
    }
    if (!inImage || !inFilter || ShapedType::isDynamic(extents[d]) ||
        extents[d] > mostElements)
      return std::nullopt;
    if (!from.getResultPosition(dim)) {
      window *= extents[d];
    } else if (channel) {
      return std::nullopt;
    } else {
      channel = d;
    }
    if (window > mostElements)
      return std::nullopt;
  }
  auto isFew = [&](std::optional<unsigned> d) {
    return d && hasFewChannels(extents[*d]);
  };
  if (!hasGroup || !isFew(filters) || !isFew(channel))
    return std::nullopt;
  AffineExpr last = from.getResults().back(),
             lastOfResult = result.getResults().back();
  auto isLast = [&](AffineExpr expr, unsigned d) {
    return expr == getAffineDimExpr(d, op.getContext()) &&
           llvm::isPowerOf2_64(static_cast<uint64_t>(extents[d]));
  };
  if (isLast(last, *channel) && isLast(lastOfResult, *filters))
    return GroupedForm{1 - image, /*channelsLast=*/true};
  // The columns of the image are the result's as well.
  unsigned column = cast<AffineDimExpr>(lastOfResult).getPosition();
  if (isa<AffineBinaryOpExpr>(last) && last.isFunctionOfDim(column) &&
      column != *filters)
    return GroupedForm{1 - image, /*channelsLast=*/false};
  return std::nullopt;
}

/// Whether a convolution of groups leaves enough threads for each processor if
/// each computes a vector of filters at several positions. For more than a few
/// channels, matrix instructions are better otherwise: eight channels of one
/// image of 28x28x256 took 8.3 us by threads on an H200, and 3.4 by these.
static bool hasManyThreads(linalg::LinalgOp op, const GroupedForm &form,
                           const Chip &chip) {
  constexpr int64_t fewChannels = 4, pointsPerThread = 32, threads = 512;
  auto image = cast<ShapedType>(op.getDpsInputs()[1 - form.filter].getType());
  auto result = cast<ShapedType>(op->getResult(0).getType());
  return image.getShape().back() <= fewChannels ||
         (result.hasStaticShape() && chip.processors > 0 &&
          result.getNumElements() >=
              chip.processors * threads * pointsPerThread);
}

/// `op` with the filter's dimensions in the order in which threads read it: the
/// window and the channels, and then those of the result.
static linalg::LinalgOp transposeFilter(RewriterBase &rewriter,
                                        linalg::LinalgOp op, unsigned filter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value from = op.getDpsInputs()[filter];
  auto type = cast<RankedTensorType>(from.getType());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap result = maps.back();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> order;
  auto append = [&](AffineExpr dim) {
    if (std::optional<unsigned> at = maps[filter].getResultPosition(dim))
      order.push_back(*at);
  };
  for (auto [loop, kind] : llvm::enumerate(kinds))
    if (kind == utils::IteratorType::reduction)
      append(rewriter.getAffineDimExpr(static_cast<unsigned>(loop)));
  for (AffineExpr dim : result.getResults())
    append(dim);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> dims;
  for (int64_t d : order) {
    shape.push_back(type.getDimSize(d));
    dims.push_back(maps[filter].getResult(d));
  }
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[filter] =
      linalg::TransposeOp::create(rewriter, loc, from, empty, order)
          ->getResult(0);
  maps[filter] = AffineMap::get(result.getNumDims(), 0, dims, op.getContext());
  auto generic =
      linalg::GenericOp::create(rewriter, loc, op->getResultTypes(), inputs,
                                op.getDpsInits(), maps, kinds);
  rewriter.inlineRegionBefore(op->getRegion(0), generic.getRegion(),
                              generic.getRegion().end());
  if (Attribute schedule = op->getAttr(windowScheduleName))
    generic->setAttr(windowScheduleName, schedule);
  rewriter.replaceOp(op, generic);
  return cast<linalg::LinalgOp>(generic.getOperation());
}

namespace {
/// Writes the body of one element-wise op.
class WindowBody {
public:
  WindowBody(OpBuilder &b, linalg::LinalgOp op, ValueRange parallel)
      : b(b), op(op), loc(op.getLoc()) {
    loops.resize(op.getNumLoops());
    size_t next = 0;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel)
        loops[loop] = parallel[next++];
      else
        window.push_back(static_cast<unsigned>(loop));
  }

  /// Folds the window from that dimension on.
  Value fold(Value start, size_t from = 0);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value read(OpOperand &operand);

  OpBuilder &b;
  linalg::LinalgOp op;
  Location loc;
  /// The index of each loop.
  SmallVector<Value> loops;
  SmallVector<unsigned> window;
};
} // namespace

/// The element of an operand at the current loops, or of what it pads.
Value WindowBody::read(OpOperand &operand) {
  if (op.isScalar(&operand))
    return operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Value source = operand.get(), padding;
  SmallVector<int64_t> low(map.getNumResults(), 0), high = low;
  if (auto pad = source.getDefiningOp<tensor::PadOp>()) {
    Value value = pad.getConstantPaddingValue();
    std::optional<SmallVector<int64_t>> before = getConstantIntValues(
                                            pad.getMixedLowPad()),
                                        after = getConstantIntValues(
                                            pad.getMixedHighPad());
    auto isKnown = [&](size_t d) {
      return (!(*before)[d] && !(*after)[d]) ||
             !pad.getSourceType().isDynamicDim(d);
    };
    if (value && before && after &&
        llvm::all_of(llvm::seq<size_t>(0, before->size()), isKnown)) {
      padding = value;
      source = pad.getSource();
      low = *before;
      high = *after;
    }
  }
  ArrayRef<int64_t> shape = cast<RankedTensorType>(source.getType()).getShape();
  SmallVector<Value> indices;
  Value isInside;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    AffineMap single =
        AffineMap::get(map.getNumDims(), 0, expr - low[d], op.getContext());
    Value index = affine::makeComposedAffineApply(
        b, loc, single, llvm::to_vector_of<OpFoldResult>(loops));
    if (low[d] || high[d]) {
      // A read beyond the border takes the nearest element.
      Value inside = arith::MinSIOp::create(
          b, loc, arith::MaxSIOp::create(b, loc, index, constant(0)),
          constant(shape[d] - 1));
      Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           inside, index);
      isInside =
          isInside ? arith::AndIOp::create(b, loc, isInside, isHere).getResult()
                   : isHere;
      index = inside;
    }
    indices.push_back(index);
  }
  Value element = tensor::ExtractOp::create(b, loc, source, indices);
  return isInside ? arith::SelectOp::create(b, loc, isInside, element, padding)
                        .getResult()
                  : element;
}

static void permitContraction(arith::ArithFastMathInterface op) {
  arith::FastMathFlags flags = op.getFastMathFlagsAttr().getValue();
  op->setAttr(op.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(
                  op->getContext(), flags | arith::FastMathFlags::contract));
}

Value WindowBody::fold(Value start, size_t from) {
  if (from < window.size()) {
    unsigned loop = window[from];
    auto each = scf::ForOp::create(b, loc, constant(0),
                                   constant(op.getStaticLoopRanges()[loop]),
                                   constant(1), start);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    loops[loop] = each.getInductionVar();
    Value result = fold(each.getRegionIterArg(0), from + 1);
    scf::YieldOp::create(b, loc, result);
    return each.getResult(0);
  }
  Block &body = op->getRegion(0).front();
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (op.isDpsInit(&operand))
      mapping.map(argument, start);
    else if (!argument.use_empty())
      mapping.map(argument, read(operand));
  }
  for (Operation &inner : body.without_terminator()) {
    Operation *copy = b.clone(inner, mapping);
    // As in every contraction, an FMA multiplies and adds.
    if (auto sum = dyn_cast<arith::AddFOp>(copy))
      for (Value operand : sum->getOperands())
        if (auto product = operand.getDefiningOp<arith::MulFOp>()) {
          permitContraction(product);
          permitContraction(sum);
        }
  }
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
}

/// Replaces the window by an element-wise op.
static void rewriteWindow(RewriterBase &rewriter, linalg::LinalgOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  OpOperand *init = op.getDpsInitOperand(0);
  // The loops of the result, in their order.
  SmallVector<AffineExpr> replacements(op.getNumLoops(),
                                       rewriter.getAffineConstantExpr(0));
  unsigned count = 0;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel)
      replacements[loop] = rewriter.getAffineDimExpr(count++);
  AffineMap result = op.getMatchingIndexingMap(init).replaceDimsAndSymbols(
      replacements, {}, count, 0);

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  Value start, destination = init->get();
  if (auto fill = destination.getDefiningOp<linalg::FillOp>()) {
    start = fill.getInputs()[0];
    destination = fill.getOutputs()[0];
  } else {
    inputs.push_back(destination);
    maps.push_back(result);
  }
  maps.push_back(result);
  SmallVector<utils::IteratorType> kinds(count, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, destination.getType(), inputs, destination, maps, kinds,
      [&](OpBuilder &b, Location at, ValueRange arguments) {
        SmallVector<Value> parallel;
        for (unsigned loop = 0; loop < count; ++loop)
          parallel.push_back(linalg::IndexOp::create(b, at, loop));
        Value first = start ? start : arguments[0];
        linalg::YieldOp::create(b, at, WindowBody(b, op, parallel).fold(first));
      });
  ++numWindows;
  LDBG() << loc << ": " << op->getName() << " becomes element-wise";
  moveWindowScheduleToLoops(op, generic);
  rewriter.replaceOp(op, generic);
}

/// Whether `op` has the form that windows get here.
static bool isFused(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         op->walk([](scf::ForOp) {
             return WalkResult::interrupt();
           }).wasInterrupted();
}

namespace {
struct FuseWindowsPass
    : public tessera::impl::TesseraFuseWindowsBase<FuseWindowsPass> {
  using TesseraFuseWindowsBase::TesseraFuseWindowsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> windows;
    // Those with a schedule that may have no effect, and the reason.
    SmallVector<std::pair<linalg::LinalgOp, StringRef>> scheduled;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isFused(op))
        return moveWindowScheduleToLoops(op, op);
      StringRef why = rejectWindow(op);
      if (why.empty()) {
        windows.push_back(op);
        return;
      }
      LDBG() << op.getLoc() << ": " << op->getName() << ": " << why;
      if (op->hasAttr(windowScheduleName) && op.hasPureTensorSemantics())
        scheduled.emplace_back(op, why);
    });
    for (auto [op, why] : scheduled)
      if (!groups || !matchGroups(op))
        op.emitWarning() << "window_schedule has no effect: " << why;
    auto isGrouped = [&](linalg::LinalgOp op) {
      return groups && matchGroups(op).has_value();
    };
    auto rewriteGroups = [&](linalg::LinalgOp op, const Chip &chip) {
      GroupedForm form = *matchGroups(op);
      bool isScheduled = op->hasAttr(windowScheduleName);
      if (chip.policy.simt.pointsPerThread > 1) {
        if (isScheduled)
          op.emitWarning() << "window_schedule has no effect: threads of "
                           << chip.name
                           << " do not compute convolutions of groups";
        return success();
      }
      if (form.channelsLast && !isScheduled && !hasManyThreads(op, form, chip))
        return success();
      if (form.channelsLast)
        op = transposeFilter(rewriter, op, form.filter);
      rewriteWindow(rewriter, op);
      return success();
    };
    if (failed(forEachOnChip<linalg::LinalgOp>(getOperation(), isGrouped,
                                               rewriteGroups)))
      return signalPassFailure();
    for (linalg::LinalgOp op : windows)
      rewriteWindow(rewriter, op);
  }
};
} // namespace
