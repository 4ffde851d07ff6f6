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
//===----------------------------------------------------------------------===//

#include "Graph/Passes.h"

#include "Dialect/Tessera/IR/Tessera.h"

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
  rewriter.replaceOp(op, generic);
}

namespace {
struct FuseWindowsPass
    : public tessera::impl::TesseraFuseWindowsBase<FuseWindowsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> windows;
    getOperation().walk([&](linalg::LinalgOp op) {
      StringRef why = rejectWindow(op);
      if (why.empty())
        windows.push_back(op);
      else
        LDBG() << op.getLoc() << ": " << op->getName() << ": " << why;
    });
    for (linalg::LinalgOp op : windows)
      rewriteWindow(rewriter, op);
  }
};
} // namespace
